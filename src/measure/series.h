/* SPDX-License-Identifier: MIT */
#pragma once

/* series - a measurement's seconds as numbers, and whether they were level. */

#include "model/result.h"
#include "stats/level.h"

/*
 * Requests per second of each whole second, all kinds together: the caller's to free, NULL
 * when there are none. A last part of a second counts when it is half of one at least.
 */
double *series_iops(const struct measurement *m, size_t *ret_count);

/*
 * level_classify, and below its least count, from five seconds on, the rule of the PTS on
 * the seconds themselves: level within 20 % of range and 10 % of slope, else drifting. So
 * few seconds cannot tell a step or a cycle from a drift.
 */
void series_classify(const struct measurement *m, struct level *ret);
