/* SPDX-License-Identifier: MIT */
#pragma once

/* devices - target_list_devices of a recorded machine (root as in stack.h). */

#include "target/target.h"

int devices_list(const char *root, struct target_device **ret, size_t *ret_count, struct err *err);
