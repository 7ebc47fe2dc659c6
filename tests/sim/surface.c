/* SPDX-License-Identifier: MIT */

/* surface: even drives are flat; what is rewritten at random here and there is not. */

#include "scenario.h"

#include "base/units.h"

static void even_drives_are_flat(void)
{
	static const struct scenario scenarios[] = {
		{ "surface", "sim:page-greedy,capacity=256m,channels=4,dies=2", "flat", 0, 0 },
		{ "surface", "sim:x25m-g2,capacity=256m,seed=2", "flat", 0, 0 },
		{ "surface", "sim:enterprise,capacity=512m,seed=3", "flat", 0, 0 },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

/* What lies in the fast cache reads faster than what no longer fitted. */
static void a_cache_shows(void)
{
	static const struct scenario scenarios[] = {
		{ "surface",
		  "sim:page-greedy,capacity=256m,cell_bits=3,read_time=100us,slc=static,slc_size="
		  "20%,"
		  "slc_read_time=20us,slc_program_time=50us,slc_full_fold=off,seed=4",
		  "uneven", 0, 0 },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

TESTS(TEST(even_drives_are_flat), TEST(a_cache_shows))
