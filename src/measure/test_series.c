/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <stdlib.h>

#include "base/clock.h"
#include "measure/series.h"

static struct measurement of_seconds(const uint64_t *counts, size_t count)
{
	struct measurement m;

	measurement_init(&m);
	m.seconds = calloc(count, sizeof(*m.seconds));
	m.second_count = count;
	for (size_t i = 0; i < count; i++) {
		m.seconds[i].length_ns = SECOND_NS;
		m.seconds[i].ops[OP_READ].count = counts[i];
	}
	return m;
}

static enum level_kind kind_of(const uint64_t *counts, size_t count)
{
	struct measurement m = of_seconds(counts, count);
	struct level level;

	series_classify(&m, &level);
	measurement_done(&m);
	return level.kind;
}

static void a_second_is_its_requests_of_all_kinds_over_its_length(void)
{
	const uint64_t counts[] = { 100, 100, 100 };
	struct measurement m = of_seconds(counts, 3);
	double *iops;
	size_t count;

	m.seconds[0].ops[OP_WRITE].count = 50;
	m.seconds[0].ops[OP_SYNC].count = 7;	/* part of its write, not a request beside it */
	m.seconds[1].length_ns = SECOND_NS / 2;
	m.seconds[2].length_ns = SECOND_NS / 4;
	iops = series_iops(&m, &count);
	CHECK_EQ(count, 2);
	CHECK_NEAR(iops[0], 150, 1e-9);
	CHECK_NEAR(iops[1], 200, 1e-9);
	free(iops);
	measurement_done(&m);
	measurement_init(&m);
	CHECK(series_iops(&m, &count) == NULL);
	CHECK_EQ(count, 0);
}

static void five_seconds_are_judged_by_range_and_slope(void)
{
	static const struct {
		uint64_t counts[6];
		size_t count;
		enum level_kind want;
	} cases[] = {
		{ { 1000, 1000, 1000, 1000 }, 4, LEVEL_TOO_SHORT },
		{ { 1000, 1000, 1000, 1000, 1000 }, 5, LEVEL_LEVEL },
		{ { 1000, 1090, 1000, 910, 1000 }, 5, LEVEL_LEVEL },	/* range 18 %, slope -7.2 % */
		{ { 1000, 1110, 900, 1000, 1000 }, 5, LEVEL_DRIFTING },	/* range 21 % */
		{ { 950, 975, 1000, 1025, 1050 }, 5, LEVEL_LEVEL },	/* slope 10 % */
		{ { 945, 973, 1000, 1027, 1055 }, 5, LEVEL_DRIFTING },	/* slope 11 % */
		{ { 1055, 1027, 1000, 973, 945 }, 5, LEVEL_DRIFTING },	/* slope -11 % */
		{ { 0, 0, 0, 0, 0, 0 }, 6, LEVEL_LEVEL },		/* a stall, and level */
		{ { 1000, 1000, 0, 1000, 1000, 1000 }, 6, LEVEL_DRIFTING },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const enum level_kind got = kind_of(cases[i].counts, cases[i].count);

		if (got != cases[i].want)
			printf("# case %zu\n", i);
		CHECK_EQ(got, cases[i].want);
	}
}

static void a_long_flat_series_is_level(void)
{
	uint64_t counts[60];

	for (size_t i = 0; i < 60; i++)
		counts[i] = 1000 + i % 3;
	CHECK_EQ(kind_of(counts, 60), LEVEL_LEVEL);
}

TESTS(TEST(a_second_is_its_requests_of_all_kinds_over_its_length),
      TEST(five_seconds_are_judged_by_range_and_slope), TEST(a_long_flat_series_is_level))
