/* SPDX-License-Identifier: MIT */

/* The truth about the drive, for reports and tests: counters, levels, laws. */

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/drive.h"

#define COUNTER(member, help) { #member, help, offsetof(struct sim_stats, member), false }
#define LEVEL(member, help) { #member, help, offsetof(struct sim_stats, member), true }

const struct sim_stat_field sim_stat_fields[] = {
	{ "reads", "read requests", offsetof(struct sim_stats, requests[SIM_READ]), false },
	{ "writes", "write requests", offsetof(struct sim_stats, requests[SIM_WRITE]), false },
	{ "trims", "discard requests", offsetof(struct sim_stats, requests[SIM_TRIM]), false },
	{ "flushes", "flush requests", offsetof(struct sim_stats, requests[SIM_FLUSH]), false },
	COUNTER(host_read_bytes, "read by the host"),
	COUNTER(host_written_bytes, "written by the host"),
	COUNTER(host_trimmed_bytes, "discarded by the host"),
	COUNTER(flash_read_bytes, "read from flash"),
	COUNTER(flash_programmed_bytes, "programmed into flash"),
	COUNTER(erases, "blocks erased"),
	COUNTER(gc_copied_bytes, "moved by cleaning and wear levelling"),
	COUNTER(fold_copied_bytes, "moved out of the SLC cache"),
	COUNTER(map_programmed_bytes, "pages of the mapping table programmed"),
	COUNTER(pad_bytes, "programmed empty"),
	COUNTER(rmw_reads, "mapping units read to complete a partial write"),
	COUNTER(merged_writes, "partial writes combined in the buffer"),
	COUNTER(unmapped_read_bytes, "read of addresses that hold no data: without the flash"),
	COUNTER(buffer_hits, "mapping units read from the write buffer"),
	COUNTER(map_misses, "mapping table pages fetched"),
	COUNTER(trims_ignored, "discard ranges without effect"),
	COUNTER(trims_applied, "discard ranges that took effect"),
	COUNTER(spikes, "requests delayed by fault"),
	COUNTER(errors, "requests failed by fault"),
	COUNTER(corrupted, "writes damaged by fault"),
	COUNTER(lost_writes, "writes dropped by fault"),
	COUNTER(throttled_ns, "time with throttled flash"),
	COUNTER(idle_ns, "time with nothing to do"),
	LEVEL(mapped_bytes, "addresses that hold data"),
	LEVEL(trim_pending_bytes, "discarded, not yet effective"),
	LEVEL(valid_bytes, "flash that holds current data"),
	LEVEL(stale_bytes, "flash to be cleaned"),
	LEVEL(free_bytes, "flash ready to be programmed"),
	LEVEL(raw_bytes, "flash altogether"),
	LEVEL(slc_used_bytes, "current data in the SLC cache"),
	LEVEL(slc_limit_bytes, "size of the SLC cache now"),
	LEVEL(blocks, "blocks"),
	LEVEL(blocks_free, "blocks erased and free"),
	LEVEL(blocks_slc, "blocks in SLC mode"),
	LEVEL(erase_count_min, "least worn block"),
	LEVEL(erase_count_max, "most worn block"),
	LEVEL(temperature_mc, "millidegrees Celsius"),
	{ 0 },
};

static uint64_t get(const struct sim_stats *stats, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)stats + offset, sizeof(value));
	return value;
}

static void set(struct sim_stats *stats, size_t offset, uint64_t value)
{
	memcpy((char *)stats + offset, &value, sizeof(value));
}

