/* SPDX-License-Identifier: MIT */

/* steady: drives that become so, and one that never does. */

#include "scenario.h"

#include "base/clock.h"
#include "base/units.h"

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

/*
 * The client's: three quarters of 64 MiB are filled, half of that is worked on in segments of a
 * mebibyte. What was never touched is the rest of the drive.
 */
static void the_client_works_in_segments_of_a_part(void)
{
	const struct protocol_options options = {
		.target = PLAIN "op=12%",
		.client = true,
		.active_ppm = 750000,
		.cell_ns = 30 * MILLISECOND_NS,
	};
	const struct measurement *last;

	CHECK_EQ(protocol_run(protocol_find("steady"), &options, &outcome, &scenario_err), 0);
	CHECK_STR(outcome.verdict_code, "steady");
	CHECK_NEAR(scenario_value("active range"), 48.0 * MIB, 0);
	CHECK_NEAR(scenario_value("active amount"), 24.0 * MIB, 0);
	CHECK_NEAR(scenario_value("segments"), 24, 0);
	last = &outcome.result.measurements[outcome.result.measurement_count - 1];
	CHECK_EQ(last->workload.segment_count, 24);
	for (uint32_t i = 0; last->drive && i < last->drive->row_count; i++)
		if (strcmp(last->drive->rows[i].name, "mapped_bytes") == 0)
			CHECK(last->drive->rows[i].value <= 24.0 * MIB);
	protocol_outcome_done(&outcome);
}

TESTS(TEST(the_client_works_in_segments_of_a_part), TEST(drives_become_steady), TEST(not_reached_is_a_result))
