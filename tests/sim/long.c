/* SPDX-License-Identifier: MIT */

/* fill-level, discard-cost and degrade-recover on drives whose truth is known. */

#include "scenario.h"

#include "base/clock.h"

#define PLAIN                                                                                      \
	"sim:page-greedy,capacity=128m,pages_per_block=32,channels=4,dies=2,content=off,"          \
	"erase_time=750us,"
/* The link is slower than the flash at its worst. */
#define SLOW_LINK "link=10MB,program_time=20us,erase_time=50us,"

static void fill_level_is_told(void)
{
	static const struct scenario scenarios[] = {
		{ "fill-level", PLAIN "op=7%", "slower-when-full", 0, 0 },
		{ "fill-level", PLAIN "op=7%,seed=2,gc=fifo", "slower-when-full", 0, 0 },
		{ "fill-level", PLAIN SLOW_LINK "op=7%,seed=3", "indifferent", 0, 0 },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

static void the_cost_of_discards_is_told(void)
{
	static const struct scenario scenarios[] = {
		{ "discard-cost", PLAIN "op=7%", "cheap", 0, 0 },
		{ "discard-cost", PLAIN "op=7%,trim_time=5ms,seed=2", "noticeable", 0, 0 },
		{ "discard-cost", PLAIN "op=7%,trim_time=200ms,seed=3", "stalls", 0, 0 },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

static void degradation_and_recovery_are_told(void)
{
	static const struct scenario scenarios[] = {
		{ "degrade-recover", PLAIN "op=7%", "does-not-recover", 0, 50 * MILLISECOND_NS },
		{ "degrade-recover", PLAIN "op=7%,gc_idle=90%,idle_after=1s,seed=2", "recovers", 0,
		  500 * MILLISECOND_NS },
		{ "degrade-recover", PLAIN SLOW_LINK "op=7%,seed=3", "no-degradation", 0,
		  50 * MILLISECOND_NS },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

TESTS(TEST(fill_level_is_told), TEST(the_cost_of_discards_is_told),
      TEST(degradation_and_recovery_are_told))
