/* SPDX-License-Identifier: MIT */
#include "protocol/recovery.h"

#include <math.h>

#include "stats/series.h"
#include "stats/student.h"

#define LOSS_ERRORS_MIN 4.0

void samples_add(struct samples *samples, double value)
{
	if (samples->count < SAMPLES_MAX)
		samples->values[samples->count++] = value;
}

double samples_mean(const struct samples *samples)
{
	return series_mean(samples->values, samples->count);
}

/* Variance of the mean. */
static double error2(const struct samples *s)
{
	return series_variance(s->values, s->count) / (double)s->count;
}

/* Terms of a variance, each of a mean with its own degrees of freedom. */
struct terms {
	double sum, weighted; /* sum of v, and of v^2 / freedom */
};

static void add_term(struct terms *terms, double factor, const struct samples *s)
{
	const double v = factor * factor * error2(s);

	terms->sum += v;
	terms->weighted += v * v / (double)(s->count - 1);
}

static void finish(const struct terms *terms, struct estimate *ret)
{
	double half = 0;

	if (terms->weighted > 0)
		half = student_two_sided(0.05, terms->sum * terms->sum / terms->weighted) *
		       sqrt(terms->sum);
	ret->low = ret->value - half;
	ret->high = ret->value + half;
	ret->known = true;
}

static const struct estimate unknown = { NAN, NAN, NAN, false };

struct estimate estimate_drop(const struct samples *before, const struct samples *after)
{
	const double a = samples_mean(before), b = samples_mean(after);
	struct estimate ret = { .value = 1 - b / a };
	struct terms terms = { 0 };

	if (before->count < 2 || after->count < 2 || !(a > 0))
		return unknown;
	add_term(&terms, b / (a * a), before);
	add_term(&terms, 1 / a, after);
	finish(&terms, &ret);
	return ret;
}

struct estimate estimate_recovery(const struct samples *clean, const struct samples *from,
				  const struct samples *after)
{
	const double loss = samples_mean(clean) - samples_mean(from);
	struct estimate ret;
	struct terms terms = { 0 };

	if (clean->count < 2 || from->count < 2 || after->count < 2)
		return unknown;
	if (!(fabs(loss) > LOSS_ERRORS_MIN * sqrt(error2(clean) + error2(from))))
		return unknown;
	ret.value = (samples_mean(after) - samples_mean(from)) / loss;
	add_term(&terms, 1 / loss, after);
	add_term(&terms, (ret.value - 1) / loss, from);
	add_term(&terms, ret.value / loss, clean);
	finish(&terms, &ret);
	return ret;
}
