/* SPDX-License-Identifier: MIT */
#include "measure/gather.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "base/units.h"

enum { MEMORY = 1, REMOTE = 2, FUSE = 4, COW = 8, COMPRESSES = 16, ENCRYPTS = 32 };

/* By type as the mount table has it; a name with a dot at its end is a prefix. */
static const struct {
	const char *name;
	unsigned is;
} filesystems[] = {
	{ "tmpfs", MEMORY },
	{ "ramfs", MEMORY },
	{ "devtmpfs", MEMORY },
	{ "hugetlbfs", MEMORY },
	{ "nfs", REMOTE },
	{ "nfs4", REMOTE },
	{ "cifs", REMOTE },
	{ "smb3", REMOTE },
	{ "9p", REMOTE },
	{ "virtiofs", REMOTE },
	{ "ceph", REMOTE },
	{ "lustre", REMOTE },
	{ "afs", REMOTE },
	{ "beegfs", REMOTE },
	{ "orangefs", REMOTE },
	{ "coda", REMOTE },
	{ "fuse.sshfs", REMOTE },
	{ "fuse.glusterfs", REMOTE },
	{ "fuse.s3fs", REMOTE },
	{ "fuse.rclone", REMOTE },
	{ "fuse.gocryptfs", ENCRYPTS },
	{ "fuse.encfs", ENCRYPTS },
	{ "fuse.cryfs", ENCRYPTS },
	{ "fuse", FUSE },
	{ "fuseblk", FUSE },
	{ "fuse.", FUSE },
	{ "ecryptfs", ENCRYPTS },
	{ "btrfs", COW },
	{ "bcachefs", COW },
	{ "nilfs2", COW },
	{ "zfs", COW | COMPRESSES },	/* lz4 is its default, and only its own tool can tell */
	{ "squashfs", COMPRESSES },
	{ "erofs", COMPRESSES },
};

static unsigned filesystem_is(const char *name)
{
	unsigned is = 0;

	for (size_t i = 0; i < ARRAY_COUNT(filesystems); i++) {
		const char *known = filesystems[i].name;
		const size_t length = strlen(known);

		if (strcmp(name, known) == 0 ||
		    (known[length - 1] == '.' && strncmp(name, known, length) == 0))
			is |= filesystems[i].is;
	}
	return is;
}

/* The value of a mount option "name=value" or "name", in ret; false when it is not set. */
static bool mount_option(const char *options, const char *name, char *ret, size_t ret_bytes)
{
	const size_t name_length = strlen(name);

	for (const char *at = options; *at; at += strcspn(at, ","), at += *at == ',') {
		const size_t length = strcspn(at, ",");

		if (length < name_length || strncmp(at, name, name_length) != 0)
			continue;
		if (length == name_length || at[name_length] == '=') {
			const size_t skip = name_length + (at[name_length] == '=');

			snprintf(ret, ret_bytes, "%.*s", (int)(length - skip), at + skip);
			return true;
		}
	}
	return false;
}

static void place_of_mount(const struct target_info *info, struct audit_place *ret)
{
	static const char *const compress_options[] = { "compress-force", "compress", "compression",
							"compress_algorithm" };
	const unsigned is = filesystem_is(info->filesystem);
	char value[32];

	ret->memory_backed = is & MEMORY;
	ret->remote = is & REMOTE;
	ret->fuse = is & FUSE;
	ret->encrypting = is & ENCRYPTS;
	ret->copy_on_write = is & COW && !mount_option(info->mount_options, "nodatacow", value,
						       sizeof(value));
	if (ret->memory_backed)
		snprintf(ret->memory, sizeof(ret->memory), "%s", info->filesystem);
	if (ret->encrypting)
		snprintf(ret->encryption, sizeof(ret->encryption), "%s", info->filesystem);
	if (is & COMPRESSES) {
		ret->compressing = true;
		snprintf(ret->compression, sizeof(ret->compression), "by default");
	}
	for (size_t i = 0; i < ARRAY_COUNT(compress_options); i++) {
		if (!mount_option(info->mount_options, compress_options[i], value, sizeof(value)) ||
		    strcmp(value, "no") == 0 || strcmp(value, "none") == 0)
			continue;
		ret->compressing = true;
		snprintf(ret->compression, sizeof(ret->compression), "%s (mount option)",
			 value[0] ? value : compress_options[i]);
		break;
	}
}

