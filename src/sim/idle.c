/* SPDX-License-Identifier: MIT */

/*
 * What a drive does when nobody asks: pays what it owes the flash, applies late discards,
 * and after idle_after completes part-written units, empties the SLC cache and cleans.
 */

#include "sim/drive.h"

static bool background_job(struct sim *s)
{
	const uint64_t spare = map_spare_blocks(&s->map);
	const uint64_t aim = spare * s->config.gc_idle_ppm / PPM;

	if (map_fold_once(&s->map))
		return true;
	if (!s->config.gc_idle_ppm)
		return false;
	/* The spare is what a full drive has; what the host discarded comes on top. */
	return map_clean_once(&s->map, (uint32_t)aim + (s->map.units - (uint32_t)s->map.mapped) /
			      s->map.units_per_block);
}

static void work(struct sim *s, uint64_t t_ps, uint64_t budget_ps)
{
	uint64_t left = budget_ps;

	s->flash.base_ps = s->flash.now_ps = t_ps;
	if (s->merge_count)
		buffer_evict_all(s, t_ps - budget_ps);
	while (left > 0 && background_job(s)) {
		const uint64_t cost = flash_debt_longest(&s->flash);

		/* The rest of a job cut short is owed, as ever. */
		flash_idle(&s->flash, cost < left ? cost : left);
		left -= cost < left ? cost : left;
	}
}

void idle_until(struct sim *s, uint64_t t_ps)
{
	const uint64_t after = s->config.idle_after_ns * PS_PER_NS;
	uint64_t from = s->quiet_ps > s->idled_ps ? s->quiet_ps : s->idled_ps;

	if (s->config.throttle_at_mc)
		heat_step(s, t_ps);
	if (s->wait_count)
		trim_apply_due(s, t_ps, false);
	if (t_ps <= from)
		return;
	s->counters.idle_ns += (t_ps - from) / PS_PER_NS;
	flash_idle(&s->flash, t_ps - from);
	s->idled_ps = t_ps;
	if (after == 0 || t_ps <= s->quiet_ps + after)
		return;
	if (s->wait_count)
		trim_apply_due(s, t_ps, true);
	from = from > s->quiet_ps + after ? from : s->quiet_ps + after;
	work(s, t_ps, t_ps - from);
}
