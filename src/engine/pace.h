/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * pace - when requests are meant to start (open loop). An absolute schedule, never
 * re-based on what was late: fixed intervals accumulate in 1/2^32 ns, so that the rate is
 * exact; Poisson gaps are exponential in double precision, not rounded to microseconds.
 *
 * The first fixed arrival is at start_ns; the first Poisson arrival one gap after it. With
 * bursts the gaps lie between bursts and are burst_count times as long.
 *
 * Threads: one worker's own. Plain data; no done.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"

struct pace {
	uint64_t start_ns;
	uint64_t next_ns;		/* intended start of the next arrival */
	uint32_t fraction;		/* of next_ns, in 2^-32 ns */
	uint64_t interval_ns;		/* whole part of a fixed gap between bursts */
	uint32_t interval_fraction;
	uint32_t poisson;
	uint32_t burst_count, burst_left;
	double mean_ns;			/* of a gap between bursts */
	struct random random;
};

struct pace_rate {
	uint64_t count;			/* requests in period_ns, > 0 */
	uint64_t period_ns;		/* 0 = a second */
	bool poisson;
	uint32_t burst_count;		/* share one arrival, at the same mean rate; 0, 1 = singly */
};
void pace_init(struct pace *pace, const struct pace_rate *rate, uint64_t start_ns, uint64_t seed);

/* Takes the next arrival's intended start and moves on. */
uint64_t pace_take(struct pace *pace);
static inline uint64_t pace_peek(const struct pace *pace)
{
	return pace->next_ns;
}
