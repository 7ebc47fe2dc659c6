/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <assert.h>
#include <errno.h>

#include "engine/queues.h"

/* In the order `--help` shows them; enum workload_engine counts on it. Add a queue here. */
const struct queue_ops *const engine_queues[] = {
	&queue_uring,
	&queue_aio,
	&queue_sync,
	&queue_mmap,
	NULL,
};

/* A sync after each write at depth 1: see engine.h for why this is not io_uring's case. */
static bool wants_sync(const struct workload *workload)
{
	return workload->depth_count == 1 && workload->rate_iops == 0 &&
	       workload_writes(workload) &&
	       (workload->fsync_count == 1 || workload->fdatasync_count == 1);
}

static const struct queue_ops *automatic(const struct workload *workload)
{
	if (wants_sync(workload))
		return &queue_sync;
	if (queue_uring_probe(NULL) == 0)
		return &queue_uring;
	if (queue_aio_probe(NULL) == 0 && workload->direct)
		return &queue_aio;
	return &queue_sync;
}

const struct queue_ops *engine_queue(const struct workload *workload, const struct target *target,
				     struct err *err)
{
	if (target->queue)
		return target->queue;
	assert(target->fd >= 0);
	switch ((enum workload_engine)workload->engine) {
	case ENGINE_AUTO:
		return automatic(workload);
	case ENGINE_IO_URING:
		return queue_uring_probe(err) == 0 ? &queue_uring : NULL;
	case ENGINE_LIBAIO:
		return queue_aio_probe(err) == 0 ? &queue_aio : NULL;
	case ENGINE_SYNC:
		return &queue_sync;
	case ENGINE_MMAP:
		return &queue_mmap;
	}
	err_set(err, -EINVAL, "engine %u is none of the table", workload->engine);
	return NULL;
}
