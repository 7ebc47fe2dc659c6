/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * action - a step as a table of named actions. The runner does them in order; when one fails,
 * those done before are undone backwards, and the sentence names the one that failed.
 *
 * Resumable: a table may be entered at any action, those before it being done already; done is
 * called after each so that a caller can note how far it got.
 */

#include <stddef.h>

#include "base/err.h"

struct action {
	const char *name;			/* "write the range"; NULL ends the table */
	int (*run)(void *ctx, struct err *err);
	void (*undo)(void *ctx);		/* NULL = nothing to undo */
};

struct action_run {
	const struct action *actions;
	void *ctx;				/* of run and undo */
	size_t first;				/* 0, or the first one not done yet */
	void (*done)(void *done_ctx, size_t index, const struct action *action);	/* or NULL */
	void *done_ctx;
};

/* 0, or what the failing action returned, which is negative. */
int actions_run(const struct action_run *run, struct err *err);
