/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/random.h"
#include "base/units.h"
#include "model/result.h"
#include "target/target.h"

/*
 * One die, 100 us to read a page, 200 us to program one, nothing else takes time; without a
 * buffer a write is done when it is on flash. So every time below is a sum of these.
 */
#define BARE "sim:page-greedy,capacity=16m,buffer=0,read_time=100us,program_time=200us," \
	     "program_spread=0,state=filled"

struct rig {
	uint64_t now_ns;
	struct clock clock;
	struct target *target;
	struct queue *queues[4];
	unsigned char pool[4][16 * 4096];
};

static struct rig *rig_new(const char *spec, uint32_t queue_count)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct target_request request = { .spec = spec, .writes = true };
	struct err err = { 0 };

	clock_init_virtual(&rig->clock, &rig->now_ns);
	request.clock = &rig->clock;
	CHECK_EQ(target_open(&rig->target, &request, &err), 0);
	for (uint32_t i = 0; i < queue_count; i++) {
		const struct queue_options options = {
			.depth_count = 16,
			.length_max_bytes = 4096,
			.pool = rig->pool[i],
			.pool_bytes = sizeof(rig->pool[i]),
			.clock = &rig->clock,
		};

		CHECK_EQ(rig->target->queue->open(&rig->queues[i], rig->target, &options, &err), 0);
	}
	return rig;
}

static void rig_free(struct rig *rig)
{
	for (size_t i = 0; i < 4; i++)
		if (rig->queues[i])
			rig->queues[i]->ops->close(rig->queues[i]);
	target_close(rig->target);
	free(rig);
}

static void push(struct rig *rig, uint32_t queue, enum io_kind kind, uint32_t tag, uint64_t block)
{
	const struct io io = {
		.kind = (uint8_t)kind,
		.tag = tag,
		.offset_bytes = block * 4096,
		.length_bytes = kind <= IO_TRIM ? 4096 : 0,
		.buffer = kind <= IO_WRITE ? rig->pool[queue] + tag * 4096 : NULL,
	};

	rig->queues[queue]->ops->push(rig->queues[queue], &io, 1);
}

static int reap(struct rig *rig, struct io_done *done, uint32_t min_count, uint64_t deadline_ns)
{
	return rig->queues[0]->ops->reap(rig->queues[0], done, min_count, 16, deadline_ns);
}

static uint64_t next_ns(struct rig *rig, uint32_t queue)
{
	return rig->queues[queue]->ops->next_ns(rig->queues[queue]);
}

static void one_die_serves_one_after_the_other(void)
{
	struct rig *rig = rig_new(BARE, 1);
	struct io_done done[16];

	CHECK_EQ(next_ns(rig, 0), NEVER_NS);
	for (uint32_t i = 0; i < 3; i++)
		push(rig, 0, IO_READ, i, 10 * i);
	CHECK_EQ(next_ns(rig, 0), 100 * MICROSECOND_NS);
	CHECK_EQ(reap(rig, done, 0, NEVER_NS), 0);	/* 0 never waits */
	CHECK_EQ(rig->now_ns, 0);
	CHECK_EQ(reap(rig, done, 2, NEVER_NS), 2);	/* waiting moves the clock */
	CHECK_EQ(rig->now_ns, 200 * MICROSECOND_NS);
	CHECK_EQ(done[0].tag, 0);
	CHECK_EQ(done[0].done_ns, 100 * MICROSECOND_NS);
	CHECK_EQ(done[0].result, 4096);
	CHECK_EQ(done[1].tag, 1);
	CHECK_EQ(done[1].done_ns, 200 * MICROSECOND_NS);
	CHECK_EQ(next_ns(rig, 0), 300 * MICROSECOND_NS);
	rig_free(rig);
}

static void a_deadline_ends_the_wait_and_is_then_the_time(void)
{
	struct rig *rig = rig_new(BARE, 1);
	struct io_done done[16];

	push(rig, 0, IO_READ, 0, 1);
	CHECK_EQ(reap(rig, done, 1, 40 * MICROSECOND_NS), 0);
	CHECK_EQ(rig->now_ns, 40 * MICROSECOND_NS);
	CHECK_EQ(reap(rig, done, 1, NEVER_NS), 1);
	CHECK_EQ(rig->now_ns, 100 * MICROSECOND_NS);
	CHECK_EQ(reap(rig, done, 1, NEVER_NS), 0);	/* nothing in flight: no wait for ever */
	rig_free(rig);
}

