/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>

#include "sim/drive.h"

static bool keeps_undo(const struct sim *s)
{
	return s->config.content && !s->config.power_loss_protected;
}

/* Firmware time owed for copies, spread like the flash's own debt. */
static uint64_t cpu_debt_share(struct sim *s)
{
	struct flash *f = &s->flash;
	const struct frontier *host = &s->map.frontiers[STREAM_HOST];
	const uint64_t shares = f->burst ? 1 : host->end - host->next + 1;
	const uint64_t part = (f->cpu_debt_ps + shares - 1) / shares;

	f->cpu_debt_ps -= part;
	return part;
}

/*
 * What is left of a unit that a partial write makes current: a drive that forgot the unit
 * finds what its reads of forgotten units return; one that keeps old data finds that.
 */
static void fill_rest(struct sim *s, uint32_t unit)
{
	const uint64_t offset = (uint64_t)unit * s->unit_bytes;
	uint64_t tag = SIM_TAG_ZEROS;

	if (s->map.l2p[unit] != NO_UNIT)
		return;
	if (s->config.trim_reads == SIM_READS_ONES)
		tag = SIM_TAG_ONES;
	content_write(&s->content, offset, s->unit_bytes, NULL, tag);
}

static void remember(struct sim *s, const struct write *w, struct undo *record)
{
	const uint64_t first = ((uint64_t)w->unit * s->unit_bytes + w->from) / CONTENT_PAGE;
	const uint64_t last = ((uint64_t)w->unit * s->unit_bytes + w->to - 1) / CONTENT_PAGE;

	record->unit = w->unit;
	record->seq = w->seq;
	for (uint64_t page = first; page <= last; page++) {
		undo_trim(s);
		/* The trim may have sent this very merge to flash. */
		if (record->seq == PENDING && !buffer_holds(s, w->unit))
			record->seq = s->flash.seq - 1;
		record->page = page;
		record->old = content_take(&s->content, page);
		undo_push(s, record);
		record->in_request++;
	}
}

static uint64_t write_piece(struct sim *s, uint64_t t_ps, struct write *w, struct undo *record)
{
	const bool content = s->config.content;
	const bool whole = w->from == 0 && w->to == s->unit_bytes;

	record->was_mapped = map_is_mapped(&s->map, w->unit) || buffer_holds(s, w->unit);
	/* A cut must not bring back what was forgotten: then the whole unit is blanked. */
	if (content && !record->was_mapped && (!whole || keeps_undo(s)))
		fill_rest(s, w->unit);
	t_ps = map_cache_touch(s, t_ps, w->unit, true);
	t_ps = buffer_write(s, t_ps, w);
	if (keeps_undo(s))
		remember(s, w, record);
	return t_ps;
}

static uint64_t write_units(struct sim *s, uint64_t t_ps, const struct sim_request *q)
{
	const uint64_t end = q->offset_bytes + q->length_bytes;
	struct undo record = { .request = ++s->request_number };
	struct write w = { 0 };

	record.request_pages = (uint32_t)((end + CONTENT_PAGE - 1) / CONTENT_PAGE -
					  q->offset_bytes / CONTENT_PAGE);
	for (uint64_t at = q->offset_bytes; at < end;) {
		const uint64_t unit_end = (at / s->unit_bytes + 1) * s->unit_bytes;
		const uint64_t upto = unit_end < end ? unit_end : end;

		w.unit = (uint32_t)(at / s->unit_bytes);
		w.from = (uint32_t)(at % s->unit_bytes);
		w.to = w.from + (uint32_t)(upto - at);
		w.run_units = (uint32_t)((end - at) / s->unit_bytes);
		t_ps = write_piece(s, t_ps, &w, &record);
		if (s->config.content)
			content_write(&s->content, at, upto - at, q->bytes ?
				      (const char *)q->bytes + (at - q->offset_bytes) : NULL,
				      q->kind == SIM_WRITE ? q->tag : SIM_TAG_ZEROS);
		at = upto;
	}
	return t_ps;
}

/* When everything the request placed is on flash: part-filled pages are padded. */
static uint64_t write_through(struct sim *s, uint64_t t_ps, uint64_t first_seq,
			      const struct sim_request *q)
{
	const uint64_t first = q->offset_bytes / s->unit_bytes;
	const uint64_t last = (q->offset_bytes + q->length_bytes - 1) / s->unit_bytes;

	t_ps = buffer_evict_unit(s, t_ps, (uint32_t)first);
	t_ps = buffer_evict_unit(s, t_ps, (uint32_t)last);
	flash_pad_all(&s->flash);
	for (uint64_t seq = first_seq; seq < s->flash.seq; seq++) {
		const uint64_t written = flash_written_ps(&s->flash, seq);

		t_ps = written > t_ps ? written : t_ps;
	}
	return t_ps;
}

uint64_t sim_do_write(struct sim *s, uint64_t t_ps, const struct sim_request *q,
		      struct sim_result *ret)
{
	const uint64_t first_seq = s->flash.seq;
	const uint64_t units = (q->offset_bytes + q->length_bytes - 1) / s->unit_bytes -
			       q->offset_bytes / s->unit_bytes + 1;

	if (q->kind == SIM_WRITE)
		t_ps = sim_link_in(s, t_ps, q->length_bytes);
	t_ps = sim_cpu(s, t_ps, s->config.cpu_write_ns + (units - 1) * s->config.cpu_unit_ns);
	if (s->flash.cpu_debt_ps) {
		s->cpu_ps += cpu_debt_share(s);
		t_ps = s->cpu_ps > t_ps ? s->cpu_ps : t_ps;
	}
	if (fault_draw(s, s->config.write_error_ppm)) {
		ret->error = -EIO;
		return t_ps;
	}
	s->counters.host_written_bytes += q->length_bytes;
	if (fault_draw(s, s->config.lost_write_ppm)) {
		s->counters.lost_writes++;
		return t_ps;
	}
	trim_before_write(s, q->offset_bytes, q->length_bytes);
	fault_heal(s, q->offset_bytes, q->length_bytes);
	t_ps = write_units(s, t_ps, q);
	if (s->config.content && fault_draw(s, s->config.corrupt_ppm)) {
		content_flip(&s->content, q->offset_bytes);
		s->counters.corrupted++;
	}
	if (q->fua || s->config.buffer_bytes == 0)
		t_ps = write_through(s, t_ps, first_seq, q);
	return t_ps;
}

uint64_t sim_do_flush(struct sim *s, uint64_t t_ps)
{
	t_ps = sim_cpu(s, t_ps, s->config.cpu_write_ns);
	if (!s->config.flush_honoured || s->config.power_loss_protected)
		return t_ps;
	s->flash.base_ps = s->flash.now_ps = t_ps;
	t_ps = buffer_evict_all(s, t_ps);
	flash_pad_all(&s->flash);
	for (uint64_t i = 0; i < s->flash.ring_size; i++)
		t_ps = s->flash.ring[i] > t_ps ? s->flash.ring[i] : t_ps;
	return t_ps;
}
