/* SPDX-License-Identifier: MIT */

/* contamination: IOMeter's file changes a fresh drive, heals a fragmented one, and so on. */

#include "scenario.h"

#include "base/clock.h"
#include "base/units.h"

#define PLAIN                                                                                      \
	"sim:page-greedy,capacity=256m,op=7%,pages_per_block=64,channels=4,dies=2,content=off,"

static void iometers_file_changes_drives(void)
{
	static const struct scenario scenarios[] = {
		{ "contamination", PLAIN "seed=1", "changes-the-drive", 0, 0 },
		{ "contamination", PLAIN "seed=2,op=12%", "changes-the-drive", 0, 0 },
		{ "contamination", "sim:x25m-g1,capacity=256m,content=off,seed=3",
		  "changes-the-drive", 0, 0 },
		/* The link is slower than the flash at its worst. */
		{ "contamination", PLAIN "seed=5,link=10MB,program_time=20us,erase_time=50us",
		  "fills-the-drive", 0, 0 },
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

/* One phase over the whole drive, judged on a used one. */
static void suspect(uint32_t rw, uint64_t block_bytes, const char *want)
{
	struct plan plan;
	struct protocol_options options = { .target = PLAIN "state=steady,seed=6", .plan = &plan };
	struct workload *w;
	struct err err = { 0 };

	plan_init(&plan);
	w = &plan_add(&plan, PHASE_MEASURE)->workload;
	workload_init(w);
	w->rw = rw;
	w->block_bytes = block_bytes;
	CHECK_EQ(protocol_run(protocol_find("contamination"), &options, &outcome, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_STR(outcome.verdict_code, want);
	printf("# %s\n", outcome.verdict_text);
	protocol_outcome_done(&outcome);
	plan_done(&plan);
}

static void a_plan_that_reads_is_clean(void)
{
	suspect(RW_RANDREAD, 64 * KIB, "clean");
}

static void a_plan_that_discards_everything_heals(void)
{
	suspect(RW_TRIM, MIB, "heals-the-drive");
}

TESTS(TEST(iometers_file_changes_drives), TEST(a_plan_that_reads_is_clean),
      TEST(a_plan_that_discards_everything_heals))
