/* SPDX-License-Identifier: MIT */
#include "base/random.h"

#include <math.h>

double random_exponential(struct random *r)
{
	/* 1 - u lies in (0, 1]: the logarithm is finite. */
	return -log(1.0 - random_unit(r));
}

/* Box and Muller 1958; the second value is dropped to keep the state in the generator alone. */
double random_normal(struct random *r)
{
	const double radius = sqrt(2.0 * random_exponential(r));

	return radius * cos(6.283185307179586 * random_unit(r));
}
