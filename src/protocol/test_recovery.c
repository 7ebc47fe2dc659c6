/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include "base/random.h"
#include "protocol/recovery.h"

static struct samples of(const double *values, size_t count)
{
	struct samples ret = { 0 };

	for (size_t i = 0; i < count; i++)
		samples_add(&ret, values[i]);
	return ret;
}

#define OF(...)                                                                                    \
	of((const double[]){ __VA_ARGS__ }, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double))

static void what_comes_back_is_a_share_of_what_was_lost(void)
{
	const struct samples clean = OF(99, 101, 100), dirty = OF(19, 20, 21),
			     after = OF(59, 60, 61);
	const struct estimate r = estimate_recovery(&clean, &dirty, &after);

	CHECK(r.known);
	CHECK_NEAR(r.value, 0.5, 1e-12);
	CHECK(r.low < 0.5 && r.high > 0.5 && r.high - r.low < 0.1);
}

static void it_may_be_negative_or_above_one(void)
{
	const struct samples clean = OF(100, 100.5), dirty = OF(50, 50.5);
	const struct samples worse = OF(25, 25.5), better = OF(125, 125.5);

	CHECK_NEAR(estimate_recovery(&clean, &dirty, &worse).value, -0.5, 1e-12);
	CHECK_NEAR(estimate_recovery(&clean, &dirty, &better).value, 1.5, 1e-12);
}

static void a_loss_within_the_noise_gives_no_quotient(void)
{
	const struct samples clean = OF(90, 110, 100), dirty = OF(80, 100, 108);

	CHECK(!estimate_recovery(&clean, &dirty, &clean).known);
	CHECK(estimate_drop(&clean, &dirty).known);
	CHECK(estimate_drop(&clean, &dirty).low < 0);
}

static void one_sample_is_no_estimate(void)
{
	const struct samples one = OF(1), two = OF(1, 2);

	CHECK(!estimate_drop(&one, &two).known);
	CHECK(!estimate_recovery(&two, &one, &two).known);
}

static void samples_that_all_agree_leave_no_doubt(void)
{
	const struct samples clean = OF(100, 100), dirty = OF(25, 25), after = OF(85, 85);
	const struct estimate r = estimate_recovery(&clean, &dirty, &after);

	CHECK_NEAR(r.value, 0.8, 1e-12);
	CHECK_NEAR(r.low, 0.8, 1e-12);
	CHECK_NEAR(r.high, 0.8, 1e-12);
}

/* 2,000 series of five and five: 95 % of the intervals hold the truth, +- 3 standard errors. */
static void intervals_hold_the_truth(void)
{
	struct random random;
	size_t drops = 0, recoveries = 0;

	random_init(&random, 1);
	for (int trial = 0; trial < 2000; trial++) {
		struct samples clean = { 0 }, dirty = { 0 }, after = { 0 };
		struct estimate drop, recovery;

		for (int i = 0; i < 5; i++) {
			samples_add(&clean, 100 + 3 * random_normal(&random));
			samples_add(&dirty, 40 + 3 * random_normal(&random));
			samples_add(&after, 70 + 3 * random_normal(&random));
		}
		drop = estimate_drop(&clean, &dirty);
		recovery = estimate_recovery(&clean, &dirty, &after);
		drops += drop.low <= 0.6 && drop.high >= 0.6;
		recoveries += recovery.known && recovery.low <= 0.5 && recovery.high >= 0.5;
	}
	CHECK_NEAR((double)drops / 2000, 0.95, 0.02);
	CHECK_NEAR((double)recoveries / 2000, 0.95, 0.02);
}

TESTS(TEST(what_comes_back_is_a_share_of_what_was_lost), TEST(it_may_be_negative_or_above_one),
      TEST(a_loss_within_the_noise_gives_no_quotient), TEST(one_sample_is_no_estimate),
      TEST(samples_that_all_agree_leave_no_doubt), TEST(intervals_hold_the_truth))
