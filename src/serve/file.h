/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * file - a live drive as one file, "drive", in a directory: a FUSE low-level server. Its
 * threads take requests and hand them to the drive; the timer answers them, in whatever
 * order the drive finishes them.
 *
 * Life cycle:	open (mounted, answering) -> close (answers what it has, unmounts)
 * Ownership:	live is borrowed; close takes NULL.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct live;
struct file;

#define FILE_NAME "drive"

struct file_options {
	struct live *live;
	const char *directory;	/* absolute, empty */
	/*
	 * Discards and zeroings are answered at once, their time being charged to the drive:
	 * the loop driver's only worker waits for them, and so would every other request.
	 */
	bool trims_at_once;
};

int file_open(struct file **ret, const struct file_options *options, struct err *err);
void file_close(struct file *file);
/* False when someone unmounted it. */
bool file_is_mounted(const struct file *file);
/* Its timer thread was allowed SCHED_FIFO. */
bool file_is_real_time(const struct file *file);

/*
 * Rehearsal: reads take a fixed time instead of the drive's, which sees nothing of them;
 * so that the path's own time can be told.
 */
#define REHEARSE_OFF UINT64_MAX
void file_rehearse(struct file *file, uint64_t read_ns, uint64_t deducted_ns);
