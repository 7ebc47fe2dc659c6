/* SPDX-License-Identifier: MIT */

/*
 * Filters over a store of 64 blocks in memory that completes at once (or, told so, keeps
 * completions until they are due in virtual time).
 */

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/units.h"
#include "target/kinds.h"
#include "target/target.h"

#define BLOCK_BYTES 4096u
#define BLOCK_COUNT 64
#define DEPTH 8

static unsigned char store[BLOCK_COUNT * BLOCK_BYTES];
static unsigned char buffers[DEPTH][BLOCK_BYTES];

struct memory {
	struct queue queue;
	struct io_done done[DEPTH];
	uint32_t count;
	bool closed;
};

static void memory_close(struct queue *queue)
{
	((struct memory *)queue)->closed = true;
}

static void memory_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct memory *memory = (struct memory *)queue;

	for (uint32_t i = 0; i < count; i++) {
		int32_t result = 0;

		if (ios[i].kind == IO_READ)
			memcpy(ios[i].buffer, store + ios[i].offset_bytes, ios[i].length_bytes);
		if (ios[i].kind == IO_WRITE)
			memcpy(store + ios[i].offset_bytes, ios[i].buffer, ios[i].length_bytes);
		if (ios[i].kind <= IO_WRITE)
			result = (int32_t)ios[i].length_bytes;
		memory->done[memory->count++] = (struct io_done){ ios[i].tag, result, 0 };
	}
}

static int memory_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
		       uint32_t max_count, uint64_t deadline_ns)
{
	struct memory *memory = (struct memory *)queue;
	const uint32_t count = memory->count < max_count ? memory->count : max_count;

	(void)min_count;
	(void)deadline_ns;
	memcpy(done, memory->done, count * sizeof(done[0]));
	memory->count -= count;
	memmove(memory->done, memory->done + count, memory->count * sizeof(done[0]));
	return (int)count;
}

static const struct queue_ops memory_ops = {
	.name = "memory",
	.close = memory_close,
	.push = memory_push,
	.reap = memory_reap,
};

static struct memory memory;
static struct queue *queue;
static struct clock clock_of_test;
static uint64_t virtual_ns;

static void setup(const char *filter)
{
	static const struct queue_options presets = {
		.depth_count = DEPTH,
		.length_max_bytes = BLOCK_BYTES,
		.clock = &clock_of_test,
	};
	struct err err = { 0 };

	memset(store, 0, sizeof(store));
	virtual_ns = 1000;
	clock_init_virtual(&clock_of_test, &virtual_ns);
	memory = (struct memory){ .queue = { .ops = &memory_ops } };
	queue = &memory.queue;
	CHECK_EQ(target_filter(&queue, filter, &presets, &err), 0);
	CHECK_STR(err.text, "");
}

static void done(void)
{
	queue->ops->close(queue);
	CHECK(memory.closed);
}

static void push(enum io_kind kind, uint32_t tag, uint32_t block)
{
	const struct io io = {
		.offset_bytes = (uint64_t)block * BLOCK_BYTES,
		.buffer = buffers[tag],
		.length_bytes = BLOCK_BYTES,
		.tag = tag,
		.kind = (uint8_t)kind,
	};

	queue->ops->push(queue, &io, 1);
}

/* Does one and returns its result. */
static int32_t do_one(enum io_kind kind, uint32_t block)
{
	struct io_done reaped = { .result = 12345 };

	push(kind, 0, block);
	CHECK_EQ(queue->ops->reap(queue, &reaped, 1, 1, NEVER_NS), 1);
	CHECK_EQ(reaped.tag, 0);
	return reaped.result;
}

static int32_t write_block(uint32_t block, int value)
{
	int32_t result;

	memset(buffers[0], value, BLOCK_BYTES);
	result = do_one(IO_WRITE, block);
	/* Whatever was done to the data on their way, the engine finds its buffer as it was. */
	for (size_t i = 0; i < BLOCK_BYTES; i++)
		CHECK_EQ(buffers[0][i], value);
	return result;
}

static uint32_t bits_that_differ(uint32_t block, int value)
{
	uint32_t count = 0;

	for (size_t i = 0; i < BLOCK_BYTES; i++)
		count += (uint32_t)__builtin_popcount(store[block * BLOCK_BYTES + i] ^
						      (unsigned int)value);
	return count;
}

