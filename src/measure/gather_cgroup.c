/* SPDX-License-Identifier: MIT */
#include "measure/gather.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/sysfs.h"

/* Our group in the unified hierarchy, from the line "0::/path"; false without one. */
static bool own_group(const char *root, char *ret, size_t ret_bytes)
{
	char path[PATH_MAX], line[PATH_MAX];
	DEFER(defer_fclose) FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		snprintf(ret, ret_bytes, "%s", line + 3);
		return true;
	}
	return false;
}

/* Where the unified hierarchy is mounted; one with a space in its path (\040) is not found. */
static bool hierarchy(const char *root, char *ret, size_t ret_bytes)
{
	char path[PATH_MAX], line[2 * PATH_MAX], mount_point[PATH_MAX];
	DEFER(defer_fclose) FILE *file = NULL;

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, " - cgroup2 ") ||
		    sscanf(line, "%*s %*s %*s %*s %4095s", mount_point) != 1)
			continue;
		snprintf(ret, ret_bytes, "%s", mount_point);
		return true;
	}
	return false;
}

/* Limits are keyed by whole disks, so each device of the path is looked for. */
static bool is_of_target(const char *root, const struct target_info *info, unsigned major,
			 unsigned minor)
{
	char want[32], have[32];

	if (info->device_major == major && info->device_minor == minor)
		return true;
	snprintf(want, sizeof(want), "%u:%u", major, minor);
	if (info->device[0] &&
	    sysfs_read(have, sizeof(have), "%s/sys/block/%s/dev", root, info->device) == 0 &&
	    strcmp(want, have) == 0)
		return true;
	for (uint32_t i = 0; i < info->layer_count; i++)
		if (sysfs_read(have, sizeof(have), "%s/sys/class/block/%s/dev", root,
			       info->layers[i].name) == 0 &&
		    strcmp(want, have) == 0)
			return true;
	return false;
}

/* "8:0 rbps=max wbps=1048576 …": the kernel leaves out devices with no limit at all. */
static bool limit_in(const char *root, const struct target_info *info, const char *path,
		     char *ret_line, size_t ret_bytes)
{
	char line[256];
	DEFER(defer_fclose) FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file)) {
		unsigned major, minor;
		int used = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%u:%u %n", &major, &minor, &used) < 2 || used == 0 || !line[used] ||
		    !is_of_target(root, info, major, minor))
			continue;
		snprintf(ret_line, ret_bytes, "%s", line + used);
		return true;
	}
	return false;
}

void gather_cgroup(const char *root, const struct target_info *info, char *ret, size_t ret_bytes)
{
	static const char *const files[] = { "io.max", "io.latency" };
	char mount_point[PATH_MAX], group[PATH_MAX], path[3 * PATH_MAX], line[256];

	ret[0] = '\0';
	if (!own_group(root, group, sizeof(group)) ||
	    !hierarchy(root, mount_point, sizeof(mount_point)))
		return;
	/* From our group up: the limit of a parent holds for us as well. */
	for (;;) {
		for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
			snprintf(path, sizeof(path), "%s%s%s/%s", root, mount_point, group, files[i]);
			if (!limit_in(root, info, path, line, sizeof(line)))
				continue;
			snprintf(ret, ret_bytes, "%s %.100s in %.60s", files[i], line,
				 group[0] ? group : "/");
			return;
		}
		if (!group[0])
			return;
		*strrchr(group, '/') = '\0';
	}
}
