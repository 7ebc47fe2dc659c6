/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * kinds - what the kinds of target share among themselves; nobody outside target/ needs it.
 */

#include <sys/stat.h>

#include "target/target.h"

extern const struct target_ops target_null;
extern const struct target_ops target_directory;
extern const struct target_ops target_file;
extern const struct target_ops target_block;
extern const struct target_ops target_char;
extern const struct target_ops target_sim;
extern const struct target_ops target_join;

extern const struct queue_ops null_queue_ops;

/*
 * Opens what path_fd (O_PATH) stands for, by descriptor: no name is looked up again. Never
 * creates or truncates. Returns the descriptor or a negative errno.
 */
int target_reopen(int path_fd, int flags);

/* O_RDONLY or O_RDWR with the request's sync flags; O_DIRECT comes by target_set_direct. */
int target_flags(const struct target_request *request, bool writable);

/*
 * Turns O_DIRECT and O_NOATIME on as the request asks; what the file system or our rights do
 * not allow stays off. Fills info.direct and the alignment that direct I/O needs.
 */
void target_set_direct(struct target *target, const struct target_request *request);

/* parts.c: targets of several files. -EINVAL for more of them, or stripes, than can be. */
int target_check_parts(const struct target_request *request, uint32_t count, struct err *err);
/* Zeroed parts, their descriptors -1. */
int target_make_parts(struct target *target, uint32_t count, struct err *err);
/* The descriptors are another's to close. */
void target_forget_fds(struct target *target);

/*
 * The items of "a:b", where "\\:" is a ':' in an item: the next one of *list into item, *list
 * moved past it. False when there is none.
 */
bool target_next_item(const char **list, char *item, size_t item_bytes);

/* The file system and the devices below an opened file. Best effort. */
void target_describe_place(struct target *target);

/* -EFBIG when the target is empty or smaller than the request needs. */
int target_check_size(const struct target *target, const struct target_request *request,
		      struct err *err);