static void specs_are_parsed_strictly(void)
{
	static const struct {
		const char *spec, *want;	/* want NULL: accepted */
	} cases[] = {
		{ "delay:read=1ms,write=2ms,sync=5ms,trim=1us,jitter=500us,seed=7", NULL },
		{ "error:errno=ENOSPC,kind=write,after=10k,every=3,at=1m,seed=9", NULL },
		{ "corrupt:torn,every=100", NULL },
		{ "delay:read=1ms;error:kind=read;corrupt:stale", NULL },
		{ "dealy:read=1ms", "no filter is called 'dealy'; did you mean 'delay'?" },
		{ "cache:x", "no filter is called 'cache'; there are delay, error, corrupt" },
		{ "delay:raed=1ms", "delay has no 'raed'; did you mean 'read'?" },
		{ "delay:read", "delay: 'read' lacks its value; write key=value" },
		{ "delay:read=1ms,read=2ms", "delay: 'read' is given twice" },
		{ "delay:read=1ms,", "delay: nothing follows the last comma" },
		{ "delay", "filter 'delay' says not what to do; write delay:read=1ms,write=2ms,"
			   "trim=1ms,sync=5ms,jitter=500us,seed=7" },
		{ "error:errno=EI0", "error errno has no 'EI0'; did you mean 'EIO'?" },
		{ "error:kind=writes", "error kind has no 'writes'; did you mean 'write'?" },
		{ "error:every=0", "error: every=0 would never fail; write every=1 or more" },
		{ "corrupt:filp", "corrupt has no 'filp'; did you mean 'flip'?" },
		{ "corrupt:every=2",
		  "corrupt says not how; write corrupt:flip, stale, swap or torn" },
		{ "corrupt:swap,at=4k", "corrupt: swap needs two places; leave at out" },
		{ "delay:read=1ms;", "a filter is written NAME:key=value,key=value; not ''" },
		{ "", "a filter is written NAME:key=value,key=value; not ''" },
		{ "delay:=5", "delay has no ''; it knows read, write, trim, sync, jitter, seed" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };

		CHECK_EQ(target_filter_check(cases[i].spec, &err), cases[i].want ? -EINVAL : 0);
		CHECK_STR(err.text, cases[i].want ? cases[i].want : "");
	}
}

static void a_wrong_chain_leaves_the_queue_as_it_was(void)
{
	static const struct queue_options options = { .depth_count = 1, .clock = &clock_of_test };
	struct queue *before = &memory.queue;

	memory = (struct memory){ .queue = { .ops = &memory_ops } };
	queue = before;
	CHECK_EQ(target_filter(&queue, "delay:read=1ms;error:errno=EFOO", &options, NULL), -EINVAL);
	CHECK(queue == before);
	CHECK(!memory.closed);
}

static void a_delay_is_exact_in_virtual_time(void)
{
	struct io_done reaped[DEPTH];

	setup("delay:read=1ms,write=2ms,sync=5ms");
	push(IO_WRITE, 1, 0);
	push(IO_READ, 2, 0);
	push(IO_FDATASYNC, 3, 0);
	/* Nothing is due; the memory behind has long finished. */
	CHECK_EQ(queue->ops->reap(queue, reaped, 0, DEPTH, NEVER_NS), 0);
	CHECK_EQ(queue->ops->next_ns(queue), 1000 + 1000000);
	virtual_ns = 1000 + 1000000;
	CHECK_EQ(queue->ops->reap(queue, reaped, 0, DEPTH, NEVER_NS), 1);
	CHECK_EQ(reaped[0].tag, 2);
	CHECK_EQ(reaped[0].result, BLOCK_BYTES);
	CHECK_EQ(reaped[0].done_ns, 1000 + 1000000);
	/* Told to wait, it moves the clock itself. */
	CHECK_EQ(queue->ops->reap(queue, reaped, 2, DEPTH, NEVER_NS), 2);
	CHECK_EQ(reaped[0].tag, 1);
	CHECK_EQ(reaped[1].tag, 3);
	CHECK_EQ(reaped[1].done_ns, 1000 + 5000000);
	CHECK_EQ(virtual_ns, 1000 + 5000000);
	CHECK_EQ(queue->ops->reap(queue, reaped, 1, DEPTH, NEVER_NS), 0);
	CHECK_EQ(queue->ops->next_ns(queue), NEVER_NS);
	done();
}

static void a_deadline_ends_the_wait_for_what_is_delayed(void)
{
	struct io_done reaped;

	setup("delay:read=10ms");
	push(IO_READ, 0, 0);
	CHECK_EQ(queue->ops->reap(queue, &reaped, 1, 1, 1000 + 3000000), 0);
	CHECK_EQ(virtual_ns, 1000 + 3000000);
	CHECK_EQ(queue->ops->reap(queue, &reaped, 1, 1, NEVER_NS), 1);
	CHECK_EQ(virtual_ns, 1000 + 10000000);
	done();
}

