/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/defer.h"
#include "base/units.h"
#include "engine/data.h"

#define BLOCK 4096u

static uint8_t one[64 * 1024] __attribute__((aligned(64))), two[64 * 1024] __attribute__((aligned(64)));

static struct workload random_workload(void)
{
	struct workload w;

	workload_init(&w);
	w.data = DATA_RANDOM;
	return w;
}

static struct data data_of(const struct workload *w, uint32_t block_bytes)
{
	struct data d;

	CHECK_EQ(data_init(&d, w, block_bytes, 42, NULL), 0);
	return d;
}

static struct data verified(uint32_t kind, uint32_t compress_ppm, uint32_t block_bytes)
{
	struct workload w = random_workload();

	w.data = kind;
	w.compress_ppm = compress_ppm;
	w.verify = true;
	strcpy(w.pattern, "0xdeadbeef");
	return data_of(&w, block_bytes);
}

/* The verified blocks that tests damage: 4 KiB in the kernel's fast path, and all others. */
static const struct {
	uint32_t kind, compress_ppm, block_bytes;
} layouts[] = {
	{ DATA_RANDOM, 0, 4096 },   { DATA_RANDOM, 0, 512 },	    { DATA_RANDOM, 0, 5120 },
	{ DATA_RANDOM, 0, 65536 },  { DATA_RANDOM, 500000, 4096 }, { DATA_ZERO, 0, 4096 },
	{ DATA_PATTERN, 0, 4096 }, { DATA_PATTERN, 0, 16384 },
};

#define FOR_LAYOUTS(d)                                                                          \
	for (size_t l = 0; l < ARRAY_COUNT(layouts); l++)                                       \
		for (struct data d = verified(layouts[l].kind, layouts[l].compress_ppm,         \
					      layouts[l].block_bytes), *once = &d;              \
		     once; once = NULL)

static void all_kernels_write_the_same_bytes(void)
{
	static const size_t lengths[] = { 1, 63, 64, 512, 1000, 2048, 4095, 4096 };
	const struct data_chunk chunk = { 99, { 1234567, 89 }, false };

	for (const struct data_kernel *const *k = data_kernels(); *k; k++) {
		for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
			memset(one, 1, sizeof(one));
			memset(two, 1, sizeof(two));
			(*k)->fill(one + 1, lengths[i], 7);
			data_kernel_generic.fill(two + 1, lengths[i], 7);
			CHECK(memcmp(one, two, sizeof(one)) == 0);
			CHECK_EQ(one[lengths[i] + 1], 1);
		}
		(*k)->fill_stamped(one, 4096, &chunk);
		data_kernel_generic.fill_stamped(two, 4096, &chunk);
		CHECK(memcmp(one, two, 4096) == 0);
		CHECK((*k)->same(two, 4096, &chunk));
	}
}

/* The stream is part of the format: what one version wrote, the next must read. */
static void the_first_bytes_are_the_ones_written_down(void)
{
	uint64_t words[2];

	data_kernel_generic.fill(words, sizeof(words), 1);
	/* Two warm-up rounds and one more of lanes 0 and 1, worked out apart from this code. */
	CHECK_EQ(words[0], (int64_t)0x608ccdfe2120a703u);
	CHECK_EQ(words[1], (int64_t)0x8f145bfc423c8e09u);
}

