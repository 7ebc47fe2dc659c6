/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * layout - cells, bars, wrapping and colour for terminal reports. Reports are composed in
 * UTF-8; layout_finish turns them into ASCII where asked, glyph for glyph, so that columns
 * stay. For report/ and cli/.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/result.h"
#include "report/report.h"

enum tone { TONE_STRONG, TONE_GOOD, TONE_WARNING, TONE_BAD, TONE_QUIET, TONE_BAR };

/* Escape sequences, "" without colour. */
const char *layout_tone(const struct report_style *style, enum tone tone);
const char *layout_end(const struct report_style *style);

/* s with blanks behind or before it up to so many columns; longer ones are not cut. */
void layout_left(struct text *ret, const char *s, size_t columns);
void layout_right(struct text *ret, const char *s, size_t columns);

/* ratio 0..1 of columns in eighths, padded with blanks. */
void layout_bar(struct text *ret, double ratio, size_t columns);

/* One glyph of eight heights per value, relative to the largest. */
void layout_sparkline(struct text *ret, const double *values, size_t count);

/*
 * Words of s from where the last line of ret ends, at least at column indent; later lines
 * start at indent. None goes beyond columns where a word fits at all. No newline at the end.
 */
void layout_wrap(struct text *ret, const char *s, size_t indent, size_t columns);

/* Blanks at line ends removed from byte start on; ASCII where the style asks for it. */
void layout_finish(struct text *text, size_t start, const struct report_style *style);

/* ✗ ! · : the symbol of a severity and its tone. */
struct layout_mark {
	const char *symbol;
	enum tone tone;
};
extern const struct layout_mark layout_marks[];	/* by enum severity */
