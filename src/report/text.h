/* SPDX-License-Identifier: MIT */
#pragma once

/* text - the parts that report_text is made of. Private to report/. */

#include "report/layout.h"
#include "report/report.h"
#include "report/summary.h"

/* Read and write beside each other, one row per shape; latencies of depth 1 below. */
void text_table(const struct result *result, const struct report_style *style, struct text *ret);
/* Whether the table has a place for it: reads or writes only, closed loop. */
bool text_table_shows(const struct measurement *m);

/* What the plan did to the state: a line each. */
void text_steps(const struct result *result, const struct report_style *style, struct text *ret);
void text_steps_plain(const struct result *result, struct text *ret);

/* What ran at the same time as the first of it; 1 when alone. */
size_t text_group_count(const struct result *result, size_t first);
/* "2 at the same time: data, log", before the first of a group. */
void text_group(const struct result *result, size_t first, const struct report_style *style,
		struct text *ret);
/* Where it ran, when there are several targets; else NULL. */
const struct target_info *text_target_of(const struct result *result, const struct measurement *m);

void text_full(const struct result *result, const struct measurement *m,
	       const struct report_style *style, struct text *ret);
void text_findings(const struct result *result, const struct report_style *style,
		   struct text *ret);
void text_plain(const struct result *result, struct text *ret);
void text_plain_target(const struct target_info *info, struct text *ret);

/* The worst finding that names this measurement; -1 without one. A run ended early is invalid. */
int text_severity_of(const struct result *result, const struct measurement *m);

/* "4 KiB", "512 B": without decimals that say nothing. */
void text_add_size(struct text *ret, uint64_t bytes);

/* "–" for a percentile that has too few samples. buffer holds UNITS_TEXT_BYTES. */
const char *text_percentile(const struct histogram *h, uint32_t ppm, char *buffer);
