/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "measure/measure.h"
#include "stats/histogram.h"

/* A directory of our own below the build, where files are real; removed at the end. */
static char place[] = "./tare-test-measure-XXXXXX";

static void make_place(void)
{
	strcpy(place + strlen(place) - 6, "XXXXXX");
	if (!mkdtemp(place))
		abort();
}

static size_t entries_of_place(void)
{
	DEFER(defer_closedir) DIR *dir = opendir(place);
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	return count - 2;	/* "." and ".." */
}

static void remove_place(void)
{
	CHECK_EQ(entries_of_place(), 0);
	CHECK_EQ(rmdir(place), 0);
}

static struct plan plan;
static struct result result;
static struct err err;

static void begin_plan(const char *target)
{
	plan_init(&plan);
	snprintf(plan.target, sizeof(plan.target), "%s", target);
}

static struct workload *add(uint32_t rw, uint32_t depth_count, uint64_t runtime_ns)
{
	struct workload *w = &plan_add(&plan, PHASE_MEASURE)->workload;

	workload_init(w);
	w->rw = rw;
	w->block_bytes = 4096;
	w->depth_count = depth_count;
	w->runtime_ns = runtime_ns;
	return w;
}

static int run(const struct measure_options *options)
{
	memset(&err, 0, sizeof(err));
	return measure_plan(&plan, options, &result, &err);
}

static void end_plan(void)
{
	result_done(&result);
	plan_done(&plan);
}

static const struct finding *found(const char *code)
{
	for (size_t i = 0; i < result.finding_count; i++)
		if (strcmp(result.findings[i].code, code) == 0)
			return &result.findings[i];
	return NULL;
}

static const struct measure_options small = { .test_file_bytes = 8 * MIB };

static void phases_run_in_order_and_are_named(void)
{
	begin_plan("null:size=1g");
	add(RW_RANDREAD, 32, 30 * MILLISECOND_NS);
	add(RW_RANDREAD, 32, 30 * MILLISECOND_NS);
	snprintf(add(RW_WRITE, 1, 30 * MILLISECOND_NS)->name, 64, "mine");
	CHECK_EQ(run(&small), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(result.measurement_count, 3);
	CHECK_STR(result.measurements[0].name, "rand-read-4k-q32");
	CHECK_STR(result.measurements[1].name, "rand-read-4k-q32-2");
	CHECK_STR(result.measurements[2].name, "mine");
	CHECK(result.measurements[0].ops[OP_READ].count > 0);
	CHECK(result.measurements[2].ops[OP_WRITE].count > 0);
	CHECK_STR(result.measurements[0].level, "too short");
	CHECK_STR(result.state, "stateless");
	CHECK(found("memory-backed") != NULL);
	CHECK(result.version[0] && result.machine.kernel[0]);
	CHECK_EQ(strlen(result.started_at), strlen("2026-11-30T16:00:00Z"));
	CHECK_EQ(result.error_code, 0);
	CHECK(!result.interrupted);
	end_plan();
}

static void a_directory_is_laid_out_before_it_is_read(void)
{
	make_place();
	begin_plan(place);
	add(RW_RANDREAD, 4, 100 * MILLISECOND_NS);
	CHECK_EQ(run(&small), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(result.layout_bytes, 8 * MIB);
	CHECK(result.layout_ns > 0);
	CHECK_STR(result.state, "laid-out");
	CHECK(result.target.ours);
	CHECK_EQ(result.target.size_bytes, 8 * MIB);
	CHECK(result.measurements[0].ops[OP_READ].count > 0);
	CHECK(found("sparse") == NULL && found("unwritten") == NULL);
	end_plan();
	remove_place();
}

static void a_size_off_the_layout_block_is_laid_out_in_full(void)
{
	const struct measure_options odd = { .test_file_bytes = 2 * MIB + 12288 };

	make_place();
	begin_plan(place);
	add(RW_READ, 1, 0)->io_size_bytes = 2 * MIB + 12288;
	CHECK_EQ(run(&odd), 0);
	CHECK_EQ(result.layout_bytes, 2 * MIB + 12288);
	CHECK_EQ(result.measurements[0].ops[OP_READ].bytes, 2 * MIB + 12288);
	CHECK(found("sparse") == NULL);
	end_plan();
	remove_place();
}

static void the_test_file_is_as_large_as_the_phases_name(void)
{
	struct workload *w;

	make_place();
	begin_plan(place);
	w = add(RW_RANDREAD, 1, 20 * MILLISECOND_NS);
	w->offset.bytes = MIB;
	w->size.bytes = 2 * MIB;
	CHECK_EQ(run(&(struct measure_options){ 0 }), 0);
	CHECK_EQ(result.target.size_bytes, 3 * MIB);
	CHECK_EQ(result.layout_bytes, 3 * MIB);
	end_plan();
	remove_place();
}

/* Writing and reading in all the ways a descriptor can be open, in one plan. */
static void phases_may_differ_in_how_the_file_is_open(void)
{
	make_place();
	begin_plan(place);
	add(RW_RANDWRITE, 1, 20 * MILLISECOND_NS)->sync = SYNC_DSYNC;
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS)->direct = false;
	add(RW_RANDWRITE, 1, 20 * MILLISECOND_NS)->sync = SYNC_SYNC;
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS)->noatime = false;
	CHECK_EQ(run(&small), 0);
	CHECK_STR(result.error_text, "");
	CHECK_EQ(result.measurement_count, 4);
	for (size_t i = 0; i < result.measurement_count; i++)
		CHECK(result.measurements[i].ops[i % 2 ? OP_READ : OP_WRITE].count > 0);
	CHECK(found("page-cache") != NULL);
	end_plan();
	remove_place();
}

