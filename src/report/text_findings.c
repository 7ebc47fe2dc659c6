/* SPDX-License-Identifier: MIT */
#include "report/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

#define CODE_COLUMNS_MAX 20
#define OTHERS_NAMED 2

static bool same_kind(const struct finding *a, const struct finding *b)
{
	return a->severity == b->severity && strcmp(a->code, b->code) == 0;
}

/* Findings of one code are told once, with the first one's text; JSON has them all. */
static bool is_repeat(const struct result *result, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (same_kind(&result->findings[i], &result->findings[index]))
			return true;
	return false;
}

static size_t code_columns(const struct result *result)
{
	size_t columns = strlen("interrupted");

	for (size_t i = 0; i < result->finding_count; i++) {
		const size_t length = strlen(result->findings[i].code);

		if (length > columns && length <= CODE_COLUMNS_MAX)
			columns = length;
	}
	return columns;
}

/* Few are named; of many the marks in the table and the JSON tell which. */
static void add_names(const struct result *result, size_t index, struct text *line)
{
	const struct finding *first = &result->findings[index];
	struct text others = TEXT_INIT;
	size_t count = 0;

	if (result->measurement_count < 2 || !first->measurement[0])
		return;
	for (size_t i = index + 1; i < result->finding_count; i++) {
		const struct finding *f = &result->findings[i];

		if (!same_kind(first, f) || !f->measurement[0])
			continue;
		text_add(&others, "%s%s", count ? ", " : "; also ", f->measurement);
		count++;
	}
	if (count > OTHERS_NAMED)
		text_add(line, " (%s, and %zu others)", first->measurement, count);
	else
		text_add(line, " (%s%s)", first->measurement, text_string(&others));
	text_done(&others);
}

struct line {
	const char *symbol, *code;
	enum tone tone;
	const char *text, *remedy;
};

static void add_line(const struct line *line, size_t columns, const struct report_style *style,
		     struct text *ret)
{
	const size_t indent = 4 + columns + 2;
	struct text clean = TEXT_INIT;

	text_add(ret, "  %s%s", layout_tone(style, line->tone), line->symbol);
	text_add(ret, " ");
	layout_left(ret, line->code, columns);
	text_add(ret, "%s", layout_end(style));
	text_add(ret, text_columns(line->code) > columns ? "\n" : "  ");
	summary_add_printable(&clean, line->text);
	layout_wrap(ret, text_string(&clean), indent, style->columns);
	text_add(ret, "\n");
	text_done(&clean);
	if (!line->remedy[0])
		return;
	summary_add_printable(&clean, line->remedy);
	text_add(ret, "%*s%s→ ", (int)indent, "", layout_tone(style, TONE_QUIET));
	layout_wrap(ret, text_string(&clean), indent + 2, style->columns);
	text_add(ret, "%s\n", layout_end(style));
	text_done(&clean);
}

static void add_finding(const struct result *result, size_t index, size_t columns,
			const struct report_style *style, struct text *ret)
{
	const struct finding *f = &result->findings[index];
	const struct layout_mark *mark = &layout_marks[f->severity];
	struct text text = TEXT_INIT;

	text_add(&text, "%s", f->text);
	add_names(result, index, &text);
	add_line(&(struct line){ mark->symbol, f->code, mark->tone, text_string(&text), f->remedy },
		 columns, style, ret);
	text_done(&text);
}

static bool all_level(const struct result *result)
{
	for (size_t i = 0; i < result->measurement_count; i++)
		if (strcmp(result->measurements[i].level, "level") != 0)
			return false;
	return result->measurement_count > 0;
}

/* What went well, said as plainly as what did not. */
static void add_good(const struct result *result, size_t columns, const struct report_style *style,
		     struct text *ret)
{
	uint64_t blocks = 0, bad = 0;
	struct text text = TEXT_INIT;

	if (result->error_text[0])
		return;
	/* In full, each measurement has said so itself. */
	if (all_level(result) && !style->full)
		add_line(&(struct line){ "✓", "level", TONE_GOOD,
					 result->measurement_count > 1 ?
						 "every row stayed level while it was measured" :
						 "stayed level while it was measured", "" },
			 columns, style, ret);
	for (size_t i = 0; i < result->measurement_count; i++) {
		blocks += result->measurements[i].verified_count;
		bad += result->measurements[i].verify_failed_count;
	}
	if (blocks && !bad && !style->full) {
		text_add(&text, "%" PRIu64 " blocks read back as they were written", blocks);
		add_line(&(struct line){ "✓", "verified", TONE_GOOD, text_string(&text), "" },
			 columns, style, ret);
	}
	if (result->measurement_count && !result->finding_count)
		add_line(&(struct line){ "✓", "audit", TONE_GOOD,
					 "nothing found that would make these figures doubtful", "" },
			 columns, style, ret);
	text_done(&text);
}

void text_findings(const struct result *result, const struct report_style *style,
		   struct text *ret)
{
	const size_t columns = code_columns(result);

	if (result->error_text[0])
		add_line(&(struct line){ "✗", "stopped", TONE_BAD, result->error_text,
					 result->error_hint },
			 columns, style, ret);
	if (result->interrupted)
		add_line(&(struct line){ "!", "interrupted", TONE_WARNING,
					 "ended early; these are the figures so far", "" },
			 columns, style, ret);
	add_good(result, columns, style, ret);
	for (int severity = SEVERITY_INVALID; severity >= SEVERITY_INFO; severity--)
		for (size_t i = 0; i < result->finding_count; i++)
			if ((int)result->findings[i].severity == severity && !is_repeat(result, i))
				add_finding(result, i, columns, style, ret);
}
