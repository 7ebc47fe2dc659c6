/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/defer.h"
#include "base/units.h"
#include "engine/address.h"

#define ALIGN 4096u
#define OFFSET (7 * (uint64_t)ALIGN)

static uint32_t seen[1 << 20];
static struct address a;

static struct workload workload_of(uint32_t rw)
{
	struct workload w;

	workload_init(&w);
	w.rw = rw;
	return w;
}

static struct address_range range_of(uint64_t size_bytes, uint32_t block_bytes)
{
	return (struct address_range){
		.offset_bytes = OFFSET,
		.size_bytes = size_bytes,
		.span_bytes = size_bytes,
		.align_bytes = ALIGN,
		.block_max_bytes = block_bytes,
	};
}

static void init(const struct workload *w, uint64_t size_bytes, uint32_t block_bytes)
{
	const struct address_range range = range_of(size_bytes, block_bytes);

	CHECK_EQ(address_init(&a, w, &range, 0, 1, 1, NULL), 0);
}

/* The start in units of unit_bytes from the range's start, checked to be aligned and inside. */
static uint64_t next_unit(struct address *from, uint32_t length_bytes, uint32_t unit_bytes)
{
	const uint64_t at = address_next(from, length_bytes) - OFFSET;

	CHECK_EQ(at % unit_bytes, 0);
	CHECK(at + length_bytes <= from->range.span_bytes);
	return at / unit_bytes;
}

static void a_permutation_visits_every_value_once(void)
{
	static const uint64_t counts[] = { 1,	2,    3,    4,	  5,	7,     8,     9,
					   31,	32,   33,   97,	  1023, 1024,  1025,  4095,
					   4096, 4097, 9973, 65521, 65536, 65537, 1000000 };

	for (size_t c = 0; c < ARRAY_COUNT(counts); c++) {
		for (uint64_t key = 0; key < 3; key++) {
			struct permutation p;
			uint64_t repeats = 0;

			memset(seen, 0, sizeof(seen));
			permutation_init(&p, counts[c], key);
			for (uint64_t i = 0; i < counts[c]; i++) {
				const uint64_t x = permutation_at(&p, i);

				CHECK(x < counts[c]);
				repeats += seen[x]++;
			}
			CHECK_EQ(repeats, 0);
		}
	}
}

static void huge_permutations_stay_in_range(void)
{
	static const uint64_t counts[] = { (1ull << 40) + 1, (1ull << 52) - 1, 1ull << 60 };

	for (size_t c = 0; c < ARRAY_COUNT(counts); c++) {
		struct permutation p;

		permutation_init(&p, counts[c], 5);
		CHECK((unsigned __int128)p.a * p.b >= counts[c]);
		for (uint64_t i = 0; i < 1000; i++)
			CHECK(permutation_at(&p, counts[c] - 1 - i * (counts[c] / 1000)) < counts[c]);
	}
}

/*
 * Pairs of neighbours in each tenth of a pass, against chance. A bitmap with "next free" has
 * 67 times as many in its last tenth.
 */
static void count_neighbours(uint64_t count, uint64_t within, int passes, double *ret_tenths)
{
	for (uint64_t key = 0; key < (uint64_t)passes; key++) {
		struct permutation p;
		uint64_t before;

		permutation_init(&p, count, key);
		before = permutation_at(&p, 0);
		for (uint64_t i = 1; i < count; i++) {
			const uint64_t x = permutation_at(&p, i);
			const uint64_t distance = x > before ? x - before : before - x;

			ret_tenths[i * 10 / count] += distance <= within;
			before = x;
		}
	}
}

static void no_part_of_a_pass_is_sequential(void)
{
	static const struct {
		uint64_t count, within;
		int passes;
	} cases[] = { { 4096, 1, 2000 }, { 5003, 1, 2000 }, { 1 << 17, 64, 32 } };

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		const double chance = (double)cases[c].passes * (double)cases[c].within * 2.0 / 10.0;
		double tenths[10] = { 0 };

		count_neighbours(cases[c].count, cases[c].within, cases[c].passes, tenths);
		for (int i = 0; i < 10; i++) {
			/* 400 expected: 5 % is one sigma. */
			CHECK(tenths[i] > 0.7 * chance && tenths[i] < 1.3 * chance);
		}
	}
}

