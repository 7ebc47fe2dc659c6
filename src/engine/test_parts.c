/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/queue_parts.h"
#include "engine/queues.h"

#define DEPTH 4
#define BLOCK 4096
#define PARTS 3
#define BLOCKS 6	/* of the whole range */

static struct clock the_clock;
static struct target the_target;
static struct target_part the_parts[PARTS];
static unsigned char *pool;	/* a whole range for each tag */
static struct queue *queue;

static int new_file(uint32_t block_count)
{
	const char *dir = getenv("TMPDIR");
	const int fd = open(dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)block_count * BLOCK) < 0)
		abort();
	return fd;
}

/* Three files of 2, 3 and 1 blocks one after the other; in stripes of 2 each. */
static void make_target(uint64_t stripe_bytes)
{
	static const uint32_t lengths[PARTS] = { 2, 3, 1 };
	uint64_t start_bytes = 0;

	for (int i = 0; i < PARTS; i++) {
		const uint32_t count = stripe_bytes ? 2 : lengths[i];

		the_parts[i] = (struct target_part){
			.fd = new_file(count),
			.start_bytes = start_bytes,
			.size_bytes = (uint64_t)count * BLOCK,
		};
		start_bytes += the_parts[i].size_bytes;
	}
	the_target = (struct target){
		.fd = the_parts[0].fd,
		.parts = the_parts,
		.part_count = PARTS,
		.stripe_bytes = stripe_bytes,
		.info = { .kind = TARGET_FILE, .size_bytes = (uint64_t)BLOCKS * BLOCK,
			  .logical_block_bytes = 512, .physical_block_bytes = 4096 },
	};
}

static void drop_target(void)
{
	for (int i = 0; i < PARTS; i++)
		close(the_parts[i].fd);
}

static bool is_available(const struct queue_ops *ops)
{
	if (ops == &queue_uring)
		return queue_uring_probe(NULL) == 0;
	return ops != &queue_aio || queue_aio_probe(NULL) == 0;
}

static void open_queue(const struct queue_ops *ops)
{
	struct err err = { 0 };
	const struct queue_options options = {
		.depth_count = DEPTH,
		.length_max_bytes = BLOCKS * BLOCK,
		.pool = pool,
		.pool_bytes = (size_t)DEPTH * BLOCKS * BLOCK,
		.clock = &the_clock,
	};

	CHECK_EQ(queue_parts_open(&queue, ops, &the_target, &options, &err), 0);
	CHECK(strstr(queue->facts.mode, ", 3 parts") != NULL);
}

/* A request of so many blocks; what it writes is each block's number and the salt. */
static struct io request(enum io_kind kind, uint32_t tag, uint32_t first, uint32_t count)
{
	unsigned char *buffer = pool + (size_t)tag * BLOCKS * BLOCK;

	for (uint32_t i = 0; i < count && kind == IO_WRITE; i++)
		memset(buffer + (size_t)i * BLOCK, (int)(first + i + 1), BLOCK);
	return (struct io){
		.kind = (uint8_t)kind,
		.tag = tag,
		.offset_bytes = (uint64_t)first * BLOCK,
		.length_bytes = count * BLOCK,
		.buffer = kind <= IO_WRITE ? buffer : NULL,
	};
}

/* As the engine does one: by the queue's own way where it has one. */
static int32_t do_one(const struct io *io)
{
	struct io_done done[DEPTH] = { { .tag = 99 } };

	if (queue->ops->one) {
		CHECK_EQ(queue->ops->one(queue, io, done), 1);
	} else {
		queue->ops->push(queue, io, 1);
		CHECK_EQ(queue->ops->reap(queue, done, 1, DEPTH, NEVER_NS), 1);
	}
	CHECK_EQ(done[0].tag, io->tag);
	return done[0].result;
}

/* What block of a file holds: the number that was written there. */
static int content(int part, uint32_t block)
{
	unsigned char byte = 0;

	CHECK_EQ(pread(the_parts[part].fd, &byte, 1, (off_t)block * BLOCK + 17), 1);
	return byte;
}

#define QUEUES 4
static const struct queue_ops *const all[QUEUES] = { &queue_uring, &queue_aio, &queue_sync,
							   &queue_mmap };

static void a_request_over_several_files_reaches_each(void)
{
	for (size_t i = 0; i < QUEUES; i++) {
		struct io io;

		if (!is_available(all[i]))
			continue;
		make_target(0);
		open_queue(all[i]);
		io = request(IO_WRITE, 1, 1, 5);
		CHECK_EQ(do_one(&io), 5 * BLOCK);
		CHECK_EQ(content(0, 0), 0);
		CHECK_EQ(content(0, 1), 2);
		CHECK_EQ(content(1, 0), 3);
		CHECK_EQ(content(1, 1), 4);
		CHECK_EQ(content(1, 2), 5);
		CHECK_EQ(content(2, 0), 6);
		memset(pool, 0, (size_t)DEPTH * BLOCKS * BLOCK);
		io = request(IO_READ, 0, 0, BLOCKS);
		CHECK_EQ(do_one(&io), BLOCKS * BLOCK);
		for (uint32_t b = 0; b < BLOCKS; b++)
			CHECK_EQ(pool[b * BLOCK + 100], b ? b + 1 : 0);
		queue->ops->close(queue);
		drop_target();
	}
}

