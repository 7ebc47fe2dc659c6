/* SPDX-License-Identifier: MIT */
#include "target/mounts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/defer.h"

struct mounts {
	const char *root;
	struct libmnt_table *table;
	struct libmnt_table *swaps;	/* NULL in a kernel without swap */
};

static int no_message(struct libmnt_table *table, const char *file, int line)
{
	(void)table;
	(void)file;
	(void)line;
	return 1;	/* leave a line that makes no sense out, keep the rest */
}

static struct libmnt_table *read_table(const char *root, const char *path, bool swaps)
{
	struct libmnt_table *table = mnt_new_table();
	char full[PATH_MAX];
	int r;

	if (!table)
		return NULL;
	mnt_table_set_parser_errcb(table, no_message);
	snprintf(full, sizeof(full), "%s%s", root, path);
	r = swaps ? mnt_table_parse_swaps(table, full) : mnt_table_parse_file(table, full);
	if (r == 0)
		return table;
	mnt_unref_table(table);
	return NULL;
}

int mounts_open(struct mounts **ret, const char *root, struct err *err)
{
	struct mounts *mounts = calloc(1, sizeof(*mounts));

	if (!mounts)
		return err_errno(err, -ENOMEM, "reading the mount table");
	mounts->root = root;
	mounts->table = read_table(root, "/proc/self/mountinfo", false);
	if (!mounts->table) {
		mounts_close(mounts);
		return err_set(err, -ENOENT,
			       "%s/proc/self/mountinfo cannot be read; what is mounted is unknown",
			       root);
	}
	mounts->swaps = read_table(root, "/proc/swaps", true);
	*ret = mounts;
	return 0;
}

void mounts_close(struct mounts *mounts)
{
	if (!mounts)
		return;
	mnt_unref_table(mounts->table);
	mnt_unref_table(mounts->swaps);
	free(mounts);
}

static struct libmnt_fs *next_fs(struct libmnt_table *table, struct libmnt_iter *iter)
{
	struct libmnt_fs *fs;

	return table && mnt_table_next_fs(table, iter, &fs) == 0 ? fs : NULL;
}

static void free_iter(struct libmnt_iter **iter)
{
	mnt_free_iter(*iter);
}

static bool source_is(const char *root, const char *source, const char *name)
{
	char found[STACK_NAME_BYTES];

	return source && source[0] == '/' && stack_name_of_path(root, source, found) == 0 &&
	       strcmp(found, name) == 0;
}

/*
 * A btrfs of several devices is mounted by one of them; sysfs lists the members. Returns the
 * member that the mount table knows, or the device itself.
 */
static void btrfs_member_mounted(const struct mounts *mounts, const char *name,
				 char member[STACK_NAME_BYTES], bool *ret_active)
{
	char path[PATH_MAX];
	const struct dirent *entry;

	*ret_active = false;
	snprintf(member, STACK_NAME_BYTES, "%s", name);
	snprintf(path, sizeof(path), "%s/sys/fs/btrfs", mounts->root);
	DEFER(defer_closedir) DIR *dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		const struct dirent *device;

		snprintf(path, sizeof(path), "%s/sys/fs/btrfs/%s/devices/%s", mounts->root,
			 entry->d_name, name);
		if (entry->d_name[0] == '.' || access(path, F_OK) < 0)
			continue;
		*ret_active = true;
		*strrchr(path, '/') = '\0';
		DEFER(defer_closedir) DIR *devices = opendir(path);
		while (devices && (device = readdir(devices))) {
			DEFER(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
			struct libmnt_fs *fs;

			while (iter && (fs = next_fs(mounts->table, iter)))
				if (source_is(mounts->root, mnt_fs_get_srcpath(fs), device->d_name))
					snprintf(member, STACK_NAME_BYTES, "%.*s",
						 STACK_NAME_BYTES - 1, device->d_name);
		}
	}
}

