/* SPDX-License-Identifier: MIT */
#include "engine/test_fake.h"

#define MS MILLISECOND_NS

/* Two jobs on one fake target, told apart by their sizes: 4 KiB and 8 KiB. */
struct pair {
	struct target target;
	struct workload workloads[2];
	struct engine_job jobs[2];
	struct measurement m[2];
	struct clock clock;
	uint64_t now_ns;
};

static void pair_init(struct pair *p)
{
	p->target = fake_target(1024, 1 * MS);
	p->now_ns = SECOND_NS;
	clock_init_virtual(&p->clock, &p->now_ns);
	for (int i = 0; i < 2; i++) {
		p->workloads[i] = fake_workload();
		p->workloads[i].block_bytes = 4096u << i;
		p->workloads[i].runtime_ns = SECOND_NS;
		measurement_init(&p->m[i]);
		p->jobs[i] = (struct engine_job){
			.workload = &p->workloads[i],
			.target = &p->target,
			.ret = &p->m[i],
		};
	}
}

static void pair_run(struct pair *p)
{
	struct err err = { 0 };

	CHECK_EQ(engine_run_group(p->jobs, 2,
				  &(struct engine_options){ .clock = &p->clock, .stop = &fake.stop },
				  &err),
		 0);
}

static void pair_done(struct pair *p)
{
	measurement_done(&p->m[0]);
	measurement_done(&p->m[1]);
}

static uint64_t first_of(uint32_t length_bytes)
{
	for (uint64_t i = 0; i < fake.count; i++)
		if (fake.log[i].length_bytes == length_bytes)
			return fake.log[i].at_ns;
	return 0;
}

static void jobs_run_at_the_same_time(void)
{
	struct pair p;

	pair_init(&p);
	p.workloads[1].job_count = 3;
	pair_run(&p);
	CHECK_EQ(p.m[0].ops[OP_READ].count, 1000);
	CHECK_EQ(p.m[0].ops[OP_READ].bytes, 1000 * 4096);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 3000);
	CHECK_EQ(p.m[1].ops[OP_READ].bytes, 3000 * 8192);
	CHECK_EQ(p.m[0].start_ns, SECOND_NS);
	CHECK_EQ(p.m[1].start_ns, SECOND_NS);
	CHECK_EQ(p.now_ns, 2 * SECOND_NS);
	CHECK_EQ(p.m[1].workload.block_bytes, 8192);
	pair_done(&p);
}

static void a_search_ends_where_it_found_its_depth(void)
{
	struct pair p;

	pair_init(&p);
	/* Every request takes 1 ms: the deepest queue does, and no queue does. */
	for (int i = 0; i < 2; i++) {
		p.workloads[i].depth_count = 16;
		p.workloads[i].latency_window_ns = 20 * MS;
		p.workloads[i].latency_target_ns = i == 0 ? 1 * MS : MS / 2;
		p.workloads[i].latency_run = i == 1;
	}
	pair_run(&p);
	CHECK_EQ(p.m[0].depth_found, 16);
	CHECK_NEAR(p.m[0].duration_ns, 21 * MS, 2 * MS);
	CHECK_EQ(p.m[1].depth_found, 1);
	CHECK_EQ(p.m[1].duration_ns, SECOND_NS);
	pair_done(&p);
}

static void a_flow_keeps_its_proportion(void)
{
	struct pair p;

	pair_init(&p);
	p.workloads[0].flow_weight = 1;
	p.workloads[1].flow_weight = 3;
	p.workloads[1].job_count = 2;
	pair_run(&p);
	/* The second's two workers can do 1000 each; the first is held to a third of either. */
	CHECK_NEAR(p.m[1].ops[OP_READ].count, 2000, 20);
	CHECK_NEAR(p.m[0].ops[OP_READ].count, 333, 5);
	pair_done(&p);
}

static void a_flow_goes_on_without_who_is_done(void)
{
	struct pair p;

	pair_init(&p);
	p.workloads[0].flow_weight = 1;
	p.workloads[0].runtime_ns = 100 * MS;
	p.workloads[1].flow_weight = 1;
	pair_run(&p);
	CHECK_NEAR(p.m[0].ops[OP_READ].count, 100, 2);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 1000);
	pair_done(&p);
}

