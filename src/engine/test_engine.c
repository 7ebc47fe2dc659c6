/* SPDX-License-Identifier: MIT */
#include "engine/test_fake.h"

#define MS MILLISECOND_NS

static void a_closed_loop_keeps_its_depth(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.depth_count = 4;
	w.runtime_ns = SECOND_NS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 4000);
	CHECK_EQ(m.ops[OP_READ].bytes, 4000 * 4096);
	CHECK_EQ(m.ops[OP_READ].latency->min_ns, 1 * MS);
	CHECK_EQ(m.ops[OP_READ].latency->max_ns, 1 * MS);
	CHECK_EQ(m.ops[OP_READ].service->sum_ns, 4000 * MS);
	CHECK_EQ(m.ops[OP_WRITE].count, 0);
	CHECK(m.ops[OP_WRITE].latency == NULL);
	CHECK_EQ(m.duration_ns, SECOND_NS);
	CHECK_EQ(m.second_count, 1);
	CHECK_EQ(m.depth_max, 4);
	CHECK_EQ(fake.flying_max, 4);
	CHECK_NEAR(m.depth_mean, 4.0, 0.01);
	/* One batch of 4 each millisecond: with each request 4 are in flight. */
	CHECK_EQ(m.depth_counts[2], 4000);
	CHECK_EQ(m.push_counts[1], 1000);
	CHECK_EQ(m.reap_counts[1], 1000);
	CHECK_EQ(m.depth_counts[0] + m.depth_counts[1] + m.depth_counts[3], 0);
	CHECK_EQ(m.push_counts[0] + m.push_counts[2] + m.reap_counts[0], 0);
	CHECK(!m.interrupted && !m.ended_early);
	CHECK(m.lateness == NULL);
	measurement_done(&m);
}

/* 64 requests in all: the k-th read and the k-th write both go to block k. */
static void a_mix_may_have_two_sequences(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;
	uint64_t next[2] = { 0, 0 };

	w.rw = RW_READWRITE;
	w.read_ppm = 500000;
	w.own_sequences = true;
	w.depth_count = 1;
	w.runtime_ns = 0;
	w.io_size_bytes = 64 * 4096;
	m = fake_run(&w, &target, NULL);
	for (uint64_t i = 0; i < 64; i++) {
		const struct fake_log *io = &fake.log[i];

		CHECK_EQ(io->offset_bytes, next[io->kind == IO_WRITE] * 4096);
		next[io->kind == IO_WRITE]++;
	}
	CHECK(next[0] > 8 && next[1] > 8);
	CHECK_EQ(m.ops[OP_READ].count + m.ops[OP_WRITE].count, 64);
	measurement_done(&m);
}

static void seconds_are_recorded_and_add_up(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;
	uint64_t count = 0;

	w.runtime_ns = 2500 * MS;
	fake.stall_from_ns = 1 * SECOND_NS + 1000 * MS;	/* the clock starts at 1 s */
	fake.stall_to_ns = 1 * SECOND_NS + 1600 * MS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.second_count, 3);
	CHECK_EQ(m.seconds[0].ops[OP_READ].count, 1000);
	CHECK_EQ(m.seconds[1].ops[OP_READ].count, 400);
	CHECK_EQ(m.seconds[1].ops[OP_READ].latency_ns_max, 601 * MS);
	CHECK_EQ(m.seconds[2].ops[OP_READ].count, 500);
	CHECK_EQ(m.seconds[2].start_ns, 2 * SECOND_NS);
	CHECK_EQ(m.seconds[2].length_ns, 500 * MS);
	for (size_t i = 0; i < m.second_count; i++)
		count += m.seconds[i].ops[OP_READ].count;
	CHECK_EQ(count, m.ops[OP_READ].count);
	measurement_done(&m);
}

static void io_size_is_exact_over_all_jobs(void)
{
	static const struct {
		uint64_t io_size;
		uint32_t jobs;
		uint64_t requests;
	} cases[] = {
		{ 40960, 1, 10 }, { 40960 + 512, 1, 11 }, { 40960, 3, 10 },
		{ 40960 + 512, 3, 11 }, { 4096 * 2, 3, 2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target target = fake_target(1024, 1 * MS);
		struct workload w = fake_workload();
		struct measurement m;

		w.depth_count = 4;
		w.io_size_bytes = cases[i].io_size;
		w.job_count = cases[i].jobs;
		m = fake_run(&w, &target, NULL);
		CHECK_EQ(m.ops[OP_READ].bytes, cases[i].io_size);
		CHECK_EQ(m.ops[OP_READ].count, cases[i].requests);
		CHECK_EQ(fake.count, cases[i].requests);
		measurement_done(&m);
	}
}

static void without_a_limit_one_pass_is_done(void)
{
	struct target target = fake_target(1000, 1 * MS);
	struct workload w = fake_workload();
	static unsigned seen[1000];
	struct measurement m;

	memset(seen, 0, sizeof(seen));
	w.job_count = 3;
	w.depth_count = 8;
	w.rw = RW_RANDWRITE;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_WRITE].count, 1000);
	for (uint64_t i = 0; i < fake.count; i++)
		seen[fake.log[i].offset_bytes / 4096]++;
	for (size_t i = 0; i < 1000; i++)
		CHECK_EQ(seen[i], 1);
	measurement_done(&m);
}

