/* SPDX-License-Identifier: MIT */
#include "engine/worker.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "engine/queue_parts.h"

#define PAGE_BYTES 4096u
#define HUGE_BYTES (2u << 20)

bool work_is_open_loop(const struct work *work)
{
	return work->workload->rate_iops > 0 ||
	       (work->trace && work->workload->replay.timing == TIMING_RECORDED);
}

uint64_t worker_share(uint64_t amount, uint32_t index, uint32_t count, uint64_t granule)
{
	const uint64_t units = (amount + granule - 1) / granule;
	const uint64_t extra = units % count;
	const bool has_last = extra ? index + 1 == extra : index + 1 == count;
	uint64_t share = (units / count + (index < extra)) * granule;

	assert(index < count && granule > 0);
	if (has_last && units >= count)
		share -= units * granule - amount;
	return share;
}

/*
 * Buffers of one worker, zero. Huge pages (fewer entries to walk when the kernel copies or maps)
 * only where the pool would fill one anyway: a job of 32 x 4 KiB stays small.
 */
static int pool_init(struct worker *w, struct err *err)
{
	const size_t bytes = w->stride_bytes * w->depth_count;
	void *pool;

	w->pool_bytes = bytes >= HUGE_BYTES ? (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES :
					      bytes;
	pool = mmap(NULL, w->pool_bytes + HUGE_BYTES, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pool == MAP_FAILED)
		return err_errno(err, -errno, "%zu bytes of buffers", bytes);
	/* An aligned part of it is made usable; the rest was only ever an address. */
	w->pool = (char *)(((uintptr_t)pool + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1));
	if ((uintptr_t)w->pool > (uintptr_t)pool)
		munmap(pool, (size_t)(w->pool - (char *)pool));
	munmap(w->pool + w->pool_bytes, (size_t)((char *)pool + HUGE_BYTES - w->pool));
	if (mprotect(w->pool, w->pool_bytes, PROT_READ | PROT_WRITE) < 0)
		return err_errno(err, -errno, "%zu bytes of buffers", bytes);
	if (bytes >= HUGE_BYTES)
		madvise(w->pool, w->pool_bytes, MADV_HUGEPAGE);
	return 0;
}

static int allocate(struct worker *w, struct err *err)
{
	const size_t depth = w->depth_count;
	const uint32_t unit_bytes = w->work->map.words ? w->work->map.unit_bytes : 0;

	w->slots = calloc(depth, sizeof(*w->slots));
	w->free_tags = calloc(depth, sizeof(*w->free_tags));
	w->sync_tags = calloc(depth, sizeof(*w->sync_tags));
	w->ios = calloc(depth, sizeof(*w->ios));
	w->dones = calloc(depth, sizeof(*w->dones));
	w->offsets = calloc(depth, sizeof(*w->offsets));
	w->flying_counts = calloc(3 * (depth + 1), sizeof(*w->flying_counts));
	if (!w->slots || !w->free_tags || !w->sync_tags || !w->ios || !w->dones || !w->offsets ||
	    !w->flying_counts)
		return err_set(err, -ENOMEM, "no memory for depth %u", w->depth_count);
	w->push_counts = w->flying_counts + depth + 1;
	w->reap_counts = w->push_counts + depth + 1;
	if (unit_bytes) {
		w->snapshot_units = w->work->range.block_max_bytes / unit_bytes;
		w->snapshots = calloc(depth * w->snapshot_units, sizeof(*w->snapshots));
		if (!w->snapshots)
			return err_set(err, -ENOMEM, "no memory for depth %u", w->depth_count);
	}
	if (w->work->workload->lines.count) {
		w->line_slots = calloc(depth, sizeof(*w->line_slots));
		w->reply_tags = calloc(depth, sizeof(*w->reply_tags));
		if (!w->line_slots || !w->reply_tags)
			return err_set(err, -ENOMEM, "no memory for depth %u", w->depth_count);
	}
	/* The lowest tag is taken first: few in flight use few buffers. */
	while (w->free_count < w->depth_count) {
		w->free_tags[w->free_count] = w->depth_count - 1 - w->free_count;
		w->free_count++;
	}
	return 0;
}

static int init_recorder(struct worker *w, struct err *err)
{
	const struct workload *workload = w->work->workload;
	const bool syncs = workload->fsync_count || workload->fdatasync_count ||
			   workload->end_fsync || w->is_replay;

	return recorder_init(&w->recorder,
			     &(struct recorder_options){
				     .ops = {
					     [OP_READ] = workload_reads(workload),
					     [OP_WRITE] = workload_writes(workload),
					     [OP_TRIM] = workload_trims(workload),
					     [OP_SYNC] = syncs,
				     },
				     .open_loop = w->open_loop,
				     .mailbox = w->mailbox,
			     },
			     err);
}

static int init_draws(struct worker *w, struct err *err)
{
	const struct work *work = w->work;
	const struct engine_range *range = &work->range;
	const struct address_range where = {
		.offset_bytes = range->offset_bytes,
		.size_bytes = range->size_bytes,
		.span_bytes = range->span_bytes,
		.align_bytes = range->align_bytes,
		.block_max_bytes = range->block_max_bytes,
	};
	int r;

	if (w->is_replay)
		return player_init(&w->player,
				   &(struct player_options){ work->trace, work->workload, range,
							     &w->work->share, w->index,
							     work->workload->job_count },
				   err);
	lines_init(&w->lines, work->workload, range, random_mix(work->seed + 0x7000u + w->index));
	if (w->lines.lines)
		return 0;
	mix_init(&w->mix, work->workload, random_mix(work->seed + 0x5000u + w->index));
	r = address_init(&w->address, work->workload, &where, w->index, work->workload->job_count,
			 work->seed, err);
	if (r < 0 || !work->workload->own_sequences)
		return r;
	w->write_address = malloc(sizeof(*w->write_address));
	if (!w->write_address)
		return err_set(err, -ENOMEM, "no memory for the writes' sequence");
	*w->write_address = w->address;
	return 0;
}

static void init_syncs(struct worker *w)
{
	const struct workload *workload = w->work->workload;
	const uint32_t every = workload->fsync_count ? workload->fsync_count :
						       workload->fdatasync_count;

	w->sync_kind = workload->fsync_count ? IO_FSYNC : IO_FDATASYNC;
	w->sync_each = every == 1;
	w->sync_every = every > 1 ? every : 0;
}

void worker_begin_pace(struct worker *w)
{
	const struct workload *workload = w->work->workload;
	const struct pace_rate rate = { workload->rate_iops, workload->rate_period_ns,
					workload->arrival == ARRIVAL_POISSON, workload->burst_count };

	pace_init(&w->pace, &rate, w->work->begin_ns, random_mix(w->work->seed + 0x9000u + w->index));
}

static int init_steady(struct worker *w, struct err *err)
{
	const struct workload *workload = w->work->workload;

	if (!*workload->steadystate)
		return 0;
	if (settled_parse(workload->steadystate, &w->steady) < 0)
		return err_set(err, -EINVAL, "steadystate=%s is no rule", workload->steadystate);
	w->steady_values = calloc(workload->steady_window_ns / SECOND_NS, sizeof(double));
	return w->steady_values ? 0 : err_set(err, -ENOMEM, "no memory for steadystate");
}

int worker_init(struct worker *w, struct work *work, uint32_t index, bool has_reader,
		struct err *err)
{
	const struct workload *workload = work->workload;
	int r;

	*w = (struct worker){
		.work = work,
		.index = index,
		.depth_count = work->depth_count,
		.batch_count = work->batch_count,
		.batch_max = work->batch_count,
		.wait_count = work->wait_count,
		.open_loop = work_is_open_loop(work),
		.flow = { work->flow, workload->flow_weight, 0 },
		.is_replay = work->trace != NULL,
		.one_by_one = work->trace && workload->replay.timing == TIMING_GAPS,
		.tap = work->taps ? taps_at(work->taps, index) : NULL,
		.writes_trimmed = workload_trims_first(workload),
		.latency_ns_max = workload->latency_ns_max ? workload->latency_ns_max : UINT64_MAX,
		.think_left = workload->think_count ? workload->think_count : 1,
		.stride_bytes = (work->range.block_max_bytes + PAGE_BYTES - 1) / PAGE_BYTES *
				PAGE_BYTES,
	};
	if (has_reader) {
		w->mailbox = calloc(1, sizeof(*w->mailbox));
		if (!w->mailbox)
			return err_set(err, -ENOMEM, "no memory for progress");
	}
	init_syncs(w);
	search_init(&w->search, workload);
	r = init_steady(w, err);
	if (r == 0)
		r = init_draws(w, err);
	if (r == 0)
		r = allocate(w, err);
	if (r == 0)
		r = pool_init(w, err);
	if (r == 0)
		r = init_recorder(w, err);
	if (r < 0)
		worker_done(w);
	return r;
}

void worker_forget_batches(struct worker *w)
{
	memset(w->flying_counts, 0,
	       3 * ((size_t)w->depth_count + 1) * sizeof(*w->flying_counts));
}

void worker_done(struct worker *w)
{
	assert(!w->queue);
	recorder_done(&w->recorder);
	player_done(&w->player);
	if (w->pool)
		munmap(w->pool, w->pool_bytes);
	free(w->mailbox);
	free(w->slots);
	free(w->free_tags);
	free(w->sync_tags);
	free(w->line_slots);
	free(w->reply_tags);
	free(w->ios);
	free(w->dones);
	free(w->offsets);
	free(w->write_address);
	free(w->flying_counts);
	free(w->snapshots);
	free(w->steady_values);
	*w = (struct worker){ 0 };
}

int worker_settle(struct worker *w)
{
	const struct work *work = w->work;
	const uint64_t cpu = work->cpu_count ? work->cpus[w->index % work->cpu_count] : 0;
	cpu_set_t *set;
	size_t set_bytes;
	int r;

	/* Timers as exact as the machine has them; sleeps here end just before an arrival. */
	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
	if (work->cpu_count == 0)
		return 0;
	set = CPU_ALLOC(cpu + 1);
	if (!set)
		return err_set(&w->err, -ENOMEM, "no memory to pin to CPU %llu",
			       (unsigned long long)cpu);
	set_bytes = CPU_ALLOC_SIZE(cpu + 1);
	CPU_ZERO_S(set_bytes, set);
	CPU_SET_S(cpu, set_bytes, set);
	r = sched_setaffinity(0, set_bytes, set) < 0 ? -errno : 0;
	CPU_FREE(set);
	if (r < 0)
		return err_errno(&w->err, r, "cannot pin job %u to CPU %llu", w->index,
				 (unsigned long long)cpu);
	return 0;
}

int worker_open(struct worker *w)
{
	struct work *work = w->work;
	const struct queue_options options = {
		.depth_count = w->depth_count,
		.length_max_bytes = work->range.block_max_bytes,
		.pool = w->pool,
		.pool_bytes = w->pool_bytes,
		.clock = work->clock,
	};
	struct queue *queue;
	int r;

	r = work->target->part_count ?
		    queue_parts_open(&queue, work->ops, work->target, &options, &w->err) :
		    work->ops->open(&queue, work->target, &options, &w->err);
	if (r < 0)
		return r;
	if (*work->workload->filter) {
		r = target_filter(&queue, work->workload->filter, &options, &w->err);
		if (r < 0) {
			queue->ops->close(queue);
			return r;
		}
	}
	w->queue = queue;
	return 0;
}

void worker_close(struct worker *w)
{
	if (!w->queue)
		return;
	memcpy(w->queue_mode, w->queue->facts.mode, sizeof(w->queue_mode));
	w->queue->ops->close(w->queue);
	w->queue = NULL;
}
