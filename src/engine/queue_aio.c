/* SPDX-License-Identifier: MIT */
#include "engine/queues.h"

#include <assert.h>
#include <errno.h>
#include <libaio.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/queue_sys.h"

/*
 * Linux's older asynchronous I/O. Truly asynchronous only with O_DIRECT: a buffered request is
 * done within io_submit, one after the other. There is no opcode for trims: push makes the
 * call itself and keeps the completion for reap.
 */
struct queue_aio {
	struct queue queue;
	io_context_t context;
	const struct clock *clock;
	int fd;
	const struct target_part *parts;	/* borrowed; NULL: fd alone */
	bool is_device;
	uint32_t depth_count;
	uint32_t pending_count;		/* pushed, not yet taken by the kernel */
	uint32_t in_flight_count;
	uint32_t local_count;
	struct iocb *iocbs;		/* by tag */
	struct iocb **pending;
	struct io_event *events;
	struct io_done *local;
};

static int explain(int code, uint32_t depth_count, struct err *err)
{
	err_errno(err, code, "libaio: cannot set up a context of depth %u", depth_count);
	if (code == -EAGAIN)
		return err_hint(err, "More requests than fs.aio-max-nr allows; raise it or use "
				     "--ioengine=io_uring");
	if (code == -ENOSYS)
		return err_hint(err, "This kernel is built without it; use --ioengine=sync");
	return code;
}

int queue_aio_probe(struct err *err)
{
	io_context_t context = NULL;
	const int r = io_setup(1, &context);

	if (r < 0)
		return explain(r, 1, err);
	io_destroy(context);
	return 0;
}

static void aio_close(struct queue *queue)
{
	struct queue_aio *q = (struct queue_aio *)queue;

	if (!q)
		return;
	if (q->context)
		io_destroy(q->context);
	free(q->iocbs);
	free(q->pending);
	free(q->events);
	free(q->local);
	free(q);
}

static bool allocate(struct queue_aio *q)
{
	q->iocbs = calloc(q->depth_count, sizeof(*q->iocbs));
	q->pending = calloc(q->depth_count, sizeof(*q->pending));
	q->events = calloc(q->depth_count, sizeof(*q->events));
	q->local = calloc(q->depth_count, sizeof(*q->local));
	return q->iocbs && q->pending && q->events && q->local;
}

static int aio_open(struct queue **ret, struct target *target,
		    const struct queue_options *options, struct err *err)
{
	struct queue_aio *q;
	int r;

	assert(target->fd >= 0);
	assert(options->depth_count > 0);
	q = calloc(1, sizeof(*q));
	if (!q)
		return err_set(err, -ENOMEM, "libaio: no memory");
	q->queue.ops = &queue_aio;
	q->queue.target = target;
	q->clock = options->clock;
	q->fd = target->fd;
	q->parts = target->parts;
	q->is_device = queue_sys_is_device(target->fd);
	q->depth_count = options->depth_count;
	if (!allocate(q)) {
		aio_close(&q->queue);
		return err_set(err, -ENOMEM, "libaio: no memory for depth %u",
			       options->depth_count);
	}
	r = io_setup((int)q->depth_count, &q->context);
	if (r < 0) {
		aio_close(&q->queue);
		return explain(r, options->depth_count, err);
	}
	snprintf(q->queue.facts.mode, sizeof(q->queue.facts.mode), "libaio: io_submit in batches");
	*ret = &q->queue;
	return 0;
}

static void prepare(struct queue_aio *q, struct iocb *iocb, const struct io *io)
{
	const int fd = q->parts ? q->parts[io->part].fd : q->fd;

	assert(io->kind != IO_TRIM);
	switch ((enum io_kind)io->kind) {
	case IO_READ:
		io_prep_pread(iocb, fd, io->buffer, io->length_bytes,
			      (long long)io->offset_bytes);
		break;
	case IO_WRITE:
		io_prep_pwrite(iocb, fd, io->buffer, io->length_bytes,
			       (long long)io->offset_bytes);
		break;
	case IO_FSYNC:
		io_prep_fsync(iocb, fd);
		break;
	case IO_FDATASYNC:
		io_prep_fdsync(iocb, fd);
		break;
	case IO_TRIM:
		break;
	}
	iocb->data = (void *)(uintptr_t)io->tag;
}

