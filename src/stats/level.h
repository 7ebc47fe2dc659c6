/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * level - was a series of throughput samples level, drifting, cyclic or stepped? Pure functions
 * over doubles, deterministic. Asked in this order:
 *
 *  steps	On means of batches over the whole series: candidates by the energy statistic (Matteson
 *		and James 2014) in windows of 50, then merged from the weakest; a step stays if
 *		Welch's t divided by sqrt(tau) has p < 0.001, the change is at least 5 % and at
 *		least two batches lie on both sides, and a straight line does not explain as much.
 *		A slow fall from one level to the next is one step, with its end in settles.
 *		Judged before the start is cut: a burst at the start is the first segment.
 *  the start	MSER-5 (White 1997) on batch means: cut where the standard error of the rest is
 *		least. At half of the series at most: a cut there found no end (unsettled).
 *  cyclic	the autocorrelation, once it has been <= 0, has a maximum >= 0.5 at a lag of at
 *		most a third; of 30 values at least, and a standard deviation of 1 % of the mean.
 *  drifting	five equal slices: range > 20 % of their mean, or fitted slope x 4 > 10 % (the
 *		PTS rule). If that is only the start's doing, the rest is level.
 *
 * A batch is 5 s, less in short series so that there are 12; never less than one sample.
 * Cycles and independent samples are looked for in means of 1 s, less in short series so
 * that there are 60. Error rates: test_level.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum level_kind { LEVEL_LEVEL, LEVEL_DRIFTING, LEVEL_STEPPED, LEVEL_CYCLIC, LEVEL_TOO_SHORT };

#define LEVEL_STEPS_MAX 16
#define LEVEL_SAMPLES_MIN 10		/* fewer are too short */
#define LEVEL_EFFECTIVE_MIN 20.0	/* fewer independent samples give no interval */

/* Positions count samples. */
struct level {
	enum level_kind kind;
	size_t cut_count;		/* leading samples that MSER-5 takes for the start; 0 if stepped */
	bool unsettled;			/* the start did not end within half of the series */
	size_t step_count;		/* LEVEL_STEPPED */
	size_t steps[LEVEL_STEPS_MAX];	/* first sample that has left the old level */
	size_t settles[LEVEL_STEPS_MAX];	/* first sample at the new level; >= steps */
	double means[LEVEL_STEPS_MAX + 1];	/* of the segments, without what lies between steps and
						 * settles; [0] after the cut for the other kinds */
	double range_ratio;		/* (max - min) / mean over 5 slices */
	double slope_ratio;		/* fitted change over the run / mean */
	size_t period_count;		/* LEVEL_CYCLIC: samples per cycle */
	double effective_count;		/* n / tau: independent samples, after the cut; last segment */
	double half_width_ratio;	/* 95 % half-width of the mean / mean; 0 = none given, or constant */
};

/* samples: one per interval_s seconds, in order. */
void level_classify(const double *samples, size_t count, double interval_s, struct level *ret);
const char *level_name(enum level_kind kind);	/* "level", "drifting", "stepped", "cyclic", "too short" */
