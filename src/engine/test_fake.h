/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * test_fake - a target whose service times are known exactly, for tests of the engine. In
 * virtual time a request of kind k pushed at t is done at max(t, stall end) + service_ns[k]; in
 * real time it is done when that has passed. It logs what it was asked, may fail or keep bytes.
 */

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "engine/engine.h"
#include "stats/histogram.h"

#define FAKE_DEPTH 64
#define FAKE_LOG 65536

struct fake_log {
	uint64_t at_ns, offset_bytes;
	uint32_t length_bytes;
	uint32_t kind;		/* as wide as it is: logs are compared byte by byte */
};

static struct {
	uint64_t service_ns[5];		/* by enum io_kind */
	uint64_t stall_from_ns, stall_to_ns;
	uint64_t fail_at;		/* the request of this number fails; 0 = none */
	int fail_code;
	uint64_t stop_at;		/* raises stop at this request; 0 = never */
	volatile sig_atomic_t stop;
	unsigned char *bytes;		/* content, or NULL: none is kept */
	void (*wrote)(const struct io *io);	/* after a write reached bytes: may damage it */
	struct fake_log log[FAKE_LOG];
	_Atomic uint64_t count;		/* of requests */
	_Atomic uint32_t flying_max;	/* several jobs' queues look at it */
} fake;

struct fake_queue {
	struct queue queue;
	const struct clock *clock;
	struct io_done done[FAKE_DEPTH];	/* done_ns is when */
	struct io ios[FAKE_DEPTH];
	uint32_t count;
};

static int fake_open(struct queue **ret, struct target *target,
		     const struct queue_options *options, struct err *err)
{
	struct fake_queue *q = calloc(1, sizeof(*q));

	(void)err;
	q->queue.ops = target->queue;
	q->queue.target = target;
	q->clock = options->clock;
	*ret = &q->queue;
	return 0;
}

static void fake_close(struct queue *queue)
{
	free(queue);
}

static void fake_move_bytes(const struct io *io)
{
	if (!fake.bytes || !io->buffer)
		return;
	if (io->kind == IO_READ) {
		memcpy(io->buffer, fake.bytes + io->offset_bytes, io->length_bytes);
	} else {
		memcpy(fake.bytes + io->offset_bytes, io->buffer, io->length_bytes);
		if (fake.wrote)
			fake.wrote(io);
	}
}

static void fake_push_one(struct fake_queue *q, const struct io *io)
{
	const uint64_t number = ++fake.count;
	uint64_t at_ns = clock_now_ns(q->clock);
	struct io_done *done = &q->done[q->count];

	if (number <= FAKE_LOG)
		fake.log[number - 1] = (struct fake_log){ at_ns, io->offset_bytes,
							  io->length_bytes, io->kind };
	if (number == fake.stop_at)
		fake.stop = 1;
	if (at_ns >= fake.stall_from_ns && at_ns < fake.stall_to_ns)
		at_ns = fake.stall_to_ns;
	q->ios[q->count++] = *io;
	*done = (struct io_done){
		.tag = io->tag,
		.done_ns = at_ns + fake.service_ns[io->kind],
		.result = io->kind <= IO_WRITE ? (int32_t)io->length_bytes : 0,
	};
	if (number == fake.fail_at)
		done->result = fake.fail_code;
	else
		fake_move_bytes(io);
}

static void fake_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct fake_queue *q = (struct fake_queue *)queue;

	for (uint32_t i = 0; i < count; i++) {
		CHECK(q->count < FAKE_DEPTH);
		fake_push_one(q, &ios[i]);
	}
	if (q->count > fake.flying_max)
		fake.flying_max = q->count;
}

static int fake_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
		     uint32_t max_count, uint64_t deadline_ns)
{
	struct fake_queue *q = (struct fake_queue *)queue;
	uint32_t reaped = 0;

	if (min_count > q->count)
		min_count = q->count;
	do {
		const uint64_t now_ns = clock_now_ns(q->clock);

		for (uint32_t i = 0; i < q->count && reaped < max_count;) {
			if (q->done[i].done_ns > now_ns) {
				i++;
				continue;
			}
			done[reaped++] = q->done[i];
			q->count--;
			memmove(&q->done[i], &q->done[i + 1], (q->count - i) * sizeof(q->done[0]));
		}
		if (now_ns >= deadline_ns || q->clock->virtual_ns)
			break;
	} while (reaped < min_count);
	return (int)reaped;
}

static uint64_t fake_next_ns(struct queue *queue)
{
	struct fake_queue *q = (struct fake_queue *)queue;
	uint64_t next_ns = NEVER_NS;

	for (uint32_t i = 0; i < q->count; i++) {
		if (q->done[i].done_ns < next_ns)
			next_ns = q->done[i].done_ns;
	}
	return next_ns;
}

static const struct queue_ops fake_ops = {
	.name = "fake",
	.help = "known service times",
	.open = fake_open,
	.close = fake_close,
	.push = fake_push,
	.reap = fake_reap,
	.next_ns = fake_next_ns,
};

/* A fresh fake of so many blocks of 4 KiB, each kind taking service_ns. */
static struct target fake_target(uint64_t block_count, uint64_t service_ns)
{
	free(fake.bytes);
	memset(&fake, 0, sizeof(fake));
	for (int i = 0; i < 5; i++)
		fake.service_ns[i] = service_ns;
	return (struct target){
		.fd = -1,
		.queue = &fake_ops,
		.info = { .kind = TARGET_SIM, .size_bytes = block_count * 4096,
			  .logical_block_bytes = 512, .physical_block_bytes = 4096 },
	};
}

/* Runs it; in virtual time from 1 s on (no zero that means something else). */
static inline struct measurement fake_run(const struct workload *workload, struct target *target,
					  const struct clock *clock)
{
	struct measurement m;
	struct clock virtual_clock;
	uint64_t now_ns = SECOND_NS;
	struct err err = { 0 };
	int r;

	clock_init_virtual(&virtual_clock, &now_ns);
	measurement_init(&m);
	r = engine_run(workload, target,
		       &(struct engine_options){ .clock = clock ? clock : &virtual_clock,
						 .stop = &fake.stop },
		       &m, &err);
	if (r != 0)
		printf("# %s\n", err.text);
	CHECK_EQ(r, 0);
	return m;
}

/* 4 KiB random reads at depth 1, seed 1: what most tests start from. */
static struct workload fake_workload(void)
{
	struct workload w;

	workload_init(&w);
	w.rw = RW_RANDREAD;
	w.depth_count = 1;
	w.seed = 1;
	return w;
}
