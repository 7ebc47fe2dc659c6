/* SPDX-License-Identifier: MIT */
#include "trim/probe_chunks.h"

#include <endian.h>
#include <errno.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "target/stack.h"

#define ANSWER_BYTES 65536

/* -E2BIG for one with more stripes than we take; the kernel's structs are packed, little-endian. */
static int decode(const struct btrfs_ioctl_search_header *header, const void *item,
		  struct chunk *ret)
{
	struct btrfs_chunk head;
	const char *stripe = (const char *)item + offsetof(struct btrfs_chunk, stripe);
	uint32_t count;

	if (header->len < sizeof(head))
		return -EIO;
	memcpy(&head, item, sizeof(head));
	count = le16toh(head.num_stripes);
	if (header->len <
	    offsetof(struct btrfs_chunk, stripe) + count * sizeof(struct btrfs_stripe))
		return -EIO;
	if (count > CHUNK_STRIPES)
		return -E2BIG;
	*ret = (struct chunk){
		.logical_bytes = header->offset,
		.length_bytes = le64toh(head.length),
		.stripe_bytes = le64toh(head.stripe_len),
		.profile = le64toh(head.type),
		.stripe_count = count,
		.sub_count = le16toh(head.sub_stripes),
	};
	for (uint32_t i = 0; i < count; i++) {
		struct btrfs_stripe s;

		memcpy(&s, stripe + i * sizeof(s), sizeof(s));
		ret->stripes[i].device_id = le64toh(s.devid);
		ret->stripes[i].offset_bytes = le64toh(s.offset);
	}
	return 0;
}

/* Takes the answer's items in; *next is the key offset behind the last. */
static int take(const struct btrfs_ioctl_search_args_v2 *args, struct chunks *chunks,
		uint64_t *next)
{
	const char *at = (const char *)args->buf;

	for (uint32_t i = 0; i < args->key.nr_items; i++) {
		struct btrfs_ioctl_search_header header;
		struct chunk *more;
		int r;

		memcpy(&header, at, sizeof(header));
		at += sizeof(header);
		*next = header.offset + 1;
		if (header.type == BTRFS_CHUNK_ITEM_KEY) {
			more = realloc(chunks->list, (chunks->count + 1) * sizeof(*more));
			if (!more)
				return -ENOMEM;
			chunks->list = more;
			r = decode(&header, at, &chunks->list[chunks->count]);
			if (r < 0)
				return r;
			chunks->count++;
		}
		at += header.len;
	}
	return 0;
}

int chunks_read(int fd, struct chunks *ret, struct err *err)
{
	DEFER(defer_free)
	struct btrfs_ioctl_search_args_v2 *args = calloc(1, sizeof(*args) + ANSWER_BYTES);
	struct chunks chunks = { 0 };
	uint64_t next = 0;
	int r = args ? 0 : -ENOMEM;

	while (r == 0) {
		args->key = (struct btrfs_ioctl_search_key){
			.tree_id = BTRFS_CHUNK_TREE_OBJECTID,
			.min_objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID,
			.max_objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID,
			.min_type = BTRFS_CHUNK_ITEM_KEY,
			.max_type = BTRFS_CHUNK_ITEM_KEY,
			.min_offset = next,
			.max_offset = UINT64_MAX,
			.max_transid = UINT64_MAX,
			.nr_items = UINT32_MAX,
		};
		args->buf_size = ANSWER_BYTES;
		if (ioctl(fd, BTRFS_IOC_TREE_SEARCH_V2, args) < 0)
			r = -errno;
		else if (args->key.nr_items == 0)
			break;
		else
			r = take(args, &chunks, &next);
	}
	if (r < 0) {
		free(chunks.list);
		return err_errno(err, r, "chunk tree of btrfs");
	}
	*ret = chunks;
	return 0;
}