static void an_error_keeps_what_was_measured_and_leaves_nothing(void)
{
	make_place();
	begin_plan(place);
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS);
	snprintf(add(RW_RANDREAD, 4, SECOND_NS)->filter, 256, "error:errno=EIO,after=50");
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS);
	CHECK_EQ(run(&small), 0);
	CHECK_EQ(result.error_code, -EIO);
	CHECK(strstr(result.error_text, "rand-read-4k-q4: ") == result.error_text);
	CHECK(strstr(result.error_text, strerror(EIO)) != NULL);
	CHECK_EQ(result.measurement_count, 2);
	CHECK(result.measurements[0].ops[OP_READ].count > 0);
	CHECK(result.measurements[1].ended_early);
	CHECK_EQ(result.measurements[1].duration_ns < SECOND_NS, true);
	CHECK(found("io-errors") != NULL);
	CHECK(!result.interrupted);
	end_plan();
	remove_place();
}

static void an_impossible_phase_is_refused_before_anything_is_written(void)
{
	make_place();
	begin_plan(place);
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS);
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS)->offset.bytes = 16 * MIB;
	CHECK(run(&small) < 0);
	CHECK(err.text[0] != '\0');
	CHECK_EQ(result.measurement_count, 0);
	CHECK_EQ(result.layout_bytes, 0);
	end_plan();
	remove_place();
}

static void a_plan_that_measures_nothing_is_refused(void)
{
	begin_plan("null:size=1g");
	plan_add(&plan, PHASE_IDLE)->idle_ns = 1;
	CHECK_EQ(run(&small), -EINVAL);
	CHECK_STR(err.text, "the plan neither measures nor changes a state");
	end_plan();
}

/* Two measurements on the reference drive, with what is done to it between them. */
static void steps_run_between_measurements_and_are_told(void)
{
	struct step *fill, *dirty;

	begin_plan("sim:page-greedy,capacity=256m");
	add(RW_RANDWRITE, 8, SECOND_NS);
	fill = plan_add_step(&plan, STEP_FILL);
	fill->fill.times_ppm = 1500000;
	dirty = plan_add_step(&plan, STEP_DIRTY);
	dirty->dirty.by = DIRTY_RANDOM;
	plan_add(&plan, PHASE_IDLE)->idle_ns = SECOND_NS;
	add(RW_RANDWRITE, 8, SECOND_NS);
	plan_add_step(&plan, STEP_TRIM);
	CHECK_EQ(run(&small), 0);
	CHECK_EQ(result.error_code, 0);
	CHECK_EQ(result.measurement_count, 2);
	CHECK_EQ(result.step_count, 4);
	CHECK_STR(result.steps[0].name, "fill");
	CHECK_STR(result.steps[0].asked, "fill:times=1.5");
	CHECK_EQ(result.steps[0].before_measurement, 1);
	CHECK_EQ(result.steps[0].written_bytes, 384 * MIB);
	CHECK_STR(result.steps[0].state, "filled");
	CHECK_STR(result.steps[1].state, "dirty");
	CHECK_STR(result.steps[2].name, "idle");
	CHECK_EQ(result.steps[2].duration_ns, SECOND_NS);
	CHECK_STR(result.steps[3].name, "trim");
	CHECK_EQ(result.steps[3].before_measurement, 2);
	CHECK_STR(result.state, "trimmed");
	/* A dirty drive is slower: the mechanism, seen through the whole program. */
	CHECK(result.measurements[1].ops[OP_WRITE].count <
	      result.measurements[0].ops[OP_WRITE].count / 2);
	end_plan();
}

