/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * measure - workload x target x state -> result, with the audit. Runs a plan: opens the
 * target through the gate, lays the test file out in full before any read, runs each phase,
 * classifies its series, and adds the findings of audit.h.
 *
 * The result is valid whatever happens: an error or an interruption leaves what was
 * measured so far, with interrupted or error_text set. Nothing of tare's is left behind.
 */

#include <signal.h>

#include "base/clock.h"
#include "base/err.h"
#include "engine/engine.h"
#include "model/plan.h"
#include "model/result.h"

struct recording;	/* model/recording.h */
struct trace;		/* model/trace.h */

struct measure_observer {
	void *ctx;
	/*
	 * Any may be NULL. index counts from 0 over count phases; name "layout" precedes them,
	 * "idle" names an idle phase.
	 */
	void (*target)(void *ctx, const struct target_info *info);
	void (*begin)(void *ctx, const char *name, size_t index, size_t count);
	void (*progress)(void *ctx, const struct engine_progress *progress);
	void (*end)(void *ctx, const struct measurement *m);	/* NULL for layout and idle */
};

struct measure_options {
	const volatile sig_atomic_t *stop;
	const char *erase_serial;	/* consent, as struct target_request */
	const char *expendable_path;
	uint64_t test_file_bytes;	/* 0 = what the phases name, else sensible */
	/* The test file ends where layout got by then; 0 = as long as it takes. */
	uint64_t layout_ns_max;
	const char *command;		/* for the result */
	const char *ledger_directory;	/* of the drive's history: "" = the usual, NULL = none kept */
	/* After each phase of a plan that was done whole, for checkpoints; or NULL. */
	void (*phase_done)(void *ctx, size_t index);
	void *phase_done_ctx;
	/*
	 * The trace that a workload names, borrowed and the same each time: read before anything is
	 * opened, and once more when its turn comes. NULL: such workloads are refused.
	 */
	int (*trace_open)(void *ctx, const struct workload *workload, const struct trace **ret,
			  struct err *err);
	void *trace_ctx;
	struct recording *recording;	/* takes what each request did; or NULL */
	struct measure_observer observer;
};

/*
 * 0 (also when ended early: see result), or a negative errno when nothing was run. ret is
 * initialised by the call and the caller's to give back with result_done in either case.
 */
int measure_plan(const struct plan *plan, const struct measure_options *options,
		 struct result *ret, struct err *err);

/*
 * The plan of `tare check`: the nine rows, reads before the writes that disturb them; the
 * four read rows alone for what may not be written. Layout and rows together take about 60 s,
 * --quick 15 s, --long 5 min: pass measure_check_layout_ns as layout_ns_max.
 */
enum check_length { CHECK_QUICK, CHECK_NORMAL, CHECK_LONG };
int measure_check_plan(struct plan *ret, const char *target, enum check_length length,
		       bool reads_only, struct err *err);
uint64_t measure_check_layout_ns(enum check_length length);

/* What the instrument itself can do here, for `tare doctor` and the generator-bound finding. */
struct ceiling {
	double null_iops_q1, null_iops_q32;	/* engine on the null target, one worker */
	double clock_ns;			/* one reading of the clock */
	double fill_ns_per_4k, check_ns_per_4k, memcpy_ns_per_4k;
};
int measure_ceiling(struct ceiling *ret, struct err *err);
