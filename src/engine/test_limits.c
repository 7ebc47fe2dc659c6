/* SPDX-License-Identifier: MIT */

/* What ends a job, and requests that come in pairs. */
#include "engine/test_fake.h"

#define MS MILLISECOND_NS

static void a_number_of_requests_is_exact_over_all_jobs(void)
{
	static const struct {
		uint32_t rw;
		uint64_t count;
		uint32_t jobs, depth;
	} cases[] = {
		{ RW_RANDREAD, 1, 1, 4 }, { RW_RANDREAD, 10, 3, 4 }, { RW_READ, 2, 3, 1 },
		{ RW_RANDWRITE, 100, 2, 8 }, { RW_RANDTRIM, 7, 2, 1 }, { RW_RANDRW, 33, 2, 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target target = fake_target(1024, MS);
		struct workload w = fake_workload();
		struct measurement m;
		uint64_t count = 0;

		w.rw = cases[i].rw;
		w.io_count = cases[i].count;
		w.job_count = cases[i].jobs;
		w.depth_count = cases[i].depth;
		m = fake_run(&w, &target, NULL);
		for (int op = 0; op < OP_SYNC; op++)
			count += m.ops[op].count;
		CHECK_EQ(count, cases[i].count);
		CHECK_EQ(fake.count, cases[i].count);
		measurement_done(&m);
	}
}

/* More than one pass over the range, and what is given beside it ends it first. */
static void a_number_of_requests_is_one_limit_of_several(void)
{
	struct target target = fake_target(16, MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.io_count = 50;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 50);
	measurement_done(&m);

	target = fake_target(16, MS);
	w.io_size_bytes = 20 * 4096;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 20);
	measurement_done(&m);

	target = fake_target(16, MS);
	w.runtime_ns = 10 * MS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 10);
	measurement_done(&m);
}

static void a_request_that_takes_too_long_ends_the_job(void)
{
	struct target target = fake_target(1024, MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.runtime_ns = SECOND_NS;
	w.latency_ns_max = 5 * MS;
	m = fake_run(&w, &target, NULL);
	CHECK(!m.ended_early);
	CHECK_EQ(m.ops[OP_READ].count, 1000);
	measurement_done(&m);

	target = fake_target(1024, MS);
	fake.stall_from_ns = SECOND_NS + 100 * MS;
	fake.stall_to_ns = SECOND_NS + 110 * MS;
	m = fake_run(&w, &target, NULL);
	CHECK(m.ended_early);
	CHECK_EQ(m.ops[OP_READ].count, 101);	/* the slow one is done, and counted */
	CHECK_EQ(m.ops[OP_READ].error_count, 0);
	CHECK_EQ(m.ops[OP_READ].latency->max_ns, 11 * MS);
	CHECK_EQ(m.errno_count, 1);
	CHECK_EQ(m.errnos[0].code, -ETIMEDOUT);
	CHECK(strstr(m.error_text, "took 11.0 ms, longer than max-latency=5ms") != NULL);
	measurement_done(&m);
}

/* 1000 a second, but for one of which 200 ms go to a stall. */
static void a_rate_that_has_settled_ends_the_job(void)
{
	static const struct {
		const char *rule;
		uint64_t window_s, ramp_s, stall_from_ns, seconds, rate_iops;
	} cases[] = {
		{ "iops:5%", 3, 0, 0, 3, 0 },
		{ "bw:5%", 3, 2, 0, 5, 0 },
		{ "iops_slope:5%", 3, 0, 300 * MS, 4, 0 },
		{ "iops:5%", 3, 0, 1300 * MS, 5, 0 },
		{ "iops:15%", 3, 0, 1300 * MS, 3, 0 },
		{ "iops:1000", 2, 3, 0, 5, 0 },
		{ "iops:1", 8, 0, 9300 * MS, 8, 0 },
		{ "iops:1", 8, 0, 4300 * MS, 0, 0 },
		{ "iops:1", 3, 1, 0, 4, 500 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target target = fake_target(1024, MS);
		struct workload w = fake_workload();
		struct measurement m;

		w.runtime_ns = 10 * SECOND_NS;
		strcpy(w.steadystate, cases[i].rule);
		w.steady_window_ns = cases[i].window_s * SECOND_NS;
		w.rate_iops = cases[i].rate_iops;
		w.steady_ramp_ns = cases[i].ramp_s * SECOND_NS;
		fake.stall_from_ns = SECOND_NS + cases[i].stall_from_ns;
		fake.stall_to_ns = fake.stall_from_ns + (cases[i].stall_from_ns ? 200 * MS : 0);
		m = fake_run(&w, &target, NULL);
		CHECK_EQ(m.steady, cases[i].seconds > 0);
		CHECK(!m.ended_early);
		CHECK_NEAR((double)m.duration_ns,
			   (double)(cases[i].seconds ? cases[i].seconds : 10) * 1e9, 5e6);
		measurement_done(&m);
	}
}

/* Of an open loop from the time it was meant for. */
static void waiting_for_a_slot_counts_as_latency(void)
{
	struct target target = fake_target(1024, MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.runtime_ns = SECOND_NS;
	w.rate_iops = 2000;
	w.latency_ns_max = 20 * MS;
	m = fake_run(&w, &target, NULL);
	CHECK(m.ended_early);
	CHECK_EQ(m.errnos[0].code, -ETIMEDOUT);
	CHECK(fake.count < 100);
	measurement_done(&m);
}

static void each_block_is_trimmed_then_written(void)
{
	static const uint32_t kinds[] = { RW_TRIMWRITE, RW_RANDTRIMWRITE };

	for (size_t k = 0; k < 2; k++) {
		struct target target = fake_target(256, MS);
		static uint64_t trimmed_ns[256], written_ns[256];
		struct workload w = fake_workload();
		struct measurement m;

		memset(trimmed_ns, 0, sizeof(trimmed_ns));
		memset(written_ns, 0, sizeof(written_ns));
		w.rw = kinds[k];
		w.depth_count = 4;
		w.job_count = 2;
		fake.service_ns[IO_WRITE] = 3 * MS;
		m = fake_run(&w, &target, NULL);
		CHECK_EQ(m.ops[OP_TRIM].count, 256);
		CHECK_EQ(m.ops[OP_WRITE].count, 256);
		CHECK_EQ(m.ops[OP_TRIM].latency->max_ns, 1 * MS);
		CHECK_EQ(m.ops[OP_WRITE].latency->min_ns, 3 * MS);
		CHECK_EQ(m.ops[OP_WRITE].latency->max_ns, 3 * MS);
		CHECK_EQ(m.depth_max, 4);
		for (uint64_t i = 0; i < fake.count; i++) {
			const uint64_t block = fake.log[i].offset_bytes / 4096;
			uint64_t *at_ns = fake.log[i].kind == IO_TRIM ? trimmed_ns : written_ns;

			CHECK_EQ(at_ns[block], 0);	/* once each */
			at_ns[block] = fake.log[i].at_ns;
		}
		for (size_t i = 0; i < 256; i++)
			CHECK_EQ(written_ns[i], trimmed_ns[i] + 1 * MS);
		measurement_done(&m);
	}
}

static void a_trimmed_block_is_written_though_time_is_up(void)
{
	struct target target = fake_target(1024, MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rw = RW_TRIMWRITE;
	w.runtime_ns = 10 * MS + 500 * MICROSECOND_NS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_TRIM].count, 6);
	CHECK_EQ(m.ops[OP_WRITE].count, 6);
	measurement_done(&m);
}

static void trims_and_writes_are_synced_and_verified_like_writes(void)
{
	struct target target = fake_target(64, MS);
	struct workload w = fake_workload();
	struct measurement m;

	fake.bytes = calloc(64, 4096);
	w.rw = RW_RANDTRIMWRITE;
	w.depth_count = 4;
	w.fdatasync_count = 1;
	w.verify = true;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_TRIM].count, 64);
	CHECK_EQ(m.ops[OP_WRITE].count, 64);
	CHECK_EQ(m.ops[OP_SYNC].count, 64);
	CHECK_EQ(m.verified_count, 64);
	CHECK_EQ(m.verify_failed_count, 0);
	measurement_done(&m);
}

