/* SPDX-License-Identifier: MIT */

/*
 * Writes on their way to flash. A whole mapping unit enters the buffer and is placed. Part
 * of a unit is held back in a merge, in the hope that the rest follows (a misaligned
 * sequential stream, records smaller than the unit); a merge that must go before it is
 * whole costs a read-modify-write. Only one interval of a unit is merged.
 */

#include <assert.h>

#include "sim/drive.h"

static struct merge *merge_find(struct sim *s, uint32_t unit)
{
	for (uint32_t i = 0; i < s->merge_count; i++) {
		if (s->merges[i].unit == unit)
			return &s->merges[i];
	}
	return NULL;
}

/* The undo records of a merge learn which host unit carries them. */
static void merge_leave(struct sim *s, struct merge *merge, uint64_t seq)
{
	uint64_t next = merge->last_undo;

	while (next > s->undo_head) {
		struct undo *record = &s->undo[(next - 1) % s->undo_size];

		record->seq = seq;
		next = record->previous;
	}
	*merge = s->merges[--s->merge_count];
}

void buffer_forget(struct sim *s, uint32_t unit)
{
	struct merge *merge = merge_find(s, unit);

	if (merge)
		merge_leave(s, merge, 0);	/* discarded: nothing left to lose */
}

static uint64_t place_unit(struct sim *s, uint64_t t_ps, uint64_t data_ps, struct write *w)
{
	struct merge *merge = s->merge_count ? merge_find(s, w->unit) : NULL;

	t_ps = flash_admit(&s->flash, t_ps, w->unit);
	if (merge)
		merge_leave(s, merge, s->flash.seq - 1);
	if (data_ps > s->flash.now_ps)
		s->flash.now_ps = data_ps;
	map_write(&s->map, w->unit, w->run_units);
	w->seq = s->flash.seq - 1;
	return t_ps;
}

/* Reads what the write does not bring, if there is anything to read; then places it. */
static uint64_t read_modify_write(struct sim *s, uint64_t t_ps, struct write *w)
{
	uint64_t data_ps = t_ps;

	if (map_is_mapped(&s->map, w->unit) && !flash_is_buffered(&s->flash, w->unit, t_ps)) {
		data_ps = flash_read(&s->flash, t_ps, s->map.l2p[w->unit], 0, s->unit_bytes);
		s->counters.rmw_reads++;
		if (s->config.rmw_blocking) {
			s->cpu_ps = data_ps > s->cpu_ps ? data_ps : s->cpu_ps;
			t_ps = data_ps;
		}
	}
	return place_unit(s, t_ps, data_ps, w);
}

static uint64_t merge_evict(struct sim *s, uint64_t t_ps, const struct merge *merge)
{
	struct write w = { .unit = merge->unit, .run_units = 1 };

	return read_modify_write(s, t_ps, &w);
}

static uint64_t merge_evict_oldest(struct sim *s, uint64_t t_ps)
{
	const struct merge *oldest = &s->merges[0];

	for (uint32_t i = 1; i < s->merge_count; i++) {
		if (s->merges[i].age < oldest->age)
			oldest = &s->merges[i];
	}
	return merge_evict(s, t_ps, oldest);
}

uint64_t buffer_evict_all(struct sim *s, uint64_t t_ps)
{
	while (s->merge_count > 0) {
		const uint64_t then = merge_evict_oldest(s, t_ps);

		t_ps = then > t_ps ? then : t_ps;
	}
	return t_ps;
}

uint64_t buffer_evict_unit(struct sim *s, uint64_t t_ps, uint32_t unit)
{
	const struct merge *merge = merge_find(s, unit);

	return merge ? merge_evict(s, t_ps, merge) : t_ps;
}

bool buffer_covers(const struct sim *s, uint32_t unit, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < s->merge_count; i++) {
		const struct merge *merge = &s->merges[i];

		if (merge->unit == unit)
			return merge->from <= from && to <= merge->to;
	}
	return false;
}

bool buffer_holds(const struct sim *s, uint32_t unit)
{
	for (uint32_t i = 0; i < s->merge_count; i++) {
		if (s->merges[i].unit == unit)
			return true;
	}
	return false;
}

static uint64_t merge_join(struct sim *s, uint64_t t_ps, struct merge *merge, struct write *w)
{
	s->counters.merged_writes++;
	if (w->from > merge->to || w->to < merge->from)
		return read_modify_write(s, t_ps, w);	/* two pieces with a gap: read it */
	merge->from = w->from < merge->from ? w->from : merge->from;
	merge->to = w->to > merge->to ? w->to : merge->to;
	if (merge->from == 0 && merge->to == s->unit_bytes)
		return place_unit(s, t_ps, t_ps, w);
	w->seq = PENDING;
	return t_ps;
}

static uint64_t write_part(struct sim *s, uint64_t t_ps, struct write *w)
{
	struct merge *merge = merge_find(s, w->unit);

	t_ps = sim_cpu(s, t_ps, s->config.cpu_partial_ns);
	if (merge)
		return merge_join(s, t_ps, merge, w);
	if (s->config.merge_count == 0 || s->config.buffer_bytes == 0)
		return read_modify_write(s, t_ps, w);
	if (s->merge_count == s->config.merge_count)
		t_ps = merge_evict_oldest(s, t_ps);
	s->merges[s->merge_count++] = (struct merge){ .unit = w->unit, .from = w->from,
						      .to = w->to, .age = s->merge_clock++ };
	w->seq = PENDING;
	return t_ps;
}

uint64_t buffer_write(struct sim *s, uint64_t t_ps, struct write *w)
{
	assert(w->from < w->to && w->to <= s->unit_bytes);
	if (w->from == 0 && w->to == s->unit_bytes)
		return place_unit(s, t_ps, t_ps, w);
	return write_part(s, t_ps, w);
}

/* Links the newest undo record to the merge that holds its unit. */
void buffer_link_undo(struct sim *s, struct undo *record)
{
	struct merge *merge = merge_find(s, record->unit);

	assert(merge && record->seq == PENDING);
	record->previous = merge->last_undo;
	merge->last_undo = s->undo_tail + 1;
}
