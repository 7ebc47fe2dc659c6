/* SPDX-License-Identifier: MIT */
#include "engine/run.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define START_DELAY_NS (200 * MICROSECOND_NS)	/* all are awake when the first starts */

struct crew {
	struct group *group;
	sem_t ready;		/* posted by each worker when its queue is open, or is not */
	sem_t go;		/* posted for each worker when all may start */
	sem_t ended;
	_Atomic bool cancelled;
};

struct hand {
	struct crew *crew;
	struct worker *worker;
	pthread_t thread;
	bool started;
	int open_result;
};

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) < 0)
		assert(errno == EINTR);
}

static void *hand_main(void *arg)
{
	struct hand *hand = arg;
	struct crew *crew = hand->crew;
	struct worker *w = hand->worker;
	char name[16];

	snprintf(name, sizeof(name), "tare-job-%u", w->index);
	pthread_setname_np(pthread_self(), name);
	hand->open_result = worker_settle(w);
	if (hand->open_result == 0)
		hand->open_result = worker_open(w);
	sem_post(&crew->ready);
	wait_for(&crew->go);
	if (hand->open_result == 0 && !atomic_load(&crew->cancelled)) {
		worker_begin(w);
		worker_run(w);
	}
	worker_close(w);
	sem_post(&crew->ended);
	return NULL;
}

static int start_hands(struct crew *crew, struct hand *hands, struct err *err)
{
	struct group *group = crew->group;

	for (uint32_t i = 0; i < group->worker_count; i++) {
		int r;

		hands[i] = (struct hand){ .crew = crew, .worker = &group->workers[i] };
		r = pthread_create(&hands[i].thread, NULL, hand_main, &hands[i]);
		if (r != 0)
			return err_errno(err, -r, "cannot start the thread of worker %u", i);
		hands[i].started = true;
	}
	return 0;
}

/* Waits for all that were started; the first failure to open, if any. */
static int gather(struct crew *crew, struct hand *hands, uint32_t count, struct err *err)
{
	int r = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (hands[i].started)
			wait_for(&crew->ready);
	}
	for (uint32_t i = 0; r == 0 && i < count; i++) {
		r = hands[i].started ? hands[i].open_result : 0;
		if (r < 0 && err)
			*err = hands[i].worker->err;
	}
	return r;
}

struct watch {
	uint64_t last_ns;
	struct histogram interval;
};

/* Of one job: what was done since the last look. */
static void look_at(struct work *work, struct watch *watch, struct engine_progress *ret)
{
	uint64_t count = 0, bytes = 0;

	for (uint32_t i = 0; i < work->workload->job_count; i++) {
		struct recorder_mailbox *box = work->workers[i].mailbox;

		count += atomic_load_explicit(&box->total_count, memory_order_relaxed);
		bytes += atomic_load_explicit(&box->total_bytes, memory_order_relaxed);
		if (!atomic_load_explicit(&box->full, memory_order_acquire))
			continue;
		histogram_merge(&watch->interval, &box->interval);
		atomic_store_explicit(&box->full, false, memory_order_release);
	}
	/* Counts start anew when the ramp ends. */
	if (count < work->seen_count)
		work->seen_count = work->seen_bytes = 0;
	ret->iops += (double)(count - work->seen_count);
	ret->bytes_per_s += (double)(bytes - work->seen_bytes);
	work->seen_count = count;
	work->seen_bytes = bytes;
	ret->done_bytes += bytes;
}

/* When the group ends, as far as is known: by its longest job, or by bytes. */
/* How long it measures; 0 = until something else ends it. */
static uint64_t runtime_ns(const struct work *work)
{
	const uint64_t runtime = work->workload->runtime_ns;

	return runtime || !work->trace ? runtime : player_lasts_ns(work->trace, work->workload);
}

static uint64_t bytes_to_do(const struct work *work)
{
	if (runtime_ns(work))
		return 0;
	if (work->trace)
		return work->trace->stats.bytes[TRACE_READ] + work->trace->stats.bytes[TRACE_WRITE] +
		       work->trace->stats.bytes[TRACE_TRIM];
	return work->range.size_bytes;
}