static void random_without_repetition_takes_each_block_once_a_pass(void)
{
	static const struct {
		uint64_t size_bytes;
		uint32_t block_bytes;
		uint64_t slots, slot_bytes;
	} cases[] = {
		{ 4096, 4096, 1, 4096 },	    { 3 * 4096 + 1000, 4096, 3, 4096 },
		{ 1000 * 4096, 8192, 500, 8192 },   { 1001 * 4096, 8192, 500, 8192 },
		{ 1000 * 4096, 5000, 500, 8192 },   { 1001 * 4096, 512, 1001, 4096 },
		{ 65537 * 4096ull, 4096, 65537, 4096 },
	};
	const struct workload w = workload_of(RW_RANDREAD);

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		uint64_t repeats = 0;

		init(&w, cases[c].size_bytes, cases[c].block_bytes);
		CHECK_EQ(address_pass_count(&a), cases[c].slots);
		for (int pass = 0; pass < 2; pass++) {
			CHECK_EQ(a.pass_count, pass);
			memset(seen, 0, sizeof(seen));
			for (uint64_t i = 0; i < cases[c].slots; i++)
				repeats += seen[next_unit(&a, cases[c].block_bytes,
							  (uint32_t)cases[c].slot_bytes)]++;
		}
		CHECK_EQ(repeats, 0);
	}
}

static void the_next_pass_has_another_order(void)
{
	const struct workload w = workload_of(RW_RANDREAD);
	static uint64_t first[1000];
	int same = 0;

	init(&w, 1000 * ALIGN, ALIGN);
	for (int i = 0; i < 1000; i++)
		first[i] = next_unit(&a, ALIGN, ALIGN);
	for (int i = 0; i < 1000; i++)
		same += first[i] == next_unit(&a, ALIGN, ALIGN);
	CHECK(same < 10);
}

static void jobs_together_cover_the_range_once(void)
{
	static const uint32_t kinds[] = { RW_RANDREAD, RW_READ };

	for (size_t k = 0; k < ARRAY_COUNT(kinds); k++) {
		const struct workload w = workload_of(kinds[k]);
		const struct address_range range = range_of(1003 * ALIGN, ALIGN);
		uint64_t repeats = 0, total = 0;

		memset(seen, 0, sizeof(seen));
		for (uint32_t job = 0; job < 7; job++) {
			CHECK_EQ(address_init(&a, &w, &range, job, 7, 1, NULL), 0);
			total += address_pass_count(&a);
			for (uint64_t i = address_pass_count(&a); i > 0; i--) {
				CHECK_EQ(a.pass_count, 0);
				repeats += seen[next_unit(&a, ALIGN, ALIGN)]++;
			}
			CHECK_EQ(a.pass_count, 1);
		}
		CHECK_EQ(total, 1003);
		CHECK_EQ(repeats, 0);
	}
}

static void random_with_repetition_starts_at_any_aligned_place_equally(void)
{
	struct workload w = workload_of(RW_RANDREAD);
	double chi2 = 0.0;

	w.repeat = true;
	init(&w, 115 * ALIGN, 16 * ALIGN);
	CHECK_EQ(address_pass_count(&a), 0);
	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < 100000; i++)
		seen[next_unit(&a, 16 * ALIGN, ALIGN)]++;
	for (int i = 0; i < 100; i++)
		chi2 += (seen[i] - 1000.0) * (seen[i] - 1000.0) / 1000.0;
	/* 99 degrees of freedom, sd 14.1; 5 sd. */
	CHECK_NEAR(chi2, 99.0, 70.0);
}

