/* SPDX-License-Identifier: MIT */
#include "state/stream.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data.h"

struct stream {
	struct work *work;
	struct queue *queue;
	struct data data;
	unsigned char *pool;
	uint32_t depth_count, free_count;
	uint32_t *free_tags;
	uint64_t generation;
	bool fills;			/* the target looks at the bytes */
	int failed;			/* the first failure's code */
};

static int open_queue(struct stream *s, struct err *err)
{
	struct target *target = s->work->state->target;
	const struct queue_options options = {
		.depth_count = s->depth_count,
		.length_max_bytes = STREAM_REQUEST_BYTES,
		.pool = s->pool,
		.pool_bytes = s->depth_count * STREAM_REQUEST_BYTES,
		.clock = s->work->state->clock,
	};
	const struct queue_ops *ops = target->queue;

	if (!ops)
		ops = engine_queue(&s->work->workload, target, err);
	return ops ? ops->open(&s->queue, target, &options, err) : -EOPNOTSUPP;
}

int stream_open(struct stream **ret, struct work *work, uint32_t depth_count, uint64_t seed,
		struct err *err)
{
	struct stream *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(err, -ENOMEM, "no memory for a stream");
	s->work = work;
	s->depth_count = s->free_count = depth_count;
	s->fills = !work->state->target->queue;
	s->pool = aligned_alloc(4096, depth_count * STREAM_REQUEST_BYTES);
	s->free_tags = calloc(depth_count, sizeof(*s->free_tags));
	work_workload(work, RW_WRITE, STREAM_REQUEST_BYTES, depth_count, seed);
	r = s->pool && s->free_tags ? 0 : err_set(err, -ENOMEM, "no memory for a stream");
	if (r == 0)
		r = data_init(&s->data, &work->workload, 4096, work->workload.seed, err);
	if (r == 0)
		r = open_queue(s, err);
	for (uint32_t i = 0; r == 0 && i < depth_count; i++)
		s->free_tags[i] = i;
	if (r < 0) {
		stream_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

static void take(struct stream *s, const struct io_done *done, int count)
{
	for (int i = 0; i < count; i++) {
		if (done[i].result < 0 && !s->failed)
			s->failed = done[i].result;
		s->free_tags[s->free_count++] = done[i].tag;
	}
}

/* Waits until so many are free. */
static int wait_free(struct stream *s, uint32_t count, struct err *err)
{
	while (s->free_count < count && !s->failed) {
		struct io_done done[64];
		const int r = s->queue->ops->reap(s->queue, done, 1, 64, NEVER_NS);

		if (r < 0)
			s->failed = r;
		else
			take(s, done, r);
	}
	if (s->failed)
		return err_errno(err, s->failed, "%s: write", s->work->state->target->info.spec);
	return 0;
}

static uint64_t content_tag(struct stream *s)
{
	return random_mix(s->data.seed + s->generation) >> 2 | 1;
}

int stream_write(struct stream *s, const struct span *span, struct err *err)
{
	const uint64_t end = span->offset_bytes + span->size_bytes;

	for (uint64_t at = span->offset_bytes; at < end; at += STREAM_REQUEST_BYTES) {
		const uint64_t left = end - at;
		struct io io = {
			.kind = IO_WRITE,
			.offset_bytes = at,
			.length_bytes = (uint32_t)(left < STREAM_REQUEST_BYTES ? left :
										 STREAM_REQUEST_BYTES),
		};
		const int r = wait_free(s, 1, err);

		if (r < 0)
			return r;
		io.tag = s->free_tags[--s->free_count];
		io.buffer = s->pool + io.tag * STREAM_REQUEST_BYTES;
		s->generation++;
		if (s->fills)
			data_fill(&s->data, io.buffer, io.length_bytes, at, s->generation);
		else
			io.content_tag = content_tag(s);
		s->queue->ops->push(s->queue, &io, 1);
		s->work->ret->written_bytes += io.length_bytes;
	}
	return 0;
}

int stream_drain(struct stream *s, struct err *err)
{
	return wait_free(s, s->depth_count, err);
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	/* A buffer may not go while a request uses it; a queue that is broken holds none. */
	while (s->queue && s->free_count < s->depth_count) {
		struct io_done done[64];
		const int r = s->queue->ops->reap(s->queue, done, 1, 64, NEVER_NS);

		if (r <= 0)
			break;
		take(s, done, r);
	}
	if (s->queue)
		s->queue->ops->close(s->queue);
	free(s->free_tags);
	free(s->pool);
	free(s);
}
