/* SPDX-License-Identifier: MIT */

/*
 * The two mappings of 2008 and 2009 that place pages by logical block.
 *
 * Block: a logical block lives in one flash block, each page at its own offset. Pages of a
 * block can only be programmed in order, so a write opens a replacement block, copies (or
 * pads) up to the offset, writes, and stays open for what follows in order; when another
 * logical block needs its place, the rest is copied and the old block erased. A random
 * 4 KiB write costs a whole block.
 *
 * Hybrid: the same, with a log of page-mapped blocks in front (the fully associative log
 * of FAST, Lee et al. 2007). When the log is full its oldest block is emptied: every
 * logical block with a live page in it is gathered into a fresh block. One more log block
 * takes long writes that begin a logical block; written through, it becomes the data
 * block without a copy.
 */

#include <assert.h>

#include "sim/drive.h"

/* Enough units in one request to call it sequential. */
#define SEQUENTIAL_RUN 4

static void copy_to(struct map *m, uint32_t unit, uint32_t slot)
{
	map_read_for_copy(m, m->l2p[unit]);
	map_invalidate(m, m->l2p[unit]);
	map_put(m, unit, slot);
	m->copied_units++;
	if (m->flash)
		flash_placed(m->flash, slot, STREAM_COPY);
}

/* Copies units [from, to) of a logical block to their places in a block. */
static void copy_range(struct map *m, const struct replacement *r, uint32_t to, bool pad)
{
	m->moving = true;
	for (uint32_t i = r->next; i < to; i++) {
		const uint32_t unit = r->logical * m->units_per_block + i;
		const uint32_t slot = r->block * m->units_per_block + i;

		if (unit < m->units && map_is_mapped(m, unit)) {
			copy_to(m, unit, slot);
		} else if (pad) {
			map_pad_slot(m, slot);
			if (m->flash)
				flash_placed(m->flash, slot, STREAM_COPY);
		} else {
			m->p2l[slot] = NO_UNIT;
		}
	}
	m->moving = false;
}

static uint32_t begin_host_write(struct map *m, uint32_t unit)
{
	const uint32_t old = m->l2p[unit];

	if (!(old & GHOST))
		map_invalidate(m, old);
	else
		m->mapped++;
	m->l2p[unit] = NO_UNIT;
	m->host_units++;
	return unit / m->units_per_block;
}

static void end_host_write(struct map *m, uint32_t unit, uint32_t slot)
{
	map_put(m, unit, slot);
	if (m->flash)
		flash_placed(m->flash, slot, STREAM_HOST);
}

/* The block becomes the data block; the old one, empty now, is erased. */
static void become_data(struct map *m, uint32_t logical, uint32_t block)
{
	if (m->data_block[logical] != NO_BLOCK)
		map_free_give(m, m->data_block[logical]);
	m->data_block[logical] = block;
	m->use[block] = USE_CLOSED;
	if (m->valid[block] == HELD) {		/* trimmed meanwhile */
		m->data_block[logical] = NO_BLOCK;
		map_free_give(m, block);
	}
}

static void replacement_finish(struct map *m, struct replacement *r)
{
	const struct replacement done = *r;

	/* A block map without a page table cannot know that the rest was never written. */
	copy_range(m, r, m->units_per_block, m->config->mapping == SIM_MAPPING_BLOCK);
	r->logical = NO_BLOCK;
	become_data(m, done.logical, done.block);
}

static struct replacement *replacement_find(struct map *m, uint32_t logical)
{
	for (uint32_t i = 0; i < m->open_count; i++) {
		if (m->open[i].logical == logical)
			return &m->open[i];
	}
	return NULL;
}

static struct replacement *replacement_open(struct map *m, uint32_t logical)
{
	struct replacement *r = replacement_find(m, NO_BLOCK);

