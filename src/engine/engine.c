/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/units.h"
#include "engine/memory.h"
#include "engine/run.h"

#define BATCH_COUNT 16u
#define WAIT_COUNT 8u

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* See engine.h for the policy. */
static void set_policy(struct work *work)
{
	const struct workload *workload = work->workload;
	const bool open_loop = work_is_open_loop(work);
	uint32_t depth = work->ops->is_synchronous ? 1 : workload->depth_count;
	uint32_t batch, wait;

	if (depth == 0 || (work->trace && workload->replay.timing == TIMING_GAPS))
		depth = 1;
	batch = open_loop ? depth : smaller(BATCH_COUNT, depth);
	wait = open_loop || depth < 4 ? 1 : smaller(WAIT_COUNT, depth / 4);
	if (work->clock->virtual_ns)
		wait = 1;
	work->depth_count = depth;
	work->batch_count = workload->batch_count ? smaller(workload->batch_count, depth) : batch;
	work->wait_count = workload->wait_count ? smaller(workload->wait_count, depth) : wait;
	work->batch_grows = !workload->batch_count && !open_loop && batch < depth;
}

static int set_data(struct work *work, struct err *err)
{
	const struct workload *workload = work->workload;
	uint32_t unit_bytes = work->range.block_min_bytes;
	int r;

	/* Zeros that nothing read over are still there: such writes need no filling. */
	work->fills = workload_writes(workload) &&
		      (workload->data != DATA_ZERO || workload_reads(workload)) &&
		      !(work->clock->virtual_ns && !workload->verify);
	if (!workload->verify)
		return work->fills ? data_init(&work->data, workload, unit_bytes, work->seed, err) :
				     0;

	if (memory_is_wanted(workload))
		return memory_recall(work, err);
	r = verify_unit(workload, &work->range, &unit_bytes, err);
	if (r == 0)
		r = data_init(&work->data, workload, unit_bytes, work->seed, err);
	if (r == 0)
		r = verify_map_init(&work->map, &work->range, unit_bytes, err);
	work->map.foreign = !workload_writes(workload);
	return r;
}

static int parse_cpus(struct work *work, struct err *err)
{
	const char *at = work->workload->cpus;

	while (*at) {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;
		uint64_t *grown;

		if (end != at && *end == '-') {
			at = end + 1;
			last = strtoul(at, &end, 10);
		}
		if (end == at || (*end && *end != ',') || last < first || last >= 65536)
			return err_set(err, -EINVAL,
				       "cpus '%s' is no list like \"0-3,6\"", work->workload->cpus);
		grown = realloc(work->cpus, (work->cpu_count + last - first + 1) * sizeof(*grown));
		if (!grown)
			return err_set(err, -ENOMEM, "no memory for the list of CPUs");
		work->cpus = grown;
		while (first <= last)
			work->cpus[work->cpu_count++] = first++;
		at = *end ? end + 1 : end;
	}
	return 0;
}

static uint64_t new_seed(void)
{
	uint64_t seed = 0;

	while (seed == 0) {
		if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
			seed = clock_counter() ^ clock_gettime_ns();
	}
	return seed;
}

static int work_init(struct work *work, const struct engine_options *options, struct err *err)
{
	const struct workload *workload = work->workload;
	int r;

	work->ops = engine_queue(workload, work->target, err);
	if (!work->ops)
		return err ? err->code : -ENOSYS;
	r = engine_resolve(workload, &work->target->info, &work->range, err);
	if (r < 0)
		return r;
	work->seed = workload->seed ? workload->seed : new_seed();
	atomic_init(&work->running_count, workload->job_count);
	set_policy(work);
	r = parse_cpus(work, err);
	if (r == 0)
		r = set_data(work, err);
	if (r == 0 && options->recording)
		r = taps_open(&work->taps, options->recording, workload->job_count,
			      work->clock->virtual_ns != NULL, err);
	return r;
}

static const char *const kind_names[] = {
	[IO_READ] = "read",   [IO_WRITE] = "write",	   [IO_TRIM] = "trim",
	[IO_FSYNC] = "fsync", [IO_FDATASYNC] = "fdatasync",
};

static void tell_too_slow(struct measurement *m, const struct worker *w)
{
	const struct worker_slot *slot = &w->failed_slot;
	char length[UNITS_TEXT_BYTES], took[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];

	m->errnos[0].code = w->failed_code;
	m->errnos[0].count = 1;
	m->errno_count = 1;
	snprintf(m->error_text, sizeof(m->error_text),
		 "%s of %s at offset %llu took %s, longer than max-latency=%s",
		 kind_names[slot->kind], units_format_bytes(slot->length_bytes, length),
		 (unsigned long long)slot->offset_bytes,
		 units_format_latency((double)w->failed_latency_ns, took),
		 units_format_time_ns(w->latency_ns_max, limit));
}

