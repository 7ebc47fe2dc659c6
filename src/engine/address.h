/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * address - where the next request goes. Constant memory at any size: a pass without
 * repetition is a keyed permutation (Feistel network over a x b with cycle walking), not a
 * bitmap. Deterministic from its seed.
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
	uint32_t align_bytes;		/* of starts, counted from offset_bytes */
	uint32_t block_max_bytes;	/* a start leaves room for it */
};

struct permutation {
	uint64_t count;			/* of values 0 .. count - 1 */
	uint64_t a, b;			/* a * b >= count, a = ceil(sqrt(count)) */
	uint64_t keys[4];
};

void permutation_init(struct permutation *p, uint64_t count, uint64_t key);
uint64_t permutation_at(const struct permutation *p, uint64_t index);	/* bijective on 0..count-1 */

struct address;	/* see address_internal members below; treat as opaque */

struct address {
	struct address_range range;
	uint32_t mode;
	uint64_t slot_count;		/* starts there are: one per max(align, block) without
					 * repetition or one per align with */
	uint64_t slot_bytes;
	uint64_t next;			/* sequential position, or index in the permutation */
	uint64_t pass_count;		/* full passes done */
	uint32_t random_ppm;
	uint64_t stride_slots;
	bool backwards;
	uint32_t segment_count;
	struct permutation permutation;
	struct distribution distribution;
	double precomputed[4];		/* of zipf and pareto */
	struct random random;
	uint64_t key;
};

/*
 * job_index of job_count: each job has its own sequence; sequential jobs each cover an
 * equal share of the range when job_count > 1 (their starts are offset), random ones share it;
 * without repetition each visits its own residue class, so that together they cover it once.
 */
int address_init(struct address *a, const struct workload *workload,
		 const struct address_range *range, uint32_t job_index, uint32_t job_count,
		 uint64_t seed, struct err *err);

/* The start of the next request of length_bytes, within the range and aligned. */
uint64_t address_next(struct address *a, uint32_t length_bytes);

/* Requests of one full pass for this job; 0 when it never ends (with repetition, distributions). */
uint64_t address_pass_count(const struct address *a);
