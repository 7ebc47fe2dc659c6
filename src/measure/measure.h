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
	struct measure_observer observer;
};

/*
 * 0 (also when ended early: see result), or a negative errno when nothing was run. ret is
 * initialised by the call and the caller's to give back with result_done in either case.
 */
int measure_plan(const struct plan *plan, const struct measure_options *options,
		 struct result *ret, struct err *err);

/*
 * The same in pieces, for procedures that decide as they go. The plan given to measure_open is
 * what may be asked at most: its phases say whether the target is written, and how large it must
 * be; none of them is run. It and the options outlive the session; ret is initialised by
 * measure_open, as by measure_plan, and is whole after measure_close.
 *
 * measure_phase runs one phase, a step of the state as well: *ret grows by a measurement or a
 * step_result. 0 also when the phase was interrupted or ended early by an error: look at
 * ret->interrupted and ret->error_code. A negative errno when the phase could not be done.
 */
struct measure_session;
int measure_open(struct measure_session **session, const struct plan *plan,
		 const struct measure_options *options, struct result *ret, struct err *err);
int measure_phase(struct measure_session *session, const struct phase *phase, struct err *err);
/* The open target's description; borrowed. */
const struct target_info *measure_target(const struct measure_session *session);
/* The clock of the session: virtual for the reference drive. */
const struct clock *measure_clock(const struct measure_session *session);
/* Audits what was measured and closes the target; accepts NULL. */
void measure_close(struct measure_session *session);

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