static void a_step_that_cannot_be_done_there_is_refused_before_anything_is_written(void)
{
	make_place();
	begin_plan(place);
	plan_add_step(&plan, STEP_FILL);
	plan_add_step(&plan, STEP_DIRTY)->dirty.by = DIRTY_RANDOM;
	end_plan();
	begin_plan("null:size=1g");
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS);
	plan_add_step(&plan, STEP_FILL);
	CHECK_EQ(run(&small), -EOPNOTSUPP);
	CHECK_STR(err.text, "fill: null:size=1g has no state");
	CHECK_EQ(result.measurement_count, 0);
	end_plan();
	remove_place();
}

static void a_missing_target_is_not_made(void)
{
	make_place();
	begin_plan("");
	snprintf(plan.target, sizeof(plan.target), "%s/none", place);
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS);
	CHECK_EQ(run(&small), -ENOENT);
	CHECK(strstr(err.text, "none") != NULL);
	end_plan();
	remove_place();
}

static volatile sig_atomic_t stop;
static char diary[256];

static void write_diary(const char *word)
{
	snprintf(diary + strlen(diary), sizeof(diary) - strlen(diary), "%s ", word);
}

static void on_target(void *ctx, const struct target_info *info)
{
	(void)ctx;
	write_diary(info->ours ? "ours" : "target");
}

static void on_begin(void *ctx, const char *name, size_t index, size_t count)
{
	char text[96];

	snprintf(text, sizeof(text), "%s:%zu/%zu", name, index, count);
	write_diary(text);
	if (ctx && strcmp(name, ctx) == 0)
		stop = 1;
}

static void on_end(void *ctx, const struct measurement *m)
{
	(void)ctx;
	write_diary(m ? m->name : "-");
}

static void run_observed(const char *stop_at)
{
	static char name[32];
	struct measure_options options = {
		.test_file_bytes = MIB,
		.stop = &stop,
		.observer = { NULL, on_target, on_begin, NULL, on_end },
	};

	stop = 0;
	diary[0] = '\0';
	if (stop_at) {
		snprintf(name, sizeof(name), "%s", stop_at);
		options.observer.ctx = name;
	}
	make_place();
	begin_plan(place);
	snprintf(add(RW_RANDREAD, 1, 20 * MILLISECOND_NS)->name, 64, "a");
	plan_add(&plan, PHASE_IDLE)->idle_ns = MILLISECOND_NS;
	snprintf(add(RW_RANDREAD, 1, 20 * MILLISECOND_NS)->name, 64, "b");
	CHECK_EQ(run(&options), 0);
}

static void an_observer_sees_every_phase(void)
{
	run_observed(NULL);
	CHECK_STR(diary, "ours layout:0/3 - a:0/3 a idle:1/3 - b:2/3 b ");
	CHECK_EQ(result.measurement_count, 2);
	end_plan();
	remove_place();
}

static void a_stop_ends_early_with_what_there_is(void)
{
	run_observed("layout");
	CHECK(result.interrupted);
	CHECK_EQ(result.measurement_count, 0);
	CHECK_STR(result.state, "unknown");
	end_plan();
	remove_place();

	run_observed("idle");
	CHECK(result.interrupted);
	CHECK_EQ(result.measurement_count, 1);
	CHECK_STR(diary, "ours layout:0/3 - a:0/3 a idle:1/3 - ");
	CHECK_EQ(result.error_code, 0);
	end_plan();
	remove_place();
}

