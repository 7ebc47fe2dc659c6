/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/queues.h"

#define DEPTH 8
#define BLOCK 4096

static struct clock the_clock;
static struct target the_target = { .fd = -1 };
static char *pool;
static struct queue *queue;

static void target_is(int fd)
{
	struct stat st;

	the_target.fd = fd;
	the_target.info.size_bytes = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	the_target.info.logical_block_bytes = 512;
}

/* An unnamed file of DEPTH blocks; direct where the file system can. */
static int new_file(int flags)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir ? dir : "/tmp", O_TMPFILE | O_RDWR | flags, 0600);

	if (fd >= 0 && ftruncate(fd, DEPTH * BLOCK) < 0)
		return -1;
	return fd;
}

static bool is_available(const struct queue_ops *ops)
{
	if (ops == &queue_uring)
		return queue_uring_probe(NULL) == 0;
	return ops != &queue_aio || queue_aio_probe(NULL) == 0;
}

static bool open_queue(const struct queue_ops *ops)
{
	struct err err = { 0 };

	if (!pool)
		pool = aligned_alloc(BLOCK, DEPTH * BLOCK);
	queue = NULL;
	if (!is_available(ops))
		return false;
	if (!the_clock.multiplier)
		clock_init_real(&the_clock);
	if (ops->open(&queue, &the_target,
		      &(struct queue_options){
			      .depth_count = DEPTH,
			      .length_max_bytes = BLOCK,
			      .pool = pool,
			      .pool_bytes = DEPTH * BLOCK,
			      .clock = &the_clock,
		      },
		      &err) < 0) {
		printf("# %s\n", err.text);
		CHECK(queue != NULL);
		return false;
	}
	return true;
}

static struct io request(enum io_kind kind, uint32_t tag)
{
	return (struct io){
		.kind = (uint8_t)kind,
		.tag = tag,
		.offset_bytes = tag * BLOCK,
		.length_bytes = BLOCK,
		.buffer = pool + tag * BLOCK,
	};
}

/* Pushes count requests at once and reaps them all; results by tag. */
static void exchange(const struct io *ios, uint32_t count, int32_t *results)
{
	struct io_done done[DEPTH];
	uint32_t reaped = 0, empty_count = 0;

	queue->ops->push(queue, ios, count);
	while (reaped < count) {
		const int r = queue->ops->reap(queue, done, 1, DEPTH, NEVER_NS);

		/* Nothing: a signal came, or the kernel was too busy to take them. Not for ever. */
		if (r == 0 && ++empty_count < 1000) {
			usleep(100);
			continue;
		}
		CHECK(r >= 1);
		if (r < 1)
			return;
		for (int i = 0; i < r; i++)
			results[done[i].tag] = done[i].result;
		reaped += (uint32_t)r;
	}
	CHECK_EQ(reaped, count);
	CHECK_EQ(queue->ops->reap(queue, done, 1, DEPTH, NEVER_NS), 0);
}

static void what_is_written_is_read_back(const struct queue_ops *ops)
{
	struct io ios[DEPTH];
	int32_t results[DEPTH] = { 0 };

	target_is(new_file(O_DIRECT));
	if (the_target.fd < 0)
		target_is(new_file(0));
	if (!open_queue(ops))
		return;
	for (uint32_t i = 0; i < DEPTH; i++) {
		ios[i] = request(IO_WRITE, i);
		memset(ios[i].buffer, (int)(i + 1), BLOCK);
	}
	exchange(ios, DEPTH, results);
	for (uint32_t i = 0; i < DEPTH; i++) {
		CHECK_EQ(results[i], BLOCK);
		ios[i].kind = IO_READ;
		ios[i].offset_bytes = (DEPTH - 1 - i) * BLOCK;
	}
	memset(pool, 0, DEPTH * BLOCK);
	exchange(ios, DEPTH, results);
	for (uint32_t i = 0; i < DEPTH; i++) {
		CHECK_EQ(results[i], BLOCK);
		CHECK_EQ(pool[i * BLOCK], DEPTH - i);
		CHECK_EQ(pool[i * BLOCK + BLOCK - 1], DEPTH - i);
	}
	CHECK(queue->facts.enter_count > 0 || ops == &queue_mmap);
	queue->ops->close(queue);
	close(the_target.fd);
}

