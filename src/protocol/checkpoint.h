/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * checkpoint - the finished cells of a protocol in a file, one JSON object to a line, each
 * synced before the next begins: what SIGKILL and a power cut cannot take. The first line says
 * what it is a checkpoint of, and by which version; a resume by anything else is refused.
 *
 * Ownership:	open returns an owned handle; close frees it and takes NULL; remove also takes
 *		the file away.
 */

#include "protocol/protocol.h"

struct checkpoint;

/*
 * identity: one line of text, in pieces separated by ", ", that must be the same again.
 * -ENOENT when there is nothing to resume; -ESTALE when it is of another run or version, or
 * not readable: the file stays as it is.
 */
int checkpoint_open(struct checkpoint **ret, const char *path, const char *identity, bool resume,
		    struct err *err);
void checkpoint_close(struct checkpoint *checkpoint);
void checkpoint_remove(struct checkpoint *checkpoint);

/*
 * The next finished cell, when there is one: true with *ret. A cell of another name than the
 * procedure asks for means another version of it: -ESTALE in *ret_error.
 */
bool checkpoint_take(struct checkpoint *checkpoint, const char *name, struct protocol_cell *ret,
		     int *ret_error, struct err *err);
int checkpoint_add(struct checkpoint *checkpoint, const struct protocol_cell *cell,
		   struct err *err);
int checkpoint_anchor(struct checkpoint *checkpoint, struct err *err);

/*
 * Whether the next cell is the first after a resume, this one's or an earlier one's: the drive
 * rested before it for nobody knows how long.
 */
bool checkpoint_has_gap(const struct checkpoint *checkpoint);
