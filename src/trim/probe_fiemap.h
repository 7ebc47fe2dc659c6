/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fiemap - where the file system has put a file, in its own addresses. Extents that do not say
 * where the bytes are, or that do not belong to the file alone, are refused: a discard could not
 * be seen there, or would not be ours.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct file_extent {
	uint64_t file_bytes, physical_bytes, length_bytes;
};

struct file_extents {
	struct file_extent *list; /* by file_bytes; the caller's to free */
	size_t count;
};

/*
 * All of the file, its data synced first. -ENOTSUP with the kind of the first extent refused;
 * others from the kernel. Where FIEMAP is not known (FAT), block by block by FIBMAP, which wants
 * CAP_SYS_RAWIO.
 */
int fiemap_read(int fd, struct file_extents *ret, struct err *err);

/* Adds those of more behind those of extents; -ENOMEM. */
int fiemap_join(struct file_extents *extents, const struct file_extents *more);

/* The word for the first of the flags that is refused: "delayed allocation"; NULL when none is. */
const char *fiemap_refused(uint32_t flags);
