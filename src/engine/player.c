/* SPDX-License-Identifier: MIT */
#include "engine/player.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/units.h"

#define TRIM_MAX_BYTES (1ull << 31)	/* of one request, whose length has 32 bits */

static const uint8_t kind_of_op[] = {
	[TRACE_READ] = IO_READ,
	[TRACE_WRITE] = IO_WRITE,
	[TRACE_TRIM] = IO_TRIM,
	[TRACE_FLUSH] = IO_FSYNC,
};

int player_init(struct player *p, const struct player_options *options, struct err *err)
{
	const struct replay *replay = &options->workload->replay;
	const struct trace *trace = options->trace;
	int r;

	*p = (struct player){
		.trace = trace,
		.replay = replay,
		.share = options->share,
		.align_bytes = trace_align_bytes(trace, replay),
		.offset_bytes = options->range->offset_bytes,
		.size_bytes = options->range->size_bytes,
		.due_ns = NEVER_NS,
	};
	assert(replay->speed_ppm > 0 && replay->divide > 0);
	p->bases = calloc(trace->stream_count, sizeof(*p->bases));
	if (!p->bases)
		return err_set(err, -ENOMEM, "no memory for %u recorded targets",
			       trace->stream_count);
	for (uint32_t i = 0; i < trace->stream_count; i++)
		p->bases[i] = trace_plays(trace, i, replay) ? trace_base_bytes(trace, i, replay) :
							      NEVER_NS;
	r = trace_cursor(trace, &p->cursor, err);
	/* Who fetches a window starts nothing meanwhile: one at a time. */
	p->cursor.shift = p->cursor.room * options->index / options->count;
	return r;
}

void player_done(struct player *p)
{
	free(p->bases);
	cursor_done(&p->cursor);
	*p = (struct player){ .due_ns = NEVER_NS };
}

uint64_t player_lasts_ns(const struct trace *trace, const struct workload *workload)
{
	const unsigned __int128 ns = trace->stats.duration_ns;

	if (workload->replay.timing != TIMING_RECORDED)
		return 0;
	return (uint64_t)(ns * PPM / workload->replay.speed_ppm);
}

static uint64_t played_ns(const struct player *p, const struct trace_record *record)
{
	const unsigned __int128 ns = record->time_ns - p->trace->zero_ns;

	return (uint64_t)(ns * PPM / p->replay->speed_ppm);
}

/* Into the range; false when nothing of it is left. */
static bool fit(struct player *p, uint64_t *offset, uint64_t *length)
{
	const uint64_t grid = p->align_bytes ? p->align_bytes : p->trace->stats.granule_bytes;
	const uint64_t usable = p->size_bytes - p->size_bytes % (grid ? grid : 1);

	if (*offset + *length <= p->size_bytes)
		return true;
	if (p->replay->beyond == BEYOND_WRAP && *length <= usable) {
		*offset %= usable;
		if (*offset + *length > usable)
			*offset = usable - *length;
		p->wrapped_count++;
		return true;
	}
	p->clipped_count++;
	if (*offset >= usable)
		return false;
	*length = usable - *offset;
	return true;
}

/* False when the record is not to be played; then it is counted. */
static bool place(struct player *p, const struct trace_record *record, uint64_t *offset,
		  uint64_t *length)
{
	const uint64_t base = p->bases[record->stream];
	const uint64_t align = p->align_bytes;
	uint64_t end;

	if (base == NEVER_NS)
		return false;		/* of another target's player */
	if (record->op > TRACE_FLUSH || (p->replay->skip >> record->op & 1)) {
		p->skipped_count++;
		return false;
	}
	if (record->op == TRACE_FLUSH) {
		*offset = *length = 0;
		return true;
	}
	*offset = record->offset_bytes / p->replay->divide;
	end = *offset + record->length_bytes;
	if (align) {
		*offset -= *offset % align;
		end = (end + align - 1) / align * align;
	}
	*length = end - *offset;
	*offset += base;
	return fit(p, offset, length);
}

static void set_next(struct player *p, uint8_t kind, uint64_t offset, uint64_t length)
{
	const uint64_t now = kind == IO_TRIM && length > TRIM_MAX_BYTES ? TRIM_MAX_BYTES : length;

	p->rest_offset_bytes = offset + now;
	p->rest_bytes = length - now;
	p->next = (struct io){
		.kind = kind,
		.offset_bytes = kind == IO_FSYNC ? 0 : p->offset_bytes + offset,
		.length_bytes = (uint32_t)now,
	};
	p->has_next = true;
}

static void fetch(struct player *p)
{
	const struct trace_record *record;
	uint64_t offset, length, at_ns;

	p->has_next = false;
	p->gap_ns = 0;
	if (p->rest_bytes > 0) {
		set_next(p, IO_TRIM, p->rest_offset_bytes, p->rest_bytes);
		return;
	}
	do {
		record = cursor_next(&p->cursor);
		if (!record) {
			p->code = p->cursor.code;
			p->due_ns = NEVER_NS;
			return;
		}
	} while (!place(p, record, &offset, &length));
	at_ns = played_ns(p, record);
	p->gap_ns = at_ns - p->before_ns;
	p->before_ns = at_ns;
	p->due_ns = p->begin_ns + at_ns;
	set_next(p, kind_of_op[record->op], offset, length);
}

void player_begin(struct player *p, uint64_t begin_ns)
{
	p->begin_ns = begin_ns;
	fetch(p);
}

static void advance(struct player *p)
{
	p->number++;
	fetch(p);
}

void player_follow(struct player *p)
{
	const uint64_t next = atomic_load_explicit(&p->share->next, memory_order_acquire);

	while (p->has_next && p->number < next)
		advance(p);
}

bool player_take(struct player *p, struct io *ret)
{
	const bool counts = p->replay->timing == TIMING_NONE;
	uint64_t number = p->number;

	assert(p->has_next);
	/* Before it is taken: who finds a flush to be next sees all before it. */
	if (counts)
		atomic_fetch_add_explicit(&p->share->flying_count, 1, memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit(&p->share->next, &number, number + 1,
						     memory_order_acq_rel, memory_order_acquire)) {
		if (counts)
			atomic_fetch_sub_explicit(&p->share->flying_count, 1, memory_order_relaxed);
		player_follow(p);
		return false;
	}
	*ret = p->next;
	p->played_count++;
	advance(p);
	return true;
}
