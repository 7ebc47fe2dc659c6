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

void pace_init(struct pace *pace, uint64_t rate_iops, uint32_t poisson, uint32_t burst_count,
	       uint64_t start_ns, uint64_t seed)
{
	const uint32_t burst = burst_count ? burst_count : 1;
	const unsigned __int128 burst_ns = (unsigned __int128)SECOND_NS * burst;

	assert(rate_iops > 0);
	*pace = (struct pace){
		.start_ns = start_ns,
		.next_ns = start_ns,
		.fraction = 1u << 31,	/* next_ns is the nearest, not the last, whole ns */
		.interval_ns = (uint64_t)(burst_ns / rate_iops),
		.interval_fraction = (uint32_t)(((burst_ns % rate_iops) << 32) / rate_iops),
		.poisson = poisson,
		.burst_count = burst,
		.burst_left = burst,
		.mean_ns = (double)burst_ns / (double)rate_iops,
	};
	random_init(&pace->random, seed);
	if (poisson)
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
