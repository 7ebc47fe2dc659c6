/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * live - the reference drive under the real clock: requests of any byte range go in as they
 * come, out come content, outcome and the time at which to answer. What answers in time is
 * a front end: the FUSE file with its timer, or nbdkit.
 *
 * Life cycle:	open -> { submit | texts }... -> close
 * Threads:	all calls may come from any thread; the drive takes them one at a time.
 * Ownership:	open returns an owned handle; close takes NULL.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "sim/sim.h"

struct live;
struct timer;

struct live_answer {
	uint64_t due_ns;	/* CLOCK_MONOTONIC */
	uint64_t number;	/* of the operation, for live_answered */
	int error;		/* 0 or a negative errno */
};

int live_open(struct live **ret, const char *spec, struct err *err);
void live_close(struct live *live);

const struct sim_identity *live_identity(const struct live *live);
const char *live_spec(const struct live *live);		/* the shortest; borrowed */
const struct sim_config *live_configuration(const struct live *live);

/*
 * As sim_submit, now; reads and writes may cover any bytes inside the drive. Blocks written
 * in part are read, completed and written, as the page cache of a host would; both are the
 * drive's time.
 */
void live_submit(struct live *live, const struct sim_request *request, struct live_answer *ret);
/* The answer has been given now; for the log. */
void live_answered(struct live *live, uint64_t number);

/* Answers are due so much earlier than the drive says: the path's own share. */
void live_deduct(struct live *live, uint64_t deducted_ns);

/* As sim_query_range, after what was due by now. */
enum sim_page_truth live_query(struct live *live, uint64_t offset_bytes, uint64_t *ret_end);

/* --- what it knows of itself, as text ---------------------------------------------------- */

/* Most bytes of one text: what an extended attribute may hold, with room for a tail. */
#define LIVE_TEXT_BYTES 60000

/* One JSON object of counters. timer may be NULL. */
void live_stat_text(struct live *live, struct timer *timer, struct text *ret);
/*
 * { "first", "last", "block_bytes", "ranges": [{ "first", "last", "state" }...] } of the
 * logical blocks first..last. When it would be too long, "next" is where to ask again.
 */
void live_map_text(struct live *live, uint64_t first, uint64_t last, struct text *ret);
/*
 * Lines "number kind offset length submitted due answered error", in bytes and in
 * nanoseconds since the drive's birth; from the number given, or the oldest still kept.
 */
void live_log_text(struct live *live, uint64_t number, struct text *ret);
