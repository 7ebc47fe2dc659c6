/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * report - a result for its reader. Pure: text in memory out; only cli/ prints.
 * The JSON is described field by field in docs/result-schema.md.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/result.h"

struct report_style {
	bool colour;
	bool utf8;		/* else ASCII */
	bool plain;		/* one fact per line */
	uint32_t columns;	/* of the terminal; 80 when piped */
	bool bars;
};

/* One document with its newline. */
void report_json(const struct result *result, struct text *ret);
/* { "error": { "code", "message", "hint" } } with its newline. */
void report_error_json(const struct err *err, struct text *ret);
/* Table, latency, findings: the session of `tare check` and `tare run`. */
void report_text(const struct result *result, const struct report_style *style, struct text *ret);
/* The header lines alone, printed before a run begins. */
void report_target_text(const struct target_info *info, const struct report_style *style,
			struct text *ret);
