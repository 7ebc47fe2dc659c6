/* SPDX-License-Identifier: MIT */

/* walk_fs - file systems: whether each can trim at all, and what lies below it. */

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "trim/walk_parts.h"

enum fs_sort {
	FS_TRIMS,	/* knows FITRIM; on a block device, by its own addresses */
	FS_BTRFS,	/* on several devices, by logical addresses */
	FS_ZFS,
	FS_OVERLAY,
	FS_NFS,
	FS_SHARE,	/* the server decides */
	FS_HOST,	/* the host's, shown in the guest */
	FS_FUSE,
	FS_MEMORY,
	FS_READ_ONLY,
	FS_UNKNOWN,
};

static const struct {
	const char *type;
	enum fs_sort sort;
} fs_sorts[] = {
	{ "ext4", FS_TRIMS },	 { "ext3", FS_TRIMS },	      { "ext2", FS_TRIMS },
	{ "xfs", FS_TRIMS },	 { "f2fs", FS_TRIMS },	      { "vfat", FS_TRIMS },
	{ "exfat", FS_TRIMS },	 { "ntfs3", FS_TRIMS },	      { "jfs", FS_TRIMS },
	{ "nilfs2", FS_TRIMS },	 { "gfs2", FS_TRIMS },	      { "ocfs2", FS_TRIMS },
	{ "btrfs", FS_BTRFS },	 { "zfs", FS_ZFS },	      { "overlay", FS_OVERLAY },
	{ "nfs", FS_NFS },	 { "nfs4", FS_NFS },	      { "cifs", FS_SHARE },
	{ "smb3", FS_SHARE },	 { "smbfs", FS_SHARE },	      { "ceph", FS_SHARE },
	{ "afs", FS_SHARE },	 { "lustre", FS_SHARE },      { "9p", FS_HOST },
	{ "virtiofs", FS_HOST }, { "vboxsf", FS_HOST },	      { "tmpfs", FS_MEMORY },
	{ "ramfs", FS_MEMORY },	 { "devtmpfs", FS_MEMORY },   { "proc", FS_MEMORY },
	{ "sysfs", FS_MEMORY },	 { "squashfs", FS_READ_ONLY }, { "erofs", FS_READ_ONLY },
	{ "iso9660", FS_READ_ONLY }, { "udf", FS_UNKNOWN },   { "cramfs", FS_READ_ONLY },
};

static enum fs_sort sort_of(const char *type)
{
	for (size_t i = 0; i < ARRAY_COUNT(fs_sorts); i++)
		if (strcmp(fs_sorts[i].type, type) == 0)
			return fs_sorts[i].sort;
	return strncmp(type, "fuse", 4) == 0 ? FS_FUSE : FS_UNKNOWN;
}

/* The value of "key=value" among options that commas divide. */
static bool option_value(const char *options, const char *key, char *value, size_t value_bytes)
{
	const size_t length = strlen(key);

	for (const char *p = options; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (strncmp(p, key, length) != 0 || p[length] != '=')
			continue;
		snprintf(value, value_bytes, "%.*s", (int)strcspn(p + length + 1, ","),
			 p + length + 1);
		return true;
	}
	return false;
}

/* The device of a mount: by its number, or by its source where the number is anonymous. */
static bool device_of_mount(const struct walk *walk, const struct mount_facts *facts,
			    char name[STACK_NAME_BYTES])
{
	return (facts->device && stack_name_of(walk->root, facts->device, name) == 0) ||
	       stack_name_of_path(walk->root, facts->source, name) == 0;
}

static void fs_on_device(struct walk *walk, uint32_t index, const struct mount_facts *facts)
{
	struct trim_layer *layer = &walk->report->layers[index];
	char name[STACK_NAME_BYTES], other[128];
	uint32_t below;

	if (!device_of_mount(walk, facts, name)) {
		snprintf(layer->why, sizeof(layer->why), "the device %.200s is not one that sysfs "
			 "shows here", facts->source);
		return;
	}
	layer->capable = TRIM_YES;
	below = walk_device(walk, index, name);
	walk_shifted(walk, index, below, 0);
	if (option_value(facts->options, "rtdev", other, sizeof(other)))
		trim_report_note(walk->report, "second-device", layer->name,
				 "%s keeps data on %s too, which is not looked at", facts->type,
				 other);
}

/* --- btrfs -------------------------------------------------------------------------------- */

/* The directory of sysfs that lists the device among its own. */
static bool btrfs_directory(const struct walk *walk, const char *name, char path[PATH_MAX])
{
	char parent[PATH_MAX];
	const struct dirent *entry;

	snprintf(parent, sizeof(parent), "%s/sys/fs/btrfs", walk->root);
	DEFER(defer_closedir) DIR *dir = opendir(parent);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, PATH_MAX, "%s/sys/fs/btrfs/%s/devices/%s", walk->root,
			 entry->d_name, name);
		if (access(path, F_OK) == 0) {
			*strrchr(path, '/') = '\0';
			return true;
		}
	}
	return false;
}

