/* SPDX-License-Identifier: MIT */
#include "base/check.h"
#include "base/defer.h"
#include "base/units.h"
#include "engine/mix.h"

#define DRAWS 1000000

static void shares_of_kinds_are_exact_in_the_long_run(void)
{
	static const struct {
		uint32_t rw, read_ppm, trim_ppm;
		double reads, writes, trims;
	} cases[] = {
		{ RW_READ, 300000, 0, 1.0, 0.0, 0.0 },
		{ RW_RANDREAD, 0, 500000, 1.0, 0.0, 0.0 },
		{ RW_WRITE, 300000, 0, 0.0, 1.0, 0.0 },
		{ RW_RANDWRITE, 300000, 250000, 0.0, 0.75, 0.25 },
		{ RW_TRIM, 0, 0, 0.0, 0.0, 1.0 },
		{ RW_RANDTRIM, 300000, 0, 0.0, 0.0, 1.0 },
		{ RW_RANDRW, 700000, 0, 0.7, 0.3, 0.0 },
		{ RW_READWRITE, 400000, 500000, 0.4, 0.3, 0.3 },
		{ RW_RANDRW, 1, 0, 0.000001, 0.999999, 0.0 },
		{ RW_RANDRW, 1000000, 0, 1.0, 0.0, 0.0 },
	};

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		const double want[] = { cases[c].reads, cases[c].writes, cases[c].trims };
		double got[IO_FDATASYNC + 1] = { 0 };
		struct workload w;
		struct mix mix;
		uint32_t bytes;

		workload_init(&w);
		w.rw = cases[c].rw;
		w.read_ppm = cases[c].read_ppm;
		w.trim_ppm = cases[c].trim_ppm;
		w.block_bytes = 8192;
		mix_init(&mix, &w, c + 1);
		for (int i = 0; i < DRAWS; i++) {
			got[mix_next(&mix, &bytes)]++;
			CHECK_EQ(bytes, 8192);
		}
		for (int kind = IO_READ; kind <= IO_TRIM; kind++)
			CHECK_NEAR(got[kind], want[kind] * DRAWS,
				   4.0 * sqrt(DRAWS * want[kind] * (1.0 - want[kind])) + 1e-6);
	}
}

static void reads_and_writes_may_have_sizes_of_their_own(void)
{
	uint64_t reads = 0, writes[2] = { 0 };
	struct workload w;
	struct mix mix;
	uint32_t bytes;

	workload_init(&w);
	w.rw = RW_RANDRW;
	w.read_ppm = 700000;
	w.write_mix = (struct size_mix){ 2, { { 65536, 250000 }, { 8192, 750000 } } };
	mix_init(&mix, &w, 3);
	for (int i = 0; i < DRAWS; i++) {
		if (mix_next(&mix, &bytes) == IO_READ) {
			CHECK_EQ(bytes, 4096);
			reads++;
		} else {
			CHECK(bytes == 65536 || bytes == 8192);
			writes[bytes == 8192]++;
		}
	}
	CHECK_NEAR(reads, 0.7 * DRAWS, 4 * sqrt(DRAWS * 0.7 * 0.3));
	CHECK_NEAR(writes[0], 0.075 * DRAWS, 4 * sqrt(DRAWS * 0.075));
	CHECK_NEAR(writes[1], 0.225 * DRAWS, 4 * sqrt(DRAWS * 0.225));
}

static void thresholds_are_the_shares_to_a_part_in_2_32(void)
{
	struct workload w;
	struct mix mix;

	workload_init(&w);
	w.rw = RW_RANDRW;
	w.read_ppm = 333333;
	mix_init(&mix, &w, 1);
	/* 0.333333 * 2^32 = 1431654333.5... */
	CHECK_EQ(mix.read_below, 1431654334);
	CHECK_EQ(mix.trim_below, 1431654334);
}

static void sizes_come_by_their_weights_whatever_the_kind(void)
{
	struct workload w;
	double got[3] = { 0 }, reads_small = 0;
	struct mix mix;

	workload_init(&w);
	w.rw = RW_RANDRW;
	w.read_ppm = 500000;
	w.size_mix = (struct size_mix){
		.count = 3, .sizes = { { 4096, 600000 }, { 65536, 399000 }, { 1048576, 1000 } }
	};
	mix_init(&mix, &w, 1);
	for (int i = 0; i < DRAWS; i++) {
		uint32_t bytes;
		const enum io_kind kind = mix_next(&mix, &bytes);

		got[bytes == 4096 ? 0 : bytes == 65536 ? 1 : 2]++;
		reads_small += kind == IO_READ && bytes == 4096;
	}
	CHECK_NEAR(got[0], 600000, 4 * 490);
	CHECK_NEAR(got[1], 399000, 4 * 490);
	CHECK_NEAR(got[2], 1000, 4 * 32);
	CHECK_NEAR(reads_small, 300000, 4 * 458);
}

static void the_same_seed_gives_the_same_requests(void)
{
	struct mix a, b, c;
	struct workload w;
	bool differs = false;
	uint32_t bytes;

	workload_init(&w);
	w.rw = RW_RANDRW;
	w.read_ppm = 500000;
	mix_init(&a, &w, 1);
	mix_init(&b, &w, 1);
	mix_init(&c, &w, 2);
	for (int i = 0; i < 1000; i++) {
		const enum io_kind kind = mix_next(&a, &bytes);

		CHECK_EQ(kind, mix_next(&b, &bytes));
		differs |= kind != mix_next(&c, &bytes);
	}
	CHECK(differs);
}

TESTS(
	TEST(shares_of_kinds_are_exact_in_the_long_run),
	TEST(reads_and_writes_may_have_sizes_of_their_own),
      TEST(thresholds_are_the_shares_to_a_part_in_2_32),
	TEST(sizes_come_by_their_weights_whatever_the_kind),
	TEST(the_same_seed_gives_the_same_requests),
)