static void queues_share_one_drive_in_the_order_of_pushing(void)
{
	struct rig *rig = rig_new(BARE, 3);

	push(rig, 2, IO_READ, 0, 1);
	push(rig, 0, IO_READ, 0, 20);
	push(rig, 1, IO_READ, 0, 30);
	CHECK_EQ(next_ns(rig, 2), 100 * MICROSECOND_NS);
	CHECK_EQ(next_ns(rig, 0), 200 * MICROSECOND_NS);
	CHECK_EQ(next_ns(rig, 1), 300 * MICROSECOND_NS);
	rig_free(rig);
}

/* Three workers, each at depth 8, as the scheduler steps them; a hash of all that happened. */
static uint64_t run_three(const char *spec, uint64_t seed)
{
	struct rig *rig = rig_new(spec, 3);
	struct random random;
	uint64_t hash = 0;

	random_init(&random, seed);
	for (uint32_t q = 0; q < 3; q++)
		for (uint32_t i = 0; i < 8; i++)
			push(rig, q, IO_WRITE, i, random_below(&random, 4096));
	for (uint32_t left = 20000; left > 0;) {
		uint64_t earliest_ns = NEVER_NS;

		for (uint32_t q = 0; q < 3; q++) {
			struct io_done done[16];
			const int count = rig->queues[q]->ops->reap(rig->queues[q], done, 0, 16,
								    NEVER_NS);

			for (int i = 0; i < count && left > 0; i++, left--) {
				CHECK(done[i].done_ns <= rig->now_ns);
				hash = random_mix(hash ^ done[i].done_ns ^ done[i].tag ^ q);
				push(rig, q, random_below(&random, 3) ? IO_WRITE : IO_READ,
				     done[i].tag, random_below(&random, 4096));
			}
			if (next_ns(rig, q) < earliest_ns)
				earliest_ns = next_ns(rig, q);
		}
		rig->now_ns = earliest_ns;
	}
	rig_free(rig);
	return hash;
}

static void the_same_seed_gives_the_same_times(void)
{
	const char *spec = "sim:page-greedy,capacity=16m,channels=2,dies=2,pages_per_block=16,"
			   "state=steady,seed=3";
	const uint64_t first = run_three(spec, 1);

	CHECK(run_three(spec, 1) == first);
	CHECK(run_three(spec, 2) != first);
}

static void what_is_written_reads_back(void)
{
	struct rig *rig = rig_new(BARE, 1);
	struct io_done done[16];
	struct io read = { .kind = IO_READ, .offset_bytes = 4096, .length_bytes = 4096, .tag = 1 };

	memset(rig->pool[0], 0x5a, 4096);
	push(rig, 0, IO_WRITE, 0, 1);
	CHECK_EQ(reap(rig, done, 1, NEVER_NS), 1);
	CHECK_EQ(done[0].done_ns, 200 * MICROSECOND_NS);
	push(rig, 0, IO_READ, 1, 1);
	CHECK_EQ(reap(rig, done, 1, NEVER_NS), 1);
	CHECK(memcmp(rig->pool[0], rig->pool[0] + 4096, 4096) == 0);

	/* A reader that does not look gets nothing. */
	memset(rig->pool[0] + 4096, 0, 4096);
	read.buffer = rig->pool[0] + 4096;
	read.content_tag = 1;
	rig->queues[0]->ops->push(rig->queues[0], &read, 1);
	CHECK_EQ(reap(rig, done, 1, NEVER_NS), 1);
	CHECK_EQ(rig->pool[0][4096], 0);

	push(rig, 0, IO_TRIM, 2, 1);
	push(rig, 0, IO_FSYNC, 3, 0);
	CHECK_EQ(reap(rig, done, 2, NEVER_NS), 2);
	CHECK_EQ(done[0].result, 0);
	CHECK_EQ(done[1].result, 0);
	rig->pool[0][4096] = 1;
	push(rig, 0, IO_READ, 1, 1);
	CHECK_EQ(reap(rig, done, 1, NEVER_NS), 1);
	CHECK_EQ(rig->pool[0][4096], 0);
	rig_free(rig);
}

static void tags_the_drive_uses_itself_are_not_taken_for_content(void)
{
	static const uint64_t tags[] = { UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 2, 1ull << 62 };

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		struct rig *rig = rig_new(BARE, 1);
		struct io io = { .kind = IO_WRITE, .length_bytes = 4096, .buffer = rig->pool[0] };
		struct io_done done[16];

		memset(rig->pool[0], 0x33, 4096);
		io.content_tag = tags[i];
		rig->queues[0]->ops->push(rig->queues[0], &io, 1);
		CHECK_EQ(reap(rig, done, 1, NEVER_NS), 1);
		push(rig, 0, IO_READ, 1, 0);
		CHECK_EQ(reap(rig, done, 1, NEVER_NS), 1);
		CHECK_EQ(rig->pool[0][4096], 0x33);
		rig_free(rig);
	}
}

