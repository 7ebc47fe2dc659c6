/* SPDX-License-Identifier: MIT */
#include "model/trace.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/units.h"
#include "model/replay.h"
#include "model/workload.h"

#define STREAMS_MAX 65536u
#define PAGE_BYTES 4096u

const char *const trace_op_names[TRACE_OPS] = {
	"read", "write", "trim", "flush", "write-zeroes", "other",
};

/* Names to indices: open addressing, at most half full. */
struct trace_names {
	uint32_t *slots;	/* index + 1; 0 = free */
	uint32_t mask;
};

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = random_mix(hash ^ (unsigned char)*name);
	return hash;
}

int trace_new(struct trace **ret, struct err *err)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	int r;

	if (!trace)
		return err_set(err, -ENOMEM, "no memory for a trace");
	trace->fd = -1;
	trace->first_ns = UINT64_MAX;
	trace->stats.timed = true;
	trace->names = calloc(1, sizeof(*trace->names));
	r = trace->names ? 0 : err_set(err, -ENOMEM, "no memory for a trace");
	if (r == 0)
		r = sorter_new(&trace->sorter, sizeof(struct trace_record),
			       offsetof(struct trace_record, time_ns), err);
	if (r < 0) {
		trace_free(trace);
		return r;
	}
	*ret = trace;
	return 0;
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	if (trace->fd >= 0)
		close(trace->fd);
	sorter_free(trace->sorter);
	if (trace->names)
		free(trace->names->slots);
	free(trace->names);
	free(trace->streams);
	free(trace);
}

static uint32_t *find_slot(const struct trace *trace, const char *name)
{
	const struct trace_names *names = trace->names;
	uint64_t at = hash_of(name);

	for (;; at++) {
		uint32_t *slot = &names->slots[at & names->mask];

		if (*slot == 0 || strcmp(trace->streams[*slot - 1].name, name) == 0)
			return slot;
	}
}

static int grow(struct trace *trace, struct err *err)
{
	struct trace_names *names = trace->names;
	const uint32_t room = trace->stream_count ? trace->stream_count * 2 : 16;
	struct trace_stream *streams = reallocarray(trace->streams, room, sizeof(*streams));
	uint32_t *slots = calloc(room * 2, sizeof(*slots));

	if (streams)
		trace->streams = streams;
	if (!streams || !slots) {
		free(slots);
		return err_set(err, -ENOMEM, "no memory for %u recorded targets", room);
	}
	free(names->slots);
	names->slots = slots;
	names->mask = room * 2 - 1;
	for (uint32_t i = 0; i < trace->stream_count; i++)
		*find_slot(trace, trace->streams[i].name) = i + 1;
	return 0;
}

int trace_stream(struct trace *trace, const char *name, uint32_t *ret, struct err *err)
{
	struct trace_stream *stream;
	uint32_t *slot;

	if (trace->names->slots && *(slot = find_slot(trace, name))) {
		*ret = *slot - 1;
		return 0;
	}
	if (strlen(name) >= TRACE_NAME_BYTES)
		return err_set(err, -ENAMETOOLONG,
				"the name of a recorded target is longer than %d",
			       TRACE_NAME_BYTES - 1);
	if (trace->stream_count == STREAMS_MAX)
		return err_set(err, -E2BIG, "more than %u recorded targets", STREAMS_MAX);
	/* Full at each power of two from 16 on. */
	if (trace->stream_count == 0 ||
	    (trace->stream_count >= 16 && !(trace->stream_count & (trace->stream_count - 1)))) {
		const int r = grow(trace, err);

		if (r < 0)
			return r;
	}
	stream = &trace->streams[trace->stream_count];
	memset(stream, 0, sizeof(*stream));
	memcpy(stream->name, name, strlen(name));
	stream->low_bytes = UINT64_MAX;
	*find_slot(trace, name) = ++trace->stream_count;
	*ret = trace->stream_count - 1;
	return 0;
}

static bool has_range(const struct trace_record *record)
{
	return record->op <= TRACE_TRIM;
}

