/* SPDX-License-Identifier: MIT */
#include "model/settled.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int settled_parse(const char *text, struct settled_rule *ret)
{
	static const struct {
		const char *word;
		bool of_iops, of_slope;
	} kinds[] = {
		{ "iops:", true, false }, { "iops_slope:", true, true },
		{ "bw:", false, false },  { "bw_slope:", false, true },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *number = text + strlen(kinds[i].word);
		char *end;

		if (strncmp(text, kinds[i].word, strlen(kinds[i].word)) != 0)
			continue;
		*ret = (struct settled_rule){ kinds[i].of_iops, kinds[i].of_slope, false, 0 };
		if (!isdigit((unsigned char)*number) && *number != '.')
			return -EINVAL;
		ret->limit = strtod(number, &end);
		ret->percent = *end == '%';
		end += ret->percent;
		return end == number || *end || !isfinite(ret->limit) ? -EINVAL : 0;
	}
	return -EINVAL;
}

void settled_judge(const struct settled_rule *rule, const double *values, size_t count,
		   struct settled *ret)
{
	const double middle = ((double)count - 1) / 2;
	double sum = 0, above = 0, below = 0;

	*ret = (struct settled){ 0 };
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	ret->mean = count ? sum / (double)count : 0;
	for (size_t i = 0; i < count; i++) {
		const double at = (double)i - middle, off = values[i] - ret->mean;

		ret->deviation_max = fmax(ret->deviation_max, fabs(off));
		above += at * off;
		below += at * at;
	}
	ret->slope = below > 0 ? above / below : 0;
	ret->criterion = rule->of_slope ? fabs(ret->slope) : ret->deviation_max;
	if (rule->percent)
		ret->criterion = ret->mean > 0 ? 100 * ret->criterion / ret->mean : 0;
	/* Nothing at all is no steady state. */
	ret->attained = count > 1 && ret->mean > 0 && ret->criterion <= rule->limit;
}
