/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * era - the published figures of 2008 to 2010 that the reference drives must reproduce, as
 * recipes on the presets. Rates are bytes per second; MiB = the "MB/s" of IOMeter then.
 * Pure functions: the same seed gives the same rate.
 */

#include "sim/sim.h"

struct era_row {
	const char *name;	/* "x25m-g1 used" */
	const char *what;	/* workload and state, for the table */
	double published;	/* bytes per second, or a ratio; 0 = none, shown only */
	double tolerance;	/* share of the published value */
	bool is_ratio;
	double (*run)(uint64_t seed);
};

extern const struct era_row era_rows[];		/* name == NULL ends */

/* The median over seeds 1 .. seed_count. */
double era_median(const struct era_row *row, uint32_t seed_count);
