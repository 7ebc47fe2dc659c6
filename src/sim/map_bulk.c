/* SPDX-License-Identifier: MIT */

/*
 * The page map's work in bulk, for a drive without time: the same steps in the same order
 * as one at a time, but slots are taken in rows, and what misses the caches is asked for
 * well before it is needed. On a large drive nearly every step misses once, in the map from
 * unit to slot; the misses overlap only as long as nothing waits for one of them.
 */

#include <string.h>

#include "sim/drive.h"

#define AHEAD_UNITS 32	/* enough for a miss at the speed of the rest */

static void set_live(struct map *m, uint32_t slot, uint32_t count)
{
	while (count > 0) {
		const uint32_t bit = slot & 63, n = count < 64 - bit ? count : 64 - bit;

		m->live[slot >> 6] |= UINT64_MAX >> (64 - n) << bit;
		slot += n;
		count -= n;
	}
}

/* The next slots of a frontier with room, counted and marked as if all were placed. */
static uint32_t take_row(struct map *m, struct frontier *f, uint32_t count)
{
	const uint32_t slot = f->next;

	f->next += count;
	set_live(m, slot, count);
	m->valid[f->block] += count;
	m->filled[f->block] += count;
	m->placed_units += count;
	return slot;
}

/* A unit that comes twice finds its first place counted already, and takes it back. */
size_t bulk_write(struct map *m, const uint32_t *units, size_t count)
{
	struct frontier *f = &m->frontiers[STREAM_HOST];
	const size_t room = f->end - f->next, row = room < count ? room : count;
	uint32_t *const l2p = m->l2p, *p2l, slot;

	if (row == 0)
		return 0;
	slot = take_row(m, f, (uint32_t)row);
	p2l = m->p2l + slot;
	for (size_t i = 0; i < row; i++) {
		const uint32_t unit = units[i];
		uint32_t old;

		assert(unit < m->units);
		if (i + AHEAD_UNITS < count)
			__builtin_prefetch(&l2p[units[i + AHEAD_UNITS]], 1);
		old = l2p[unit];
		if (!(old & GHOST))
			map_invalidate(m, old);
		else
			m->mapped++;
		l2p[unit] = slot + (uint32_t)i;
		p2l[i] = unit;
	}
	m->host_units += row;
	return row;
}

/* Takes the block's live slots of one bitmap word: their units, whose entries are fetched. */
static uint32_t take_word(struct map *m, uint32_t block, uint32_t word, uint32_t *ret)
{
	const uint32_t *p2l = m->p2l + ((uint64_t)word << 6);
	uint64_t bits = map_block_bits(m, block, word);
	uint32_t count = 0;

	m->live[word] &= ~bits;
	for (; bits; bits &= bits - 1) {
		const uint32_t unit = p2l[__builtin_ctzll(bits)];

		__builtin_prefetch(&m->l2p[unit], 1);
		ret[count++] = unit;
	}
	return count;
}

static void place_row(struct map *m, const uint32_t *units, uint32_t count, enum stream to)
{
	struct frontier *f = &m->frontiers[to];
	uint32_t *const l2p = m->l2p;

	while (count > 0) {
		uint32_t row, slot;

		if (f->next == f->end)
			map_frontier_turn(m, to);
		row = f->end - f->next < count ? f->end - f->next : count;
		slot = take_row(m, f, row);
		memcpy(&m->p2l[slot], units, row * sizeof(*units));
		for (uint32_t i = 0; i < row; i++)
			l2p[units[i]] = slot + i;
		units += row;
		count -= row;
	}
}

/* Word by word; the next one's entries come while those of this one are stored. */
void bulk_move(struct map *m, uint32_t block, enum stream to)
{
	const uint32_t first = block * m->units_per_block;
	const uint32_t words_end = ((first + m->units_per_block - 1) >> 6) + 1;
	uint32_t units[2][64], counts[2], word = first >> 6;

	counts[word & 1] = take_word(m, block, word, units[word & 1]);
	for (; word < words_end; word++) {
		const uint32_t next = word + 1;

		if (next < words_end)
			counts[next & 1] = take_word(m, block, next, units[next & 1]);
		place_row(m, units[word & 1], counts[word & 1], to);
	}
}
