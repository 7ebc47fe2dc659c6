/* SPDX-License-Identifier: MIT */
#include "engine/test_fake.h"

#include "engine/verify.h"

#define BLOCK 4096
#define BLOCK_COUNT 256

static struct target verified_target(void)
{
	struct target target = fake_target(BLOCK_COUNT, 10 * MICROSECOND_NS);

	fake.bytes = calloc(BLOCK_COUNT, BLOCK);
	fake.service_ns[IO_WRITE] = 25 * MICROSECOND_NS;
	return target;
}

static struct workload verified_workload(void)
{
	struct workload w = fake_workload();

	w.rw = RW_RANDWRITE;
	w.verify = true;
	w.depth_count = 8;
	return w;
}

static void what_was_written_reads_back(void)
{
	struct target target = verified_target();
	struct workload w = verified_workload();
	struct measurement m = fake_run(&w, &target, NULL);

	CHECK_EQ(m.ops[OP_WRITE].count, BLOCK_COUNT);
	CHECK_EQ(m.ops[OP_READ].count, 0);	/* reading back is not part of what is measured */
	CHECK_EQ(m.verified_count, BLOCK_COUNT);
	CHECK_EQ(m.readback.count, BLOCK_COUNT);
	CHECK_EQ(m.readback.latency->count, BLOCK_COUNT);
	CHECK(m.readback_ns > 0 && m.ops[OP_READ].count == 0);
	CHECK_EQ(m.verify_failed_count, 0);
	measurement_done(&m);
}

/* Overwrites in flight together, several jobs, several passes: the last generation is known. */
static void overlapping_jobs_read_back(void)
{
	struct target target = verified_target();
	struct workload w = verified_workload();
	struct measurement m;

	w.rw = RW_RANDRW;
	w.read_ppm = 300000;
	w.trim_ppm = 50000;
	w.repeat = true;
	w.job_count = 3;
	w.depth_count = 16;
	w.size.bytes = 64 * BLOCK;
	w.io_size_bytes = 30000ull * BLOCK;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_READ].count + m.ops[OP_WRITE].count + m.ops[OP_TRIM].count, 30000);
	CHECK(m.verified_count > 5000);	/* most of 9000 reads and nearly all of 64 blocks */
	CHECK_EQ(m.verify_failed_count, 0);
	measurement_done(&m);
}

static void sizes_that_differ_share_a_unit(void)
{
	struct target target = verified_target();
	struct workload w = verified_workload();
	struct measurement m;

	w.rw = RW_WRITE;
	w.size_mix.count = 2;
	w.size_mix.sizes[0].bytes = 8192;
	w.size_mix.sizes[1].bytes = 12288;
	w.size_mix.sizes[0].ppm = w.size_mix.sizes[1].ppm = 500000;
	w.io_size_bytes = 200 * BLOCK;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_WRITE].bytes, 200 * BLOCK);
	CHECK_EQ(m.verified_count, 200);
	CHECK_EQ(m.verify_failed_count, 0);
	measurement_done(&m);
}

/* A block is the least that is checked: the last request is not cut to a part of one. */
static void an_odd_amount_ends_with_a_whole_block(void)
{
	struct target target = verified_target();
	struct workload w = verified_workload();
	struct measurement m;

	w.rw = RW_WRITE;
	w.io_size_bytes = BLOCK_COUNT * BLOCK + 512;	/* once over, and a little */
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.ops[OP_WRITE].bytes, (BLOCK_COUNT + 1) * BLOCK);
	CHECK_EQ(m.verified_count, BLOCK_COUNT);
	CHECK_EQ(m.verify_failed_count, 0);
	measurement_done(&m);
}

#define VICTIM (7 * BLOCK)

static void flip(const struct io *io)
{
	if (io->offset_bytes == VICTIM)
		fake.bytes[VICTIM + 2000] ^= 0x10;
}

static unsigned char kept[BLOCK];

/* The device loses every write to the block but its first. */
static void lose(const struct io *io)
{
	if (io->offset_bytes != VICTIM)
		return;
	if (fake.count <= BLOCK_COUNT)
		memcpy(kept, fake.bytes + VICTIM, BLOCK);
	else
		memcpy(fake.bytes + VICTIM, kept, BLOCK);
}

/* The write of one block lands on the next as well. */
static void misplace(const struct io *io)
{
	if (io->offset_bytes == VICTIM - BLOCK)
		memcpy(kept, fake.bytes + VICTIM - BLOCK, BLOCK);
	if (fake.count == 2 * BLOCK_COUNT)
		memcpy(fake.bytes + VICTIM, kept, BLOCK);
}

