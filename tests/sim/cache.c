/* SPDX-License-Identifier: MIT */

/* cache finds the size of a write cache within 5 %. */

#include "scenario.h"

#include "base/units.h"

#define PLAIN                                                                                      \
	"sim:page-greedy,op=9%,channels=4,dies=4,cell_bits=3,program_time=1000us,"                 \
	"slc_program_time=100us,slc_read_time=25us,content=off,slc_full_fold=off,"                 \
	"pages_per_block=16,erase_time=300us,"

static void the_size_is_found(void)
{
	static const struct {
		const char *drive;
		double cache_bytes;
	} cases[] = {
		{ PLAIN "capacity=1g,slc=static,slc_size=4%", 0.04 * GIB },
		{ PLAIN "capacity=1g,slc=static,slc_size=10%,seed=2", 0.10 * GIB },
		{ PLAIN "capacity=1g,slc=static,slc_size=20%,seed=3", 0.20 * GIB },
		{ PLAIN "capacity=1g,slc=static,slc_size=6%,seed=4", 0.06 * GIB },
		{ PLAIN "capacity=2g,slc=static,slc_size=15%,seed=5", 0.30 * GIB },
		/* Dynamic: s x (capacity - written) = written. */
		{ PLAIN "capacity=1g,slc=dynamic,slc_size=25%,seed=6", 0.20 * GIB },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CHECK_EQ(scenario_run(&(struct scenario){ "cache", cases[i].drive, NULL, 0, 0 }),
			 0);
		printf("# %s\n#\t%s: %s %s\n", cases[i].drive, outcome.verdict_code,
		       outcome.verdict_text, scenario_err.text);
		CHECK_STR(outcome.verdict_code, "cache-found");
		CHECK_NEAR(scenario_value("cache") / cases[i].cache_bytes, 1, 0.05);
		protocol_outcome_done(&outcome);
	}
}

/* Folds 60 MiB of 1 ms pages on 16 dies: in a second or two, after 20 s of rest. */
static void it_comes_back_after_a_pause(void)
{
	const struct scenario s = { "cache",
				    PLAIN "capacity=1g,slc=static,slc_size=6%,"
					  "idle_after=20s,gc_idle=50%",
				    NULL, 0, 0 };

	CHECK_EQ(scenario_run(&s), 0);
	CHECK_NEAR(scenario_value("at full speed after 10 s"), 0, 2.0 * MIB);
	CHECK(scenario_value("at full speed after 100 s") > 0.9 * 0.06 * GIB);
	CHECK(scenario_value("at full speed after 300 s") > 0.8 * 0.06 * GIB);
	protocol_outcome_done(&outcome);
}

static void none_is_seen_where_there_is_none(void)
{
	static const struct scenario scenarios[] = {
		{ "cache", PLAIN "capacity=256m", "no-cache", 0, 0 },
		{ "cache", PLAIN "capacity=256m,program_spread=30%,seed=2", "no-cache", 0, 0 },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

TESTS(TEST(the_size_is_found), TEST(it_comes_back_after_a_pause),
      TEST(none_is_seen_where_there_is_none))
