/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "report/fio_stat.h"

static bool is_in(const struct fio_entry *entry, const struct fio_job *job)
{
	return entry->job == job || (entry->job->group_reporting && job->group_reporting &&
				     entry->job->group_id == job->group_id);
}

/* Whole seconds of all its jobs together, as long as the shortest has them. */
static void sum_seconds(const struct fio_stat *stat, const struct fio_entry *entry,
			struct fio_steady *ret)
{
	const struct result *result = stat->report->result;
	size_t count = SIZE_MAX;

	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *m = &result->measurements[i];
		size_t whole = m->second_count;

		if (!is_in(entry, &stat->report->labels->jobs[i]))
			continue;
		if (whole > 0 && m->seconds[whole - 1].length_ns < SECOND_NS)
			whole--;
		count = whole < count ? whole : count;
	}
	ret->count = count;
	ret->iops = calloc(count + 1, sizeof(*ret->iops));
	ret->bw = calloc(count + 1, sizeof(*ret->bw));
	if (!ret->iops || !ret->bw)
		abort();
	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *m = &result->measurements[i];

		for (size_t k = 0; k < count && is_in(entry, &stat->report->labels->jobs[i]); k++) {
			for (int op = FIO_READ; op <= FIO_TRIM; op++) {
				ret->iops[k] += (double)m->seconds[k].ops[op].count;
				ret->bw[k] += (double)m->seconds[k].ops[op].bytes;
			}
		}
	}
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return count ? sum / (double)count : 0;
}

static double deviation_of(const double *values, size_t count, double mean)
{
	double most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, fabs(values[i] - mean));
	return most;
}

/* Least squares, per second. */
static double slope_of(const double *values, size_t count, double mean)
{
	const double middle = ((double)count - 1) / 2;
	double above = 0, below = 0;

	for (size_t i = 0; i < count; i++) {
		above += ((double)i - middle) * (values[i] - mean);
		below += ((double)i - middle) * ((double)i - middle);
	}
	return below > 0 ? above / below : 0;
}

void fio_steady_init(struct fio_steady *steady, const struct fio_stat *stat,
		     const struct fio_entry *entry)
{
	const char *text = entry->job->steadystate_text;
	const char *limit = strchr(text, ':');
	const double *values;
	double mean;

	*steady = (struct fio_steady){ 0 };
	sum_seconds(stat, entry, steady);
	steady->of_iops = strncmp(text, "iops", 4) == 0;
	steady->of_slope = strstr(text, "_slope") != NULL;
	steady->percent = strchr(text, '%') != NULL;
	steady->iops_mean = mean_of(steady->iops, steady->count);
	steady->bw_mean = mean_of(steady->bw, steady->count);
	values = steady->of_iops ? steady->iops : steady->bw;
	mean = steady->of_iops ? steady->iops_mean : steady->bw_mean;
	steady->deviation_max = deviation_of(values, steady->count, mean);
	steady->slope = slope_of(values, steady->count, mean);
	steady->criterion = fabs(steady->of_slope ? steady->slope : steady->deviation_max);
	if (steady->percent)
		steady->criterion = mean > 0 ? 100 * steady->criterion / mean : 0;
	/* One second deviates from nothing. */
	steady->attained = steady->count > 1 && limit &&
			   steady->criterion <= strtod(limit + 1, NULL);
}

void fio_steady_done(struct fio_steady *steady)
{
	free(steady->iops);
	free(steady->bw);
}