/* What the inode says of itself: flags weigh more than the mount's options. */
static void place_of_file(int fd, struct audit_place *ret)
{
	struct statfs fs;
	struct statx stx;
	int flags = 0;

	if (fstatfs(fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)) {
		ret->memory_backed = true;
		snprintf(ret->memory, sizeof(ret->memory), "%s",
			 fs.f_type == TMPFS_MAGIC ? "tmpfs" : "ramfs");
	}
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		flags = 0;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx) < 0)
		stx.stx_attributes = 0;
	if (flags & FS_NOCOW_FL)
		ret->copy_on_write = false;
	if (flags & (FS_NOCOW_FL | FS_NOCOMP_FL))
		ret->compressing = false;
	if (flags & FS_COMPR_FL || stx.stx_attributes & STATX_ATTR_COMPRESSED) {
		ret->compressing = true;
		if (!ret->compression[0])
			snprintf(ret->compression, sizeof(ret->compression), "attribute of the file");
	}
	if (stx.stx_attributes & STATX_ATTR_ENCRYPTED) {
		ret->encrypting = true;
		snprintf(ret->encryption, sizeof(ret->encryption), "fscrypt");
	}
}

static bool has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void place_of_device(const char *root, const char *name, struct audit_place *ret)
{
	char file[PATH_MAX];
	struct statfs fs;

	/* brd is /dev/ram0 …; zram keeps pages of memory, compressed. */
	if (has_prefix(name, "zram") || has_prefix(name, "ram")) {
		ret->memory_backed = true;
		snprintf(ret->memory, sizeof(ret->memory), "%s",
			 has_prefix(name, "z") ? "zram" : "brd");
	}
	if (!has_prefix(name, "loop"))
		return;
	if (sysfs_read_u64(1, "%s/sys/block/%s/loop/dio", root, name) == 0)
		ret->loop_buffered = true;
	if (sysfs_read(file, sizeof(file), "%s/sys/block/%s/loop/backing_file", root, name) == 0 &&
	    statfs(file, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)) {
		ret->memory_backed = true;
		snprintf(ret->memory, sizeof(ret->memory), "the tmpfs below %.12s", name);
	}
}

static void place_of_layers(const char *root, const struct target_info *info,
			    struct audit_place *ret)
{
	for (uint32_t i = 0; i < info->layer_count; i++) {
		const struct target_layer *layer = &info->layers[i];

		place_of_device(root, layer->name, ret);
		if (strcmp(layer->kind, "crypt") == 0) {
			ret->encrypting = true;
			snprintf(ret->encryption, sizeof(ret->encryption), "dm-crypt, %.30s",
				 layer->detail[0] ? layer->detail : layer->name);
		}
	}
	place_of_device(root, info->device, ret);
}

static uint64_t memory_total_bytes(const char *root)
{
	char line[128];
	unsigned long long kib = 0;

	if (sysfs_read(line, sizeof(line), "%s/proc/meminfo", root) == 0)
		sscanf(line, "MemTotal: %llu kB", &kib);
	return kib * KIB;
}

/*
 * A guess on the small side: a cache that is there but smaller does no harm to the advice.
 * Disks carry up to 256 MiB. SSDs with memory of their own have a thousandth of their
 * capacity, for the map; what of it caches data is unknown, and 2 GiB is the most seen.
 */
static void guess_cache(const char *root, const struct target_info *info, bool direct,
			struct audit_place *ret)
{
	const uint64_t capacity_bytes =
		512 * sysfs_read_u64(0, "%s/sys/block/%s/size", root, info->device);

	if (!direct || ret->loop_buffered) {
		ret->cache_bytes_guess = memory_total_bytes(root);
		snprintf(ret->cache_name, sizeof(ret->cache_name), "the page cache");
		return;
	}
	/* A virtual disk's cache is its host's, and unknown. */
	if (!has_prefix(info->device, "sd") && !has_prefix(info->device, "nvme") &&
	    !has_prefix(info->device, "mmcblk"))
		return;
	ret->cache_bytes_guess = info->rotational ? 256 * MIB : capacity_bytes / 1024;
	if (ret->cache_bytes_guess > 2 * GIB)
		ret->cache_bytes_guess = 2 * GIB;
	snprintf(ret->cache_name, sizeof(ret->cache_name), "the drive's own memory");
}

void gather_place(const char *root, const struct target *target, bool direct,
		  struct audit_place *ret)
{
	const struct target_info *info = &target->info;

	*ret = (struct audit_place){ 0 };
	if (info->kind != TARGET_DIRECTORY && info->kind != TARGET_FILE &&
	    info->kind != TARGET_BLOCK)
		return;
	if (info->kind != TARGET_BLOCK) {
		place_of_mount(info, ret);
		if (target->fd >= 0)
			place_of_file(target->fd, ret);
	}
	place_of_layers(root, info, ret);
	guess_cache(root, info, direct, ret);
	gather_cgroup(root, info, ret->cgroup_limit, sizeof(ret->cgroup_limit));
}
