/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "measure/measure.h"
#include "stats/histogram.h"

/* Directories of our own below the build, where files are real; removed at the end. */
#define PLACES 2
static char places[PLACES][40];

static void make_places(void)
{
	for (int i = 0; i < PLACES; i++) {
		snprintf(places[i], sizeof(places[i]), "./tare-test-group-XXXXXX");
		if (!mkdtemp(places[i]))
			abort();
	}
}

/* rmdir succeeds where nothing was left behind. */
static void remove_places(void)
{
	for (int i = 0; i < PLACES; i++)
		CHECK_EQ(rmdir(places[i]), 0);
}

static struct plan plan;
static struct result result;
static struct err err;
static size_t layouts_begun, ends_told;

static void note_begin(void *ctx, const char *name, size_t index, size_t count)
{
	(void)ctx, (void)index, (void)count;
	layouts_begun += strcmp(name, "layout") == 0;
}

static void note_end(void *ctx, const struct measurement *m)
{
	(void)ctx;
	ends_told += m != NULL;
}

static int run(const char *expendable)
{
	const struct measure_options options = {
		.expendable_path = expendable,
		.observer = { .begin = note_begin, .end = note_end },
	};

	layouts_begun = ends_told = 0;
	memset(&err, 0, sizeof(err));
	return measure_plan(&plan, &options, &result, &err);
}

static void end_plan(void)
{
	result_done(&result);
	plan_done(&plan);
}

static struct phase *add(uint32_t target_index, uint32_t rw, uint64_t runtime_ns, bool together)
{
	struct phase *phase = plan_add(&plan, PHASE_MEASURE);

	phase->target_index = target_index;
	phase->together = together;
	phase->workload.rw = rw;
	phase->workload.depth_count = 4;
	phase->workload.runtime_ns = runtime_ns;
	return phase;
}

static void add_directory(int index, uint64_t size_bytes)
{
	const uint32_t target = plan_add_target(&plan, places[index]);

	plan.targets[target].size_bytes = size_bytes;
}

static const struct finding *found(const char *code, const char *measurement)
{
	for (size_t i = 0; i < result.finding_count; i++)
		if (strcmp(result.findings[i].code, code) == 0 &&
		    strcmp(result.findings[i].measurement, measurement) == 0)
			return &result.findings[i];
	return NULL;
}

static const char kingston[] = "sim:m80,capacity=64m", intel[] = "sim:x25m-g1,capacity=64m";

static void two_drives_plan(void)
{
	plan_init(&plan);
	plan_add_target(&plan, kingston);
	plan_add_target(&plan, intel);
	add(0, RW_RANDWRITE, 100 * MILLISECOND_NS, false);
	add(1, RW_RANDWRITE, 200 * MILLISECOND_NS, true);
	add(1, RW_RANDREAD, 50 * MILLISECOND_NS, true)->workload.start_delay_ns =
		100 * MILLISECOND_NS;
	add(0, RW_RANDREAD, 50 * MILLISECOND_NS, false);
}