/* A file of the user's: what is read is read, and nothing else happens to it. */
static void make_file(const char *content, uint64_t size_bytes, char path[PATH_MAX])
{
	static char block[MIB];
	int fd;

	make_place();
	snprintf(path, PATH_MAX, "%s/file", place);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)size_bytes) < 0)
		abort();
	memset(block, content ? content[0] : 0, sizeof(block));
	for (uint64_t at = 0; content && at < size_bytes; at += sizeof(block))
		if (pwrite(fd, block, sizeof(block), (off_t)at) != (ssize_t)sizeof(block))
			abort();
	if (fsync(fd) < 0)
		abort();
	close(fd);
}

static void reads_of_a_sparse_file_are_found_out(void)
{
	char path[PATH_MAX];
	struct stat before, after;

	make_file(NULL, 4 * MIB, path);
	stat(path, &before);
	begin_plan(path);
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS);
	CHECK_EQ(run(&small), 0);
	CHECK(found("sparse") && found("sparse")->severity == SEVERITY_INVALID);
	CHECK(found("unwritten") == NULL);
	CHECK_STR(result.state, "unknown");
	CHECK_EQ(result.layout_bytes, 0);
	CHECK_EQ(stat(path, &after), 0);
	CHECK_EQ(after.st_size, before.st_size);
	CHECK_EQ(after.st_blocks, before.st_blocks);
	CHECK_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
	end_plan();
	unlink(path);
	remove_place();
}

static void reads_of_written_zeros_are_found_out(void)
{
	char path[PATH_MAX];

	make_file("", 4 * MIB, path);
	begin_plan(path);
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS);
	CHECK_EQ(run(&small), 0);
	CHECK(!result.target.direct || found("unwritten") != NULL);
	CHECK(found("sparse") == NULL);
	end_plan();
	unlink(path);
	remove_place();
}

static void a_file_with_data_is_neither_sparse_nor_unwritten(void)
{
	char path[PATH_MAX];

	make_file("x", 4 * MIB, path);
	begin_plan(path);
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS);
	CHECK_EQ(run(&small), 0);
	CHECK(found("sparse") == NULL && found("unwritten") == NULL);
	end_plan();
	unlink(path);
	remove_place();
}

static void a_file_smaller_than_asked_is_refused_and_unchanged(void)
{
	char path[PATH_MAX];
	struct stat st;

	make_file("x", 4 * MIB, path);
	begin_plan(path);
	add(RW_RANDREAD, 1, 20 * MILLISECOND_NS)->size.bytes = 8 * MIB;
	CHECK_EQ(run(&small), -EFBIG);
	stat(path, &st);
	CHECK_EQ(st.st_size, 4 * MIB);
	end_plan();
	begin_plan(path);
	add(RW_RANDWRITE, 1, 20 * MILLISECOND_NS);
	CHECK_EQ(run(&small), -EPERM);
	end_plan();
	unlink(path);
	remove_place();
}

static double truth(const struct measurement *m, const char *name)
{
	for (uint32_t i = 0; m->drive && i < m->drive->row_count; i++)
		if (strcmp(m->drive->rows[i].name, name) == 0)
			return m->drive->rows[i].value;
	return NAN;
}

/* Small, so that its layout takes no time worth mentioning: 64 MiB. */
#define DRIVE "sim:page-greedy,capacity=64m,op=12,pages_per_block=64"