static void what_is_not_to_be_read_back_is_not(void)
{
	struct target target = fake_target(64, MS);
	struct workload w = fake_workload();
	struct measurement m;

	fake.bytes = calloc(64, 4096);
	w.rw = RW_RANDWRITE;
	w.verify = true;
	w.verify_back = false;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_WRITE].count, 64);
	CHECK_EQ(m.verified_count, 0);
	CHECK_EQ(fake.count, 64);
	measurement_done(&m);
}

/* A pause that spins is as long, and costs CPU time. */
static void a_pause_may_cost_cpu_time(void)
{
	uint64_t asleep_ns = 0;

	for (int spins = 0; spins < 2; spins++) {
		struct target target = fake_target(1024, 100 * MICROSECOND_NS);
		struct workload w = fake_workload();
		struct measurement m;
		struct clock clock;

		clock_init_real(&clock);
		w.think_ns = 20 * MS;
		w.think_spin_ns = spins ? 20 * MS : 0;
		w.io_count = 10;
		m = fake_run(&w, &target, &clock);
		CHECK(m.duration_ns >= 180 * MS);
		if (spins)
			CHECK(m.user_ns + m.system_ns > asleep_ns + 15 * MS);
		asleep_ns = m.user_ns + m.system_ns;
		measurement_done(&m);
	}
}

TESTS(TEST(a_number_of_requests_is_exact_over_all_jobs),
      TEST(a_number_of_requests_is_one_limit_of_several),
      TEST(a_rate_that_has_settled_ends_the_job),
      TEST(a_request_that_takes_too_long_ends_the_job), TEST(waiting_for_a_slot_counts_as_latency),
      TEST(each_block_is_trimmed_then_written), TEST(a_trimmed_block_is_written_though_time_is_up),
      TEST(trims_and_writes_are_synced_and_verified_like_writes),
      TEST(what_is_not_to_be_read_back_is_not), TEST(a_pause_may_cost_cpu_time))