static void keep_local(struct queue_aio *q, uint32_t tag, int32_t result)
{
	assert(q->local_count < q->depth_count);
	q->local[q->local_count++] = (struct io_done){
		.tag = tag,
		.result = result,
		.done_ns = clock_now_ns(q->clock),
	};
}

static void aio_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct queue_aio *q = (struct queue_aio *)queue;

	assert(q->pending_count + q->in_flight_count + count <= q->depth_count);
	for (uint32_t i = 0; i < count; i++) {
		struct iocb *iocb = &q->iocbs[ios[i].tag];

		if (ios[i].kind == IO_TRIM) {
			keep_local(q, ios[i].tag,
				   queue_sys_target_call(queue->target, q->is_device, &ios[i]));
			q->queue.facts.enter_count++;
			continue;
		}
		prepare(q, iocb, &ios[i]);
		q->pending[q->pending_count++] = iocb;
	}
}

static void drop_pending(struct queue_aio *q, uint32_t count)
{
	q->pending_count -= count;
	for (uint32_t i = 0; i < q->pending_count; i++)
		q->pending[i] = q->pending[i + count];
}

/* io_submit stops at the first request it refuses: that one alone has failed. */
static void submit(struct queue_aio *q)
{
	while (q->pending_count > 0) {
		const int r = io_submit(q->context, (long)q->pending_count, q->pending);

		q->queue.facts.enter_count++;
		if (r > 0) {
			q->in_flight_count += (uint32_t)r;
			drop_pending(q, (uint32_t)r);
		} else if (r == 0 || r == -EAGAIN || r == -EINTR) {
			return;		/* tried again by the next reap */
		} else {
			keep_local(q, (uint32_t)(uintptr_t)q->pending[0]->data, r);
			drop_pending(q, 1);
		}
	}
}

static int wait_events(struct queue_aio *q, uint32_t min_count, uint32_t max_count,
		       uint64_t deadline_ns)
{
	struct timespec ts = { 0 }, *timeout = NULL;
	int r;

	if (min_count == 0) {
		timeout = &ts;
	} else if (deadline_ns != NEVER_NS) {
		const uint64_t now_ns = clock_now_ns(q->clock);
		const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;

		ts.tv_sec = (time_t)(left_ns / SECOND_NS);
		ts.tv_nsec = (long)(left_ns % SECOND_NS);
		timeout = &ts;
	}
	q->queue.facts.enter_count++;
	r = io_getevents(q->context, (long)min_count, (long)max_count, q->events, timeout);
	return r == -EINTR ? 0 : r;
}

static int aio_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
		    uint32_t max_count, uint64_t deadline_ns)
{
	struct queue_aio *q = (struct queue_aio *)queue;
	uint32_t count = 0;
	int r;

	if (q->pending_count > 0)
		submit(q);
	while (q->local_count > 0 && count < max_count)
		done[count++] = q->local[--q->local_count];
	if (count == max_count || q->in_flight_count == 0)
		return (int)count;
	min_count = min_count > count ? min_count - count : 0;
	if (min_count > q->in_flight_count)
		min_count = q->in_flight_count;

	r = wait_events(q, min_count, max_count - count, deadline_ns);
	if (r < 0)
		return r;
	for (int i = 0; i < r; i++, count++) {
		done[count].tag = (uint32_t)(uintptr_t)q->events[i].data;
		done[count].result = (int32_t)q->events[i].res;
		done[count].done_ns = 0;
	}
	q->in_flight_count -= (uint32_t)r;
	return (int)count;
}

const struct queue_ops queue_aio = {
	.name = "libaio",
	.help = "Linux's older asynchronous I/O; any depth, with O_DIRECT only",
	.open = aio_open,
	.close = aio_close,
	.push = aio_push,
	.reap = aio_reap,
};
