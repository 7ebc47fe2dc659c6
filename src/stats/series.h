/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * series - a run's samples in equal groups, and how much they depend on each other
 * (statistics.md section 5). Plain data of constant size.
 */

#include <stddef.h>

#define SERIES_MAX 4096

struct series {
	size_t count;
	size_t group;			/* samples in each value */
	double values[SERIES_MAX];	/* means of the groups; a last incomplete group is left out */
};

/* group grows until SERIES_MAX values hold all samples. */
void series_group(struct series *ret, const double *samples, size_t count, size_t group);

double series_mean(const double *values, size_t count);
double series_variance(const double *values, size_t count);	/* n - 1; 0 for fewer than 2 */
double series_median(const double *values, size_t count);	/* count <= SERIES_MAX */

/* Autocorrelation at a lag about the mean; 0 for a constant series. */
double series_autocorrelation(const double *values, size_t count, size_t lag);

/*
 * How many samples count as one independent sample: the larger of the initial positive sum
 * and of an AR(1) with its first coefficient corrected for a short series; at least 1.
 */
double series_tau(const double *values, size_t count);
