/* SPDX-License-Identifier: MIT */

/* devices - the whole disks of this machine, as far as sysfs tells without opening any. */

#include "target/devices.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sysfs.h"
#include "target/gate.h"
#include "target/stack.h"

static uint64_t size_of(const char *root, const char *name)
{
	return 512 * sysfs_read_u64(0, "%s/sys/class/block/%s/size", root, name);
}

/*
 * A disk is what holds data by itself: no partition, nothing built on other devices (their
 * disks are listed), nothing empty (a card reader, loop and zram devices not set up), and no
 * hidden one (a path to an NVMe namespace that has several: there is nothing to open).
 */
static bool is_disk(const char *root, const char *name)
{
	struct stack_names slaves = { 0 };

	if (name[0] == '.' || strlen(name) >= STACK_NAME_BYTES || stack_is_partition(root, name) ||
	    size_of(root, name) == 0 || sysfs_read_u64(0, "%s/sys/class/block/%s/hidden", root, name))
		return false;
	stack_add_slaves(root, name, &slaves);
	return slaves.count == 0;
}

static void describe(const char *root, const char *name, struct target_device *device)
{
	struct target_info *info = &device->info;
	bool is_serial;

	info->kind = TARGET_BLOCK;
	snprintf(info->path, sizeof(info->path), "/dev/%s", name);
	for (char *p = info->path; *p; p++)
		if (*p == '!')
			*p = '/';
	strcpy(info->spec, info->path);
	stack_describe(root, name, info);
	gate_consent_name(root, name, info->erase_name, &is_serial);
	info->size_bytes = size_of(root, name);
	stack_by_id(root, name, device->by_id, sizeof(device->by_id));
	gate_describe_use(root, name, device->use, sizeof(device->use));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

int devices_list(const char *root, struct target_device **ret, size_t *ret_count, struct err *err)
{
	struct target_device *devices = NULL;
	struct dirent **entries;
	char path[PATH_MAX];
	size_t disks = 0;
	int count;

	snprintf(path, sizeof(path), "%s/sys/class/block", root);
	count = scandir(path, &entries, NULL, by_name);
	if (count < 0)
		return err_errno(err, -errno, "%s", path);
	devices = calloc((size_t)count + 1, sizeof(*devices));
	for (int i = 0; i < count; i++) {
		if (devices && is_disk(root, entries[i]->d_name))
			describe(root, entries[i]->d_name, &devices[disks++]);
		free(entries[i]);
	}
	free(entries);
	if (!devices)
		return err_errno(err, -ENOMEM, "list of %d devices", count);
	*ret = devices;
	*ret_count = disks;
	return 0;
}

int target_list_devices(struct target_device **ret, size_t *ret_count, struct err *err)
{
	return devices_list("", ret, ret_count, err);
}
