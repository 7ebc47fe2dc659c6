/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "measure/measure.h"

static const char *const names[] = {
	"seq-read-1m-q8",   "seq-read-1m-q1",	 "rand-read-4k-q32", "rand-read-4k-q1",
	"seq-write-1m-q8",  "seq-write-1m-q1",	 "rand-write-4k-q32", "rand-write-4k-q1",
	"sync-write-4k-q1",
};

static void nine_rows_are_what_their_names_say(void)
{
	static const struct {
		uint32_t rw, depth_count, fdatasync_count;
		uint64_t block_bytes;
	} want[] = {
		{ RW_READ, 8, 0, 1048576 },	 { RW_READ, 1, 0, 1048576 },
		{ RW_RANDREAD, 32, 0, 4096 },	 { RW_RANDREAD, 1, 0, 4096 },
		{ RW_WRITE, 8, 0, 1048576 },	 { RW_WRITE, 1, 0, 1048576 },
		{ RW_RANDWRITE, 32, 0, 4096 },	 { RW_RANDWRITE, 1, 0, 4096 },
		{ RW_RANDWRITE, 1, 1, 4096 },
	};
	struct plan plan;
	struct err err;

	CHECK_EQ(measure_check_plan(&plan, "/data", CHECK_NORMAL, false, &err), 0);
	CHECK_STR(plan.target, "/data");
	CHECK_EQ(plan.phase_count, 9);
	for (size_t i = 0; i < 9; i++) {
		const struct workload *w = &plan.phases[i].workload;

		CHECK_EQ(plan.phases[i].kind, PHASE_MEASURE);
		CHECK_STR(w->name, names[i]);
		CHECK_EQ(w->rw, want[i].rw);
		CHECK_EQ(w->depth_count, want[i].depth_count);
		CHECK_EQ(w->fdatasync_count, want[i].fdatasync_count);
		CHECK_EQ(w->block_bytes, want[i].block_bytes);
		CHECK_EQ(w->data, DATA_RANDOM);
		CHECK_EQ(w->compress_ppm, 0);
		CHECK_EQ(w->rate_iops, 0);
		CHECK(w->direct);
		CHECK_EQ(workload_check(w, &err), 0);
	}
	plan_done(&plan);
}

static void without_consent_there_are_reads_only(void)
{
	struct plan plan;

	CHECK_EQ(measure_check_plan(&plan, "/dev/sda", CHECK_QUICK, true, NULL), 0);
	CHECK_EQ(plan.phase_count, 4);
	for (size_t i = 0; i < plan.phase_count; i++) {
		CHECK_STR(plan.phases[i].workload.name, names[i]);
		CHECK(!workload_writes(&plan.phases[i].workload));
	}
	plan_done(&plan);
}

static void time_is_what_was_promised(void)
{
	static const struct {
		enum check_length length;
		uint64_t most_ns;
	} cases[] = {
		{ CHECK_QUICK, 15 * SECOND_NS },
		{ CHECK_NORMAL, 60 * SECOND_NS },
		{ CHECK_LONG, 300 * SECOND_NS },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		for (int reads_only = 0; reads_only <= 1; reads_only++) {
			struct plan plan;
			uint64_t sum_ns = reads_only ? 0 : measure_check_layout_ns(cases[i].length);

			CHECK_EQ(measure_check_plan(&plan, ".", cases[i].length, reads_only,
						    NULL), 0);
			for (size_t k = 0; k < plan.phase_count; k++)
				sum_ns += plan.phases[k].workload.ramp_ns +
					  plan.phases[k].workload.runtime_ns;
			CHECK(sum_ns <= cases[i].most_ns);
			CHECK(sum_ns >= cases[i].most_ns * 8 / 10);
			plan_done(&plan);
		}
}

static void a_path_too_long_is_refused(void)
{
	char path[5000];
	struct plan plan;
	struct err err;

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	CHECK_EQ(measure_check_plan(&plan, path, CHECK_QUICK, false, &err), -ENAMETOOLONG);
	CHECK_STR(err.text, "the path has 4999 bytes, at most 4095 will do");
}

TESTS(TEST(nine_rows_are_what_their_names_say), TEST(without_consent_there_are_reads_only),
      TEST(time_is_what_was_promised), TEST(a_path_too_long_is_refused))