static void fill_levels(const struct sim *s, struct sim_stats *ret)
{
	const struct map *m = &s->map;
	const uint64_t unit = s->unit_bytes;
	uint64_t valid = 0, filled = 0, slc = 0;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < m->blocks; i++) {
		valid += m->valid[i] & ~HELD;
		filled += m->filled[i];
		slc += m->slc[i] ? m->valid[i] & ~HELD : 0;
		least = m->erases[i] < least ? m->erases[i] : least;
		ret->erase_count_max = m->erases[i] > ret->erase_count_max ?
				       m->erases[i] : ret->erase_count_max;
	}
	ret->erase_count_min = least;
	ret->mapped_bytes = m->mapped * unit;
	ret->valid_bytes = valid * unit;
	ret->stale_bytes = (filled - valid) * unit;
	ret->raw_bytes = (uint64_t)m->slots * unit;
	ret->free_bytes = ret->raw_bytes - filled * unit;
	ret->slc_used_bytes = slc * unit;
	if (s->config.slc != SIM_SLC_OFF)
		ret->slc_limit_bytes = (uint64_t)map_slc_limit_blocks(m) *
				       m->slc_units_per_block * unit;
	ret->blocks = m->blocks;
	ret->blocks_free = m->free.count;
	ret->blocks_slc = m->slc_blocks;
	ret->temperature_mc = (uint64_t)(s->heat.temperature_uc / 1000);
	for (uint32_t i = 0; i < s->wait_count; i++)
		ret->trim_pending_bytes += s->waits[i].end - s->waits[i].first;
}

static void fill_counters(const struct sim *s, struct sim_stats *ret)
{
	const struct map *m = &s->map;
	const uint64_t unit = s->unit_bytes;

	*ret = s->counters;
	ret->flash_read_bytes = s->flash.read_bytes;
	/* Without time (preconditioning) the map alone knows what was programmed. */
	ret->flash_programmed_bytes = (m->placed_units + m->pad_units) * unit +
				      s->counters.map_programmed_bytes;
	ret->erases = m->erase_total;
	ret->gc_copied_bytes = m->copied_units * unit;
	ret->fold_copied_bytes = m->folded_units * unit;
	ret->pad_bytes = m->pad_units * unit;
	ret->host_written_bytes += s->untimed_units * unit;
}

static void finish(struct sim_stats *ret)
{
	if (ret->host_written_bytes)
		ret->write_amplification = (double)ret->flash_programmed_bytes /
					   (double)ret->host_written_bytes;
}

void sim_stats(const struct sim *s, struct sim_stats *ret)
{
	fill_counters(s, ret);
	fill_levels(s, ret);
	finish(ret);
}

void sim_stats_mark(struct sim *s)
{
	struct sim_stats mark;

	fill_counters(s, &mark);
	s->mark = mark;
}

void sim_stats_since(const struct sim *s, struct sim_stats *ret)
{
	fill_counters(s, ret);
	for (const struct sim_stat_field *f = sim_stat_fields; f->name; f++) {
		if (!f->level)
			set(ret, f->offset, get(ret, f->offset) - get(&s->mark, f->offset));
	}
	for (int i = SIM_WRITE_ZEROES; i < SIM_KIND_COUNT; i += 2)
		ret->requests[i] -= s->mark.requests[i];
	fill_levels(s, ret);
	finish(ret);
}

void sim_identify(const struct sim *s, struct sim_identity *ret)
{
	const struct sim_config *c = &s->config;
	const bool says_trim = c->trim != SIM_TRIM_NONE;

	memset(ret, 0, sizeof(*ret));
	memcpy(ret->model, c->model, sizeof(ret->model));
	snprintf(ret->serial, sizeof(ret->serial), "TARE%016" PRIx64, c->seed);
	snprintf(ret->firmware, sizeof(ret->firmware), "SIM1");
	ret->bus = (enum sim_bus)c->bus;
	ret->capacity_bytes = c->capacity_bytes;
	ret->logical_block_bytes = c->logical_block_bytes;
	ret->physical_block_bytes = c->physical_block_bytes;
	ret->queue_depth_count = c->queue_depth_count;
	ret->volatile_cache = c->buffer_bytes > 0 && !c->power_loss_protected;
	ret->discard = says_trim;
	ret->discard_granularity_bytes = says_trim ? c->trim_granularity_bytes : 0;
	ret->discard_ranges_max = says_trim ? c->trim_ranges_max : 0;
	ret->discard_deterministic = says_trim && c->trim_reported != SIM_REPORTED_NONE;
	ret->discard_zeros = says_trim && c->trim_reported == SIM_REPORTED_ZEROS;
}

static enum sim_page_truth truth_of(const struct sim *s, uint32_t unit)
{
	const uint32_t slot = s->map.l2p[unit];

	if (!(slot & GHOST) || buffer_holds(s, unit))
		return SIM_PAGE_MAPPED;
	return slot == NO_UNIT ? SIM_PAGE_UNMAPPED : SIM_PAGE_TRIMMED_OLD;
}