static void a_plan_on_the_reference_drive_gives_the_same_twice(void)
{
	uint64_t reads = 0, latency_ns = 0;

	for (int round = 0; round < 2; round++) {
		const struct measurement *m;

		begin_plan(DRIVE ",state=steady");
		add(RW_RANDWRITE, 4, 0)->io_size_bytes = 16 * MIB;
		plan_add(&plan, PHASE_IDLE)->idle_ns = 3600 * SECOND_NS;
		add(RW_RANDREAD, 4, SECOND_NS);
		CHECK_EQ(run(&(struct measure_options){ 0 }), 0);
		CHECK_STR(err.text, "");
		CHECK_STR(result.state, "steady");
		CHECK_EQ(result.layout_bytes, 0);
		CHECK_EQ(result.measurement_count, 2);
		m = result.measurements;
		CHECK_EQ(truth(&m[0], "host_written_bytes"), 16 * MIB);
		CHECK(truth(&m[0], "write_amplification") > 1);
		CHECK_EQ(truth(&m[1], "host_written_bytes"), 0);
		CHECK(m[1].start_ns >= m[0].start_ns + m[0].duration_ns + 3600 * SECOND_NS);
		CHECK(m[1].ops[OP_READ].count > 0);
		CHECK(round == 0 || m[1].ops[OP_READ].count == reads);
		CHECK(round == 0 || m[0].ops[OP_WRITE].latency->sum_ns == latency_ns);
		reads = m[1].ops[OP_READ].count;
		latency_ns = m[0].ops[OP_WRITE].latency->sum_ns;
		CHECK(found("virtual-device") != NULL);
		CHECK(found("state-unknown") == NULL);
		end_plan();
	}
}

static void a_new_reference_drive_is_laid_out_when_checked(void)
{
	const struct measure_options check = { .layout_ns_max = SECOND_NS };

	begin_plan(DRIVE);
	add(RW_RANDREAD, 4, SECOND_NS);
	CHECK_EQ(run(&check), 0);
	CHECK_STR(result.state, "laid-out");
	CHECK_EQ(result.layout_bytes, 64 * MIB);
	CHECK_EQ(truth(&result.measurements[0], "mapped_bytes"), 64 * MIB);
	end_plan();
	begin_plan(DRIVE);
	/* Reads of what was never written take no time here: an amount ends them, no runtime. */
	add(RW_RANDREAD, 4, 0)->io_size_bytes = MIB;
	CHECK_EQ(run(&(struct measure_options){ 0 }), 0);
	CHECK_EQ(result.measurements[0].ops[OP_READ].count, 256);
	CHECK_STR(result.state, "fresh");
	CHECK_EQ(result.layout_bytes, 0);
	end_plan();
}

static void the_instrument_knows_its_ceiling(void)
{
	struct ceiling ceiling;

	CHECK_EQ(measure_ceiling(&ceiling, &err), 0);
	/* A thousand times slower or faster than any machine would be a mistake of ours. */
	CHECK(ceiling.null_iops_q1 > 1e4 && ceiling.null_iops_q1 < 1e10);
	CHECK(ceiling.null_iops_q32 > 1e4 && ceiling.null_iops_q32 < 1e10);
	CHECK(ceiling.clock_ns > 0.1 && ceiling.clock_ns < 1e4);
	CHECK(ceiling.fill_ns_per_4k > 10 && ceiling.fill_ns_per_4k < 1e6);
	CHECK(ceiling.check_ns_per_4k > 10 && ceiling.check_ns_per_4k < 1e6);
	CHECK(ceiling.memcpy_ns_per_4k > 5 && ceiling.memcpy_ns_per_4k < 1e6);
}

TESTS(TEST(phases_run_in_order_and_are_named), TEST(a_directory_is_laid_out_before_it_is_read),
      TEST(a_size_off_the_layout_block_is_laid_out_in_full),
      TEST(the_test_file_is_as_large_as_the_phases_name),
      TEST(phases_may_differ_in_how_the_file_is_open),
      TEST(an_error_keeps_what_was_measured_and_leaves_nothing),
      TEST(an_impossible_phase_is_refused_before_anything_is_written),
      TEST(a_plan_that_measures_nothing_is_refused), TEST(steps_run_between_measurements_and_are_told),
      TEST(a_step_that_cannot_be_done_there_is_refused_before_anything_is_written),
      TEST(a_missing_target_is_not_made),
      TEST(an_observer_sees_every_phase), TEST(a_stop_ends_early_with_what_there_is),
      TEST(reads_of_a_sparse_file_are_found_out), TEST(reads_of_written_zeros_are_found_out),
      TEST(a_file_with_data_is_neither_sparse_nor_unwritten),
      TEST(a_file_smaller_than_asked_is_refused_and_unchanged),
      TEST(a_plan_on_the_reference_drive_gives_the_same_twice),
      TEST(a_new_reference_drive_is_laid_out_when_checked),
      TEST(the_instrument_knows_its_ceiling))
