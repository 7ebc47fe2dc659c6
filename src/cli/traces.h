/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * traces - those that a plan names: each is imported once, when it is asked for first, and kept
 * until the end.
 *
 * Ownership: traces_init then traces_done.
 */

#include "cli/cli.h"
#include "foreign/trace.h"

struct traces_entry;

struct traces {
	struct traces_entry *first;	/* owned */
};

void traces_init(struct traces *traces);
void traces_done(struct traces *traces);

/* For measure_options.trace_open; ctx is a struct traces. */
int traces_open(void *ctx, const struct workload *workload, const struct trace **ret,
		struct err *err);

/* How reading it went; it has been opened. */
const struct trace_report *traces_report(const struct traces *traces, const struct trace *trace);

/* What reading them noticed: bad lines, order, readings that were chosen. A line each. */
void traces_remarks(const struct traces *traces, struct text *ret);

/* What is in it, in sentences: counts, bytes, targets, alignment, what reading noticed. */
void traces_text(const struct trace *trace, const struct trace_report *report, struct text *ret);
void traces_json(const struct trace *trace, const struct trace_report *report, struct text *ret);
