/* SPDX-License-Identifier: MIT */
#include "stats/level.h"

const char *level_name(enum level_kind kind)
{
	static const char *const names[] = { "level", "drifting", "stepped", "cyclic", "too short" };

	return names[kind];
}

void level_classify(const double *samples, size_t count, double interval_s, struct level *ret)
{
	double sum = 0;

	(void)interval_s;
	for (size_t i = 0; i < count; i++)
		sum += samples[i];
	*ret = (struct level){ .kind = count < 10 ? LEVEL_TOO_SHORT : LEVEL_LEVEL };
	ret->means[0] = count ? sum / (double)count : 0;
}
