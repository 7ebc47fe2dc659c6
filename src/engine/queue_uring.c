/* SPDX-License-Identifier: MIT */
#include "engine/queues.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/defer.h"
#include "base/kernel.h"
#include "engine/queue_sys.h"

/*
 * What pays (CPU per 4 KiB request): submitting in batches 1.5-2.1x, the registered file 1.1-
 * 1.2x, registered buffers up to 1.24x where pages are pinned, the task-work flags by device. A
 * ring belongs to the thread that opened it (SINGLE_ISSUER, registered ring fd).
 */
struct queue_uring {
	struct queue queue;
	struct io_uring ring;
	const struct clock *clock;
	bool ring_ready;
	bool fixed_file;
	bool defer;			/* completions need our own call to be delivered */
	bool has_deadline;		/* IORING_FEAT_EXT_ARG */
	bool has_trim;			/* IORING_OP_FALLOCATE, on files */
	int fd;				/* or 0, the index of the registered one */
	const struct target_part *parts;	/* borrowed; NULL: fd alone */
	uint8_t read_opcode, write_opcode;
	uint32_t pending_count;		/* pushed, not yet submitted */
	uint32_t open_count;		/* pushed, not yet taken */
	unsigned enter_flags;
	int enter_fd;			/* the ring's, registered where that is possible */
	bool completes_inline;		/* the last try found all done on return */
	uint8_t try_count;		/* waits since that was last tried */
	/* Trims of devices are made by push itself and wait here for reap. */
	uint32_t local_count;
	bool is_device;
	struct io_done local[];
};

#define DEPTH_MAX 32768u	/* the kernel's IORING_MAX_ENTRIES */

/* From what pays most to what every kernel with io_uring (5.1) takes. */
static const struct setup {
	unsigned flags;
	const char *name;
} setups[] = {
	{ IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN |
		  IORING_SETUP_TASKRUN_FLAG, "defer taskrun" },
	{ IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, "coop taskrun" },
	{ 0, "plain ring" },
};

static int ring_init(struct io_uring *ring, uint32_t depth_count, unsigned flags)
{
	struct io_uring_params params = { .flags = flags };

	return io_uring_queue_init_params(depth_count, ring, &params);
}

static int explain(int code, struct err *err)
{
	err_errno(err, code, "io_uring: cannot set up a ring");
	if (code == -ENOSYS)
		return err_hint(err, "This kernel has no io_uring; use --ioengine=libaio");
	if (code == -EPERM)
		return err_hint(err, "Switched off by kernel.io_uring_disabled or a container's "
				     "seccomp profile; use --ioengine=libaio");
	if (code == -ENOMEM)
		return err_hint(err, "The limit of locked memory is too low (ulimit -l)");
	return code;
}

int queue_uring_probe(struct err *err)
{
	struct io_uring ring;
	const int r = ring_init(&ring, 2, 0);

	if (r < 0)
		return explain(r, err);
	io_uring_queue_exit(&ring);
	return 0;
}

static int uring_setup(struct queue_uring *q, uint32_t depth_count, const char **ret_name,
		       struct err *err)
{
	int r = -EINVAL;

	for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]) && r == -EINVAL; i++) {
		r = ring_init(&q->ring, depth_count, setups[i].flags);
		q->queue.facts.fallback_count += r == -EINVAL;
		q->defer = (setups[i].flags & IORING_SETUP_DEFER_TASKRUN) != 0;
		*ret_name = setups[i].name;
	}
	if (r < 0)
		return explain(r, err);
	q->ring_ready = true;
	q->enter_fd = q->ring.ring_fd;
	/* Entries are submitted in their order: said once, here. */
	for (unsigned i = 0; i < q->ring.sq.ring_entries; i++)
		q->ring.sq.array[i] = i;
	q->has_deadline = (q->ring.features & IORING_FEAT_EXT_ARG) != 0;
	return 0;
}

/* The kernel takes at most 1 GiB per registered buffer; a larger pool stays unregistered. */
static bool register_pool(struct queue_uring *q, const struct queue_options *options)
{
	const struct iovec iov = { options->pool, options->pool_bytes };

	return options->pool && options->pool_bytes <= 1u << 30 &&
	       io_uring_register_buffers(&q->ring, &iov, 1) == 0;
}

