/* SPDX-License-Identifier: MIT */
#include "state/crew.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct crew {
	const struct crew_job *job;
	atomic_uint_least64_t next;
	atomic_bool over;
	pthread_mutex_t mutex;		/* of the rest */
	pthread_cond_t finished;
	uint32_t running_count;
	struct err err;			/* the first one */
};

struct member {
	struct crew *crew;
	uint32_t index;
	pthread_t thread;
};

static void fail(struct crew *crew, const struct err *err)
{
	pthread_mutex_lock(&crew->mutex);
	if (!crew->err.code)
		crew->err = *err;
	pthread_mutex_unlock(&crew->mutex);
	atomic_store(&crew->over, true);
}

static void work_off(struct crew *crew, uint32_t thread)
{
	const struct crew_job *job = crew->job;

	while (!atomic_load(&crew->over) && !(job->stop && *job->stop)) {
		const uint64_t unit = atomic_fetch_add(&crew->next, 1);
		struct err err = { 0 };

		if (unit >= job->unit_count)
			break;
		if (job->unit(job->ctx, unit, thread, &err) < 0)
			fail(crew, &err);
	}
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct crew *crew = m->crew;

	work_off(crew, m->index);
	pthread_mutex_lock(&crew->mutex);
	crew->running_count--;
	pthread_cond_signal(&crew->finished);
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

static void wait_all(struct crew *crew)
{
	const struct crew_job *job = crew->job;

	pthread_mutex_lock(&crew->mutex);
	while (crew->running_count) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += 250000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&crew->finished, &crew->mutex, &until) != ETIMEDOUT ||
		    !job->progress)
			continue;
		pthread_mutex_unlock(&crew->mutex);
		job->progress(job->progress_ctx);
		pthread_mutex_lock(&crew->mutex);
	}
	pthread_mutex_unlock(&crew->mutex);
}

static int run_threads(struct crew *crew, struct err *err)
{
	const uint32_t count = crew->job->thread_count;
	struct member *members = calloc(count, sizeof(*members));
	uint32_t made = 0;
	int r = 0;

	if (!members)
		return err_set(err, -ENOMEM, "no memory for %u threads", count);
	crew->running_count = count;
	for (; made < count && r == 0; made++) {
		members[made] = (struct member){ .crew = crew, .index = made };
		r = -pthread_create(&members[made].thread, NULL, member_main, &members[made]);
		if (r < 0)
			break;
	}
	if (r < 0) {
		atomic_store(&crew->over, true);
		pthread_mutex_lock(&crew->mutex);
		crew->running_count -= count - made;
		pthread_mutex_unlock(&crew->mutex);
	}
	wait_all(crew);
	for (uint32_t i = 0; i < made; i++)
		pthread_join(members[i].thread, NULL);
	free(members);
	return r < 0 ? err_errno(err, r, "thread %u of %u", made + 1, count) : 0;
}

int crew_run(const struct crew_job *job, struct err *err)
{
	struct crew crew = { .job = job, .mutex = PTHREAD_MUTEX_INITIALIZER };
	pthread_condattr_t attr;
	int r = 0;

	assert(job->thread_count > 0 && job->thread_count <= CREW_THREADS_MAX);
	if (job->thread_count == 1 && !job->progress) {
		work_off(&crew, 0);
	} else {
		pthread_condattr_init(&attr);
		pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
		pthread_cond_init(&crew.finished, &attr);
		pthread_condattr_destroy(&attr);
		r = run_threads(&crew, err);
		pthread_cond_destroy(&crew.finished);
	}
	if (r == 0 && crew.err.code) {
		r = crew.err.code;
		if (err)
			*err = crew.err;
	}
	return r;
}

uint32_t crew_default_count(void)
{
	cpu_set_t cpus;
	int count = 1;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		count = CPU_COUNT(&cpus);
	return count < 1 ? 1 : count > 8 ? 8 : (uint32_t)count;
}
