/* SPDX-License-Identifier: MIT */
#include "engine/search.h"

#include "base/check.h"
#include "base/clock.h"

/* A drive whose latency grows by 100 µs with each request in flight; one of so many is slow. */
static uint32_t found(uint64_t target_ns, uint32_t fast_ppm, uint32_t depth_count, uint32_t slow_one_in)
{
	struct workload w;
	struct search s;
	uint64_t now_ns = SECOND_NS;
	uint32_t windows = 0;

	workload_init(&w);
	w.latency_target_ns = target_ns;
	w.latency_ppm = fast_ppm;
	w.latency_window_ns = 10 * MILLISECOND_NS;
	w.depth_count = depth_count;
	search_init(&s, &w);
	CHECK_EQ(s.depth_count, depth_count);
	while (!search_step(&s, now_ns) && windows < 100) {
		for (uint32_t i = 1; i <= 1000; i++)
			search_add(&s, now_ns, slow_one_in && i % slow_one_in == 0 ?
						       SECOND_NS :
						       s.depth_count * 100 * MICROSECOND_NS);
		now_ns += 10 * MILLISECOND_NS;
		windows++;
	}
	/* Halving: one window for the deepest, then one each. */
	CHECK(windows <= 9);
	return s.depth_count;
}

static void the_deepest_that_does_is_found(void)
{
	CHECK_EQ(found(1050 * MICROSECOND_NS, PPM, 64, 0), 10);
	CHECK_EQ(found(100 * MICROSECOND_NS, PPM, 64, 0), 1);
	CHECK_EQ(found(6400 * MICROSECOND_NS, PPM, 64, 0), 64);
	CHECK_EQ(found(6399 * MICROSECOND_NS, PPM, 64, 0), 63);
	CHECK_EQ(found(200 * MICROSECOND_NS, PPM, 128, 0), 2);
}

static void the_least_is_one_in_time_or_not(void)
{
	CHECK_EQ(found(10 * MICROSECOND_NS, PPM, 64, 0), 1);
}

static void a_share_may_be_slow(void)
{
	CHECK_EQ(found(1 * MILLISECOND_NS, 990000, 32, 100), 10);	/* 1 % is, 1 % may be */
	CHECK_EQ(found(1 * MILLISECOND_NS, 990000, 32, 50), 1);		/* 2 % are: no depth will do */
}

static void what_began_before_the_window_does_not_count(void)
{
	struct workload w;
	struct search s;

	workload_init(&w);
	w.latency_target_ns = MILLISECOND_NS;
	w.latency_window_ns = 10;
	w.depth_count = 4;
	search_init(&s, &w);
	CHECK(!search_step(&s, 1000));
	search_add(&s, 999, SECOND_NS);
	CHECK(!search_step(&s, 2000));	/* an empty window goes on */
	search_add(&s, 1000, 5);
	CHECK(search_step(&s, 3000));	/* the deepest does: nothing is left to try */
	CHECK_EQ(s.depth_count, 4);
}

TESTS(TEST(the_deepest_that_does_is_found), TEST(the_least_is_one_in_time_or_not),
      TEST(a_share_may_be_slow), TEST(what_began_before_the_window_does_not_count))
