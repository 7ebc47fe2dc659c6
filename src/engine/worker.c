/* SPDX-License-Identifier: MIT */
#include "engine/worker.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "engine/run.h"
#include "engine/worker_aside.h"
#include "engine/worker_loop.h"
#include "engine/worker_second.h"

#define FLOW_WAIT_NS (20 * MICROSECOND_NS)	/* until other workers are looked at again */
#define STANDSTILL_COUNT (1u << 24)
#define YIELD_DEAR_NS (50 * MICROSECOND_NS)	/* longer than what serves our I/O takes */
#define YIELD_DEBT 64				/* of a dear one, in cheap ones that make it good */
#define YIELD_DEBT_MAX (3 * YIELD_DEBT)		/* less may be the host's doing */
#define YIELD_REST 16				/* then for so many times what it took */

void worker_begin(struct worker *w)
{
	const struct work *work = w->work;

	w->wake_early_ns = WAKE_EARLY_NS;
	recorder_begin(&w->recorder, work->begin_ns, work->start_ns);
	w->think_until_ns = work->begin_ns;	/* a job of a group may start later than others */
	w->left_bytes = w->left_count = WORK_UNLIMITED;
	if (w->recorder.measuring)
		worker_begin_limits(w);
	if (w->is_replay) {
		player_begin(&w->player, work->start_ns);
		w->think_until_ns = w->one_by_one ? work->start_ns + w->player.gap_ns : 0;
	} else if (w->open_loop) {
		worker_begin_pace(w);
	}
	worker_usage_begin(w);
}

static void short_or_failed(struct worker *w, struct worker_slot *slot, const struct io_done *done)
{
	int code = done->result;

	if (code >= 0)
		code = slot->kind == IO_READ ? -ENODATA : -ENOSPC;
	fail(w, slot, slot->sync_ns != 0, code);
	if (w->work->map.words && (slot->kind == IO_WRITE || slot->kind == IO_TRIM))
		verify_release(&w->work->map, slot->offset_bytes, slot->length_bytes, false);
}

/* The request is done and counted; that it took so long ends the job. */
static __attribute__((noinline)) void too_slow(struct worker *w, const struct worker_slot *slot,
					       uint64_t latency_ns)
{
	if (!w->failed) {
		w->failed = true;
		w->failed_slot = *slot;
		w->failed_code = -ETIMEDOUT;
		w->failed_latency_ns = latency_ns;
	}
	atomic_store_explicit(&w->work->aborted, true, memory_order_relaxed);
}

static void record(struct worker *w, const struct worker_slot *slot, uint64_t end_ns)
{
	struct recorder *recorder = &w->recorder;
	const enum op_kind op = op_of_kind[slot->kind];

	const uint64_t latency_ns = end_ns - (w->open_loop ? slot->intended_ns : slot->submit_ns);

	search_add(&w->search, slot->submit_ns, latency_ns);
	if (__builtin_expect(latency_ns > w->latency_ns_max, 0))
		too_slow(w, slot, latency_ns);
	/* An open loop's requests belong to the time they were meant for. */
	if (!w->open_loop) {
		recorder_add(recorder, op, slot->length_bytes, end_ns - slot->submit_ns);
		return;
	}
	if (slot->intended_ns < recorder->start_ns || !recorder->measuring)
		return;
	recorder_add(recorder, op, slot->length_bytes, end_ns - slot->intended_ns);
	histogram_add(recorder->service[op], end_ns - slot->submit_ns);
}

static void record_sync(struct worker *w, const struct worker_slot *slot, uint64_t end_ns)
{
	struct recorder *recorder = &w->recorder;

	if (w->open_loop && (slot->intended_ns < recorder->start_ns || !recorder->measuring))
		return;
	recorder_add(recorder, OP_SYNC, 0, end_ns - slot->sync_ns);
	if (w->open_loop)
		histogram_add(recorder->service[OP_SYNC], end_ns - slot->sync_ns);
}

static void verify_done(struct worker *w, const struct worker_slot *slot, uint32_t tag)
{
	struct work *work = w->work;

	if (slot->kind == IO_WRITE || slot->kind == IO_TRIM)
		verify_release(&work->map, slot->offset_bytes, slot->length_bytes,
			       slot->kind == IO_WRITE);
	else if (slot->kind == IO_READ)
		verify_check(&work->map, &work->data, w->pool + tag * w->stride_bytes,
			     slot->offset_bytes, slot->length_bytes,
			     w->snapshots + (size_t)tag * w->snapshot_units, &w->tally);
}

