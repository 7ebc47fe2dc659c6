/* SPDX-License-Identifier: MIT */
#include "base/units.h"
#include "report/text.h"

void text_steps(const struct result *result, const struct report_style *style, struct text *ret)
{
	for (size_t i = 0; i < result->step_count; i++) {
		const struct step_result *step = &result->steps[i];
		struct text line = TEXT_INIT;
		char time[UNITS_TEXT_BYTES];

		text_add(ret, "%s", layout_tone(style, TONE_STRONG));
		layout_left(ret, step->name, 7);
		text_add(ret, "%s ", layout_end(style));
		summary_add_printable(&line, step->text);
		text_add(&line, " · %s", units_format_latency((double)step->duration_ns, time));
		if (step->interrupted)
			text_add(&line, " · interrupted");
		layout_wrap(ret, text_string(&line), 8, style->columns);
		text_add(ret, "\n");
		text_done(&line);
	}
}

void text_steps_plain(const struct result *result, struct text *ret)
{
	for (size_t i = 0; i < result->step_count; i++) {
		const struct step_result *step = &result->steps[i];
		char time[UNITS_TEXT_BYTES];

		text_add(ret, "step %zu, %s: ", i + 1, step->name);
		summary_add_printable(ret, step->text);
		text_add(ret, "; took %s%s%s\n", units_format_latency((double)step->duration_ns, time),
			 step->reached ? "" : "; not reached",
			 step->interrupted ? "; interrupted" : "");
	}
}
