/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * completion - a script for a shell, from the tables the parser reads. Device names are
 * looked up in /sys/block when the user presses the key.
 */

#include "base/text.h"

struct completion_shell {
	const char *name;	/* "bash" */
	void (*print)(struct text *ret);
};
extern const struct completion_shell completion_shells[];	/* name NULL ends */