static void look_ahead(const struct group *group, uint64_t now_ns, struct engine_progress *ret)
{
	uint64_t bytes = 0, ns = 0;
	bool by_bytes = false;

	ret->ramping = true;
	for (size_t i = 0; i < group->work_count; i++) {
		const struct work *work = &group->works[i];
		const struct workload *w = work->workload;
		const uint64_t total_ns = w->start_delay_ns + w->ramp_ns + runtime_ns(work);

		ret->ramping &= now_ns < work->start_ns;
		by_bytes |= runtime_ns(work) == 0;
		ns = total_ns > ns ? total_ns : ns;
		bytes += w->io_size_bytes ? w->io_size_bytes :
			 w->io_count	  ? w->io_count * w->block_bytes :
					    bytes_to_do(work);
	}
	ret->total_ns = by_bytes ? 0 : ns;
	ret->total_bytes = bytes;
}

static void look(struct group *group, struct watch *watch, struct engine_progress *ret)
{
	const uint64_t now_ns = clock_now_ns(group->clock);
	const double seconds = (double)(now_ns - watch->last_ns) / 1e9;
	uint64_t begin_ns = NEVER_NS;

	*ret = (struct engine_progress){ 0 };
	histogram_init(&watch->interval);
	for (size_t i = 0; i < group->work_count; i++) {
		const struct work *work = &group->works[i];
		const uint64_t group_ns = work->begin_ns - work->workload->start_delay_ns;

		look_at(&group->works[i], watch, ret);
		begin_ns = group_ns < begin_ns ? group_ns : begin_ns;
	}
	look_ahead(group, now_ns, ret);
	ret->elapsed_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
	ret->iops /= seconds;
	ret->bytes_per_s /= seconds;
	ret->latency_ns_p99 = histogram_percentile_ns(&watch->interval, 990000);
	watch->last_ns = now_ns;
}

#define PROGRESS_NS (250 * MILLISECOND_NS)

static bool wait_interval(sem_t *sem)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)PROGRESS_NS;
	if (until.tv_nsec >= (long)SECOND_NS) {
		until.tv_nsec -= (long)SECOND_NS;
		until.tv_sec++;
	}
	return sem_timedwait(sem, &until) == 0;
}

static void oversee(struct crew *crew, const struct engine_options *options)
{
	struct watch watch = { .last_ns = clock_now_ns(crew->group->clock) };
	uint32_t ended = 0;

	while (ended < crew->group->worker_count) {
		struct engine_progress progress;

		if (!options->progress) {
			wait_for(&crew->ended);
			ended++;
		} else if (wait_interval(&crew->ended)) {
			ended++;
		} else {
			look(crew->group, &watch, &progress);
			options->progress(options->progress_ctx, &progress);
		}
	}
}

int run_threads(struct group *group, const struct engine_options *options, struct err *err)
{
	const uint32_t count = group->worker_count;
	struct crew crew = { .group = group };
	struct hand *hands = calloc(count, sizeof(*hands));
	int r;

	if (!hands)
		return err_set(err, -ENOMEM, "no memory for %u workers", count);
	sem_init(&crew.ready, 0, 0);
	sem_init(&crew.go, 0, 0);
	sem_init(&crew.ended, 0, 0);
	r = start_hands(&crew, hands, err);
	if (r == 0)
		r = gather(&crew, hands, count, err);
	else
		gather(&crew, hands, count, NULL);
	atomic_store(&crew.cancelled, r < 0);
	group_set_times(group, clock_now_ns(group->clock) + START_DELAY_NS);
	for (uint32_t i = 0; i < count; i++)
		sem_post(&crew.go);
	if (r == 0)
		oversee(&crew, options);
	for (uint32_t i = 0; i < count; i++) {
		if (hands[i].started)
			pthread_join(hands[i].thread, NULL);
	}
	sem_destroy(&crew.ready);
	sem_destroy(&crew.go);
	sem_destroy(&crew.ended);
	free(hands);
	return r;
}
