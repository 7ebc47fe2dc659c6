/* SPDX-License-Identifier: MIT */
#include "stats/steady.h"

#include <assert.h>
#include <math.h>

/* Of the mean: 0.2 and 0.1 have no exact double, and 90..110 round 100 is to pass. */
#define ROUNDING 1e-9

static bool are_numbers(const double *values)
{
	for (size_t i = 0; i < STEADY_ROUNDS; i++)
		if (!isfinite(values[i]))
			return false;
	return true;
}

/* The least-squares line through five points at -2 .. 2: slope = sum(x * y) / 10. */
static void judge_window(const double *y, struct steady *ret)
{
	const double mean = (y[0] + y[1] + y[2] + y[3] + y[4]) / STEADY_ROUNDS;
	const double slope = (2 * (y[4] - y[0]) + (y[3] - y[1])) / 10;
	double min = y[0], max = y[0];

	static_assert(STEADY_ROUNDS == 5, "the formulas above");
	for (size_t i = 1; i < STEADY_ROUNDS; i++) {
		min = fmin(min, y[i]);
		max = fmax(max, y[i]);
	}
	ret->mean = mean;
	if (!(mean > 0))
		return;
	ret->range_ratio = (max - min) / mean;
	ret->slope_ratio = slope * (STEADY_ROUNDS - 1) / mean;
	ret->is_steady = ret->range_ratio <= STEADY_RANGE_MAX + ROUNDING &&
			 fabs(ret->slope_ratio) <= STEADY_SLOPE_MAX + ROUNDING;
}

void steady_judge(const double *rounds, size_t count, struct steady *ret)
{
	*ret = (struct steady){ 0 };
	if (count < STEADY_ROUNDS)
		return;
	ret->first_round = count - STEADY_ROUNDS;
	if (are_numbers(rounds + ret->first_round))
		judge_window(rounds + ret->first_round, ret);
}

/* How much of its tighter limit a window uses; beyond all when it has no figures. */
static double badness(const struct steady *s)
{
	if (!(s->mean > 0))
		return INFINITY;
	return fmax(s->range_ratio / STEADY_RANGE_MAX, fabs(s->slope_ratio) / STEADY_SLOPE_MAX);
}

bool steady_judge_all(const double *rounds, size_t variables, size_t stride, size_t count,
		      struct steady *ret)
{
	struct steady worst = { 0 };

	assert(stride >= count);
	for (size_t v = 0; v < variables; v++) {
		struct steady one;

		steady_judge(rounds + v * stride, count, &one);
		if (v == 0 || (worst.is_steady && !one.is_steady) ||
		    (worst.is_steady == one.is_steady && badness(&one) > badness(&worst)))
			worst = one;
	}
	if (ret)
		*ret = worst;
	return worst.is_steady;
}

size_t steady_first(const double *rounds, size_t count)
{
	for (size_t end = STEADY_ROUNDS; end <= count; end++) {
		struct steady one;

		steady_judge(rounds, end, &one);
		if (one.is_steady)
			return end - 1;
	}
	return count;
}
