/* SPDX-License-Identifier: MIT */

/*
 * The page-mapped translation layer. Invariants, checked by map_consistent:
 *
 *	1 a slot is live exactly when l2p of its unit points at it
 *	2 valid[block] (without HELD) is the number of its live slots
 *	3 group_min is the least valid[] of its 64 blocks, super_min of its 64 groups
 *	4 every block is in one place: free ring, frontier, closed ring (data blocks and logs
 *	  for the other mappings)
 *	5 cleaning begins with a free block and ends with one, and takes one at most between
 *
 * A write is one random access to l2p, one to the bitmap and two small counters; cleaning
 * walks the bitmap and only stores. That is what makes a steady drive fast to simulate.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/drive.h"

/* Untouched memory costs nothing; huge pages save a third of the time of a large drive. */
static void *map_memory(struct map *m, uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_HUGEPAGE);
	m->memory_bytes += bytes;
	return memory;
}

static void unmap_memory(void *memory, uint64_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

static void ring32_push(struct ring32 *r, uint32_t item)
{
	assert(r->count < r->size);
	r->items[(r->head + r->count++) % r->size] = item;
}

static uint32_t ring32_shift(struct ring32 *r)
{
	const uint32_t item = r->items[r->head];

	assert(r->count > 0);
	r->head = (r->head + 1) % r->size;
	r->count--;
	return item;
}

static void ring32_remove(struct ring32 *r, uint32_t item)
{
	uint32_t kept = 0;

	/* The oldest is the usual victim of the policies that keep order. */
	if (r->count && r->items[r->head] == item) {
		ring32_shift(r);
		return;
	}
	for (uint32_t i = 0; i < r->count; i++) {
		const uint32_t other = ring32_at(r, i);

		if (other != item)
			r->items[(r->head + kept++) % r->size] = other;
	}
	assert(kept + 1 == r->count);
	r->count = kept;
}

/* Blocks of each kind, from shares. */
static void count_blocks(struct map *m, const struct sim_config *c)
{
	const uint64_t b = m->units_per_block;
	const uint64_t usable = m->units + (uint64_t)m->units * c->op_ppm / PPM;
	uint64_t blocks;

	m->slc_units_per_block = (uint32_t)((c->pages_per_block / c->cell_bits) * c->channels *
					    c->dies * c->page_bytes / c->mapping_unit_bytes);
	m->slc_limit_units = (uint32_t)((uint64_t)m->units * c->slc_ppm / PPM);
	if (c->slc == SIM_SLC_STATIC)
		m->slc_static = m->slc_limit_units / m->slc_units_per_block + 1;
	m->logical_blocks = (uint32_t)((m->units + b - 1) / b);
	if (c->mapping == SIM_MAPPING_PAGE) {
		/* Copies of hot and cold data may need a block each at once. */
		m->reserve = c->streams == SIM_STREAMS_HOT_COLD || c->gc_interleave ? 2 : 1;
		m->usable_blocks = (uint32_t)((usable + b - 1) / b);
		blocks = m->usable_blocks + m->reserve + m->slc_static;
		blocks += c->streams != SIM_STREAMS_MIXED;
		blocks += c->slc != SIM_SLC_OFF;	/* its frontier */
	} else if (c->mapping == SIM_MAPPING_HYBRID) {
		const uint64_t log = (uint64_t)m->units * c->log_ppm / PPM / b;

		m->log_blocks_max = log < 1 ? 1 : (uint32_t)log;
		blocks = m->logical_blocks + m->log_blocks_max + 3;
	} else {
		m->open_count = (uint32_t)c->open_blocks_count;
		blocks = m->logical_blocks + m->open_count + 2;
	}
	m->blocks = (uint32_t)blocks;
	m->slots = (uint32_t)(blocks * b);
}

static int allocate_blocks(struct map *m)
{
	const uint32_t n = m->blocks, padded = (n + 63) / 64 * 64, supers = gc_supers(m);

	m->valid = malloc(padded * sizeof(*m->valid));
	m->group_min = malloc((uint64_t)supers * 64 * sizeof(*m->group_min));
	m->super_min = malloc(supers * sizeof(*m->super_min));
	m->filled = calloc(n, sizeof(*m->filled));
	m->erases = calloc(n, sizeof(*m->erases));
	m->closed_at = calloc(n, sizeof(*m->closed_at));
	m->use = calloc(n, 1);
	m->slc = calloc(n, 1);
	m->free = (struct ring32){ .items = calloc(n, sizeof(uint32_t)), .size = n };
	m->closed = (struct ring32){ .items = calloc(n, sizeof(uint32_t)), .size = n };
	m->closed_slc = (struct ring32){ .items = calloc(n, sizeof(uint32_t)), .size = n };
	m->data_block = calloc(m->logical_blocks, sizeof(*m->data_block));
	m->open = calloc(m->open_count + 1, sizeof(*m->open));
	m->memory_bytes += (uint64_t)n * (7 * 4 + 2);
	if (!m->valid || !m->group_min || !m->super_min || !m->filled || !m->erases ||
	    !m->closed_at || !m->use || !m->slc || !m->free.items || !m->closed.items || !m->closed_slc.items ||
	    !m->data_block || !m->open)
		return -ENOMEM;
	return 0;
}

/* The ring of closed blocks is only kept for the policy that asks for order. */
static bool keeps_order(const struct map *m)
{
	return m->config->gc == SIM_GC_FIFO && m->config->mapping == SIM_MAPPING_PAGE;
}

void map_clear(struct map *m)
{
	const uint32_t padded = (m->blocks + 63) / 64 * 64;

	memset(m->l2p, 0xff, (uint64_t)m->units * sizeof(*m->l2p));
	memset(m->live, 0, ((uint64_t)m->slots + 127) / 64 * 8);
	for (uint32_t i = 0; i < padded; i++)
		m->valid[i] = HELD;
	for (uint32_t i = 0; i < gc_supers(m) * 64; i++)
		m->group_min[i] = HELD;
	for (uint32_t i = 0; i < gc_supers(m); i++)
		m->super_min[i] = HELD;
	m->free.head = m->free.count = 0;
	m->closed.head = m->closed.count = 0;
	m->closed_slc.head = m->closed_slc.count = 0;
	m->slc_blocks = m->log_blocks = 0;
	for (uint32_t i = 0; i < m->blocks; i++) {
		if (m->filled[i]) {
			m->erases[i]++;
			m->erase_total++;
			m->erase_max = m->erases[i] > m->erase_max ? m->erases[i] : m->erase_max;
		}
		m->filled[i] = 0;
		m->use[i] = USE_FREE;
		m->slc[i] = 0;
		ring32_push(&m->free, i);
	}
	memset(m->frontiers, 0, sizeof(m->frontiers));
	for (int i = 0; i < STREAM_COUNT; i++)
		m->frontiers[i].block = NO_BLOCK;
	for (uint32_t i = 0; i < m->logical_blocks; i++)
		m->data_block[i] = NO_BLOCK;
	for (uint32_t i = 0; i < m->open_count + 1; i++)
		m->open[i].logical = NO_BLOCK;
	m->sequential.logical = NO_BLOCK;
	m->victim = NO_BLOCK;
	m->mapped = 0;
}

int map_init(struct map *m, const struct sim_config *config, struct err *err)
{
	memset(m, 0, sizeof(*m));
	m->config = config;
	m->units = (uint32_t)(config->capacity_bytes / config->mapping_unit_bytes);
	m->units_per_block = (uint32_t)(config->channels * config->dies * config->pages_per_block *
					config->page_bytes / config->mapping_unit_bytes);
	m->old_kept = config->trim_reads == SIM_READS_OLD;
	random_init(&m->random, config->seed ^ 0x6d6170);
	count_blocks(m, config);
	m->block_magic = UINT64_MAX / m->units_per_block + 1;
	m->l2p = map_memory(m, (uint64_t)m->units * sizeof(*m->l2p));
	m->p2l = map_memory(m, (uint64_t)m->slots * sizeof(*m->p2l));
	m->live = map_memory(m, ((uint64_t)m->slots + 127) / 64 * 8);
	if (config->streams == SIM_STREAMS_HOT_COLD) {
		for (int i = 0; i < 2; i++)
			m->recent[i] = map_memory(m, ((uint64_t)m->units + 63) / 64 * 8);
		/* A unit is hot when rewritten within an eighth to a quarter of a fill. */
		m->recent_window = m->recent_left = m->units / 8 + 1;
	}
	if (!m->l2p || !m->p2l || !m->live || allocate_blocks(m) < 0 ||
	    (m->recent_window && (!m->recent[0] || !m->recent[1])))
		return err_set(err, -ENOMEM, "sim: no memory for a map of %u units", m->units);
	map_clear(m);
	return 0;
}

void map_done(struct map *m)
{
	unmap_memory(m->l2p, (uint64_t)m->units * sizeof(*m->l2p));
	unmap_memory(m->p2l, (uint64_t)m->slots * sizeof(*m->p2l));
	unmap_memory(m->live, ((uint64_t)m->slots + 127) / 64 * 8);
	for (int i = 0; i < 2; i++)
		unmap_memory(m->recent[i], ((uint64_t)m->units + 63) / 64 * 8);
	free(m->valid);
	free(m->group_min);
	free(m->super_min);
	free(m->filled);
	free(m->erases);
	free(m->closed_at);
	free(m->use);
	free(m->slc);
	free(m->free.items);
	free(m->closed.items);
	free(m->closed_slc.items);
	free(m->data_block);
	free(m->open);
	memset(m, 0, sizeof(*m));
}

/* --- places --------------------------------------------------------------------------- */

uint32_t map_free_take(struct map *m)
{
	const uint32_t block = ring32_shift(&m->free);

	assert(m->use[block] == USE_FREE && m->filled[block] == 0);
	m->use[block] = USE_OPEN;
	return block;
}

/* The block holds nothing live. A block that was never programmed needs no erase. */
void map_free_give(struct map *m, uint32_t block)
{
	assert((m->valid[block] & ~HELD) == 0);
	if (m->old_kept) {
		const uint32_t first = block * m->units_per_block;

		for (uint32_t slot = first; slot < first + m->units_per_block; slot++) {
			const uint32_t unit = m->p2l[slot];

			if (unit != NO_UNIT && unit < m->units && m->l2p[unit] == (slot | GHOST))
				m->l2p[unit] = NO_UNIT;
		}
	}
	gc_hold(m, block);
	if (m->slc[block]) {
		m->slc[block] = 0;
		m->slc_blocks--;
	}
	if (m->filled[block]) {
		m->erases[block]++;
		m->erase_total++;
		m->erase_max = m->erases[block] > m->erase_max ? m->erases[block] : m->erase_max;
		if (m->flash)
			flash_erase(m->flash, block);
	}
	m->filled[block] = 0;
	m->use[block] = USE_FREE;
	ring32_push(&m->free, block);
}

void map_block_close(struct map *m, uint32_t block)
{
	assert(m->use[block] == USE_OPEN);
	m->use[block] = USE_CLOSED;
	m->closed_at[block] = m->close_clock++;
	if (m->slc[block]) {
		ring32_push(&m->closed_slc, block);
		return;		/* stays HELD: emptied in order, never picked */
	}
	m->valid[block] &= ~HELD;
	gc_lower(m, block, m->valid[block]);
	if (keeps_order(m))
		ring32_push(&m->closed, block);
}

/* Marks the slot as the unit's current copy; what was current before is dealt with. */
void map_put(struct map *m, uint32_t unit, uint32_t slot)
{
	const uint32_t block = slot_block(m, slot);

	m->p2l[slot] = unit;
	m->l2p[unit] = slot;
	m->live[slot >> 6] |= 1ull << (slot & 63);
	m->valid[block]++;
	m->filled[block]++;
	m->placed_units++;
}

void map_pad_slot(struct map *m, uint32_t slot)
{
	m->p2l[slot] = NO_UNIT;
	m->filled[slot_block(m, slot)]++;
	m->pad_units++;
}

static void frontier_close(struct map *m, struct frontier *f)
{
	if (f->block == NO_BLOCK)
		return;
	assert(f->next == f->end);
	map_block_close(m, f->block);
	f->block = NO_BLOCK;
}

static void frontier_open(struct map *m, enum stream stream)
{
	struct frontier *f = &m->frontiers[stream];

	f->block = map_free_take(m);
	f->next = f->block * m->units_per_block;
	f->end = f->next + m->units_per_block;
	if (stream == STREAM_SLC) {
		f->end = f->next + m->slc_units_per_block;
		m->slc[f->block] = 1;
		m->slc_blocks++;
	}
}

/* Host streams made room before; a copy may use the reserve. */
void map_frontier_turn(struct map *m, enum stream stream)
{
	frontier_close(m, &m->frontiers[stream]);
	frontier_open(m, stream);
}

static inline uint32_t frontier_take(struct map *m, enum stream stream)
{
	struct frontier *f = &m->frontiers[stream];

	if (f->next == f->end)
		map_frontier_turn(m, stream);
	return f->next++;
}

static inline void place(struct map *m, uint32_t unit, enum stream stream)
{
	const uint32_t slot = frontier_take(m, stream);

	map_put(m, unit, slot);
	if (m->flash)
		flash_placed(m->flash, slot, stream);
}

/* --- cleaning ------------------------------------------------------------------------- */

static enum stream copy_stream(const struct map *m)
{
	return m->config->streams == SIM_STREAMS_MIXED ? STREAM_HOST : STREAM_COPY;
}

static bool is_recent(const struct map *m, uint32_t unit)
{
	const uint64_t bit = 1ull << (unit & 63);

	return (m->recent[0][unit >> 6] | m->recent[1][unit >> 6]) & bit;
}

/* Moves the live slots of one bitmap word, given as bits of it. */
static void move_word(struct map *m, uint32_t first, uint64_t bits, enum stream to)
{
	uint32_t slots[64];
	size_t count = 0;

	for (; bits; bits &= bits - 1)
		slots[count++] = first + (uint32_t)__builtin_ctzll(bits);
	if (m->flash)
		flash_copy_read(m->flash, slots, count);
	for (size_t i = 0; i < count; i++) {
		const uint32_t unit = m->p2l[slots[i]];

		if (m->recent_window && is_recent(m, unit))
			place(m, unit, STREAM_HOST);
		else
			place(m, unit, to);
	}
}

static void prefetch_word(const struct map *m, uint32_t first, uint64_t bits)
{
	for (; bits; bits &= bits - 1)
		__builtin_prefetch(&m->l2p[m->p2l[first + (uint32_t)__builtin_ctzll(bits)]], 1);
}

static void move_singly(struct map *m, uint32_t block, enum stream to)
{
	const uint32_t first = block * m->units_per_block;
	const uint32_t last_word = (first + m->units_per_block - 1) >> 6;
	uint32_t word = first >> 6;
	uint64_t bits = map_block_bits(m, block, word);

	for (; word <= last_word; word++) {
		const uint64_t next = word < last_word ? map_block_bits(m, block, word + 1) : 0;

		/* The moved bits go before the new ones are set: both may share the word. */
		m->live[word] &= ~bits;
		prefetch_word(m, (word + 1) << 6, next);
		move_word(m, word << 6, bits, to);
		bits = next;
	}
}

/* The first KiB of a row; the processor sees by itself that it goes on. */
static void fetch_row(const struct map *m, uint32_t block)
{
	const uint32_t first = block * m->units_per_block;
	const uint32_t count = m->units_per_block < 256 ? m->units_per_block : 256;

	for (uint32_t i = 0; i < count; i += 16)
		__builtin_prefetch(&m->p2l[first + i]);
}

/* Copies what lives in the block and erases it. False: nothing was gained, all was live. */
bool map_collect(struct map *m, uint32_t block, enum stream to)
{
	const uint32_t live = m->valid[block] & ~HELD;
	const uint32_t filled = m->filled[block];

	assert(m->use[block] == USE_CLOSED);
	fetch_row(m, block);
	if (m->slc[block])
		ring32_remove(&m->closed_slc, block);
	else if (keeps_order(m))
		ring32_remove(&m->closed, block);
	gc_hold(m, block);
	m->moving = true;
	if (m->flash || m->recent_window)
		move_singly(m, block, to);
	else
		bulk_move(m, block, to);
	m->moving = false;
	m->valid[block] = HELD;
	map_free_give(m, block);
	return live < filled;
}

/*
 * Interleaved cleaning: the victim is emptied along with the host writes that its space
 * will take, into the same frontier. As many copies go before each write as it takes to be
 * done when the frontier is full.
 */
static void victim_start(struct map *m, uint32_t block)
{
	assert(m->victim == NO_BLOCK && m->use[block] == USE_CLOSED);
	if (keeps_order(m))
		ring32_remove(&m->closed, block);
	gc_hold(m, block);
	m->victim = block;
	m->victim_word = (uint32_t)((uint64_t)block * m->units_per_block >> 6);
}

static void victim_move(struct map *m, uint32_t count)
{
	const uint32_t block = m->victim;
	uint64_t bits;
	uint32_t slot;

	m->moving = true;
	for (; count > 0; count--) {
		while (!(bits = map_block_bits(m, block, m->victim_word)))
			m->victim_word++;
		slot = (m->victim_word << 6) + (uint32_t)__builtin_ctzll(bits);
		map_read_for_copy(m, slot);
		map_invalidate(m, slot);
		place(m, m->p2l[slot], STREAM_HOST);
		m->copied_units++;
	}
	m->moving = false;
	if (m->valid[block] == HELD) {
		m->victim = NO_BLOCK;
		map_free_give(m, block);
	}
}

static void victim_finish(struct map *m)
{
	if (m->victim != NO_BLOCK)
		victim_move(m, m->valid[m->victim] & ~HELD);
}

static void victim_step(struct map *m)
{
	const struct frontier *f = &m->frontiers[STREAM_HOST];
	const uint32_t live = m->valid[m->victim] & ~HELD, room = f->end - f->next;
	const uint32_t writes = room > live ? room - live : 1;

	m->interleaving = true;
	victim_move(m, (live + writes - 1) / writes);
	m->interleaving = false;
}

/* Static wear levelling: now and then a block that has been left alone is moved. */
static bool level_wear(struct map *m)
{
	const uint64_t spread = m->config->wear_spread_count;

	if (!spread || m->erase_total % 16)
		return false;
	for (int i = 0; i < 64; i++) {
		const uint32_t block = m->wear_cursor;

		m->wear_cursor = (block + 1) % m->blocks;
		if (m->use[block] != USE_CLOSED || m->slc[block] ||
		    m->erases[block] + spread >= m->erase_max)
			continue;
		m->copied_units += m->valid[block];
		map_collect(m, block, copy_stream(m));
		return true;
	}
	return false;
}

static void clean(struct map *m)
{
	uint32_t block;

	if (level_wear(m))
		return;
	block = gc_pick(m);
	assert(block != NO_BLOCK);
	m->copied_units += m->valid[block];
	map_collect(m, block, copy_stream(m));
}

static void fold(struct map *m)
{
	const uint32_t block = ring32_at(&m->closed_slc, 0);

	m->folded_units += m->valid[block] & ~HELD;
	map_collect(m, block, copy_stream(m));
}

uint32_t map_slc_limit_blocks(const struct map *m)
{
	uint64_t units;

	if (m->config->slc == SIM_SLC_STATIC)
		return m->slc_static;
	units = (uint64_t)m->slc_limit_units * (m->units - m->mapped) / m->units;
	return (uint32_t)(units / m->slc_units_per_block);
}

/* Free blocks that host data in native cells may not take. */
static uint32_t kept_free(const struct map *m)
{
	uint32_t kept = m->reserve;

	if (m->slc_static > m->slc_blocks)
		kept += m->slc_static - m->slc_blocks;
	return kept;
}

static bool slc_has_room(struct map *m)
{
	struct frontier *f = &m->frontiers[STREAM_SLC];

	if (f->next < f->end)
		return true;
	if (m->config->slc == SIM_SLC_STATIC)
		return m->slc_blocks < m->slc_static && m->free.count > m->reserve;
	return m->slc_blocks < map_slc_limit_blocks(m) && m->free.count > m->reserve + 2;
}

static enum stream host_stream(struct map *m, uint32_t unit)
{
	if (m->config->slc != SIM_SLC_OFF && !m->slc_paused) {
		if (slc_has_room(m))
			return STREAM_SLC;
		if (m->config->slc_full_fold && m->closed_slc.count &&
		    m->free.count >= m->reserve) {
			fold(m);
			if (slc_has_room(m))
				return STREAM_SLC;
		}
	}
	if (m->recent_window)
		return is_recent(m, unit) ? STREAM_HOST : STREAM_COPY;
	return STREAM_HOST;
}

static void note_recent(struct map *m, uint32_t unit)
{
	m->recent[0][unit >> 6] |= 1ull << (unit & 63);
	if (--m->recent_left == 0) {
		uint64_t *oldest = m->recent[1];

		m->recent[1] = m->recent[0];
		m->recent[0] = oldest;
		memset(oldest, 0, ((uint64_t)m->units + 63) / 64 * 8);
		m->recent_left = m->recent_window;
	}
}

/* Opens the frontier and the victim that shares it; false: not now, or nothing to gain. */
static bool interleave_begin(struct map *m)
{
	uint32_t block;

	if (!m->config->gc_interleave || m->free.count != kept_free(m) || level_wear(m))
		return false;
	block = gc_pick(m);
	if (block == NO_BLOCK || m->valid[block] == m->units_per_block)
		return false;
	frontier_open(m, STREAM_HOST);
	victim_start(m, block);
	return true;
}

/* A frontier with room for a host unit: cleans until there is a block to open. */
static void make_room(struct map *m, enum stream stream)
{
	struct frontier *f = &m->frontiers[stream];
	uint32_t rounds = 0;

	while (f->next == f->end || (m->free.count < m->reserve && m->victim == NO_BLOCK)) {
		if (f->next == f->end)
			frontier_close(m, f);
		victim_finish(m);
		if (stream == STREAM_HOST && f->next == f->end && interleave_begin(m))
			break;
		if (f->next == f->end && (m->free.count > kept_free(m) ||
		    (stream == STREAM_SLC && m->free.count > m->reserve)))
			frontier_open(m, stream);
		else if (m->closed_slc.count && m->config->slc == SIM_SLC_DYNAMIC)
			fold(m);
		else
			clean(m);
		/* Random victims may be full many times over, but not forever. */
		assert(++rounds < 64 * m->blocks + 1024);
	}
}

static inline void write_page_mapped(struct map *m, uint32_t unit)
{
	const uint32_t old = m->l2p[unit];
	enum stream stream = STREAM_HOST;

	if (!(old & GHOST))
		map_invalidate(m, old);
	else
		m->mapped++;
	/* In flight: neither the old place nor yet the new one, should cleaning come now. */
	m->l2p[unit] = NO_UNIT;
	m->host_units++;
	if (m->config->slc != SIM_SLC_OFF || m->recent_window)
		stream = host_stream(m, unit);
	if (m->victim != NO_BLOCK && stream == STREAM_HOST)
		victim_step(m);
	if (m->frontiers[stream].next == m->frontiers[stream].end ||
	    (m->free.count < m->reserve && m->victim == NO_BLOCK))
		make_room(m, stream);
	place(m, unit, stream);
	if (m->recent_window)
		note_recent(m, unit);
}

void map_write(struct map *m, uint32_t unit, uint32_t run_units)
{
	assert(unit < m->units);
	if (m->config->mapping == SIM_MAPPING_PAGE)
		write_page_mapped(m, unit);
	else if (m->config->mapping == SIM_MAPPING_HYBRID)
		map_hybrid_write(m, unit, run_units);
	else
		map_block_write(m, unit);
}

void map_write_many(struct map *m, const uint32_t *units, size_t count, uint32_t run_units)
{
	const bool is_simple = m->config->mapping == SIM_MAPPING_PAGE && !m->flash &&
		!m->recent_window && (m->config->slc == SIM_SLC_OFF || m->slc_paused);
	size_t i = 0;

	while (i < count) {
		if (is_simple && m->victim == NO_BLOCK && m->free.count >= m->reserve)
			i += bulk_write(m, units + i, count - i);
		/* The frontier is full: this one makes room. */
		if (i < count)
			map_write(m, units[i++], run_units);
	}
}

void map_unmap(struct map *m, uint32_t unit)
{
	const uint32_t slot = m->l2p[unit];

	assert(unit < m->units);
	if (slot & GHOST)
		return;
	map_invalidate(m, slot);
	m->l2p[unit] = m->old_kept ? slot | GHOST : NO_UNIT;
	m->mapped--;
	if (m->config->mapping != SIM_MAPPING_PAGE)
		map_log_unmapped(m, unit, slot_block(m, slot));
}

/* --- when idle ------------------------------------------------------------------------ */

uint32_t map_spare_blocks(const struct map *m)
{
	const uint32_t needed = (m->units + m->units_per_block - 1) / m->units_per_block;

	return m->blocks > needed ? m->blocks - needed : 0;
}

bool map_clean_once(struct map *m, uint32_t free_wanted)
{
	uint32_t block;

	victim_finish(m);
	if (m->config->mapping != SIM_MAPPING_PAGE || m->free.count < m->reserve ||
	    m->free.count >= free_wanted)
		return false;
	block = gc_pick(m);
	/* Not worth wearing the flash for less than one part in 32 of a block. */
	if (block == NO_BLOCK ||
	    m->valid[block] + (m->units_per_block + 31) / 32 > m->units_per_block)
		return false;
	m->copied_units += m->valid[block];
	return map_collect(m, block, copy_stream(m));
}

bool map_fold_once(struct map *m)
{
	struct frontier *f = &m->frontiers[STREAM_SLC];

	victim_finish(m);
	if (f->next == f->end)
		frontier_close(m, f);
	if (m->closed_slc.count == 0 || m->free.count < m->reserve)
		return false;
	fold(m);
	return true;
}
