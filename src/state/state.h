/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * state - what a drive is put through: purge, fill, dirty, delete, trim, settle, rest
 * (model/step.h). Each step is a table of named actions with their undo (action.h), run on an
 * open target; the result says what it did in bytes and time, and by which method.
 *
 *	state_open(&state, &options, &err);
 *	state_step(state, &step, &done, &err);		// as often as wanted
 *	state_close(state);
 *
 * Works on every kind of target that can be written:
 *	directory	fill, random writes, purge on the test file; files and aging in a private
 *			directory ".tare-..." beside it; trim is FITRIM where the file system
 *			lets us, hole punching of the test file besides
 *	file		fill, random writes, purge and trim (by hole punching)
 *	block		all but aging; "files" are extents placed as a file system would place
 *			them, since there is none
 *	sim		as block, in virtual time, deterministic
 *	null, char	-EOPNOTSUPP
 *
 * Nothing is checked here that target_open checks: a target not opened with writes is refused
 * with -EPERM by every step that writes.
 *
 * Threads:	one at a time; steps start threads of their own and end them.
 * Ownership:	the target is borrowed and outlives the state. state_close removes every file that
 *		dirtying left; after SIGKILL state_reap does (the private directory is noted
 *		before it is made, in the notes of target/testfile.h).
 */

#include <signal.h>
#include <stdbool.h>

#include "engine/engine.h"
#include "model/result.h"
#include "model/step.h"
#include "target/target.h"

struct state;

struct state_options {
	struct target *target;
	const struct clock *clock;
	const volatile sig_atomic_t *stop;	/* raised: end soon; the step says interrupted; or NULL */
	uint64_t seed;			/* of steps that name none; 0 = drawn, 1 in virtual time */
	const char *notes;		/* directory of the notes; NULL = the usual one */
	/* From the calling thread, about each 250 ms of real time (never in virtual time); or NULL. */
	void (*progress)(void *ctx, const struct engine_progress *progress);
	void *progress_ctx;
};

int state_open(struct state **ret, const struct state_options *options, struct err *err);
void state_close(struct state *state);	/* accepts NULL */

/*
 * Does one step. 0 with *ret filled, also when *stop ended it (ret->interrupted) or when what was
 * to be reached was not (ret->reached false: a result, not an error). A negative errno when it
 * failed or cannot be done here; what it had done until then is in *ret all the same:
 *	-EOPNOTSUPP	the target has no such thing
 *	-EPERM		not opened for writing, or the kernel does not let us
 *	-ENOSPC		no room for the files
 *	others		from the kernel
 */
int state_step(struct state *state, const struct step *step, struct step_result *ret,
	       struct err *err);

/* Which of a directory, file, block or sim target the step would work on: 0 or -EOPNOTSUPP. */
int state_step_possible(const struct target_info *info, const struct step *step, struct err *err);

/* Bytes the step will write and discard here, as far as known before: for forecasts. */
struct state_forecast {
	uint64_t write_bytes, discard_bytes, rest_ns;
};
void state_forecast(const struct target_info *info, const struct step *step,
		    struct state_forecast *ret);

/* Private directories of killed runs, removed: how many. Also what testfile_reap removes. */
int state_reap(const char *notes);	/* NULL = the usual directory */