static void a_request_fails_alone(void)
{
	struct rig *rig = rig_new(BARE ",trim=none", 1);
	struct io_done done[16];

	push(rig, 0, IO_TRIM, 0, 0);
	push(rig, 0, IO_READ, 1, 4096);		/* the first block behind the end */
	push(rig, 0, IO_READ, 2, 4095);
	CHECK_EQ(reap(rig, done, 3, NEVER_NS), 3);
	for (int i = 0; i < 3; i++) {
		static const int want[] = { -EOPNOTSUPP, -EINVAL, 4096 };

		CHECK_EQ(done[i].result, want[done[i].tag]);
	}
	CHECK_EQ(rig->target->info.discard_max_bytes, 0);
	rig_free(rig);
}

static double row(const struct drive_truth *truth, const char *name)
{
	for (uint32_t i = 0; i < truth->row_count; i++)
		if (strcmp(truth->rows[i].name, name) == 0)
			return truth->rows[i].value;
	return NAN;
}

static void the_truth_counts_from_its_beginning(void)
{
	struct rig *rig = rig_new("sim:page-greedy,capacity=16m,buffer=0", 1);
	struct drive_truth truth;
	struct io_done done[16];

	for (uint32_t i = 0; i < 10; i++)
		push(rig, 0, IO_WRITE, i, i);
	CHECK_EQ(reap(rig, done, 10, NEVER_NS), 10);
	rig->target->truth_begin(rig->target);
	for (uint32_t i = 0; i < 4; i++)
		push(rig, 0, IO_WRITE, i, i);
	push(rig, 0, IO_TRIM, 4, 9);
	CHECK_EQ(reap(rig, done, 5, NEVER_NS), 5);
	rig->target->truth_end(rig->target, &truth);
	CHECK_NEAR(row(&truth, "host_written_bytes"), 4 * 4096, 0);
	CHECK_NEAR(row(&truth, "host_trimmed_bytes"), 4096, 0);
	CHECK_NEAR(row(&truth, "flash_programmed_bytes"), 4 * 4096, 0);
	CHECK_NEAR(row(&truth, "write_amplification"), 1, 0);
	CHECK_NEAR(row(&truth, "mapped_bytes"), 9 * 4096, 0);	/* a level, not a count */
	rig_free(rig);
}

static void what_the_drive_says_of_itself_is_in_the_info(void)
{
	struct rig *rig = rig_new("sim:page-greedy,capacity=16m,bus=sata,logical_block=4k", 0);
	const struct target_info *info = &rig->target->info;

	CHECK_EQ(info->kind, TARGET_SIM);
	CHECK_EQ(info->size_bytes, 16 * MIB);
	CHECK_EQ(info->logical_block_bytes, 4096);
	CHECK_EQ(info->offset_align_bytes, 4096);
	CHECK_STR(info->transport, "sata");
	CHECK_STR(info->write_cache, "write back");
	CHECK_EQ(info->discard_granularity_bytes, 4096);
	CHECK(info->model[0] && !info->ours && rig->target->fd == -1);
	rig_free(rig);
}

static void what_cannot_be_is_refused(void)
{
	uint64_t now_ns = 0;
	struct clock clock;
	struct target_request request = { .clock = &clock };
	struct target *target;
	struct err err = { 0 };

	clock_init_virtual(&clock, &now_ns);
	request.spec = "sim:page-gredy";
	CHECK_EQ(target_open(&target, &request, &err), -EINVAL);
	CHECK(strstr(err.text, "page-gredy"));
	request.spec = "sim:page-greedy,capacity=16m";
	request.need_bytes = 16 * MIB + 1;
	CHECK_EQ(target_open(&target, &request, &err), -EFBIG);
}

TESTS(
	TEST(one_die_serves_one_after_the_other),
	TEST(a_deadline_ends_the_wait_and_is_then_the_time),
	TEST(queues_share_one_drive_in_the_order_of_pushing),
	TEST(the_same_seed_gives_the_same_times),
	TEST(what_is_written_reads_back),
	TEST(tags_the_drive_uses_itself_are_not_taken_for_content),
	TEST(a_request_fails_alone),
	TEST(the_truth_counts_from_its_beginning),
	TEST(what_the_drive_says_of_itself_is_in_the_info),
	TEST(what_cannot_be_is_refused),
)