/* What a completion lets start later: a pause after so many requests, or a recorded one. */
static void begin_pause(struct worker *w, uint64_t end_ns)
{
	const struct workload *workload = w->work->workload;

	if (w->is_replay) {
		player_landed(&w->player);
		if (w->one_by_one)
			w->think_until_ns = end_ns + w->player.gap_ns;
	} else if (workload->think_ns && --w->think_left == 0) {
		w->think_left = workload->think_count ? workload->think_count : 1;
		w->think_until_ns = end_ns + workload->think_ns;
		w->spin_until_ns = end_ns + workload->think_spin_ns;
	}
}

static void complete(struct worker *w, const struct io_done *done, uint64_t now_ns)
{
	struct worker_slot *slot = &w->slots[done->tag];
	const uint64_t end_ns = done->done_ns ? done->done_ns : now_ns;
	const bool moves_bytes = slot->kind <= IO_WRITE && !slot->sync_ns;
	const int32_t want = moves_bytes ? (int32_t)slot->length_bytes : 0;

	if (__builtin_expect(done->result != want, 0)) {
		short_or_failed(w, slot, done);
	} else if (w->sync_each && slot->kind == IO_WRITE && !slot->sync_ns) {
		w->sync_tags[w->sync_tag_count++] = done->tag;
		return;
	} else if (w->writes_trimmed && slot->kind == IO_TRIM) {
		record(w, slot, end_ns);
		if (w->tap)
			worker_tap(w, slot, done, end_ns);
		w->sync_tags[w->sync_tag_count++] = done->tag;
		return;
	} else {
		if (slot->sync_ns)
			record_sync(w, slot, end_ns);
		record(w, slot, end_ns);
		if (w->work->map.words)
			verify_done(w, slot, done->tag);
		if (w->line_slots && !second_is_last(w, done->tag, end_ns)) {
			if (w->tap)
				worker_tap(w, slot, done, end_ns);
			w->reply_tags[w->reply_tag_count++] = done->tag;
			return;
		}
	}
	if (w->tap)
		worker_tap(w, slot, done, end_ns);
	w->free_tags[w->free_count++] = done->tag;
	begin_pause(w, end_ns);
}

/* The last request of an amount is cut to what is left, in whole granules or checked blocks. */
static uint32_t cut(const struct worker *w, uint32_t length_bytes)
{
	const struct work *work = w->work;
	const uint64_t granule = work->map.words ? work->map.unit_bytes : work->range.granule_bytes;

	if (w->left_bytes >= length_bytes)
		return length_bytes;
	return (uint32_t)((w->left_bytes + granule - 1) / granule * granule);
}

/* Of the lines; a burst that is to wait sets when. */
static void draw_of_lines(struct worker *w, struct io *io)
{
	struct lines_request request;

	lines_next(&w->lines, &request);
	*io = (struct io){
		.kind = (uint8_t)request.kind,
		.offset_bytes = request.offset_bytes,
		.length_bytes = request.length_bytes,
	};
	w->drawn_line = request.line;
	if (request.delay_ns)
		w->think_until_ns = clock_now_ns(w->work->clock) + request.delay_ns;
}

/* False when another worker was first. */
static bool draw(struct worker *w, struct io *io)
{
	struct address *address = &w->address;
	uint32_t length_bytes;

	if (w->is_replay)
		return player_take(&w->player, io);
	if (w->lines.lines) {
		draw_of_lines(w, io);
		return true;
	}
	io->kind = (uint8_t)mix_next(&w->mix, &length_bytes);
	if (w->write_address && io->kind != IO_READ)
		address = w->write_address;
	io->offset_bytes = address_next(address, length_bytes);
	io->length_bytes = w->left_bytes == WORK_UNLIMITED ? length_bytes : cut(w, length_bytes);
	return true;
}

