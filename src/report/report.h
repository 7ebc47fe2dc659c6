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

#define REPORT_SCHEMA "tare.result/1"

struct report_style {
	bool colour;
	bool utf8;		/* else ASCII */
	bool plain;		/* one fact per line */
	bool bars;		/* bars and sparklines; for terminals */
	bool full;		/* every measurement with all its figures, no table */
	uint32_t columns;	/* of the terminal; 80 when piped */
};

/* One document with its newline. */
void report_json(const struct result *result, struct text *ret);
/*
 * { "schema", "error": { "code", "errno", "message", "hint" } } with its newline, for when
 * nothing was run; code is the class of the exit status: "usage", "refused".
 */
void report_error_json(const char *code, const struct err *err, struct text *ret);
/*
 * A single measurement with all its figures, or the table of `tare check`: read and write
 * beside each other, the latencies of depth 1 below; then the findings. Without the header.
 */
void report_text(const struct result *result, const struct report_style *style, struct text *ret);
/* The header lines, printed before a run begins. */
void report_target_text(const struct target_info *info, const struct report_style *style,
			struct text *ret);
/* "reads and writes", "random read 4 KiB Q32": a workload in a few words. */
void report_workload_text(const struct workload *workload, struct text *ret);
