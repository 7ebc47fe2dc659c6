/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * drive - the inside of the reference drive, shared by the files of this folder only.
 *
 *	struct map	where every mapping unit lies; knows addresses, not time
 *	struct flash	when dies, channels and the write buffer are busy; knows time
 *	struct content	what was written, sparse, by 4 KiB page
 *	struct sim	the whole, and everything small: link, firmware, heat, faults
 *
 * A unit is what the map maps (logical number: unit; physical place: slot). A block is
 * what is cleaned and erased at once: pages_per_block pages on every die. A page is
 * programmed at once on one die; it holds units_per_page units, or a unit takes
 * pages_per_unit pages on neighbouring dies.
 */

#include <assert.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/units.h"
#include "sim/sim.h"

#define PS_PER_NS 1000ull
#define NO_UNIT UINT32_MAX	/* l2p: nothing there; p2l: padding */
#define GHOST 0x80000000u	/* l2p: trimmed, old data still at the slot below this bit */
#define HELD 0x80000000u	/* valid[]: not a candidate for cleaning */
#define NO_BLOCK UINT32_MAX
#define PENDING UINT64_MAX	/* ring: not yet programmed */

enum stream { STREAM_HOST, STREAM_COPY, STREAM_SLC, STREAM_COUNT };
enum block_use { USE_FREE, USE_OPEN, USE_CLOSED };

/* --- map ------------------------------------------------------------------------------ */

struct flash;

struct frontier {
	uint32_t block, next, end;	/* slots; next == end: full, or never opened */
};

struct ring32 {
	uint32_t *items;
	uint32_t size, head, count;
};

struct replacement {		/* block mapping: a logical block being rewritten in order */
	uint32_t logical, block, next;
	uint64_t used;
};

struct map {
	uint32_t *l2p;		/* unit -> slot, slot | GHOST, or NO_UNIT */
	uint32_t *p2l;		/* slot -> unit that was last put there */
	uint64_t *live;		/* bit per slot: holds the current copy of its unit */
	uint32_t *valid;	/* block -> live slots, | HELD unless closed */
	uint32_t *group_min;	/* least valid[] of 64 neighbouring blocks */
	uint32_t *super_min;	/* least group_min[] of 64 neighbouring groups */
	uint32_t *filled;	/* block -> slots programmed since its erase, pads included */
	uint32_t *erases, *closed_at;
	uint8_t *use, *slc;	/* enum block_use; written in SLC mode */
	uint64_t *recent[2];	/* bit per unit: written in this window, in the last one */
	struct ring32 free, closed, closed_slc;
	struct frontier frontiers[STREAM_COUNT];
	uint32_t units, slots, blocks, units_per_block;
	uint64_t block_magic;	/* slot * magic >> 64 = block */
	uint32_t usable_blocks;	/* user capacity and spare, nothing else */
	uint32_t reserve;	/* free blocks kept for cleaning */
	uint32_t slc_static, slc_blocks, slc_units_per_block, slc_limit_units;
	uint32_t close_clock, erase_max, wear_cursor, pick_cursor;
	uint32_t recent_left, recent_window;
	uint32_t victim, victim_word;	/* being emptied, interleaved with host writes */
	bool interleaving;	/* copies that go with the host's write */
	bool moving;		/* copies, not host writes, are being placed */
	bool old_kept;		/* discarded data can be read until cleaned */
	bool slc_paused;	/* while a state is being built */
	uint64_t mapped;	/* units with a current copy */
	uint64_t host_units, copied_units, folded_units, pad_units, erase_total, placed_units;
	const struct sim_config *config;
	struct random random;
	struct flash *flash;	/* NULL: no time */
	uint64_t memory_bytes;

	/* Block and hybrid mapping. */
	uint32_t logical_blocks;
	uint32_t *data_block;	/* logical block -> block, or NO_BLOCK */
	struct replacement *open;
	uint32_t open_count, log_blocks_max, log_blocks;
	struct replacement sequential;	/* hybrid: the log block written in order */
	uint64_t open_clock;
};

int map_init(struct map *m, const struct sim_config *config, struct err *err);
void map_done(struct map *m);
void map_clear(struct map *m);		/* everything erased, wear kept */
/* run_units: of the request, from here on; a long one may be placed otherwise. */
void map_write(struct map *m, uint32_t unit, uint32_t run_units);
void map_unmap(struct map *m, uint32_t unit);
void map_write_many(struct map *m, const uint32_t *units, size_t count, uint32_t run_units);
void map_set_state(struct map *m, enum sim_state state);

