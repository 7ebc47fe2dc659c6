/* SPDX-License-Identifier: MIT */
#pragma once

/* paths - where tare keeps what outlives a run, and directories made whole. */

#include <stddef.h>

/*
 * Root's /var/lib/tare/NAME, else $XDG_STATE_HOME/tare/NAME (~/.local/state): 0, -ENOENT when
 * neither XDG_STATE_HOME nor HOME is set, -ENAMETOOLONG. Makes nothing.
 */
int paths_state(char *path, size_t path_bytes, const char *name);

/* The directory and those above it, with mode 0700, as far as they are not there. */
int paths_make(const char *path);

/* The directory a file lies in, on the drive: its name is there after a power cut. */
int paths_sync_parent(const char *path);
