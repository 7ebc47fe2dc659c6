/* SPDX-License-Identifier: MIT */
#include "stats/student.h"

#include <assert.h>
#include <math.h>

#define TINY 1e-300

static double away_from_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* The continued fraction of I_x(a, b), for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
	double h = d;

	for (int m = 1; m < 500; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1.0 / away_from_zero(1.0 + even * d);
		c = away_from_zero(1.0 + even / c);
		h *= d * c;
		d = 1.0 / away_from_zero(1.0 + odd * d);
		c = away_from_zero(1.0 + odd / c);
		step = d * c;
		h *= step;
		if (fabs(step - 1.0) < 1e-13)
			break;
	}
	return h;
}

static double beta_regularised(double a, double b, double x)
{
	double front;

	if (x <= 0.0)
		return 0.0;
	if (x >= 1.0)
		return 1.0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1.0) / (a + b + 2.0))
		return front * beta_fraction(a, b, x) / a;
	return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

/* P(|t| > value) = I_{v / (v + t^2)}(v / 2, 1 / 2): find the x where it is the probability. */
double student_two_sided(double probability, double freedom)
{
	double low = 0.0, high = 1.0;

	assert(probability > 0.0 && probability < 1.0);
	assert(freedom > 0.0);
	for (int i = 0; i < 1100 && high - low > low * 1e-12; i++) {
		/* Small x matter as much as large ones: few degrees of freedom, large t. */
		const double middle = low > 0.0 && high > 4.0 * low ? sqrt(low * high)
								    : (low + high) / 2.0;

		if (beta_regularised(freedom / 2.0, 0.5, middle) < probability)
			low = middle;
		else
			high = middle;
	}
	return sqrt(freedom * (1.0 - low) / low);
}
