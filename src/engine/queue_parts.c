/* SPDX-License-Identifier: MIT */
#include "engine/queue_parts.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Invariants:
 * 1. Tags below depth_count are whole requests, the caller's; those from there on are pieces.
 * 2. A request that is cut is in cuts until its last piece is pushed; left_count of its whole
 *    counts pieces in flight, and one more for being in cuts.
 * 3. As many piece tags as the depth: with nothing in flight there is one for the next piece.
 */

struct whole {
	uint32_t left_count;
	int32_t result;		/* bytes so far, or the first error */
};

/* A request that is being cut. */
struct cut {
	struct io io;		/* what is left of it */
	uint32_t part;		/* of a sync: the next */
};

struct queue_parts {
	struct queue queue;
	struct queue_ops ops;		/* as synchronous as the inner one */
	struct queue *inner;
	uint32_t depth_count;
	struct whole *wholes;		/* by tag */
	uint32_t *whole_of;		/* by piece tag - depth_count */
	uint32_t *free_tags;		/* of pieces, a stack */
	uint32_t free_count;
	struct cut *cuts;		/* a ring */
	uint32_t cut_first, cut_count;
	struct io *ios;			/* being pushed */
};

void queue_parts_find(const struct target *target, uint64_t offset_bytes,
		      struct queue_place *ret)
{
	const uint64_t stripe_bytes = target->stripe_bytes;
	uint32_t low = 0, high = target->part_count;

	if (stripe_bytes) {
		const uint64_t stripe = offset_bytes / stripe_bytes;
		const uint64_t within_bytes = offset_bytes % stripe_bytes;

		ret->part = (uint32_t)(stripe % target->part_count);
		ret->offset_bytes = stripe / target->part_count * stripe_bytes + within_bytes;
		ret->room_bytes = stripe_bytes - within_bytes;
		return;
	}
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (target->parts[middle].start_bytes <= offset_bytes)
			low = middle;
		else
			high = middle;
	}
	ret->part = low;
	ret->offset_bytes = offset_bytes - target->parts[low].start_bytes;
	ret->room_bytes = target->parts[low].size_bytes - ret->offset_bytes;
}

/* The next piece of a cut; true when it was the last. */
static bool next_piece(const struct target *target, struct cut *cut, struct io *ret)
{
	struct queue_place place;

	*ret = cut->io;
	if (cut->io.kind >= IO_FSYNC) {
		ret->part = (uint16_t)cut->part;
		return ++cut->part == target->part_count;
	}
	queue_parts_find(target, cut->io.offset_bytes, &place);
	ret->part = (uint16_t)place.part;
	ret->offset_bytes = place.offset_bytes;
	if (ret->length_bytes > place.room_bytes)
		ret->length_bytes = (uint32_t)place.room_bytes;
	cut->io.offset_bytes += ret->length_bytes;
	cut->io.length_bytes -= ret->length_bytes;
	if (cut->io.buffer)
		cut->io.buffer = (char *)cut->io.buffer + ret->length_bytes;
	return cut->io.length_bytes == 0;
}

/* Pushes pieces as long as there are tags for them. */
static void push_pieces(struct queue_parts *q)
{
	uint32_t count = 0;

	while (q->cut_count > 0 && q->free_count > 0) {
		struct cut *cut = &q->cuts[q->cut_first];
		struct io *io = &q->ios[count++];
		const uint32_t tag = cut->io.tag;
		const bool is_last = next_piece(q->queue.target, cut, io);

		io->tag = q->free_tags[--q->free_count];
		q->whole_of[io->tag - q->depth_count] = tag;
		q->wholes[tag].left_count++;
		if (!is_last)
			continue;
		q->wholes[tag].left_count--;	/* it is in cuts no more */
		q->cut_count--;
		q->cut_first = (q->cut_first + 1) % q->depth_count;
	}
	if (count > 0)
		q->inner->ops->push(q->inner, q->ios, count);
}

