/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * data_kernel - the bytes of one chunk from a 64-bit key, and their comparison, as plain
 * functions for one vector width. A file sets DATA_VECTOR_BYTES (16, 32 or 64, the width of the
 * registers it is compiled for: a wider type is split through the stack) and DATA_KERNEL,
 * and includes this; data_kernel_... of all widths give the same bytes.
 *
 * The generator: 16 lanes of 64 bits, each an add-rotate-xor network of four words (half of
 * BLAKE2b's G; Aumasson et al. 2013) that gives the sum of two of them each half round. It
 * is chosen for its price, 4 to 6 instructions for as many bytes as a register holds;
 * it is no cipher. Outputs are stored lane by lane: bytes 0..63 of each 128 are lanes 0..7.
 * Lanes are independent, so a narrow register does a few lanes for the whole chunk and
 * then the next few. Two registers run side by side: one alone would wait for itself.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"

#define DATA_CHUNK_BYTES 4096u
#define DATA_SECTOR_BYTES 512u
#define DATA_STAMP_BYTES 16u	/* at the start of each sector; not compared */

struct data_kernel {
	const char *name;
	/* length_bytes <= DATA_CHUNK_BYTES; need not be a multiple of anything. */
	void (*fill)(void *buffer, size_t length_bytes, uint64_t key);
	/*
	 * Is a chunk what fill would write, but for DATA_STAMP_BYTES at the start of each sector
	 * and head_bytes at the start of the first one? Whole sectors, head_bytes 16 or 64.
	 */
	bool (*same)(const void *buffer, size_t length_bytes, uint64_t key, size_t head_bytes);
};

extern const struct data_kernel data_kernel_generic;
extern const struct data_kernel data_kernel_avx2, data_kernel_avx512;	/* x86-64 only */

/* Those this machine can run, widest first, NULL at the end; the last is the generic one. */
const struct data_kernel *const *data_kernels(void);
