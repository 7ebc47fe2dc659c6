/* SPDX-License-Identifier: MIT */

/*
 * Which block is cleaned. Sources: greedy and FIFO, Desnoyers 2012; d-choices, Van Houdt
 * 2013; cost-benefit, Rosenblum and Ousterhout 1992 (the sprite log-structured file system).
 */

#include <assert.h>

#include "sim/drive.h"

static uint32_t least_of_64(const uint32_t *counts)
{
	uint32_t least = counts[0];

	for (int i = 1; i < 64; i++)
		least = counts[i] < least ? counts[i] : least;
	return least;
}

/* A block that was a candidate is one no more. */
void gc_hold(struct map *m, uint32_t block)
{
	uint32_t *group = &m->group_min[block >> 6], *super = &m->super_min[block >> 12];
	const uint32_t valid = m->valid[block], before = *group;

	m->valid[block] |= HELD;
	if (valid != before)
		return;
	*group = least_of_64(&m->valid[block & ~63u]);
	if (*super == before)
		*super = least_of_64(&m->group_min[block >> 12 << 6]);
}

static uint32_t find_in_group(const struct map *m, uint32_t from, uint32_t least)
{
	for (uint32_t block = from; block < (from | 63) + 1; block++) {
		if (m->valid[block] == least)
			return block;
	}
	return NO_BLOCK;
}

/* The next group with this least count, from one on and round the end. */
static uint32_t find_group(const struct map *m, uint32_t from, uint32_t least)
{
	const uint32_t groups = gc_supers(m) * 64;
	uint32_t group = from < groups ? from : 0;

	while (m->group_min[group] != least) {
		if ((group & 63) == 0 && m->super_min[group >> 6] != least)
			group += 63;
		group = group + 1 < groups ? group + 1 : 0;
	}
	return group;
}

/* Among equals the next in turn, so that none is worn more than its like. */
static uint32_t pick_greedy(struct map *m)
{
	const uint32_t start = m->pick_cursor;
	uint32_t least = HELD, block = NO_BLOCK;

	for (uint32_t i = 0; i < gc_supers(m); i++)
		least = m->super_min[i] < least ? m->super_min[i] : least;
	if (least >= HELD)
		return NO_BLOCK;
	if (m->group_min[start >> 6] == least)
		block = find_in_group(m, start, least);
	if (block == NO_BLOCK)
		block = find_in_group(m, find_group(m, (start >> 6) + 1, least) << 6, least);
	assert(block < m->blocks);
	m->pick_cursor = block + 1 < m->blocks ? block + 1 : 0;
	return block;
}

static bool is_candidate(const struct map *m, uint32_t block)
{
	return m->valid[block] < HELD;
}

/* d random blocks, the emptiest wins; d = 1 is the random victim. */
static uint32_t pick_choices(struct map *m, uint64_t choices)
{
	uint32_t best = NO_BLOCK, tries = 0;

	while (choices > 0 && tries++ < 64 * m->blocks) {
		const uint32_t block = (uint32_t)random_below(&m->random, m->blocks);

		if (!is_candidate(m, block))
			continue;
		if (best == NO_BLOCK || m->valid[block] < m->valid[best])
			best = block;
		choices--;
	}
	return best == NO_BLOCK ? pick_greedy(m) : best;
}

/* Greatest age * free / (1 + used): an old block's free space is worth more. */
static uint32_t pick_cost_benefit(const struct map *m)
{
	const uint64_t b = m->units_per_block;
	uint32_t best = NO_BLOCK;
	uint64_t best_score = 0;

	for (uint32_t block = 0; block < m->blocks; block++) {
		uint64_t age, score;

		if (!is_candidate(m, block))
			continue;
		age = (uint64_t)(m->close_clock - m->closed_at[block]) + 1;
		score = age * 1024 * (b - m->valid[block]) / (b + m->valid[block]);
		if (best == NO_BLOCK || score > best_score) {
			best = block;
			best_score = score;
		}
	}
	return best;
}

uint32_t gc_pick(struct map *m)
{
	switch ((enum sim_gc)m->config->gc) {
	case SIM_GC_GREEDY:
		return pick_greedy(m);
	case SIM_GC_FIFO:
		return m->closed.count ? ring32_at(&m->closed, 0) : NO_BLOCK;
	case SIM_GC_D_CHOICES:
		return pick_choices(m, m->config->gc_choices_count);
	case SIM_GC_RANDOM:
		return pick_choices(m, 1);
	case SIM_GC_COST_BENEFIT:
		return pick_cost_benefit(m);
	}
	assert(0 && "a policy without a choice");
	return NO_BLOCK;
}