/* In bulk: no time, no streams, no SLC. Writes until the frontier is full: how many. */
size_t bulk_write(struct map *m, const uint32_t *units, size_t count);
void bulk_move(struct map *m, uint32_t block, enum stream to);
void map_frontier_turn(struct map *m, enum stream stream);	/* closes it, opens a free block */

/* Idle work, one block each; false when there is nothing worth doing. */
bool map_clean_once(struct map *m, uint32_t free_wanted);
bool map_fold_once(struct map *m);
uint32_t map_slc_limit_blocks(const struct map *m);
uint32_t map_spare_blocks(const struct map *m);

/* For the other mappings. */
uint32_t map_free_take(struct map *m);
void map_free_give(struct map *m, uint32_t block);	/* erases */
void map_put(struct map *m, uint32_t unit, uint32_t slot);
void map_pad_slot(struct map *m, uint32_t slot);
void map_block_close(struct map *m, uint32_t block);
bool map_collect(struct map *m, uint32_t block, enum stream to);
void map_read_for_copy(struct map *m, uint32_t slot);
uint32_t gc_pick(struct map *m);		/* NO_BLOCK if no block is closed */
void gc_hold(struct map *m, uint32_t block);	/* HELD: no candidate any more */
void map_hybrid_write(struct map *m, uint32_t unit, uint32_t run_units);
void map_block_write(struct map *m, uint32_t unit);
void map_log_unmapped(struct map *m, uint32_t unit, uint32_t block);
bool map_consistent(const struct map *m, const char **ret);

static inline uint32_t slot_block(const struct map *m, uint32_t slot)
{
	return (uint32_t)(((unsigned __int128)slot * m->block_magic) >> 64);
}

static inline uint32_t gc_supers(const struct map *m)
{
	return (m->blocks + 4095) / 4096;
}

/* A block's valid count fell. */
static inline void gc_lower(struct map *m, uint32_t block, uint32_t valid)
{
	uint32_t *group = &m->group_min[block >> 6], *super = &m->super_min[block >> 12];

	if (valid >= *group)
		return;
	*group = valid;
	if (valid < *super)
		*super = valid;
}

/* The slot no longer holds the current copy of its unit. */
static inline void map_invalidate(struct map *m, uint32_t slot)
{
	const uint32_t block = slot_block(m, slot);
	const uint32_t valid = --m->valid[block];

	assert((valid & ~HELD) < m->units_per_block);
	m->live[slot >> 6] &= ~(1ull << (slot & 63));
	gc_lower(m, block, valid);
}

/* Live bits of a bitmap word that belong to the block. */
static inline uint64_t map_block_bits(const struct map *m, uint32_t block, uint32_t word)
{
	const uint64_t first = (uint64_t)block * m->units_per_block;
	const uint64_t end = first + m->units_per_block;
	const uint64_t base = (uint64_t)word << 6;
	uint64_t bits = m->live[word];

	if (base < first)
		bits &= UINT64_MAX << (first - base);
	if (base + 64 > end)
		bits &= UINT64_MAX >> (base + 64 - end);
	return bits;
}

static inline bool map_is_mapped(const struct map *m, uint32_t unit)
{
	return !(m->l2p[unit] & GHOST);
}

static inline uint32_t ring32_at(const struct ring32 *r, uint32_t i)
{
	return r->items[(r->head + i) % r->size];
}

/* --- flash ---------------------------------------------------------------------------- */

struct die {
	uint64_t free_ps;	/* when everything booked is finished */
	uint64_t debt_ps;	/* cleaning work not yet booked */
	uint64_t step_ps;	/* length of the last operation booked */
	uint32_t last_page;	/* last one read, for cached reads */
};

struct channel {
	uint64_t free_ps, debt_ps;
};

struct pending {
	uint64_t *seqs;
	uint32_t count;
};

struct buffered {
	uint32_t unit;
	uint64_t seq;
};

struct flash {
	struct die *dies;
	struct channel *channels;
	uint32_t die_count, channel_count;
	uint32_t units_per_page, pages_per_unit, pages_per_die_block;
	uint32_t unit_bytes, units_shift, pages_shift;	/* log2 of the two above */
	uint64_t page_bytes, die_magic;
	uint8_t *die_channel;
	bool has_slc;
	uint64_t copy_transfer_ps, page_transfer_ps;
	uint64_t read_ps, read_next_ps, program_ps, erase_ps, slc_read_ps, slc_program_ps;
	uint64_t byte_ps_q10;	/* channel: picoseconds * 1024 for a byte */
	uint64_t copy_cpu_ps, spread_ppm;
	uint32_t cell_bits;
	uint32_t slow_ppm;	/* throttling: 1000000 = normal */
	uint64_t cpu_debt_ps;
	uint64_t debt_total_ps;
	uint64_t base_ps, now_ps;	/* the host write being placed: admitted; data there */
	uint64_t busy_ps;	/* when everything booked is finished */
	enum sim_priority read_priority;
	bool burst;
	bool quiet;		/* place without time: building a state */