static void flows_of_other_ids_are_free(void)
{
	struct pair p;

	pair_init(&p);
	p.workloads[0].flow_weight = 1;
	p.workloads[1].flow_weight = 9;
	p.workloads[1].flow_id = 1;
	pair_run(&p);
	CHECK_EQ(p.m[0].ops[OP_READ].count, 1000);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 1000);
	pair_done(&p);
}

static void the_same_seeds_give_the_same_requests(void)
{
	static struct fake_log before[FAKE_LOG];
	struct pair p;
	uint64_t count;

	pair_init(&p);
	p.workloads[1].rw = RW_RANDRW;
	pair_run(&p);
	pair_done(&p);
	count = fake.count;
	memcpy(before, fake.log, sizeof(before));
	pair_init(&p);
	p.workloads[1].rw = RW_RANDRW;
	pair_run(&p);
	pair_done(&p);
	CHECK_EQ(fake.count, count);
	CHECK_EQ(memcmp(before, fake.log, sizeof(before)), 0);
}

static void a_start_delay_is_exact(void)
{
	struct pair p;

	pair_init(&p);
	p.workloads[1].start_delay_ns = 250 * MS + 7;
	p.workloads[1].ramp_ns = 100 * MS;
	p.workloads[1].runtime_ns = 500 * MS;
	pair_run(&p);
	CHECK_EQ(first_of(4096), SECOND_NS);
	CHECK_EQ(first_of(8192), SECOND_NS + 250 * MS + 7);
	CHECK_EQ(p.m[1].start_ns, SECOND_NS + 350 * MS + 7);
	CHECK_EQ(p.m[1].duration_ns, 500 * MS);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 500);
	CHECK_EQ(p.m[0].ops[OP_READ].count, 1000);
	pair_done(&p);
}

static void a_delayed_schedule_counts_from_its_start(void)
{
	struct pair p;

	pair_init(&p);
	p.workloads[1].start_delay_ns = 10 * MS;
	p.workloads[1].runtime_ns = 100 * MS;
	p.workloads[1].rate_iops = 100;
	p.workloads[1].arrival = ARRIVAL_FIXED;
	pair_run(&p);
	CHECK(first_of(8192) >= SECOND_NS + 10 * MS);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 10);
	CHECK_EQ(p.m[1].ops[OP_READ].latency->max_ns, 1 * MS);
	pair_done(&p);
}

static void the_job_that_ends_the_group_ends_it(void)
{
	struct pair p;

	pair_init(&p);
	p.workloads[0].runtime_ns = 0;
	p.workloads[0].io_size_bytes = 100 * 4096;
	p.jobs[0].ends_group = true;
	pair_run(&p);
	CHECK_EQ(p.m[0].ops[OP_READ].count, 100);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 100);
	CHECK_EQ(p.m[1].duration_ns, 100 * MS);
	CHECK(!p.m[1].interrupted && !p.m[1].ended_early);
	pair_done(&p);
}

/* The one before it in order, waiting for a start that will not come. */
static void who_has_not_started_ends_with_the_group(void)
{
	struct pair p;

	pair_init(&p);
	p.workloads[0].start_delay_ns = 3600 * SECOND_NS;
	p.workloads[1].runtime_ns = 100 * MS;
	p.jobs[1].ends_group = true;
	pair_run(&p);
	CHECK_EQ(p.m[0].ops[OP_READ].count, 0);
	CHECK_EQ(p.m[0].duration_ns, 0);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 100);
	CHECK_EQ(p.now_ns, SECOND_NS + 100 * MS);
	pair_done(&p);
}

/* What an open loop had not begun when the group ended was not unserved. */
static void an_open_loop_that_is_ended_is_not_late(void)
{
	struct pair p;

	pair_init(&p);
	p.workloads[0].runtime_ns = 100 * MS;
	p.jobs[0].ends_group = true;
	p.workloads[1].rate_iops = 100;
	p.workloads[1].arrival = ARRIVAL_FIXED;
	pair_run(&p);
	CHECK_EQ(p.m[1].unserved_count, 0);
	CHECK(p.m[1].duration_ns <= 101 * MS);
	CHECK(p.m[1].ops[OP_READ].count >= 9 && p.m[1].ops[OP_READ].count <= 11);
	pair_done(&p);
}

