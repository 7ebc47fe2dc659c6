/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * exit - what the exit status says. `tare help exit-codes`, the manual and the "code" of a
 * JSON error come from exit_infos.
 */

#include "base/err.h"
#include "model/result.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_VERDICT = 1,	/* finished; a threshold, verdict or verification failed */
	EXIT_USAGE = 2,		/* wrong usage or configuration; nothing was run */
	EXIT_REFUSED = 3,	/* the target: mounted, busy, too small, no permission */
	EXIT_IO = 4,		/* I/O error during the run */
	EXIT_HOST = 5,		/* a host of several failed */
	EXIT_INTERNAL = 6,
	EXIT_UNSAFE = 7,	/* device: probe aborted, dangerous, data lost */
	EXIT_SPACE = 8,		/* no space left; everything of ours removed */
	EXIT_INTERRUPTED = 130,	/* partial result printed */
};

struct exit_info {
	int code;
	const char *name;	/* "usage": the code of a JSON error */
	const char *help;
};
extern const struct exit_info exit_infos[];	/* name NULL ends */

const char *exit_name(int code);

/* For an errno of target_open or measure_plan, when nothing was run. */
int exit_of_refusal(int err_code);

/* For a result: interrupted, ended by an error, data that did not verify, or done. */
int exit_of_result(const struct result *result);
