/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * recovery - how much of a loss came back: R = (after - dirty) / (clean - dirty), and the
 * loss itself as a share, with 95 % intervals from repeated probes. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

#define SAMPLES_MAX 64

struct samples {
	double values[SAMPLES_MAX];
	size_t count;
};

/* What is more than SAMPLES_MAX is dropped. */
void samples_add(struct samples *samples, double value);
double samples_mean(const struct samples *samples);

/* An estimate with its interval; known is false when there are fewer than 2 samples a side. */
struct estimate {
	double value, low, high;
	bool known;
};

/* 1 - after / before. */
struct estimate estimate_drop(const struct samples *before, const struct samples *after);

/*
 * R; from is the dirty state, in which the way back began. known is false too when the loss
 * (clean - from) is less than four of its own
 * standard errors: a quotient by nearly nothing means nothing.
 *
 * First-order error propagation with the degrees of freedom of Welch and Satterthwaite.
 */
struct estimate estimate_recovery(const struct samples *clean, const struct samples *from,
				  const struct samples *after);
