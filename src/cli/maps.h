/* SPDX-License-Identifier: MIT */
#pragma once

/* maps - what targets of another machine are here: --map NAME=PATH, once for each. */

#include "cli/cli.h"

extern const struct field map_fields[];	/* to be named in verb.tables */

struct name_map {
	char name[256];
	const char *path;	/* borrowed from argv */
};

/* Those of the command line into ret[FOREIGN_MAPS]; how many. */
size_t maps_split(const struct invocation *inv, struct name_map *ret);
