/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * deep - the fourth rung: does discarding bring back the speed that use has cost? Runs the
 * three-state protocol on what the report is about, and adds its answer as evidence:
 *
 *	behaviour	ok when trim brings the speed back, not ok when it does not
 *	deep		not ok, with the errno where there is one: no answer, and why; of what
 *			has no slow state the verdict stays that of the evidence before
 */

#include "model/trim.h"
#include "protocol/protocol.h"

/*
 * options as for protocol_run; target is the report's. Whatever comes of it is evidence: it
 * fails only when interrupted (-EINTR).
 */
int trim_deep(struct trim_report *report, const struct protocol_options *options,
	      struct err *err);

/* The outcome as evidence: pure. */
void trim_deep_judge(struct trim_report *report, const struct protocol_outcome *outcome);
