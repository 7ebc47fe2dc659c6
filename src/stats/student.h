/* SPDX-License-Identifier: MIT */
#pragma once

/* student - quantiles of Student's t distribution. */

/*
 * The value that |t| exceeds with the given probability; freedom > 0, need not be whole. By
 * bisection of the regularised incomplete beta function (continued fraction of Lentz, as
 * in Abramowitz and Stegun 26.5.8); good to 1e-9 relative.
 */
double student_two_sided(double probability, double freedom);
