/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * worker_loop - what the two loops share: the general one (worker.c; everything, in real and in
 * virtual time) and the plain one (worker_plain.c; what is simple, and fast because of it).
 */

#include "engine/run.h"
#include "engine/worker_aside.h"

#define GRACE_NS (2 * SECOND_NS)		/* to take what arrived before the end */
#define INLINE_STREAK 8

/* Does what the plain loop can do; returns with the rest, requests in flight too, left to do. */
void worker_run_plain(struct worker *w);

static inline bool stop_raised(const struct work *work)
{
	return work->stop && *work->stop;
}

static inline uint32_t in_flight(const struct worker *w)
{
	return w->depth_count - w->free_count;
}

static inline void fail(struct worker *w, const struct worker_slot *slot, bool in_sync, int code)
{
	recorder_error(&w->recorder, in_sync ? OP_SYNC : op_of_kind[slot->kind], code);
	if (!w->failed) {
		w->failed = true;
		w->failed_slot = *slot;
		w->failed_in_sync = in_sync;
		w->failed_code = code;
	}
	atomic_store_explicit(&w->work->aborted, true, memory_order_relaxed);
}

/* The queue itself is broken: nothing in flight will come back. */
static inline void fail_queue(struct worker *w, int code)
{
	fail(w, &(struct worker_slot){ .kind = IO_READ }, false, code);
	w->free_count = w->depth_count;
	w->finished = true;
}

static inline void tick(struct worker *w, uint64_t now_ns)
{
	if (now_ns >= w->work->end_ns)
		recorder_ending(&w->recorder);
	/* The end puts off what was due. */
	if (!recorder_due(&w->recorder, now_ns))
		return;
	if (!recorder_tick(&w->recorder, now_ns)) {
		worker_look_steady(w);
		return;
	}
	worker_begin_limits(w);
	worker_forget_batches(w);
	w->backlog_ns_max = 0;
	worker_usage_begin(w);
}

/* Nothing starts any more once this is true. */
static inline bool is_over(struct worker *w, uint64_t now_ns)
{
	const struct work *work = w->work;

	if (stop_raised(work)) {
		w->interrupted = true;
		return true;
	}
	if (w->left_count == 0 || w->left_bytes == 0 ||
	    atomic_load_explicit(&work->aborted, memory_order_relaxed))
		return true;
	if (w->is_replay && !w->player.has_next)
		return true;
	if (!w->open_loop)
		return now_ns >= work->end_ns;
	return due_ns(w) >= work->end_ns ||
	       (work->end_ns != NEVER_NS && now_ns >= work->end_ns + GRACE_NS);
}

static inline void pushed(struct worker *w, uint32_t count)
{
	w->flying_counts[in_flight(w)] += count;
	w->push_counts[count]++;
	w->queue->ops->push(w->queue, w->ios, count);
}

/*
 * See engine.h: a batch that is done within its own submission may be larger. That is so when
 * the pushed, with free slots left and so without a wait, are just what came back; several times
 * running, because once may be the scheduler's doing.
 */
static inline void adapt_batch(struct worker *w, uint32_t pushed_count, uint32_t reaped_count)
{
	if (w->free_count < w->depth_count) {
		w->batch_count = w->work->batch_count;
		w->inline_streak = 0;
		return;
	}
	if (w->batch_count == w->depth_count || pushed_count != w->batch_count ||
	    reaped_count != pushed_count || ++w->inline_streak < INLINE_STREAK)
		return;
	w->inline_streak = 0;
	w->batch_count = w->batch_count * 2 < w->depth_count ? w->batch_count * 2 : w->depth_count;
	if (w->batch_count > w->batch_max)
		w->batch_max = w->batch_count;
}
