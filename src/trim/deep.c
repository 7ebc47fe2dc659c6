/* SPDX-License-Identifier: MIT */
#include "trim/deep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"

#define BACK_PERCENT 50		/* as the protocol: what is back lies above it */

static struct trim_evidence *add(struct trim_report *report, const char *code, bool ok,
				 const char *text)
{
	struct trim_evidence *evidence = trim_report_add(report, RUNG_BEHAVIOUR, code, "");

	evidence->ok = ok;
	snprintf(evidence->text, sizeof(evidence->text), "%.319s", text);
	return evidence;
}

/*
 * The most that trim brought back of any speed that was lost, in percent; NAN where nothing was
 * lost. A drive that cleans when idle is told as such by the protocol, whatever trim does to it.
 */
static double back_by_trim(const struct protocol_outcome *outcome)
{
	double most = NAN;

	for (size_t i = 0; i < outcome->evidence_count; i++)
		if (strstr(outcome->evidence[i].name, "back by trim"))
			most = fmax(most, outcome->evidence[i].value);
	return most;
}

static bool was_compared(const struct protocol_outcome *outcome)
{
	for (size_t i = 0; i < outcome->evidence_count; i++)
		if (strstr(outcome->evidence[i].name, "lost by use"))
			return true;
	return false;
}

/* What lies in files, in memory or on a host has no slow state of its own. */
static bool is_no_drive(const struct trim_layer *layer)
{
	static const char *const kinds[] = { "loop", "memory", "image", "zvol" };

	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (strcmp(layer->kind, kinds[i]) == 0)
			return true;
	return layer->is_virtual;
}

/* Use made nothing slower: speed cannot tell, and why that is so. */
static void tell_nothing_lost(struct trim_report *report)
{
	const struct trim_layer *layer = trim_report_layer(report, report->device);
	struct trim_evidence *evidence;
	char text[600];

	if (layer && is_no_drive(layer))
		snprintf(text, sizeof(text),
			 "cannot tell by speed: %s (%s) is no drive with a slow state of its own; "
			 "use made nothing slower, so that trim had nothing to bring back, and the "
			 "answer is that of the evidence before",
			 layer->name, layer->kind);
	else
		snprintf(text, sizeof(text),
			 "cannot tell by speed: use made nothing slower, so that trim had nothing "
			 "to bring back; a larger --size, nearer to all of the drive, may bring "
			 "the slow state about");
	evidence = add(report, "deep", false, text);
	if (layer)
		snprintf(evidence->layer, sizeof(evidence->layer), "%s", layer->name);
}

void trim_deep_judge(struct trim_report *report, const struct protocol_outcome *outcome)
{
	const char *code = outcome->verdict_code;
	const double back = back_by_trim(outcome);
	char text[600];

	if (strcmp(code, "trim-effective") == 0 || strcmp(code, "trim-partial") == 0 ||
	    (strcmp(code, "idle-recovers") == 0 && back >= BACK_PERCENT)) {
		add(report, "behaviour", true, outcome->verdict_text);
		if (report->rung < RUNG_BEHAVIOUR)
			report->rung = RUNG_BEHAVIOUR;
	} else if (strcmp(code, "trim-none") == 0) {
		add(report, "behaviour", false, outcome->verdict_text);
		if (report->rung < RUNG_BEHAVIOUR)
			report->rung = RUNG_BEHAVIOUR;
	} else if (isnan(back) && was_compared(outcome)) {
		tell_nothing_lost(report);
	} else {
		snprintf(text, sizeof(text), "no answer (%s): %s", code, outcome->verdict_text);
		add(report, "deep", false, text);
	}
}

int trim_deep(struct trim_report *report, const struct protocol_options *options,
	      struct err *err)
{
	struct protocol_outcome outcome;
	struct err own = { 0 };
	int r = protocol_run(protocol_find("three-state"), options, &outcome, &own);

	if (r == -EINTR) {
		report->interrupted = true;
		err_set(err, r, "interrupted");
	} else if (r < 0) {
		add(report, "deep", false, own.text)->error = r;
		r = 0;
	} else {
		trim_deep_judge(report, &outcome);
	}
	protocol_outcome_done(&outcome);
	return r;
}