static void sequential_forwards_backwards_and_by_strides(void)
{
	static const struct {
		uint64_t stride_bytes;
		bool backwards;
		uint64_t want[6];	/* in alignments */
	} cases[] = {
		{ 0, false, { 0, 2, 4, 6, 8, 0 } },
		{ 0, true, { 8, 6, 4, 2, 0, 8 } },
		{ 3 * ALIGN, false, { 0, 3, 6, 0, 3, 6 } },
		{ 3 * ALIGN, true, { 6, 3, 0, 6, 3, 0 } },
		{ ALIGN, false, { 0, 1, 2, 3, 4, 5 } },
	};

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		struct workload w = workload_of(RW_READ);

		w.stride_bytes = cases[c].stride_bytes;
		w.backwards = cases[c].backwards;
		/* Blocks of 1.5 alignments: the last start that leaves room is 8. */
		init(&w, 10 * ALIGN, ALIGN + 2048);
		for (int i = 0; i < 6; i++)
			CHECK_EQ(next_unit(&a, ALIGN + 2048, ALIGN), cases[c].want[i]);
	}
}

static void sequential_requests_of_several_sizes_lie_end_to_end(void)
{
	static const uint32_t lengths[] = { 4096, 8192, 512, 16384, 4096, 4096, 4096 };
	static const uint64_t want[] = { 0, 1, 3, 4, 8, 9, 0 };
	struct workload w = workload_of(RW_WRITE);

	w.size_mix.count = 2;
	w.size_mix.sizes[0].bytes = 4096;
	w.size_mix.sizes[0].ppm = 500000;
	w.size_mix.sizes[1].bytes = 16384;
	w.size_mix.sizes[1].ppm = 500000;
	/* The last start that leaves room for 16 KiB is 9. */
	init(&w, 13 * ALIGN, 16384);
	CHECK_EQ(address_pass_count(&a), 0);
	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
		CHECK_EQ(a.pass_count, i > 5);
		CHECK_EQ(next_unit(&a, lengths[i], ALIGN), want[i]);
	}
}

static void random_ppm_mixes_jumps_with_runs(void)
{
	struct workload w = workload_of(RW_RANDREAD);
	uint64_t before = 0;
	int follows = 0;

	w.random_ppm = 200000;
	init(&w, 100000 * ALIGN, ALIGN);
	for (int i = 0; i < 100000; i++) {
		const uint64_t at = next_unit(&a, ALIGN, ALIGN);

		follows += at == before + 1;
		before = at;
	}
	/* sd 126; 4 sd. */
	CHECK_NEAR(follows, 80000, 510);
}

static void draw(const struct workload *w, uint64_t slots, int draws)
{
	init(w, slots * ALIGN, ALIGN);
	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < draws; i++)
		seen[next_unit(&a, ALIGN, ALIGN)]++;
}

static void zipf_ranks_have_their_probabilities(void)
{
	static const double thetas[] = { 0.5, 0.9, 1.2, 2.0 };

	for (size_t t = 0; t < ARRAY_COUNT(thetas); t++) {
		struct workload w = workload_of(RW_RANDREAD);
		double zeta = 0.0, chi2 = 0.0;

		w.distribution.kind = DISTRIBUTION_ZIPF;
		w.distribution.parameter = thetas[t];
		draw(&w, 100, 200000);
		for (int k = 1; k <= 100; k++)
			zeta += pow(k, -thetas[t]);
		for (int k = 1; k <= 100; k++) {
			const double want = 200000.0 * pow(k, -thetas[t]) / zeta;
			const uint64_t slot = permutation_at(&a.permutation, (uint64_t)k - 1);

			chi2 += (seen[slot] - want) * (seen[slot] - want) / want;
		}
		CHECK_NEAR(chi2, 99.0, 70.0);
	}
}

static void the_hot_blocks_of_zipf_lie_apart(void)
{
	struct workload w = workload_of(RW_RANDREAD);
	int in_first_half = 0, neighbours = 0;

	w.distribution.kind = DISTRIBUTION_ZIPF;
	w.distribution.parameter = 1.2;
	draw(&w, 1 << 20, 1);
	for (uint64_t rank = 0; rank < 1000; rank++) {
		const uint64_t slot = permutation_at(&a.permutation, rank);

		in_first_half += slot < 1 << 19;
		neighbours += slot + 1 == permutation_at(&a.permutation, rank + 1);
	}
	CHECK_NEAR(in_first_half, 500, 64);
	CHECK(neighbours <= 1);
}

