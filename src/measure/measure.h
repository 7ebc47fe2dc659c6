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
	/* Any may be NULL. index counts from 0 over count phases; name "layout" precedes them. */
	void (*target)(void *ctx, const struct target_info *info);
	void (*begin)(void *ctx, const char *name, size_t index, size_t count);
	void (*progress)(void *ctx, const struct engine_progress *progress);
	void (*end)(void *ctx, const struct measurement *m);	/* NULL for the layout */
};

struct measure_options {
	const volatile sig_atomic_t *stop;
	const char *erase_serial;	/* consent, as struct target_request */
	const char *expendable_path;
	uint64_t test_file_bytes;	/* 0 = sensible */
	const char *command;		/* for the result */
	struct measure_observer observer;
};

/* 0 (also when ended early: see result), or a negative errno when nothing was run. */
int measure_plan(const struct plan *plan, const struct measure_options *options,
		 struct result *ret, struct err *err);

/*
 * The plan of `tare check`: layout, then the nine rows. duration_ns is for the whole (about
 * 60 s; --quick 15 s; --long 5 min). reads_only for a device without consent.
 */
enum check_length { CHECK_QUICK, CHECK_NORMAL, CHECK_LONG };
int measure_check_plan(struct plan *ret, const char *target, enum check_length length,
		       bool reads_only, struct err *err);

/* What the instrument itself can do here, for `tare doctor` and the generator-bound finding. */
struct ceiling {
	double null_iops_q1, null_iops_q32;	/* engine on the null target, one worker */
	double clock_ns;			/* one reading of the clock */
	double fill_ns_per_4k, check_ns_per_4k, memcpy_ns_per_4k;
};
int measure_ceiling(struct ceiling *ret, struct err *err);
