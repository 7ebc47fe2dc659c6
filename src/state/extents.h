/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * extents - "files" on a bare drive: where a file system would put them, and which space is
 * free. A file gets one run that holds it whole where there is one near the cursor, else the
 * free pieces that come next (next fit). Space is kept in blocks of 4 KiB. No metadata is
 * modelled, and files are written one after the other.
 */

#include <stdint.h>

#include "base/err.h"
#include "base/random.h"

struct span;
struct extents;

#define EXTENT_BLOCK_BYTES 4096u

int extents_new(struct extents **ret, const struct span *range, struct err *err);
void extents_free(struct extents *extents);	/* accepts NULL */

uint64_t extents_free_bytes(const struct extents *extents);
uint64_t extents_file_count(const struct extents *extents);
uint64_t extents_piece_count(const struct extents *extents);	/* of all files */

/*
 * A new file; each of its pieces is handed to each, in order. -ENOSPC, with nothing taken, when
 * there is no room. What each returns, if negative, is returned; the file stays.
 */
int extents_make(struct extents *extents, uint64_t bytes,
		 int (*each)(void *ctx, const struct span *span, struct err *err), void *ctx,
		 struct err *err);

/* Deletes so many files, drawn at random; their space is free. */
void extents_delete(struct extents *extents, uint64_t count, struct random *random);

/* Every free run, in the order of addresses. */
int extents_each_free(const struct extents *extents,
		      int (*each)(void *ctx, const struct span *span, struct err *err), void *ctx,
		      struct err *err);