static void syncs_and_trims_give_zero(const struct queue_ops *ops)
{
	int32_t results[DEPTH] = { 1, 1, 1, 1 };
	struct io ios[DEPTH];

	target_is(new_file(0));
	if (!open_queue(ops))
		return;
	ios[0] = request(IO_WRITE, 0);
	memset(pool, 7, BLOCK);
	exchange(ios, 1, results);
	ios[1] = request(IO_FSYNC, 1);
	ios[2] = request(IO_FDATASYNC, 2);
	ios[1].length_bytes = ios[2].length_bytes = 0;
	exchange(ios + 1, 2, results);
	CHECK_EQ(results[1], 0);
	CHECK_EQ(results[2], 0);
	ios[3] = request(IO_TRIM, 3);
	ios[3].offset_bytes = 0;
	exchange(ios + 3, 1, results);
	ios[0].kind = IO_READ;
	exchange(ios, 1, results);
	if (results[3] != -EOPNOTSUPP) {
		CHECK_EQ(results[3], 0);
		CHECK_EQ(results[0], BLOCK);
		CHECK_EQ(pool[0], 0);
	}
	queue->ops->close(queue);
	close(the_target.fd);
}

/* One refused request is that request's result; its neighbours in the batch succeed. */
static void a_failure_is_one_requests_own(const struct queue_ops *ops)
{
	int32_t results[DEPTH] = { 0 };
	struct io ios[3];

	target_is(new_file(0));
	if (!open_queue(ops))
		return;
	for (uint32_t i = 0; i < 3; i++)
		ios[i] = request(IO_READ, i);
	ios[1].buffer = NULL;
	exchange(ios, 3, results);
	CHECK_EQ(results[0], BLOCK);
	CHECK_EQ(results[1], -EFAULT);
	CHECK_EQ(results[2], BLOCK);
	queue->ops->close(queue);
	close(the_target.fd);
}

static void a_full_device_says_so(const struct queue_ops *ops)
{
	int32_t results[DEPTH] = { 0 };
	struct io io;

	target_is(open("/dev/full", O_RDWR));
	if (!open_queue(ops))
		return;
	io = request(IO_WRITE, 0);
	exchange(&io, 1, results);
	/* The kernel's /dev/full has no asynchronous write: libaio is told EINVAL. */
	CHECK_EQ(results[0], ops == &queue_aio ? -EINVAL : -ENOSPC);
	queue->ops->close(queue);
	close(the_target.fd);
}

static void reading_beyond_the_end_is_short(const struct queue_ops *ops)
{
	int32_t results[DEPTH] = { 1, 1 };
	struct io ios[2];

	target_is(new_file(0));
	if (!open_queue(ops))
		return;
	ios[0] = request(IO_READ, 0);
	ios[0].offset_bytes = DEPTH * BLOCK;
	ios[1] = request(IO_READ, 1);
	ios[1].offset_bytes = DEPTH * BLOCK - 100;
	exchange(ios, 2, results);
	CHECK_EQ(results[0], 0);
	CHECK_EQ(results[1], 100);
	queue->ops->close(queue);
	close(the_target.fd);
}

