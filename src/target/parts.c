/* SPDX-License-Identifier: MIT */

/*
 * parts - several files or devices as one range, and the target that is made of those there are:
 * "join:/dev/sdb:/dev/sdc". Each part passes the gate as it would alone.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "target/kinds.h"

#define PARTS_MAX 65535u	/* struct io counts them in 16 bits */
#define BLOCK_BYTES 4096u
#define SECTOR_BYTES 512u

int target_check_parts(const struct target_request *request, uint32_t count, struct err *err)
{
	if (count > PARTS_MAX)
		return err_set(err, -EINVAL, "%s: %u files are more than %u", request->spec, count,
			       PARTS_MAX);
	if (count > 1 && request->stripe_bytes % SECTOR_BYTES)
		return err_set(err, -EINVAL, "%s: stripes of %llu bytes are no multiple of %u",
			       request->spec, (unsigned long long)request->stripe_bytes, SECTOR_BYTES);
	return 0;
}

int target_make_parts(struct target *target, uint32_t count, struct err *err)
{
	target->parts = calloc(count, sizeof(*target->parts));
	if (!target->parts)
		return err_errno(err, -ENOMEM, "%u files", count);
	target->part_count = count;
	for (uint32_t i = 0; i < count; i++)
		target->parts[i].fd = -1;
	return 0;
}

void target_forget_fds(struct target *target)
{
	for (uint32_t i = 0; i < target->part_count; i++)
		target->parts[i].fd = -1;
	target->fd = -1;
}

bool target_next_item(const char **list, char *item, size_t item_bytes)
{
	const char *at = *list;
	size_t length = 0;

	if (!*at)
		return false;
	while (*at && *at != ':') {
		at += at[0] == '\\' && at[1] == ':';
		if (length + 1 < item_bytes)
			item[length++] = *at;
		at++;
	}
	item[length] = '\0';
	*list = *at ? at + 1 : at;
	return true;
}

/* The targets it is made of; each is open on its own. */
struct join {
	uint32_t count;
	struct target *list[];
};

static int refuse_part(const char *spec, const char *item, struct err *err)
{
	return err_set(err, -EINVAL,
		       "%s: its part '%s' is neither a file nor a block device, and only such can be "
		       "joined", spec, item);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	if (S_ISBLK(a->st_mode) || S_ISBLK(b->st_mode))
		return S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode) && a->st_rdev == b->st_rdev;
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Before it is opened: a directory would get a file, a device twice would be in our own way. */
static int check_part(const struct target *target, const char *item, struct err *err)
{
	const struct join *join = target->private;
	const char *spec = target->info.spec;
	struct stat st, other;

	if (!*item)
		return err_set(err, -EINVAL, "%s: a part of it is empty; write join:FILE:FILE", spec);
	if (stat(item, &st) < 0)
		return err_errno(err, -errno, "%s: its part '%s'", spec, item);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return refuse_part(spec, item, err);
	for (uint32_t i = 0; i < join->count; i++)
		if (fstat(join->list[i]->fd, &other) == 0 && is_same(&st, &other))
			return err_set(err, -EINVAL, "%s: '%s' is in it twice", spec, item);
	return 0;
}

static int open_part(struct target *target, const struct target_request *request, const char *item,
		     struct err *err)
{
	struct join *join = target->private;
	struct target_request own = *request;
	const struct target *part;
	int r = check_part(target, item, err);

