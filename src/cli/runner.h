/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * runner - runs a plan for `check`, `run` and others: signals, progress, traces, recording
 * (--record), result, exit code.
 */

#include "cli/cli.h"

struct recording;	/* model/recording.h */
struct traces;

struct runner {
	const struct plan *plan;
	uint64_t test_file_bytes;	/* as measure_options */
	uint64_t layout_ns_max;
	bool full;			/* report every measurement in full */
	void (*phase_done)(void *ctx, size_t index);	/* as measure_options */
	void *phase_done_ctx;
	/* In place of tare's own report, unless --json asks for it; or NULL. */
	void (*report)(void *ctx, const struct result *result, struct text *ret);
	void *report_ctx;
	bool is_own_report;	/* it prints tare's own, also the JSON: with the header, and called always */
	/* With what was run, whatever was printed of it; ctx is report_ctx. Or NULL. */
	void (*done)(void *ctx, const struct result *result);
	/* What is not done to the letter: findings of this code; without note_count none. */
	const char *note_code;
	char *const *notes;	/* sentences, borrowed */
	size_t note_count;
	struct recording *recording;	/* takes what each request did; or NULL */
	struct traces *traces;		/* of the plan, read already; NULL: read when needed */
};

/* Removes what killed runs left, runs and prints; returns an enum exit_code. */
int runner_run(const struct invocation *inv, const struct runner *runner);
