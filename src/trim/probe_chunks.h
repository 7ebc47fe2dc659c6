/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * chunks - the volume layer of btrfs: what FIEMAP gives are logical addresses, which the chunk
 * tree puts on devices. Reading the tree wants root.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define CHUNK_STRIPES 16

struct chunk {
	uint64_t logical_bytes, length_bytes, stripe_bytes;
	uint64_t profile; /* BTRFS_BLOCK_GROUP_ bits */
	uint32_t stripe_count, sub_count;
	struct {
		uint64_t device_id, offset_bytes;
	} stripes[CHUNK_STRIPES];
};

struct chunks {
	struct chunk *list; /* by logical_bytes; the caller's to free */
	size_t count;
};

/* Of the file system that fd lies on. -EPERM without the right. */
int chunks_read(int fd, struct chunks *ret, struct err *err);

/* Where a logical address is, on each copy. bytes is how far that goes on, within the chunk. */
struct chunk_place {
	uint64_t device_id, offset_bytes;
};
struct chunk_places {
	uint32_t count;
	uint64_t bytes;
	struct chunk_place copies[CHUNK_STRIPES];
};

/* -EOPNOTSUPP with the profile's name for RAID5 and RAID6; -ERANGE where no chunk is. */
int chunks_find(const struct chunks *chunks, uint64_t logical_bytes, struct chunk_places *ret,
		struct err *err);

/* Bytes that wait in the queue of asynchronous discards; 0 when that is not told. */
uint64_t chunks_discardable(int fd);

/* The kernel's name of the device with that id ("sda2"); -ENODEV. */
int chunks_device(int fd, uint64_t device_id, char *name, size_t name_bytes);
