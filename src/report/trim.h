/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * trim - what `tare trim` found out, for its reader: one screen with the layers as a tree, what
 * was seen, the verdict and the remedy; one fact per line; or JSON ("tare.trim/1"). Pure.
 */

#include "base/text.h"
#include "model/trim.h"
#include "report/report.h"

#define REPORT_TRIM_SCHEMA "tare.trim/1"

void report_trim_text(const struct trim_report *report, const struct report_style *style,
		      struct text *ret);
void report_trim_json(const struct trim_report *report, struct text *ret);

/* One line of verdict, for lists of many file systems. */
void report_trim_line(const struct trim_report *report, const struct report_style *style,
		      struct text *ret);
/* Several reports as one document: { "schema", "trims": [ ... ] }. */
void report_trim_list_begin(void **ret_list);
void report_trim_list_add(void *list, const struct trim_report *report);
void report_trim_list_end(void *list, struct text *ret);
