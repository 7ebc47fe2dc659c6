/* SPDX-License-Identifier: MIT */
#include "engine/test_fake.h"

#include <fcntl.h>
#include <unistd.h>

#define MS MILLISECOND_NS

/* The real clock, real threads. Bounds are wide: a busy machine may be late, never early. */

static struct clock the_clock;
static uint32_t progress_count;
static struct engine_progress last_progress;

static void keep_progress(void *ctx, const struct engine_progress *progress)
{
	CHECK(ctx == &progress_count);
	progress_count++;
	last_progress = *progress;
}

static struct target file_target(uint64_t size_bytes)
{
	const char *dir = getenv("TMPDIR");
	struct target target = {
		.fd = open(dir ? dir : "/tmp", O_TMPFILE | O_RDWR, 0600),
		.info = { .kind = TARGET_FILE, .size_bytes = size_bytes,
			  .logical_block_bytes = 512, .physical_block_bytes = 4096 },
	};

	CHECK(target.fd >= 0);
	CHECK_EQ(ftruncate(target.fd, (off_t)size_bytes), 0);
	return target;
}

static void jobs_run_at_once_and_report_progress(void)
{
	struct target target = file_target(4 << 20);
	struct workload w = fake_workload();
	struct measurement m;
	struct err err = { 0 };
	uint64_t count = 0;

	clock_init_real(&the_clock);
	w.direct = false;
	w.job_count = 2;
	w.depth_count = 4;
	w.runtime_ns = 700 * MS;
	w.ramp_ns = 100 * MS;
	measurement_init(&m);
	CHECK_EQ(engine_run(&w, &target,
			    &(struct engine_options){ .clock = &the_clock,
						      .progress = keep_progress,
						      .progress_ctx = &progress_count },
			    &m, &err),
		 0);
	CHECK(m.ops[OP_READ].count > 100);
	CHECK(m.duration_ns >= 700 * MS);
	CHECK(m.duration_ns < 5 * SECOND_NS);
	CHECK(progress_count >= 2);
	CHECK(last_progress.iops > 0);
	CHECK(last_progress.latency_ns_p99 > 0);
	CHECK_EQ(last_progress.total_ns, 800 * MS);
	CHECK(m.user_ns + m.system_ns > 0);
	CHECK(m.worker_cpu_max > 0);
	for (size_t i = 0; i < m.second_count; i++)
		count += m.seconds[i].ops[OP_READ].count;
	CHECK_EQ(count, m.ops[OP_READ].count);
	measurement_done(&m);
	close(target.fd);
}

static void each_engine_writes_and_verifies_a_file(void)
{
	static const uint32_t engines[] = { ENGINE_IO_URING, ENGINE_LIBAIO, ENGINE_SYNC };

	clock_init_real(&the_clock);
	for (size_t i = 0; i < 3; i++) {
		struct target target = file_target(1 << 20);
		struct workload w = fake_workload();
		struct measurement m;

		w.engine = engines[i];
		if (!engine_queue(&w, &target, NULL))
			continue;
		w.direct = false;
		w.rw = RW_RANDWRITE;
		w.verify = true;
		w.job_count = 2;
		w.depth_count = w.engine == ENGINE_SYNC ? 1 : 8;
		w.fdatasync_count = 64;
		m = fake_run(&w, &target, &the_clock);
		CHECK_EQ(m.ops[OP_WRITE].count, 256);
		CHECK_EQ(m.verified_count, 256);
		CHECK_EQ(m.verify_failed_count, 0);
		CHECK(m.ops[OP_SYNC].count >= 2);
		CHECK_STR(m.engine, engine_queues[i]->name);
		measurement_done(&m);
		close(target.fd);
	}
}

static void batches_grow_where_submission_completes(void)
{
	struct workload w = fake_workload();
	struct target target;
	struct measurement m;

	clock_init_real(&the_clock);
	w.depth_count = 64;
	w.io_size_bytes = 4000 * 4096;
	target = fake_target(1024, 0);
	m = fake_run(&w, &target, &the_clock);
	CHECK_EQ(m.ops[OP_READ].count, 4000);
	CHECK_EQ(m.batch_count, 64);
	CHECK_EQ(m.wait_count, 8);
	CHECK_EQ(fake.flying_max, 64);
	measurement_done(&m);

	target = fake_target(1024, 1 * MS);
	m = fake_run(&w, &target, &the_clock);
	CHECK_EQ(m.ops[OP_READ].count, 4000);
	CHECK_EQ(m.batch_count, 16);
	CHECK_EQ(m.wait_count, 8);
	CHECK_EQ(fake.flying_max, 64);
	measurement_done(&m);

	target = fake_target(1024, 0);
	w.batch_count = 4;
	w.wait_count = 2;
	m = fake_run(&w, &target, &the_clock);
	CHECK_EQ(m.batch_count, 4);
	CHECK_EQ(m.wait_count, 2);
	CHECK_EQ(fake.flying_max, 4);
	measurement_done(&m);
}