/* h = 0.2: 80 % of accesses to 20 % of blocks, and 64 % to 4 %. */
static void pareto_shares_are_as_named(void)
{
	struct workload w = workload_of(RW_RANDREAD);
	double hot = 0.0, hottest = 0.0;

	w.distribution.kind = DISTRIBUTION_PARETO;
	w.distribution.parameter = 0.2;
	draw(&w, 10000, 400000);
	for (uint64_t rank = 0; rank < 2000; rank++) {
		hot += seen[permutation_at(&a.permutation, rank)];
		hottest += rank < 400 ? seen[permutation_at(&a.permutation, rank)] : 0;
	}
	CHECK_NEAR(hot / 400000.0, 0.80, 4.0 * 0.00064);
	CHECK_NEAR(hottest / 400000.0, 0.64, 4.0 * 0.00076);
}

/* Standard deviation of 10 % of the range around its middle, before it is scattered. */
/* A stride is left when it would reach the last block but one, and the next begins a block later. */
static void strides_wrap_a_block_later(void)
{
	static const uint64_t want[] = { 0, 3, 6, 1, 4, 7, 2, 5, 3, 6, 4, 7, 5, 6, 7, 8, 9, 0, 3 };
	struct workload w = workload_of(RW_READ);

	w.stride_bytes = 3 * ALIGN;
	w.stride_wraps = true;
	init(&w, 10 * ALIGN, ALIGN);
	CHECK_EQ(address_pass_count(&a), 10);
	for (size_t i = 0; i < ARRAY_COUNT(want); i++)
		CHECK_EQ(next_unit(&a, ALIGN, ALIGN), want[i]);

	/* With few blocks it is one after the other. */
	w.stride_bytes = 17 * ALIGN;
	init(&w, 5 * ALIGN, ALIGN);
	for (uint64_t i = 0; i < 7; i++)
		CHECK_EQ(next_unit(&a, ALIGN, ALIGN), i % 5);
}

static void normal_shares_are_those_of_the_bell(void)
{
	struct workload w = workload_of(RW_RANDREAD);
	double one_sd = 0.0, two_sd = 0.0, below = 0.0;

	w.distribution.kind = DISTRIBUTION_NORMAL;
	w.distribution.parameter = 10.0;
	draw(&w, 10000, 400000);
	for (uint64_t rank = 0; rank < 10000; rank++) {
		const double n = seen[permutation_at(&a.permutation, rank)] / 400000.0;

		one_sd += rank >= 4000 && rank < 6000 ? n : 0.0;
		two_sd += rank >= 3000 && rank < 7000 ? n : 0.0;
		below += rank < 5000 ? n : 0.0;
	}
	CHECK_NEAR(one_sd, 0.6827, 0.003);
	CHECK_NEAR(two_sd, 0.9545, 0.0014);
	CHECK_NEAR(below, 0.5, 0.0032);
}

static void zones_lie_in_order_with_their_shares(void)
{
	struct workload w = workload_of(RW_RANDREAD);
	double zones[3] = { 0 };

	w.distribution = (struct distribution){
		.kind = DISTRIBUTION_ZONED,
		.zone_count = 3,
		.zones = { { 600000, 100000 }, { 300000, 200000 }, { 100000, 700000 } },
	};
	draw(&w, 1000, 100000);
	for (int i = 0; i < 1000; i++)
		zones[i < 100 ? 0 : i < 300 ? 1 : 2] += seen[i];
	CHECK_NEAR(zones[0], 60000, 620);
	CHECK_NEAR(zones[1], 30000, 580);
	CHECK_NEAR(zones[2], 10000, 380);
	/* Even within a zone: about 600 in each slot of the first. */
	for (int i = 0; i < 100; i++)
		CHECK_NEAR(seen[i], 600, 123);
}

