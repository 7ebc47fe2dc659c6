/* SPDX-License-Identifier: MIT */
#include "stats/steps.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "stats/series.h"
#include "stats/student.h"

#define WINDOW 50
#define SIDE_MIN 2			/* values on either side of a step */
#define CANDIDATES_MAX (SERIES_MAX / SIDE_MIN)
#define CHANGE_MIN 0.05
#define P_CANDIDATE 0.01		/* laxer than what is kept: neighbours decide later */
#define P_KEPT 0.001

struct candidates {
	size_t count;
	size_t at[CANDIDATES_MAX];
};

/* The sum of |a - b| over one value and each of a run. */
static double distances(double value, const double *values, size_t count)
{
	double sum = 0.0;

	for (size_t i = 0; i < count; i++)
		sum += fabs(value - values[i]);
	return sum;
}

/*
 * The split with the largest energy statistic nm / (n + m) (2 E|X - Y| - E|X - X'| - E|Y - Y'|).
 * By the statistic and not by its p: p underflows to 0, and the first index would win.
 */
static size_t best_split(const double *values, size_t count)
{
	double left = 0.0, right = 0.0, cross, best = -1.0;
	size_t best_at = 0;

	for (size_t i = 0; i < count; i++)
		right += distances(values[i], values, i);
	cross = 0.0;
	for (size_t at = 1; at < count; at++) {
		/* One value moves from the right side to the left one. */
		const double to_left = distances(values[at - 1], values, at - 1);
		const double to_right = distances(values[at - 1], values + at, count - at);
		const double n = (double)at, m = (double)(count - at);
		double statistic;

		left += to_left;
		right -= to_right;
		cross += to_right - to_left;
		statistic = n * m / (n + m) *
			    (2.0 * cross / (n * m) - 2.0 * left / (n * n) - 2.0 * right / (m * m));
		if (at >= SIDE_MIN && count - at >= SIDE_MIN && statistic > best) {
			best = statistic;
			best_at = at;
		}
	}
	return best_at;
}

/* tau of what is left of two levels when each is taken away. */
static double residual_tau(const double *values, size_t at, size_t count, double a, double b)
{
	double residuals[SERIES_MAX];

	for (size_t i = 0; i < count; i++)
		residuals[i] = values[i] - (i < at ? a : b);
	return series_tau(residuals, count);
}

/*
 * How clear the step at a place is: Welch's |t| / sqrt(tau) over what it has to exceed for p.
 * Below 1 it is none; so is a change of less than CHANGE_MIN.
 */
static double clarity(const double *values, size_t at, size_t count, double p)
{
	const double n = (double)at, m = (double)(count - at);
	const double a = series_mean(values, at), b = series_mean(values + at, count - at);
	const double va = series_variance(values, at) / n;
	const double vb = series_variance(values + at, count - at) / m;
	double freedom, t;

	if (at < SIDE_MIN || count - at < SIDE_MIN || fabs(b - a) < CHANGE_MIN * fabs(a) ||
	    a == b)
		return 0.0;
	if (va + vb <= (a * a + b * b) * 1e-24)
		return HUGE_VAL;
	t = fabs(b - a) / sqrt((va + vb) * residual_tau(values, at, count, a, b));
	freedom = (va + vb) * (va + vb) / (va * va / (n - 1.0) + vb * vb / (m - 1.0));
	return t / student_two_sided(p, freedom);
}

/* Sorted, each once. */
static void add(struct candidates *c, size_t at)
{
	size_t i = c->count;

	while (i > 0 && c->at[i - 1] > at)
		i--;
	if ((i > 0 && c->at[i - 1] == at) || c->count == CANDIDATES_MAX)
		return;
	memmove(&c->at[i + 1], &c->at[i], (c->count - i) * sizeof(c->at[0]));
	c->at[i] = at;
	c->count++;
}

/* Depth at most WINDOW / SIDE_MIN. */
static void split(struct candidates *c, const double *values, size_t first, size_t end)
{
	size_t at;

	if (end - first < 2 * SIDE_MIN)
		return;
	at = best_split(values + first, end - first);
	if (clarity(values + first, at, end - first, P_CANDIDATE) < 1.0)
		return;
	add(c, first + at);
	split(c, values, first, first + at);
	split(c, values, first + at, end);
}

static double clarity_of(const struct candidates *c, size_t i, const double *values, size_t count)
{
	const size_t first = i ? c->at[i - 1] : 0;
	const size_t end = i + 1 < c->count ? c->at[i + 1] : count;

	return clarity(values + first, c->at[i] - first, end - first, P_KEPT);
}

static void drop(struct candidates *c, size_t i)
{
	c->count--;
	memmove(&c->at[i], &c->at[i + 1], (c->count - i) * sizeof(c->at[0]));
}

/* Drops the weakest until all are clear and there are at most max. */
static void merge(struct candidates *c, const double *values, size_t count, size_t max)
{
	while (c->count) {
		double weakest = HUGE_VAL;
		size_t weakest_index = 0;

		for (size_t i = 0; i < c->count; i++) {
			const double clear = clarity_of(c, i, values, count);

			if (clear < weakest) {
				weakest = clear;
				weakest_index = i;
			}
		}
		if (weakest >= 1.0 && c->count <= max)
			return;
		drop(c, weakest_index);
	}
}

size_t steps_find(const double *values, size_t count, size_t *ret, size_t max)
{
	struct candidates c = { .count = 0 };

	assert(count <= SERIES_MAX && max > 0);
	for (size_t first = 0;; first += WINDOW / 2) {
		const size_t end = first + WINDOW < count ? first + WINDOW : count;

		split(&c, values, first, end);
		if (end == count)
			break;
	}
	merge(&c, values, count, max);
	memcpy(ret, c.at, c.count * sizeof(ret[0]));
	return c.count;
}
