/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/check.h"
#include "base/defer.h"
#include "base/random.h"
#include "base/units.h"
#include "stats/histogram.h"

static struct histogram h, other, both;

static void buckets_tile_the_range_without_gap_or_overlap(void)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const uint64_t low = histogram_bucket_low_ns(i);
		const uint64_t width = histogram_bucket_width_ns(i);

		CHECK_EQ(low, next);
		CHECK_EQ(histogram_bucket(low), i);
		CHECK_EQ(histogram_bucket(low + width - 1), i);
		next = low + width;
	}
	CHECK_EQ(next, 1ll << 41);
	CHECK_EQ(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

/* Among others at both ends, so that min and max do not help. */
static void any_value_reads_back_within_one_percent(void)
{
	struct random r;

	random_init(&r, 1);
	for (int bits = 0; bits < 41; bits++) {
		for (int i = 0; i < 50; i++) {
			const uint64_t low = 1ull << bits;
			const uint64_t value = low + random_below(&r, low);

			histogram_init(&h);
			histogram_add(&h, 0);
			histogram_add(&h, value);
			histogram_add(&h, UINT64_MAX >> 2);
			CHECK_NEAR(histogram_percentile_ns(&h, 500000), value,
				   value < 128 ? 0.0 : 0.0079 * (double)value);
		}
	}
}

static void twenty_minutes_are_in_range_and_an_hour_is_the_exact_maximum(void)
{
	histogram_init(&h);
	histogram_add(&h, 1200ull * 1000000000);
	CHECK_EQ(h.overflow_count, 0);
	histogram_add(&h, 3600ull * 1000000000);
	CHECK_EQ(h.overflow_count, 1);
	CHECK_EQ(histogram_percentile_ns(&h, PPM), 3600ll * 1000000000);
	CHECK_NEAR(histogram_percentile_ns(&h, 500000), 1200e9, 0.0079 * 1200e9);
}

static void rank_is_rounded_up_never_interpolated(void)
{
	static const struct {
		uint32_t ppm;
		uint64_t want_ns;
	} cases[] = {
		{ 0, 10 },
		{ 100000, 10 },		/* p10 of ten samples is the first */
		{ 100001, 20 },		/* one part more needs the second */
		{ 500000, 50 },
		{ 999999, 100 },
		{ 1000000, 100 },
	};

	histogram_init(&h);
	CHECK_EQ(histogram_percentile_ns(&h, 500000), 0);
	for (uint64_t ns = 10; ns <= 100; ns += 10)
		histogram_add(&h, ns);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_EQ(histogram_percentile_ns(&h, cases[i].ppm), cases[i].want_ns);
}

static void ranks_do_not_overflow_for_a_week_of_samples(void)
{
	histogram_init(&h);
	histogram_add(&h, 50);
	histogram_add(&h, 60);
	h.count = 40000000000000;
	h.buckets[50] = 30000000000000;
	h.buckets[60] = 10000000000000;
	CHECK_EQ(histogram_percentile_ns(&h, 750000), 50);
	CHECK_EQ(histogram_percentile_ns(&h, 750001), 60);
}

static void a_percentile_needs_ten_samples_beyond_it(void)
{
	histogram_init(&h);
	h.count = 9999;
	CHECK(!histogram_has_percentile(&h, 999000));
	h.count = 10000;
	CHECK(histogram_has_percentile(&h, 999000));
	CHECK(!histogram_has_percentile(&h, 999900));
	h.count = 20;
	CHECK(histogram_has_percentile(&h, 500000));
	CHECK(!histogram_has_percentile(&h, PPM));
}

static void merging_is_as_if_all_had_gone_into_one(void)
{
	struct random r;

	random_init(&r, 2);
	histogram_init(&h);
	histogram_init(&other);
	histogram_init(&both);
	for (int i = 0; i < 10000; i++) {
		const uint64_t ns = random_u64(&r) >> (20 + random_below(&r, 44));

		histogram_add(i % 3 ? &h : &other, ns);
		histogram_add(&both, ns);
	}
	histogram_merge(&h, &other);
	CHECK(memcmp(&h, &both, sizeof(h)) == 0);
	histogram_init(&other);
	histogram_merge(&h, &other);
	CHECK(memcmp(&h, &both, sizeof(h)) == 0);
	CHECK_NEAR(histogram_mean_ns(&h), (double)both.sum_ns / 10000.0, 1e-6);
	CHECK_NEAR(histogram_mean_ns(&other), 0.0, 0.0);
}

TESTS(
	TEST(buckets_tile_the_range_without_gap_or_overlap),
	TEST(any_value_reads_back_within_one_percent),
	TEST(twenty_minutes_are_in_range_and_an_hour_is_the_exact_maximum),
	TEST(rank_is_rounded_up_never_interpolated),
	TEST(ranks_do_not_overflow_for_a_week_of_samples),
	TEST(a_percentile_needs_ten_samples_beyond_it),
	TEST(merging_is_as_if_all_had_gone_into_one),
)
