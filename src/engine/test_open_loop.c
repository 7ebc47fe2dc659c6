/* SPDX-License-Identifier: MIT */
#include "engine/test_fake.h"

#define MS MILLISECOND_NS

/*
 * Arrival i at i ms, one server of 2 ms: it is done at 2 (i + 1) ms, i + 2 ms after it was meant
 * to start, of which i ms in the queue.
 */
static void latency_counts_from_the_intended_start(void)
{
	struct target target = fake_target(1024, 2 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rate_iops = 1000;
	w.io_size_bytes = 40960;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 10);
	CHECK_EQ(m.ops[OP_READ].latency->min_ns, 2 * MS);
	CHECK_EQ(m.ops[OP_READ].latency->max_ns, 11 * MS);
	CHECK_EQ(m.ops[OP_READ].latency->sum_ns, 65 * MS);
	CHECK_EQ(m.ops[OP_READ].service->min_ns, 2 * MS);
	CHECK_EQ(m.ops[OP_READ].service->max_ns, 2 * MS);
	CHECK_EQ(m.lateness->count, 10);
	CHECK_EQ(m.lateness->sum_ns, 45 * MS);
	CHECK_EQ(m.backlog_ns_max, 9 * MS);
	CHECK_EQ(m.unserved_count, 0);
	measurement_done(&m);
}

/* The example of statistics.md section 8: a quarter of the arrivals waited for the stall. */
static void a_stall_shows_in_the_percentiles(void)
{
	struct target target = fake_target(1024, 10 * MICROSECOND_NS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rate_iops = 1000;
	w.runtime_ns = 4 * SECOND_NS;
	fake.stall_from_ns = 2500 * MS;
	fake.stall_to_ns = 3500 * MS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 4000);
	CHECK_NEAR(histogram_percentile_ns(m.ops[OP_READ].latency, 990000), 0.96e9, 0.02e9);
	CHECK_NEAR(histogram_percentile_ns(m.ops[OP_READ].latency, 500000), 10000, 100);
	CHECK_NEAR(histogram_percentile_ns(m.ops[OP_READ].service, 990000), 10000, 100);
	CHECK_NEAR((double)m.backlog_ns_max, 1e9, 0.002e9);
	CHECK_EQ(m.duration_ns, 4 * SECOND_NS);
	CHECK_EQ(m.second_count, 4);
	measurement_done(&m);
}

static void a_fixed_rate_is_exact(void)
{
	struct target target = fake_target(1024, 10 * MICROSECOND_NS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rate_iops = 30000;	/* 33333.3 ns: the 29999th is 999966666.7 ns after the first */
	w.runtime_ns = SECOND_NS;
	w.depth_count = 4;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 30000);
	CHECK_EQ(m.lateness->max_ns, 0);
	CHECK_EQ(fake.log[29999].at_ns - fake.log[0].at_ns, 999966667);
	CHECK_EQ(m.duration_ns, SECOND_NS);
	measurement_done(&m);
}

static void bursts_arrive_together(void)
{
	struct target target = fake_target(1024, 10 * MICROSECOND_NS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rate_iops = 1000;
	w.burst_count = 8;
	w.depth_count = 8;
	w.runtime_ns = SECOND_NS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 1000);
	CHECK_EQ(fake.log[7].at_ns, fake.log[0].at_ns);
	CHECK_EQ(fake.log[8].at_ns - fake.log[0].at_ns, 8 * MS);
	CHECK_EQ(fake.flying_max, 8);
	measurement_done(&m);
}

/* 1000 arrivals in 1 s, 100 served a second, for at most 2 s more. */
static void what_cannot_be_served_is_counted(void)
{
	struct target target = fake_target(1024, 10 * MS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rate_iops = 1000;
	w.runtime_ns = SECOND_NS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count + m.unserved_count, 1000);
	CHECK_NEAR(m.ops[OP_READ].count, 300, 1);
	CHECK_NEAR((double)m.backlog_ns_max, 2.7e9, 0.02e9);
	measurement_done(&m);
}

static void an_open_loop_ramp_is_not_measured(void)
{
	struct target target = fake_target(1024, 1500 * MICROSECOND_NS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rate_iops = 1000;
	w.depth_count = 4;
	w.ramp_ns = 250 * MS;
	w.runtime_ns = 500 * MS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 500);
	CHECK_EQ(m.lateness->count, 500);
	CHECK_EQ(fake.count, 750);
	CHECK_EQ(m.ops[OP_READ].latency->max_ns, 1500 * MICROSECOND_NS);
	measurement_done(&m);
}

/* Eleven requests due in the ramp come behind it; the hundred to be measured are still a hundred. */
static void what_is_late_from_the_ramp_is_none_of_the_amount(void)
{
	struct target target = fake_target(1024, 10 * MICROSECOND_NS);
	struct workload w = fake_workload();
	struct measurement m;

	w.rate_iops = 1000;
	w.ramp_ns = 250 * MS + MS / 2;
	w.io_size_bytes = 409600;
	fake.stall_from_ns = 1240 * MS;	/* the clock begins at 1 s */
	fake.stall_to_ns = 1260 * MS;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count, 100);
	CHECK_EQ(m.lateness->count, 100);
	measurement_done(&m);
}

TESTS(TEST(latency_counts_from_the_intended_start), TEST(a_stall_shows_in_the_percentiles),
      TEST(a_fixed_rate_is_exact), TEST(bursts_arrive_together),
      TEST(what_cannot_be_served_is_counted), TEST(an_open_loop_ramp_is_not_measured),
      TEST(what_is_late_from_the_ramp_is_none_of_the_amount))