/* The second half of the last write to the block never arrives. */
static void tear(const struct io *io)
{
	if (io->offset_bytes != VICTIM)
		return;
	if (fake.count > BLOCK_COUNT)
		memcpy(fake.bytes + VICTIM + BLOCK / 2, kept + BLOCK / 2, BLOCK / 2);
	else
		memcpy(kept, fake.bytes + VICTIM, BLOCK);
}

static void erase(const struct io *io)
{
	if (io->offset_bytes == VICTIM)
		memset(fake.bytes + VICTIM, 0, BLOCK);
}

static void each_kind_of_damage_is_told_apart(void)
{
	static const struct {
		void (*damage)(const struct io *io);
		const char *what;
	} cases[] = {
		{ flip, "flipped" },   { lose, "stale" },	{ misplace, "misplaced" },
		{ tear, "torn" },      { erase, "unwritten" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target target = verified_target();
		struct workload w = verified_workload();
		struct measurement m;

		fake.wrote = cases[i].damage;
		w.rw = RW_WRITE;
		w.depth_count = 1;
		w.io_size_bytes = 2 * BLOCK_COUNT * BLOCK;	/* two passes */
		m = fake_run(&w, &target, NULL);
		CHECK_EQ(m.verified_count, BLOCK_COUNT);
		CHECK_EQ(m.verify_failed_count, 1);
		CHECK_EQ(m.verify_failure.offset_bytes, VICTIM);
		CHECK_STR(m.verify_failure.what, cases[i].what);
		CHECK(*m.verify_failure.expected && *m.verify_failure.found);
		measurement_done(&m);
	}
}

static void a_later_run_checks_what_an_earlier_one_wrote(void)
{
	struct target target = verified_target();
	struct workload w = verified_workload();
	struct measurement m = fake_run(&w, &target, NULL);

	measurement_done(&m);
	w.rw = RW_RANDREAD;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.verified_count, BLOCK_COUNT);
	CHECK_EQ(m.verify_failed_count, 0);
	measurement_done(&m);

	fake.bytes[9 * BLOCK + 100] ^= 1;
	fake.bytes[5 * BLOCK + 100] ^= 1;
	m = fake_run(&w, &target, NULL);
	CHECK_EQ(m.verify_failed_count, 2);
	CHECK_EQ(m.verify_failure.offset_bytes, 5 * BLOCK);
	measurement_done(&m);
}

static void a_failed_write_is_not_read_back(void)
{
	struct target target = verified_target();
	struct workload w = verified_workload();
	struct measurement m;

	w.depth_count = 1;
	fake.fail_at = 10;
	fake.fail_code = -ENOSPC;
	m = fake_run(&w, &target, NULL);
	CHECK(m.ended_early);
	CHECK_EQ(m.verified_count, 9);
	CHECK_EQ(m.verify_failed_count, 0);
	measurement_done(&m);
}

static void a_claim_is_whole_or_nothing(void)
{
	const struct engine_range range = { .offset_bytes = 4096, .size_bytes = 8 * 512 };
	struct verify_map map;
	uint32_t words[8];

	CHECK_EQ(verify_map_init(&map, &range, 512, NULL), 0);
	CHECK(verify_claim(&map, 4096 + 1024, 512));
	CHECK(!verify_claim(&map, 4096, 4096));
	verify_snapshot(&map, 4096, 4096, words);
	for (uint32_t i = 0; i < 8; i++)
		CHECK_EQ(words[i], i == 2 ? VERIFY_CLAIMED : 0);
	verify_release(&map, 4096 + 1024, 512, true);
	CHECK(verify_claim(&map, 4096, 4096));
	verify_release(&map, 4096, 4096, true);
	verify_snapshot(&map, 4096, 4096, words);
	for (uint32_t i = 0; i < 8; i++)
		CHECK_EQ(words[i], i == 2 ? 2 : 1);
	verify_map_done(&map);
}

TESTS(TEST(what_was_written_reads_back), TEST(overlapping_jobs_read_back),
      TEST(sizes_that_differ_share_a_unit),
      TEST(an_odd_amount_ends_with_a_whole_block), TEST(each_kind_of_damage_is_told_apart),
      TEST(a_later_run_checks_what_an_earlier_one_wrote), TEST(a_failed_write_is_not_read_back),
      TEST(a_claim_is_whole_or_nothing))
