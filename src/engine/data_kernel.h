/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * data_kernel - the bytes of one chunk from a 64-bit key, written or compared, by vectors of
 * one width. Kernels of all widths give the same bytes.
 *
 * The generator: 16 lanes of 64 bits, each an add-rotate-xor network of four words (half of
 * BLAKE2b's G; Aumasson et al. 2013). A round makes one sector of 512 bytes: words a, d, c, b
 * of lanes 0..7 and 8..15 in turn. It is chosen for its price, 1.5 instructions (2 with AVX2)
 * for as many bytes as a register holds, half that of xoshiro256++: with AVX-512 it costs
 * what memset does. It is no cipher and no generator for statistics: what
 * counts is that no compressor finds anything and no two chunks are equal.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"

#define DATA_CHUNK_BYTES 4096u
#define DATA_SECTOR_BYTES 512u

/*
 * What each sector of a verified block starts with, hidden by xor with the 16 bytes at
 * DATA_STAMP_MASK_BYTES of the sector so that it stays incompressible. Both numbers are
 * made dense before, or their zero bytes would copy those 16. Neighbouring generations then
 * differ in half their bits, and a damaged stamp does not look like that of another write.
 */
struct data_stamp {
	uint64_t generation;		/* times DATA_SPREAD, plus it */
	uint64_t offset_bytes;		/* of the sector, plus DATA_SPREAD */
};
#define DATA_STAMP_MASK_BYTES 64u
#define DATA_SPREAD 0x9e3779b97f4a7c15u
#define DATA_SPREAD_INVERSE 0xf1de83e19937733du	/* their product is 1 modulo 2^64 */

/* A chunk of a verified block: whole sectors. */
struct data_chunk {
	uint64_t key;
	struct data_stamp first;	/* of its first sector */
	bool has_header;		/* its first 64 bytes are the block's header: the caller's */
};

struct data_kernel {
	const char *name;
	/* length_bytes <= DATA_CHUNK_BYTES; need not be a multiple of anything. */
	void (*fill)(void *buffer, size_t length_bytes, uint64_t key);
	/* With stamps; the header, if it has one, is overwritten. */
	void (*fill_stamped)(void *buffer, size_t length_bytes, const struct data_chunk *chunk);
	/* Is it what fill_stamped would write, the header apart? */
	bool (*same)(const void *buffer, size_t length_bytes, const struct data_chunk *chunk);
};

extern const struct data_kernel data_kernel_generic;
extern const struct data_kernel data_kernel_avx2, data_kernel_avx512;	/* x86-64 only */

/* Those this machine can run, widest first, NULL at the end; the last is the generic one. */
const struct data_kernel *const *data_kernels(void);
