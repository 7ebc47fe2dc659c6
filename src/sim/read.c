/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/drive.h"

/* Bytes that lie one behind the other on flash, read together. */
struct run {
	uint32_t slot;
	uint64_t from, length;
};

static uint64_t run_read(struct sim *s, uint64_t t_ps, struct run *run)
{
	const uint64_t done = run->length ?
		flash_read(&s->flash, t_ps, run->slot, run->from, run->length) : t_ps;

	run->length = 0;
	return done;
}

static uint64_t read_flash(struct sim *s, uint64_t t_ps, const struct sim_request *q, bool *cached)
{
	const uint64_t end = q->offset_bytes + q->length_bytes;
	uint64_t done = t_ps, upto;
	struct run run = { 0 };

	for (uint64_t at = q->offset_bytes; at < end; at = upto) {
		const uint32_t unit = (uint32_t)(at / s->unit_bytes);
		const uint32_t from = (uint32_t)(at % s->unit_bytes);
		const uint32_t slot = s->map.l2p[unit];
		uint64_t then;

		upto = (uint64_t)(unit + 1ull) * s->unit_bytes;
		upto = upto < end ? upto : end;
		t_ps = map_cache_touch(s, t_ps, unit, false);
		if (slot & GHOST) {
			s->counters.unmapped_read_bytes += upto - at;
			continue;
		}
		if (flash_is_buffered(&s->flash, unit, t_ps) ||
		    (s->merge_count &&
		     buffer_covers(s, unit, from, from + (uint32_t)(upto - at)))) {
			s->counters.buffer_hits++;
			continue;
		}
		*cached = false;
		if (run.length == 0 || (uint64_t)run.slot * s->unit_bytes + run.from + run.length !=
				       (uint64_t)slot * s->unit_bytes + from) {
			then = run_read(s, t_ps, &run);
			done = then > done ? then : done;
			run = (struct run){ slot, from, 0 };
		}
		run.length += upto - at;
	}
	upto = run_read(s, t_ps, &run);
	done = upto > done ? upto : done;
	return done > t_ps ? done : t_ps;
}

/* The tag that a read of the logical block returns, faults of the medium apart. */
uint64_t block_tag(const struct sim *s, uint64_t offset)
{
	const uint32_t unit = (uint32_t)(offset / s->unit_bytes);
	const uint32_t slot = s->map.l2p[unit];

	if (!s->config.content)
		return SIM_TAG_ZEROS;
	if (!(slot & GHOST) || buffer_holds(s, unit))
		return content_tag(&s->content, offset);
	switch ((enum sim_trim_reads)s->config.trim_reads) {
	case SIM_READS_ZEROS:
		return SIM_TAG_ZEROS;
	case SIM_READS_ONES:
		return SIM_TAG_ONES;
	case SIM_READS_RANDOM:
		return SIM_TAG_RANDOM;
	case SIM_READS_OLD:
		return slot == NO_UNIT ? SIM_TAG_ZEROS : content_tag(&s->content, offset);
	}
	return SIM_TAG_ZEROS;
}

static void give_bytes(struct sim *s, uint64_t offset, uint64_t tag, unsigned char *ret)
{
	if (tag == SIM_TAG_BYTES) {
		content_read(&s->content, offset, ret);
	} else if (tag == SIM_TAG_RANDOM) {
		for (int i = 0; i < 512; i += 8)
			content_fill_tag(random_u64(&s->random), ret + i, 8);
	} else {
		content_fill_tag(tag, ret, 512);
	}
}

static void give_content(struct sim *s, const struct sim_request *q)
{
	const uint64_t block = s->config.logical_block_bytes;

	for (uint64_t at = 0; q->tags_ret && at < q->length_bytes; at += block)
		q->tags_ret[at / block] = block_tag(s, q->offset_bytes + at);
	for (uint64_t at = 0; q->bytes_ret && at < q->length_bytes; at += 512) {
		const uint64_t offset = q->offset_bytes + at;

		give_bytes(s, offset, block_tag(s, offset), (unsigned char *)q->bytes_ret + at);
	}
}

uint64_t sim_do_read(struct sim *s, uint64_t t_ps, const struct sim_request *q,
		     struct sim_result *ret)
{
	const uint64_t units = (q->offset_bytes + q->length_bytes - 1) / s->unit_bytes -
			       q->offset_bytes / s->unit_bytes + 1;
	uint64_t done;

	t_ps = sim_cpu(s, t_ps, s->config.cpu_read_ns + (units - 1) * s->config.cpu_unit_ns);
	ret->cached = true;
	done = read_flash(s, t_ps, q, &ret->cached);
	if (fault_unreadable(s, q->offset_bytes, q->length_bytes)) {
		ret->error = -EIO;
		return done;
	}
	s->counters.host_read_bytes += q->length_bytes;
	if (q->tags_ret || q->bytes_ret)
		give_content(s, q);
	return sim_link_out(s, t_ps, done, q->length_bytes);
}
