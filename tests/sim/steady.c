/* SPDX-License-Identifier: MIT */

/* steady: drives that become so, and one that never does. */

#include "scenario.h"

#include "base/clock.h"

#define PLAIN                                                                                      \
	"sim:page-greedy,capacity=64m,pages_per_block=32,channels=4,dies=2,content=off,"           \
	"program_time=100us,erase_time=400us,"

static void drives_become_steady(void)
{
	static const struct scenario scenarios[] = {
		{ "steady", PLAIN "op=12%", "steady", 0, 100 * MILLISECOND_NS },
		{ "steady", PLAIN "op=28%,seed=2", "steady", 0, 100 * MILLISECOND_NS },
		{ "steady", PLAIN "op=40%,page=8k,seed=3,pages_per_block=16", "steady", 0,
		  30 * MILLISECOND_NS },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

static void not_reached_is_a_result(void)
{
	static const struct scenario scenarios[] = {
		/* Now and then a request that takes half of a cell. */
		{ "steady", PLAIN "op=12%,spike=0.03%,spike_time=90ms,seed=4", "not-steady", 0,
		  100 * MILLISECOND_NS },
		{ "steady", PLAIN "op=12%,spike=0.02%,spike_time=80ms,seed=5", "not-steady", 0,
		  100 * MILLISECOND_NS },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

TESTS(TEST(drives_become_steady), TEST(not_reached_is_a_result))