static void a_mix_has_its_shares(void)
{
	struct target target = fake_target(1 << 20, 10 * MICROSECOND_NS);
	struct workload w = fake_workload();
	struct measurement m;
	uint64_t kinds[5] = { 0 };

	w.rw = RW_RANDRW;
	w.read_ppm = 700000;
	w.trim_ppm = 100000;
	w.depth_count = 16;
	w.io_size_bytes = 60000 * 4096ull;
	m = fake_run(&w, &target, NULL);
	for (uint64_t i = 0; i < fake.count; i++)
		kinds[fake.log[i].kind]++;
	CHECK_EQ(m.ops[OP_READ].count, kinds[IO_READ]);
	CHECK_EQ(m.ops[OP_WRITE].count, kinds[IO_WRITE]);
	CHECK_EQ(m.ops[OP_TRIM].count, kinds[IO_TRIM]);
	CHECK_EQ(m.ops[OP_TRIM].bytes, kinds[IO_TRIM] * 4096);
	/* Three standard deviations of a binomial: 337, 329, 128. */
	CHECK_NEAR(kinds[IO_READ], 42000, 337);
	CHECK_NEAR(kinds[IO_WRITE], 16200, 329);
	CHECK_NEAR(kinds[IO_TRIM], 1800, 128);
	measurement_done(&m);
}

static void stop_ends_it_with_what_there_is(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.runtime_ns = 3600 * SECOND_NS;
	w.depth_count = 2;
	fake.stop_at = 501;
	m = fake_run(&w, &target, NULL);
	CHECK(m.interrupted);
	CHECK(!m.ended_early);
	CHECK_EQ(m.ops[OP_READ].count, 502);	/* what was in flight was waited for */
	CHECK_EQ(m.duration_ns, 251 * MS);
	measurement_done(&m);
}

static void a_failed_request_ends_it_and_is_named(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;
	char text[128];

	w.runtime_ns = 3600 * SECOND_NS;
	fake.fail_at = 100;
	fake.fail_code = -EIO;
	m = fake_run(&w, &target, NULL);
	CHECK(m.ended_early);
	CHECK(!m.interrupted);
	CHECK_EQ(m.ops[OP_READ].count, 99);
	CHECK_EQ(m.ops[OP_READ].error_count, 1);
	CHECK_EQ(m.errno_count, 1);
	CHECK_EQ(m.errnos[0].code, -EIO);
	CHECK_EQ(m.errnos[0].count, 1);
	snprintf(text, sizeof(text), "read of 4k at offset %llu: Input/output error",
		 (unsigned long long)fake.log[99].offset_bytes);
	CHECK_STR(m.error_text, text);
	measurement_done(&m);
}

static void a_short_read_is_a_failure(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.runtime_ns = SECOND_NS;
	fake.fail_at = 3;
	fake.fail_code = 512;
	m = fake_run(&w, &target, NULL);
	CHECK(m.ended_early);
	CHECK_EQ(m.errnos[0].code, -ENODATA);
	measurement_done(&m);
}

static void the_ramp_is_not_measured(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.ramp_ns = 500 * MS;
	w.runtime_ns = 1 * SECOND_NS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 1000);
	CHECK_EQ(fake.count, 1500);
	CHECK_EQ(m.start_ns, 1500 * MS);
	CHECK_EQ(m.duration_ns, SECOND_NS);
	CHECK_EQ(m.second_count, 1);
	measurement_done(&m);
}

static void think_time_is_between_requests(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.runtime_ns = 1 * SECOND_NS;
	w.think_ns = 9 * MS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 100);
	CHECK_EQ(fake.log[1].at_ns - fake.log[0].at_ns, 10 * MS);
	measurement_done(&m);

	target = fake_target(1024, 1 * MS);
	w.think_count = 4;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(fake.log[3].at_ns - fake.log[0].at_ns, 3 * MS);
	CHECK_EQ(fake.log[4].at_ns - fake.log[0].at_ns, 13 * MS);
	measurement_done(&m);
}

static void a_write_is_done_when_its_sync_is(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	fake.service_ns[IO_FDATASYNC] = 2 * MS;
	w.rw = RW_RANDWRITE;
	w.fdatasync_count = 1;
	w.runtime_ns = 3 * SECOND_NS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_WRITE].count, 1000);
	CHECK_EQ(m.ops[OP_SYNC].count, 1000);
	CHECK_EQ(m.ops[OP_WRITE].latency->min_ns, 3 * MS);
	CHECK_EQ(m.ops[OP_WRITE].latency->max_ns, 3 * MS);
	CHECK_EQ(m.ops[OP_SYNC].latency->max_ns, 2 * MS);
	CHECK_EQ(fake.log[0].kind, IO_WRITE);
	CHECK_EQ(fake.log[1].kind, IO_FDATASYNC);
	measurement_done(&m);
}

