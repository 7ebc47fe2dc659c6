/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * calibrate - what the path between a served drive and its user costs, measured where the
 * user stands: 4 KiB O_DIRECT reads, one at a time, of the file or the loop device; the
 * quietest of several rounds.
 */

#include <stdint.h>

#include "base/err.h"

struct file;

struct calibration {
	uint64_t floor_ns;		/* median read of a drive that takes no time */
	uint64_t overhead_ns;		/* median read of one that takes 100 us, less those */
	int64_t residual_ns_p50;	/* the same with the overhead deducted */
	int64_t residual_ns_p99;
};

/* About a tenth of a second on a quiet machine. The drive sees none of it. */
int calibrate(struct calibration *ret, struct file *file, const char *path, struct err *err);