/* One at a time, of those that can: the same as push and reap, and mixed with them. */
static void one_is_as_good_as_a_batch(const struct queue_ops *ops)
{
	int32_t results[DEPTH] = { 0 };
	struct io_done done;
	struct io io;

	target_is(new_file(0));
	if (!ops->one || !open_queue(ops))
		return;
	/* More than 256: io_uring tries now and then whether all is done on return. */
	for (uint32_t i = 0; i < 600; i++) {
		io = request(i % 2 ? IO_READ : IO_WRITE, i / 2 % DEPTH);
		memset(io.buffer, i % 2 ? 0 : (int)(1 + i / 2 % 251), BLOCK);
		done = (struct io_done){ 0 };
		CHECK_EQ(ops->one(queue, &io, &done), 1);
		CHECK_EQ(done.tag, io.tag);
		CHECK_EQ(done.result, BLOCK);
		CHECK_EQ(*(unsigned char *)io.buffer, 1 + i / 2 % 251);
		CHECK_EQ(((unsigned char *)io.buffer)[BLOCK - 1], 1 + i / 2 % 251);
	}
	io = request(IO_READ, 1);
	io.offset_bytes = DEPTH * BLOCK - 100;
	CHECK_EQ(ops->one(queue, &io, &done), 1);
	CHECK_EQ(done.result, 100);
	io = request(IO_TRIM, 2);
	CHECK_EQ(ops->one(queue, &io, &done), 1);
	CHECK_EQ(done.tag, 2);
	io = request(IO_READ, 3);
	exchange(&io, 1, results);
	CHECK_EQ(results[3], BLOCK);
	close(the_target.fd);
	queue->ops->close(queue);
}

static void for_each(void (*test)(const struct queue_ops *))
{
	for (size_t i = 0; engine_queues[i]; i++)
		test(engine_queues[i]);
}

/* Those that ask the kernel for each request, and so are told by it what was wrong. */
static void for_each_call(void (*test)(const struct queue_ops *))
{
	for (size_t i = 0; engine_queues[i]; i++)
		if (engine_queues[i] != &queue_mmap)
			test(engine_queues[i]);
}

/* Pages that a file has no more: the request fails, and the one after it does not. */
static void a_mapped_page_that_is_gone_is_an_error(void)
{
	int32_t results[DEPTH] = { 0 };
	struct io ios[3];
	struct sigaction before, after;

	target_is(new_file(0));
	sigaction(SIGBUS, NULL, &before);
	if (!open_queue(&queue_mmap))
		return;
	CHECK_EQ(ftruncate(the_target.fd, 2 * BLOCK), 0);
	for (uint32_t i = 0; i < 3; i++) {
		ios[i] = request(i == 2 ? IO_WRITE : IO_READ, i);
		ios[i].offset_bytes = i == 1 ? 4 * BLOCK : i == 2 ? 5 * BLOCK : 0;
	}
	exchange(ios, 3, results);
	CHECK_EQ(results[0], BLOCK);
	CHECK_EQ(results[1], -EIO);
	CHECK_EQ(results[2], -EIO);
	exchange(ios, 1, results);
	CHECK_EQ(results[0], BLOCK);
	queue->ops->close(queue);
	sigaction(SIGBUS, NULL, &after);
	CHECK(before.sa_handler == after.sa_handler);
	close(the_target.fd);
}

static void what_cannot_be_mapped_is_refused(void)
{
	const struct queue_options options = { .depth_count = 1, .clock = &the_clock };
	struct err err = { 0 };

	target_is(open("/dev/null", O_RDWR));
	the_target.info.size_bytes = BLOCK;
	snprintf(the_target.info.spec, sizeof(the_target.info.spec), "/dev/null");
	CHECK_EQ(queue_mmap.open(&queue, &the_target, &options, &err), -ENODEV);
	CHECK_STR(err.text, "/dev/null cannot be mapped into memory: No such device");
	close(the_target.fd);
}

static void all_write_and_read_back(void) { for_each(what_is_written_is_read_back); }
static void all_sync_and_trim(void) { for_each(syncs_and_trims_give_zero); }
static void all_keep_failures_apart(void) { for_each_call(a_failure_is_one_requests_own); }
static void all_report_a_full_device(void) { for_each_call(a_full_device_says_so); }
static void all_do_one_at_a_time(void)
{
	CHECK(queue_uring.one && queue_sync.one);
	for_each(one_is_as_good_as_a_batch);
}

