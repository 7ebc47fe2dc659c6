/* SPDX-License-Identifier: MIT */
#include "model/settled.h"

#include <errno.h>

#include "base/check.h"

static void rules_are_fios(void)
{
	static const char *const wrong[] = { "", "iops", "iops:", "iops:x", "iops:10%%", "lat:5",
					     "bw:-1", "bw:1e999", "iops_slope:nan", "iops:10% " };
	struct settled_rule rule;

	CHECK_EQ(settled_parse("iops:10%", &rule), 0);
	CHECK(rule.of_iops && !rule.of_slope && rule.percent);
	CHECK_NEAR(rule.limit, 10, 1e-12);
	CHECK_EQ(settled_parse("bw_slope:0.5", &rule), 0);
	CHECK(!rule.of_iops && rule.of_slope && !rule.percent);
	CHECK_NEAR(rule.limit, 0.5, 1e-12);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_EQ(settled_parse(wrong[i], &rule), -EINVAL);
}

/* 100, 110, 120, 130: mean 115, 15 off at most, 10 more each second. */
static void deviation_and_slope_are_held_against_the_limit(void)
{
	static const double values[] = { 100, 110, 120, 130 };
	static const struct {
		const char *rule;
		double criterion;
		bool attained;
	} cases[] = {
		{ "iops:15", 15, true },	    { "iops:14.9", 15, false },
		{ "iops:13.1%", 13.043478, true },  { "iops:13%", 13.043478, false },
		{ "bw_slope:10", 10, true },	    { "bw_slope:9.9", 10, false },
		{ "bw_slope:8.7%", 8.695652, true }, { "bw_slope:8.6%", 8.695652, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct settled_rule rule;
		struct settled settled;

		CHECK_EQ(settled_parse(cases[i].rule, &rule), 0);
		settled_judge(&rule, values, 4, &settled);
		CHECK_NEAR(settled.mean, 115, 1e-9);
		CHECK_NEAR(settled.slope, 10, 1e-9);
		CHECK_NEAR(settled.deviation_max, 15, 1e-9);
		CHECK_NEAR(settled.criterion, cases[i].criterion, 1e-6);
		CHECK_EQ(settled.attained, cases[i].attained);
	}
}

static void a_fall_is_a_slope_and_nothing_is_not_steady(void)
{
	const struct settled_rule slope = { .of_slope = true, .limit = 5 }, flat = { .limit = 5 };
	struct settled settled;

	settled_judge(&slope, (const double[]){ 30, 20, 10 }, 3, &settled);
	CHECK_NEAR(settled.slope, -10, 1e-9);
	CHECK_NEAR(settled.criterion, 10, 1e-9);
	CHECK(!settled.attained);
	settled_judge(&flat, (const double[]){ 7 }, 1, &settled);
	CHECK(!settled.attained);
	settled_judge(&flat, (const double[]){ 0, 0 }, 2, &settled);
	CHECK(!settled.attained);
	settled_judge(&flat, NULL, 0, &settled);
	CHECK(!settled.attained);
}

TESTS(TEST(rules_are_fios), TEST(deviation_and_slope_are_held_against_the_limit),
      TEST(a_fall_is_a_slope_and_nothing_is_not_steady))