static const char *find_in_table(const char *root, struct libmnt_table *table, const char *name)
{
	DEFER(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	const dev_t number = stack_number(root, name);
	const char *found = NULL;
	struct libmnt_fs *fs;

	while (iter && (fs = next_fs(table, iter))) {
		const char *point = mnt_fs_get_target(fs);

		if (!point || !((number && mnt_fs_get_devno(fs) == number) ||
				source_is(root, mnt_fs_get_srcpath(fs), name)))
			continue;
		if (!found || strcmp(point, "/") == 0)
			found = point;
	}
	return found;
}

const char *mounts_find_device(const struct mounts *mounts, const char *name)
{
	const char *point = find_in_table(mounts->root, mounts->table, name);
	char member[STACK_NAME_BYTES];
	bool active;

	if (point)
		return point;
	btrfs_member_mounted(mounts, name, member, &active);
	if (active)
		point = find_in_table(mounts->root, mounts->table, member);
	return point || !active ? point : "a place this process does not see";
}

bool mounts_swap_device(const struct mounts *mounts, const char *name)
{
	DEFER(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;

	while (iter && (fs = next_fs(mounts->swaps, iter)))
		if (source_is(mounts->root, mnt_fs_get_source(fs), name))
			return true;
	return false;
}

bool mounts_swap_inode(const struct mounts *mounts, dev_t device, ino_t inode)
{
	DEFER(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;

	while (iter && (fs = next_fs(mounts->swaps, iter))) {
		const char *source = mnt_fs_get_source(fs);
		char path[PATH_MAX];
		struct stat st;

		snprintf(path, sizeof(path), "%s%s", mounts->root, source ? source : "");
		if (source && stat(path, &st) == 0 && st.st_dev == device && st.st_ino == inode)
			return true;
	}
	return false;
}

static void facts_of(struct libmnt_fs *fs, struct mount_facts *ret)
{
	*ret = (struct mount_facts){
		.type = mnt_fs_get_fstype(fs) ?: "",
		.point = mnt_fs_get_target(fs) ?: "",
		.source = mnt_fs_get_source(fs) ?: "",
		.options = mnt_fs_get_options(fs) ?: "",
		.device = mnt_fs_get_devno(fs),
	};
}

bool mounts_find_file(const struct mounts *mounts, int fd, struct mount_facts *ret)
{
	DEFER(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_BACKWARD);
	struct libmnt_fs *fs, *found = NULL;
	struct statx stx;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0)
		stx.stx_mask = 0;
	while (iter && !found && (fs = next_fs(mounts->table, iter))) {
		const bool same_id = (stx.stx_mask & STATX_MNT_ID) &&
				     mnt_fs_get_id(fs) == (int)stx.stx_mnt_id;

		if (same_id ||
		    (!(stx.stx_mask & STATX_MNT_ID) && mnt_fs_get_devno(fs) == st.st_dev))
			found = fs;
	}
	if (!found)
		return false;
	facts_of(found, ret);
	return true;
}

/* "/mnt" is above "/mnt" and "/mnt/x", not above "/mntx". */
static bool is_above(const char *point, const char *path)
{
	const size_t length = strcmp(point, "/") == 0 ? 0 : strlen(point);

	return strncmp(point, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool mounts_find_path(const struct mounts *mounts, const char *path, struct mount_facts *ret)
{
	DEFER(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs, *found = NULL;
	size_t longest = 0;

	while (iter && (fs = next_fs(mounts->table, iter))) {
		const char *point = mnt_fs_get_target(fs);

		/* A later mount on the same point lies over the earlier one. */
		if (!point || !is_above(point, path) || strlen(point) < longest)
			continue;
		found = fs;
		longest = strlen(point);
	}
	if (!found)
		return false;
	facts_of(found, ret);
	return true;
}

void mounts_each(const struct mounts *mounts,
		 bool (*each)(void *ctx, const struct mount_facts *facts), void *ctx)
{
	DEFER(free_iter) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	bool more = true;

	while (iter && more && (fs = next_fs(mounts->table, iter))) {
		struct mount_facts facts;

		facts_of(fs, &facts);
		more = each(ctx, &facts);
	}
}

bool mounts_find_elsewhere(const struct stack_names *names, char *point, size_t point_bytes,
			   pid_t *ret_pid)
{
	DEFER(defer_closedir) DIR *proc = opendir("/proc");
	const struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		struct libmnt_table *table;
		const char *found = NULL;
		char path[PATH_MAX];

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/mountinfo", entry->d_name);
		table = read_table("", path, false);
		if (!table)
			continue;
		for (size_t i = 0; i < names->count && !found; i++)
			found = find_in_table("", table, names->names[i]);
		if (found)
			snprintf(point, point_bytes, "%s", found);
		mnt_unref_table(table);
		if (found) {
			*ret_pid = (pid_t)strtol(entry->d_name, NULL, 10);
			return true;
		}
	}
	return false;
}
