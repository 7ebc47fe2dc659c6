/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * testfile - a file of ours that no death of the process leaves behind: without a name
 * (O_TMPFILE), or with a name removed before the first byte, or, where a file system
 * can do neither, with a name that was written down first, so that the next start reaps it.
 *
 * The note ("manifest") is a file in root's /var/lib/tare/leftovers, else
 * $XDG_STATE_HOME/tare/leftovers (~/.local/state). Its maker holds a lock on it while alive.
 * The file is removed only if inode, size and the tag in its name are as noted.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define TESTFILE_MIN_BYTES (256ull << 20)

enum testfile_way {
	TESTFILE_UNNAMED = 1,
	TESTFILE_UNLINKED = 2,
	TESTFILE_NOTED = 4,
	TESTFILE_ANY = 7,
};

struct testfile {
	int fd;			/* open for reading and writing; -1 = none */
	enum testfile_way way;	/* that worked */
	int note_fd;		/* locked while we live; -1 without a note */
	char tag[33];		/* of the name, 128 random bits */
	char path[4096], note_path[4096];
};

/* What the file system gives, for testfile_size. */
struct testfile_room {
	uint64_t total_bytes, free_bytes;	/* free for us, not for root alone */
	uint64_t file_max_bytes;		/* largest file here; UINT64_MAX = no limit known */
};

/*
 * How large the file may be. asked 0: min(8 GiB, 10 % of free), or need where that is more.
 * A reserve of 5 % of the file system or 1 GiB, whichever is less, stays free. -ENOSPC
 * with the figures when there is no room, also for less than 256 MiB when nothing was asked.
 */
int testfile_size(const struct testfile_room *room, uint64_t asked_bytes, uint64_t need_bytes,
		  uint64_t *ret, struct err *err);

/* Where to make it, and how to open it. */
struct testfile_place {
	int directory_fd;	/* O_PATH is enough; borrowed */
	const char *directory;	/* its resolved path, for the note */
	int flags;		/* O_DSYNC, O_SYNC or 0 */
	const char *notes; /* directory for the note; NULL = as testfile_notes_directory says */
};

/* Tries the ways given in their order. On failure nothing is left and *ret is untouched. */
int testfile_create(struct testfile *ret, const struct testfile_place *place, unsigned int ways,
		    struct err *err);
/* Gives it its size (a hole), noted before it is given. */
int testfile_extend(struct testfile *file, uint64_t size_bytes, struct err *err);
/* Closes and removes. */
void testfile_done(struct testfile *file);

/* Removes what killed runs left, by the notes in the directory: how many. */
int testfile_reap(const char *notes_directory);
/* Where the notes are kept: 0, or -ENOENT when neither XDG_STATE_HOME nor HOME is set. */
int testfile_notes_directory(char *path, size_t path_bytes);
