/* SPDX-License-Identifier: MIT */
#include "measure/series.h"

#include <stdlib.h>

#include "base/clock.h"

#define SAMPLES 50

static uint64_t requests(const struct second *s)
{
	return s->ops[OP_READ].count + s->ops[OP_WRITE].count + s->ops[OP_TRIM].count;
}

static void from_seconds(struct series *series, const struct measurement *m)
{
	series->interval_s = 1.0;
	for (size_t i = 0; i < m->second_count; i++) {
		const struct second *s = &m->seconds[i];

		if (s->length_ns * 2 >= SECOND_NS)
			series->iops[series->count++] =
				(double)requests(s) * 1e9 / (double)s->length_ns;
	}
}

/* Whole groups only: a part of one at the end would be a dip that is none. */
static void from_pulses(struct series *series, const struct measurement *m)
{
	const size_t group = m->pulse_count < 2 * SAMPLES ? 1 : m->pulse_count / SAMPLES;

	series->interval_s = (double)group * (double)m->pulse_ns / 1e9;
	for (size_t i = 0; i + group <= m->pulse_count; i += group) {
		uint64_t sum = 0;

		for (size_t k = 0; k < group; k++)
			sum += m->pulses[i + k];
		series->iops[series->count++] = (double)sum / series->interval_s;
	}
}

void series_init(struct series *series, const struct measurement *m)
{
	const bool whole = m->pulse_count &&
			   (m->pulse_count + 1) * m->pulse_ns >= m->duration_ns;

	*series = (struct series){ .interval_s = 1.0 };
	series->iops = calloc(m->second_count + m->pulse_count + 1, sizeof(*series->iops));
	if (!series->iops)
		return;
	if (whole)
		from_pulses(series, m);
	else
		from_seconds(series, m);
}

void series_done(struct series *series)
{
	free(series->iops);
	*series = (struct series){ 0 };
}

void series_classify(const struct series *series, struct level *ret)
{
	level_classify(series->iops, series->count, series->interval_s, ret);
}
