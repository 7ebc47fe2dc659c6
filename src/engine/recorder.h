/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * recorder - what one worker's requests took. A completion is one histogram_add into the
 * current interval (50 ms); intervals add up to seconds, seconds to the whole, so the hot loop
 * writes one histogram only. Closing is one comparison a batch: recorder_due, recorder_tick.
 *
 * Life cycle:	init -> { due -> tick, add... }... -> finish -> done
 * Threads:	the worker's own; other threads see the mailbox only.
 * Memory:	histograms of the operations that can occur; per second one packed histogram
 *		each. Closing a second may allocate: once a second, not in the loop.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "model/result.h"
#include "stats/histogram.h"
#include "stats/packed.h"

#define RECORDER_INTERVAL_NS (50 * MILLISECOND_NS)
#define RECORDER_PULSES 1200	/* intervals whose counts are kept: the first minute */

/* The last closed interval, for the progress line: the worker fills it when empty, the
 * reader empties it when full; who is late skips one. */
struct recorder_mailbox {
	_Atomic uint64_t total_count, total_bytes;
	_Atomic bool full;
	struct histogram interval;	/* all operations */
};

struct recorder_counts {
	uint64_t count, bytes, error_count;
};

struct recorder_second {
	uint64_t length_ns;
	struct recorder_counts ops[OP_KINDS];
	struct histogram_packed *latency[OP_KINDS];	/* owned */
};

struct recorder {
	uint64_t due_ns;		/* the next closing: the earlier of the two below */
	uint64_t interval_end_ns;
	uint64_t boundary_ns;		/* the ramp's end, then the second's */
	uint64_t second_begin_ns;
	bool measuring, ending;
	uint64_t start_ns;		/* measuring begins */
	uint64_t last_ns;		/* the last completion counted */
	struct recorder_counts ops[OP_KINDS];	/* count is brought up by closing */
	struct recorder_counts before[OP_KINDS];	/* ops when the second began */
	struct histogram *interval[OP_KINDS];
	struct histogram *second[OP_KINDS];
	struct histogram *latency[OP_KINDS];
	struct histogram *service[OP_KINDS];	/* open loop only: else the latency */
	struct histogram *lateness;		/* open loop only */
	struct recorder_second *seconds;
	size_t second_count, second_room;
	uint64_t pulse_end_ns;		/* of the interval whose requests are being counted */
	uint64_t pulse_before_count;	/* requests counted in the pulses before it */
	uint32_t pulse_count;
	uint32_t pulses[RECORDER_PULSES];
	struct {
		int code;
		uint64_t count;
	} errnos[MEASUREMENT_ERRNOS];
	uint32_t errno_count;
	struct recorder_mailbox *mailbox;	/* borrowed; NULL when nobody looks */
	bool out_of_memory;
};

struct recorder_options {
	bool ops[OP_KINDS];		/* which can occur */
	bool open_loop;
	uint64_t begin_ns, start_ns;	/* of ramp and of measuring; equal without ramp */
	struct recorder_mailbox *mailbox;
};

int recorder_init(struct recorder *r, const struct recorder_options *options, struct err *err);
/* The times, when they are known only after recorder_init. */
void recorder_begin(struct recorder *r, uint64_t begin_ns, uint64_t start_ns);
void recorder_done(struct recorder *r);

/* A completion at the very end of a second still belongs to it. */
static inline bool recorder_due(const struct recorder *r, uint64_t now_ns)
{
	return now_ns > r->due_ns;
}

/* Closes what ended before now. Returns true when this call began the measuring. */
bool recorder_tick(struct recorder *r, uint64_t now_ns);

static inline void recorder_add(struct recorder *r, enum op_kind op, uint64_t bytes,
				uint64_t latency_ns)
{
	histogram_add(r->interval[op], latency_ns);
	r->ops[op].bytes += bytes;
}

/* count requests that took the same time; bytes in all. */
static inline void recorder_add_many(struct recorder *r, enum op_kind op, uint64_t bytes,
				     uint64_t latency_ns, uint32_t count)
{
	histogram_add_many(r->interval[op], latency_ns, count);
	r->ops[op].bytes += bytes;
}

void recorder_error(struct recorder *r, enum op_kind op, int code);

/* No request starts any more: a short rest belongs to the second that runs. */
void recorder_ending(struct recorder *r);
/* Closes the last second at now. */
void recorder_finish(struct recorder *r, uint64_t now_ns);

/* Adds n recorders that measured together into m: counts, histograms, seconds, errnos. */
int recorder_merge(struct measurement *m, struct recorder *const *recorders, size_t count,
		   struct err *err);
