/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * settled - whether a rate has settled, by fio's rule: over a window of seconds either none is
 * off the mean by more than so much, or the line through them rises or falls by no more a second.
 */

#include <stdbool.h>
#include <stddef.h>

struct settled_rule {
	bool of_iops;	/* else of bytes */
	bool of_slope;	/* else of the largest deviation */
	bool percent;	/* of the mean, else as it is */
	double limit;
};

struct settled {
	double mean, deviation_max;
	double slope;		/* by least squares, per second */
	double criterion;	/* what is held against the limit */
	bool attained;
};

/* "iops:10%", "iops_slope:0.5%", "bw:LIMIT", "bw_slope:LIMIT"; -EINVAL for all else. */
int settled_parse(const char *text, struct settled_rule *ret);

/* One value for each second. Of a single one nothing can be said. */
void settled_judge(const struct settled_rule *rule, const double *values, size_t count,
		   struct settled *ret);
