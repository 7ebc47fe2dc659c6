/* SPDX-License-Identifier: MIT */
#include "stats/level.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "stats/series.h"
#include "stats/steps.h"
#include "stats/student.h"

#define SLICES 5
#define RANGE_MAX 0.20
#define SLOPE_MAX 0.10
#define START_MIN 0.10
#define CYCLE_MIN 0.5
#define CYCLE_VALUES_MIN 30
#define CYCLE_DEVIATION_MIN 0.01

/* So many seconds, but few enough samples that there are least_count groups. */
static size_t group_of(size_t count, double interval_s, double seconds, size_t least_count)
{
	const size_t most = count / least_count;
	const double wanted = floor(seconds / interval_s + 0.5);

	if (most < 1 || wanted < 1.0)
		return 1;
	return wanted < (double)most ? (size_t)wanted : most;
}

/* MSER: the cut, in batches, that makes the standard error of the mean of the rest least. */
static size_t mser(const double *values, size_t count, bool *ret_unsettled)
{
	double least = HUGE_VAL;
	size_t cut = 0;

	*ret_unsettled = false;
	if (count < 6)
		return 0;
	for (size_t d = 0; d <= count / 2; d++) {
		const double n = (double)(count - d);
		const double error = series_variance(values + d, count - d) * (n - 1.0) / (n * n);

		if (error < least) {
			least = error;
			cut = d;
		}
	}
	*ret_unsettled = cut == count / 2;
	return cut;
}

/* Range and least-squares slope of five slices, over their mean. */
static void measure_slices(const double *samples, size_t count, struct level *ret)
{
	double means[SLICES], low = HUGE_VAL, high = -HUGE_VAL, mean = 0.0, slope = 0.0;

	for (size_t i = 0; i < SLICES; i++) {
		const size_t first = count * i / SLICES, end = count * (i + 1) / SLICES;

		means[i] = series_mean(samples + first, end - first);
		low = fmin(low, means[i]);
		high = fmax(high, means[i]);
		mean += means[i] / SLICES;
		/* Sum of (i - 2)^2 over the five is 10. */
		slope += ((double)i - 2.0) * means[i] / 10.0;
	}
	ret->range_ratio = mean != 0.0 ? (high - low) / fabs(mean) : 0.0;
	ret->slope_ratio = mean != 0.0 ? slope * (SLICES - 1) / fabs(mean) : 0.0;
}

static bool slices_drift(const struct level *level)
{
	return level->range_ratio > RANGE_MAX || fabs(level->slope_ratio) > SLOPE_MAX;
}

/*
 * The whole series drifts. If its start is far off and the rest does not drift, by a slope that
 * would be too much over the whole, only the start did. (By the rest alone, a cut
 * would hide drifts.)
 */
static bool drifts(const double *samples, size_t count, struct level *ret)
{
	const size_t cut = ret->cut_count, rest = count - cut;
	const double start = series_mean(samples, cut);

	if (!slices_drift(ret) || ret->unsettled || !cut ||
	    fabs(start - ret->means[0]) <= START_MIN * fabs(ret->means[0]))
		return slices_drift(ret);
	measure_slices(samples + cut, rest, ret);
	ret->slope_ratio *= (double)count / (double)rest;
	return slices_drift(ret);
}

/* Without the bias towards 0 that a lag has from the products it lacks. */
static double correlation(const struct series *s, size_t lag)
{
	return series_autocorrelation(s->values, s->count, lag) * (double)s->count /
	       (double)(s->count - lag);
}

/* The lag of the first sufficient maximum, in values; 0 when there is none. */
static size_t period_of(const struct series *s)
{
	const double deviation = sqrt(series_variance(s->values, s->count));
	double before = 1.0, here;
	bool was_below = false;

	if (s->count < CYCLE_VALUES_MIN ||
	    deviation < CYCLE_DEVIATION_MIN * fabs(series_mean(s->values, s->count)))
		return 0;
	here = correlation(s, 1);
	for (size_t lag = 1; lag <= s->count / 3; lag++) {
		const double after = correlation(s, lag + 1);

		if (was_below && here >= CYCLE_MIN && here >= before && here > after)
			return lag;
		was_below |= here <= 0.0;
		before = here;
		here = after;
	}
	return 0;
}

static void measure_interval(const struct series *s, struct level *ret)
{
	const double mean = series_mean(s->values, s->count);
	const double n = (double)s->count / series_tau(s->values, s->count);

	ret->effective_count = n;
	ret->half_width_ratio = 0.0;
	if (n < LEVEL_EFFECTIVE_MIN || mean == 0.0)
		return;
	ret->half_width_ratio = student_two_sided(0.05, n - 1.0) *
				sqrt(series_variance(s->values, s->count) / n) / fabs(mean);
}

/* Standard deviation from one sample to the next: steps and drifts do not count. */
static double noise_of(const double *samples, size_t count)
{
	double sum = 0.0;

	for (size_t i = 1; i < count; i++)
		sum += (samples[i] - samples[i - 1]) * (samples[i] - samples[i - 1]);
	return count > 1 ? sqrt(sum / (2.0 * (double)(count - 1))) : 0.0;
}

/* One step between its neighbours: samples [first, end), the old level a and the new one b. */
struct transition {
	const double *samples;
	size_t first, around, end;	/* around: near the step, to a batch */
	size_t batch;
	double a, b;
};