static void jitter_adds_up_to_its_size_and_repeats_from_its_seed(void)
{
	uint64_t sums[2] = { 0 };

	for (int run = 0; run < 2; run++) {
		setup("delay:read=1ms,jitter=1ms,seed=5");
		for (int i = 0; i < 1000; i++) {
			const uint64_t before_ns = virtual_ns;

			do_one(IO_READ, 0);
			CHECK(virtual_ns - before_ns >= 1000000 &&
			      virtual_ns - before_ns < 2000000);
			sums[run] += virtual_ns - before_ns;
		}
		done();
	}
	CHECK_EQ(sums[0], sums[1]);
	/* Mean 1.5 ms; standard error of a uniform 0 .. 1 ms over 1000 is 9.1 us. */
	CHECK_NEAR(sums[0] / 1000, 1500000, 30000);
}

static void a_delay_takes_its_time_in_real_time_too(void)
{
	struct queue_options options = {
		.depth_count = 1,
		.length_max_bytes = BLOCK_BYTES,
		.clock = &clock_of_test,
	};
	struct io_done reaped;
	uint64_t start_ns, took_ns;

	clock_init_real(&clock_of_test);
	memory = (struct memory){ .queue = { .ops = &memory_ops } };
	queue = &memory.queue;
	CHECK_EQ(target_filter(&queue, "delay:read=5ms", &options, NULL), 0);
	CHECK(!queue->ops->next_ns);
	start_ns = clock_now_ns(&clock_of_test);
	push(IO_READ, 0, 0);
	CHECK_EQ(queue->ops->reap(queue, &reaped, 1, 1, NEVER_NS), 1);
	took_ns = clock_now_ns(&clock_of_test) - start_ns;
	CHECK(took_ns >= 5000000);
	CHECK(took_ns < 500000000);
	CHECK_EQ(reaped.done_ns, 0);
	done();
}

static void errors_hit_their_kind_after_the_count(void)
{
	setup("error:errno=ENOSPC,kind=write,after=2");
	CHECK_EQ(write_block(0, 1), BLOCK_BYTES);
	CHECK_EQ(do_one(IO_READ, 0), BLOCK_BYTES);
	CHECK_EQ(write_block(1, 2), BLOCK_BYTES);
	CHECK_EQ(write_block(2, 3), -ENOSPC);
	CHECK_EQ(write_block(3, 4), -ENOSPC);
	CHECK_EQ(bits_that_differ(2, 0), 0);	/* it never got there */
	CHECK_EQ(do_one(IO_READ, 0), BLOCK_BYTES);
	CHECK_EQ(do_one(IO_FSYNC, 0), 0);
	done();
}

static void errors_hit_each_nth_or_the_place_or_by_chance(void)
{
	int failed = 0;

	setup("error:every=3");
	for (int i = 1; i <= 9; i++)
		CHECK_EQ(do_one(IO_READ, 0), i % 3 ? (int)BLOCK_BYTES : -EIO);
	done();

	setup("error:at=8200");	/* in block 2: 8192 .. 12287 */
	CHECK_EQ(do_one(IO_READ, 1), BLOCK_BYTES);
	CHECK_EQ(do_one(IO_READ, 2), -EIO);
	CHECK_EQ(do_one(IO_READ, 3), BLOCK_BYTES);
	CHECK_EQ(do_one(IO_WRITE, 2), -EIO);
	done();

	setup("error:every=10,seed=3");
	for (int i = 0; i < 10000; i++)
		failed += do_one(IO_READ, 0) < 0;
	CHECK_NEAR(failed, 1000, 120);	/* 4 sigma of the binomial */
	done();
}

static void errors_and_successes_come_back_together(void)
{
	struct io_done reaped[DEPTH];
	uint32_t seen = 0;

	setup("error:every=2");
	for (uint32_t tag = 0; tag < DEPTH; tag++)
		push(IO_READ, tag, tag);
	CHECK_EQ(queue->ops->next_ns(queue), 1000);
	CHECK_EQ(queue->ops->reap(queue, reaped, DEPTH, DEPTH, NEVER_NS), DEPTH);
	for (uint32_t i = 0; i < DEPTH; i++) {
		seen |= 1u << reaped[i].tag;
		CHECK_EQ(reaped[i].result, reaped[i].tag % 2 ? -EIO : (int)BLOCK_BYTES);
	}
	CHECK_EQ(seen, (1u << DEPTH) - 1);
	done();
}

