/* SPDX-License-Identifier: MIT */

/* The plain loop (worker_plain.c) at depth 1, on the real clock. */
#include "engine/test_fake.h"

static struct clock the_clock;

/* A fake whose wait ends early each third time, as by a signal, or breaks. */
static uint64_t wait_count, interrupted_count, break_at;

static int interrupted_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
			    uint32_t max_count, uint64_t deadline_ns)
{
	if (++wait_count == break_at)
		return -EBADF;
	if (min_count > 0 && wait_count % 3 == 0) {
		interrupted_count++;
		return 0;
	}
	return fake_reap(queue, done, min_count, max_count, deadline_ns);
}

static struct queue_ops interrupted_ops;

static struct target interrupted_target(uint64_t service_ns)
{
	struct target target = fake_target(1024, service_ns);

	clock_init_real(&the_clock);
	interrupted_ops = fake_ops;
	interrupted_ops.reap = interrupted_reap;
	target.queue = &interrupted_ops;
	wait_count = interrupted_count = break_at = 0;
	return target;
}

static struct workload counted_reads(uint64_t count)
{
	struct workload w = fake_workload();

	w.repeat = true;
	w.io_count = count;
	return w;
}

static void each_request_is_counted_once(void)
{
	struct target target = fake_target(1024, 0);
	struct workload w = counted_reads(3000);
	struct measurement m;

	clock_init_real(&the_clock);
	m = fake_run(&w, &target, &the_clock);
	CHECK_EQ(fake.count, 3000);
	CHECK_EQ(m.ops[OP_READ].count, 3000);
	CHECK_EQ(m.ops[OP_READ].bytes, 3000 * 4096);
	CHECK_EQ(m.push_counts[1], 3000);
	CHECK_EQ(m.reap_counts[1], 3000);
	CHECK_EQ(m.depth_max, 1);
	measurement_done(&m);
}

static void an_interrupted_wait_loses_nothing(void)
{
	struct target target = interrupted_target(20 * MICROSECOND_NS);
	struct workload w = counted_reads(900);
	struct measurement m = fake_run(&w, &target, &the_clock);

	CHECK(interrupted_count >= 300);
	CHECK_EQ(fake.count, 900);
	CHECK_EQ(m.ops[OP_READ].count, 900);
	CHECK_EQ(m.ops[OP_READ].bytes, 900 * 4096);
	CHECK_EQ(m.push_counts[1], 900);
	CHECK_EQ(m.reap_counts[1], 900);
	/* From where it began, not from where it was looked at again. */
	CHECK(m.ops[OP_READ].latency->min_ns >= 20 * MICROSECOND_NS);
	CHECK_EQ(fake.flying_max, 1);
	measurement_done(&m);
}

static void a_failure_ends_it_and_is_named(void)
{
	struct target target = fake_target(1024, 0);
	struct workload w = counted_reads(3000);
	struct measurement m;
	char text[128];

	clock_init_real(&the_clock);
	fake.fail_at = 100;
	fake.fail_code = -EIO;
	m = fake_run(&w, &target, &the_clock);
	CHECK(m.ended_early);
	CHECK_EQ(m.ops[OP_READ].count, 99);
	CHECK_EQ(m.ops[OP_READ].bytes, 99 * 4096);
	CHECK_EQ(m.ops[OP_READ].error_count, 1);
	CHECK_EQ(m.reap_counts[1], 100);
	snprintf(text, sizeof(text), "read of 4k at offset %llu: Input/output error",
		 (unsigned long long)fake.log[99].offset_bytes);
	CHECK_STR(m.error_text, text);
	measurement_done(&m);
}

static void a_broken_queue_ends_it(void)
{
	struct target target = interrupted_target(0);
	struct workload w = counted_reads(3000);
	struct measurement m;

	break_at = 200;
	m = fake_run(&w, &target, &the_clock);
	CHECK(m.ended_early);
	CHECK_EQ(m.errnos[0].code, -EBADF);
	CHECK(m.ops[OP_READ].count < 200);
	CHECK(fake.count < 200);
	measurement_done(&m);
}

TESTS(TEST(each_request_is_counted_once), TEST(an_interrupted_wait_loses_nothing),
      TEST(a_failure_ends_it_and_is_named), TEST(a_broken_queue_ends_it))
