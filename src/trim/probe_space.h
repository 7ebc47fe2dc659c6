/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * space - what was allocated for us below, before and after: the blocks of a loop device's
 * backing file, what a thin volume has mapped, the blocks of the test file itself. It shows an
 * effect where reads prove nothing, and is no proof against one: snapshots hold on to blocks.
 */

#include "model/trim.h"

enum space_kind { SPACE_BACKING, SPACE_THIN, SPACE_FILE };

#define SPACE_ITEMS 8

struct space_item {
	enum space_kind kind;
	char layer[64];
	uint64_t before_bytes;
};

struct space {
	uint32_t count;
	struct space_item items[SPACE_ITEMS];
};

/* Of every layer that can tell; file_fd: the test file's own blocks, -1 = they say nothing. */
void space_begin(struct space *ret, const struct trim_report *report, int file_fd);

/* Adds evidence for each, and fills space_freed. asked_bytes: what should be free now. */
void space_end(const struct space *before, struct trim_report *report, int file_fd,
	       uint64_t asked_bytes);
