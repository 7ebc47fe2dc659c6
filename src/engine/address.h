/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * address - where the next request goes. Constant memory at any size: a pass without
 * repetition is a keyed permutation (Feistel network over a x b with cycle walking), not a
 * bitmap. Deterministic from its seed.
 *
 * Every start is a slot: offset_bytes + n * slot_bytes, slot_bytes a multiple of the
 * alignment. Which slots there are:
 *	sequential	one per block (rounded up to the alignment), or per stride_bytes; with
 *			several sizes one per alignment, each request following the last;
 *			with stride_wraps one per block, a stride between two, each turn
 *			beginning a block after the one before
 *	random, repeat	one per alignment, so blocks may overlap
 *	random		one per largest block: disjoint, each exactly once in a pass, a new order
 *			each pass
 *	zipf, pareto,	one per largest block; the ranks are scattered over the range by a
 *	normal		permutation, so that hot blocks do not lie together
 *	zoned		one per largest block; zones in the order given, from the start
 * A start leaves room for the largest block, so a tail shorter than that is not visited.
 *
 * Distributions and a random_ppm below 100 % repeat whatever workload.repeat says. With
 * random_ppm the other requests follow the one before.
 *
 * Segments: size_bytes is what is really touched, in segment_count equal pieces, each at a
 * random place of its own cell of span_bytes; no two pieces touch. Within and across the
 * pieces all of the above holds.
 *
 * Threads: one worker's own. Plain data; no done.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/random.h"
#include "model/workload.h"

struct address_range {
	uint64_t offset_bytes, size_bytes;
	uint64_t span_bytes;		/* segments only: what they are spread over, > size_bytes */
	uint32_t align_bytes;		/* of starts, counted from offset_bytes */
	uint32_t block_max_bytes;	/* a start leaves room for it */
};

/* Black and Rogaway 2002, "Ciphers with arbitrary finite domains", generalised Feistel. */
struct permutation {
	uint64_t count;			/* of values 0 .. count - 1 */
	uint64_t a, b;			/* a * b >= count, a = ceil(sqrt(count)) */
	uint64_t a_inverse;		/* floor((2^64 - 1) / a) */
	uint64_t keys[4];
};

void permutation_init(struct permutation *p, uint64_t count, uint64_t key);
uint64_t permutation_at(const struct permutation *p, uint64_t index);	/* bijective on 0..count-1 */

enum address_mode {
	ADDRESS_SEQUENTIAL,
	ADDRESS_SEQUENTIAL_SIZES,	/* requests of several sizes, end to end */
	ADDRESS_STRIDED,		/* strides that wrap */
	ADDRESS_PERMUTED,
	ADDRESS_UNIFORM,
	ADDRESS_ZIPF,
	ADDRESS_PARETO,
	ADDRESS_NORMAL,
	ADDRESS_ZONED,
};

/* Members are address.c's own, but for pass_count. */
struct address {
	struct address_range range;
	enum address_mode mode;
	bool is_uniform;		/* with repetition and nothing else: address_next's short way */
	uint64_t slot_count, slot_bytes;
	uint64_t first, end;		/* sequential: this job's share of the slots */
	uint64_t next;			/* sequential: slot; permuted: index */
	uint32_t step;			/* permuted: job_count, from one index to the next */
	uint64_t pass_start;		/* of next, in each pass */
	uint64_t pass_count;		/* full passes taken */
	uint64_t random_below;		/* random_ppm, of 2^32; 2^32 = always */
	uint64_t follow;		/* random_ppm: the slot behind the last request */
	uint64_t stride_slots, turn;	/* strided: the slot this turn began with */
	bool backwards;

	uint64_t piece_slots;		/* segments: slots in each; 0 = not cut in pieces */
	uint64_t piece_key;		/* where they lie */
	uint64_t cell_slots;		/* alignments in a cell */
	uint64_t cell_room;		/* where in its cell a piece may start, in alignments */

	struct permutation permutation;
	struct {
		double exponent, low, high, shortcut;	/* meaning depends on the mode */
	} shape;
	struct {
		uint64_t below;		/* cumulative share of accesses, of 2^32 */
		uint64_t first, count;	/* slots */
	} zones[WORKLOAD_ZONES];
	uint32_t zone_count;

	struct random random;
	uint64_t key;			/* of this job's range; the same in all jobs */
};

/*
 * job_index of job_count, all with the same seed: each job has its own sequence. Sequential
 * jobs each cover an equal share of the range; random ones share it; without repetition each
 * visits its own residue class of one permutation, so that together they cover the range once.
 * -EINVAL when the range holds no start, or fewer than there are jobs to share them.
 */
int address_init(struct address *a, const struct workload *workload,
		 const struct address_range *range, uint32_t job_index, uint32_t job_count,
		 uint64_t seed, struct err *err);

uint64_t address_next_other(struct address *a, uint32_t length_bytes);

/* The start of the next request of length_bytes (at most block_max_bytes). */
static inline uint64_t address_next(struct address *a, uint32_t length_bytes)
{
	if (a->is_uniform)
		return a->range.offset_bytes + random_below(&a->random, a->slot_count) * a->slot_bytes;
	return address_next_other(a, length_bytes);
}
/* The next count of them, as by so many calls; the common modes in a loop of their own. */
void address_next_many(struct address *a, uint32_t length_bytes, uint64_t *ret, uint32_t count);

/*
 * Requests of one full pass for this job. 0 when that is not known beforehand: with
 * repetition and distributions there is no pass; with sequential requests of several sizes
 * watch pass_count, which grows as the last request of a pass is taken.
 */
uint64_t address_pass_count(const struct address *a);
