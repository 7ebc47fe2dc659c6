/* SPDX-License-Identifier: MIT */

/*
 * sim - the reference drive as a target, under a virtual clock. Each queue hands its
 * requests to the one drive at the time they are pushed and keeps the completion times,
 * which lie in the future; the scheduler moves the clock to the earliest of all queues.
 * As one thread steps all workers, the order in which they reach the drive is theirs.
 *
 * The drive is born when the target is opened: its time 0 is the clock's time then.
 */

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/result.h"
#include "sim/sim.h"
#include "target/kinds.h"

struct sim_target {
	struct sim *sim;
	const struct clock *clock;
	uint64_t birth_ns;
	bool fua;			/* every write: O_DSYNC or O_SYNC was asked for */
};

struct sim_queue {
	struct queue queue;
	const struct clock *clock;
	uint32_t count, room;
	uint64_t sequence;
	/* A heap: done_ns, then the order of submission; so that ties are no accident. */
	struct sim_flight {
		uint64_t sequence;
		struct io_done done;
	} heap[];
};

static bool is_earlier(const struct sim_flight *a, const struct sim_flight *b)
{
	if (a->done.done_ns != b->done.done_ns)
		return a->done.done_ns < b->done.done_ns;
	return a->sequence < b->sequence;
}

static void heap_push(struct sim_queue *q, const struct sim_flight *flight)
{
	uint32_t i = q->count++;

	while (i > 0 && is_earlier(flight, &q->heap[(i - 1) / 2])) {
		q->heap[i] = q->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->heap[i] = *flight;
}

static void heap_pop(struct sim_queue *q, struct io_done *ret)
{
	const struct sim_flight last = q->heap[--q->count];
	uint32_t i = 0, child;

	*ret = q->heap[0].done;
	while ((child = 2 * i + 1) < q->count) {
		if (child + 1 < q->count && is_earlier(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!is_earlier(&q->heap[child], &last))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
}

static int sim_queue_open(struct queue **ret, struct target *target,
			  const struct queue_options *options, struct err *err)
{
	const struct sim_target *t = target->private;
	struct sim_queue *q;

	assert(options->depth_count > 0);
	assert(options->clock->virtual_ns == t->clock->virtual_ns);
	q = calloc(1, sizeof(*q) + options->depth_count * sizeof(q->heap[0]));
	if (!q)
		return err_errno(err, -ENOMEM, "sim queue of depth %u", options->depth_count);
	q->queue.ops = target->queue;
	q->queue.target = target;
	q->clock = options->clock;
	q->room = options->depth_count;
	strcpy(q->queue.facts.mode, "sim: virtual time");
	*ret = &q->queue;
	return 0;
}

static void sim_queue_close(struct queue *queue)
{
	free(queue);
}

/* A tag of the engine's travels in place of the bytes, unless the drive would misread it. */
static bool tag_is_content(uint64_t tag)
{
	return tag != SIM_TAG_ZEROS && tag < SIM_TAG_BYTES && !(tag & SIM_TAG_CORRUPT_BIT);
}

static struct sim_request request_of(const struct sim_target *t, const struct io *io)
{
	struct sim_request request = {
		.offset_bytes = io->offset_bytes,
		.length_bytes = io->length_bytes,
	};

	switch ((enum io_kind)io->kind) {
	case IO_READ:
		request.kind = SIM_READ;
		request.bytes_ret = io->content_tag ? NULL : io->buffer;
		break;
	case IO_WRITE:
		request.kind = SIM_WRITE;
		request.fua = t->fua;
		if (tag_is_content(io->content_tag))
			request.tag = io->content_tag;
		else
			request.bytes = io->buffer;
		break;
	case IO_TRIM:
		request.kind = SIM_TRIM;
		break;
	case IO_FSYNC:
	case IO_FDATASYNC:
		request = (struct sim_request){ .kind = SIM_FLUSH };
		break;
	}
	return request;
}

static void sim_queue_expect(struct queue *queue, uint64_t offset_bytes)
{
	const struct sim_target *t = queue->target->private;

	sim_prefetch(t->sim, offset_bytes);
}

static void sim_queue_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct sim_queue *q = (struct sim_queue *)queue;
	struct sim_target *t = queue->target->private;
	const uint64_t now_ns = clock_now_ns(q->clock) - t->birth_ns;

	assert(q->count + count <= q->room);
	for (uint32_t i = 0; i < count; i++) {
		const struct sim_request request = request_of(t, &ios[i]);
		struct sim_flight flight = { .sequence = q->sequence++ };
		struct sim_result result;

		sim_submit(t->sim, now_ns, &request, &result);
		flight.done.tag = ios[i].tag;
		flight.done.done_ns = t->birth_ns + result.done_ns;
		if (result.error)
			flight.done.result = result.error;
		else if (ios[i].kind <= IO_WRITE)
			flight.done.result = (int32_t)ios[i].length_bytes;
		heap_push(q, &flight);
	}
}

static uint64_t sim_queue_next_ns(struct queue *queue)
{
	const struct sim_queue *q = (const struct sim_queue *)queue;

	return q->count ? q->heap[0].done.done_ns : NEVER_NS;
}

static int sim_queue_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
			  uint32_t max_count, uint64_t deadline_ns)
{
	struct sim_queue *q = (struct sim_queue *)queue;
	uint32_t count = 0;

	while (count < max_count) {
		const uint64_t next_ns = sim_queue_next_ns(queue);

		if (next_ns > clock_now_ns(q->clock)) {
			const uint64_t until_ns = next_ns < deadline_ns ? next_ns : deadline_ns;

			if (count >= min_count || until_ns == NEVER_NS)
				break;
			if (until_ns > *q->clock->virtual_ns)
				*q->clock->virtual_ns = until_ns;
			if (until_ns != next_ns)
				break;
		}
		heap_pop(q, &done[count++]);
	}
	return (int)count;
}

static const struct queue_ops sim_queue_ops = {
	.name = "sim",
	.help = "the reference drive, in virtual time",
	.open = sim_queue_open,
	.close = sim_queue_close,
	.push = sim_queue_push,
	.reap = sim_queue_reap,
	.next_ns = sim_queue_next_ns,
	.expect = sim_queue_expect,
};

static void sim_target_truth_begin(struct target *target)
{
	const struct sim_target *t = target->private;

	sim_stats_mark(t->sim);
}

static void sim_target_truth_end(struct target *target, struct drive_truth *ret)
{
	const struct sim_target *t = target->private;
	struct sim_stats stats;

	sim_stats_since(t->sim, &stats);
	memset(ret, 0, sizeof(*ret));
	strcpy(ret->rows[0].name, "write_amplification");
	ret->rows[0].value = stats.write_amplification;
	ret->row_count = 1;
	for (const struct sim_stat_field *f = sim_stat_fields; f->name; f++) {
		uint64_t value;

		assert(ret->row_count < DRIVE_TRUTH_ROWS);
		memcpy(&value, (const char *)&stats + f->offset, sizeof(value));
		snprintf(ret->rows[ret->row_count].name, sizeof(ret->rows[0].name), "%s", f->name);
		ret->rows[ret->row_count++].value = (double)value;
	}
}

/* As on a drive: it takes its time, and the host waits. */
static int sim_target_purge(struct target *target, struct err *err)
{
	struct sim_target *t = target->private;
	const struct sim_request request = { .kind = SIM_PURGE };
	struct sim_result result;
	uint64_t done_ns;

	sim_submit(t->sim, clock_now_ns(t->clock) - t->birth_ns, &request, &result);
	if (result.error)
		return err_errno(err, result.error, "purge");
	done_ns = t->birth_ns + result.done_ns;
	if (done_ns > *t->clock->virtual_ns)
		*t->clock->virtual_ns = done_ns;
	return 0;
}

static void describe(struct target_info *info, const struct sim *sim)
{
	struct sim_identity id;
	struct text spec = TEXT_INIT;

	sim_identify(sim, &id);
	sim_config_print(sim_configuration(sim), &spec);
	info->kind = TARGET_SIM;
	snprintf(info->path, sizeof(info->path), "sim:%s", text_string(&spec));
	text_done(&spec);
	snprintf(info->model, sizeof(info->model), "%s", id.model);
	snprintf(info->serial, sizeof(info->serial), "%s", id.serial);
	snprintf(info->firmware, sizeof(info->firmware), "%s", id.firmware);
	strcpy(info->transport, id.bus == SIM_BUS_NVME ? "nvme" : "sata");
	info->size_bytes = id.capacity_bytes;
	info->logical_block_bytes = (uint32_t)id.logical_block_bytes;
	info->physical_block_bytes = (uint32_t)id.physical_block_bytes;
	info->memory_align_bytes = 4;
	info->offset_align_bytes = info->logical_block_bytes;
	if (id.discard) {
		info->discard_granularity_bytes = id.discard_granularity_bytes;
		info->discard_max_bytes = id.capacity_bytes;
	}
	strcpy(info->scheduler, "none");
	strcpy(info->write_cache, id.volatile_cache ? "write back" : "write through");
	info->layer_count = 1;
	strcpy(info->layers[0].name, "sim");
	strcpy(info->layers[0].kind, "disk");
	snprintf(info->layers[0].detail, sizeof(info->layers[0].detail), "%s",
		 sim_configuration(sim)->preset);
}

static void sim_target_close(struct target *target)
{
	struct sim_target *t = target->private;

	if (!t)
		return;
	sim_free(t->sim);
	free(t);
	target->private = NULL;
}

static int sim_target_open(struct target *target, const struct target_request *request,
			   int path_fd, struct err *err)
{
	struct sim_config config;
	struct sim_target *t;
	int r;

	(void)path_fd;
	assert(request->clock && request->clock->virtual_ns);
	r = sim_config_parse(&config, request->spec, err);
	if (r < 0)
		return r;
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_errno(err, -ENOMEM, "sim");
	target->private = t;
	r = sim_new(&t->sim, &config, err);
	if (r < 0)
		return r;
	t->clock = request->clock;
	t->birth_ns = clock_now_ns(t->clock);
	t->fua = request->sync_flags != 0;
	describe(&target->info, t->sim);
	target->queue = &sim_queue_ops;
	target->truth_begin = sim_target_truth_begin;
	target->truth_end = sim_target_truth_end;
	target->purge = sim_target_purge;
	return target_check_size(target, request, err);
}

const struct target_ops target_sim = {
	.scheme = "sim",
	.help = "sim:NAME or sim:NAME,key=value, the reference drive in virtual time",
	.open = sim_target_open,
	.close = sim_target_close,
};