static void count(struct trace *trace, const struct trace_record *record)
{
	struct trace_stream *stream = &trace->streams[record->stream];
	struct trace_stats *stats = &trace->stats;
	const uint64_t end_bytes = record->offset_bytes + record->length_bytes;
	const uint64_t both = record->offset_bytes | record->length_bytes;

	stats->counts[record->op]++;
	stream->counts[record->op]++;
	stats->latency_count += record->latency_ns > 0;
	if (!has_range(record))
		return;
	stats->bytes[record->op] += record->length_bytes;
	stream->bytes[record->op] += record->length_bytes;
	if (record->offset_bytes < stream->low_bytes)
		stream->low_bytes = record->offset_bytes;
	if (end_bytes > stream->end_bytes)
		stream->end_bytes = end_bytes;
	if (end_bytes > stats->end_bytes)
		stats->end_bytes = end_bytes;
	if (record->op == TRACE_TRIM && record->length_bytes > stats->trim_max_bytes)
		stats->trim_max_bytes = record->length_bytes;
	if (record->op != TRACE_TRIM && record->length_bytes > stats->length_max_bytes)
		stats->length_max_bytes = record->length_bytes;
	/* Gathered bit by bit; the lowest bit of all is the granule. */
	stats->granule_bytes |= both;
	stats->unaligned_counts[0] += both % 512 != 0;
	stats->unaligned_counts[1] += both % 4096 != 0;
}

int trace_add(struct trace *trace, const struct trace_record *record, struct err *err)
{
	assert(trace->sorter && record->stream < trace->stream_count && record->op < TRACE_OPS);
	assert(record->offset_bytes + record->length_bytes >= record->offset_bytes);
	if (record->time_ns < trace->first_ns)
		trace->first_ns = record->time_ns;
	if (record->time_ns > trace->last_ns)
		trace->last_ns = record->time_ns;
	count(trace, record);
	return sorter_add(trace->sorter, record, err);
}

int trace_finish(struct trace *trace, struct err *err)
{
	struct trace_stats *stats = &trace->stats;
	int r = sorter_finish(trace->sorter, &trace->fd, &trace->count, err);

	if (r < 0)
		return r;
	sorter_free(trace->sorter);
	trace->sorter = NULL;
	stats->granule_bytes &= -stats->granule_bytes;
	if (trace->count > 0 && !trace->from_start)
		trace->zero_ns = trace->first_ns;
	stats->duration_ns = trace->last_ns - trace->zero_ns;
	return 0;
}

int trace_cursor(const struct trace *trace, struct cursor *ret, struct err *err)
{
	assert(!trace->sorter);
	return cursor_init(ret, trace->fd, sizeof(struct trace_record), trace->count, err);
}

/* --- what the replay options make of it ----------------------------------------------------- */