static bool register_files(struct queue_uring *q)
{
	const struct target *target = q->queue.target;
	const uint32_t count = target->part_count;
	DEFER(defer_free) int *fds = count ? calloc(count, sizeof(*fds)) : NULL;

	if (!count)
		return io_uring_register_files(&q->ring, &q->fd, 1) == 0;
	for (uint32_t i = 0; fds && i < count; i++)
		fds[i] = q->parts[i].fd;
	return fds && io_uring_register_files(&q->ring, fds, count) == 0;
}

static void uring_register(struct queue_uring *q, const struct queue_options *options,
			   const char *setup_name)
{
	struct queue_facts *facts = &q->queue.facts;
	struct io_uring_probe *probe;
	bool fixed_buffers, fixed_ring;

	q->fixed_file = register_files(q);
	if (q->fixed_file)
		q->fd = 0;
	fixed_buffers = register_pool(q, options);
	q->read_opcode = fixed_buffers ? IORING_OP_READ_FIXED : IORING_OP_READ;
	q->write_opcode = fixed_buffers ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE;
	fixed_ring = io_uring_register_ring_fd(&q->ring) == 1;
	q->enter_fd = q->ring.enter_ring_fd;
	q->enter_flags = fixed_ring ? IORING_ENTER_REGISTERED_RING : 0;
	probe = io_uring_get_probe_ring(&q->ring);
	q->has_trim = probe && io_uring_opcode_supported(probe, IORING_OP_FALLOCATE);
	io_uring_free_probe(probe);

	facts->fallback_count += (uint64_t)!q->fixed_file + (uint64_t)!fixed_buffers +
				 (uint64_t)!fixed_ring;
	snprintf(facts->mode, sizeof(facts->mode), "io_uring: %s, %s, %s%s",
		 q->fixed_file ? "fixed file" : "plain file",
		 fixed_buffers ? "fixed buffers" : "plain buffers", setup_name,
		 fixed_ring ? "" : ", plain ring fd");
}

static void uring_close(struct queue *queue)
{
	struct queue_uring *q = (struct queue_uring *)queue;

	if (!q)
		return;
	/* The kernel takes a ring apart later, and would keep the device open until then. */
	if (q->ring_ready && q->fixed_file)
		io_uring_unregister_files(&q->ring);
	if (q->ring_ready)
		io_uring_queue_exit(&q->ring);
	free(q);
}

static int uring_open(struct queue **ret, struct target *target,
		      const struct queue_options *options, struct err *err)
{
	const char *setup_name = "";
	struct queue_uring *q;
	int r;

	assert(target->fd >= 0);
	assert(options->depth_count > 0);
	if (options->depth_count > DEPTH_MAX)
		return err_set(err, -EINVAL, "io_uring: depth %u is more than the kernel's %u",
			       options->depth_count, DEPTH_MAX);
	q = calloc(1, sizeof(*q) + options->depth_count * sizeof(q->local[0]));
	if (!q)
		return err_set(err, -ENOMEM, "io_uring: no memory for depth %u",
			       options->depth_count);
	q->queue.ops = &queue_uring;
	q->queue.target = target;
	q->clock = options->clock;
	q->fd = target->fd;
	q->is_device = queue_sys_is_device(target->fd);
	q->parts = target->parts;
	r = uring_setup(q, options->depth_count, &setup_name, err);
	if (r < 0) {
		uring_close(&q->queue);
		return err_wrap(err, "depth %u", options->depth_count);
	}
	uring_register(q, options, setup_name);
	q->queue.facts.punts_all = queue_sys_lacks_nowait(target);
	*ret = &q->queue;
	return 0;
}

static inline void prepare(const struct queue_uring *q, int fd, struct io_uring_sqe *sqe,
			   const struct io *io)
{
	switch ((enum io_kind)io->kind) {
	case IO_READ:
		io_uring_prep_rw(q->read_opcode, sqe, fd, io->buffer, io->length_bytes,
				 io->offset_bytes);
		break;
	case IO_WRITE:
		io_uring_prep_rw(q->write_opcode, sqe, fd, io->buffer, io->length_bytes,
				 io->offset_bytes);
		break;
	case IO_TRIM:
		io_uring_prep_fallocate(sqe, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					(off_t)io->offset_bytes, (off_t)io->length_bytes);
		break;
	case IO_FSYNC:
		io_uring_prep_fsync(sqe, fd, 0);
		break;
	case IO_FDATASYNC:
		io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
		break;
	}
	sqe->flags = q->fixed_file ? IOSQE_FIXED_FILE : 0;
	sqe->user_data = io->tag;
}

