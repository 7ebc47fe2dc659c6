/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * trace - requests that were recorded somewhere, in one form whatever they were written in:
 * records of a fixed size in the order of time, in an unnamed file, with what is known of all of
 * them. foreign/trace.h makes one of any format; the engine replays it.
 *
 *	trace_new -> { trace_stream, trace_add }... -> trace_finish -> cursor... -> trace_free
 *
 * Ownership: new returns an owned handle; free accepts NULL and half of one. A finished trace is
 * read-only: any number of cursors, in any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/sorter.h"

enum trace_op {
	TRACE_READ,
	TRACE_WRITE,
	TRACE_TRIM,
	TRACE_FLUSH,
	TRACE_ZERO,	/* write zeroes; counted, not replayed */
	TRACE_OTHER,	/* zone operations and the like; counted, not replayed */
	TRACE_OPS,
};
extern const char *const trace_op_names[TRACE_OPS];	/* "read", "write", "trim", "flush", ... */

enum trace_flag {
	TRACE_SYNC = 1,
	TRACE_FUA = 2,
	TRACE_METADATA = 4,
	TRACE_READ_AHEAD = 8,
	TRACE_PREFLUSH = 16,
};

struct trace_record {
	uint64_t time_ns;		/* trace.zero_ns is when playing begins */
	uint64_t offset_bytes, length_bytes;
	uint64_t latency_ns;		/* as recorded; 0 = not known */
	uint32_t stream;		/* index of the recorded target */
	uint8_t op;			/* enum trace_op */
	uint8_t flags;
	uint16_t spare;
};

#define TRACE_NAME_BYTES 256

/* One recorded target. */
struct trace_stream {
	char name[TRACE_NAME_BYTES];	/* as the trace has it: "/dev/sdb", "8:16", "srv1.2" */
	uint64_t counts[TRACE_OPS], bytes[TRACE_OPS];
	uint64_t low_bytes, end_bytes;	/* of offsets; low is UINT64_MAX where none has one */
};

/* Of all that can be replayed, the streams together. */
struct trace_stats {
	uint64_t counts[TRACE_OPS], bytes[TRACE_OPS];
	uint64_t end_bytes;		/* the highest byte addressed, + 1 */
	uint64_t length_max_bytes;	/* of reads and writes */
	uint64_t trim_max_bytes;	/* of discards */
	uint64_t granule_bytes;		/* the largest power of two all offsets and lengths share */
	uint64_t unaligned_counts[2];	/* not in multiples of 512, of 4096 bytes */
	uint64_t duration_ns;		/* from zero to the last */
	uint64_t latency_count;		/* with a recorded latency */
	bool timed;			/* the trace has times, not an order alone */
};

struct trace {
	struct trace_stats stats;
	struct trace_stream *streams;	/* owned */
	uint32_t stream_count;
	uint64_t count;			/* of records */
	int fd;				/* of struct trace_record, in order */
	struct sorter *sorter;		/* NULL when finished */
	uint64_t first_ns, last_ns;	/* of the times */
	/*
	 * 0 where times count from the recording's start (the format says from_start), else the first
	 * record's time: of wall clocks only differences mean something.
	 */
	uint64_t zero_ns;
	bool from_start;
	struct trace_names *names;	/* owned: finds streams */
};

int trace_new(struct trace **ret, struct err *err);
void trace_free(struct trace *trace);
/* The stream of that name, made if there is none yet; -E2BIG beyond 65536 of them. */
int trace_stream(struct trace *trace, const char *name, uint32_t *ret, struct err *err);
int trace_add(struct trace *trace, const struct trace_record *record, struct err *err);
int trace_finish(struct trace *trace, struct err *err);

int trace_cursor(const struct trace *trace, struct cursor *ret, struct err *err);

struct workload;
struct replay;

/*
 * What the workload that replays it must say of it: reads, writes, trims (the shares are the
 * trace's), largest request, alignment, furthest byte, as the replay options change them. The
 * plan states it, so that consent and checks need no trace.
 */
void trace_describe(const struct trace *trace, struct workload *workload);

/*
 * Whether the trace is within what the workload says, as for a plan that was kept: no writes
 * where it says reads alone, no discards where it says none; streams named are there, and those
 * that meet on one target do not overlap, unless allowed. One sentence.
 */
int trace_check(const struct trace *trace, const struct workload *workload, struct err *err);

/* Whether the stream is among those the options replay. */
bool trace_plays(const struct trace *trace, uint32_t stream, const struct replay *replay);

/* Starts are rounded down and ends up to this when played; 0 = they stay as recorded. */
uint64_t trace_align_bytes(const struct trace *trace, const struct replay *replay);

/* Of reads and writes, as they are played. */
uint64_t trace_length_max_bytes(const struct trace *trace, const struct replay *replay);

/* Where the stream's byte 0 comes to lie: 0, or apart from the others with overlap=separate. */
uint64_t trace_base_bytes(const struct trace *trace, uint32_t stream, const struct replay *replay);
