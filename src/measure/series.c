/* SPDX-License-Identifier: MIT */
#include "measure/series.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/defer.h"

double *series_iops(const struct measurement *m, size_t *ret_count)
{
	double *iops = calloc(m->second_count + 1, sizeof(*iops));
	size_t count = 0;

	*ret_count = 0;
	if (!iops || m->second_count == 0) {
		free(iops);
		return NULL;
	}
	for (size_t i = 0; i < m->second_count; i++) {
		const struct second *s = &m->seconds[i];
		const uint64_t done =
			s->ops[OP_READ].count + s->ops[OP_WRITE].count + s->ops[OP_TRIM].count;

		if (s->length_ns * 2 >= SECOND_NS)
			iops[count++] = (double)done * 1e9 / (double)s->length_ns;
	}
	*ret_count = count;
	return iops;
}

void series_classify(const struct measurement *m, struct level *ret)
{
	DEFER(defer_free) double *iops = NULL;
	size_t count;

	iops = series_iops(m, &count);
	level_classify(iops, count, 1.0, ret);
}
