/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * player - the next request of a trace, as the replay options change it, and when it is due.
 * Each time is worked out anew from the recorded one and the start, so that nothing adds up:
 * what was late does not make later ones late.
 *
 * Several pacers share one trace: each has a player of its own, which reads all of it, and the
 * number of the next request that nobody has taken is theirs in common. It stays untaken until a
 * pacer that has a place free sees it due, so that one that gets no CPU delays nothing while
 * another does (docs/adr/0008-spare-pacers.md).
 *
 * Life cycle:	init -> begin -> { follow -> is there one? -> take -> landed }... -> done
 * Threads:	one worker's own, struct player_share apart. Records are fetched from the trace's file
 *		a window at a time.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "engine/engine.h"
#include "model/trace.h"
#include "target/io.h"

/* Of all players of one trace on one target; zeroed to begin with. */
struct player_share {
	char before[64];		/* on a cache line of its own */
	_Atomic uint64_t next;		/* the number of the first request that nobody has taken */
	_Atomic uint32_t flying_count;	/* with timing=none: taken and not landed */
	char after[64];
};

struct player {
	const struct trace *trace;	/* borrowed */
	const struct replay *replay;
	struct player_share *share;	/* borrowed */
	struct cursor cursor;
	uint64_t *bases;		/* owned; by stream: where its byte 0 lies. NEVER_NS: not played */
	uint64_t align_bytes;
	uint64_t offset_bytes, size_bytes;	/* of the range on the target */
	uint64_t begin_ns;

	/* the next one */
	bool has_next;
	uint64_t number;		/* its: requests are counted as they are played, from 0 */
	struct io next;
	uint64_t due_ns;		/* NEVER_NS when there is none */
	uint64_t gap_ns;		/* from the one before to it */
	uint64_t before_ns;		/* played time of the one before */
	uint64_t rest_offset_bytes, rest_bytes;	/* of a discard too long for one request */

	uint64_t played_count;		/* taken by this one */
	uint64_t skipped_count, clipped_count, wrapped_count;	/* of all up to the next one */
	int code;			/* negative errno: the trace's file could not be read */
};

struct player_options {
	const struct trace *trace;
	const struct workload *workload;
	const struct engine_range *range;
	struct player_share *share;
	uint32_t index, count;		/* of this pacer, and of all */
};

int player_init(struct player *p, const struct player_options *options, struct err *err);
void player_done(struct player *p);	/* accepts a zeroed one */

/* When the last request is due, from the beginning on; 0 where times do not count. */
uint64_t player_lasts_ns(const struct trace *trace, const struct workload *workload);

/* Fetches the first: its times count from begin_ns. */
void player_begin(struct player *p, uint64_t begin_ns);

/* On to the first that nobody has taken. */
void player_follow(struct player *p);

/* Takes the next request and fetches the one after it; false when another pacer was first. */
bool player_take(struct player *p, struct io *ret);

/* As fast as the depth allows: a flush waits until all that were taken before it have landed. */
static inline bool player_waits(const struct player *p)
{
	return p->next.kind == IO_FSYNC && p->replay->timing == TIMING_NONE &&
	       atomic_load_explicit(&p->share->flying_count, memory_order_acquire) > 0;
}

/* A request that was taken is done. */
static inline void player_landed(struct player *p)
{
	if (p->replay->timing == TIMING_NONE)
		atomic_fetch_sub_explicit(&p->share->flying_count, 1, memory_order_release);
}
