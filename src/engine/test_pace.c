/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/defer.h"
#include "engine/pace.h"

#define GAPS 100000

static double gaps[GAPS];

static void fixed_intervals_never_drift_from_the_rate(void)
{
	static const uint64_t rates[] = { 1, 3, 7, 999, 10000, 300000, 333333, 1000003, 3000000007 };

	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		struct pace pace;
		const uint64_t count = 1000000;
		/* Arrival n is at start + n / rate. */
		const double want = (double)count * 1e9 / (double)rates[i];
		uint64_t last = 0;

		pace_init(&pace, &(struct pace_rate){ rates[i], 0, 0, 1 }, 5, 1);
		CHECK_EQ(pace_peek(&pace), 5);
		for (uint64_t n = 0; n <= count; n++)
			last = pace_take(&pace);
		/* A gap is cut to 2^-32 ns: a millionth of a microsecond after a million. */
		CHECK_NEAR((double)(last - 5), want, 1.0 + want * 1e-15);
	}
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov against 1 - exp(-gap / mean); 1.95 / sqrt(n) is p = 0.001. */
static void poisson_gaps_are_exponential_at_any_rate(void)
{
	static const uint64_t rates[] = { 10000, 100000, 300000, 5000000 };

	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		const double mean_ns = 1e9 / (double)rates[i];
		struct pace pace;
		uint64_t before = 0;
		double distance = 0.0;

		pace_init(&pace, &(struct pace_rate){ rates[i], 0, 1, 1 }, 0, 7 + i);
		for (size_t n = 0; n < GAPS; n++) {
			const uint64_t at = pace_take(&pace);

			gaps[n] = (double)(at - before);
			before = at;
		}
		/* Three sigma of sampling. */
		CHECK_NEAR((double)before, GAPS * mean_ns, 3.0 * sqrt(GAPS) * mean_ns);
		qsort(gaps, GAPS, sizeof(gaps[0]), by_value);
		for (size_t n = 0; n < GAPS; n++) {
			/* Stamps are whole ns: a gap of g stands for g - 1/2 .. g + 1/2. */
			const double cdf = 1.0 - exp(-(gaps[n] + 0.5) / mean_ns);

			if (n + 1 < GAPS && gaps[n + 1] == gaps[n])
				continue;
			distance = fmax(distance, fabs(cdf - (double)(n + 1) / GAPS));
		}
		CHECK(distance < 1.95 / sqrt(GAPS));
	}
}

static void bursts_share_an_arrival_and_keep_the_rate(void)
{
	struct pace pace;
	uint64_t last = 0;

	pace_init(&pace, &(struct pace_rate){ 1000, 0, 0, 8 }, 0, 1);
	for (int burst = 0; burst < 100; burst++)
		for (int i = 0; i < 8; i++)
			CHECK_EQ(pace_take(&pace), burst * 8000000ll);

	pace_init(&pace, &(struct pace_rate){ 1000, 0, 1, 8 }, 0, 1);
	for (int burst = 0; burst < 10000; burst++) {
		const uint64_t at = pace_take(&pace);

		CHECK(at > last);
		last = at;
		for (int i = 1; i < 8; i++)
			CHECK_EQ(pace_take(&pace), at);
	}
	CHECK_NEAR((double)last, 80e9, 3.0 * 100.0 * 8e6);
}

static void the_same_seed_gives_the_same_arrivals(void)
{
	struct pace a, b, c;
	bool differs = false;

	pace_init(&a, &(struct pace_rate){ 1000, 0, 1, 0 }, 77, 1);
	pace_init(&b, &(struct pace_rate){ 1000, 0, 1, 0 }, 77, 1);
	pace_init(&c, &(struct pace_rate){ 1000, 0, 1, 0 }, 77, 2);
	for (int i = 0; i < 100; i++) {
		const uint64_t at = pace_take(&a);

		CHECK(at > 77);
		CHECK_EQ(at, pace_take(&b));
		differs |= at != pace_take(&c);
	}
	CHECK(differs);
}

static void a_rate_may_be_below_one_a_second(void)
{
	struct pace pace;

	/* 1250 bytes a second in blocks of 4096: one every 3.2768 s. */
	pace_init(&pace, &(struct pace_rate){ 1, 3276800000, false, 1 }, 10, 1);
	for (uint64_t i = 0; i < 5; i++)
		CHECK_EQ(pace_take(&pace), 10 + i * 3276800000);
}

TESTS(TEST(a_rate_may_be_below_one_a_second), 
	TEST(fixed_intervals_never_drift_from_the_rate),
	TEST(poisson_gaps_are_exponential_at_any_rate),
	TEST(bursts_share_an_arrival_and_keep_the_rate),
	TEST(the_same_seed_gives_the_same_arrivals),
)
