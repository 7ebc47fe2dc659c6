/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * player - the next request of a trace, as the replay options change it, and when it is due.
 * Each time is worked out anew from the recorded one and the start, so that nothing adds up:
 * what was late does not make later ones late.
 *
 * Life cycle:	init -> begin -> { is there one? -> take }... -> done
 * Threads:	one worker's own. Records are fetched from the trace's file a window at a time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "engine/engine.h"
#include "model/trace.h"
#include "target/io.h"

struct player {
	const struct trace *trace;	/* borrowed */
	const struct replay *replay;
	struct cursor cursor;
	uint64_t *bases;		/* owned; by stream: where its byte 0 lies. NEVER_NS: not played */
	uint64_t align_bytes;
	uint64_t offset_bytes, size_bytes;	/* of the range on the target */
	uint64_t begin_ns;

	/* the next one */
	bool has_next;
	struct io next;
	uint64_t due_ns;		/* NEVER_NS when there is none */
	uint64_t gap_ns;		/* from the one before to it */
	uint64_t before_ns;		/* played time of the one before */
	uint64_t rest_offset_bytes, rest_bytes;	/* of a discard too long for one request */

	uint64_t played_count, skipped_count, clipped_count, wrapped_count;
	int code;			/* negative errno: the trace's file could not be read */
};

int player_init(struct player *p, const struct trace *trace, const struct workload *workload,
		const struct engine_range *range, struct err *err);
void player_done(struct player *p);	/* accepts a zeroed one */

/* When the last request is due, from the beginning on; 0 where times do not count. */
uint64_t player_lasts_ns(const struct trace *trace, const struct workload *workload);

/* Fetches the first: its times count from begin_ns. */
void player_begin(struct player *p, uint64_t begin_ns);

/* Gives the next request away and fetches the one after it. */
struct io player_take(struct player *p);
