/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * registry - which drives are served, one file each, so that what a killed server leaves
 * can be found. An entry names its process by pid and start time (a pid alone is reused)
 * and is written before the thing it names exists.
 *
 * The directory: $TARE_RUNTIME_DIR (for tests, which must not clean for each other), else
 * /run/tare for root, else $XDG_RUNTIME_DIR/tare, else /tmp/tare-UID; made when needed, mode
 * 0700, and refused when it is someone else's.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct registry_entry {
	pid_t pid;
	uint64_t start_ticks;		/* field 22 of /proc/PID/stat */
	char directory[4096];		/* where the file is mounted */
	bool made_directory;		/* remove it in the end */
	int loop;			/* number of the loop device, -1 for none */
};

/* Fills pid and start_ticks for this process. */
void registry_entry_init(struct registry_entry *entry);
/* Writes or replaces the entry of its pid; whole or not at all. */
int registry_write(const struct registry_entry *entry, struct err *err);
void registry_remove(const struct registry_entry *entry);
bool registry_is_running(const struct registry_entry *entry);

/* Calls each for every entry that can be read; stops and returns when it returns < 0. */
int registry_each(int (*each)(void *ctx, const struct registry_entry *entry), void *ctx,
		  struct err *err);

/* "tare-sim-1234", the mount's source. */
#define REGISTRY_SOURCE_BYTES 32
void registry_source(const struct registry_entry *entry, char ret[REGISTRY_SOURCE_BYTES]);
