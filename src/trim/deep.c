/* SPDX-License-Identifier: MIT */
#include "trim/deep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