static void stop_ends_all_threads(void)
{
	struct target target = fake_target(1024, 50 * MICROSECOND_NS);
	struct workload w = fake_workload();
	struct measurement m;

	clock_init_real(&the_clock);
	fake.stop_at = 100;
	w.runtime_ns = 600 * SECOND_NS;
	m = fake_run(&w, &target, &the_clock);
	CHECK(m.interrupted);
	CHECK_EQ(m.ops[OP_READ].count, 100);
	measurement_done(&m);
}

static void an_open_loop_keeps_its_rate(void)
{
	struct target target = fake_target(1024, 20 * MICROSECOND_NS);
	struct workload w = fake_workload();
	struct measurement m;

	clock_init_real(&the_clock);
	w.rate_iops = 2000;
	w.depth_count = 16;
	w.runtime_ns = 500 * MS;
	m = fake_run(&w, &target, &the_clock);
	CHECK_EQ(m.ops[OP_READ].count, 1000);
	CHECK_EQ(m.lateness->count, 1000);
	CHECK(m.ops[OP_READ].latency->min_ns >= 20 * MICROSECOND_NS);
	CHECK(m.duration_ns >= 500 * MS);
	measurement_done(&m);
}

static void a_queue_that_does_not_open_stops_all_and_is_named(void)
{
	struct target target = file_target(1 << 20);
	struct workload w = fake_workload();
	struct measurement m;
	struct err err = { 0 };

	clock_init_real(&the_clock);
	w.job_count = 3;
	w.depth_count = 40000;
	w.engine = ENGINE_IO_URING;
	if (!engine_queue(&w, &target, NULL))
		SKIP("no io_uring here");
	measurement_init(&m);
	CHECK_EQ(engine_run(&w, &target, &(struct engine_options){ .clock = &the_clock }, &m, &err),
		 -EINVAL);
	CHECK_STR(err.text, "io_uring: depth 40000 is more than the kernel's 32768");
	measurement_done(&m);
	close(target.fd);
}

/* Two requests of a hole take less than the threads' common start is put off. */
static void the_shortest_run_counts_all_it_did(void)
{
	struct target target = file_target(4 << 20);
	struct workload w = fake_workload();
	struct measurement m;
	struct err err = { 0 };

	clock_init_real(&the_clock);
	w.direct = false;
	w.runtime_ns = 0;
	w.io_size_bytes = 2 * 4096;
	measurement_init(&m);
	CHECK_EQ(engine_run(&w, &target, &(struct engine_options){ .clock = &the_clock }, &m,
			    &err),
		 0);
	CHECK_EQ(m.ops[OP_READ].count, 2);
	CHECK_EQ(m.ops[OP_READ].latency ? m.ops[OP_READ].latency->count : 0, 2);
	CHECK(m.duration_ns > 0);
	measurement_done(&m);
	close(target.fd);
}

/* With a ramp of 100 ms the last second ends between two intervals, and the run with it. */
static void the_end_may_come_when_a_second_is_due(void)
{
	struct target target = file_target(4 << 20);
	struct workload w = fake_workload();
	struct measurement m;
	struct err err = { 0 };

	clock_init_real(&the_clock);
	w.direct = false;
	w.ramp_ns = 100 * MS;
	w.runtime_ns = SECOND_NS;
	measurement_init(&m);
	CHECK_EQ(engine_run(&w, &target, &(struct engine_options){ .clock = &the_clock }, &m,
			    &err),
		 0);
	CHECK(m.duration_ns >= SECOND_NS);
	measurement_done(&m);
	close(target.fd);
}

static void a_cpu_list_is_checked(void)
{
	struct target target = fake_target(1024, 20 * MICROSECOND_NS);
	struct workload w = fake_workload();
	struct measurement m;
	struct err err = { 0 };

	clock_init_real(&the_clock);
	w.io_size_bytes = 40960;
	strcpy(w.cpus, "0-x");
	measurement_init(&m);
	CHECK_EQ(engine_run(&w, &target, &(struct engine_options){ .clock = &the_clock }, &m, &err),
		 -EINVAL);
	CHECK_STR(err.text, "cpus '0-x' is no list like \"0-3,6\"");
	strcpy(w.cpus, "9999");
	CHECK(engine_run(&w, &target, &(struct engine_options){ .clock = &the_clock }, &m,
			 &err) < 0);
	CHECK_STR(err.text, "cannot pin job 0 to CPU 9999: Invalid argument");
	measurement_done(&m);
}

TESTS(TEST(jobs_run_at_once_and_report_progress), TEST(each_engine_writes_and_verifies_a_file),
      TEST(batches_grow_where_submission_completes), TEST(stop_ends_all_threads),
      TEST(an_open_loop_keeps_its_rate),
      TEST(a_queue_that_does_not_open_stops_all_and_is_named), TEST(a_cpu_list_is_checked),
      TEST(the_shortest_run_counts_all_it_did), TEST(the_end_may_come_when_a_second_is_due))