static void flip_turns_one_bit_of_what_is_stored(void)
{
	setup("corrupt:flip,every=2");
	CHECK_EQ(write_block(0, 0x5a), BLOCK_BYTES);
	CHECK_EQ(write_block(1, 0x5a), BLOCK_BYTES);
	CHECK_EQ(bits_that_differ(0, 0x5a), 0);
	CHECK_EQ(bits_that_differ(1, 0x5a), 1);
	done();
}

static void stale_drops_the_write_and_says_it_was_done(void)
{
	setup("corrupt:stale,at=4096");
	CHECK_EQ(write_block(0, 1), BLOCK_BYTES);
	CHECK_EQ(write_block(1, 1), BLOCK_BYTES);
	CHECK_EQ(bits_that_differ(0, 1), 0);
	CHECK_EQ(bits_that_differ(1, 0), 0);
	done();
}

static void torn_writes_the_first_half_and_says_it_was_all(void)
{
	setup("corrupt:torn");
	CHECK_EQ(write_block(5, 0xff), BLOCK_BYTES);
	CHECK_EQ(bits_that_differ(5, 0), 8 * BLOCK_BYTES / 2);
	CHECK_EQ(store[5 * BLOCK_BYTES + 2047], 0xff);
	CHECK_EQ(store[5 * BLOCK_BYTES + 2048], 0);
	done();
}

static void swap_exchanges_two_writes_at_depth_one(void)
{
	setup("corrupt:swap,every=2");
	for (int block = 0; block < 6; block++)
		CHECK_EQ(write_block((uint32_t)block, block + 1), BLOCK_BYTES);
	/* The second and fourth are a pair; the sixth waits for one. */
	CHECK_EQ(bits_that_differ(0, 1), 0);
	CHECK_EQ(bits_that_differ(1, 4), 0);
	CHECK_EQ(bits_that_differ(2, 3), 0);
	CHECK_EQ(bits_that_differ(3, 2), 0);
	CHECK_EQ(bits_that_differ(4, 5), 0);
	CHECK_EQ(bits_that_differ(5, 0), 0);
	done();
}

static void swap_exchanges_two_writes_in_flight_together(void)
{
	struct io_done reaped[DEPTH];

	setup("corrupt:swap,after=2");
	for (uint32_t tag = 0; tag < 4; tag++) {
		memset(buffers[tag], (int)tag + 1, BLOCK_BYTES);
		push(IO_WRITE, tag, tag);
	}
	CHECK_EQ(queue->ops->reap(queue, reaped, 4, DEPTH, NEVER_NS), 4);
	CHECK_EQ(bits_that_differ(0, 1), 0);
	CHECK_EQ(bits_that_differ(1, 2), 0);
	CHECK_EQ(bits_that_differ(2, 4), 0);
	CHECK_EQ(bits_that_differ(3, 3), 0);
	for (uint32_t tag = 0; tag < 4; tag++)
		CHECK_EQ(buffers[tag][0], tag + 1);
	done();
}

static void a_chain_is_met_in_its_order(void)
{
	setup("error:kind=read,every=2;delay:read=1ms");
	CHECK_STR(queue->ops->name, "error");
	CHECK_EQ(do_one(IO_READ, 0), BLOCK_BYTES);
	CHECK_EQ(virtual_ns, 1000 + 1000000);
	CHECK_EQ(do_one(IO_READ, 0), -EIO);	/* failed before it could be delayed */
	CHECK_EQ(virtual_ns, 1000 + 1000000);
	done();
}

TESTS(TEST(specs_are_parsed_strictly), TEST(a_wrong_chain_leaves_the_queue_as_it_was),
      TEST(a_delay_is_exact_in_virtual_time), TEST(a_deadline_ends_the_wait_for_what_is_delayed),
      TEST(jitter_adds_up_to_its_size_and_repeats_from_its_seed),
      TEST(a_delay_takes_its_time_in_real_time_too), TEST(errors_hit_their_kind_after_the_count),
      TEST(errors_hit_each_nth_or_the_place_or_by_chance),
      TEST(errors_and_successes_come_back_together), TEST(flip_turns_one_bit_of_what_is_stored),
      TEST(stale_drops_the_write_and_says_it_was_done),
      TEST(torn_writes_the_first_half_and_says_it_was_all),
      TEST(swap_exchanges_two_writes_at_depth_one),
      TEST(swap_exchanges_two_writes_in_flight_together), TEST(a_chain_is_met_in_its_order))
