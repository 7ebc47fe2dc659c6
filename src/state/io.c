/* SPDX-License-Identifier: MIT */

/* io - what steps do to the target's bytes: through the engine, or one call at a time. */

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "state/work.h"

/* One ioctl's worth: often enough to be stopped, large enough to cost nothing. */
#define PIECE_BYTES GIB

static uint64_t amount_bytes(const struct amount *amount, uint64_t whole_bytes)
{
	if (amount->ppm)
		return (uint64_t)((unsigned __int128)whole_bytes * amount->ppm / PPM);
	return amount->bytes;
}

int work_resolve(struct work *work, const struct amount *offset, const struct amount *size,
		 struct err *err)
{
	const struct target_info *info = &work->state->target->info;
	const uint64_t whole = info->size_bytes;
	const uint64_t grain = info->physical_block_bytes > 4096 ? info->physical_block_bytes : 4096;
	char at[UNITS_TEXT_BYTES], text[UNITS_TEXT_BYTES], have[UNITS_TEXT_BYTES];
	struct span span = { amount_bytes(offset, whole), amount_bytes(size, whole) };

	if (offset->ppm)
		span.offset_bytes -= span.offset_bytes % grain;
	if (size->ppm && span.size_bytes > grain)
		span.size_bytes -= span.size_bytes % grain;
	if (span.offset_bytes >= whole || span.size_bytes > whole - span.offset_bytes)
		return err_set(err, -EFBIG, "a range of %s at %s does not fit in the target's %s",
			       units_format_bytes(span.size_bytes, text),
			       units_format_bytes(span.offset_bytes, at),
			       units_format_bytes(whole, have));
	if (!span.size_bytes)
		span.size_bytes = whole - span.offset_bytes;
	work->span = span;
	return 0;
}

void work_workload(struct work *work, enum workload_rw rw, uint64_t block_bytes,
		   uint32_t depth_count, uint64_t seed)
{
	struct workload *w = &work->workload;

	workload_init(w);
	snprintf(w->name, sizeof(w->name), "%s", work->ret->name);
	w->rw = rw;
	w->block_bytes = block_bytes;
	w->depth_count = depth_count;
	w->job_count = 1;
	w->offset.bytes = work->span.offset_bytes;
	w->size.bytes = work->span.size_bytes;
	w->direct = true;
	w->data = DATA_RANDOM;
	w->seed = work_seed(work, seed);
}

static int run_failed(const struct work *work, const struct measurement *m, struct err *err)
{
	const int code = m->errno_count ? m->errnos[0].code : -EIO;

	return err_set(err, code, "%s: %s", work->state->target->info.spec, m->error_text);
}

int work_run(struct work *work, struct measurement *ret, struct err *err)
{
	const struct state_options *o = &work->state->options;
	const struct engine_options options = {
		.clock = work->state->clock,
		.stop = o->stop,
		.progress = o->progress,
		.progress_ctx = o->progress_ctx,
	};
	struct measurement m;
	int r;

	measurement_init(&m);
	r = engine_run(&work->workload, work->state->target, &options, &m, err);
	if (r == 0) {
		work->ret->written_bytes += m.ops[OP_WRITE].bytes;
		work->ret->read_bytes += m.ops[OP_READ].bytes;
		work->ret->interrupted |= m.interrupted;
		if (m.ended_early)
			r = run_failed(work, &m, err);
	}
	if (r == 0 && ret)
		*ret = m;
	else
		measurement_done(&m);
	return r;
}

/* One request on a target with a queue of its own; virtual time goes on to its end. */
static int queue_one(struct work *work, struct io *io, struct err *err)
{
	struct target *target = work->state->target;
	const struct queue_options options = {
		.depth_count = 1,
		.length_max_bytes = io->length_bytes,
		.pool = io->buffer,
		.pool_bytes = io->buffer ? io->length_bytes : 0,
		.clock = work->state->clock,
	};
	struct queue *queue;
	struct io_done done;
	int r = target->queue->open(&queue, target, &options, err);

	if (r < 0)
		return r;
	queue->ops->push(queue, io, 1);
	r = queue->ops->reap(queue, &done, 1, 1, NEVER_NS);
	queue->ops->close(queue);
	if (r == 1 && done.result < 0)
		r = done.result;
	return r < 0 ? err_errno(err, r, "%s at %llu", target->info.spec,
				 (unsigned long long)io->offset_bytes) :
		       0;
}

int work_flush(struct work *work, struct err *err)
{
	struct target *target = work->state->target;

	if (target->queue)
		return queue_one(work, &(struct io){ .kind = IO_FDATASYNC }, err);
	if (fdatasync(target->fd) < 0)
		return err_errno(err, -errno, "%s: flush", target->info.spec);
	return 0;
}

int work_read(struct work *work, uint64_t offset_bytes, void *buffer, uint32_t length_bytes,
	      struct err *err)
{
	struct target *target = work->state->target;
	ssize_t got;

	if (target->queue)
		return queue_one(work,
				 &(struct io){ .kind = IO_READ,
					       .offset_bytes = offset_bytes,
					       .length_bytes = length_bytes,
					       .buffer = buffer },
				 err);
	got = pread(target->fd, buffer, length_bytes, (off_t)offset_bytes);
	if (got != (ssize_t)length_bytes)
		return err_errno(err, got < 0 ? -errno : -EIO, "%s: read at %llu", target->info.spec,
				 (unsigned long long)offset_bytes);
	return 0;
}