/* The next request; false when it has to wait for a write to its blocks, or was taken. */
static bool next_request(struct worker *w, struct io *io)
{
	struct work *work = w->work;

	if (w->sync_every && w->unsynced_count >= w->sync_every) {
		*io = (struct io){ .kind = w->sync_kind };
		w->unsynced_count = 0;
		return true;
	}
	/* Drawn first: the line may say that its burst waits. */
	if (w->lines.lines && !w->is_drawn) {
		draw(w, &w->drawn);
		w->is_drawn = true;
		if (w->think_until_ns > clock_now_ns(work->clock))
			return false;
	}
	if (w->is_held)
		*io = w->held;
	else if (w->is_drawn)
		*io = w->drawn;
	else if (!draw(w, io))
		return false;
	w->is_drawn = false;
	if (work->map.words && io->kind != IO_READ &&
	    !verify_claim(&work->map, io->offset_bytes, io->length_bytes)) {
		w->held = *io;
		w->is_held = true;
		return false;
	}
	w->is_held = false;
	if (w->left_bytes != WORK_UNLIMITED)
		w->left_bytes -= io->length_bytes < w->left_bytes ? io->length_bytes :
								    w->left_bytes;
	if (w->left_count != WORK_UNLIMITED)
		w->left_count--;
	w->unsynced_count += io->kind == IO_WRITE;
	if (w->queue->ops->expect && !w->lines.lines && !w->is_replay && w->left_bytes > 0 &&
	    w->left_count > 0) {
		draw(w, &w->drawn);
		w->is_drawn = true;
		w->queue->ops->expect(w->queue, w->drawn.offset_bytes);
	}
	return true;
}

void worker_content(struct worker *w, struct io *io)
{
	struct work *work = w->work;
	const uint64_t generation = (uint64_t)w->index << 40 | ++w->write_count;

	/* What is to be read back must be there as bytes: no tag stands for it. */
	if (work->map.words) {
		verify_fill(&work->map, &work->data, io->buffer, io->offset_bytes,
			    io->length_bytes);
		return;
	}
	io->content_tag = random_mix(work->seed ^ generation) >> 2 | 1;
	if (work->fills)
		data_fill(&work->data, io->buffer, io->length_bytes, io->offset_bytes, generation);
}

static void occupy(struct worker *w, struct io *io, uint64_t intended_ns, uint64_t now_ns)
{
	const uint32_t tag = w->free_tags[--w->free_count];

	io->tag = tag;
	io->buffer = io->kind <= IO_WRITE ? w->pool + tag * w->stride_bytes : NULL;
	io->content_tag = !w->work->map.words;	/* only what is verified is looked at */
	w->slots[tag] = (struct worker_slot){
		.submit_ns = now_ns,
		.intended_ns = intended_ns,
		.offset_bytes = io->offset_bytes,
		.length_bytes = io->length_bytes,
		.kind = io->kind,
	};
	if (w->line_slots)
		w->line_slots[tag] = (struct line_slot){ .line = w->drawn_line, .begin_ns = now_ns };
	if (io->kind == IO_WRITE)
		worker_content(w, io);
	else if (io->kind == IO_READ && w->work->map.words)
		verify_snapshot(&w->work->map, io->offset_bytes, io->length_bytes,
				w->snapshots + (size_t)tag * w->snapshot_units);
}

/* When the next request may start: now or before, later, or NEVER_NS (after a completion). */
static uint64_t next_start_ns(const struct worker *w)
{
	if (w->draining || w->free_count == 0 || w->left_count == 0 || w->left_bytes == 0)
		return NEVER_NS;
	if (in_flight(w) >= w->search.depth_count)
		return NEVER_NS;
	if (w->is_replay && (!w->player.has_next || player_waits(&w->player)))
		return NEVER_NS;
	if (!w->open_loop)
		return w->think_until_ns;
	return due_ns(w) < w->work->end_ns ? due_ns(w) : NEVER_NS;
}

/* What was due in the ramp is not measured, however late it comes: none of the amount that is. */
static void give_back(struct worker *w, const struct io *io)
{
	if (w->left_bytes != WORK_UNLIMITED)
		w->left_bytes += io->length_bytes;
	if (w->left_count != WORK_UNLIMITED)
		w->left_count++;
}

static void arrived(struct worker *w, uint64_t intended_ns, uint64_t now_ns)
{
	const uint64_t late_ns = now_ns - intended_ns;

	histogram_add(w->recorder.lateness, late_ns);
	w->punctual_count += late_ns <= REPLAY_PUNCTUAL_NS;
	w->last_late_ns = late_ns;
	w->last_number = w->player.number;
	if (w->starved && late_ns > w->backlog_ns_max)
		w->backlog_ns_max = late_ns;
}