static void fs_btrfs(struct walk *walk, uint32_t index, const struct mount_facts *facts)
{
	struct trim_layer *layer = &walk->report->layers[index];
	char name[STACK_NAME_BYTES], path[PATH_MAX];
	struct dirent **entries;
	int count = 0;

	if (!device_of_mount(walk, facts, name)) {
		snprintf(layer->why, sizeof(layer->why), "the device %.200s is not one that sysfs "
			 "shows here", facts->source);
		return;
	}
	layer->capable = TRIM_YES;
	if (btrfs_directory(walk, name, path))
		count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			walk_device(walk, index, entries[i]->d_name);
		free(entries[i]);
	}
	if (count > 0)
		free(entries);
	else
		walk_device(walk, index, name);
	walk_segment(walk, index, MAP_UNKNOWN);
}

/* --- ZFS ---------------------------------------------------------------------------------- */

/* The value of "E:KEY=" in udev's note of a device. */
static bool udev_value(const char *path, const char *key, char *value, size_t value_bytes)
{
	const size_t length = strlen(key);
	char line[512];

	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "E:", 2) != 0 || strncmp(line + 2, key, length) != 0 ||
		    line[2 + length] != '=')
			continue;
		snprintf(value, value_bytes, "%s", line + 3 + length);
		return true;
	}
	return false;
}

/* ZFS opens its members in the kernel: sysfs does not tell, the label on the disk does. */
void walk_zpool(struct walk *walk, uint32_t parent, const char *pool)
{
	char path[PATH_MAX], value[128], name[STACK_NAME_BYTES];
	struct dirent **entries;
	unsigned int major_number, minor_number;
	int count;

	snprintf(path, sizeof(path), "%s/run/udev/data", walk->root);
	count = scandir(path, &entries, NULL, versionsort);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/run/udev/data/%s", walk->root, entries[i]->d_name);
		if (sscanf(entries[i]->d_name, "b%u:%u", &major_number, &minor_number) == 2 &&
		    udev_value(path, "ID_FS_TYPE", value, sizeof(value)) &&
		    strcmp(value, "zfs_member") == 0 &&
		    udev_value(path, "ID_FS_LABEL", value, sizeof(value)) &&
		    strcmp(value, pool) == 0 &&
		    stack_name_of(walk->root, makedev(major_number, minor_number), name) == 0)
			walk_device(walk, parent, name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* What the pool's counters say of discards it has sent by itself: 1, 0, or -1 = not known. */
static int pool_autotrims(const struct walk *walk, const char *pool)
{
	char path[PATH_MAX], line[256];
	unsigned long long value;

	snprintf(path, sizeof(path), "%s/proc/spl/kstat/zfs/%s/iostats", walk->root, pool);
	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "autotrim_bytes_written %*u %llu", &value) == 1)
			return value > 0;
	return -1;
}

static void fs_zfs(struct walk *walk, uint32_t index, const struct mount_facts *facts)
{
	struct trim_layer *layer = &walk->report->layers[index];
	char pool[64];

	snprintf(pool, sizeof(pool), "%.*s", (int)strcspn(facts->source, "/"), facts->source);
	layer->capable = TRIM_UNKNOWN;
	snprintf(layer->why, sizeof(layer->why),
		 "ZFS has no FITRIM: the pool sends discards when autotrim is on or zpool trim is "
		 "run");
	walk_remedy(layer,
		    "zpool get autotrim %s && zpool status -t %s     # what is on, and what was "
		    "trimmed\nzpool set autotrim=on %s && zpool trim %s",
		    pool, pool, pool, pool);
	switch (pool_autotrims(walk, pool)) {
	case 1:
		walk->report->active.mount_option = TRIM_YES;
		snprintf(walk->report->active.mount_word, sizeof(walk->report->active.mount_word),
			 "autotrim");
		break;
	case 0:
		trim_report_note(walk->report, "autotrim", layer->name,
				 "the pool %s has sent no discard of its own since it was "
				 "imported: autotrim is off, or nothing was freed", pool);
		break;
	default:
		break;
	}
	walk_zpool(walk, index, pool);
}

/* --- without a device --------------------------------------------------------------------- */

bool walk_upper(struct walk *walk, const struct mount_facts *facts, struct mount_facts *ret)
{
	char upper[PATH_MAX];

	/* An overlay over an overlay is none that the kernel makes: a circle ends here. */
	return strcmp(facts->type, "overlay") == 0 &&
	       option_value(facts->options, "upperdir", upper, sizeof(upper)) &&
	       walk_mount_of(walk, upper, ret) && strcmp(ret->type, "overlay") != 0;
}

static void fs_overlay(struct walk *walk, uint32_t index, const struct mount_facts *facts)
{
	struct trim_layer *layer = &walk->report->layers[index];
	struct mount_facts under;
	char upper[512];

	if (!option_value(facts->options, "upperdir", upper, sizeof(upper))) {
		walk_stop(layer, "READ_ONLY", "an overlay without an upper directory is never "
					      "written");
	} else if (walk->depth < WALK_DEPTH && walk_upper(walk, facts, &under)) {
		layer->capable = TRIM_YES;
		walk->depth++;
		walk_mount(walk, index, &under);
		walk->depth--;
	} else {
		snprintf(layer->why, sizeof(layer->why),
			 "its upper directory lies on a mount that is not visible from here");
		walk_remedy(layer, "# tare trim, on the host and outside the container, for the file "
				   "system that holds %.400s", upper);
	}
}

