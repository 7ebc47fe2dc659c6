/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/settled.h"
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

/* The last of them, which were looked at. */
static void keep_window(struct fio_steady *steady, size_t window)
{
	const size_t skipped = window < steady->count ? steady->count - window : 0;

	steady->count -= skipped;
	memmove(steady->iops, steady->iops + skipped, steady->count * sizeof(*steady->iops));
	memmove(steady->bw, steady->bw + skipped, steady->count * sizeof(*steady->bw));
}

/* All of them ended because of it. */
static bool all_settled(const struct fio_stat *stat, const struct fio_entry *entry)
{
	const struct result *result = stat->report->result;
	bool all = true;

	for (size_t i = 0; i < result->measurement_count; i++)
		if (is_in(entry, &stat->report->labels->jobs[i]))
			all &= result->measurements[i].steady;
	return all;
}

void fio_steady_init(struct fio_steady *steady, const struct fio_stat *stat,
		     const struct fio_entry *entry)
{
	struct settled_rule rule = { .percent = false };
	struct settled iops, bw;

	*steady = (struct fio_steady){ 0 };
	sum_seconds(stat, entry, steady);
	keep_window(steady, (size_t)(entry->first->workload.steady_window_ns / SECOND_NS));
	settled_parse(entry->job->steadystate_text, &rule);
	settled_judge(&rule, steady->iops, steady->count, &iops);
	settled_judge(&rule, steady->bw, steady->count, &bw);
	steady->of_iops = rule.of_iops;
	steady->of_slope = rule.of_slope;
	steady->percent = rule.percent;
	steady->iops_mean = iops.mean;
	steady->bw_mean = bw.mean;
	steady->deviation_max = rule.of_iops ? iops.deviation_max : bw.deviation_max;
	steady->slope = rule.of_iops ? iops.slope : bw.slope;
	steady->criterion = rule.of_iops ? iops.criterion : bw.criterion;
	steady->attained = all_settled(stat, entry);
}

void fio_steady_done(struct fio_steady *steady)
{
	free(steady->iops);
	free(steady->bw);
}
