/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * search - the deepest queue at which a share of the requests still answers in time: depths are
 * tried by halving, each for a window of its own, of which only requests begun in it count.
 *
 * Threads: one worker's own. Plain data; a target of 0 asks for no search.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "model/workload.h"

struct search {
	uint64_t target_ns, window_ns;
	uint32_t fast_ppm;		/* so many must be within the target */
	uint32_t depth_count;		/* in force */
	uint32_t good_count, bad_count; /* deepest known to do, least known not to */
	uint64_t begin_ns;		/* of the window */
	uint64_t count, slow_count;
	bool is_found;
};

static inline void search_init(struct search *s, const struct workload *workload)
{
	*s = (struct search){
		.target_ns = workload->latency_target_ns,
		.window_ns = workload->latency_window_ns,
		.fast_ppm = workload->latency_ppm,
		.depth_count = workload->latency_target_ns ? workload->depth_count : UINT32_MAX,
		.bad_count = workload->depth_count + 1,
	};
}

static inline void search_add(struct search *s, uint64_t begun_ns, uint64_t latency_ns)
{
	if (!s->target_ns || begun_ns < s->begin_ns)
		return;
	s->count++;
	s->slow_count += latency_ns > s->target_ns;
}

/* At the end of a window that saw requests the next depth comes into force; true once it is found. */
static inline bool search_step(struct search *s, uint64_t now_ns)
{
	uint64_t slow_max;

	if (!s->target_ns || s->is_found)
		return s->is_found;
	if (!s->begin_ns)
		s->begin_ns = now_ns;
	if (now_ns < s->begin_ns + s->window_ns || !s->count)
		return false;
	slow_max = (uint64_t)((unsigned __int128)s->count * (PPM - s->fast_ppm) / PPM);
	if (s->slow_count > slow_max)
		s->bad_count = s->depth_count;
	else
		s->good_count = s->depth_count;
	s->is_found = s->bad_count - s->good_count <= 1;
	s->depth_count = s->is_found ? s->good_count : (s->good_count + s->bad_count) / 2;
	/* One request at a time is the least there is, in time or not. */
	if (!s->depth_count)
		s->depth_count = 1;
	s->begin_ns = now_ns;
	s->count = s->slow_count = 0;
	return s->is_found;
}
