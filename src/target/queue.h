/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * queue - how requests reach a target and come back. The engine drives every
 * target through struct queue_ops. Kernel queues (io_uring, libaio, sync) live in
 * engine/; null and sim are their own queues; filters wrap another queue.
 *
 * Life cycle:	open -> { push, reap }... -> close
 * Threads:	a queue belongs to one worker thread, which opens, uses and closes it (io_uring
 *		ties a ring to the thread that made it).
 * Ownership:	open returns an owned handle; close frees it, accepts NULL and, for a
 *		filter, closes what it wraps.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "target/io.h"

struct target;

struct queue_options {
	uint32_t depth_count;		/* most requests in flight */
	uint32_t length_max_bytes;	/* of one request */
	void *pool;			/* all buffers lie in it, so that it can be registered */
	size_t pool_bytes;
	const struct clock *clock;
};

/* What a queue knows about how it went; all counts since open. */
struct queue_facts {
	uint64_t enter_count;		/* system calls that submitted or waited */
	uint64_t fallback_count;	/* 0, or the features asked for and refused */
	bool punts_all;		/* io_uring: the target cannot start I/O without blocking, so each
				 * request is handed to a kernel worker thread */
	char mode[96];			/* "io_uring: fixed files, fixed buffers, defer taskrun" */
};

struct queue {
	const struct queue_ops *ops;
	struct target *target;		/* borrowed */
	struct queue_facts facts;
};

struct queue_ops {
	const char *name;	/* as written on the command line */
	const char *help;	/* one line, no full stop */
	bool is_synchronous;	/* depth is 1 whatever was asked */

	/* Control path: may allocate, may block, explains itself. */
	int (*open)(struct queue **ret, struct target *target, const struct queue_options *options,
		    struct err *err);
	void (*close)(struct queue *queue);

	/*
	 * Data path: no allocation, no locks, no strings.
	 *
	 * push takes count requests (copied); the caller keeps within the depth. They may
	 * start at once or at the next reap. reap starts what was pushed, then waits for at
	 * least min_count completions or until deadline_ns (NEVER_NS: none), stores at most
	 * max_count and returns how many, or a negative errno when the queue itself is broken.
	 * min_count 0 never blocks. A request's own failure is its io_done.result. EINTR is
	 * not an error: reap returns what it has. With nothing in flight reap returns 0 at once.
	 * A busy kernel (EAGAIN on submission) is the queue's to retry, not a request's failure.
	 * Trims are hole punching on files and BLKDISCARD on devices.
	 */
	void (*push)(struct queue *queue, const struct io *ios, uint32_t count);
	int (*reap)(struct queue *queue, struct io_done *done, uint32_t min_count,
		    uint32_t max_count, uint64_t deadline_ns);

	/*
	 * May be NULL. push of one request and reap of it, with nothing else in flight: what both
	 * do for batches costs as much as the request's own part. Returns as reap does, so 0 when
	 * a signal came first; it is reap's to take then.
	 */
	int (*one)(struct queue *queue, const struct io *io, struct io_done *done);

	/*
	 * Virtual time only (NULL elsewhere): when the next completion is due, NEVER_NS when
	 * none is in flight. The scheduler moves the clock there and reaps with min_count 0.
	 */
	uint64_t (*next_ns)(struct queue *queue);

	/*
	 * May be NULL. A word that this request comes next, one ahead: the reference drive's map is
	 * larger than the cache, and what it will touch can be fetched meanwhile. No promise.
	 */
	void (*expect)(struct queue *queue, uint64_t offset_bytes);
};
