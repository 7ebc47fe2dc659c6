/* SPDX-License-Identifier: MIT */
#include "measure/series.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/defer.h"

#define SHORT_COUNT_MIN 5
#define RANGE_RATIO_MAX 0.20
#define SLOPE_RATIO_MAX 0.10

double *series_iops(const struct measurement *m, size_t *ret_count)
{
	double *iops = calloc(m->second_count + 1, sizeof(*iops));
	size_t count = 0;

	*ret_count = 0;
	if (!iops || m->second_count == 0) {
		free(iops);
		return NULL;
	}
	for (size_t i = 0; i < m->second_count; i++) {
		const struct second *s = &m->seconds[i];
		const uint64_t done =
			s->ops[OP_READ].count + s->ops[OP_WRITE].count + s->ops[OP_TRIM].count;

		if (s->length_ns * 2 >= SECOND_NS)
			iops[count++] = (double)done * 1e9 / (double)s->length_ns;
	}
	*ret_count = count;
	return iops;
}

/* The steady-state rule of the SNIA PTS: range, and rise of the least-squares line, of the mean. */
static void classify_short(const double *iops, size_t count, struct level *ret)
{
	const double centre = (double)(count - 1) / 2;
	double sum = 0, low = iops[0], high = iops[0], covariance = 0, variance = 0, mean;

	for (size_t i = 0; i < count; i++) {
		sum += iops[i];
		low = fmin(low, iops[i]);
		high = fmax(high, iops[i]);
	}
	mean = sum / (double)count;
	for (size_t i = 0; i < count; i++) {
		covariance += ((double)i - centre) * (iops[i] - mean);
		variance += ((double)i - centre) * ((double)i - centre);
	}
	ret->means[0] = mean;
	ret->range_ratio = mean > 0 ? (high - low) / mean : 0;
	ret->slope_ratio = mean > 0 ? covariance / variance * (double)(count - 1) / mean : 0;
	ret->kind = ret->range_ratio <= RANGE_RATIO_MAX && fabs(ret->slope_ratio) <= SLOPE_RATIO_MAX
			    ? LEVEL_LEVEL
			    : LEVEL_DRIFTING;
}

void series_classify(const struct measurement *m, struct level *ret)
{
	DEFER(defer_free) double *iops = NULL;
	size_t count;

	iops = series_iops(m, &count);
	level_classify(iops, count, 1.0, ret);
	if (ret->kind == LEVEL_TOO_SHORT && count >= SHORT_COUNT_MIN)
		classify_short(iops, count, ret);
}
