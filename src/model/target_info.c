/* SPDX-License-Identifier: MIT */
#include "model/target_info.h"

#include <assert.h>

#include "base/defer.h"

static const char *const names[] = {
	[TARGET_NULL] = "null",	  [TARGET_DIRECTORY] = "directory", [TARGET_FILE] = "file",
	[TARGET_BLOCK] = "block", [TARGET_CHAR] = "char",	    [TARGET_SIM] = "sim",
};

const char *target_kind_name(enum target_kind kind)
{
	assert((unsigned)kind < ARRAY_COUNT(names));
	return names[kind];
}
