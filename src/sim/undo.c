/* SPDX-License-Identifier: MIT */

/*
 * What a power cut takes back. Before a write changes content, the old content goes into a
 * ring, with the number of the host unit that will carry the new one to flash; once that
 * unit is programmed the record is dropped. A cut walks back through what is left.
 */

#include <assert.h>
#include <stdlib.h>

#include "sim/drive.h"

static bool is_durable(const struct sim *s, const struct undo *record, uint64_t t_ps)
{
	return record->seq != PENDING && flash_written_ps(&s->flash, record->seq) <= t_ps;
}

static void undo_pop(struct sim *s)
{
	content_drop(s->undo[s->undo_head % s->undo_size].old);
	s->undo_head++;
}

void undo_trim(struct sim *s)
{
	while (s->undo_head < s->undo_tail &&
	       is_durable(s, &s->undo[s->undo_head % s->undo_size], s->now_ps))
		undo_pop(s);
	/* Full: the oldest may sit in a merge for ever; it goes to flash now. */
	while (s->undo_tail - s->undo_head >= s->undo_size - 1) {
		const struct undo *oldest = &s->undo[s->undo_head % s->undo_size];

		if (oldest->seq == PENDING)
			buffer_evict_unit(s, s->now_ps, oldest->unit);
		undo_pop(s);
	}
}

void undo_push(struct sim *s, const struct undo *record)
{
	struct undo *place = &s->undo[s->undo_tail % s->undo_size];

	assert(s->undo_tail - s->undo_head < s->undo_size);
	*place = *record;
	if (record->seq == PENDING)
		buffer_link_undo(s, place);
	s->undo_tail++;
}

static void restore(struct sim *s, struct undo *record)
{
	content_put(&s->content, record->page, record->old);
	record->old = (struct cell){ 0, false };
	if (!record->was_mapped && map_is_mapped(&s->map, record->unit))
		map_unmap(&s->map, record->unit);
}

/* A torn request: its first pages made it. */
static bool survives_torn(const struct sim *s, const struct undo *record, uint64_t newest)
{
	return s->config.torn_writes && record->request == newest &&
	       record->in_request < record->request_pages / 2;
}

/* Takes back what is not on flash, newest first; returns how many pages. */
static uint64_t take_back(struct sim *s, uint64_t t_ps)
{
	/* A unit on flash carries its older writes, whatever became of their own copies. */
	uint64_t *safe = calloc(s->map.units / 64 + 1, sizeof(*safe));
	uint64_t lost = 0, newest = 0;

	if (!safe)
		abort();
	for (; s->undo_tail > s->undo_head; s->undo_tail--) {
		struct undo *record = &s->undo[(s->undo_tail - 1) % s->undo_size];
		uint64_t *word = &safe[record->unit / 64];
		const uint64_t bit = 1ull << (record->unit % 64);

		if (is_durable(s, record, t_ps))
			*word |= bit;
		if (!(*word & bit) && newest == 0)
			newest = record->request;
		if (!(*word & bit) && !survives_torn(s, record, newest)) {
			restore(s, record);
			lost++;
		}
		content_drop(record->old);
		record->old = (struct cell){ 0, false };
	}
	free(safe);
	return lost;
}

uint64_t sim_power_cut(struct sim *s, uint64_t now_ns)
{
	const uint64_t t_ps = now_ns * PS_PER_NS;
	uint64_t lost;

	assert(t_ps >= s->last_submit_ps);
	idle_until(s, t_ps);
	s->flash.base_ps = s->flash.now_ps = t_ps;
	if (s->config.power_loss_protected)
		buffer_evict_all(s, t_ps);
	lost = take_back(s, t_ps) * (CONTENT_PAGE / s->config.logical_block_bytes);
	s->undo_head = s->undo_tail;
	s->merge_count = 0;
	s->wait_count = 0;
	flash_reset(&s->flash, t_ps);
	s->outstanding_count = 0;
	s->link_in_ps = s->link_out_ps = s->cpu_ps = s->quiet_ps = t_ps;
	s->now_ps = s->last_submit_ps = t_ps;
	return lost;
}