static const struct chunk *chunk_of(const struct chunks *chunks, uint64_t logical_bytes)
{
	for (size_t i = 0; i < chunks->count; i++) {
		const struct chunk *chunk = &chunks->list[i];

		if (logical_bytes >= chunk->logical_bytes &&
		    logical_bytes - chunk->logical_bytes < chunk->length_bytes)
			return chunk;
	}
	return NULL;
}

static void add_copy(struct chunk_places *places, const struct chunk *chunk, uint32_t stripe,
		     uint64_t offset_bytes)
{
	places->copies[places->count++] = (struct chunk_place){
		chunk->stripes[stripe].device_id,
		chunk->stripes[stripe].offset_bytes + offset_bytes,
	};
}

/* sub copies of each stripe of the row (RAID10: two; RAID0: one). */
static void find_striped(const struct chunk *chunk, uint64_t within, uint32_t sub,
			 struct chunk_places *ret)
{
	const uint64_t number = within / chunk->stripe_bytes;
	const uint32_t columns = chunk->stripe_count / sub;
	const uint32_t column = (uint32_t)(number % columns);
	const uint64_t offset =
		number / columns * chunk->stripe_bytes + within % chunk->stripe_bytes;

	for (uint32_t i = 0; i < sub; i++)
		add_copy(ret, chunk, column * sub + i, offset);
	ret->bytes = chunk->stripe_bytes - within % chunk->stripe_bytes;
}

int chunks_find(const struct chunks *chunks, uint64_t logical_bytes, struct chunk_places *ret,
		struct err *err)
{
	const struct chunk *chunk = chunk_of(chunks, logical_bytes);
	uint64_t within;

	*ret = (struct chunk_places){ 0 };
	if (!chunk)
		return err_set(err, -ERANGE, "no chunk of btrfs holds the address %llu",
			       (unsigned long long)logical_bytes);
	within = logical_bytes - chunk->logical_bytes;
	if (chunk->profile & (BTRFS_BLOCK_GROUP_RAID5 | BTRFS_BLOCK_GROUP_RAID6))
		return err_set(err, -EOPNOTSUPP, "%s of btrfs is not followed down to its devices",
			       chunk->profile & BTRFS_BLOCK_GROUP_RAID5 ? "RAID5" : "RAID6");
	if (chunk->profile & (BTRFS_BLOCK_GROUP_RAID0 | BTRFS_BLOCK_GROUP_RAID10)) {
		const bool mirrored = chunk->profile & BTRFS_BLOCK_GROUP_RAID10;
		const uint32_t sub = mirrored && chunk->sub_count ? chunk->sub_count : 1;

		if (!chunk->stripe_bytes || chunk->stripe_count < sub)
			return err_set(err, -EIO, "a chunk of btrfs makes no sense");
		find_striped(chunk, within, sub, ret);
		return 0;
	}
	for (uint32_t i = 0; i < chunk->stripe_count; i++)
		add_copy(ret, chunk, i, within);
	ret->bytes = chunk->length_bytes - within;
	return 0;
}

int chunks_device(int fd, uint64_t device_id, char *name, size_t name_bytes)
{
	struct btrfs_ioctl_dev_info_args args = { .devid = device_id };
	char found[STACK_NAME_BYTES];

	if (ioctl(fd, BTRFS_IOC_DEV_INFO, &args) < 0)
		return -errno;
	args.path[sizeof(args.path) - 1] = '\0';
	if (stack_name_of_path("", (const char *)args.path, found) < 0)
		return -ENODEV;
	snprintf(name, name_bytes, "%s", found);
	return 0;
}

uint64_t chunks_discardable(int fd)
{
	struct btrfs_ioctl_fs_info_args args = { 0 };
	char uuid[40], *to = uuid;

	if (ioctl(fd, BTRFS_IOC_FS_INFO, &args) < 0)
		return 0;
	/* 8-4-4-4-12 digits. */
	for (size_t i = 0; i < BTRFS_FSID_SIZE; i++)
		to += sprintf(to, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			      args.fsid[i]);
	return sysfs_read_u64(0, "/sys/fs/btrfs/%s/discard/discardable_bytes", uuid);
}
