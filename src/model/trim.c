/* SPDX-License-Identifier: MIT */
#include "model/trim.h"

#include <stdio.h>
#include <string.h>

const char *const trim_rung_names[] = { "none", "capability", "sent", "effect", "behaviour" };
const char *const trim_content_names[] = { "not read", "zeros", "ones", "old data", "other data" };

struct trim_evidence *trim_report_add(struct trim_report *report, enum trim_rung rung,
				      const char *code, const char *layer)
{
	struct trim_evidence *evidence;

	if (report->evidence_count < TRIM_EVIDENCE)
		report->evidence_count++;
	evidence = &report->evidence[report->evidence_count - 1];
	memset(evidence, 0, sizeof(*evidence));
	evidence->rung = rung;
	snprintf(evidence->code, sizeof(evidence->code), "%s", code);
	snprintf(evidence->layer, sizeof(evidence->layer), "%s", layer);
	return evidence;
}

struct trim_layer *trim_report_layer(struct trim_report *report, const char *name)
{
	for (uint32_t i = 0; i < report->layer_count; i++) {
		if (strcmp(report->layers[i].name, name) == 0)
			return &report->layers[i];
	}
	return NULL;
}
