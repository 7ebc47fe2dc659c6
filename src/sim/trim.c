/* SPDX-License-Identifier: MIT */

/*
 * Discard. A range is cut inward to the granularity and to whole mapping units, dropped if
 * it is short or the drive is careless, and then applied at once, later, or never. Until a
 * late range is applied its addresses are mapped and read as before; a write to part of it
 * applies it first, so that the write is never lost.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/drive.h"

void trim_units(struct sim *s, uint64_t first_byte, uint64_t end_byte)
{
	const uint64_t unit_bytes = s->unit_bytes;
	const uint64_t first = (first_byte + unit_bytes - 1) / unit_bytes;
	const uint64_t end = end_byte / unit_bytes;

	for (uint64_t unit = first; unit < end; unit++) {
		buffer_forget(s, (uint32_t)unit);
		map_unmap(&s->map, (uint32_t)unit);
	}
}

static void wait_remove(struct sim *s, uint32_t i)
{
	memmove(&s->waits[i], &s->waits[i + 1], (s->wait_count - i - 1) * sizeof(*s->waits));
	s->wait_count--;
}

void trim_apply_due(struct sim *s, uint64_t t_ps, bool all)
{
	while (s->wait_count > 0 && (all || s->waits[0].due_ps <= t_ps)) {
		const struct trim_wait wait = s->waits[0];

		wait_remove(s, 0);
		trim_units(s, wait.first, wait.end);
		s->counters.trims_applied++;
	}
}

/* Ranges that a write would touch take effect before it. */
void trim_before_write(struct sim *s, uint64_t offset, uint64_t length)
{
	const uint64_t first = offset / s->unit_bytes * s->unit_bytes;
	const uint64_t end = (offset + length + s->unit_bytes - 1) / s->unit_bytes * s->unit_bytes;

	for (uint32_t i = 0; i < s->wait_count;) {
		const struct trim_wait wait = s->waits[i];

		if (wait.first < end && first < wait.end) {
			wait_remove(s, i);
			trim_units(s, wait.first, wait.end);
			s->counters.trims_applied++;
		} else {
			i++;
		}
	}
}

bool trim_is_waiting(const struct sim *s, uint64_t offset, uint64_t *end)
{
	bool inside = false;

	for (uint32_t i = 0; i < s->wait_count; i++) {
		const struct trim_wait *wait = &s->waits[i];
		const uint64_t unit = s->unit_bytes;
		const uint64_t first = (wait->first + unit - 1) / unit * unit;
		const uint64_t last = wait->end / unit * unit;

		if (offset >= first && offset < last)
			inside = true;
		/* The answer may change at the next edge of any range. */
		if (first > offset && first < *end)
			*end = first;
		if (last > offset && last < *end)
			*end = last;
	}
	return inside;
}

static void wait_add(struct sim *s, struct trim_wait wait)
{
	if (s->wait_count == s->wait_room) {
		const uint32_t room = s->wait_room ? s->wait_room * 2 : 64;
		struct trim_wait *waits = realloc(s->waits, room * sizeof(*waits));

		if (!waits || room > 65536) {
			/* A drive's list is finite as well: work it off. */
			s->waits = waits ? waits : s->waits;
			trim_apply_due(s, 0, true);
			return;
		}
		s->waits = waits;
		s->wait_room = room;
	}
	s->waits[s->wait_count++] = wait;
}

static void damage_neighbours(struct sim *s, uint64_t *first, uint64_t *end)
{
	const uint64_t unit = s->unit_bytes;

	*first = *first / unit * unit;
	*end = (*end + unit - 1) / unit * unit;
	*first -= *first >= unit ? unit : 0;
	*end += *end + unit <= s->config.capacity_bytes ? unit : 0;
}

static void trim_range(struct sim *s, uint64_t t_ps, uint64_t offset, uint64_t length)
{
	const uint64_t grain = s->config.trim_granularity_bytes;
	uint64_t first = (offset + grain - 1) / grain * grain;
	uint64_t end = (offset + length) / grain * grain;

	s->counters.host_trimmed_bytes += length;
	if (s->config.trim == SIM_TRIM_IGNORED || length < s->config.trim_min_bytes ||
	    first >= end || fault_draw(s, s->config.trim_drop_ppm)) {
		s->counters.trims_ignored++;
		return;
	}
	if (s->config.trim == SIM_TRIM_DAMAGES)
		damage_neighbours(s, &first, &end);
	if (s->config.trim == SIM_TRIM_DELAYED) {
		wait_add(s, (struct trim_wait){ first, end,
			 t_ps + s->config.trim_delay_ns * PS_PER_NS });
		return;
	}
	trim_units(s, first, end);
	s->counters.trims_applied++;
}

uint64_t sim_do_trim(struct sim *s, uint64_t t_ps, const struct sim_request *q,
		     struct sim_result *ret)
{
	const struct sim_range one = { q->offset_bytes, q->length_bytes };
	const struct sim_range *ranges = q->ranges ? q->ranges : &one;
	const uint32_t count = q->ranges ? q->range_count : 1;

	if (s->config.trim == SIM_TRIM_NONE) {
		ret->error = -EOPNOTSUPP;
		return t_ps;
	}
	for (uint32_t i = 0; i < count; i++)
		trim_range(s, t_ps, ranges[i].offset_bytes, ranges[i].length_bytes);
	return sim_cpu(s, t_ps, s->config.trim_ns + count * s->config.trim_range_ns);
}
