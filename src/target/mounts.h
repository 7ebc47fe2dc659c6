/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * mounts - a snapshot of what is mounted and what is swapped to, by libmount. It is as old
 * as its opening: who needs certainty opens it after having the device exclusively.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "target/stack.h"

struct mounts;

/* From root/proc/self/mountinfo and root/proc/swaps. */
int mounts_open(struct mounts **ret, const char *root, struct err *err);
void mounts_close(struct mounts *mounts);

/*
 * Where the device is mounted, by its number, its node, or as a member of a btrfs of several
 * devices; "/" before all others. NULL when nowhere; borrowed.
 */
const char *mounts_find_device(const struct mounts *mounts, const char *name);

/* True when the device, or a file with this inode, is swapped to. */
bool mounts_swap_device(const struct mounts *mounts, const char *name);
bool mounts_swap_inode(const struct mounts *mounts, dev_t device, ino_t inode);

/* A mount; strings borrowed. */
struct mount_facts {
	const char *type;	/* "ext4" */
	const char *point;
	const char *source;	/* "/dev/sda2" */
	const char *options;	/* of the mount and of the file system */
	dev_t device;		/* of its files; of no block device with btrfs, overlay, NFS */
};
/* By the kernel's mount id, else by the device number: false when it is not in the table. */
bool mounts_find_file(const struct mounts *mounts, int fd, struct mount_facts *ret);
/* By its absolute path alone, for a recorded machine: the longest mount point above it. */
bool mounts_find_path(const struct mounts *mounts, const char *path, struct mount_facts *ret);

/* Every mount, in the order of mounting, until each returns false. */
void mounts_each(const struct mounts *mounts,
		 bool (*each)(void *ctx, const struct mount_facts *facts), void *ctx);

/*
 * Searches the mount namespaces of all processes we may look at for one of the devices.
 * True with the mount point and the process whose namespace has it.
 */
bool mounts_find_elsewhere(const struct stack_names *names, char *point, size_t point_bytes,
			   pid_t *ret_pid);