/* 1 MiB of each GiB, in all but name: 64 pieces of 16 blocks over 64 x 256 blocks. */
static void segments_are_spread_do_not_touch_and_are_covered_once(void)
{
	struct address_range range = range_of(64 * 16 * ALIGN, ALIGN);
	struct workload w = workload_of(RW_RANDREAD);
	uint64_t pieces = 0, taken = 0, places = 0;

	range.span_bytes = 64 * 256 * ALIGN;
	w.segment_count = 64;
	memset(seen, 0, sizeof(seen));
	CHECK_EQ(address_init(&a, &w, &range, 0, 1, 1, NULL), 0);
	CHECK_EQ(address_pass_count(&a), 1024);
	for (int i = 0; i < 1024; i++)
		seen[next_unit(&a, ALIGN, ALIGN)]++;
	for (uint64_t i = 0; i < 64 * 256; i++) {
		taken += seen[i] == 1;
		if (seen[i] && (i == 0 || !seen[i - 1])) {
			/* Sixteen in a row, then a gap; each in its own cell. */
			for (uint64_t k = 0; k < 16; k++)
				CHECK_EQ(seen[i + k], 1);
			CHECK_EQ(seen[i + 16], 0);
			CHECK_EQ(i / 256, pieces);
			places += i % 256;
			pieces++;
		}
	}
	CHECK_EQ(pieces, 64);
	CHECK_EQ(taken, 1024);
	/* At random in the cell: mean 119.5, sd 69.3 / 8. */
	CHECK_NEAR((double)places / 64.0, 119.5, 35.0);
}

/* By their own seed, whatever the order of the requests. */
static void pieces_have_their_gaps_between_them(void)
{
	/* Pieces of 4, gaps of 12: the range of 60 ends in the gap behind the fourth. */
	const struct address_range range = range_of(60 * ALIGN, ALIGN);
	struct workload w = workload_of(RW_READ);

	w.piece_bytes = 4 * ALIGN;
	w.piece_gap_bytes = 12 * ALIGN;
	CHECK_EQ(address_init(&a, &w, &range, 0, 1, 1, NULL), 0);
	CHECK_EQ(address_pass_count(&a), 16);
	for (uint64_t i = 0; i < 32; i++)
		CHECK_EQ(next_unit(&a, ALIGN, ALIGN), i % 16 / 4 * 16 + i % 4);
	w.rw = RW_RANDREAD;
	CHECK_EQ(address_init(&a, &w, &range, 0, 1, 1, NULL), 0);
	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < 16; i++)
		seen[next_unit(&a, ALIGN, ALIGN)]++;
	for (uint64_t i = 0; i < 60; i++)
		CHECK_EQ(seen[i], i % 16 < 4);
	w.piece_bytes = 61 * ALIGN;
	CHECK_EQ(address_init(&a, &w, &range, 0, 1, 1, NULL), -EINVAL);
}

static void segments_stay_where_they_are_by_their_own_seed(void)
{
	static uint8_t first[64 * 256];
	struct address_range range = range_of(64 * 16 * ALIGN, ALIGN);
	struct workload w = workload_of(RW_RANDREAD);

	range.span_bytes = 64 * 256 * ALIGN;
	w.segment_count = 64;
	for (uint64_t run = 0; run < 3; run++) {
		w.segment_seed = run < 2 ? 7 : 8;
		memset(seen, 0, sizeof(seen));
		CHECK_EQ(address_init(&a, &w, &range, 0, 1, run + 1, NULL), 0);
		for (int i = 0; i < 1024; i++)
			seen[next_unit(&a, ALIGN, ALIGN)] = 1;
		for (uint64_t i = 0; run == 0 && i < sizeof(first); i++)
			first[i] = seen[i] != 0;
		uint64_t differ = 0;

		for (uint64_t i = 0; i < sizeof(first); i++)
			differ += first[i] != (seen[i] != 0);
		CHECK_EQ(differ > 0, run == 2);
	}
}