/* Whether the name stands in a list with commas between. */
static bool is_listed(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = list; *at; at += strcspn(at, ",")) {
		at += *at == ',';
		if (strncmp(at, name, length) == 0 && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

bool trace_plays(const struct trace *trace, uint32_t stream, const struct replay *replay)
{
	return !*replay->streams || is_listed(replay->streams, trace->streams[stream].name);
}

uint64_t trace_align_bytes(const struct trace *trace, const struct replay *replay)
{
	const uint64_t granule_bytes = trace->stats.granule_bytes;

	if (replay->align_bytes || replay->divide == 1)
		return replay->align_bytes;
	/* What was divided is put back on the grid it had. */
	return granule_bytes > PAGE_BYTES ? PAGE_BYTES : granule_bytes;
}

/* Where the stream ends on the target, without its base. */
static uint64_t played_end_bytes(const struct trace *trace, uint32_t stream,
				 const struct replay *replay)
{
	const struct trace_stream *s = &trace->streams[stream];
	const uint64_t align_bytes = trace_align_bytes(trace, replay);
	uint64_t end_bytes = s->end_bytes;

	const uint64_t length_bytes = trace_length_max_bytes(trace, replay);

	/* The length stays when the offset is divided: the end is at most so far. */
	if (replay->divide > 1)
		end_bytes = end_bytes / replay->divide +
			    (length_bytes > trace->stats.trim_max_bytes ? length_bytes :
									  trace->stats.trim_max_bytes);
	if (align_bytes)
		end_bytes = (end_bytes + align_bytes - 1) / align_bytes * align_bytes;
	return end_bytes;
}

uint64_t trace_base_bytes(const struct trace *trace, uint32_t stream, const struct replay *replay)
{
	uint64_t base_bytes = 0;

	if (replay->overlap != OVERLAP_SEPARATE)
		return 0;
	for (uint32_t i = 0; i < stream; i++) {
		if (trace_plays(trace, i, replay))
			base_bytes += (played_end_bytes(trace, i, replay) + MIB - 1) / MIB * MIB;
	}
	return base_bytes;
}

uint64_t trace_length_max_bytes(const struct trace *trace, const struct replay *replay)
{
	const uint64_t align_bytes = trace_align_bytes(trace, replay);
	uint64_t length_bytes = trace->stats.length_max_bytes;

	/* Both ends may move by almost the alignment. */
	if (align_bytes && (trace->stats.granule_bytes % align_bytes || replay->divide > 1))
		length_bytes = (length_bytes + 2 * (align_bytes - 1)) / align_bytes * align_bytes;
	return length_bytes;
}

struct played {
	uint64_t counts[TRACE_OPS];
	uint64_t end_bytes;
};

static void sum_played(const struct trace *trace, const struct replay *replay, struct played *ret)
{
	*ret = (struct played){ 0 };
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		uint64_t end_bytes;

		if (!trace_plays(trace, i, replay))
			continue;
		for (int op = 0; op <= TRACE_FLUSH; op++)
			if (!(replay->skip >> op & 1))
				ret->counts[op] += trace->streams[i].counts[op];
		end_bytes = trace_base_bytes(trace, i, replay) + played_end_bytes(trace, i, replay);
		if (end_bytes > ret->end_bytes)
			ret->end_bytes = end_bytes;
	}
}

/* Never 0 nor the whole, unless it is. */
static uint32_t share_ppm(uint64_t part, uint64_t whole)
{
	const uint64_t ppm = (uint64_t)((unsigned __int128)part * PPM / whole);

	if (part == whole)
		return PPM;
	return ppm ? (uint32_t)ppm : part > 0;
}

static void describe_mix(const struct played *played, struct workload *w)
{
	const uint64_t reads = played->counts[TRACE_READ];
	const uint64_t writes = played->counts[TRACE_WRITE], trims = played->counts[TRACE_TRIM];

	w->read_ppm = PPM / 2;
	w->trim_ppm = 0;
	if (writes + trims == 0)
		w->rw = RW_RANDREAD;
	else if (reads == 0)
		w->rw = writes ? RW_RANDWRITE : RW_RANDTRIM;
	else
		w->rw = RW_RANDRW;
	if (w->rw == RW_RANDRW)
		w->read_ppm = share_ppm(reads, reads + writes + trims);
	if (trims > 0 && w->rw != RW_RANDTRIM)
		w->trim_ppm = share_ppm(trims, writes + trims);
}

void trace_describe(const struct trace *trace, struct workload *workload)
{
	const struct replay *replay = &workload->replay;
	const uint64_t align_bytes = trace_align_bytes(trace, replay);
	const uint64_t length_bytes = trace_length_max_bytes(trace, replay);
	struct played played;

	sum_played(trace, replay, &played);
	describe_mix(&played, workload);
	workload->block_bytes = length_bytes ? length_bytes : PAGE_BYTES;
	workload->align_bytes = align_bytes ? align_bytes : trace->stats.granule_bytes;
	if (workload->align_bytes > PAGE_BYTES)
		workload->align_bytes = PAGE_BYTES;
	if (replay->beyond == BEYOND_REFUSE)
		workload->size.bytes = played.end_bytes > workload->block_bytes ?
					       played.end_bytes :
					       workload->block_bytes;
}

/* --- checks --------------------------------------------------------------------------------- */

static int check_names(const struct trace *trace, const struct replay *replay, struct err *err)
{
	char name[sizeof(replay->streams)];

	for (const char *at = replay->streams; *at; at += strcspn(at, ",")) {
		bool found = false;

		at += *at == ',';
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
		for (uint32_t i = 0; i < trace->stream_count; i++)
			found |= strcmp(trace->streams[i].name, name) == 0;
		if (!found)
			return err_set(err, -EINVAL,
					"the trace has no target '%s'; its first is '%s'",
				       name, trace->stream_count ? trace->streams[0].name : "");
	}
	return 0;
}

static int by_low(const void *a, const void *b)
{
	const struct trace_stream *const *x = a, *const *y = b;

	return ((*x)->low_bytes > (*y)->low_bytes) - ((*x)->low_bytes < (*y)->low_bytes);
}

static int tell_overlap(const struct trace_stream *a, const struct trace_stream *b, struct err *err)
{
	err_set(err, -EINVAL,
			"recorded targets '%s' and '%s' would meet on one target: both address "
			      "bytes from %llu on",
		a->name, b->name, (unsigned long long)b->low_bytes);
	return err_hint(err,
			"overlap=separate puts them behind each other, overlap=allow lets them "
			     "meet; or give each a target of its own");
}

static int check_overlap(const struct trace *trace, const struct replay *replay, struct err *err)
{
	const struct trace_stream **played;
	const struct trace_stream *furthest = NULL;
	size_t n = 0;
	int r = 0;

	if (replay->overlap != OVERLAP_REFUSE || trace->stream_count < 2)
		return 0;
	played = calloc(trace->stream_count, sizeof(*played));
	if (!played)
		return err_set(err, -ENOMEM, "no memory for %u targets", trace->stream_count);
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		if (trace_plays(trace, i, replay) && trace->streams[i].end_bytes > 0)
			played[n++] = &trace->streams[i];
	}
	qsort(played, n, sizeof(*played), by_low);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (furthest && played[i]->low_bytes < furthest->end_bytes)
			r = tell_overlap(furthest, played[i], err);
		if (!furthest || played[i]->end_bytes > furthest->end_bytes)
			furthest = played[i];
	}
	free(played);
	return r;
}

