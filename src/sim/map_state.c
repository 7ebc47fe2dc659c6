/* SPDX-License-Identifier: MIT */

/*
 * Setting a drive straight into a state, without time. Filled: every unit once, in order.
 * Steady: under uniform random writes with greedy cleaning the number of blocks with k
 * valid units is proportional to 1/k above the level at which blocks are cleaned (Bux and
 * Iliadis 2010), so blocks can be dealt out directly. Other policies start there and are
 * then written over twice at random.
 */

#include <assert.h>
#include <string.h>

#include "sim/drive.h"

static void fill_in_order(struct map *m)
{
	uint32_t units[256], count;

	for (uint32_t unit = 0; unit < m->units; unit += count) {
		count = m->units - unit < 256 ? m->units - unit : 256;
		for (uint32_t i = 0; i < count; i++)
			units[i] = unit + i;
		map_write_many(m, units, count, m->units_per_block);
	}
}

static void write_randomly(struct map *m, uint64_t count)
{
	uint32_t units[256];

	while (count > 0) {
		const size_t n = count < 256 ? (size_t)count : 256;

		for (size_t i = 0; i < n; i++)
			units[i] = (uint32_t)random_below(&m->random, m->units);
		map_write_many(m, units, n, 1);
		count -= n;
	}
}

/*
 * A keyed permutation of 0 .. units-1: four Feistel rounds on the next even power of two,
 * walked until inside. Deals random units out without holding a shuffled list.
 */
struct deal {
	uint64_t keys[4];
	uint32_t half_bits, units;
};

static uint32_t deal_at(const struct deal *d, uint32_t i)
{
	const uint32_t mask = (1u << d->half_bits) - 1;
	uint64_t x = i;

	do {
		uint32_t left = (uint32_t)(x >> d->half_bits), right = (uint32_t)x & mask;

		for (int round = 0; round < 4; round++) {
			const uint32_t next = left ^
				((uint32_t)random_mix(right ^ d->keys[round]) & mask);

			left = right;
			right = next;
		}
		x = (uint64_t)left << d->half_bits | right;
	} while (x >= d->units);
	return (uint32_t)x;
}

/*
 * How many of the closed blocks hold k valid units, k = b down to the level where the
 * sum of valid units is met: counts[k] = scale / k by cumulative rounding.
 */
struct levels {
	double scale;	/* count of blocks at k is scale / k */
	uint32_t low;
};

static struct levels find_levels(uint32_t b, double blocks, double valid)
{
	struct levels best = { 0, 1 };
	double harmonic = 0;

	/* With levels low..b: blocks = scale * (H_b - H_low-1), valid = scale * (b - low + 1). */
	for (uint32_t low = b; low >= 1; low--) {
		const double mean = (harmonic += 1.0 / low) > 0 ? (b - low + 1) / harmonic : 0;

		best = (struct levels){ blocks / harmonic, low };
		if (mean <= valid / blocks)
			break;
	}
	return best;
}

/* Selection sampling: each set of places is equally likely. No branch: none could be foreseen. */
static void choose_places(struct map *m, uint32_t first, uint32_t count)
{
	uint32_t left = count;

	for (uint32_t i = 0; i < m->units_per_block; i++) {
		const uint32_t slot = first + i;
		const bool taken = random_below(&m->random, m->units_per_block - i) < left;

		m->live[slot >> 6] |= (uint64_t)taken << (slot & 63);
		left -= taken;
	}
	assert(left == 0);
}

static void deal_block(struct map *m, uint32_t count, const struct deal *d, uint32_t *dealt)
{
	const uint32_t b = m->units_per_block, block = map_free_take(m), first = block * b;

	choose_places(m, first, count);
	memset(&m->p2l[first], 0xff, b * sizeof(*m->p2l));	/* NO_UNIT */
	for (uint32_t word = first >> 6; word <= (first + b - 1) >> 6; word++) {
		for (uint64_t bits = map_block_bits(m, block, word); bits; bits &= bits - 1) {
			const uint32_t slot = (word << 6) + (uint32_t)__builtin_ctzll(bits);
			const uint32_t unit = deal_at(d, (*dealt)++);

			m->p2l[slot] = unit;
			m->l2p[unit] = slot;
		}
	}
	m->valid[block] += count;
	m->filled[block] = b;
	map_block_close(m, block);
}

static void deal_steady(struct map *m)
{
	const uint32_t b = m->units_per_block;
	const struct levels levels = find_levels(b, m->usable_blocks, m->units);
	struct deal deal = { .units = m->units, .half_bits = 1 };
	uint32_t dealt = 0, blocks_left = m->usable_blocks;
	double position = 0;

	while ((1ull << (2 * deal.half_bits)) < m->units)
		deal.half_bits++;
	for (int i = 0; i < 4; i++)
		deal.keys[i] = random_u64(&m->random);
	/* Fullest first; what rounding leaves over goes to the last blocks evenly. */
	for (uint32_t k = b; k >= levels.low && blocks_left > 0; k--) {
		for (position += levels.scale / k; position >= 1 && blocks_left > 0; position--) {
			const uint32_t rest = m->units - dealt;
			uint32_t count = k;

			if ((uint64_t)(blocks_left - 1) * b + count < rest)
				count = b;
			if (count > rest)
				count = rest;
			deal_block(m, count, &deal, &dealt);
			blocks_left--;
		}
	}
	for (; dealt < m->units && blocks_left > 0; blocks_left--) {
		const uint32_t rest = m->units - dealt;
		const uint32_t share = (rest + blocks_left - 1) / blocks_left;

		deal_block(m, share < b ? share : b, &deal, &dealt);
	}
	assert(dealt == m->units);
	m->mapped = m->units;
}

void map_set_state(struct map *m, enum sim_state state)
{
	m->slc_paused = true;
	if (state == SIM_STATE_FILLED) {
		fill_in_order(m);
	} else if (state == SIM_STATE_STEADY && m->config->mapping != SIM_MAPPING_PAGE) {
		fill_in_order(m);
		write_randomly(m, m->log_blocks_max ?
			       (uint64_t)m->log_blocks_max * m->units_per_block * 2 : 64);
	} else if (state == SIM_STATE_STEADY) {
		deal_steady(m);
		/* Lets the frontiers and the last levels settle. */
		write_randomly(m, m->config->gc == SIM_GC_GREEDY &&
				  m->config->streams == SIM_STREAMS_MIXED ?
				  m->units / 8 : 2ull * m->units);
	}
	m->slc_paused = false;
	m->host_units = m->copied_units = m->folded_units = m->pad_units = 0;
	m->placed_units = 0;
	memset(m->erases, 0, m->blocks * sizeof(*m->erases));
	m->erase_total = 0;
	m->erase_max = 0;
}