	/* The write buffer: completion of the last ring_size host units, by number. */
	uint64_t *ring;
	uint32_t ring_size;
	uint64_t seq;		/* of the unit being placed */
	struct pending pending[STREAM_COUNT];
	struct buffered *index;
	uint32_t index_mask;

	uint64_t pages_read, pages_programmed;	/* energy and flash bytes */
	uint64_t read_bytes, programmed_bytes;
	struct map *map;
};

int flash_init(struct flash *f, const struct sim_config *config, struct map *map,
	       struct err *err);
void flash_done(struct flash *f);
/* Hooks of the map. */
void flash_placed(struct flash *f, uint32_t slot, enum stream stream);
void flash_copy_read(struct flash *f, const uint32_t *slots, size_t count);
void flash_erase(struct flash *f, uint32_t block);
/* The host's side. Times in, times out. */
uint64_t flash_read(struct flash *f, uint64_t t_ps, uint32_t slot, uint64_t from_bytes,
		    uint64_t length_bytes);
uint64_t flash_map_access(struct flash *f, uint64_t t_ps, uint32_t where, bool program);
/* When the next host unit may enter the buffer, not before t; takes its number. */
uint64_t flash_admit(struct flash *f, uint64_t t_ps, uint32_t unit);
void flash_pad(struct flash *f, enum stream stream);
void flash_pad_all(struct flash *f);
/* When the numbered unit is on flash; PENDING while its page is part-filled. */
uint64_t flash_written_ps(const struct flash *f, uint64_t seq);
bool flash_is_buffered(const struct flash *f, uint32_t unit, uint64_t t_ps);
void flash_idle(struct flash *f, uint64_t gap_ps);	/* pays debts */
uint64_t flash_debt_longest(const struct flash *f);
void flash_reset(struct flash *f, uint64_t t_ps);	/* power back: nothing is booked */
uint64_t flash_transfer_ps(const struct flash *f, uint64_t bytes);

/* --- content -------------------------------------------------------------------------- */

#define CONTENT_PAGE 4096u

struct cell {			/* content of 4 KiB */
	uint64_t value;		/* a tag, or a struct mixed pointer */
	bool is_mixed;
};

struct mixed {
	uint64_t tags[8];	/* per 512 bytes; SIM_TAG_BYTES: in bytes */
	unsigned char *bytes;	/* CONTENT_PAGE, or NULL when no tag is SIM_TAG_BYTES */
};

struct content {
	uint64_t *values;	/* by page; never written is SIM_TAG_ZEROS */
	uint64_t *mixed;	/* bit by page: the value is a pointer */
	uint64_t pages;
};

int content_init(struct content *c, uint64_t capacity_bytes, struct err *err);
void content_done(struct content *c);
/* bytes == NULL: the tag. Lengths in multiples of 512; may cross pages. */
void content_write(struct content *c, uint64_t offset, uint64_t length, const void *bytes,
		   uint64_t tag);
uint64_t content_tag(const struct content *c, uint64_t offset);
/* Fills 512 bytes. */
void content_read(const struct content *c, uint64_t offset, unsigned char *ret);
void content_fill_tag(uint64_t tag, unsigned char *ret, size_t length);
struct cell content_take(struct content *c, uint64_t page);	/* owned copy of a page */
void content_put(struct content *c, uint64_t page, struct cell cell);	/* takes it over */
void content_drop(struct cell cell);
void content_flip(struct content *c, uint64_t offset);

/* --- the whole ------------------------------------------------------------------------ */

struct merge {			/* a partly written unit held back in the buffer */
	uint32_t unit;
	uint32_t from, to;	/* bytes of the unit that are known */
	uint64_t age;
	uint64_t last_undo;	/* 1 + number of its newest undo record; 0 = none */
};

struct undo {			/* content before a write that is not on flash yet */
	struct cell old;
	uint64_t page;
	uint64_t seq;		/* host unit number that carries it; PENDING: in a merge */
	uint64_t previous;	/* 1 + number of the merge's record before this one */
	uint64_t request;
	uint32_t unit, in_request, request_pages;
	bool was_mapped;
};

