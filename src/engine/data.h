/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * data - what is written, and whether it reads back. Data is generated from (seed, offset,
 * generation), so that each write is unique and incompressible; copying from a pool would be
 * dearer (cache misses) and repeat itself. The widest of AVX-512, AVX2 and generic code
 * (data_kernel.h) is chosen at run time; all give the same bytes.
 *
 * Data goes by blocks of block_bytes, made of chunks of 4096 bytes (the last one shorter).
 *	random		incompressible. With compress_ppm that share of each chunk, at its end, is
 *			zeros. With dedupe_ppm that share of blocks is one of DATA_DEDUPE_POOL
 *			contents; the others occur once.
 *	zero, pattern	what they say; the pattern starts anew in each block
 *
 * A verified block identifies itself and all its bytes: a header of 64 bytes (magic, its own
 * XXH3, generation, offset, seed, layout) at its start and a stamp of 16 (generation and
 * offset) at the start of each further sector of 512 bytes, both hidden by xor with the line
 * behind them to stay incompressible. The rest follows from the header, so reading back
 * compares every bit with what was written - stricter than a checksum of the content, and
 * cheaper: a checksum would have to be computed on writing too.
 *
 * Threads: struct data is read-only after data_init and may be shared.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/data_kernel.h"
#include "model/workload.h"

#define DATA_DEDUPE_POOL 64u
#define DATA_MAGIC 0x3130617461642074u	/* "t data01" */

struct data_header {
	uint64_t magic;
	uint64_t checksum;		/* XXH3_64 of what follows */
	uint64_t generation;
	uint64_t offset_bytes;
	uint64_t seed;
	uint32_t block_bytes;
	uint32_t kind;
	uint32_t compress_ppm;
	uint32_t pattern_bytes;
	uint64_t pattern;		/* its first 8 bytes */
};
_Static_assert(sizeof(struct data_header) == 64, "one line");

struct data {
	uint32_t kind;			/* enum workload_data */
	uint32_t compress_ppm;
	uint64_t dedupe_below;		/* of 2^32 */
	uint64_t seed;
	uint64_t seed_key;		/* random_mix of it */
	uint8_t pattern[128];
	uint32_t pattern_bytes;
	bool verify;
	bool plain;			/* random without compression: the kernel compares */
	uint32_t block_bytes;
	const struct data_kernel *kernel;
	struct data_header header;	/* of any block: without checksum, generation, offset */
};

/*
 * block_bytes is the unit of dedupe, pattern and verification: the smallest request. With
 * verify a multiple of 512 that divides every start and length. -EINVAL for what cannot be
 * had together: a bad pattern, shares of compression or dedupe in other than random data,
 * dedupe of verified data.
 */
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
	DATA_STALE,		/* a good block of a generation not asked for */
	DATA_TORN,		/* sectors of one generation, sectors of another or of something else */
	DATA_FLIPPED,		/* all sectors of one write, but some bits differ */
};
const char *data_verdict_name(enum data_verdict verdict);

struct data_finding {
	enum data_verdict verdict;
	uint64_t offset_bytes;		/* of the first bad block */
	char expected[96], found[96];	/* words: "generation 3 of offset 8192" */
};

/*
 * Checks a request read back; every block must be of a generation in generation_min..generation.
 * DATA_GOOD or the first bad block's verdict; *finding (may be NULL) is set only then. Needs
 * data->verify.
 */
enum data_verdict data_check(const struct data *data, const void *buffer, size_t length_bytes,
			     uint64_t offset_bytes, uint64_t generation_min, uint64_t generation,
			     struct data_finding *finding);

/* Name of the code in use: "avx512", "avx2", "generic". */
const char *data_fill_name(void);
