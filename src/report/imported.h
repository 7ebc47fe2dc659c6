/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * imported - other tools' results for their reader: one table in tare's units, one
 * fact per line, or one JSON document ("tare.imported/1", described in docs/result-schema.md).
 * Pure.
 */

#include "base/text.h"
#include "model/imported.h"
#include "report/report.h"

#define REPORT_IMPORTED_SCHEMA "tare.imported/1"

void report_imported_text(const struct imported *sources, size_t count,
			  const struct report_style *style, struct text *ret);
void report_imported_json(const struct imported *sources, size_t count, struct text *ret);