static int discard_piece(struct work *work, const struct span *piece, struct err *err)
{
	struct target *target = work->state->target;
	uint64_t range[2] = { piece->offset_bytes, piece->size_bytes };
	int r;

	if (target->queue)
		return queue_one(work,
				 &(struct io){ .kind = IO_TRIM,
					       .offset_bytes = piece->offset_bytes,
					       .length_bytes = (uint32_t)piece->size_bytes },
				 err);
	if (target->info.kind == TARGET_BLOCK)
		r = ioctl(target->fd, BLKDISCARD, range);
	else
		r = fallocate(target->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)piece->offset_bytes, (off_t)piece->size_bytes);
	if (r < 0)
		return err_errno(err, -errno, "%s: discard of %llu bytes at %llu", target->info.spec,
				 (unsigned long long)piece->size_bytes,
				 (unsigned long long)piece->offset_bytes);
	return 0;
}

int work_discard(struct work *work, const struct span *span, struct err *err)
{
	const uint64_t end = span->offset_bytes + span->size_bytes;

	for (uint64_t at = span->offset_bytes; at < end && !work_stopped(work); at += PIECE_BYTES) {
		const struct span piece = { at, end - at < PIECE_BYTES ? end - at : PIECE_BYTES };
		const int r = discard_piece(work, &piece, err);

		if (r < 0)
			return r;
		work->ret->discard_asked_bytes += piece.size_bytes;
	}
	return 0;
}

static int zero_piece(struct work *work, const struct span *piece, struct err *err)
{
	const struct target *target = work->state->target;
	uint64_t range[2] = { piece->offset_bytes, piece->size_bytes };
	int r;

	if (target->info.kind == TARGET_BLOCK)
		r = ioctl(target->fd, BLKZEROOUT, range);
	else
		r = fallocate(target->fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
			      (off_t)piece->offset_bytes, (off_t)piece->size_bytes);
	if (r < 0)
		return err_errno(err, -errno, "%s: zeros at %llu", target->info.spec,
				 (unsigned long long)piece->offset_bytes);
	return 0;
}

int work_zero(struct work *work, const struct span *span, struct err *err)
{
	const uint64_t end = span->offset_bytes + span->size_bytes;

	/* The reference drive has no such command of its own: zeros are written to it. */
	if (work->state->target->queue) {
		work->span = *span;
		work_workload(work, RW_WRITE, MIB, 8, 1);
		work->workload.data = DATA_ZERO;
		work->workload.io_size_bytes = span->size_bytes;
		return work_run(work, NULL, err);
	}
	for (uint64_t at = span->offset_bytes; at < end && !work_stopped(work); at += PIECE_BYTES) {
		const struct span piece = { at, end - at < PIECE_BYTES ? end - at : PIECE_BYTES };
		const int r = zero_piece(work, &piece, err);

		if (r < 0)
			return r;
		work->ret->written_bytes += piece.size_bytes;
	}
	return 0;
}

/* -1 when the reference drive does not say. */
static double trimmed_bytes(struct target *target)
{
	struct drive_truth truth;

	target->truth_end(target, &truth);
	for (uint32_t i = 0; i < truth.row_count; i++)
		if (strcmp(truth.rows[i].name, "host_trimmed_bytes") == 0)
			return truth.rows[i].value;
	return -1;
}

static bool read_discards(struct work *work, uint64_t *ret)
{
	struct device_counters counters;

	if (target_counters(work->state->target, &counters, NULL) < 0)
		return false;
	*ret = counters.discard_bytes;
	return true;
}

/* Looks of a tenth of a second: so many alike are the end, so many are enough. */
#define METER_QUIET 5
#define METER_LOOKS 100

void discard_meter_begin(struct work *work, struct discard_meter *ret)
{
	struct target *target = work->state->target;

	*ret = (struct discard_meter){ 0 };
	if (target->truth_begin) {
		target->truth_begin(target);
		ret->known = true;
	} else if (target->fd >= 0) {
		ret->known = read_discards(work, &ret->bytes);
	}
}

void discard_meter_end(struct work *work, const struct discard_meter *before)
{
	struct target *target = work->state->target;
	uint64_t last, now = before->bytes;
	int quiet_count = 0;

	if (!before->known)
		return;
	work->ret->have_sent = true;
	if (target->truth_end) {
		const double bytes = trimmed_bytes(target);

		work->ret->have_sent = bytes >= 0;
		work->ret->discard_sent_bytes += bytes > 0 ? (uint64_t)bytes : 0;
		return;
	}
	/*
	 * File systems send the rest after the call has returned: XFS, ext4 at its commit. On a busy
	 * machine a tenth of a second without one is no end.
	 */
	for (int i = 0; i < METER_LOOKS && quiet_count < METER_QUIET; i++) {
		last = now;
		if (!read_discards(work, &now))
			break;
		quiet_count = i > 0 && now == last ? quiet_count + 1 : 0;
		clock_sleep_until(work->state->clock,
				  clock_now_ns(work->state->clock) + 100 * MILLISECOND_NS, NULL);
	}
	work->ret->discard_sent_bytes += now - before->bytes;
}
