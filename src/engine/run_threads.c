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
	struct work *work;
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

static int start_hands(struct crew *crew, struct hand *hands, struct worker *workers,
		       struct err *err)
{
	const uint32_t count = crew->work->workload->job_count;

	for (uint32_t i = 0; i < count; i++) {
		int r;

		hands[i] = (struct hand){ .crew = crew, .worker = &workers[i] };
		r = pthread_create(&hands[i].thread, NULL, hand_main, &hands[i]);
		if (r != 0)
			return err_errno(err, -r, "cannot start the thread of job %u", i);
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

static void set_times(struct work *work)
{
	const struct workload *workload = work->workload;

	work->begin_ns = clock_now_ns(work->clock) + START_DELAY_NS;
	work->start_ns = work->begin_ns + workload->ramp_ns;
	work->end_ns = workload->runtime_ns ? work->start_ns + workload->runtime_ns : NEVER_NS;
}

struct watch {
	uint64_t last_ns, last_count, last_bytes;
	struct histogram interval;
};

static void look(const struct work *work, struct worker *workers, uint32_t count,
		 struct watch *watch, struct engine_progress *ret)
{
	const uint64_t now_ns = clock_now_ns(work->clock);
	const struct workload *workload = work->workload;
	uint64_t total_count = 0, total_bytes = 0;
	double seconds;

	histogram_init(&watch->interval);
	for (uint32_t i = 0; i < count; i++) {
		struct recorder_mailbox *box = workers[i].mailbox;

		total_count += atomic_load_explicit(&box->total_count, memory_order_relaxed);
		total_bytes += atomic_load_explicit(&box->total_bytes, memory_order_relaxed);
		if (!atomic_load_explicit(&box->full, memory_order_acquire))
			continue;
		histogram_merge(&watch->interval, &box->interval);
		atomic_store_explicit(&box->full, false, memory_order_release);
	}
	/* Counts start anew when the ramp ends. */
	if (total_count < watch->last_count)
		watch->last_count = watch->last_bytes = 0;
	seconds = (double)(now_ns - watch->last_ns) / 1e9;
	*ret = (struct engine_progress){
		.elapsed_ns = now_ns > work->begin_ns ? now_ns - work->begin_ns : 0,
		.total_ns = workload->runtime_ns ? workload->ramp_ns + workload->runtime_ns : 0,
		.done_bytes = total_bytes,
		.total_bytes = workload->io_size_bytes ? workload->io_size_bytes :
			       workload->runtime_ns    ? 0 :
							 work->range.size_bytes,
		.ramping = now_ns < work->start_ns,
		.iops = (double)(total_count - watch->last_count) / seconds,
		.bytes_per_s = (double)(total_bytes - watch->last_bytes) / seconds,
		.latency_ns_p99 = histogram_percentile_ns(&watch->interval, 990000),
	};
	watch->last_ns = now_ns;
	watch->last_count = total_count;
	watch->last_bytes = total_bytes;
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

static void oversee(struct crew *crew, struct worker *workers, uint32_t count,
		    const struct engine_options *options)
{
	struct watch watch = { .last_ns = crew->work->begin_ns };
	uint32_t ended = 0;

	while (ended < count) {
		struct engine_progress progress;

		if (!options->progress) {
			wait_for(&crew->ended);
			ended++;
		} else if (wait_interval(&crew->ended)) {
			ended++;
		} else {
			look(crew->work, workers, count, &watch, &progress);
			options->progress(options->progress_ctx, &progress);
		}
	}
}

int run_threads(struct work *work, struct worker *workers, const struct engine_options *options,
		struct err *err)
{
	const uint32_t count = work->workload->job_count;
	struct crew crew = { .work = work };
	struct hand *hands = calloc(count, sizeof(*hands));
	int r;

	if (!hands)
		return err_set(err, -ENOMEM, "no memory for %u jobs", count);
	sem_init(&crew.ready, 0, 0);
	sem_init(&crew.go, 0, 0);
	sem_init(&crew.ended, 0, 0);
	r = start_hands(&crew, hands, workers, err);
	if (r == 0)
		r = gather(&crew, hands, count, err);
	else
		gather(&crew, hands, count, NULL);
	atomic_store(&crew.cancelled, r < 0);
	set_times(work);
	for (uint32_t i = 0; i < count; i++)
		sem_post(&crew.go);
	if (r == 0)
		oversee(&crew, workers, count, options);
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
