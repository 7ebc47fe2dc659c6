/* SPDX-License-Identifier: MIT */
#include "engine/pace.h"

#include <assert.h>

#include "base/clock.h"

static void advance(struct pace *pace, uint64_t whole_ns, uint32_t fraction)
{
	const uint64_t sum = (uint64_t)pace->fraction + fraction;

	pace->fraction = (uint32_t)sum;
	pace->next_ns += whole_ns + (sum >> 32);
}

static void advance_exponential(struct pace *pace)
{
	const double gap_ns = random_exponential(&pace->random) * pace->mean_ns;
	const uint64_t whole_ns = (uint64_t)gap_ns;

	advance(pace, whole_ns, (uint32_t)((gap_ns - (double)whole_ns) * 0x1p32));
}

void pace_init(struct pace *pace, const struct pace_rate *rate, uint64_t start_ns, uint64_t seed)
{
	const uint32_t burst = rate->burst_count ? rate->burst_count : 1;
	const uint64_t period_ns = rate->period_ns ? rate->period_ns : SECOND_NS;
	const unsigned __int128 burst_ns = (unsigned __int128)period_ns * burst;

	assert(rate->count > 0);
	*pace = (struct pace){
		.start_ns = start_ns,
		.next_ns = start_ns,
		.fraction = 1u << 31,	/* next_ns is the nearest, not the last, whole ns */
		.interval_ns = (uint64_t)(burst_ns / rate->count),
		.interval_fraction = (uint32_t)(((burst_ns % rate->count) << 32) / rate->count),
		.poisson = rate->poisson,
		.burst_count = burst,
		.burst_left = burst,
		.mean_ns = (double)burst_ns / (double)rate->count,
	};
	random_init(&pace->random, seed);
	if (rate->poisson)
		advance_exponential(pace);
}

uint64_t pace_take(struct pace *pace)
{
	const uint64_t taken_ns = pace->next_ns;

	if (--pace->burst_left)
		return taken_ns;
	pace->burst_left = pace->burst_count;
	if (pace->poisson)
		advance_exponential(pace);
	else
		advance(pace, pace->interval_ns, pace->interval_fraction);
	return taken_ns;
}
