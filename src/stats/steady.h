/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * steady - the steady state of the SNIA Solid State Storage Performance Test Specification:
 * over a window of 5 rounds, for each tracking variable, the largest value less the smallest is
 * at most 20 % of their mean, and the least-squares line changes by at most 10 % of the mean
 * over the window (|slope| x 4). Both must hold, for all variables.
 *
 * Pure; limits count as met when equal (the arithmetic allows for 1e-9 of the mean).
 */

#include <stdbool.h>
#include <stddef.h>

#define STEADY_ROUNDS 5
#define STEADY_RANGE_MAX 0.20
#define STEADY_SLOPE_MAX 0.10

struct steady {
	bool is_steady;
	size_t first_round;	/* of the window the figures are of; counts from 0 */
	double mean;
	double range_ratio;	/* (max - min) / mean */
	double slope_ratio;	/* (line's end - its start) / mean, signed */
};

/* The last 5 of count rounds; fewer than 5, a mean of 0 or a value that is no number: not steady. */
void steady_judge(const double *rounds, size_t count, struct steady *ret);

/*
 * All variables in the same window: variables rows of count rounds, row v begins at
 * rounds[v * stride]. *ret (may be NULL) gets the worst one: not steady first, then the largest
 * share of its limit.
 */
bool steady_judge_all(const double *rounds, size_t variables, size_t stride, size_t count,
		      struct steady *ret);

/* The first round at which the window that ends there is steady, or count when there is none. */
size_t steady_first(const double *rounds, size_t count);