static void a_sequential_pass_goes_through_segments_in_order(void)
{
	struct address_range range = range_of(4 * 3 * ALIGN, ALIGN);
	struct workload w = workload_of(RW_READ);
	uint64_t before = 0;

	range.span_bytes = 4 * 100 * ALIGN;
	w.segment_count = 4;
	CHECK_EQ(address_init(&a, &w, &range, 0, 1, 1, NULL), 0);
	CHECK_EQ(address_pass_count(&a), 12);
	for (uint64_t i = 0; i < 12; i++) {
		const uint64_t at = next_unit(&a, ALIGN, ALIGN);

		CHECK_EQ(at / 100, i / 3);
		if (i % 3)
			CHECK_EQ(at, before + 1);
		before = at;
	}
	CHECK_EQ(a.pass_count, 1);
}

static void what_cannot_be_is_said_in_a_sentence(void)
{
	static const struct {
		uint32_t rw;
		uint64_t size_bytes, stride_bytes;
		uint32_t segments, jobs;
		const char *text;
	} cases[] = {
		{ RW_READ, 4095, 0, 0, 1, "a range of 4095 bytes has no room for 4096 bytes" },
		{ RW_READ, 40960, 5000, 0, 1, "stride 5000 is not a multiple of the alignment 4096" },
		{ RW_READ, 40960, 0, 0, 11, "11 jobs cannot share a range of 10 blocks" },
		{ RW_RANDREAD, 40960, 0, 0, 11, "11 jobs cannot share a range of 10 blocks" },
		{ RW_RANDREAD, 40960, 0, 2, 1,
		  "2 segments of 40960 bytes in all leave no gap in a span of 40960 bytes" },
	};

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		const struct address_range range = range_of(cases[c].size_bytes, 4096);
		struct workload w = workload_of(cases[c].rw);
		struct err err = { 0 };

		w.stride_bytes = cases[c].stride_bytes;
		w.segment_count = cases[c].segments;
		CHECK_EQ(address_init(&a, &w, &range, 0, cases[c].jobs, 1, &err), -EINVAL);
		CHECK_STR(err.text, cases[c].text);
	}
}

static void one_seed_one_sequence_and_each_job_its_own(void)
{
	const struct address_range range = range_of(100000 * ALIGN, ALIGN);
	struct workload w = workload_of(RW_RANDREAD);
	struct address b, other_job;
	int same = 0;

	w.repeat = true;
	CHECK_EQ(address_init(&a, &w, &range, 0, 2, 9, NULL), 0);
	CHECK_EQ(address_init(&b, &w, &range, 0, 2, 9, NULL), 0);
	CHECK_EQ(address_init(&other_job, &w, &range, 1, 2, 9, NULL), 0);
	for (int i = 0; i < 1000; i++) {
		const uint64_t at = address_next(&a, ALIGN);

		CHECK_EQ(at, address_next(&b, ALIGN));
		same += at == address_next(&other_job, ALIGN);
	}
	CHECK(same < 3);
}

TESTS(
	TEST(a_permutation_visits_every_value_once),
	TEST(huge_permutations_stay_in_range),
	TEST(no_part_of_a_pass_is_sequential),
	TEST(random_without_repetition_takes_each_block_once_a_pass),
	TEST(the_next_pass_has_another_order),
	TEST(jobs_together_cover_the_range_once),
	TEST(random_with_repetition_starts_at_any_aligned_place_equally),
	TEST(sequential_forwards_backwards_and_by_strides),
	TEST(strides_wrap_a_block_later),
	TEST(sequential_requests_of_several_sizes_lie_end_to_end),
	TEST(random_ppm_mixes_jumps_with_runs),
	TEST(zipf_ranks_have_their_probabilities),
	TEST(the_hot_blocks_of_zipf_lie_apart),
	TEST(pareto_shares_are_as_named),
	TEST(normal_shares_are_those_of_the_bell),
	TEST(zones_lie_in_order_with_their_shares),
	TEST(segments_are_spread_do_not_touch_and_are_covered_once),
	TEST(pieces_have_their_gaps_between_them),
      TEST(segments_stay_where_they_are_by_their_own_seed),
	TEST(a_sequential_pass_goes_through_segments_in_order),
	TEST(what_cannot_be_is_said_in_a_sentence),
	TEST(one_seed_one_sequence_and_each_job_its_own),
)