/* Pushes what may start, at most a batch; returns how many. */
static uint32_t start(struct worker *w, uint64_t now_ns)
{
	uint32_t count = second_start(w, now_ns);

	w->is_ahead = false;
	while (count < w->batch_count && next_start_ns(w) <= now_ns) {
		uint64_t intended_ns = w->open_loop ? due_ns(w) : now_ns;
		struct io *io = &w->ios[count];

		w->is_ahead = flow_ahead(&w->flow);
		if (w->is_ahead)
			break;
		if (!next_request(w, io)) {
			if (w->is_replay)
				continue;	/* the one after it, then */
			break;
		}
		flow_add(&w->flow);
		/* Syncs are none of the schedule's, unless they were recorded. */
		if (w->open_loop && (w->is_replay || io->kind < IO_FSYNC)) {
			if (!w->is_replay)
				pace_take(&w->pace);
			if (intended_ns < w->recorder.start_ns)
				give_back(w, io);
			else
				arrived(w, intended_ns, now_ns);
		}
		occupy(w, io, intended_ns, now_ns);
		count++;
	}
	if (w->open_loop)
		w->starved = w->free_count == 0 && due_ns(w) <= now_ns;
	if (count > 0)
		pushed(w, count);
	return count;
}

/* The fsync behind the last write; true when it was begun and is to be waited for. */
static bool start_end_sync(struct worker *w, uint64_t now_ns)
{
	if (!w->work->workload->end_fsync || w->end_synced || w->interrupted ||
	    atomic_load_explicit(&w->work->aborted, memory_order_relaxed))
		return false;
	w->end_synced = true;
	w->ios[0] = (struct io){ .kind = IO_FSYNC };
	occupy(w, &w->ios[0], now_ns, now_ns);
	pushed(w, 1);
	return true;
}

static int collect(struct worker *w, uint32_t min_count, uint64_t deadline_ns)
{
	const int r = w->queue->ops->reap(w->queue, w->dones, min_count, w->depth_count,
					  deadline_ns);
	uint64_t now_ns;

	if (r < 0) {
		fail_queue(w, r);
		return r;
	}
	if (r == 0)
		return 0;
	w->reap_counts[r]++;
	now_ns = clock_now_ns(w->work->clock);
	if (recorder_due(&w->recorder, now_ns))
		tick(w, now_ns);
	for (int i = 0; i < r; i++)
		complete(w, &w->dones[i], now_ns);
	return r;
}

static void check_over(struct worker *w, uint64_t now_ns)
{
	if (w->is_replay)
		player_follow(&w->player);
	if (search_step(&w->search, now_ns) && !w->work->workload->latency_run)
		w->left_count = 0;
	if (w->draining || !is_over(w, now_ns))
		return;
	w->draining = true;
	recorder_ending(&w->recorder);
}

/*
 * Spinning would starve kernel threads that serve this very I/O on this CPU. They give it back
 * within microseconds. Another program keeps it until the next tick of the
 * scheduler, 4 ms and more: where that happens time after time, it gets no more this way than a
 * small share, and its rights from the scheduler.
 */
static void yield(struct worker *w)
{
	const uint64_t begin_ns = clock_now_ns(w->work->clock);
	uint64_t taken_ns;

	if (begin_ns < w->no_yield_until_ns)
		return;
	sched_yield();
	taken_ns = clock_now_ns(w->work->clock) - begin_ns;
	if (taken_ns < YIELD_DEAR_NS) {
		w->yield_debt -= w->yield_debt > 0;
		return;
	}
	if (w->yield_debt < YIELD_DEBT_MAX)
		w->yield_debt += YIELD_DEBT;
	if (w->yield_debt >= YIELD_DEBT_MAX)
		w->no_yield_until_ns = begin_ns + taken_ns * YIELD_REST;
}

/* Nothing could be started: reaps, waiting as long as that delays no start. */
static void wait_real(struct worker *w, uint64_t now_ns)
{
	const uint64_t start_ns = w->is_held || w->is_ahead ? NEVER_NS : next_start_ns(w);
	const uint32_t flying = in_flight(w) - w->sync_tag_count - w->reply_tag_count;
	uint64_t deadline_ns;

	if (flying == 0 && w->is_held) {
		sched_yield();	/* another worker writes those blocks */
	} else if (now_ns < w->spin_until_ns && start_ns != NEVER_NS) {
		collect(w, 0, NEVER_NS);	/* a pause that is to cost CPU time */
	} else if (flying == 0 && (w->is_ahead || (w->is_replay && start_ns == NEVER_NS))) {
		nanosleep(&(struct timespec){ .tv_nsec = FLOW_WAIT_NS }, NULL);
	} else if (flying == 0) {
		worker_nap(w, start_ns);
	} else if (start_ns == NEVER_NS) {
		collect(w, w->wait_count < flying ? w->wait_count : flying, NEVER_NS);
	} else if (start_ns > now_ns + w->wake_early_ns + SPIN_NS) {
		deadline_ns = start_ns - w->wake_early_ns;
		if (deadline_ns > now_ns + STOP_CHECK_NS)
			deadline_ns = now_ns + STOP_CHECK_NS;
		collect(w, 1, deadline_ns);
	} else if (collect(w, 0, NEVER_NS) == 0) {
		yield(w);
	}
}

