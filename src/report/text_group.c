/* SPDX-License-Identifier: MIT */

/* text_group - what ran at the same time, and where. */

#include "report/text.h"

size_t text_group_count(const struct result *result, size_t first)
{
	const struct measurement *m = result->measurements;
	size_t count = 1;

	while (first + count < result->measurement_count &&
	       m[first + count].group_index == m[first].group_index)
		count++;
	return count;
}

void text_group(const struct result *result, size_t first, const struct report_style *style,
		struct text *ret)
{
	const struct measurement *m = result->measurements;
	const bool leads = first == 0 || m[first - 1].group_index != m[first].group_index;
	const size_t count = text_group_count(result, first);
	struct text line = TEXT_INIT;

	if (!leads || count < 2)
		return;
	text_add(&line, "%zu at the same time: ", count);
	for (size_t i = 0; i < count; i++)
		text_add(&line, "%s%s", i ? ", " : "", m[first + i].name);
	text_add(ret, "%s", layout_tone(style, TONE_QUIET));
	layout_wrap(ret, text_string(&line), 0, style->columns);
	text_add(ret, "%s\n", layout_end(style));
	text_done(&line);
}

const struct target_info *text_target_of(const struct result *result, const struct measurement *m)
{
	if (result->more_target_count == 0)
		return NULL;
	return m->target_index ? &result->more_targets[m->target_index - 1] : &result->target;
}
