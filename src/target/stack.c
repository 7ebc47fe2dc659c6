/* SPDX-License-Identifier: MIT */
#include "target/stack.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/defer.h"
#include "base/sysfs.h"

#define BLOCK "%s/sys/class/block/%s"

/* sysfs writes '!' for the '/' of names such as cciss/c0d0; names here are sysfs's. */
static bool name_is_sane(const char *name)
{
	return *name && *name != '.' && strlen(name) < STACK_NAME_BYTES && !strchr(name, '/');
}

bool stack_names_have(const struct stack_names *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->names[i], name) == 0)
			return true;
	return false;
}

/* True when it was not in the list and is now. */
static bool names_add(struct stack_names *list, const char *name)
{
	if (!name_is_sane(name) || list->count == STACK_NAMES || stack_names_have(list, name))
		return false;
	snprintf(list->names[list->count++], STACK_NAME_BYTES, "%s", name);
	return true;
}

static bool exists(const char *root, const char *name, const char *attribute)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), BLOCK "/%s", root, name, attribute);
	return access(path, F_OK) == 0;
}

/* The last part of the path to the device's own directory, or the part before it. */
static int directory_part(const char *path, bool parent, char name[STACK_NAME_BYTES])
{
	DEFER(defer_free) char *real = realpath(path, NULL);
	char *last;

	if (!real)
		return -ENOENT;
	if (parent) {
		last = strrchr(real, '/');
		*last = '\0';
	}
	last = strrchr(real, '/');
	if (!last || !name_is_sane(last + 1))
		return -ENOENT;
	snprintf(name, STACK_NAME_BYTES, "%s", last + 1);
	return 0;
}

int stack_name_of(const char *root, dev_t device, char name[STACK_NAME_BYTES])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/dev/block/%u:%u", root, major(device), minor(device));
	return directory_part(path, false, name);
}

/*
 * By the node's number when it is one; a recorded machine has no nodes, and a node may lie in
 * a place that this process does not see: then by the name the links lead to.
 */
int stack_name_of_path(const char *root, const char *path, char name[STACK_NAME_BYTES])
{
	char full[PATH_MAX];
	struct stat st;

	snprintf(full, sizeof(full), "%s%s", root, path);
	if (stat(full, &st) == 0 && S_ISBLK(st.st_mode))
		return stack_name_of(root, st.st_rdev, name);
	if (strncmp(path, "/dev/", 5) != 0)
		return -ENOENT;
	if (directory_part(full, false, name) < 0) {
		if (!name_is_sane(strrchr(path, '/') + 1))
			return -ENOENT;
		snprintf(name, STACK_NAME_BYTES, "%s", strrchr(path, '/') + 1);
	}
	return stack_number(root, name) ? 0 : -ENOENT;
}

dev_t stack_number(const char *root, const char *name)
{
	char line[32];
	unsigned int major_number, minor_number;

	if (sysfs_read(line, sizeof(line), BLOCK "/dev", root, name) < 0 ||
	    sscanf(line, "%u:%u", &major_number, &minor_number) != 2)
		return 0;
	return makedev(major_number, minor_number);
}

bool stack_is_partition(const char *root, const char *name)
{
	return exists(root, name, "partition");
}