static void every_fourth_write_is_followed_by_a_sync(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rw = RW_WRITE;
	w.fsync_count = 4;
	w.io_size_bytes = 40960;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_WRITE].count, 10);
	CHECK_EQ(m.ops[OP_SYNC].count, 2);
	for (uint64_t i = 0; i < fake.count; i++)
		CHECK_EQ(fake.log[i].kind, i % 5 == 4 ? IO_FSYNC : IO_WRITE);
	measurement_done(&m);
}

static void the_end_waits_for_its_one_fsync(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	fake.service_ns[IO_FSYNC] = 5 * MS;
	w.rw = RW_WRITE;
	w.end_fsync = true;
	w.depth_count = 2;
	w.io_size_bytes = 40960;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_WRITE].count, 10);
	CHECK_EQ(m.ops[OP_SYNC].count, 1);
	CHECK_EQ(m.ops[OP_SYNC].latency->max_ns, 5 * MS);
	CHECK_EQ(m.duration_ns, 5 * MS + 5 * MS);
	CHECK_EQ(fake.count, 11);
	CHECK_EQ(fake.log[10].kind, IO_FSYNC);
	measurement_done(&m);
}

static void a_failed_end_fsync_is_named(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rw = RW_WRITE;
	w.end_fsync = true;
	w.io_size_bytes = 8192;
	fake.fail_at = 3;
	fake.fail_code = -EIO;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_WRITE].count, 2);
	CHECK_EQ(m.ops[OP_SYNC].error_count, 1);
	CHECK(m.ended_early);
	CHECK_STR(m.error_text, "fsync: Input/output error");
	measurement_done(&m);
}

static void a_failed_sync_is_named(void)
{
	struct target target = fake_target(1024, 1 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rw = RW_WRITE;
	w.fdatasync_count = 1;
	w.runtime_ns = SECOND_NS;
	fake.fail_at = 4;
	fake.fail_code = -EIO;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_WRITE].count, 1);
	CHECK_EQ(m.ops[OP_SYNC].error_count, 1);
	CHECK_STR(m.error_text, "fdatasync: Input/output error");
	measurement_done(&m);
}

static void virtual_time_is_a_function_of_the_seed(void)
{
	static struct fake_log first[FAKE_LOG];
	struct workload w = fake_workload();

	w.rw = RW_RANDRW;
	w.read_ppm = 500000;
	w.job_count = 3;
	w.depth_count = 7;
	w.io_size_bytes = 20000 * 4096ull;
	w.rate_iops = 10000;
	w.arrival = ARRIVAL_POISSON;
	for (int run = 0; run < 3; run++) {
		struct target target = fake_target(1 << 16, 300 * MICROSECOND_NS);
		struct measurement m;
		bool same;

		fake.service_ns[IO_WRITE] = 450 * MICROSECOND_NS;
		w.seed = run == 2 ? 2 : 1;
		m = fake_run(&w, &target, NULL);
		CHECK_EQ(fake.count, 20000);
		same = memcmp(first, fake.log, sizeof(first)) == 0;
		if (run == 0)
			memcpy(first, fake.log, sizeof(first));
		else
			CHECK_EQ(same, run == 1);
		for (uint64_t i = 1; i < fake.count; i++)
			CHECK(fake.log[i].at_ns >= fake.log[i - 1].at_ns);
		measurement_done(&m);
	}
}

static void a_target_that_takes_no_time_does_not_hang_virtual_time(void)
{
	struct target target = fake_target(1024, 0);
	struct workload w = fake_workload();
	struct measurement m;

	w.runtime_ns = SECOND_NS;
	m = fake_run(&w, &target, NULL);
	CHECK(m.ended_early);
	CHECK_STR(m.error_text, "virtual time stands still: the target takes no time");
	measurement_done(&m);
}

TESTS(TEST(a_closed_loop_keeps_its_depth), TEST(a_mix_may_have_two_sequences), TEST(seconds_are_recorded_and_add_up),
      TEST(io_size_is_exact_over_all_jobs), TEST(without_a_limit_one_pass_is_done),
      TEST(a_mix_has_its_shares), TEST(stop_ends_it_with_what_there_is),
      TEST(a_failed_request_ends_it_and_is_named), TEST(a_short_read_is_a_failure),
      TEST(the_ramp_is_not_measured), TEST(think_time_is_between_requests),
      TEST(a_write_is_done_when_its_sync_is), TEST(every_fourth_write_is_followed_by_a_sync),
      TEST(the_end_waits_for_its_one_fsync), TEST(a_failed_end_fsync_is_named),
      TEST(a_failed_sync_is_named), TEST(virtual_time_is_a_function_of_the_seed),
      TEST(a_target_that_takes_no_time_does_not_hang_virtual_time))