static void parts_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct queue_parts *q = (struct queue_parts *)queue;
	uint32_t whole_count = 0;

	assert(count <= q->depth_count);
	for (uint32_t i = 0; i < count; i++) {
		struct queue_place place = { 0 };
		struct io *io = &q->ios[whole_count];

		if (ios[i].kind < IO_FSYNC)
			queue_parts_find(queue->target, ios[i].offset_bytes, &place);
		if (ios[i].length_bytes > place.room_bytes || ios[i].kind >= IO_FSYNC) {
			q->wholes[ios[i].tag] = (struct whole){ .left_count = 1 };
			q->cuts[(q->cut_first + q->cut_count++) % q->depth_count] =
				(struct cut){ .io = ios[i] };
			continue;
		}
		*io = ios[i];
		io->part = (uint16_t)place.part;
		io->offset_bytes = place.offset_bytes;
		whole_count++;
	}
	if (whole_count > 0)
		q->inner->ops->push(q->inner, q->ios, whole_count);
	push_pieces(q);
}

/* Turns a piece's completion into its whole's; false while others are missing. */
static bool join(struct queue_parts *q, struct io_done *done)
{
	const uint32_t tag = q->whole_of[done->tag - q->depth_count];
	struct whole *whole = &q->wholes[tag];

	q->free_tags[q->free_count++] = done->tag;
	if (whole->result >= 0 && done->result >= 0)
		whole->result += done->result;
	else if (whole->result >= 0)
		whole->result = done->result;
	if (--whole->left_count > 0)
		return false;
	done->tag = tag;
	done->result = whole->result;
	return true;
}

static int parts_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
		      uint32_t max_count, uint64_t deadline_ns)
{
	struct queue_parts *q = (struct queue_parts *)queue;
	uint32_t count = 0;
	int r;

	do {
		const uint32_t first = count;

		r = q->inner->ops->reap(q->inner, done + first,
					min_count > first ? min_count - first : 0,
					max_count - first, deadline_ns);
		for (int i = 0; i < r; i++) {
			struct io_done one = done[first + (uint32_t)i];

			if (one.tag < q->depth_count || join(q, &one))
				done[count++] = one;
		}
		if (q->cut_count > 0)
			push_pieces(q);
	} while (r > 0 && count < min_count && count < max_count);
	queue->facts.enter_count = q->inner->facts.enter_count;
	return r < 0 && count == 0 ? r : (int)count;
}

static void parts_close(struct queue *queue)
{
	struct queue_parts *q = (struct queue_parts *)queue;

	if (!q)
		return;
	if (q->inner)
		q->inner->ops->close(q->inner);
	free(q->wholes);
	free(q->whole_of);
	free(q->free_tags);
	free(q->cuts);
	free(q->ios);
	free(q);
}

static bool allocate(struct queue_parts *q)
{
	const uint32_t depth = q->depth_count;

	q->wholes = calloc(depth, sizeof(*q->wholes));
	q->whole_of = calloc(depth, sizeof(*q->whole_of));
	q->free_tags = calloc(depth, sizeof(*q->free_tags));
	q->cuts = calloc(depth, sizeof(*q->cuts));
	q->ios = calloc(depth, sizeof(*q->ios));
	if (!q->wholes || !q->whole_of || !q->free_tags || !q->cuts || !q->ios)
		return false;
	for (uint32_t i = 0; i < depth; i++)
		q->free_tags[q->free_count++] = 2 * depth - 1 - i;
	return true;
}

int queue_parts_open(struct queue **ret, const struct queue_ops *inner, struct target *target,
		     const struct queue_options *options, struct err *err)
{
	struct queue_options twice = *options;
	struct queue_parts *q = calloc(1, sizeof(*q));
	int r;

	assert(target->part_count > 1);
	if (!q)
		return err_set(err, -ENOMEM, "no memory for %u parts", target->part_count);
	q->depth_count = options->depth_count;
	/* What else the inner one can do (one, expect) knows nothing of parts. */
	q->ops = (struct queue_ops){
		.name = inner->name,
		.help = inner->help,
		.is_synchronous = inner->is_synchronous,
		.close = parts_close,
		.push = parts_push,
		.reap = parts_reap,
	};
	q->queue.ops = &q->ops;
	q->queue.target = target;
	twice.depth_count *= 2;
	r = allocate(q) ? inner->open(&q->inner, target, &twice, err) :
			  err_set(err, -ENOMEM, "no memory for depth %u", options->depth_count);
	if (r < 0) {
		parts_close(&q->queue);
		return r;
	}
	q->queue.facts = q->inner->facts;
	snprintf(q->queue.facts.mode, sizeof(q->queue.facts.mode), "%.76s, %u parts",
		 q->inner->facts.mode, target->part_count);
	*ret = &q->queue;
	return 0;
}