/* The sharp edge within a batch of where it was found: the split with the least squares. */
static size_t sharpest(const struct transition *t)
{
	const size_t from = t->around > t->first + t->batch ? t->around - t->batch : t->first + 1;
	const size_t to = t->around + t->batch < t->end ? t->around + t->batch : t->end - 1;
	double sum = 0.0, least = HUGE_VAL;
	size_t at = t->around;

	for (size_t i = from; i <= to; i++) {
		if (sum < least) {
			least = sum;
			at = i;
		}
		/* Sample i changes sides. */
		sum += (t->samples[i] - t->a) * (t->samples[i] - t->a) -
		       (t->samples[i] - t->b) * (t->samples[i] - t->b);
	}
	return at;
}

/*
 * Where the old level was left and the new one reached. Only where noise is small beside the
 * step can a slow change be told from a sharp one.
 */
static void locate(const struct transition *t, size_t *ret_step, size_t *ret_settle)
{
	const double height = t->b - t->a;
	const double noise = noise_of(t->samples + t->first, t->around - t->first);
	const double near = fmax(0.03, 3.0 * noise / fabs(height));
	size_t step = t->around + t->batch < t->end ? t->around + t->batch : t->end - 1;
	size_t settle;

	if (near > 0.3) {
		*ret_step = *ret_settle = sharpest(t);
		return;
	}
	while (step > t->first + 1 && (t->samples[step - 1] - t->a) / height > near)
		step--;
	settle = step;
	while (settle + 1 < t->end && (t->samples[settle] - t->a) / height < 1.0 - near)
		settle++;
	*ret_step = step;
	*ret_settle = settle;
}

static void locate_steps(const double *samples, size_t count, const struct series *batches,
			 struct level *ret)
{
	double medians[LEVEL_STEPS_MAX + 1];
	size_t bounds[LEVEL_STEPS_MAX + 2] = { 0 };
	const size_t n = ret->step_count;

	memcpy(bounds + 1, ret->steps, n * sizeof(bounds[0]));
	bounds[n + 1] = batches->count;
	for (size_t i = 0; i <= n; i++)
		medians[i] = series_median(batches->values + bounds[i], bounds[i + 1] - bounds[i]);
	for (size_t i = 0; i < n; i++) {
		const struct transition t = {
			.samples = samples,
			.first = i ? ret->settles[i - 1] : 0,
			.around = bounds[i + 1] * batches->group,
			.end = i + 1 < n ? bounds[i + 2] * batches->group : count,
			.batch = batches->group,
			.a = medians[i],
			.b = medians[i + 1],
		};

		locate(&t, &ret->steps[i], &ret->settles[i]);
	}
	for (size_t i = 0; i <= n; i++) {
		const size_t first = i ? ret->settles[i - 1] : 0;
		const size_t end = i < n ? ret->steps[i] : count;

		ret->means[i] = series_mean(samples + first, end - first);
	}
}

/* Squares left by the line through the values, and by the levels between the steps. */
static double squares_by_line(const double *values, size_t count)
{
	const double mean = series_mean(values, count), middle = ((double)count - 1.0) / 2.0;
	double xy = 0.0, xx = 0.0, yy = 0.0;

	for (size_t i = 0; i < count; i++) {
		const double x = (double)i - middle, y = values[i] - mean;

		xy += x * y;
		xx += x * x;
		yy += y * y;
	}
	return yy - xy * xy / xx;
}

static double squares_by_steps(const double *values, size_t count, const size_t *steps, size_t n)
{
	double sum = 0.0;

	for (size_t i = 0; i <= n; i++) {
		const size_t first = i ? steps[i - 1] : 0, end = i < n ? steps[i] : count;

		sum += series_variance(values + first, end - first) * (double)(end - first - 1);
	}
	return sum;
}

/* A straight line that leaves no more than the steps do explains it with less: no steps. */
static size_t steps_of(const struct series *batches, size_t *ret)
{
	const size_t n = steps_find(batches->values, batches->count, ret, LEVEL_STEPS_MAX);

	if (n && squares_by_line(batches->values, batches->count) <=
			 squares_by_steps(batches->values, batches->count, ret, n))
		return 0;
	return n;
}

void level_classify(const double *samples, size_t count, double interval_s, struct level *ret)
{
	struct series series;
	size_t first;

	assert(interval_s > 0.0);
	*ret = (struct level){ .kind = LEVEL_TOO_SHORT, .means[0] = series_mean(samples, count) };
	if (count < LEVEL_SAMPLES_MIN)
		return;

	series_group(&series, samples, count, group_of(count, interval_s, 5.0, 12));
	ret->step_count = steps_of(&series, ret->steps);
	if (ret->step_count) {
		ret->kind = LEVEL_STEPPED;
		locate_steps(samples, count, &series, ret);
		first = ret->settles[ret->step_count - 1];
	} else {
		first = ret->cut_count = mser(series.values, series.count, &ret->unsettled) *
					 series.group;
		ret->means[0] = series_mean(samples + first, count - first);
	}
	measure_slices(samples, count, ret);
	series_group(&series, samples + first, count - first,
		     group_of(count - first, interval_s, 1.0, 60));
	measure_interval(&series, ret);
	if (ret->step_count)
		return;

	series_group(&series, samples, count, group_of(count, interval_s, 1.0, 60));
	ret->period_count = period_of(&series) * series.group;
	if (ret->period_count)
		ret->kind = LEVEL_CYCLIC;
	else
		ret->kind = drifts(samples, count, ret) ? LEVEL_DRIFTING : LEVEL_LEVEL;
}

const char *level_name(enum level_kind kind)
{
	static const char *const names[] = {
		[LEVEL_LEVEL] = "level",     [LEVEL_DRIFTING] = "drifting",
		[LEVEL_STEPPED] = "stepped", [LEVEL_CYCLIC] = "cyclic",
		[LEVEL_TOO_SHORT] = "too short",
	};

	return names[kind];
}
