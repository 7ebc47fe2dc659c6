/* SPDX-License-Identifier: MIT */
#include "engine/queues.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/queue_sys.h"

/*
 * The file mapped into memory: a read copies out of it and a write into it, and what is not in the
 * page cache comes by a page fault. So a write is done when memory holds it; only a sync waits for
 * the device. Always through the page cache, one request at a time.
 *
 * A page that cannot be had is a SIGBUS: memory of no file is put in its place, so that the copy
 * comes to its end; then the file is mapped there again, and the request has failed with EIO.
 */
struct mapping {
	char *at;
	size_t bytes;
	int fd, protection;
};

struct queue_mmap {
	struct queue queue;
	bool is_device;
	bool has_handler;
	uint32_t mapping_count;
	struct mapping *mappings;	/* of each part */
	uint32_t head, count, room;	/* a ring of requests that wait */
	struct io ios[];
};

/* The copy that this thread makes. */
struct copying {
	const struct mapping *mapping;
	bool has_failed;
};

static __thread struct copying copying;

static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t handler_users;
static struct sigaction handler_before;
static uintptr_t page_bytes;

static void on_bus(int number, siginfo_t *info, void *context)
{
	const struct mapping *mapping = copying.mapping;
	const uintptr_t at = (uintptr_t)info->si_addr / page_bytes * page_bytes;

	(void)context;
	if (mapping && at >= (uintptr_t)mapping->at &&
	    at < (uintptr_t)mapping->at + mapping->bytes &&
	    mmap((void *)at, page_bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
		copying.has_failed = true;
		return;
	}
	signal(number, SIG_DFL);	/* not ours: the access is repeated, and kills */
}

static void handler_take(void)
{
	struct sigaction action = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };

	pthread_mutex_lock(&handler_lock);
	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	if (handler_users++ == 0)
		sigaction(SIGBUS, &action, &handler_before);
	pthread_mutex_unlock(&handler_lock);
}

static void handler_give(void)
{
	pthread_mutex_lock(&handler_lock);
	if (--handler_users == 0)
		sigaction(SIGBUS, &handler_before, NULL);
	pthread_mutex_unlock(&handler_lock);
}

static void mmap_close(struct queue *queue)
{
	struct queue_mmap *q = (struct queue_mmap *)queue;

	if (!q)
		return;
	for (uint32_t i = 0; q->mappings && i < q->mapping_count; i++)
		if (q->mappings[i].at)
			munmap(q->mappings[i].at, q->mappings[i].bytes);
	if (q->has_handler)
		handler_give();
	free(q->mappings);
	free(q);
}

static int map_one(struct mapping *ret, int fd, uint64_t bytes, const char *spec, struct err *err)
{
	const bool writes = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
	const int protection = writes ? PROT_READ | PROT_WRITE : PROT_READ;
	void *at = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return err_errno(err, -errno, "%s cannot be mapped into memory", spec);
	*ret = (struct mapping){ at, bytes, fd, protection };
	return 0;
}

static int map_all(struct queue_mmap *q, const struct target *target, struct err *err)
{
	const uint32_t count = target->part_count ? target->part_count : 1;
	int r = 0;

	q->mappings = calloc(count, sizeof(*q->mappings));
	if (!q->mappings)
		return err_set(err, -ENOMEM, "mmap: no memory for %u files", count);
	q->mapping_count = count;
	if (!target->part_count)
		return map_one(q->mappings, target->fd, target->info.size_bytes, target->info.spec,
			       err);
	for (uint32_t i = 0; r == 0 && i < count; i++)
		r = map_one(&q->mappings[i], target->parts[i].fd, target->parts[i].size_bytes,
			    target->info.spec, err);
	return r;
}

static int mmap_open(struct queue **ret, struct target *target, const struct queue_options *options,
		     struct err *err)
{
	struct queue_mmap *q;
	int r;

	assert(target->fd >= 0);
	assert(options->depth_count > 0);
	q = calloc(1, sizeof(*q) + options->depth_count * sizeof(q->ios[0]));
	if (!q)
		return err_set(err, -ENOMEM, "mmap: no memory for depth %u", options->depth_count);
	q->queue.ops = &queue_mmap;
	q->queue.target = target;
	q->is_device = queue_sys_is_device(target->fd);
	q->room = options->depth_count;
	r = map_all(q, target, err);
	if (r < 0) {
		mmap_close(&q->queue);
		return r;
	}
	handler_take();
	q->has_handler = true;
	snprintf(q->queue.facts.mode, sizeof(q->queue.facts.mode),
		 "mmap: copies, page faults, through the page cache");
	*ret = &q->queue;
	return 0;
}

static void mmap_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct queue_mmap *q = (struct queue_mmap *)queue;

	assert(q->count + count <= q->room);
	for (uint32_t i = 0; i < count; i++)
		q->ios[(q->head + q->count++) % q->room] = ios[i];
}

/* The file where the handler has put other memory. */
static void map_again(const struct mapping *mapping, const struct io *io)
{
	const uint64_t begin = io->offset_bytes / page_bytes * page_bytes;
	const uint64_t end = io->offset_bytes + io->length_bytes;

	(void)!mmap(mapping->at + begin, end - begin, mapping->protection, MAP_SHARED | MAP_FIXED,
		    mapping->fd, (off_t)begin);
}

static int32_t copy(const struct mapping *mapping, const struct io *io)
{
	char *at = mapping->at + io->offset_bytes;

	assert(io->offset_bytes + io->length_bytes <= mapping->bytes);
	copying = (struct copying){ .mapping = mapping };
	atomic_signal_fence(memory_order_seq_cst);
	if (io->kind == IO_READ)
		memcpy(io->buffer, at, io->length_bytes);
	else
		memcpy(at, io->buffer, io->length_bytes);
	atomic_signal_fence(memory_order_seq_cst);
	copying.mapping = NULL;
	if (!copying.has_failed)
		return (int32_t)io->length_bytes;
	map_again(mapping, io);
	return -EIO;
}

static int32_t perform(struct queue_mmap *q, const struct io *io)
{
	const struct mapping *mapping = &q->mappings[io->part];

	switch ((enum io_kind)io->kind) {
	case IO_READ:
	case IO_WRITE:
		return copy(mapping, io);
	case IO_FSYNC:
	case IO_FDATASYNC:
		return msync(mapping->at, mapping->bytes, MS_SYNC) < 0 ? -errno : 0;
	case IO_TRIM:
		break;
	}
	return queue_sys_target_call(q->queue.target, q->is_device, io);
}

static int mmap_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
		     uint32_t max_count, uint64_t deadline_ns)
{
	struct queue_mmap *q = (struct queue_mmap *)queue;
	const struct io *io = &q->ios[q->head];

	(void)min_count;	/* the one copy made here is the one completion */
	(void)deadline_ns;	/* a page fault has none */
	if (q->count == 0 || max_count == 0)
		return 0;
	*done = (struct io_done){ .tag = io->tag, .result = perform(q, io) };
	q->count--;
	q->head = (q->head + 1) % q->room;
	return 1;
}

const struct queue_ops queue_mmap = {
	.name = "mmap",
	.help = "the file mapped into memory: copies and page faults, through the page cache",
	.is_synchronous = true,
	.open = mmap_open,
	.close = mmap_close,
	.push = mmap_push,
	.reap = mmap_reap,
};