/* io_uring has no discard of devices that every kernel of ours knows: BLKDISCARD, here. */
static void trim_now(struct queue_uring *q, const struct io *io)
{
	q->local[q->local_count++] = (struct io_done){
		.tag = io->tag,
		.result = queue_sys_target_call(q->queue.target, q->is_device, io),
		.done_ns = clock_now_ns(q->clock),
	};
	q->queue.facts.enter_count++;
}

static bool is_local(const struct queue_uring *q, const struct io *io)
{
	const bool is_device = q->parts ? q->parts[io->part].is_device : q->is_device;

	return io->kind == IO_TRIM && (is_device || !q->has_trim);
}

static int fd_of(const struct queue_uring *q, const struct io *io)
{
	if (!q->parts)
		return q->fd;
	return q->fixed_file ? io->part : q->parts[io->part].fd;
}

static void uring_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct queue_uring *q = (struct queue_uring *)queue;
	struct io_uring_sq *sq = &q->ring.sq;
	const unsigned mask = sq->ring_mask;
	unsigned tail = sq->sqe_tail;

	/* io_uring_get_sqe for a whole batch: there is room, the caller keeps within the depth. */
	assert(q->pending_count + count <= sq->ring_entries);
	for (uint32_t i = 0; i < count; i++) {
		if (is_local(q, &ios[i]))
			trim_now(q, &ios[i]);
		else
			prepare(q, fd_of(q, &ios[i]), &sq->sqes[tail++ & mask], &ios[i]);
	}
	q->pending_count += tail - sq->sqe_tail;
	q->open_count += tail - sq->sqe_tail;
	sq->sqe_tail = tail;
}

static inline uint32_t ready(const struct queue_uring *q)
{
	return __atomic_load_n(q->ring.cq.ktail, __ATOMIC_ACQUIRE) - *q->ring.cq.khead;
}

/* Completions that are in the ring already: no system call. */
static inline uint32_t take(struct queue_uring *q, struct io_done *done, uint32_t max_count)
{
	const struct io_uring_cqe *cqes = q->ring.cq.cqes;
	const unsigned mask = q->ring.cq.ring_mask;
	unsigned head = *q->ring.cq.khead;
	uint32_t count = 0, ready_count;

	while (q->local_count > 0 && count < max_count)
		done[count++] = q->local[--q->local_count];
	ready_count = ready(q);
	if (ready_count > max_count - count)
		ready_count = max_count - count;
	done += count;
	for (uint32_t i = 0; i < ready_count; i++) {
		const struct io_uring_cqe *cqe = &cqes[head++ & mask];

		done[i].tag = (uint32_t)cqe->user_data;
		done[i].result = cqe->res;
		done[i].done_ns = 0;
	}
	/* The kernel may fill the places of what was read, and not before. */
	__atomic_store_n(q->ring.cq.khead, head, __ATOMIC_RELEASE);
	q->open_count -= ready_count;
	return count + ready_count;
}

/*
 * liburing's io_uring_submit and its kin in one, without their calls: submits what is pending
 * and waits for wait_count completions, where flags say so.
 */
static inline int enter_with(struct queue_uring *q, uint32_t wait_count, unsigned flags,
			     struct io_uring_getevents_arg *arg)
{
	struct io_uring_sq *sq = &q->ring.sq;
	long r;

	/* Without SQPOLL the kernel looks at the ring in this very call. */
	sq->sqe_head = sq->sqe_tail;
	__atomic_store_n(sq->ktail, sq->sqe_tail, __ATOMIC_RELEASE);
	q->queue.facts.enter_count++;
	r = kernel_call(SYS_io_uring_enter, q->enter_fd, q->pending_count, wait_count,
			flags | q->enter_flags, (long)arg, arg ? sizeof(*arg) : 0);
	/* What was taken is what left the submission ring, whatever the wait returned. */
	q->pending_count = sq->sqe_tail - __atomic_load_n(sq->khead, __ATOMIC_ACQUIRE);
	return (int)r;
}

