/* SPDX-License-Identifier: MIT */
#include "engine/worker_loop.h"

#include <errno.h>

/*
 * The plain loop: closed, one kind, one size, nothing to fill or to verify. kind is a
 * constant where it is called, so that each call is a loop of its own.
 */
static inline __attribute__((always_inline)) void plain_start(struct worker *w, enum io_kind kind,
							      uint32_t count, uint64_t now_ns)
{
	const uint32_t length_bytes = w->mix.length_bytes;
	const uint32_t *const tags = w->free_tags + w->free_count - count;
	const uint64_t *const offsets = w->offsets;
	const size_t stride_bytes = w->stride_bytes;
	struct worker_slot *const slots = w->slots;
	struct io *const ios = w->ios;
	char *const pool = w->pool;

	/* Members are read once: the stores below might change them, for all the compiler knows. */
	if (count == 1)
		w->offsets[0] = address_next(&w->address, length_bytes);
	else
		address_next_many(&w->address, length_bytes, w->offsets, count);
	w->free_count -= count;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t tag = tags[i];
		struct io *io = &ios[i];

		slots[tag].submit_ns = now_ns;
		slots[tag].offset_bytes = offsets[i];
		io->offset_bytes = offsets[i];
		io->buffer = pool + tag * stride_bytes;
		io->length_bytes = length_bytes;
		io->tag = tag;
		io->kind = (uint8_t)kind;
	}
	if (w->left_count != WORK_UNLIMITED)
		w->left_count -= count;
	pushed(w, count);
}

static __attribute__((noinline)) void plain_failed(struct worker *w, enum io_kind kind,
						   const struct io_done *done)
{
	struct worker_slot *slot = &w->slots[done->tag];

	slot->length_bytes = w->mix.length_bytes;
	slot->kind = (uint8_t)kind;
	fail(w, slot, false, done->result < 0 ? done->result :
			     kind == IO_READ  ? -ENODATA :
						-ENOSPC);
}

static inline __attribute__((always_inline)) void plain_complete(struct worker *w,
								 enum io_kind kind, uint32_t count,
								 uint64_t now_ns)
{
	const uint64_t bytes = w->mix.length_bytes;
	const enum op_kind op = kind == IO_READ ? OP_READ : OP_WRITE;
	struct worker_slot *const slots = w->slots;
	uint32_t *const tags = w->free_tags + w->free_count;
	uint64_t run_ns = 0;
	uint32_t run_count = 0;

	w->free_count += count;
	for (uint32_t i = 0; i < count; i++) {
		const struct io_done *done = &w->dones[i];
		const struct worker_slot *slot = &slots[done->tag];
		const uint64_t end_ns = done->done_ns ? done->done_ns : now_ns;
		const uint64_t latency_ns = end_ns - slot->submit_ns;

		tags[i] = done->tag;
		if (__builtin_expect(done->result != (int32_t)bytes, 0)) {
			plain_failed(w, kind, done);
			continue;
		}
		/* What was submitted and reaped together took the same time: one entry. */
		if (latency_ns != run_ns && run_count > 0) {
			recorder_add_many(&w->recorder, op, run_count * bytes, run_ns, run_count);
			run_count = 0;
		}
		run_ns = latency_ns;
		run_count++;
	}
	if (run_count > 0)
		recorder_add_many(&w->recorder, op, run_count * bytes, run_ns, run_count);
}

/* So many were done one by one; failed ones are counted as they come. */
static inline void lone_counted(struct worker *w, enum op_kind op, uint64_t count)
{
	w->flying_counts[1] += count;
	w->push_counts[1] += count;
	w->reap_counts[1] += count;
	w->recorder.ops[op].bytes += count * w->mix.length_bytes;
}

/* It was not done when the wait ended (a signal): it is the batches' loop's. */
static __attribute__((noinline)) void lone_left(struct worker *w, int code, uint64_t start_ns)
{
	w->slots[w->ios[0].tag].submit_ns = start_ns;
	w->slots[w->ios[0].tag].offset_bytes = w->ios[0].offset_bytes;
	w->free_count = 0;
	w->flying_counts[1]++;
	w->push_counts[1]++;
	w->reap_counts[0]++;
	if (code < 0)
		fail_queue(w, code);
}

static __attribute__((noinline)) void lone_failed(struct worker *w, enum io_kind kind,
						  uint64_t start_ns)
{
	w->slots[w->ios[0].tag].submit_ns = start_ns;
	w->slots[w->ios[0].tag].offset_bytes = w->ios[0].offset_bytes;
	plain_failed(w, kind, &w->dones[0]);
	w->flying_counts[1]++;
	w->push_counts[1]++;
	w->reap_counts[1]++;
}

