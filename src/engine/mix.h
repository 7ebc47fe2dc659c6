/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * mix - what the next request is and how long. Each is drawn independently with exactly
 * its share (to 2^-32): reads by read_ppm, trims by trim_ppm of what is not read, sizes by
 * their weights. Deterministic from its seed; one random number a request, and none when
 * there is nothing to choose.
 *
 * Threads: one worker's own. Plain data; no done.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "model/workload.h"
#include "target/io.h"

struct mix {
	bool constant;			/* one kind, one size: the two below */
	enum io_kind kind;
	uint32_t length_bytes;
	uint64_t read_below;		/* of 2^32 */
	uint64_t trim_below;		/* at or above read_below */
	struct mix_sizes {
		uint32_t count;
		uint64_t below[WORKLOAD_SIZES];	/* cumulative, of 2^32; the last is 2^32 */
		uint32_t bytes[WORKLOAD_SIZES];
	} sizes[2];			/* of reads, of the rest */
	struct random random;
};

void mix_init(struct mix *mix, const struct workload *workload, uint64_t seed);

static inline enum io_kind mix_next(struct mix *mix, uint32_t *ret_length_bytes)
{
	const struct mix_sizes *sizes;
	uint64_t draw, size_draw, kind_draw;
	uint32_t index = 0;

	*ret_length_bytes = mix->length_bytes;
	if (mix->constant)
		return mix->kind;

	draw = random_u64(&mix->random);
	size_draw = draw & UINT32_MAX;
	kind_draw = draw >> 32;
	sizes = &mix->sizes[kind_draw >= mix->read_below];
	for (uint32_t i = 0; i + 1 < sizes->count; i++)
		index += size_draw >= sizes->below[i];
	*ret_length_bytes = sizes->bytes[index];
	if (kind_draw < mix->read_below)
		return IO_READ;
	return kind_draw < mix->trim_below ? IO_TRIM : IO_WRITE;
}