static int enter_until(struct queue_uring *q, uint32_t wait_count, uint64_t deadline_ns)
{
	const uint64_t now_ns = clock_now_ns(q->clock);
	const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	struct __kernel_timespec ts = {
		.tv_sec = (long long)(left_ns / SECOND_NS),
		.tv_nsec = (long long)(left_ns % SECOND_NS),
	};
	struct io_uring_getevents_arg arg = { .sigmask_sz = _NSIG / 8, .ts = (uintptr_t)&ts };
	int r;

	if (q->has_deadline)
		return enter_with(q, wait_count, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
				  &arg);
	r = q->pending_count > 0 ? enter_with(q, 0, 0, NULL) : 0;
	if (r >= 0 && ready(q) == 0) {
		struct pollfd poll_fd = { .fd = q->ring.ring_fd, .events = POLLIN };

		ppoll(&poll_fd, 1, &(struct timespec){ ts.tv_sec, (long)ts.tv_nsec }, NULL);
	}
	return r;
}

/*
 * Submission alone, where that is likely to be all: a target that completes within it (hole,
 * page cache, /dev/null) needs no wait, which costs 2 % of such a request. Tried once in 256 waits,
 * so that one which completes later pays less than a nanosecond for the question.
 */
static inline bool submits_inline(struct queue_uring *q, uint32_t wait_count)
{
	if (!q->completes_inline && ++q->try_count != 0)
		return false;
	enter_with(q, 0, 0, NULL);
	q->completes_inline = q->pending_count == 0 && ready(q) >= wait_count;
	return q->completes_inline;
}

static __attribute__((noinline)) int enter(struct queue_uring *q, uint32_t wait_count,
					   uint64_t deadline_ns)
{
	int r;

	if (wait_count > 0 && deadline_ns != NEVER_NS)
		r = enter_until(q, wait_count, deadline_ns);
	else
		r = enter_with(q, wait_count, IORING_ENTER_GETEVENTS, NULL);
	if (r == -ETIME || r == -EINTR || r == -EAGAIN || r == -EBUSY)
		return 0;
	return r < 0 ? r : 0;
}

static int uring_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
		      uint32_t max_count, uint64_t deadline_ns)
{
	struct queue_uring *q = (struct queue_uring *)queue;
	const uint32_t open_count = q->open_count + q->local_count;
	uint32_t wait_count = min_count < open_count ? min_count : open_count;
	const uint32_t ready_count = ready(q) + q->local_count;
	int r = 0;

	wait_count = wait_count > ready_count ? wait_count - ready_count : 0;
	if (wait_count > 0)
		wait_count += ready_count - q->local_count;	/* the kernel counts those */
	if (q->pending_count > 0 && wait_count > 0 && submits_inline(q, wait_count))
		return (int)take(q, done, max_count);
	if (q->pending_count > 0 || wait_count > 0 ||
	    (*q->ring.sq.kflags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)))
		r = enter(q, wait_count, deadline_ns);
	if (r < 0)
		return r;
	return (int)take(q, done, max_count);
}

static int uring_one(struct queue *queue, const struct io *io, struct io_done *done)
{
	struct queue_uring *q = (struct queue_uring *)queue;
	struct io_uring_sq *sq = &q->ring.sq;
	const struct io_uring_cqe *cqe;
	unsigned head;

	assert(q->open_count == 0);
	if (!q->completes_inline || is_local(q, io)) {
		uring_push(queue, io, 1);
		return uring_reap(queue, done, 1, 1, NEVER_NS);
	}
	prepare(q, fd_of(q, io), &sq->sqes[sq->sqe_tail++ & sq->ring_mask], io);
	q->pending_count = 1;
	enter_with(q, 0, 0, NULL);
	if (q->pending_count > 0 || ready(q) == 0) {
		q->completes_inline = false;
		q->open_count = 1;
		return uring_reap(queue, done, 1, 1, NEVER_NS);
	}
	head = *q->ring.cq.khead;
	cqe = &q->ring.cq.cqes[head & q->ring.cq.ring_mask];
	done->tag = (uint32_t)cqe->user_data;
	done->result = cqe->res;
	done->done_ns = 0;
	__atomic_store_n(q->ring.cq.khead, head + 1, __ATOMIC_RELEASE);
	return 1;
}

const struct queue_ops queue_uring = {
	.name = "io_uring",
	.help = "Linux's ring of requests; the fastest, any depth",
	.open = uring_open,
	.close = uring_close,
	.push = uring_push,
	.reap = uring_reap,
	.one = uring_one,
};