/* Holes can be punched in 4.2 (DEALLOCATE) and in no version before it. */
static void fs_nfs(struct walk *walk, uint32_t index, const struct mount_facts *facts)
{
	struct trim_layer *layer = &walk->report->layers[index];
	char version[16] = "", point[TRIM_QUOTED_BYTES], source[TRIM_QUOTED_BYTES];

	layer->is_virtual = true;
	if (!option_value(facts->options, "vers", version, sizeof(version)) &&
	    !option_value(facts->options, "nfsvers", version, sizeof(version))) {
		layer->capable = TRIM_UNKNOWN;
		snprintf(layer->why, sizeof(layer->why), "the mount does not tell its version");
	} else if (strtod(version, NULL) >= 4.2) {
		layer->capable = TRIM_YES;
	} else {
		walk_stop(layer, "NFS_VERSION",
			  "NFS protocol version %s cannot deallocate; that needs vers=4.2", version);
		walk_remedy(layer,
			    "umount %s && mount -t nfs -o vers=4.2 %s %s     # and vers=4.2 in "
			    "/etc/fstab; the server must offer 4.2 and its file system must punch "
			    "holes", trim_quote(layer->name, point), trim_quote(facts->source, source),
			    point);
	}
}

static void fs_fuse(struct walk *walk, uint32_t index, const struct mount_facts *facts)
{
	struct trim_layer *layer = &walk->report->layers[index];
	char name[STACK_NAME_BYTES], point[TRIM_QUOTED_BYTES], source[TRIM_QUOTED_BYTES];

	walk_stop(layer, "NO_SUPPORT",
		  "a FUSE file system (%s) has no FITRIM: the program behind it decides",
		  facts->type);
	if (strcmp(facts->type, "fuseblk") == 0)
		walk_remedy(layer, "umount %s && mount -t ntfs3 %s %s     # or -t exfat: by a driver "
				   "of the kernel", trim_quote(layer->name, point),
			    trim_quote(facts->source, source), point);
	else
		walk_remedy(layer, "# trim the file system or server that %s is made from",
			    layer->name);
	if (device_of_mount(walk, facts, name))
		walk_device(walk, index, name);
}

static void fs_stopped(struct trim_layer *layer, enum fs_sort sort, const char *type)
{
	switch (sort) {
	case FS_SHARE:
		layer->is_virtual = true;
		walk_stop(layer, "SERVER", "%s carries no discard: the server trims its own file "
					   "systems", type);
		break;
	case FS_MEMORY:
		walk_stop(layer, "MEMORY", "%s lies in memory: there is no drive to tell", type);
		break;
	case FS_READ_ONLY:
		walk_stop(layer, "READ_ONLY", "%s is never written: nothing becomes free", type);
		break;
	case FS_HOST:
		layer->is_virtual = true;
		snprintf(layer->why, sizeof(layer->why),
			 "%s is a directory of the host: only its holes can be punched from here, "
			 "and only the host can trim it", type);
		walk_remedy(layer, "# tare trim, on the host, for the directory that is shared");
		break;
	default:
		snprintf(layer->why, sizeof(layer->why),
			 "whether %.40s can trim is not known to tare", type);
		break;
	}
}

/* A name of more than 63 bytes keeps its end, which tells more. */
static const char *short_point(const char *point)
{
	const size_t length = strlen(point), room = sizeof(((struct trim_layer *)NULL)->name) - 1;

	return length > room ? point + length - room : point;
}

uint32_t walk_mount(struct walk *walk, uint32_t parent, const struct mount_facts *facts)
{
	const uint32_t index = walk_add(walk, parent, short_point(facts->point), facts->type);
	const enum fs_sort sort = sort_of(facts->type);
	struct trim_layer *layer;

	if (index == TRIM_TOP)
		return TRIM_TOP;
	layer = &walk->report->layers[index];
	snprintf(layer->detail, sizeof(layer->detail), "%s", facts->options);
	switch (sort) {
	case FS_TRIMS:
		fs_on_device(walk, index, facts);
		break;
	case FS_BTRFS:
		fs_btrfs(walk, index, facts);
		break;
	case FS_ZFS:
		fs_zfs(walk, index, facts);
		break;
	case FS_OVERLAY:
		fs_overlay(walk, index, facts);
		break;
	case FS_NFS:
		fs_nfs(walk, index, facts);
		break;
	case FS_FUSE:
		fs_fuse(walk, index, facts);
		break;
	case FS_SHARE:
	case FS_HOST:
	case FS_MEMORY:
	case FS_READ_ONLY:
	case FS_UNKNOWN:
		fs_stopped(layer, sort, facts->type);
		break;
	}
	return index;
}