static void tell_failure(struct measurement *m, const struct worker *w)
{
	const struct worker_slot *slot = &w->failed_slot;
	char length[UNITS_TEXT_BYTES];

	m->ended_early = true;
	if (w->failed_code == -ELOOP)
		snprintf(m->error_text, sizeof(m->error_text),
			 "virtual time stands still: the target takes no time");
	else if (w->failed_latency_ns)
		tell_too_slow(m, w);
	else if (w->failed_in_sync || slot->kind >= IO_FSYNC)
		snprintf(m->error_text, sizeof(m->error_text), "%s: %s",
			 kind_names[slot->kind >= IO_FSYNC ? slot->kind : w->sync_kind],
			 strerror(-w->failed_code));
	else if (slot->length_bytes == 0)
		snprintf(m->error_text, sizeof(m->error_text), "the queue broke: %s",
			 strerror(-w->failed_code));
	else
		snprintf(m->error_text, sizeof(m->error_text), "%s of %s at offset %llu: %s",
			 kind_names[slot->kind], units_format_bytes(slot->length_bytes, length),
			 (unsigned long long)slot->offset_bytes, strerror(-w->failed_code));
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Each pacer has read all of the trace up to where it was: what it left out is not its own. */
static void add_replayed(struct measurement *m, const struct worker *w, uint64_t *last_number)
{
	const struct player *player = &w->player;
	struct replay_result *r = &m->replay;

	r->is_replay = true;
	r->played_count += player->played_count - w->unserved_count;
	r->punctual_count += w->punctual_count;
	r->skipped_count = larger(r->skipped_count, player->skipped_count);
	r->clipped_count = larger(r->clipped_count, player->clipped_count);
	r->wrapped_count = larger(r->wrapped_count, player->wrapped_count);
	if (w->last_number > *last_number) {
		*last_number = w->last_number;
		r->last_late_ns = w->last_late_ns;
	}
}

/* 1, 2-3, 4-7, ... 64 and more */
static size_t depth_step(uint32_t count)
{
	size_t step = 0;

	while (count >>= 1)
		step++;
	return step < MEASUREMENT_STEPS ? step : MEASUREMENT_STEPS - 1;
}

/* 0, 1-4, 5-8, ... 33-64, more */
static size_t batch_step(uint32_t count)
{
	size_t step = count > 0;

	for (uint32_t end = 4; count > end && step < MEASUREMENT_STEPS - 1; end *= 2)
		step++;
	return step;
}

/* Returns how many requests there were; depth_sum grows by those in flight with each. */
static uint64_t add_batches(struct measurement *m, const struct worker *w, double *depth_sum)
{
	uint64_t total = 0;

	/* Empty batches are polls in vain, not batches. */
	for (uint32_t n = 1; n <= w->depth_count; n++) {
		m->depth_counts[depth_step(n)] += w->flying_counts[n];
		m->push_counts[batch_step(n)] += w->push_counts[n];
		m->reap_counts[batch_step(n)] += w->reap_counts[n];
		total += w->flying_counts[n];
		*depth_sum += (double)n * (double)w->flying_counts[n];
		if (w->flying_counts[n] && n > m->depth_max)
			m->depth_max = n;
	}
	return total;
}

static void add_worker(struct measurement *m, const struct worker *w)
{
	const double cpu_ns = (double)(w->user_ns + w->system_ns);

	m->interrupted |= w->interrupted;
	if (w->failed && !m->ended_early)
		tell_failure(m, w);
	m->user_ns += w->user_ns;
	m->system_ns += w->system_ns;
	m->voluntary_switch_count += w->voluntary_switch_count;
	m->involuntary_switch_count += w->involuntary_switch_count;
	m->major_fault_count += w->major_fault_count;
	m->minor_fault_count += w->minor_fault_count;
	m->transaction_count += w->transaction_count;
	m->transaction_ns += w->transaction_ns;
	if (w->transaction_ns_max > m->transaction_ns_max)
		m->transaction_ns_max = w->transaction_ns_max;
	m->punted_count += w->punted_count;
	/* Of several workers the one that got least far. */
	if (w->search.is_found && (!m->depth_found || w->search.depth_count < m->depth_found))
		m->depth_found = w->search.depth_count;
	m->steady |= w->is_steady;
	m->unserved_count += w->unserved_count;
	if (w->backlog_ns_max > m->backlog_ns_max)
		m->backlog_ns_max = w->backlog_ns_max;
	if (w->batch_max > m->batch_count)
		m->batch_count = w->batch_max;
	if (m->duration_ns && cpu_ns / (double)m->duration_ns > m->worker_cpu_max)
		m->worker_cpu_max = cpu_ns / (double)m->duration_ns;
}

static void add_verified(struct measurement *m, const struct verify_tally *tally)
{
	m->verified_count = tally->checked_count;
	m->verify_failed_count = tally->failed_count;
	if (tally->failed_count == 0)
		return;
	m->verify_failure.offset_bytes = tally->first.offset_bytes;
	snprintf(m->verify_failure.what, sizeof(m->verify_failure.what), "%s",
		 data_verdict_name(tally->first.verdict));
	memcpy(m->verify_failure.expected, tally->first.expected,
	       sizeof(m->verify_failure.expected));
	memcpy(m->verify_failure.found, tally->first.found, sizeof(m->verify_failure.found));
}

static int tell(struct measurement *m, const struct work *work, struct err *err)
{
	struct worker *workers = work->workers;
	const uint32_t count = work->workload->job_count;
	struct recorder **recorders = calloc(count, sizeof(struct recorder *));
	uint64_t request_count = 0, last_ns = work->start_ns, last_number = 0;
	double depth_sum = 0;
	int r;

	if (!recorders)
		return err_set(err, -ENOMEM, "no memory for %u jobs", count);
	for (uint32_t i = 0; i < count; i++) {
		recorders[i] = &workers[i].recorder;
		if (workers[i].recorder.last_ns > last_ns)
			last_ns = workers[i].recorder.last_ns;
		request_count += add_batches(m, &workers[i], &depth_sum);
	}
	m->seed = work->seed;
	m->start_ns = work->start_ns;
	m->duration_ns = last_ns - work->start_ns;
	m->wait_count = work->wait_count;
	m->depth_mean = request_count ? depth_sum / (double)request_count : 0;
	snprintf(m->engine, sizeof(m->engine), "%s", work->ops->name);
	memcpy(m->queue_mode, workers[0].queue_mode, sizeof(m->queue_mode));
	for (uint32_t i = 0; i < count; i++) {
		add_worker(m, &workers[i]);
		if (work->trace)
			add_replayed(m, &workers[i], &last_number);
	}
	r = recorder_merge(m, recorders, count, err);
	free(recorders);
	return r;
}

/* Reads back on a queue of its own, with the first worker's buffers. */
static int read_back(struct measurement *m, struct work *work, struct verify_tally *tally,
		     struct err *err)
{
	struct worker *w = &work->workers[0];
	const uint64_t start_ns = clock_now_ns(work->clock);
	int r;

	m->readback.latency = malloc(sizeof(*m->readback.latency));
	if (!m->readback.latency)
		return err_set(err, -ENOMEM, "verify: no memory");
	histogram_init(m->readback.latency);
	r = worker_open(w);
	if (r < 0) {
		if (err)
			*err = w->err;
		return r;
	}
	r = verify_read_back(&work->map, &work->data,
			     &(struct verify_pass){
				     .queue = w->queue,
				     .pool = w->pool,
				     .stride_bytes = w->stride_bytes,
				     .depth_count = w->depth_count,
				     .length_max_bytes = work->range.block_max_bytes,
				     .clock = work->clock,
				     .stop = work->stop,
				     .ret = &m->readback,
			     },
			     tally, err);
	worker_close(w);
	m->readback_ns = clock_now_ns(work->clock) - start_ns;
	return r;
}

static void verify(struct measurement *m, struct work *work)
{
	struct verify_tally tally = { 0 };
	struct err err = { 0 };

	if (!work->map.words)
		return;
	for (uint32_t i = 0; i < work->workload->job_count; i++)
		verify_tally_add(&tally, &work->workers[i].tally);
	if (!work->map.foreign && !work->map.recalled && work->workload->verify_back &&
	    read_back(m, work, &tally, &err) < 0 && !m->ended_early) {
		m->ended_early = true;
		memcpy(m->error_text, err.text, sizeof(m->error_text));
	}
	/* Stopped while reading back: what was measured is whole, what was verified is not. */
	m->interrupted |= work->stop && *work->stop;
	add_verified(m, &tally);
	if (work->memory && workload_writes(work->workload))
		memory_keep(work);
}

void group_set_times(struct group *group, uint64_t begin_ns)
{
	for (size_t i = 0; i < group->work_count; i++) {
		struct work *work = &group->works[i];
		const struct workload *workload = work->workload;

		work->begin_ns = begin_ns + workload->start_delay_ns;
		work->start_ns = work->begin_ns + workload->ramp_ns;
		work->end_ns = workload->runtime_ns ? work->start_ns + workload->runtime_ns :
						      NEVER_NS;
	}
}

void group_job_ended(struct work *work)
{
	struct group *group = work->group;

	if (!work->ends_group)
		return;
	for (size_t i = 0; i < group->work_count; i++)
		atomic_store_explicit(&group->works[i].aborted, true, memory_order_relaxed);
}

/* The flow of that id, made when it is the first to name it. */
static struct flow *find_flow(struct group *group, const struct workload *workload)
{
	struct flow *flow = group->flows;

	while (flow < group->flows + group->flow_count && flow->id != workload->flow_id)
		flow++;
	if (flow == group->flows + group->flow_count) {
		flow->id = workload->flow_id;
		group->flow_count++;
	}
	atomic_fetch_add(&flow->weight, (uint64_t)workload->flow_weight * workload->job_count);
	return flow;
}

static int group_init(struct group *group, const struct engine_job *jobs,
		      const struct engine_options *options, struct err *err)
{
	group->works = calloc(group->work_count, sizeof(*group->works));
	group->workers = calloc(group->worker_count, sizeof(*group->workers));
	group->flows = calloc(group->work_count, sizeof(*group->flows));
	if (!group->works || !group->workers || !group->flows)
		return err_set(err, -ENOMEM, "no memory for %u workers", group->worker_count);
	group->worker_count = 0;
	for (size_t i = 0; i < group->work_count; i++) {
		struct work *work = &group->works[i];
		int r;

		work->group = group;
		work->workers = group->workers + group->worker_count;
		work->workload = jobs[i].workload;
		if (work->workload->flow_weight)
			work->flow = find_flow(group, work->workload);
		work->target = jobs[i].target;
		work->ends_group = jobs[i].ends_group;
		work->memory = jobs[i].memory;
		work->trace = jobs[i].trace;
		work->measurement_index = jobs[i].measurement_index;
		work->clock = options->clock;
		work->stop = options->stop;
		r = work_init(work, options, err);
		for (uint32_t k = 0; r == 0 && k < work->workload->job_count; k++) {
			r = worker_init(&work->workers[k], work, k,
					!options->clock->virtual_ns && options->progress, err);
			group->worker_count += r == 0;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static void group_done(struct group *group)
{
	while (group->workers && group->worker_count > 0)
		worker_done(&group->workers[--group->worker_count]);
	for (size_t i = 0; group->works && i < group->work_count; i++) {
		taps_close(group->works[i].taps);
		verify_map_done(&group->works[i].map);
		free(group->works[i].cpus);
	}
	free(group->workers);
	free(group->flows);
	free(group->works);
}

static int group_run(struct group *group, const struct engine_job *jobs,
		     const struct engine_options *options, struct err *err)
{
	int r = group->clock->virtual_ns ? run_virtual(group, options, err) :
					   run_threads(group, options, err);

	for (size_t i = 0; r == 0 && i < group->work_count; i++) {
		jobs[i].ret->workload = *jobs[i].workload;
		r = tell(jobs[i].ret, &group->works[i], err);
	}
	for (size_t i = 0; r == 0 && i < group->work_count; i++)
		verify(jobs[i].ret, &group->works[i]);
	return r;
}

int engine_run_group(const struct engine_job *jobs, size_t count,
		     const struct engine_options *options, struct err *err)
{
	struct group group = { .clock = options->clock, .work_count = count };
	int r;

	assert(count > 0);
	for (size_t i = 0; i < count; i++) {
		assert(jobs[i].workload->job_count > 0);
		assert(!*jobs[i].workload->trace == !jobs[i].trace);
		group.worker_count += jobs[i].workload->job_count;
	}
	r = group_init(&group, jobs, options, err);
	if (r == 0)
		r = group_run(&group, jobs, options, err);
	group_done(&group);
	return r;
}

int engine_run(const struct workload *workload, struct target *target,
	       const struct engine_options *options, struct measurement *ret, struct err *err)
{
	const struct engine_job job = { .workload = workload, .target = target, .ret = ret };

	return engine_run_group(&job, 1, options, err);
}
