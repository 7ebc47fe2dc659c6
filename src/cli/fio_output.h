/* SPDX-License-Identifier: MIT */
#pragma once

/* fio_output - runs what came from fio's job files and prints and writes what fio would. */

#include "cli/cli.h"
#include "model/fio_labels.h"

/*
 * Formats and logs as the labels say. A log that is there is written anew where it holds a log,
 * else refused before anything is run. Returns an enum exit_code.
 */
int fio_output_run(const struct invocation *inv, const struct plan *plan,
		   const struct fio_labels *labels);
