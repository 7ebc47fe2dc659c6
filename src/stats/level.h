/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * level - was a per-second series level, drifting, or stepped? Pure functions over
 * doubles. Methods, order and error rates: reference/statistics.md sections 3-5
 * (energy statistic and Welch t for steps, PTS slices for drift).
 */

#include <stddef.h>
#include <stdint.h>

enum level_kind { LEVEL_LEVEL, LEVEL_DRIFTING, LEVEL_STEPPED, LEVEL_CYCLIC, LEVEL_TOO_SHORT };

#define LEVEL_STEPS_MAX 16

struct level {
	enum level_kind kind;
	size_t cut_count;		/* leading samples that MSER-5 takes for the start */
	size_t step_count;		/* LEVEL_STEPPED: positions (first index of each new segment) */
	size_t steps[LEVEL_STEPS_MAX];
	double means[LEVEL_STEPS_MAX + 1];	/* of the segments; [0] for the other kinds */
	double range_ratio;		/* (max - min) / mean over 5 slices after the cut */
	double slope_ratio;		/* fitted change over the run / mean */
	size_t period_count;		/* LEVEL_CYCLIC: samples per cycle */
	double effective_count;		/* n / tau: independent samples */
	double half_width_ratio;	/* 95 % half-width of the mean / mean; 0 = none given */
};

/* samples: one per interval_s seconds, in order. */
void level_classify(const double *samples, size_t count, double interval_s, struct level *ret);
const char *level_name(enum level_kind kind);	/* "level", "drifting", "stepped", "cyclic", "too short" */