static int undeclared(const char *what, uint64_t count, struct err *err)
{
	err_set(err, -EINVAL, "the trace contains %llu %s, and its plan says none",
		(unsigned long long)count, what);
	return err_hint(err, "make the plan anew from the trace: tare replay --print-plan");
}

int trace_check(const struct trace *trace, const struct workload *workload, struct err *err)
{
	const struct replay *replay = &workload->replay;
	struct played played;
	int r = check_names(trace, replay, err);

	if (r == 0)
		r = check_overlap(trace, replay, err);
	if (r < 0)
		return r;
	sum_played(trace, replay, &played);
	if (!played.counts[TRACE_READ] && !played.counts[TRACE_WRITE] && !played.counts[TRACE_TRIM])
		return err_set(err, -EINVAL, "nothing of the trace is left to be replayed");
	if (played.counts[TRACE_READ] && !workload_reads(workload))
		return undeclared("reads", played.counts[TRACE_READ], err);
	if (played.counts[TRACE_WRITE] && !workload_stores(workload))
		return undeclared("writes", played.counts[TRACE_WRITE], err);
	if (played.counts[TRACE_TRIM] && !workload_trims(workload))
		return undeclared("discards", played.counts[TRACE_TRIM], err);
	if (trace_length_max_bytes(trace, replay) > workload->block_bytes)
		return err_set(err, -EINVAL,
				"the trace has requests of up to %llu bytes, and its plan "
					     "says bs=%llu",
			       (unsigned long long)trace_length_max_bytes(trace, replay),
			       (unsigned long long)workload->block_bytes);
	if (replay->beyond == BEYOND_REFUSE && workload->size.bytes &&
	    played.end_bytes > workload->size.bytes)
		return err_set(err, -EINVAL, "the trace addresses %llu bytes, and its plan says "
					     "size=%llu",
			       (unsigned long long)played.end_bytes,
			       (unsigned long long)workload->size.bytes);
	if (!trace->stats.timed && replay->timing != TIMING_NONE)
		return err_set(err, -EINVAL,
				"the trace has an order but no times; timing=none replays "
					     "it");
	return 0;
}