static void several_reference_drives_run_under_one_clock(void)
{
	uint64_t counts[4], sums[4];

	two_drives_plan();
	CHECK_EQ(run(NULL), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(result.measurement_count, 4);
	CHECK_EQ(ends_told, 4);
	CHECK_EQ(result.more_target_count, 1);
	CHECK(strcmp(result.target.model, result.more_targets[0].model) != 0);
	for (size_t i = 0; i < 4; i++) {
		const struct measurement *m = &result.measurements[i];
		const enum op_kind op = workload_writes(&m->workload) ? OP_WRITE : OP_READ;

		CHECK_EQ(m->group_index, i == 3);
		CHECK_EQ(m->target_index, i == 1 || i == 2);
		CHECK(m->ops[op].count > 0);
		CHECK(m->drive != NULL);
		counts[i] = m->ops[op].count;
		sums[i] = m->ops[op].latency->sum_ns;
	}
	CHECK_EQ(result.measurements[1].start_ns, result.measurements[0].start_ns);
	CHECK_EQ(result.measurements[2].start_ns,
		 result.measurements[0].start_ns + 100 * MILLISECOND_NS);
	CHECK(result.measurements[3].start_ns >=
	      result.measurements[0].start_ns + 200 * MILLISECOND_NS);
	end_plan();

	two_drives_plan();
	CHECK_EQ(run(NULL), 0);
	for (size_t i = 0; i < 4; i++) {
		const struct measurement *m = &result.measurements[i];
		const enum op_kind op = workload_writes(&m->workload) ? OP_WRITE : OP_READ;

		CHECK_EQ(m->ops[op].count, counts[i]);
		CHECK_EQ(m->ops[op].latency->sum_ns, sums[i]);
	}
	end_plan();
}

static void the_end_of_one_ends_the_group_not_the_plan(void)
{
	plan_init(&plan);
	plan_add_target(&plan, kingston);
	plan_add_target(&plan, kingston);
	add(0, RW_RANDREAD, 20 * MILLISECOND_NS, false)->ends_group = true;
	add(1, RW_RANDREAD, 3600 * SECOND_NS, true);
	add(1, RW_RANDREAD, 30 * MILLISECOND_NS, false);
	CHECK_EQ(run(NULL), 0);
	CHECK_EQ(result.measurement_count, 3);
	CHECK(result.measurements[1].duration_ns < 21 * MILLISECOND_NS);
	CHECK(result.measurements[1].ops[OP_READ].count > 0);
	CHECK(!result.interrupted && !result.error_code);
	CHECK(result.measurements[2].duration_ns >= 30 * MILLISECOND_NS);
	end_plan();
}

static void virtual_and_real_time_do_not_mix(void)
{
	plan_init(&plan);
	plan_add_target(&plan, kingston);
	plan_add_target(&plan, "null:");
	add(0, RW_RANDREAD, MILLISECOND_NS, false);
	CHECK_EQ(run(NULL), -EINVAL);
	CHECK(strstr(err.text, "either all targets are 'sim:' or none") != NULL);
	end_plan();
}

static void a_target_that_is_not_there_is_named(void)
{
	plan_init(&plan);
	plan_add_target(&plan, "null:");
	snprintf(add(3, RW_RANDREAD, MILLISECOND_NS, false)->workload.name, 64, "mine");
	CHECK_EQ(run(NULL), -EINVAL);
	CHECK_STR(err.text, "mine: the plan has no target 3, only 1 of them");
	end_plan();
}

static void each_directory_gets_its_file(void)
{
	make_places();
	plan_init(&plan);
	add_directory(0, 4 * MIB);
	add_directory(1, 8 * MIB);
	add(0, RW_RANDREAD, 30 * MILLISECOND_NS, false);
	add(1, RW_RANDWRITE, 30 * MILLISECOND_NS, true);
	CHECK_EQ(run(NULL), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(layouts_begun, 1);
	CHECK_EQ(result.layout_bytes, 12 * MIB);
	CHECK_EQ(result.target.size_bytes, 4 * MIB);
	CHECK_EQ(result.more_targets[0].size_bytes, 8 * MIB);
	CHECK(result.measurements[0].ops[OP_READ].count > 0);
	CHECK(result.measurements[1].ops[OP_WRITE].count > 0);
	CHECK(found("sparse", result.measurements[0].name) == NULL);
	end_plan();
	remove_places();
}

/* Four files in one directory, as iozone's throughput mode has them. */
static void one_directory_may_be_several_targets(void)
{
	make_places();
	plan_init(&plan);
	for (uint32_t i = 0; i < 4; i++) {
		struct phase *phase;

		add_directory(0, MIB);
		plan.targets[i].unwritten = true;
		phase = add(i, RW_WRITE, 0, i > 0);
		phase->workload.io_size_bytes = MIB;
		phase->workload.block_bytes = 64 * KIB;
	}
	CHECK_EQ(run(NULL), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(layouts_begun, 0);
	CHECK_EQ(result.layout_bytes, 0);
	CHECK_EQ(result.measurement_count, 4);
	for (size_t i = 0; i < 4; i++)
		CHECK_EQ(result.measurements[i].ops[OP_WRITE].bytes, MIB);
	CHECK_STR(result.measurements[3].name, "seq-write-64k-q4-4");
	end_plan();
	remove_places();
}

static void a_refused_second_target_leaves_the_first_untouched(void)
{
	char path[64];
	int fd;

	make_places();
	snprintf(path, sizeof(path), "%s/precious", places[1]);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && ftruncate(fd, MIB) == 0);
	close(fd);
	plan_init(&plan);
	add_directory(0, 4 * MIB);
	plan_add_target(&plan, path);
	add(0, RW_RANDREAD, 10 * MILLISECOND_NS, false);
	add(1, RW_RANDWRITE, 10 * MILLISECOND_NS, true);
	CHECK_EQ(run(NULL), -EPERM);
	CHECK(strstr(err.text, "precious") != NULL);
	CHECK_EQ(layouts_begun, 0);
	CHECK_EQ(result.layout_bytes, 0);
	result_done(&result);
	/* With consent that names it, it may be written. */
	CHECK_EQ(run(path), 0);
	CHECK(result.measurements[1].ops[OP_WRITE].count > 0);
	end_plan();
	CHECK_EQ(unlink(path), 0);
	remove_places();
}

static void files_that_do_not_fit_together_are_refused(void)
{
	struct statvfs vfs;
	uint64_t bytes;

	make_places();
	CHECK_EQ(statvfs(places[0], &vfs), 0);
	bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize / 5 * 3 / (4 * KIB) * (4 * KIB);
	plan_init(&plan);
	add_directory(0, bytes);
	add_directory(1, bytes);
	add(0, RW_RANDREAD, 10 * MILLISECOND_NS, false);
	add(1, RW_RANDREAD, 10 * MILLISECOND_NS, false);
	CHECK_EQ(run(NULL), -ENOSPC);
	CHECK(strstr(err.text, "of 2 targets") != NULL);
	CHECK_EQ(layouts_begun, 0);
	end_plan();
	remove_places();
}

/* One through the page cache and one past it, at the same time on the same file. */
static void modes_may_differ_within_a_group(void)
{
	struct phase *phase;

	make_places();
	plan_init(&plan);
	add_directory(0, 4 * MIB);
	phase = add(0, RW_RANDREAD, 50 * MILLISECOND_NS, false);
	snprintf(phase->workload.name, 64, "direct");
	phase = add(0, RW_RANDREAD, 50 * MILLISECOND_NS, true);
	snprintf(phase->workload.name, 64, "buffered");
	phase->workload.direct = false;
	phase = add(0, RW_RANDWRITE, 50 * MILLISECOND_NS, true);
	snprintf(phase->workload.name, 64, "synced");
	phase->workload.sync = SYNC_DSYNC;
	CHECK_EQ(run(NULL), 0);
	CHECK_STR(err.text, "");
	CHECK(found("page-cache", "buffered") != NULL);
	CHECK(found("page-cache", "direct") == NULL);
	CHECK(result.target.direct);
	for (size_t i = 0; i < 3; i++)
		CHECK_EQ(result.measurements[i].group_index, 0);
	end_plan();
	remove_places();
}

static void what_is_said_of_targets_names_them(void)
{
	plan_init(&plan);
	plan_add_target(&plan, "null:size=1g");
	plan_add_target(&plan, "null:size=2g");
	add(0, RW_RANDREAD, 10 * MILLISECOND_NS, false);
	add(1, RW_RANDREAD, 10 * MILLISECOND_NS, false);
	CHECK_EQ(run(NULL), 0);
	CHECK(strncmp(found("memory-backed", "")->text, "null:size=1g: ", 14) == 0);
	end_plan();
}

static struct phase *add_verified(uint32_t rw, bool together)
{
	struct phase *phase = add(0, rw, 0, together);

	phase->workload.verify = true;
	phase->workload.block_bytes = rw == RW_READ ? 64 * KIB : 4 * KIB;
	return phase;
}

static void reads_verify_what_a_phase_before_them_wrote(void)
{
	make_places();
	plan_init(&plan);
	add_directory(0, MIB);
	add_verified(RW_RANDWRITE, false)->workload.verify_back = false;
	plan_add(&plan, PHASE_IDLE)->idle_ns = MILLISECOND_NS;
	add_verified(RW_READ, false);
	CHECK_EQ(run(NULL), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(result.measurements[0].verified_count, 0);
	CHECK_EQ(result.measurements[1].verified_count, MIB / 4096);
	CHECK_EQ(result.measurements[1].verify_failed_count, 0);
	CHECK_EQ(result.measurements[1].seed, result.measurements[0].seed);
	end_plan();
	remove_places();
}

/* Not when the same group writes it, nor when something else was written since. */
static void reads_that_cannot_be_verified_are_refused_before_anything_is_done(void)
{
	make_places();
	for (int i = 0; i < 3; i++) {
		plan_init(&plan);
		add_directory(0, MIB);
		if (i > 0)
			add_verified(RW_RANDWRITE, false);
		if (i > 1)
			add(0, RW_WRITE, 0, false)->workload.io_size_bytes = 64 * KIB;
		snprintf(add_verified(RW_READ, i == 1)->workload.name, 64, "check");
		CHECK_EQ(run(NULL), -EINVAL);
		CHECK_STR(err.text, "check: verify of reads alone needs data that a measurement before "
				    "it wrote with verify");
		CHECK_EQ(layouts_begun, 0);
		end_plan();
	}
	remove_places();
}

static void a_thousand_short_phases_take_little(void)
{
	struct clock clock;
	uint64_t begin_ns;

	make_places();
	clock_init_real(&clock);
	plan_init(&plan);
	add_directory(0, MIB);
	for (int i = 0; i < 200; i++) {
		struct workload *w = &add(0, i % 2 ? RW_READ : RW_WRITE, 0, false)->workload;

		w->direct = false;
		w->depth_count = 1;
		w->io_size_bytes = MIB;
	}
	begin_ns = clock_now_ns(&clock);
	CHECK_EQ(run(NULL), 0);
	CHECK_EQ(result.measurement_count, 200);
	CHECK_STR(result.measurements[199].name, "seq-read-4k-q1-100");
	/* For who looks: how long a phase of no length takes. */
	printf("# %.2f ms each\n", (double)(clock_now_ns(&clock) - begin_ns) / 200e6);
	end_plan();
	remove_places();
}

TESTS(TEST(several_reference_drives_run_under_one_clock),
      TEST(the_end_of_one_ends_the_group_not_the_plan), TEST(virtual_and_real_time_do_not_mix),
      TEST(a_target_that_is_not_there_is_named), TEST(each_directory_gets_its_file),
      TEST(one_directory_may_be_several_targets),
      TEST(a_refused_second_target_leaves_the_first_untouched),
      TEST(files_that_do_not_fit_together_are_refused), TEST(modes_may_differ_within_a_group),
      TEST(reads_verify_what_a_phase_before_them_wrote),
      TEST(reads_that_cannot_be_verified_are_refused_before_anything_is_done),
      TEST(what_is_said_of_targets_names_them), TEST(a_thousand_short_phases_take_little))