static void an_error_ends_its_own_job(void)
{
	struct pair p;

	pair_init(&p);
	fake.fail_at = 1;	/* the first job's first */
	fake.fail_code = -EIO;
	pair_run(&p);
	CHECK(p.m[0].ended_early);
	CHECK_EQ(p.m[0].ops[OP_READ].error_count, 1);
	CHECK(!p.m[1].ended_early);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 1000);
	pair_done(&p);
}

static void a_raised_stop_ends_all(void)
{
	struct pair p;

	pair_init(&p);
	fake.stop_at = 200;
	pair_run(&p);
	CHECK(p.m[0].interrupted && p.m[1].interrupted);
	CHECK(p.m[0].ops[OP_READ].count + p.m[1].ops[OP_READ].count <= 202);
	pair_done(&p);
}

static void two_targets_each_get_their_own(void)
{
	struct target first = fake_target(1024, 1 * MS), second = first;
	struct pair p;

	pair_init(&p);
	second.info.size_bytes = 8192;	/* the second's only place */
	p.jobs[1].target = &second;
	pair_run(&p);
	for (uint64_t i = 0; i < fake.count; i++)
		CHECK(fake.log[i].length_bytes == 4096 || fake.log[i].offset_bytes == 0);
	CHECK_EQ(p.m[0].ops[OP_READ].count, 1000);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 1000);
	pair_done(&p);
}

static void threads_start_late_and_end_together(void)
{
	struct pair p;
	uint64_t begin_ns;

	pair_init(&p);
	clock_init_real(&p.clock);
	p.workloads[0].runtime_ns = 80 * MS;
	p.jobs[0].ends_group = true;
	p.workloads[1].start_delay_ns = 40 * MS;
	p.workloads[1].job_count = 2;
	p.workloads[1].runtime_ns = 10 * SECOND_NS;
	begin_ns = clock_now_ns(&p.clock);
	pair_run(&p);
	CHECK(clock_now_ns(&p.clock) - begin_ns < 2 * SECOND_NS);
	CHECK_EQ(p.m[1].start_ns - p.m[0].start_ns, 40 * MS);
	CHECK(first_of(8192) >= p.m[1].start_ns);
	CHECK(p.m[0].duration_ns >= 80 * MS);
	CHECK(p.m[1].ops[OP_READ].count > 0);
	CHECK(p.m[1].duration_ns < 2 * SECOND_NS);
	CHECK(!p.m[1].interrupted && !p.m[1].ended_early);
	pair_done(&p);
}

static void a_group_without_a_start_is_over_at_its_end(void)
{
	struct pair p;
	uint64_t begin_ns;

	pair_init(&p);
	clock_init_real(&p.clock);
	p.workloads[0].runtime_ns = 20 * MS;
	p.jobs[0].ends_group = true;
	p.workloads[1].start_delay_ns = 3600 * SECOND_NS;
	begin_ns = clock_now_ns(&p.clock);
	pair_run(&p);
	CHECK(clock_now_ns(&p.clock) - begin_ns < 2 * SECOND_NS);
	CHECK_EQ(p.m[1].ops[OP_READ].count, 0);
	pair_done(&p);
}

TESTS(TEST(jobs_run_at_the_same_time),
      TEST(a_search_ends_where_it_found_its_depth),
      TEST(a_flow_keeps_its_proportion),
      TEST(a_flow_goes_on_without_who_is_done), TEST(flows_of_other_ids_are_free),
      TEST(the_same_seeds_give_the_same_requests),
      TEST(a_start_delay_is_exact),
      TEST(a_delayed_schedule_counts_from_its_start),
      TEST(the_job_that_ends_the_group_ends_it),
      TEST(who_has_not_started_ends_with_the_group),
      TEST(an_open_loop_that_is_ended_is_not_late),
      TEST(an_error_ends_its_own_job),
      TEST(a_raised_stop_ends_all),
      TEST(two_targets_each_get_their_own),
      TEST(threads_start_late_and_end_together),
      TEST(a_group_without_a_start_is_over_at_its_end))
