/* SPDX-License-Identifier: MIT */
#pragma once

/* series - a measurement's course as numbers, and whether it was level. */

#include "model/result.h"
#include "stats/level.h"

/* Requests per second, all kinds together, one sample per interval_s. */
struct series {
	double *iops;		/* owned; NULL while there are none */
	size_t count;
	double interval_s;
};

/*
 * Up to a minute about fifty samples, from the pulses; beyond, the seconds (a last part of
 * one counts when it is half of one at least). series_done gives back.
 */
void series_init(struct series *series, const struct measurement *m);
void series_done(struct series *series);

/* level_classify of it; what level_classify counts in samples lies interval_s apart. */
void series_classify(const struct series *series, struct level *ret);
