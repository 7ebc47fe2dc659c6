/* SPDX-License-Identifier: MIT */

/* fill - a range written in order or at random, and at random again and again (dirty). */

#include <errno.h>

#include "state/work.h"

static int resolve_fill(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_fill *fill = &work->step->fill;

	return work_resolve(work, &fill->offset, &fill->size, err);
}

static uint64_t scaled(uint64_t bytes, uint64_t ppm)
{
	return (uint64_t)((unsigned __int128)bytes * ppm / PPM);
}

/* What is left of the range behind the last whole block: one request of its own. */
static int write_tail(struct work *work, struct err *err)
{
	const struct span whole = work->span;
	const uint64_t block = work->step->fill.block_bytes;
	const uint64_t tail = whole.size_bytes % block;
	int r;

	if (!tail || work_stopped(work))
		return 0;
	work->span = (struct span){ whole.offset_bytes + whole.size_bytes - tail, tail };
	work_workload(work, RW_WRITE, tail, 1, 0);
	work->workload.io_size_bytes = tail;
	r = work_run(work, NULL, err);
	work->span = whole;
	return r;
}

static int write_fill(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_fill *fill = &work->step->fill;
	const struct span whole = work->span;
	const uint64_t blocks = whole.size_bytes / fill->block_bytes;
	const bool random = fill->order == FILL_RANDOM;
	char block[UNITS_TEXT_BYTES];
	uint64_t count;
	int r = 0;

	work_method(work, "%s %s", random ? "random" : "sequential",
		    units_format_bytes(fill->block_bytes, block));
	work->span.size_bytes = blocks * fill->block_bytes;
	count = scaled(blocks, fill->times_ppm);
	if (blocks && !count)
		count = 1;
	if (count) {
		work_workload(work, random ? RW_RANDWRITE : RW_WRITE, fill->block_bytes,
			      fill->depth_count, fill->seed);
		work->workload.align_bytes = fill->block_bytes;
		work->workload.io_size_bytes = count * fill->block_bytes;
		r = work_run(work, NULL, err);
	}
	work->span = whole;
	if (r == 0 && fill->times_ppm >= PPM)
		r = write_tail(work, err);
	return r;
}

static int flush(void *ctx, struct err *err)
{
	return work_flush(ctx, err);
}

static int tell_fill(void *ctx, struct err *err)
{
	struct work *work = ctx;
	char size[UNITS_TEXT_BYTES], range[UNITS_TEXT_BYTES];

	(void)err;
	work_say(work, "%s written %s over %s", units_format_size((double)work->ret->written_bytes, size),
		 work->step->fill.order == FILL_RANDOM ? "in random order" : "sequentially",
		 units_format_size((double)work->span.size_bytes, range));
	work_figure(work, "times", (double)work->ret->written_bytes / (double)work->span.size_bytes);
	return 0;
}

const struct action fill_actions[] = {
	{ "find the range", resolve_fill, NULL },
	{ "write it", write_fill, NULL },
	{ "flush", flush, NULL },
	{ "tell", tell_fill, NULL },
	{ NULL, NULL, NULL },
};

static int resolve_dirty(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_dirty *dirty = &work->step->dirty;

	return work_resolve(work, &dirty->offset, &dirty->size, err);
}

/* Each block drawn anew: some are written often, some never, as by use. */
static int write_dirty(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_dirty *dirty = &work->step->dirty;
	uint64_t bytes = dirty->amount.bytes;

	if (dirty->amount.ppm)
		bytes = scaled(work->span.size_bytes, dirty->amount.ppm);
	if (!bytes)
		bytes = work->span.size_bytes;
	work_workload(work, RW_RANDWRITE, dirty->block_bytes, dirty->depth_count, dirty->seed);
	work->workload.size_mix = dirty->size_mix;
	work->workload.repeat = true;
	work->workload.io_size_bytes = bytes;
	work_method(work, "random writes");
	return work_run(work, NULL, err);
}

static int tell_dirty(void *ctx, struct err *err)
{
	struct work *work = ctx;
	char size[UNITS_TEXT_BYTES], range[UNITS_TEXT_BYTES];

	(void)err;
	work_say(work, "%s written at random over %s",
		 units_format_size((double)work->ret->written_bytes, size),
		 units_format_size((double)work->span.size_bytes, range));
	work_figure(work, "times", (double)work->ret->written_bytes / (double)work->span.size_bytes);
	return 0;
}

const struct action dirty_random_actions[] = {
	{ "find the range", resolve_dirty, NULL },
	{ "write at random", write_dirty, NULL },
	{ "flush", flush, NULL },
	{ "tell", tell_dirty, NULL },
	{ NULL, NULL, NULL },
};
