/* SPDX-License-Identifier: MIT */
#pragma once

/* steps - change points in a series of means; see level.h. */

#include <stddef.h>

/* Positions of the first value of each new level, ascending; returns how many (<= max). */
size_t steps_find(const double *values, size_t count, size_t *ret, size_t max);