static void all_report_short_reads(void) { for_each_call(reading_beyond_the_end_is_short); }

/* An empty pipe never completes: only the deadline ends the wait. */
static void uring_waits_until_its_deadline(void)
{
	struct io_done done[DEPTH];
	uint64_t before_ns, after_ns;
	struct io io;
	int pipe_fds[2];

	CHECK_EQ(pipe(pipe_fds), 0);
	target_is(pipe_fds[0]);
	if (!open_queue(&queue_uring))
		SKIP("no io_uring here");
	io = request(IO_READ, 0);
	queue->ops->push(queue, &io, 1);
	CHECK_EQ(queue->ops->reap(queue, done, 0, DEPTH, NEVER_NS), 0);
	before_ns = clock_now_ns(&the_clock);
	CHECK_EQ(queue->ops->reap(queue, done, 1, DEPTH, before_ns + 20 * MILLISECOND_NS), 0);
	after_ns = clock_now_ns(&the_clock);
	CHECK(after_ns >= before_ns + 19 * MILLISECOND_NS);
	CHECK(after_ns < before_ns + 5 * SECOND_NS);
	CHECK_EQ(write(pipe_fds[1], "abc", 3), 3);
	CHECK_EQ(queue->ops->reap(queue, done, 1, DEPTH, NEVER_NS), 1);
	CHECK_EQ(done[0].result, 3);
	queue->ops->close(queue);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void a_depth_the_kernel_refuses_is_explained(void)
{
	struct err err = { 0 };
	struct queue *q = NULL;

	target_is(new_file(0));
	CHECK_EQ(queue_uring.open(&q, &the_target,
				  &(struct queue_options){ .depth_count = 40000,
							   .clock = &the_clock },
				  &err),
		 -EINVAL);
	CHECK_STR(err.text, "io_uring: depth 40000 is more than the kernel's 32768");
	CHECK(q == NULL);
	queue_uring.close(NULL);
	queue_aio.close(NULL);
	queue_sync.close(NULL);
	close(the_target.fd);
}

static void the_engine_asked_for_is_the_engine_used(void)
{
	struct workload w = { .depth_count = 32, .direct = true };

	target_is(new_file(0));
	w.engine = ENGINE_SYNC;
	CHECK_STR(engine_queue(&w, &the_target, NULL)->name, "sync");
	if (is_available(&queue_aio)) {
		w.engine = ENGINE_LIBAIO;
		CHECK_STR(engine_queue(&w, &the_target, NULL)->name, "libaio");
	}
	if (is_available(&queue_uring)) {
		w.engine = ENGINE_IO_URING;
		CHECK_STR(engine_queue(&w, &the_target, NULL)->name, "io_uring");
		w.engine = ENGINE_AUTO;
		CHECK_STR(engine_queue(&w, &the_target, NULL)->name, "io_uring");
		w.depth_count = 1;
		CHECK_STR(engine_queue(&w, &the_target, NULL)->name, "io_uring");
	}
	w = (struct workload){ .depth_count = 1, .rw = RW_RANDWRITE, .fdatasync_count = 1 };
	CHECK_STR(engine_queue(&w, &the_target, NULL)->name, "sync");
	close(the_target.fd);
}

TESTS(TEST(a_mapped_page_that_is_gone_is_an_error), TEST(what_cannot_be_mapped_is_refused),
      TEST(all_write_and_read_back), TEST(all_sync_and_trim), TEST(all_keep_failures_apart),
      TEST(all_report_a_full_device), TEST(all_report_short_reads),
      TEST(all_do_one_at_a_time),
      TEST(uring_waits_until_its_deadline), TEST(a_depth_the_kernel_refuses_is_explained),
      TEST(the_engine_asked_for_is_the_engine_used))
