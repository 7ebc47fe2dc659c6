/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * mounts - finds and undoes mounts, in this mount namespace and in the others: a process
 * that was unshared while a file system was mounted has a copy of the mount, and "umount"
 * here succeeds without ending the file system.
 */

#include <stdbool.h>

/*
 * Unmounts what is mounted from the block device at path, everywhere it can be seen (root sees all);
 * lazily where it is in use. note, when given, is told each.
 */
void mounts_unmount_device(const char *path, void (*note)(void *ctx, const char *text), void *ctx);

/* Is a mount with this source ("tare-sim-1234") at this very path, in our namespace? */
bool mounts_is_at(const char *source, const char *path);

/* For tests and for callers with their own needs: a line of /proc/PID/mountinfo. */
struct mount_line {
	unsigned major, minor;
	char path[4096], type[64], source[4096];
};
bool mounts_parse(const char *line, struct mount_line *ret);
