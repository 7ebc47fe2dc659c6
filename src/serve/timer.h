/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * timer - fires things at their time, in order of time, from one thread. It sleeps until
 * shortly before and spins through the rest: a bare sleep is 14 us late here, with 25 to
 * 38 us at the 99th percentile. SCHED_FIFO, where allowed, takes the tail of milliseconds.
 *
 * Threads:	timer_add from any; fire is called on the timer's own thread.
 * Ownership:	what is added is the caller's again when fire is called.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct timed {
	uint64_t due_ns;	/* CLOCK_MONOTONIC */
	void (*fire)(struct timed *timed);
};

struct timer;

int timer_open(struct timer **ret, struct err *err);
void timer_close(struct timer *timer);	/* fires what is left at once; takes NULL */
int timer_add(struct timer *timer, struct timed *timed);	/* 0 or -ENOMEM */
/* From now on everything is due at once. */
void timer_hurry(struct timer *timer);
bool timer_is_real_time(const struct timer *timer);
void timer_lateness(struct timer *timer, uint64_t *ret_mean_ns, uint64_t *ret_max_ns);

/* As pthread_create, with all signals blocked: they are the main thread's. 0 or -errno. */
int thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx);
