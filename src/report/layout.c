/* SPDX-License-Identifier: MIT */
#include "report/layout.h"

#include <string.h>

#include "base/defer.h"

const char *layout_tone(const struct report_style *style, enum tone tone)
{
	static const char *const escapes[] = {
		[TONE_STRONG] = "\033[1m", [TONE_GOOD] = "\033[32m", [TONE_WARNING] = "\033[33m",
		[TONE_BAD] = "\033[31m",   [TONE_QUIET] = "\033[2m", [TONE_BAR] = "\033[36m",
	};

	return style->colour ? escapes[tone] : "";
}

const char *layout_end(const struct report_style *style)
{
	return style->colour ? "\033[0m" : "";
}

static void blanks(struct text *ret, size_t have, size_t want)
{
	if (have < want)
		text_add(ret, "%*s", (int)(want - have), "");
}

void layout_left(struct text *ret, const char *s, size_t columns)
{
	text_add(ret, "%s", s);
	blanks(ret, text_columns(s), columns);
}

void layout_right(struct text *ret, const char *s, size_t columns)
{
	blanks(ret, text_columns(s), columns);
	text_add(ret, "%s", s);
}

void layout_bar(struct text *ret, double ratio, size_t columns)
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	size_t eighths, used = 0;

	ratio = ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
	eighths = (size_t)(ratio * (double)(columns * 8) + 0.5);
	if (eighths == 0 && ratio > 0)
		eighths = 1;
	for (; used < eighths / 8; used++)
		text_add(ret, "█");
	if (eighths % 8) {
		text_add(ret, "%s", parts[eighths % 8]);
		used++;
	}
	blanks(ret, used, columns);
}

void layout_sparkline(struct text *ret, const double *values, size_t count)
{
	static const char *const heights[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double max = 0;

	for (size_t i = 0; i < count; i++)
		max = values[i] > max ? values[i] : max;
	for (size_t i = 0; i < count; i++)
		text_add(ret, "%s", heights[max > 0 ? (size_t)(values[i] / max * 7 + 0.5) : 0]);
}

/* Columns without the escape sequences of layout_tone. */
static size_t visible_columns(const char *s)
{
	size_t hidden = 0;

	for (const char *escape = s; (escape = strchr(escape, '\033'));) {
		const size_t length = strcspn(escape, "m") + 1;

		hidden += length;
		escape += length;
	}
	return text_columns(s) - hidden;
}

static const char *last_line(const struct text *text)
{
	const char *newline = strrchr(text_string(text), '\n');

	return newline ? newline + 1 : text_string(text);
}

void layout_wrap(struct text *ret, const char *s, size_t indent, size_t columns)
{
	size_t column = visible_columns(last_line(ret));
	bool first = true;

	blanks(ret, column, indent);
	column = column < indent ? indent : column;
	for (s += strspn(s, " "); *s; s += strspn(s, " "), first = false) {
		const size_t bytes = strcspn(s, " ");
		struct text word = TEXT_INIT;
		size_t width;

		text_add_bytes(&word, s, bytes);
		width = visible_columns(text_string(&word));
		if (column > indent && column + !first + width > columns) {
			text_add(ret, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			text_add(ret, " ");
			column++;
		}
		text_add(ret, "%s", text_string(&word));
		column += width;
		text_done(&word);
		s += bytes;
	}
}

/* Each is one column in both; what is not listed (a path in UTF-8) stays as it is. */
static const struct {
	const char *utf8;
	char ascii;
} glyphs[] = {
	{ "µ", 'u' }, { "·", '-' }, { "–", '-' }, { "—", '-' }, { "−", '-' }, { "✓", '+' },
	{ "✗", 'X' }, { "→", '>' }, { "×", 'x' }, { "…", '.' }, { "’", '\'' }, { "█", '#' },
	{ "▉", '#' }, { "▊", '#' }, { "▋", '#' }, { "▌", '#' }, { "▍", '.' }, { "▎", '.' },
	{ "▏", '.' }, { "≥", '>' }, { "≤", '<' }, { "±", '~' }, { "≈", '~' }, { "°", ' ' },
};

static size_t glyph_ascii(const char *s, char *ret)
{
	for (size_t i = 0; i < ARRAY_COUNT(glyphs); i++) {
		const size_t length = strlen(glyphs[i].utf8);

		if (strncmp(s, glyphs[i].utf8, length) == 0) {
			*ret = glyphs[i].ascii;
			return length;
		}
	}
	*ret = *s;
	return 1;
}

void layout_finish(struct text *text, size_t start, const struct report_style *style)
{
	size_t to = start, from = start;

	while (from < text->length) {
		char c = text->data[from];

		if (style->utf8 || !(c & 0x80))
			from++;
		else
			from += glyph_ascii(text->data + from, &c);
		if (c == '\n')
			while (to > start && text->data[to - 1] == ' ')
				to--;
		text->data[to++] = c;
	}
	if (text->data)
		text->data[to] = '\0';
	text->length = to;
}

const struct layout_mark layout_marks[] = {
	[SEVERITY_INFO] = { "·", TONE_QUIET },
	[SEVERITY_WARNING] = { "!", TONE_WARNING },
	[SEVERITY_INVALID] = { "✗", TONE_BAD },
};
