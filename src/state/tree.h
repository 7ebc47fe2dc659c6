/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * tree - files by the hundred thousand in a private directory of ours, made and deleted at the
 * file system's speed: everything relative to open directories, one write per file where it
 * fits, no sync per file, data from a pool that is filled once, directories shared out to
 * threads whole, so that no two meet in one.
 *
 * The directory ".tare-<tag>" is noted before it is made and removed by tree_close, by
 * tree_reap after a death. What is removed must be a directory of our own user with the noted
 * inode and device and the tag in its name; nothing is followed out of it, neither links nor
 * mounts.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/step.h"
#include "state/profile.h"

struct tree;

struct tree_options {
	const char *directory;		/* the private one is made in it */
	const char *notes;		/* NULL = the usual place */
	uint32_t thread_count;		/* 0 = crew_default_count: more did not help where tried */
	const volatile sig_atomic_t *stop;	/* or NULL */
	void (*progress)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);	/* or NULL */
	void *progress_ctx;
};

int tree_open(struct tree **ret, const struct tree_options *options, struct err *err);
/* For what comes; the directory stays where it is. */
void tree_set_options(struct tree *tree, const struct tree_options *options);
/* Removes all that is left, even when *stop is raised; accepts NULL. */
void tree_close(struct tree *tree);

/* Free bytes and files of its file system, now. */
int tree_room(const struct tree *tree, uint64_t *ret_bytes, uint64_t *ret_files, struct err *err);

/* How a set lies in directories. */
struct tree_shape {
	uint32_t per_directory_count, deep_count;
};

struct tree_tally {
	uint64_t file_count, bytes, skipped_count;	/* skipped: neither file nor directory */
};

/*
 * Makes a set of files of these sizes (sizes is taken over), or copies a tree. What was made
 * before an error or *stop stays, and is in the tally.
 */
int tree_make(struct tree *tree, const struct tree_shape *shape, uint64_t *sizes, uint64_t count,
	      struct tree_tally *tally, struct err *err);
int tree_copy(struct tree *tree, const char *from, struct tree_tally *tally, struct err *err);

/* Of all sets: each file with this probability (PPM = all), in random order. */
int tree_delete(struct tree *tree, uint32_t ppm, uint64_t seed, struct tree_tally *tally,
		struct err *err);

/* Until the files are on the drive. */
int tree_sync(struct tree *tree, struct err *err);

/* Files alive, and the mean number of extents (FIEMAP) of up to 1,000 of them; 0 = not known. */
uint64_t tree_file_count(const struct tree *tree);
double tree_extents_per_file(struct tree *tree);

/*
 * Ages: files of all sets in turn until so many bytes are written. A third is deleted and made
 * anew at the size of another, a third is written over from some place on, a third is cut to
 * half and written to its end again. A full file system is no error: the file stays away.
 */
int tree_churn(struct tree *tree, uint64_t bytes, uint64_t seed, struct tree_tally *tally,
	       struct err *err);

/* Private directories of the dead, by the notes: how many were removed. */
int tree_reap(const char *notes);

/* Bytes a dirty step writes with so much free. */
uint64_t tree_forecast_bytes(const struct step_dirty *dirty, uint64_t free_bytes);
