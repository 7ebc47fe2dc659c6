/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * crew - threads that share a pile of numbered units. Each takes the next one; the first error
 * or *stop ends the pile, what is begun is finished.
 */

#include <signal.h>
#include <stdint.h>

#include "base/err.h"

#define CREW_THREADS_MAX 1024u

struct crew_job {
	uint64_t unit_count;
	uint32_t thread_count;
	/* Does one unit; runs in any thread. thread counts from 0. */
	int (*unit)(void *ctx, uint64_t index, uint32_t thread, struct err *err);
	void *ctx;
	const volatile sig_atomic_t *stop;		/* or NULL */
	void (*progress)(void *progress_ctx);		/* each 250 ms, from the caller's thread; or NULL */
	void *progress_ctx;
};

/* 0, also when stopped, or the first error. With one thread the caller does it all. */
int crew_run(const struct crew_job *job, struct err *err);

/* As many as there are processors to run on, at most 8. */
uint32_t crew_default_count(void);
