/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * engine - does workloads to targets and records what happened. One thread per worker
 * in real time; under a virtual clock one thread steps all workers in order of time.
 *
 * Latency counts from the intended start (open loop) or the submission (closed loop) to
 * the moment the completion is reaped; service from the submission. One clock reading
 * per submitted and per reaped batch.
 *
 * Submission policy when batch_count / wait_count are 0, closed loop: batches of min(16,
 * depth), waits for min(8, depth / 4, at least 1). Where a batch completes within its own
 * submission (page cache, holes, /dev/null) the batch doubles, up to the depth: otherwise the
 * depth asked for would not be reached. Open loop: what is due at once, waits for 1. What was
 * used (the largest batch) is in the result.
 *
 * With fdatasync_count or fsync_count 1, a write is done when its sync is: it holds its place
 * in the depth, and its latency runs, until then. With more, a sync is a request like others.
 *
 * end_fsync is each job's: one fsync once its last write is done, and the job with it; what the
 * group or an error ended has none.
 *
 * ENGINE_AUTO is io_uring at every depth, so that depths compare; with one exception: depth 1
 * with a sync after each write uses the sync engine, because io_uring hands each fsync to a
 * kernel thread and one would measure that thread's wake-up.
 *
 * A trace is replayed at recorded times (an open loop), with the recorded pauses, each after the
 * one before, or as fast as the depth allows; there a flush waits for all before it. What was left
 * out, cut or moved is counted in measurement.replay. Several jobs are its pacers (player.h): each
 * request is started by the first of them that has a place free and sees it due, once. Requests due
 * within the same few microseconds may so start in another order. In virtual time, where nobody is
 * kept from running, the second gets what finds the first one's depth full. Recorded pauses have no
 * use for a second.
 *
 * The end: runtime, or io_size (of all jobs together, split evenly), or one pass over the
 * range, whichever is given and comes first. What is in flight at the end is waited for and
 * counted; duration_ns extends to the last completion. An open loop also takes what arrived before
 * the end, for at most 2 s more. The first failed request ends the job (ended_early); think
 * time and rates are each worker's own.
 *
 * Jobs of a group share one beginning: all queues are open, then all start, each after its
 * start_delay. An error ends its own job only. Jobs after one that ends_group is done end as if
 * their time were up. Targets may be one, several, or views of one (struct target).
 *
 * Ownership: struct measurement (model/result.h) is the caller's: measurement_init, engine_run
 * fills it, measurement_done frees.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "model/result.h"
#include "model/workload.h"
#include "target/target.h"

struct recording;	/* model/recording.h */
struct trace;		/* model/trace.h */

struct engine_progress {
	uint64_t elapsed_ns;		/* of delay, ramp and run */
	uint64_t total_ns;		/* 0 when bytes end it */
	uint64_t done_bytes, total_bytes;
	bool ramping;
	double iops, bytes_per_s;	/* of the last interval */
	uint64_t latency_ns_p99;	/* of the last interval */
};

struct engine_options {
	const struct clock *clock;
	const volatile sig_atomic_t *stop;	/* raised: end soon, keep what there is; or NULL */
	/* Called each 250 ms from the thread that called engine_run (real time only); or NULL. */
	void (*progress)(void *ctx, const struct engine_progress *progress);
	void *progress_ctx;
	struct recording *recording;	/* takes what each request did; or NULL */
};

/* The requests of the workload's range, resolved against the target: what engine_run will use. */
struct engine_range {
	uint64_t offset_bytes, size_bytes;
	uint64_t span_bytes;		/* what segments are spread over; else size_bytes */
	uint32_t align_bytes;
	uint32_t block_min_bytes, block_max_bytes;
	uint32_t granule_bytes;		/* of lengths and starts: 1 when buffered */
};
int engine_resolve(const struct workload *workload, const struct target_info *info,
		   struct engine_range *ret, struct err *err);

/*
 * What a run that verifies has written where: kept, so that a later one that only reads can check
 * it. Of no use once anything else was written to the target: then free it. NULL = nothing.
 */
struct engine_memory;
void engine_memory_free(struct engine_memory *memory);

/* One workload of those that run together. */
struct engine_job {
	const struct workload *workload;
	struct target *target;
	struct measurement *ret;	/* initialised; filled when it has run */
	bool ends_group;		/* when it is done, the others end too */
	/*
	 * Of a run that verifies: what is known of the target. Writing fills it, in place of what it
	 * held; reads alone, without a seed of their own, are checked by it. NULL = none is kept.
	 */
	struct engine_memory **memory;
	const struct trace *trace;	/* what a workload with a trace replays, checked; else NULL */
	uint32_t measurement_index;	/* in the recording */
};

/*
 * 0 with each job's *ret filled, also after I/O errors ended some of them (ended_early); a
 * negative errno when nothing was run.
 */
int engine_run_group(const struct engine_job *jobs, size_t count,
		     const struct engine_options *options, struct err *err);

/* A group of one, without a trace. */
int engine_run(const struct workload *workload, struct target *target,
	       const struct engine_options *options, struct measurement *ret, struct err *err);

/* The kernel queue for a workload: its engine, or io_uring if this kernel has it, else libaio. */
const struct queue_ops *engine_queue(const struct workload *workload, const struct target *target,
				     struct err *err);
extern const struct queue_ops *const engine_queues[];	/* NULL-terminated, in help's order */
