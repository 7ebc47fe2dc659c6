/* SPDX-License-Identifier: MIT */
#pragma once

/* tree_place - the private directory itself: noted, made, emptied, removed. See tree.h. */

#include "base/err.h"

struct tree_place {
	int fd;				/* of the directory; -1 = none */
	int note_fd;			/* locked while we live */
	char tag[33];
	char path[4096], note_path[4096];
};

int tree_place_open(struct tree_place *ret, const char *directory, const char *notes,
		    struct err *err);
/* Removes the directory with all in it; the note goes with it. Accepts one with fd -1. */
void tree_place_close(struct tree_place *place);

/*
 * Removes name below directory_fd and all in it, following nothing out of it: 0, or a negative
 * errno with part of it left.
 */
int tree_place_remove(int directory_fd, const char *name);
