/* SPDX-License-Identifier: MIT */

/* techgage on drives whose TRIM is known. */

#include "scenario.h"

static void the_recipe_tells_trim(void)
{
	static const struct scenario scenarios[] = {
		{ "techgage", "sim:m80,capacity=512m,content=off", "trim-effective", 0, 0 },
		{ "techgage", "sim:m80,capacity=512m,content=off,trim=ignored,gc_idle=0,seed=2",
		  "trim-none", 0, 0 },
		{ "techgage", "sim:x25m-g1,capacity=512m,content=off,seed=3", "trim-none", 0, 0 },
		{ "techgage",
		  "sim:m80,capacity=512m,content=off,trim=delayed,trim_delay=20s,seed=4",
		  "trim-effective", 0, 0 },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

TESTS(TEST(the_recipe_tells_trim))
