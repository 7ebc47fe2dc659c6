/* SPDX-License-Identifier: MIT */

/* What one run wrote and verified, checked by a later one that only reads. */
#include "engine/test_fake.h"

#define MS MILLISECOND_NS
#define BLOCKS 256

static struct target target;
static struct engine_memory *memory;
static uint64_t now_ns;

static void begin(void)
{
	target = fake_target(BLOCKS, MS);
	fake.bytes = calloc(BLOCKS, 4096);
	memory = NULL;
	now_ns = SECOND_NS;
}

static void end(void)
{
	engine_memory_free(memory);
}

static int run(const struct workload *w, struct measurement *m, struct err *err)
{
	struct clock clock;
	const struct engine_job job = { .workload = w, .target = &target, .ret = m,
					.memory = &memory };

	*err = (struct err){ 0 };
	measurement_init(m);
	clock_init_virtual(&clock, &now_ns);
	return engine_run_group(&job, 1, &(struct engine_options){ .clock = &clock }, err);
}

/* Half of the blocks, some of them twice. */
static void write_some(void)
{
	struct workload w = fake_workload();
	struct measurement m;
	struct err err;

	w.rw = RW_RANDWRITE;
	w.seed = 0;
	w.verify = true;
	w.repeat = true;
	w.io_count = BLOCKS / 2;
	CHECK_EQ(run(&w, &m, &err), 0);
	CHECK_EQ(m.verify_failed_count, 0);
	CHECK(m.verified_count > 64 && m.verified_count < BLOCKS / 2);
	CHECK(memory != NULL);
	measurement_done(&m);
}

static struct measurement read_all(uint64_t block_bytes)
{
	struct workload w = fake_workload();
	struct measurement m;
	struct err err;

	w.rw = RW_RANDREAD;
	w.seed = 0;
	w.block_bytes = block_bytes;
	w.depth_count = 4;
	w.verify = true;
	CHECK_EQ(run(&w, &m, &err), 0);
	CHECK_STR(err.text, "");
	return m;
}

static void what_was_written_is_checked_and_nothing_else(void)
{
	uint64_t written_count = 0;
	struct measurement m;

	begin();
	write_some();
	for (size_t i = 0; i < BLOCKS; i++)
		written_count += fake.bytes[i * 4096] != 0 || fake.bytes[i * 4096 + 8] != 0;
	m = read_all(4096);
	CHECK_EQ(m.ops[OP_READ].count, BLOCKS);
	CHECK_EQ(m.verified_count, written_count);
	CHECK_EQ(m.verify_failed_count, 0);
	measurement_done(&m);
	/* Larger reads check the same blocks; and once more, for reading forgets nothing. */
	m = read_all(16384);
	CHECK_EQ(m.verified_count, written_count);
	CHECK_EQ(m.verify_failed_count, 0);
	measurement_done(&m);
	end();
}

static void what_changed_in_between_is_found(void)
{
	struct measurement m;
	size_t block = 0;

	begin();
	write_some();
	while (fake.bytes[block * 4096 + 8] == 0)
		block++;
	fake.bytes[block * 4096 + 3000] ^= 4;
	m = read_all(4096);
	CHECK_EQ(m.verify_failed_count, 1);
	CHECK_EQ(m.verify_failure.offset_bytes, block * 4096);
	CHECK_STR(m.verify_failure.what, "flipped");
	measurement_done(&m);
	end();
}

/* The generation is known: a block that is an older one's is stale. */
static void an_older_content_is_found(void)
{
	struct workload w = fake_workload();
	struct measurement m;
	struct err err;
	unsigned char *before = malloc(4096);

	begin();
	w.rw = RW_WRITE;
	w.verify = true;
	w.size.bytes = 4096;
	w.io_count = 1;
	CHECK_EQ(run(&w, &m, &err), 0);
	measurement_done(&m);
	memcpy(before, fake.bytes, 4096);
	w.io_count = 2;
	CHECK_EQ(run(&w, &m, &err), 0);
	measurement_done(&m);
	memcpy(fake.bytes, before, 4096);
	free(before);
	m = read_all(4096);
	CHECK_EQ(m.verified_count, 1);
	CHECK_EQ(m.verify_failed_count, 1);
	CHECK_STR(m.verify_failure.what, "stale");
	measurement_done(&m);
	end();
}

static void without_anything_written_it_is_refused(void)
{
	struct workload w = fake_workload();
	struct measurement m;
	struct err err;

	begin();
	w.seed = 0;
	w.verify = true;
	CHECK_EQ(run(&w, &m, &err), -EINVAL);
	CHECK(strstr(err.text, "verify of reads alone needs what was written") != NULL);
	measurement_done(&m);
	write_some();
	w.block_bytes = 2048;
	w.align_bytes = 2048;
	CHECK_EQ(run(&w, &m, &err), -EINVAL);
	CHECK(strstr(err.text, "blocks of 4096 bytes were written") != NULL);
	measurement_done(&m);
	end();
}

TESTS(TEST(what_was_written_is_checked_and_nothing_else), TEST(what_changed_in_between_is_found),
      TEST(an_older_content_is_found), TEST(without_anything_written_it_is_refused))