static int push_and_reap(struct queue *queue, const struct io *io, struct io_done *done)
{
	queue->ops->push(queue, io, 1);
	return queue->ops->reap(queue, done, 1, 1, NEVER_NS);
}

/*
 * At depth 1 a request starts where the one before was done: the loop's own 20 ns count as
 * latency, and one reading of the clock is saved. Nothing needs to be remembered of a request
 * either. Returns when all is over, or with a request in flight.
 */
static inline __attribute__((always_inline)) uint64_t lone_run(struct worker *w, enum io_kind kind,
							       uint64_t now_ns)
{
	const enum op_kind op = kind == IO_READ ? OP_READ : OP_WRITE;
	const uint32_t length_bytes = w->mix.length_bytes;
	const struct clock clock = *w->work->clock;
	int (*const one)(struct queue *, const struct io *, struct io_done *) =
		w->queue->ops->one ? w->queue->ops->one : push_and_reap;
	struct histogram *const interval = w->recorder.interval[op];
	struct io_done *const done = &w->dones[0];
	struct io *const io = &w->ios[0];
	uint64_t count = 0;

	*io = (struct io){
		.buffer = w->pool + w->free_tags[0] * w->stride_bytes,
		.length_bytes = length_bytes,
		.tag = w->free_tags[0],
		.kind = (uint8_t)kind,
	};
	while (!is_over(w, now_ns) && w->left_bytes == WORK_UNLIMITED) {
		const uint64_t start_ns = now_ns;
		uint64_t end_ns;
		int r;

		io->offset_bytes = address_next(&w->address, length_bytes);
		if (w->left_count != WORK_UNLIMITED)
			w->left_count--;
		r = one(w->queue, io, done);
		end_ns = now_ns = clock_now_ns(&clock);
		if (__builtin_expect(r != 1, 0)) {
			lone_left(w, r, start_ns);
			break;
		}
		if (__builtin_expect(recorder_due(&w->recorder, now_ns), 0)) {
			lone_counted(w, op, count);
			count = 0;
			tick(w, end_ns);
			/* Closing a second takes longer than a request may be charged for. */
			now_ns = clock_now_ns(&clock);
		}
		if (__builtin_expect(done->result != (int32_t)length_bytes, 0)) {
			lone_failed(w, kind, start_ns);
			continue;
		}
		histogram_add(interval, (done->done_ns ? done->done_ns : end_ns) - start_ns);
		count++;
	}
	lone_counted(w, op, count);
	return now_ns;
}

static inline __attribute__((always_inline)) void plain_run(struct worker *w, enum io_kind kind)
{
	struct queue *queue = w->queue;
	int (*const reap)(struct queue *, struct io_done *, uint32_t, uint32_t, uint64_t) =
		queue->ops->reap;
	const struct clock clock = *w->work->clock;
	uint64_t now_ns = clock_now_ns(&clock);

	/* An amount of bytes that is no whole number of requests is the general loop's to end. */
	while (!is_over(w, now_ns) && w->left_bytes == WORK_UNLIMITED) {
		uint32_t count = w->free_count < w->batch_count ? w->free_count : w->batch_count;
		int r;

		if (w->depth_count == 1 && count == 1) {
			now_ns = lone_run(w, kind, now_ns);
			continue;
		}
		if (count > w->left_count)
			count = (uint32_t)w->left_count;
		if (count > 0)
			plain_start(w, kind, count, clock_now_ns(&clock));
		r = reap(queue, w->dones, w->free_count && w->left_count ? 0 : w->wait_count,
			 w->depth_count, NEVER_NS);
		now_ns = clock_now_ns(&clock);
		if (__builtin_expect(r < 0, 0)) {
			fail_queue(w, r);
			return;
		}
		w->reap_counts[r]++;
		if (__builtin_expect(recorder_due(&w->recorder, now_ns), 0))
			tick(w, now_ns);
		plain_complete(w, kind, (uint32_t)r, now_ns);
		if (w->work->batch_grows)
			adapt_batch(w, count, (uint32_t)r);
	}
}

static bool is_plain(const struct worker *w)
{
	const struct work *work = w->work;

	return !w->lines.lines && !w->is_replay && !w->tap && !work->flow && !w->search.target_ns &&
	       !w->open_loop && w->mix.constant && w->mix.kind != IO_TRIM && !w->sync_every &&
	       !w->sync_each &&
	       !work->workload->think_ns && !work->map.words && w->latency_ns_max == UINT64_MAX &&
	       (w->mix.kind == IO_READ || !work->fills) && w->left_bytes == WORK_UNLIMITED;
}

void worker_run_plain(struct worker *w)
{
	if (is_plain(w) && w->mix.kind == IO_READ)
		plain_run(w, IO_READ);
	else if (is_plain(w))
		plain_run(w, IO_WRITE);
}