	own.spec = item;
	own.need_bytes = 0;
	own.stripe_bytes = 0;
	if (r == 0)
		r = target_open(&join->list[join->count], &own, err);
	if (r < 0)
		return r;
	part = join->list[join->count++];
	if (part->info.kind != TARGET_FILE && part->info.kind != TARGET_BLOCK)
		return refuse_part(request->spec, item, err);
	if (part->info.size_bytes < BLOCK_BYTES)
		return err_set(err, -EFBIG, "%s: its part '%s' is less than a block of %u bytes",
			       request->spec, item, BLOCK_BYTES);
	return 0;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* What all have, what is the strictest of any, and "" or 0 where they differ. */
static void merge_info(struct target_info *info, const struct target_info *part)
{
	if (info->kind != part->kind)
		info->kind = TARGET_FILE;
	if (strcmp(info->device, part->device) != 0) {
		info->device[0] = info->model[0] = info->serial[0] = info->firmware[0] = '\0';
		info->device_major = info->device_minor = 0;
	}
	info->logical_block_bytes = larger(info->logical_block_bytes, part->logical_block_bytes);
	info->physical_block_bytes = larger(info->physical_block_bytes, part->physical_block_bytes);
	info->memory_align_bytes = larger(info->memory_align_bytes, part->memory_align_bytes);
	info->offset_align_bytes = larger(info->offset_align_bytes, part->offset_align_bytes);
	if (part->discard_max_bytes < info->discard_max_bytes)
		info->discard_max_bytes = part->discard_max_bytes;
	info->rotational |= part->rotational;
	info->removable |= part->removable;
	info->read_only |= part->read_only;
	info->direct &= part->direct;
	info->partition_start_bytes = 0;
	info->has_partition = false;
}

static void describe(struct target *target)
{
	const struct join *join = target->private;
	struct target_info *info = &target->info;
	char spec[sizeof(info->spec)];

	memcpy(spec, info->spec, sizeof(spec));
	*info = join->list[0]->info;
	for (uint32_t i = 1; i < join->count; i++)
		merge_info(info, &join->list[i]->info);
	memcpy(info->spec, spec, sizeof(spec));
	memcpy(info->path, spec, sizeof(spec));
	info->erase_name[0] = '\0';
	for (uint32_t i = 0; i < join->count; i++) {
		const size_t length = strlen(info->erase_name);

		snprintf(info->erase_name + length, sizeof(info->erase_name) - length, "%s%s",
			 i ? "," : "", join->list[i]->info.erase_name);
	}
}

/* In stripes all count as much as the smallest: the range goes round them. */
static void lay_parts(struct target *target)
{
	const struct join *join = target->private;
	const uint64_t unit_bytes = target->stripe_bytes ? target->stripe_bytes : BLOCK_BYTES;
	uint64_t start_bytes = 0, least_bytes = UINT64_MAX;

	for (uint32_t i = 0; i < join->count; i++) {
		const struct target *of = join->list[i];
		struct target_part *part = &target->parts[i];

		part->fd = of->fd;
		part->is_device = of->info.kind == TARGET_BLOCK;
		part->start_bytes = start_bytes;
		part->size_bytes = of->info.size_bytes / unit_bytes * unit_bytes;
		part->device_major = of->info.device_major;
		part->device_minor = of->info.device_minor;
		start_bytes += part->size_bytes;
		if (part->size_bytes < least_bytes)
			least_bytes = part->size_bytes;
	}
	target->fd = target->parts[0].fd;
	target->info.size_bytes = target->stripe_bytes ? least_bytes * join->count : start_bytes;
}

static uint32_t count_items(const char *list)
{
	char item[2];
	uint32_t count = 0;

	while (target_next_item(&list, item, sizeof(item)))
		count++;
	return count;
}

static int join_open(struct target *target, const struct target_request *request, int path_fd,
		     struct err *err)
{
	const char *list = request->spec + strlen("join:");
	const uint32_t count = count_items(list);
	char item[sizeof(target->info.spec)];
	struct join *join;
	int r;

	(void)path_fd;
	if (count < 2)
		return err_set(err, -EINVAL, "%s: write join:FILE:FILE, two at least", request->spec);
	if (request->file_count > 1)
		return err_set(err, -EINVAL, "%s: a number of files is for directories",
			       request->spec);
	r = target_check_parts(request, count, err);
	if (r < 0)
		return r;
	join = calloc(1, sizeof(*join) + count * sizeof(join->list[0]));
	if (!join)
		return err_errno(err, -ENOMEM, "%s", request->spec);
	target->private = join;
	target->stripe_bytes = request->stripe_bytes;
	while (r == 0 && target_next_item(&list, item, sizeof(item)))
		r = open_part(target, request, item, err);
	if (r == 0)
		r = target_make_parts(target, count, err);
	if (r < 0)
		return r;
	describe(target);
	lay_parts(target);
	return 0;
}

static void join_close(struct target *target)
{
	struct join *join = target->private;

	if (!join)
		return;
	for (uint32_t i = 0; i < join->count; i++)
		target_close(join->list[i]);
	target_forget_fds(target);
	free(join);
}

const struct target_ops target_join = {
	.scheme = "join",
	.help = "join:FILE:FILE, existing files or block devices as one range, one after the other; "
		"a ':' in a name is written '\\:'",
	.open = join_open,
	.close = join_close,
};
