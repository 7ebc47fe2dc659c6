/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * sorter - any number of records of one size in the order of one of their members, in constant
 * memory: runs in an unnamed file, merged at the end. Stable. What comes in order already is
 * written once and not merged.
 *
 *	sorter_new -> sorter_add... -> sorter_finish -> an unnamed file -> sorter_free
 *
 * The files lie in $TMPDIR, else /tmp, and have no name, so that nothing is left behind.
 *
 * Ownership: new returns an owned handle; free accepts NULL and half of one. Not for several
 * threads at once.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sorter;

/* The key is a uint64_t at key_offset of each record. */
int sorter_new(struct sorter **ret, size_t record_bytes, size_t key_offset, struct err *err);
void sorter_free(struct sorter *sorter);
int sorter_add(struct sorter *sorter, const void *record, struct err *err);
/* The file of all records in order, the caller's to close, and how many there are. */
int sorter_finish(struct sorter *sorter, int *ret_fd, uint64_t *ret_count, struct err *err);

/* An unnamed file as above: a descriptor, or a negative errno with the sentence. */
int sorter_file(struct err *err);

/*
 * cursor - such a file read from front to back, a window at a time: one pread for many records.
 * cursor_next is NULL at the end, or when reading failed: then cursor.code is a negative errno.
 */
struct cursor {
	int fd;				/* borrowed */
	size_t record_bytes;
	uint64_t next, end;		/* records: the first not in the window, and the last + 1 */
	char *window;			/* owned */
	size_t room, at, count;		/* of the window, in records */
	size_t shift;			/* records by which windows begin early: no two cursors at once */
	int code;
};

int cursor_init(struct cursor *cursor, int fd, size_t record_bytes, uint64_t count,
		struct err *err);
void cursor_done(struct cursor *cursor);	/* accepts a zeroed one */
const void *cursor_refill(struct cursor *cursor);

static inline const void *cursor_peek(struct cursor *cursor)
{
	if (cursor->at == cursor->count)
		return cursor_refill(cursor);
	return cursor->window + cursor->at * cursor->record_bytes;
}

static inline const void *cursor_next(struct cursor *cursor)
{
	const void *record = cursor_peek(cursor);

	cursor->at += record != NULL;
	return record;
}
