/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "state/work.h"

/*
 * FITRIM on the file system of the directory target; what it says it covered goes into
 * *ret_covered (a maximum on ext4, the range on XFS: see the counters for what was sent).
 * -EPERM without the right, -EOPNOTSUPP where the file system cannot.
 */
int trim_file_system(struct work *work, uint64_t *ret_covered, struct err *err);
