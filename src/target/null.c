/* SPDX-License-Identifier: MIT */

/*
 * null - completes every request at once and moves no data. The figures it gives are the
 * instrument's own: what no real target can exceed.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "target/kinds.h"
#include "target/spec.h"

struct null_queue {
	struct queue queue;
	const struct clock *clock;
	uint32_t first, count;		/* of the ring of completions not reaped yet */
	uint32_t mask;
	struct io_done ring[];
};

static int null_queue_open(struct queue **ret, struct target *target,
			   const struct queue_options *options, struct err *err)
{
	struct null_queue *null;
	uint32_t room = 1;

	assert(options->depth_count > 0);
	while (room < options->depth_count)
		room *= 2;
	null = calloc(1, sizeof(*null) + room * sizeof(null->ring[0]));
	if (!null)
		return err_errno(err, -ENOMEM, "null queue of depth %u", options->depth_count);
	null->queue.ops = &null_queue_ops;
	null->queue.target = target;
	null->clock = options->clock;
	null->mask = room - 1;
	strcpy(null->queue.facts.mode, "null: completes at once");
	*ret = &null->queue;
	return 0;
}

static void null_queue_close(struct queue *queue)
{
	free(queue);
}

static void null_queue_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct null_queue *null = (struct null_queue *)queue;

	assert(null->count + count <= null->mask + 1);
	for (uint32_t i = 0; i < count; i++) {
		struct io_done *done = &null->ring[(null->first + null->count + i) & null->mask];

		done->tag = ios[i].tag;
		done->result = ios[i].kind <= IO_WRITE ? (int32_t)ios[i].length_bytes : 0;
	}
	null->count += count;
}

static int null_queue_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
			   uint32_t max_count, uint64_t deadline_ns)
{
	struct null_queue *null = (struct null_queue *)queue;
	const uint32_t count = null->count < max_count ? null->count : max_count;

	(void)min_count;	/* nothing is ever waited for */
	(void)deadline_ns;
	for (uint32_t i = 0; i < count; i++)
		done[i] = null->ring[(null->first + i) & null->mask];
	null->first += count;
	null->count -= count;
	return (int)count;
}

static uint64_t null_queue_next_ns(struct queue *queue)
{
	const struct null_queue *null = (const struct null_queue *)queue;

	return null->count ? clock_now_ns(null->clock) : NEVER_NS;
}

const struct queue_ops null_queue_ops = {
	.name = "null",
	.help = "completes every request at once",
	.open = null_queue_open,
	.close = null_queue_close,
	.push = null_queue_push,
	.reap = null_queue_reap,
	.next_ns = null_queue_next_ns,
};

static int null_open(struct target *target, const struct target_request *request, int path_fd,
		     struct err *err)
{
	struct {
		uint64_t size_bytes;
	} options = { TIB };
	static const struct spec_key keys[] = {
		{ "size", SPEC_BYTES, 0, NULL },
		{ 0 },
	};
	struct target_info *info = &target->info;

	(void)path_fd;
	if (spec_parse("null", request->spec + strlen("null:"), keys, &options, err) < 0)
		return -EINVAL;
	if (options.size_bytes < 4096)
		return err_set(err, -EINVAL, "null: size is less than one block of 4096 bytes");
	info->kind = TARGET_NULL;
	info->size_bytes = options.size_bytes;
	info->logical_block_bytes = 512;
	info->physical_block_bytes = 4096;
	info->memory_align_bytes = 512;
	info->offset_align_bytes = 512;
	info->discard_granularity_bytes = 4096;
	info->discard_max_bytes = TIB;
	target->queue = &null_queue_ops;
	return 0;
}

const struct target_ops target_null = {
	.scheme = "null",
	.help = "null: or null:size=1g, completes every request at once; measures tare itself",
	.open = null_open,
};