static void general_run(struct worker *w)
{
	while (!w->finished) {
		const uint64_t now_ns = clock_now_ns(w->work->clock);
		uint32_t count;
		int r = 0;

		if (recorder_due(&w->recorder, now_ns))
			tick(w, now_ns);
		check_over(w, now_ns);
		count = start(w, now_ns);
		if (in_flight(w) == 0 && w->draining && !start_end_sync(w, now_ns))
			break;
		if (count > 0 && next_start_ns(w) <= now_ns && !w->is_held && !w->is_ahead)
			r = collect(w, 0, NEVER_NS);
		else
			wait_real(w, now_ns);
		if (w->work->batch_grows)
			adapt_batch(w, count, r > 0 ? (uint32_t)r : 0);
	}
}

static void finish(struct worker *w)
{
	const uint64_t now_ns = clock_now_ns(w->work->clock);
	const bool whole = w->open_loop && w->work->end_ns != NEVER_NS && !w->interrupted &&
			   !w->is_steady &&
			   !atomic_load_explicit(&w->work->aborted, memory_order_relaxed);

	worker_usage_end(w);
	w->recorder.last_ns = now_ns > w->work->start_ns ? now_ns : w->work->start_ns;
	if (whole && w->recorder.last_ns < w->work->end_ns)
		w->recorder.last_ns = w->work->end_ns;
	if (recorder_due(&w->recorder, w->recorder.last_ns))
		tick(w, w->recorder.last_ns);
	recorder_finish(&w->recorder, w->recorder.last_ns);
	worker_count_punted(w);
	if (w->is_replay)
		player_follow(&w->player);
	while (whole && due_ns(w) < w->work->end_ns) {
		struct io unserved;

		if (w->is_replay) {
			w->unserved_count += player_take(&w->player, &unserved);
			continue;
		}
		pace_take(&w->pace);
		w->unserved_count++;
	}
	if (w->tap)
		tap_flush(w->tap);
	if (w->player.code < 0)
		fail_queue(w, w->player.code);
	w->finished = w->ended = true;
	flow_leave(&w->flow);
	if (atomic_fetch_sub(&w->work->running_count, 1) == 1)
		group_job_ended(w->work);
}

/* All together; a request before the start would belong to no second. False: over before it. */
static bool wait_begin(struct worker *w)
{
	const uint64_t begin_ns = w->work->begin_ns;
	uint64_t now_ns;

	while ((now_ns = clock_now_ns(w->work->clock)) + w->wake_early_ns + SPIN_NS < begin_ns) {
		if (is_over(w, now_ns))
			return false;
		worker_nap(w, begin_ns);
	}
	clock_sleep_until(w->work->clock, begin_ns, NULL);
	return true;
}

void worker_run(struct worker *w)
{
	assert(w->queue);
	assert(!w->work->clock->virtual_ns);
	if (!wait_begin(w)) {
		finish(w);
		return;
	}
	worker_run_plain(w);
	for (uint32_t tag = 0; tag < w->depth_count; tag++) {
		w->slots[tag].kind = (uint8_t)w->mix.kind;
		w->slots[tag].length_bytes = w->mix.length_bytes;
	}
	general_run(w);
	finish(w);
}

uint64_t worker_step(struct worker *w)
{
	const struct work *work = w->work;
	const uint64_t now_ns = clock_now_ns(work->clock);
	uint64_t next_ns, start_ns;

	assert(work->clock->virtual_ns);
	for (uint32_t rounds = 0; !w->finished; rounds++) {
		uint32_t count;
		int r;

		r = collect(w, 0, NEVER_NS);
		if (recorder_due(&w->recorder, now_ns))
			tick(w, now_ns);
		check_over(w, now_ns);
		count = start(w, now_ns);
		if (w->draining && in_flight(w) == 0 && !start_end_sync(w, now_ns))
			finish(w);
		else if (rounds == STANDSTILL_COUNT)
			fail_queue(w, -ELOOP);
		else if (r == 0 && count == 0)
			break;
	}
	if (w->finished && !w->ended)
		finish(w);	/* the queue broke */
	if (w->finished)
		return NEVER_NS;
	next_ns = w->queue->ops->next_ns(w->queue);
	start_ns = w->is_held || w->is_ahead ? NEVER_NS : next_start_ns(w);
	return start_ns < next_ns ? start_ns : next_ns;
}