	if (!r) {
		r = &m->open[0];
		for (uint32_t i = 1; i < m->open_count; i++)
			r = m->open[i].used < r->used ? &m->open[i] : r;
		replacement_finish(m, r);
	}
	r->logical = logical;
	r->block = map_free_take(m);
	r->next = 0;
	return r;
}

void map_block_write(struct map *m, uint32_t unit)
{
	const uint32_t logical = begin_host_write(m, unit);
	const uint32_t offset = unit % m->units_per_block;
	struct replacement *r = replacement_find(m, logical);

	if (r && offset < r->next) {
		replacement_finish(m, r);
		r = NULL;
	}
	if (!r)
		r = replacement_open(m, logical);
	r->used = ++m->open_clock;
	copy_range(m, r, offset, true);
	end_host_write(m, unit, r->block * m->units_per_block + offset);
	r->next = offset + 1;
	if (r->next == m->units_per_block)
		replacement_finish(m, r);
}

/* --- hybrid --------------------------------------------------------------------------- */

static void sequential_finish(struct map *m)
{
	if (m->sequential.logical != NO_BLOCK)
		replacement_finish(m, &m->sequential);
}

/* Gathers a logical block from data block and logs into a fresh block. */
static void merge_logical(struct map *m, uint32_t logical)
{
	struct replacement fresh = { .logical = logical, .block = map_free_take(m) };

	replacement_finish(m, &fresh);
	if (m->sequential.logical == logical) {
		m->sequential.logical = NO_BLOCK;
		map_free_give(m, m->sequential.block);
	}
}

static void merge_oldest_log(struct map *m)
{
	const uint32_t block = ring32_at(&m->closed, 0);
	const uint32_t first = block * m->units_per_block;

	m->closed.head = (m->closed.head + 1) % m->closed.size;
	m->closed.count--;
	for (uint32_t slot = first; slot < first + m->units_per_block; slot++) {
		if (m->live[slot >> 6] >> (slot & 63) & 1)
			merge_logical(m, m->p2l[slot] / m->units_per_block);
	}
	map_free_give(m, block);
	m->log_blocks--;
}

static uint32_t log_slot(struct map *m)
{
	struct frontier *f = &m->frontiers[STREAM_HOST];

	if (f->next == f->end) {
		if (f->block != NO_BLOCK) {
			m->use[f->block] = USE_CLOSED;
			m->closed.items[(m->closed.head + m->closed.count++) % m->closed.size] =
				f->block;
			f->block = NO_BLOCK;
		}
		if (m->log_blocks == m->log_blocks_max)
			merge_oldest_log(m);
		f->block = map_free_take(m);
		f->next = f->block * m->units_per_block;
		f->end = f->next + m->units_per_block;
		m->log_blocks++;
	}
	return f->next++;
}

void map_hybrid_write(struct map *m, uint32_t unit, uint32_t run_units)
{
	const uint32_t logical = begin_host_write(m, unit);
	const uint32_t offset = unit % m->units_per_block;
	struct replacement *s = &m->sequential;

	if (offset == 0 && run_units >= SEQUENTIAL_RUN) {
		sequential_finish(m);
		*s = (struct replacement){ .logical = logical, .block = map_free_take(m) };
	}
	if (s->logical == logical && s->next == offset) {
		end_host_write(m, unit, s->block * m->units_per_block + offset);
		if (++s->next == m->units_per_block)
			sequential_finish(m);
	} else {
		end_host_write(m, unit, log_slot(m));
	}
}

/* After a discard: a data block without a live page is erased. */
void map_log_unmapped(struct map *m, uint32_t unit, uint32_t block)
{
	const uint32_t logical = unit / m->units_per_block;

	if (m->valid[block] != HELD || m->data_block[logical] != block ||
	    m->sequential.logical == logical || replacement_find(m, logical))
		return;
	m->data_block[logical] = NO_BLOCK;
	map_free_give(m, block);
}

void map_read_for_copy(struct map *m, uint32_t slot)
{
	if (m->flash)
		flash_copy_read(m->flash, &slot, 1);
}