static void stripes_go_round_the_files(void)
{
	struct io io;

	make_target(BLOCK);
	open_queue(&queue_sync);
	io = request(IO_WRITE, 0, 0, BLOCKS);
	CHECK_EQ(do_one(&io), BLOCKS * BLOCK);
	for (uint32_t b = 0; b < BLOCKS; b++)
		CHECK_EQ(content((int)(b % PARTS), b / PARTS), b + 1);
	queue->ops->close(queue);
	drop_target();
}

static void a_sync_reaches_all_and_is_one(void)
{
	for (size_t i = 0; i < QUEUES; i++) {
		struct io io;

		if (!is_available(all[i]))
			continue;
		make_target(0);
		open_queue(all[i]);
		io = request(IO_FSYNC, 2, 0, 0);
		CHECK_EQ(do_one(&io), 0);
		io = request(IO_FDATASYNC, 3, 0, 0);
		CHECK_EQ(do_one(&io), 0);
		queue->ops->close(queue);
		drop_target();
	}
}

static void a_trim_over_several_is_cut_too(void)
{
	struct io io;

	make_target(0);
	open_queue(&queue_sync);
	io = request(IO_WRITE, 0, 0, BLOCKS);
	CHECK_EQ(do_one(&io), BLOCKS * BLOCK);
	io = request(IO_TRIM, 0, 1, 3);
	CHECK_EQ(do_one(&io), 0);
	CHECK_EQ(content(0, 0), 1);
	CHECK_EQ(content(0, 1), 0);
	CHECK_EQ(content(1, 1), 0);
	CHECK_EQ(content(1, 2), 5);
	queue->ops->close(queue);
	drop_target();
}

/* More pieces than there are tags for at once. */
static void a_queue_full_of_cut_requests_is_served(void)
{
	for (size_t i = 0; i < QUEUES; i++) {
		struct io ios[DEPTH];
		struct io_done done[DEPTH];
		unsigned seen = 0;

		if (!is_available(all[i]))
			continue;
		make_target(BLOCK);
		open_queue(all[i]);
		for (uint32_t tag = 0; tag < DEPTH; tag++)
			ios[tag] = request(IO_READ, tag, 0, BLOCKS);
		queue->ops->push(queue, ios, DEPTH);
		for (uint32_t left = DEPTH; left > 0;) {
			const int count = queue->ops->reap(queue, done, left, DEPTH, NEVER_NS);

			CHECK(count > 0);
			if (count <= 0)
				break;
			for (int k = 0; k < count; k++) {
				CHECK_EQ(done[k].result, BLOCKS * BLOCK);
				seen |= 1u << done[k].tag;
			}
			left -= (uint32_t)count;
		}
		CHECK_EQ(seen, (1u << DEPTH) - 1);
		CHECK_EQ(queue->ops->reap(queue, done, 1, DEPTH, NEVER_NS), 0);
		queue->ops->close(queue);
		drop_target();
	}
}

static void the_first_error_of_a_piece_is_the_request_s(void)
{
	char path[64];
	struct io io;
	int fd;

	make_target(0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", the_parts[1].fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && dup2(fd, the_parts[1].fd) >= 0);
	close(fd);
	open_queue(&queue_sync);
	io = request(IO_WRITE, 0, 0, BLOCKS);
	CHECK_EQ(do_one(&io), -EBADF);
	io = request(IO_WRITE, 0, 0, 2);
	CHECK_EQ(do_one(&io), 2 * BLOCK);
	queue->ops->close(queue);
	drop_target();
}

/* The whole engine: blocks of 8 KiB that start anywhere, each read back from where it was put. */
static void what_is_written_over_files_verifies(void)
{
	static const uint32_t engines[QUEUES] = { ENGINE_IO_URING, ENGINE_LIBAIO, ENGINE_SYNC,
						  ENGINE_MMAP };
	static const uint64_t stripes[] = { 0, BLOCK };

	for (size_t i = 0; i < 2 * QUEUES; i++) {
		struct workload w;
		struct measurement m;
		struct err err = { 0 };

		if (!is_available(all[i / 2]))
			continue;
		make_target(stripes[i % 2]);
		workload_init(&w);
		w.rw = RW_RANDWRITE;
		w.engine = engines[i / 2];
		w.block_bytes = 2 * BLOCK;
		w.direct = false;
		w.depth_count = DEPTH;
		w.verify = true;
		w.repeat = true;
		w.io_size_bytes = 100 * w.block_bytes;
		measurement_init(&m);
		CHECK_EQ(engine_run(&w, &the_target, &(struct engine_options){ .clock = &the_clock },
				    &m, &err),
			 0);
		CHECK_STR(m.error_text, "");
		CHECK_EQ(m.ops[OP_WRITE].count, 100);
		CHECK(m.verified_count >= 4);
		CHECK_EQ(m.verify_failed_count, 0);
		measurement_done(&m);
		drop_target();
	}
}

static void prepare(void)
{
	clock_init_real(&the_clock);
	pool = aligned_alloc(BLOCK, (size_t)DEPTH * BLOCKS * BLOCK);
	CHECK(pool != NULL);
}

TESTS(TEST(prepare), TEST(a_request_over_several_files_reaches_each),
      TEST(stripes_go_round_the_files), TEST(a_sync_reaches_all_and_is_one),
      TEST(a_trim_over_several_is_cut_too), TEST(a_queue_full_of_cut_requests_is_served),
      TEST(the_first_error_of_a_piece_is_the_request_s), TEST(what_is_written_over_files_verifies))
