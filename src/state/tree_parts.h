/* SPDX-License-Identifier: MIT */
#pragma once

/* tree_parts - the inside of a tree, for the files that do something to it. */

#include <sys/types.h>

#include "base/random.h"
#include "state/tree.h"
#include "state/tree_place.h"

#define TREE_GONE (1ull << 63)		/* in a size: the file is not there */
#define TREE_PATH_BYTES 320		/* 16 levels of 17 characters, and the set */
#define TREE_NAME_BYTES 24

struct tree_set {
	uint32_t number;
	struct tree_shape shape;
	uint64_t *sizes;		/* by file; TREE_GONE */
	uint64_t file_count, leaf_count, fan_count;
	/* Of a copied tree, whose files have names of their own, below the private directory. */
	char **names;
};

struct tree {
	struct tree_place place;
	dev_t device;			/* of the directory, lest it be copied into itself */
	ino_t inode;
	struct tree_options options;
	uint32_t thread_count, next_number;
	struct tree_set *sets;
	size_t set_count;
	unsigned char *pool;		/* incompressible data, twice in a row */
};

struct tree_write {
	uint64_t offset_bytes, bytes;
	struct random *random;
};

/* An empty one at the end of the tree's list. */
struct tree_set *tree_add_set(struct tree *tree);
void tree_set_done(struct tree_set *set);
/* Files of a leaf are first .. end - 1; those of a copied tree are dealt out in runs. */
uint64_t tree_leaf_first(const struct tree_set *set, uint64_t leaf);
uint64_t tree_leaf_end(const struct tree_set *set, uint64_t leaf);
/* The directory to name the leaf's files in, by tree_file_name; -errno when it is not there. */
int tree_open_leaf(const struct tree *tree, const struct tree_set *set, uint64_t leaf);

void tree_leaf_path(const struct tree_set *set, uint64_t leaf, char path[TREE_PATH_BYTES]);
/* Returns the name: in room, or one the set keeps. */
const char *tree_file_name(const struct tree_set *set, uint64_t index, char room[TREE_NAME_BYTES]);
int tree_write_data(const struct tree *tree, int fd, const struct tree_write *write,
		    struct err *err);
int tree_make_file(const struct tree *tree, int directory_fd, const char *name,
		   const struct tree_write *write, struct err *err);
