/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * keep - where what was broken off is kept until it goes on: a file in the data directory
 * (paths_state "checkpoints") for each procedure and place. A place is known again after a
 * reboot: a drive goes by its model and serial number, not by the name the kernel gave it.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/target_info.h"

/*
 * One line of text that names the place: "MODEL SERIAL" of a drive, with "from BYTES" of a
 * partition and the names of what lies between (dm's, md's); the file behind a loop device;
 * where there is no serial number the kernel's name; of all that is no block device the
 * resolved path.
 */
void keep_place(const char *target, char *ret, size_t ret_bytes);
/* The same of a block device that stack_describe has described. */
void keep_place_of_device(const struct target_info *info, char *ret, size_t ret_bytes);

/* Makes the directory and names the file: "NAME-HASH" with what follows. 0 or a negative errno. */
int keep_path(const char *name, const char *target, const char *suffix, char ret[4096],
	      struct err *err);

uint64_t keep_hash(const char *text);