struct write {			/* the part of a request that falls into one unit */
	uint32_t unit, from, to, run_units;
	uint64_t seq;		/* out: the host unit that carries it; PENDING: a merge */
};

struct trim_wait {
	uint64_t first, end;	/* bytes */
	uint64_t due_ps;
};

struct heat {
	int64_t temperature_uc;
	uint64_t at_ps;
	uint64_t energy_nj;	/* since then */
	bool throttled;
};

struct sim {
	struct sim_config config;
	struct map map;
	struct flash flash;
	struct content content;
	struct random random;
	uint64_t now_ps, last_submit_ps, quiet_ps, idled_ps;
	uint64_t heat_pages_programmed, heat_pages_read;

	uint64_t *outstanding;	/* heap of completions, for the queue depth */
	uint32_t outstanding_count;
	uint64_t link_in_ps, link_out_ps, cpu_ps;
	uint64_t link_byte_ps_q10;

	struct merge *merges;
	uint32_t merge_count;
	uint64_t merge_clock;

	struct undo *undo;	/* ring */
	uint64_t undo_head, undo_tail, undo_size, request_number;

	struct trim_wait *waits;
	uint32_t wait_count, wait_room;

	uint32_t *map_cache;	/* clock of translation pages held */
	uint8_t *map_cache_bits;	/* 1 used lately, 2 dirty */
	uint32_t *map_cache_of;	/* translation page -> place + 1 */
	uint32_t map_cache_size, map_cache_hand;

	struct heat heat;
	uint64_t credit_ps, credits_at_ps, bytes_ps;	/* rate limits: times */
	uint64_t *healed;	/* bit per 4 KiB page: rewritten since birth; read errors only */

	uint32_t unit_bytes;
	uint64_t untimed_units;	/* written by sim_write_units */
	struct sim_stats counters, mark;
};

/* Parts of sim_submit, a file each. Times in picoseconds. */
uint64_t sim_cpu(struct sim *s, uint64_t t_ps, uint64_t cost_ns);
uint64_t sim_do_read(struct sim *s, uint64_t t_ps, const struct sim_request *q,
		     struct sim_result *ret);
uint64_t sim_do_write(struct sim *s, uint64_t t_ps, const struct sim_request *q,
		      struct sim_result *ret);
uint64_t sim_do_flush(struct sim *s, uint64_t t_ps);
uint64_t sim_do_trim(struct sim *s, uint64_t t_ps, const struct sim_request *q,
		     struct sim_result *ret);
void trim_apply_due(struct sim *s, uint64_t t_ps, bool all);
void trim_before_write(struct sim *s, uint64_t offset, uint64_t length);
bool trim_is_waiting(const struct sim *s, uint64_t offset, uint64_t *end);
void trim_units(struct sim *s, uint64_t first_byte, uint64_t end_byte);
uint64_t buffer_evict_all(struct sim *s, uint64_t t_ps);
void buffer_forget(struct sim *s, uint32_t unit);
uint64_t buffer_write(struct sim *s, uint64_t t_ps, struct write *w);
uint64_t buffer_evict_unit(struct sim *s, uint64_t t_ps, uint32_t unit);
bool buffer_covers(const struct sim *s, uint32_t unit, uint32_t from, uint32_t to);
bool buffer_holds(const struct sim *s, uint32_t unit);
void buffer_link_undo(struct sim *s, struct undo *record);
uint64_t sim_link_in(struct sim *s, uint64_t t_ps, uint64_t bytes);
uint64_t sim_link_out(struct sim *s, uint64_t t_ps, uint64_t done_ps, uint64_t bytes);
uint64_t map_cache_touch(struct sim *s, uint64_t t_ps, uint32_t unit, bool dirty);
int map_cache_init(struct sim *s, struct err *err);
void heat_step(struct sim *s, uint64_t t_ps);
uint64_t limits_admit(struct sim *s, uint64_t t_ps, uint64_t bytes);
void idle_until(struct sim *s, uint64_t t_ps);
void undo_push(struct sim *s, const struct undo *record);
void undo_trim(struct sim *s);
bool fault_draw(struct sim *s, uint64_t ppm);
bool fault_unreadable(const struct sim *s, uint64_t offset, uint64_t length);
void fault_heal(struct sim *s, uint64_t offset, uint64_t length);
uint64_t block_tag(const struct sim *s, uint64_t offset);

extern const char sim_preset_defaults[];
