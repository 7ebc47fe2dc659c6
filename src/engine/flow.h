/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * flow - measurements that keep pace with each other: each may begin requests in proportion to
 * its weight, and waits while it is ahead of all of them together. Who is done counts no more.
 *
 * Threads: shared by the workers of a group; a worker's part is its own. A NULL flow is free.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct flow {
	uint32_t id;
	_Atomic uint64_t count;	 /* requests begun */
	_Atomic uint64_t weight; /* of the workers that still run */
};

struct flow_part {
	struct flow *flow;
	uint32_t weight;
	uint64_t count; /* requests this worker has begun */
};

/* Has it begun more than its share of the requests? Whole rounds are compared. */
static inline bool flow_ahead(const struct flow_part *part)
{
	uint64_t weight;

	if (!part->flow)
		return false;
	weight = atomic_load_explicit(&part->flow->weight, memory_order_relaxed);
	return weight &&
	       part->count / part->weight >
		       atomic_load_explicit(&part->flow->count, memory_order_relaxed) / weight;
}

static inline void flow_add(struct flow_part *part)
{
	if (!part->flow)
		return;
	part->count++;
	atomic_fetch_add_explicit(&part->flow->count, 1, memory_order_relaxed);
}

static inline void flow_leave(struct flow_part *part)
{
	if (!part->flow)
		return;
	atomic_fetch_sub(&part->flow->weight, part->weight);
	atomic_fetch_sub(&part->flow->count, part->count);
	part->flow = NULL;
}
