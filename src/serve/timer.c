/* SPDX-License-Identifier: MIT */

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/timer.h"

#define SPIN_NS (30 * MICROSECOND_NS)
/*
 * A SCHED_FIFO thread that runs 95 % of a second is put away for the rest of it: the timer
 * spins through four fifths of each window at most, and merely sleeps through the rest.
 */
#define WINDOW_NS (100 * MILLISECOND_NS)
#define WINDOW_SPIN_NS (80 * MILLISECOND_NS)

struct timer {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct timed **heap;
	size_t count, room;
	_Atomic uint64_t earliest_ns;	/* what the spinning thread waits for */
	uint64_t spin_ns;		/* 0 on one processor: nobody could add while it spins */
	uint64_t window_ns, spun_ns;	/* the window's start, and what was spun in it */
	bool sleeping, hurry, closing, real_time;
	uint64_t fired_count, late_ns_sum, late_ns_max;
};

int thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(ret, NULL, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

static uint64_t spin_length_ns(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? SPIN_NS : 0;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / SECOND_NS),
		.tv_nsec = (long)(ns % SECOND_NS),
	};
}

/* --- the heap, by time ----------------------------------------------------------------- */

static void heap_push(struct timer *t, struct timed *timed)
{
	size_t i = t->count++;

	while (i > 0 && timed->due_ns < t->heap[(i - 1) / 2]->due_ns) {
		t->heap[i] = t->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	t->heap[i] = timed;
}

static struct timed *heap_pop(struct timer *t)
{
	struct timed *first = t->heap[0], *last = t->heap[--t->count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < t->count) {
		if (child + 1 < t->count && t->heap[child + 1]->due_ns < t->heap[child]->due_ns)
			child++;
		if (last->due_ns <= t->heap[child]->due_ns)
			break;
		t->heap[i] = t->heap[child];
		i = child;
	}
	t->heap[i] = last;
	return first;
}

/* --- the thread ------------------------------------------------------------------------ */

static void fire_first(struct timer *t, uint64_t now_ns)
{
	struct timed *timed = heap_pop(t);

	if (!t->hurry && now_ns > timed->due_ns) {
		const uint64_t late_ns = now_ns - timed->due_ns;

		t->late_ns_sum += late_ns;
		if (late_ns > t->late_ns_max)
			t->late_ns_max = late_ns;
	}
	t->fired_count++;
	pthread_mutex_unlock(&t->lock);
	timed->fire(timed);
	pthread_mutex_lock(&t->lock);
}

/* How long before the time spinning begins. */
static uint64_t spin_allowed_ns(struct timer *t, uint64_t now_ns)
{
	if (now_ns - t->window_ns > WINDOW_NS) {
		t->window_ns = now_ns;
		t->spun_ns = 0;
	}
	return t->spun_ns < WINDOW_SPIN_NS ? t->spin_ns : 0;
}

/* Called and returns with the lock held; something earlier may have been added meanwhile. */
static void approach(struct timer *t, uint64_t due_ns, uint64_t now_ns)
{
	const uint64_t spin_ns = spin_allowed_ns(t, now_ns);
	uint64_t then_ns;

	if (due_ns - now_ns > spin_ns) {
		const struct timespec ts = timespec_of(due_ns - spin_ns);

		t->sleeping = true;
		pthread_cond_clockwait(&t->changed, &t->lock, CLOCK_MONOTONIC, &ts);
		t->sleeping = false;
		return;
	}
	atomic_store(&t->earliest_ns, due_ns);
	pthread_mutex_unlock(&t->lock);
	do
		then_ns = clock_gettime_ns();
	while (then_ns < atomic_load_explicit(&t->earliest_ns, memory_order_relaxed));
	t->spun_ns += then_ns - now_ns;	/* this thread's alone */
	pthread_mutex_lock(&t->lock);
}

static void *timer_run(void *ctx)
{
	struct timer *t = ctx;

	prctl(PR_SET_TIMERSLACK, 1);
	prctl(PR_SET_NAME, "tare-timer");
	pthread_mutex_lock(&t->lock);
	while (!t->closing || t->count) {
		const uint64_t now_ns = clock_gettime_ns();

		if (!t->count) {
			t->sleeping = true;
			pthread_cond_wait(&t->changed, &t->lock);
			t->sleeping = false;
		} else if (t->hurry || t->heap[0]->due_ns <= now_ns) {
			fire_first(t, now_ns);
		} else {
			approach(t, t->heap[0]->due_ns, now_ns);
		}
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

int timer_add(struct timer *t, struct timed *timed)
{
	int r = 0;

	pthread_mutex_lock(&t->lock);
	if (t->count == t->room) {
		const size_t room = t->room * 2;
		struct timed **heap = realloc(t->heap, room * sizeof(heap[0]));

		if (!heap) {
			r = -ENOMEM;
			goto out;
		}
		t->heap = heap;
		t->room = room;
	}
	heap_push(t, timed);
	if (t->heap[0] == timed) {
		atomic_store(&t->earliest_ns, timed->due_ns);
		if (t->sleeping)
			pthread_cond_signal(&t->changed);
	}
out:
	pthread_mutex_unlock(&t->lock);
	return r;
}

static void wake(struct timer *t, bool closing)
{
	pthread_mutex_lock(&t->lock);
	t->hurry = true;
	t->closing = closing;
	atomic_store(&t->earliest_ns, 0);
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

void timer_hurry(struct timer *t)
{
	wake(t, false);
}

bool timer_is_real_time(const struct timer *t)
{
	return t->real_time;
}

void timer_lateness(struct timer *t, uint64_t *ret_mean_ns, uint64_t *ret_max_ns)
{
	pthread_mutex_lock(&t->lock);
	*ret_mean_ns = t->fired_count ? t->late_ns_sum / t->fired_count : 0;
	*ret_max_ns = t->late_ns_max;
	pthread_mutex_unlock(&t->lock);
}

int timer_open(struct timer **ret, struct err *err)
{
	const struct sched_param priority = { .sched_priority = 1 };
	struct timer *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return err_errno(err, -ENOMEM, "timer");
	t->room = 64;
	t->heap = calloc(t->room, sizeof(t->heap[0]));
	if (!t->heap) {
		free(t);
		return err_errno(err, -ENOMEM, "timer");
	}
	t->spin_ns = spin_length_ns();
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	r = thread_start(&t->thread, timer_run, t);
	if (r < 0) {
		free(t->heap);
		free(t);
		return err_errno(err, r, "start the timer thread");
	}
	/* On one processor a thread that never sleeps would keep everyone else away. */
	t->real_time = t->spin_ns > 0 &&
		       pthread_setschedparam(t->thread, SCHED_FIFO, &priority) == 0;
	*ret = t;
	return 0;
}

void timer_close(struct timer *t)
{
	if (!t)
		return;
	wake(t, true);
	pthread_join(t->thread, NULL);
	assert(t->count == 0);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t->heap);
	free(t);
}
