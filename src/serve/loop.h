/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * loop - a block device on top of a file, and what it takes to get rid of one. The device is
 * always a new one (LOOP_CTL_ADD) and is removed whole: a loop device that once refused a
 * discard has a discard limit of 0 that outlives detaching.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define LOOP_PATH_BYTES 32

void loop_path(int number, char ret[LOOP_PATH_BYTES]);	/* "/dev/loop3" */

/*
 * Attaches file to a new device with direct I/O; its number in *ret. discards false: the
 * file refuses them, and the device is made to say so from the start (it would advertise
 * them until the first, and let that one pass as a success).
 */
int loop_attach(int *ret, const char *file, uint32_t block_bytes, bool discards,
		struct err *err);

/* Is there this loop device, attached to this file or, any more, to none? */
bool loop_is_of(int number, const char *file);

struct loop_observer {
	void *ctx;
	void (*note)(void *ctx, const char *text);	/* may be NULL */
};

/*
 * Unmounts what is mounted from the device, in every mount namespace (one that was unshared
 * while it was mounted keeps its own copy and so the device), detaches and removes it.
 * -EBUSY with who holds it when it can't be removed within two seconds; it goes with its
 * last user then.
 */
int loop_remove(int number, const struct loop_observer *observer, struct err *err);