static void every_kernel_sees_every_flipped_bit(void)
{
	const struct data_chunk chunk = { 5, { 8, 9 }, false };

	for (const struct data_kernel *const *k = data_kernels(); *k; k++) {
		(*k)->fill_stamped(one, 1024, &chunk);
		for (size_t bit = 0; bit < 1024 * 8; bit++) {
			one[bit / 8] ^= (uint8_t)(1 << bit % 8);
			CHECK(!(*k)->same(one, 1024, &chunk));
			one[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		CHECK((*k)->same(one, 1024, &chunk));
	}
}

/* Bits of each word by itself, and every pair of bytes a line apart, over many chunks. */
static void random_data_has_no_statistics(void)
{
	const struct workload w = random_workload();
	const struct data d = data_of(&w, BLOCK);
	static uint32_t bytes[256], ones[512];
	const uint32_t chunks = 4096;
	double chi2 = 0.0, expected = chunks * 4096.0 / 256;

	for (uint64_t i = 0; i < chunks; i++) {
		data_fill(&d, one, BLOCK, i * BLOCK, 1);
		for (size_t at = 0; at < BLOCK; at++)
			bytes[one[at]]++;
		for (size_t word = 0; word < 512; word++)
			ones[word] += (uint32_t)__builtin_popcountll(((uint64_t *)one)[word]);
	}
	for (int i = 0; i < 256; i++)
		chi2 += (bytes[i] - expected) * (bytes[i] - expected) / expected;
	/* 255 degrees of freedom: sd 22.6; 5 sd. */
	CHECK_NEAR(chi2, 255.0, 113.0);
	/* Mean 32 of 64 bits, sd 4 / sqrt(chunks) = 0.0625; 5 sd for 512 words. */
	for (int i = 0; i < 512; i++)
		CHECK_NEAR((double)ones[i] / chunks, 32.0, 0.32);
}

/* Same offset and next generation, next offset, next seed: half of all bits differ. */
static void neighbours_are_as_different_as_strangers(void)
{
	const struct workload w = random_workload();
	struct data d = data_of(&w, BLOCK), e;
	double differing[3] = { 0 };
	const int count = 500;

	CHECK_EQ(data_init(&e, &w, BLOCK, 43, NULL), 0);
	for (uint64_t i = 0; i < (uint64_t)count; i++) {
		for (int kind = 0; kind < 3; kind++) {
			data_fill(&d, one, BLOCK, i * BLOCK, i);
			data_fill(kind == 2 ? &e : &d, two, BLOCK,
				  (i + (kind == 1)) * BLOCK, i + (kind == 0));
			for (size_t word = 0; word < 512; word++)
				differing[kind] += __builtin_popcountll(
					((uint64_t *)one)[word] ^ ((uint64_t *)two)[word]);
		}
	}
	/* sd = sqrt(count * 32768 / 4) = 2024 of 8.2 million; 5 sd. */
	for (int kind = 0; kind < 3; kind++)
		CHECK_NEAR(differing[kind], count * 16384.0, 10120.0);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* What LZ compressors and deduplication look for: 8 equal bytes anywhere in 8 MiB, aligned. */
static void no_word_occurs_twice(void)
{
	const struct data d = verified(DATA_RANDOM, 0, BLOCK);
	const size_t words = 1u << 20;
	uint64_t *all = malloc(words * sizeof(*all));
	size_t repeats = 0;

	for (uint64_t i = 0; i < words / 512; i++)
		data_fill(&d, all + i * 512, BLOCK, i * BLOCK, 1);
	qsort(all, words, sizeof(*all), by_value);
	for (size_t i = 1; i < words; i++)
		repeats += all[i] == all[i - 1];
	CHECK_EQ(repeats, 0);
	free(all);
}

static void a_compressible_share_is_zeros_at_the_end_of_each_chunk(void)
{
	static const struct {
		uint32_t ppm, block_bytes;
		size_t random_bytes;	/* of the first chunk */
	} cases[] = {
		{ 500000, 4096, 2048 },	 { 250000, 4096, 3072 }, { 333333, 4096, 2731 },
		{ 1000000, 4096, 0 },	 { 500000, 512, 256 },	 { 900000, 65536, 410 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct workload w = random_workload();
		const size_t chunk = cases[i].block_bytes < 4096 ? cases[i].block_bytes : 4096;
		struct data d;

		w.compress_ppm = cases[i].ppm;
		d = data_of(&w, cases[i].block_bytes);
		memset(one, 1, sizeof(one));
		data_fill(&d, one, cases[i].block_bytes, 0, 1);
		for (size_t at = 0; at < cases[i].block_bytes; at += chunk) {
			size_t zeros = 0;

			while (zeros < chunk && one[at + chunk - 1 - zeros] == 0)
				zeros++;
			/* The last random byte may be a zero by chance. */
			CHECK(zeros >= chunk - cases[i].random_bytes);
			CHECK(zeros <= chunk - cases[i].random_bytes + 2);
		}
	}
}

/* Of 4000 blocks the share repeats one of 64 contents; the rest occur once. */
static void a_dedupe_share_repeats_and_nothing_else_does(void)
{
	struct workload w = random_workload();
	static uint64_t first[4000];
	size_t unique = 0;
	struct data d;

	w.dedupe_ppm = 300000;
	d = data_of(&w, BLOCK);
	for (uint64_t i = 0; i < 4000; i++) {
		data_fill(&d, one, BLOCK, i * BLOCK, 1);
		memcpy(&first[i], one, sizeof(first[i]));
	}
	qsort(first, 4000, sizeof(first[0]), by_value);
	for (size_t i = 0; i < 4000; i++)
		unique += (i == 0 || first[i] != first[i - 1]) &&
			  (i == 3999 || first[i] != first[i + 1]);
	/* sd = sqrt(4000 * 0.3 * 0.7) = 29; 4 sd. All 64 contents occur many times. */
	CHECK_NEAR(unique, 2800, 116);
}

static void patterns_are_bytes_in_the_order_written(void)
{
	struct workload w = random_workload();
	struct data d;

	static const uint8_t bytes[] = { 0xde, 0xad, 0xbe };

	w.data = DATA_PATTERN;
	strcpy(w.pattern, "0xDEadbe");
	d = data_of(&w, 8192);
	data_fill(&d, one, 8192, 0, 1);
	for (size_t i = 0; i < 8192; i++)
		CHECK_EQ(one[i], bytes[i % 3]);

	strcpy(w.pattern, "tare");
	d = data_of(&w, 8192);
	data_fill(&d, one, 10, 0, 1);
	CHECK(memcmp(one, "taretareta", 10) == 0);

	w.data = DATA_ZERO;
	d = data_of(&w, 8192);
	data_fill(&d, one, 10, 0, 1);
	CHECK(memcmp(one, "\0\0\0\0\0\0\0\0\0\0re", 10) == 0);
}

static void what_cannot_be_had_together_is_refused(void)
{
	static const struct {
		uint32_t kind, compress_ppm, dedupe_ppm, verify, block_bytes;
		const char *pattern, *text;
	} cases[] = {
		{ DATA_ZERO, 1, 0, 0, 4096, "", "a compressible share is of random data only" },
		{ DATA_PATTERN, 0, 1, 0, 4096, "x", "a dedupe share is of random data only" },
		{ DATA_RANDOM, 0, 1, 1, 4096, "",
		  "verified blocks are all different: no dedupe share" },
		{ DATA_RANDOM, 0, 0, 1, 1000, "",
		  "verified blocks are multiples of 512 bytes, not 1000" },
		{ DATA_PATTERN, 0, 0, 0, 4096, "",
		  "pattern data needs a pattern, \"0xdeadbeef\" or text" },
		{ DATA_PATTERN, 0, 0, 0, 4096, "0xabc",
		  "pattern '0xabc': two hex digits make a byte" },
		{ DATA_PATTERN, 0, 0, 0, 4096, "0xabcg", "pattern '0xabcg': 'g' is no hex digit" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct workload w = random_workload();
		struct err err = { 0 };
		struct data d;

		w.data = cases[i].kind;
		w.compress_ppm = cases[i].compress_ppm;
		w.dedupe_ppm = cases[i].dedupe_ppm;
		w.verify = cases[i].verify;
		strcpy(w.pattern, cases[i].pattern);
		CHECK_EQ(data_init(&d, &w, cases[i].block_bytes, 1, &err), -EINVAL);
		CHECK_STR(err.text, cases[i].text);
	}
}

static void what_was_written_is_good_in_its_range_of_generations(void)
{
	FOR_LAYOUTS(d) {
		struct data_finding f = { .offset_bytes = 1 };
		const uint32_t n = d.block_bytes;

		data_fill(&d, one, n, 3 * n, 7);
		CHECK_EQ(data_check(&d, one, n, 3 * n, 7, 7, &f), DATA_GOOD);
		CHECK_EQ(data_check(&d, one, n, 3 * n, 2, 9, &f), DATA_GOOD);
		CHECK_EQ(f.offset_bytes, 1);
		CHECK_EQ(data_check(&d, one, n, 3 * n, 8, 9, &f), DATA_STALE);
		CHECK_EQ(data_check(&d, one, n, 3 * n, 1, 6, &f), DATA_STALE);
	}
}

/* Every byte of a block, one bit each: wherever it is, it is a flipped bit and no other thing. */
static void a_flipped_bit_is_flipped(void)
{
	FOR_LAYOUTS(d) {
		const uint32_t n = d.block_bytes, step = n > 5120 ? 61 : 1;

		data_fill(&d, one, n, 3 * n, 7);
		for (uint32_t i = 0; i < n; i += step) {
			one[i] ^= (uint8_t)(1 << i % 8);
			CHECK_EQ(data_check(&d, one, n, 3 * n, 2, 9, NULL), DATA_FLIPPED);
			one[i] ^= (uint8_t)(1 << i % 8);
		}
		CHECK_EQ(data_check(&d, one, n, 3 * n, 2, 9, NULL), DATA_GOOD);
	}
}

/* Any sector of another generation, the first ones, the last ones, one in the middle. */
static void a_torn_write_is_torn(void)
{
	FOR_LAYOUTS(d) {
		const uint32_t n = d.block_bytes, step = n > 5120 ? 7 * 512 : 512;

		for (uint32_t at = 512; at < n; at += step) {
			data_fill(&d, one, n, 3 * n, 7);
			data_fill(&d, two, n, 3 * n, 6);
			memcpy(one + at, two + at, n - at);
			CHECK_EQ(data_check(&d, one, n, 3 * n, 7, 7, NULL), DATA_TORN);
			data_fill(&d, one, n, 3 * n, 7);
			memcpy(one, two, at);
			CHECK_EQ(data_check(&d, one, n, 3 * n, 7, 7, NULL), DATA_TORN);
			data_fill(&d, one, n, 3 * n, 7);
			memcpy(one + at, two + at, 512);
			CHECK_EQ(data_check(&d, one, n, 3 * n, 7, 7, NULL), DATA_TORN);
			data_fill(&d, one, n, 3 * n, 7);
			memset(one + at, 0, n - at);
			CHECK_EQ(data_check(&d, one, n, 3 * n, 7, 7, NULL), DATA_TORN);
			data_fill(&d, one, n, 3 * n, 7);
			memset(one, 0, at);
			CHECK_EQ(data_check(&d, one, n, 3 * n, 7, 7, NULL), DATA_TORN);
			data_fill(&d, one, n, 3 * n, 7);
			memset(one, 0xa5, at);
			CHECK_EQ(data_check(&d, one, n, 3 * n, 7, 7, NULL), DATA_TORN);
		}
	}
}

static void a_block_of_another_place_is_misplaced(void)
{
	FOR_LAYOUTS(d) {
		const uint32_t n = d.block_bytes;
		struct data_finding f;

		data_fill(&d, one, n, 5 * n, 7);
		CHECK_EQ(data_check(&d, one, n, 3 * n, 7, 7, &f), DATA_MISPLACED);
		CHECK_EQ(f.offset_bytes, 3 * n);
	}
}

static void what_was_never_written_is_unwritten(void)
{
	FOR_LAYOUTS(d) {
		const uint32_t n = d.block_bytes;
		struct data other = d;

		memset(one, 0, n);
		CHECK_EQ(data_check(&d, one, n, 3 * n, 1, 7, NULL), DATA_UNWRITTEN);
		memset(one, 0x5a, n);
		CHECK_EQ(data_check(&d, one, n, 3 * n, 1, 7, NULL), DATA_UNWRITTEN);
		other.header.seed = 43;		/* another run's */
		data_fill(&other, one, n, 3 * n, 7);
		CHECK_EQ(data_check(&d, one, n, 3 * n, 1, 7, NULL), DATA_UNWRITTEN);
	}
}

static void the_finding_says_what_was_expected_and_what_was_found(void)
{
	const struct data d = verified(DATA_RANDOM, 0, BLOCK);
	struct data_finding f;

	data_fill(&d, one, 4 * BLOCK, 8 * BLOCK, 7);
	data_fill(&d, one + 2 * BLOCK, BLOCK, 10 * BLOCK, 5);
	CHECK_EQ(data_check(&d, one, 4 * BLOCK, 8 * BLOCK, 7, 7, &f), DATA_STALE);
	CHECK_EQ(f.offset_bytes, 10 * BLOCK);
	CHECK_STR(f.expected, "generation 7 of offset 40960");
	CHECK_STR(f.found, "generation 5 of offset 40960");

	data_fill(&d, one, BLOCK, 0, 7);
	data_fill(&d, two, BLOCK, 0, 6);
	memcpy(one + 1536, two + 1536, BLOCK - 1536);
	CHECK_EQ(data_check(&d, one, BLOCK, 0, 6, 7, &f), DATA_TORN);
	CHECK_STR(f.expected, "generation 6 to 7 of offset 0");
	CHECK_STR(f.found, "generation 7, generation 6 from byte 1536 on");

	data_fill(&d, one, BLOCK, 0, 7);
	one[1000] ^= 9;
	CHECK_EQ(data_check(&d, one, BLOCK, 0, 7, 7, &f), DATA_FLIPPED);
	CHECK_STR(f.found, "2 bits flipped, the first behind byte 512");
	CHECK_STR(data_verdict_name(f.verdict), "flipped");
}

TESTS(
	TEST(all_kernels_write_the_same_bytes),
	TEST(the_first_bytes_are_the_ones_written_down),
	TEST(every_kernel_sees_every_flipped_bit),
	TEST(random_data_has_no_statistics),
	TEST(neighbours_are_as_different_as_strangers),
	TEST(no_word_occurs_twice),
	TEST(a_compressible_share_is_zeros_at_the_end_of_each_chunk),
	TEST(a_dedupe_share_repeats_and_nothing_else_does),
	TEST(patterns_are_bytes_in_the_order_written),
	TEST(what_cannot_be_had_together_is_refused),
	TEST(what_was_written_is_good_in_its_range_of_generations),
	TEST(a_flipped_bit_is_flipped),
	TEST(a_torn_write_is_torn),
	TEST(a_block_of_another_place_is_misplaced),
	TEST(what_was_never_written_is_unwritten),
	TEST(the_finding_says_what_was_expected_and_what_was_found),
)
