/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * data - what is written, and whether it reads back. Data is generated per block from
 * (seed, offset, generation) by a vectorised xoshiro256++, so that each write is unique and
 * incompressible; copying from a pool would be dearer (cache misses) and repeat itself.
 * The widest of SSE2/AVX2/AVX-512 (or the generic code elsewhere) is chosen at run time; all give the same bytes.
 *
 * A verified block of block_bytes (the smallest request, a multiple of 512) starts with a
 * 48-byte header: magic, XXH3 of the rest, offset, generation, seed, length. Telling
 * apart: wrong checksum with a header that fits in the first sector but not in another's
 * stamp = torn; offset differs = misplaced; generation differs = stale; no magic = unwritten or
 * foreign; else flipped.
 *
 * Threads: struct data is read-only after data_init and may be shared.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/workload.h"

struct data {
	uint32_t kind;			/* enum workload_data */
	uint32_t compress_ppm, dedupe_ppm;
	uint64_t seed;
	uint8_t pattern[128];
	uint32_t pattern_bytes;
	bool verify;
	uint32_t block_bytes;		/* verified unit */
	void (*fill)(void *buffer, size_t length_bytes, uint64_t key);
};

int data_init(struct data *data, const struct workload *workload, uint32_t block_bytes,
	      uint64_t seed, struct err *err);

/*
 * Fills a request. generation makes it unique: the engine passes a count that grows with each
 * write (for verification: the block's own generation).
 */
void data_fill(const struct data *data, void *buffer, size_t length_bytes, uint64_t offset_bytes,
	       uint64_t generation);

enum data_verdict {
	DATA_GOOD,
	DATA_UNWRITTEN,		/* zeros, or never written by this run */
	DATA_MISPLACED,		/* a good block of another offset */
	DATA_STALE,		/* a good block of an older generation */
	DATA_TORN,		/* part of one generation, part of another or of something else */
	DATA_FLIPPED,		/* header fits, content does not */
};
const char *data_verdict_name(enum data_verdict verdict);

struct data_finding {
	enum data_verdict verdict;
	uint64_t offset_bytes;		/* of the first bad block */
	char expected[96], found[96];	/* words: "generation 3 of offset 8192" */
};

/*
 * Checks a request read back; every block must be of the generation given, or of any in
 * generation_min..generation. DATA_GOOD or the first bad block's finding (may be NULL).
 */
enum data_verdict data_check(const struct data *data, const void *buffer, size_t length_bytes,
			     uint64_t offset_bytes, uint64_t generation_min, uint64_t generation,
			     struct data_finding *finding);

/* Name of the code in use: "avx512", "avx2", "sse2", "generic". */
const char *data_fill_name(void);
/* For tests and doctor: a given one, or NULL when this machine lacks it. */
void (*data_fill_variant(const char *name))(void *, size_t, uint64_t);
