/* SPDX-License-Identifier: MIT */
#include "stats/series.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void series_group(struct series *ret, const double *samples, size_t count, size_t group)
{
	assert(group > 0);
	while (count / group > SERIES_MAX)
		group++;
	ret->group = group;
	ret->count = count / group;
	for (size_t i = 0; i < ret->count; i++)
		ret->values[i] = series_mean(samples + i * group, group);
}

double series_mean(const double *values, size_t count)
{
	double sum = 0.0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return count ? sum / (double)count : 0.0;
}

static double squares(const double *values, size_t count, double mean)
{
	double sum = 0.0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

double series_variance(const double *values, size_t count)
{
	if (count < 2)
		return 0.0;
	return squares(values, count, series_mean(values, count)) / (double)(count - 1);
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double series_median(const double *values, size_t count)
{
	double sorted[SERIES_MAX];

	assert(count > 0 && count <= SERIES_MAX);
	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), by_value);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0;
}

/* The sum of products at a lag over the sum of squares. */
static double correlation_about(const double *values, size_t count, size_t lag, double mean,
				double variation)
{
	double sum = 0.0;

	for (size_t i = lag; i < count; i++)
		sum += (values[i] - mean) * (values[i - lag] - mean);
	return sum / variation;
}

/* Less than rounding makes of equal numbers is no variation. */
static double variation_of(const double *values, size_t count, double mean)
{
	const double variation = squares(values, count, mean);

	return variation > (double)count * mean * mean * 1e-24 ? variation : 0.0;
}

double series_autocorrelation(const double *values, size_t count, size_t lag)
{
	const double mean = series_mean(values, count);
	const double variation = variation_of(values, count, mean);

	return variation > 0.0 ? correlation_about(values, count, lag, mean, variation) : 0.0;
}

double series_tau(const double *values, size_t count)
{
	const double mean = series_mean(values, count);
	const double variation = variation_of(values, count, mean);
	const double n = (double)count;
	double first, tau_sum = 1.0, tau_first;

	if (count < 3 || variation <= 0.0)
		return 1.0;
	for (size_t lag = 1; lag < count / 3; lag++) {
		const double rho = correlation_about(values, count, lag, mean, variation);

		if (rho < 0.05)
			break;
		tau_sum += 2.0 * rho;
	}
	first = correlation_about(values, count, 1, mean, variation);
	first += (1.0 + 3.0 * first) / n;
	first = fmin(fmax(first, 0.0), 0.995);
	tau_first = (1.0 + first) / (1.0 - first);
	return fmax(tau_sum, tau_first);
}
