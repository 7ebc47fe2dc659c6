/* SPDX-License-Identifier: MIT */
#include "engine/queues.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/queue_sys.h"

/*
 * One system call per request, made by reap: the time between push and reap is the
 * request's own. Requests beyond the first wait their turn, as in any blocking program.
 */
struct queue_sync {
	struct queue queue;
	bool is_device;
	uint32_t head, count, room;	/* a ring of requests that wait */
	struct io ios[];
};

static int sync_open(struct queue **ret, struct target *target,
		     const struct queue_options *options, struct err *err)
{
	struct queue_sync *q;

	assert(target->fd >= 0);
	assert(options->depth_count > 0);
	q = calloc(1, sizeof(*q) + options->depth_count * sizeof(q->ios[0]));
	if (!q)
		return err_set(err, -ENOMEM, "sync engine: no memory for depth %u",
			       options->depth_count);
	q->queue.ops = &queue_sync;
	q->queue.target = target;
	q->is_device = queue_sys_is_device(target->fd);
	q->room = options->depth_count;
	snprintf(q->queue.facts.mode, sizeof(q->queue.facts.mode), "sync: pread, pwrite");
	*ret = &q->queue;
	return 0;
}

static void sync_close(struct queue *queue)
{
	free(queue);
}

static void sync_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct queue_sync *q = (struct queue_sync *)queue;

	assert(q->count + count <= q->room);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = q->head + q->count++;

		if (at >= q->room)
			at -= q->room;
		q->ios[at] = ios[i];
	}
}

static int sync_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
		     uint32_t max_count, uint64_t deadline_ns)
{
	struct queue_sync *q = (struct queue_sync *)queue;
	const struct io *io = &q->ios[q->head];

	(void)min_count;	/* the one call made here is the one completion */
	(void)deadline_ns;	/* a blocking call has none */
	if (q->count == 0 || max_count == 0)
		return 0;
	done->tag = io->tag;
	done->result = queue_sys_target_call(queue->target, q->is_device, io);
	done->done_ns = 0;
	q->queue.facts.enter_count++;
	q->count--;
	if (++q->head == q->room)
		q->head = 0;
	return 1;
}

static int sync_one(struct queue *queue, const struct io *io, struct io_done *done)
{
	struct queue_sync *q = (struct queue_sync *)queue;

	assert(q->count == 0);
	done->tag = io->tag;
	done->result = queue_sys_target_call(queue->target, q->is_device, io);
	done->done_ns = 0;
	q->queue.facts.enter_count++;
	return 1;
}

const struct queue_ops queue_sync = {
	.name = "sync",
	.help = "pread and pwrite, one at a time: depth is 1 for each job",
	.is_synchronous = true,
	.open = sync_open,
	.close = sync_close,
	.push = sync_push,
	.reap = sync_reap,
	.one = sync_one,
};