void stack_disk(const char *root, const char *name, char disk[STACK_NAME_BYTES])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), BLOCK, root, name);
	if (!stack_is_partition(root, name) || directory_part(path, true, disk) < 0)
		snprintf(disk, STACK_NAME_BYTES, "%s", name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

/* The entries of a directory of devices, in the order of their names. */
static void add_entries(const char *path, struct stack_names *list)
{
	struct dirent **entries;
	const int count = scandir(path, &entries, NULL, by_name);

	for (int i = 0; i < count; i++) {
		names_add(list, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static bool loop_is_over(const char *root, const char *loop, const char *name)
{
	char backing[PATH_MAX], under[STACK_NAME_BYTES];

	return sysfs_read(backing, sizeof(backing), BLOCK "/loop/backing_file", root, loop) == 0 &&
	       stack_name_of_path(root, backing, under) == 0 && strcmp(under, name) == 0;
}

void stack_add_holders(const char *root, const char *name, struct stack_names *list)
{
	char path[PATH_MAX];
	const struct dirent *entry;

	snprintf(path, sizeof(path), BLOCK "/holders", root, name);
	add_entries(path, list);
	snprintf(path, sizeof(path), "%s/sys/class/block", root);
	DEFER(defer_closedir) DIR *dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, "loop", 4) == 0 &&
		    loop_is_over(root, entry->d_name, name))
			names_add(list, entry->d_name);
}

/* A loop device over a block device has no slaves entry: its backing file says. */
void stack_add_slaves(const char *root, const char *name, struct stack_names *list)
{
	char path[PATH_MAX], backing[PATH_MAX], under[STACK_NAME_BYTES];

	snprintf(path, sizeof(path), BLOCK "/slaves", root, name);
	add_entries(path, list);
	if (sysfs_read(backing, sizeof(backing), BLOCK "/loop/backing_file", root, name) == 0 &&
	    stack_name_of_path(root, backing, under) == 0)
		names_add(list, under);
}

void stack_add_partitions(const char *root, const char *name, struct stack_names *list)
{
	char path[PATH_MAX];
	struct dirent **entries;
	int count;

	snprintf(path, sizeof(path), BLOCK, root, name);
	count = scandir(path, &entries, NULL, by_name);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), BLOCK "/%s/partition", root, name, entries[i]->d_name);
		if (name_is_sane(entries[i]->d_name) && access(path, F_OK) == 0)
			names_add(list, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* The list is the queue of a breadth-first walk: what is added is visited in its turn. */
void stack_above(const char *root, const char *name, struct stack_names *list)
{
	size_t next = list->count;

	names_add(list, name);
	for (; next < list->count; next++) {
		stack_add_partitions(root, list->names[next], list);
		stack_add_holders(root, list->names[next], list);
	}
}

void stack_below(const char *root, const char *name, struct stack_names *list)
{
	const char *from = name;
	size_t next = list->count;

	for (;;) {
		char disk[STACK_NAME_BYTES];

		stack_disk(root, from, disk);
		if (strcmp(disk, from) != 0)
			names_add(list, disk);
		stack_add_slaves(root, from, list);
		if (next == list->count)
			return;
		from = list->names[next++];
	}
}

/* dm's uuid begins with what made it: "CRYPT-LUKS2-...", "LVM-...", "mpath-...". */
static const char *dm_kind(const char *root, const char *name)
{
	static const struct {
		const char *prefix, *kind;
	} kinds[] = {
		{ "CRYPT-VERITY", "verity" }, { "CRYPT-INTEGRITY", "integrity" },
		{ "CRYPT-", "crypt" },	      { "LVM-", "lvm" },
		{ "mpath-", "multipath" },    { "part", "partition" },
	};
	char uuid[256];

	sysfs_read(uuid, sizeof(uuid), BLOCK "/dm/uuid", root, name);
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (strncmp(uuid, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return kinds[i].kind;
	return "dm";
}

void stack_kind(const char *root, const char *name, char *kind, size_t kind_bytes)
{
	static const struct {
		const char *prefix, *kind;
	} kinds[] = {
		{ "vd", "virtio" },	{ "zram", "zram" }, { "ram", "ram" },	  { "nbd", "nbd" },
		{ "bcache", "bcache" }, { "rbd", "rbd" },   { "drbd", "drbd" }, { "zd", "zvol" },
	};

	if (stack_is_partition(root, name)) {
		snprintf(kind, kind_bytes, "partition");
	} else if (exists(root, name, "dm")) {
		snprintf(kind, kind_bytes, "%s", dm_kind(root, name));
	} else if (exists(root, name, "md")) {
		if (sysfs_read(kind, kind_bytes, BLOCK "/md/level", root, name) < 0 || !*kind)
			snprintf(kind, kind_bytes, "md");
	} else if (strncmp(name, "loop", 4) == 0) {
		snprintf(kind, kind_bytes, "loop");
	} else {
		const char *found = "disk";

		for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
			if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
				found = kinds[i].kind;
		snprintf(kind, kind_bytes, "%s", found);
	}
}

void stack_detail(const char *root, const char *name, char *detail, size_t detail_bytes)
{
	if (sysfs_read(detail, detail_bytes, BLOCK "/dm/name", root, name) < 0)
		sysfs_read(detail, detail_bytes, BLOCK "/loop/backing_file", root, name);
}

/* Follows the stack down while it does not fork; every device met becomes a layer. */
static void describe_layers(const char *root, const char *name, struct target_info *info)
{
	struct stack_names path = { 0 }, below = { 0 };
	char counted[STACK_NAME_BYTES];
	bool forked = false;

	names_add(&path, name);
	stack_below(root, name, &below);
	for (size_t i = 0; i < below.count; i++)
		names_add(&path, below.names[i]);

	info->layer_count = 0;
	for (size_t i = 0; i < path.count && i < TARGET_LAYERS; i++) {
		struct target_layer *layer = &info->layers[info->layer_count++];

		snprintf(layer->name, sizeof(layer->name), "%s", path.names[i]);
		stack_kind(root, path.names[i], layer->kind, sizeof(layer->kind));
		stack_detail(root, path.names[i], layer->detail, sizeof(layer->detail));
	}

	snprintf(counted, sizeof(counted), "%s", name);
	snprintf(info->device, sizeof(info->device), "%s", name);
	for (size_t steps = 0; steps < STACK_NAMES; steps++) {
		struct stack_names slaves = { 0 };
		char disk[STACK_NAME_BYTES];

		stack_disk(root, info->device, disk);
		if (strcmp(disk, info->device) != 0)
			names_add(&slaves, disk);
		else
			stack_add_slaves(root, info->device, &slaves);
		if (slaves.count == 0)
			break;
		forked |= slaves.count > 1;
		snprintf(info->device, sizeof(info->device), "%s", slaves.names[0]);
		if (!forked)
			snprintf(counted, sizeof(counted), "%s", slaves.names[0]);
	}
	info->device_major = major(stack_number(root, counted));
	info->device_minor = minor(stack_number(root, counted));
}

static void describe_partition(const char *root, struct target_info *info)
{
	for (uint32_t i = 0; i < info->layer_count; i++) {
		const char *name = info->layers[i].name;

		if (!stack_is_partition(root, name))
			continue;
		info->has_partition = true;
		info->partition_start_bytes = 512 * sysfs_read_u64(0, BLOCK "/start", root, name);
		return;
	}
}

/* "[none] mq-deadline kyber" -> "none"; a line without brackets is the only choice. */
static void read_choice(const char *line, char *choice, size_t choice_bytes)
{
	const char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;

	if (close)
		snprintf(choice, choice_bytes, "%.*s", (int)(close - open - 1), open + 1);
	else
		snprintf(choice, choice_bytes, "%.*s", (int)choice_bytes - 1, line);
}

static uint64_t queue_u64(const char *root, const char *name, const char *attribute)
{
	return sysfs_read_u64(0, BLOCK "/queue/%s", root, name, attribute);
}

/* Limits of what is written to; what the drive below does, of the disk at the bottom. */
static void describe_limits(const char *root, const char *name, struct target_info *info)
{
	char top[STACK_NAME_BYTES], line[256];

	stack_disk(root, name, top);
	info->logical_block_bytes = (uint32_t)queue_u64(root, top, "logical_block_size");
	info->physical_block_bytes = (uint32_t)queue_u64(root, top, "physical_block_size");
	info->discard_granularity_bytes = queue_u64(root, top, "discard_granularity");
	info->discard_max_bytes = queue_u64(root, top, "discard_max_bytes");
	if (info->discard_max_bytes == 0)
		info->discard_granularity_bytes = 0;
	info->read_only = sysfs_read_u64(0, BLOCK "/ro", root, name) != 0;

	info->rotational = queue_u64(root, info->device, "rotational") != 0;
	info->removable = sysfs_read_u64(0, BLOCK "/removable", root, info->device) != 0;
	sysfs_read(line, sizeof(line), BLOCK "/queue/scheduler", root, info->device);
	read_choice(line, info->scheduler, sizeof(info->scheduler));
	sysfs_read(info->write_cache, sizeof(info->write_cache), BLOCK "/queue/write_cache", root,
		   info->device);
}

void stack_describe(const char *root, const char *name, struct target_info *info)
{
	describe_layers(root, name, info);
	describe_partition(root, info);
	describe_limits(root, name, info);
	stack_drive(root, info->device, info);
}