enum sim_page_truth sim_query_range(const struct sim *s, uint64_t offset, uint64_t *ret_end)
{
	uint32_t unit = (uint32_t)(offset / s->unit_bytes);
	const enum sim_page_truth truth = truth_of(s, unit);
	uint64_t end;
	bool waiting;

	assert(offset < s->config.capacity_bytes);
	while (++unit < s->map.units && truth_of(s, unit) == truth)
		;
	end = (uint64_t)unit * s->unit_bytes;
	waiting = trim_is_waiting(s, offset, &end);
	*ret_end = end;
	return waiting && truth == SIM_PAGE_MAPPED ? SIM_PAGE_TRIM_PENDING : truth;
}

void sim_query(const struct sim *s, uint64_t offset, struct sim_truth *ret)
{
	const uint32_t unit = (uint32_t)(offset / s->unit_bytes);
	uint64_t end = UINT64_MAX;

	assert(offset < s->config.capacity_bytes);
	memset(ret, 0, sizeof(*ret));
	ret->page = truth_of(s, unit);
	if (ret->page == SIM_PAGE_MAPPED) {
		ret->buffered = buffer_holds(s, unit) ||
				flash_is_buffered(&s->flash, unit, s->now_ps);
		if (map_is_mapped(&s->map, unit))
			ret->slc = s->map.slc[slot_block(&s->map, s->map.l2p[unit])];
		if (trim_is_waiting(s, offset, &end))
			ret->page = SIM_PAGE_TRIM_PENDING;
	}
	ret->tag = block_tag(s, offset / s->config.logical_block_bytes *
			     s->config.logical_block_bytes);
}

uint64_t sim_memory_bytes(const struct sim *s)
{
	return s->map.memory_bytes + sizeof(*s);
}

static bool blocks_consistent(const struct map *m, const char **ret)
{
	uint64_t valid = 0;

	for (uint32_t block = 0; block < m->blocks; block++) {
		const uint64_t first = (uint64_t)block * m->units_per_block;
		uint32_t live = 0;

		for (uint64_t slot = first; slot < first + m->units_per_block; slot++)
			live += (uint32_t)(m->live[slot >> 6] >> (slot & 63) & 1);
		if (live != (m->valid[block] & ~HELD)) {
			*ret = "valid count of a block";
			return false;
		}
		if (m->filled[block] < live || m->filled[block] > m->units_per_block) {
			*ret = "filled count of a block";
			return false;
		}
		valid += live;
	}
	*ret = "live slots are mapped units";
	return valid == m->mapped;
}

bool map_consistent(const struct map *m, const char **ret)
{
	uint64_t mapped = 0;

	for (uint32_t unit = 0; unit < m->units; unit++) {
		const uint32_t slot = m->l2p[unit];

		if (slot & GHOST)
			continue;
		mapped++;
		*ret = "a unit's slot is live and its own";
		if (slot >= m->slots || m->p2l[slot] != unit ||
		    !(m->live[slot >> 6] >> (slot & 63) & 1))
			return false;
	}
	*ret = "mapped units counted";
	if (mapped != m->mapped)
		return false;
	for (uint32_t group = 0; group < (m->blocks + 63) / 64; group++) {
		uint32_t least = UINT32_MAX;

		for (uint32_t i = group * 64; i < group * 64 + 64; i++)
			least = m->valid[i] < least ? m->valid[i] : least;
		*ret = "least of a group";
		/* A held count may be stale above HELD: never chosen. */
		if (least != m->group_min[group] && (least < HELD || m->group_min[group] < HELD))
			return false;
	}
	*ret = "least of the groups";
	for (uint32_t super = 0; super < gc_supers(m); super++) {
		uint32_t least = UINT32_MAX;

		for (uint32_t i = super * 64; i < super * 64 + 64; i++)
			least = m->group_min[i] < least ? m->group_min[i] : least;
		if (least != m->super_min[super] && (least < HELD || m->super_min[super] < HELD))
			return false;
	}
	return blocks_consistent(m, ret);
}

bool sim_consistent(const struct sim *s, const char **ret)
{
	const struct map *m = &s->map;

	if (!map_consistent(m, ret))
		return false;
	*ret = "programmed = host + copied + folded";
	return m->placed_units == m->host_units + m->copied_units + m->folded_units;
}
