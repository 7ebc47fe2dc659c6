/* SPDX-License-Identifier: MIT */
#pragma once

/* fio_output - runs what came from fio's job files and prints and writes what fio would. */

#include "cli/cli.h"
#include "cli/traces.h"
#include "model/fio_labels.h"

/*
 * Formats and logs as the labels say. A log that is there is written anew where it holds a log,
 * else refused before anything is run; one of write_iolog goes on where it ends, as fio's.
 * Returns an enum exit_code.
 */
struct fio_job_run {
	const struct plan *plan;
	const struct fio_labels *labels;
	struct traces *traces;		/* those that the plan replays, as far as they are read */
};
int fio_output_run(const struct invocation *inv, const struct fio_job_run *what);
