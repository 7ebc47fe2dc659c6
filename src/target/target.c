/* SPDX-License-Identifier: MIT */
#include "target/target.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/text.h"
#include "target/kinds.h"
#include "target/mounts.h"
#include "target/stack.h"

static const struct target_ops *kind_of_scheme(const char *spec)
{
	for (size_t i = 0; target_kinds[i]; i++) {
		const char *scheme = target_kinds[i]->scheme;
		const size_t length = scheme ? strlen(scheme) : 0;

		if (scheme && strncmp(spec, scheme, length) == 0 && spec[length] == ':')
			return target_kinds[i];
	}
	return NULL;
}

static const struct target_ops *kind_of_mode(mode_t mode)
{
	for (size_t i = 0; target_kinds[i]; i++)
		if (!target_kinds[i]->scheme && target_kinds[i]->mode == (mode & S_IFMT))
			return target_kinds[i];
	return NULL;
}

static const char *scheme_name(const void *ctx, size_t i)
{
	(void)ctx;
	for (size_t k = 0; target_kinds[k]; k++)
		if (target_kinds[k]->scheme && i-- == 0)
			return target_kinds[k]->scheme;
	return NULL;
}

static int not_found(const char *spec, struct err *err)
{
	const char *colon = strchr(spec, ':');

	if (colon && !memchr(spec, '/', (size_t)(colon - spec))) {
		char word[32];
		const char *nearest;

		snprintf(word, sizeof(word), "%.*s", (int)(colon - spec), spec);
		nearest = text_nearest(word, scheme_name, NULL);
		err_set(err, -EINVAL, "%s: no such file, and no kind of target is called '%s'",
			spec, word);
		if (nearest)
			err_hint(err, "did you mean '%s:'?", nearest);
		return -EINVAL;
	}
	err_set(err, -ENOENT, "%s: no such file or directory; tare does not create it", spec);
	err_hint(err, "name a directory: tare makes its own file there and removes it; "
		      "or a device: tare devices lists them");
	return -ENOENT;
}

/* An O_PATH descriptor: nothing happens to a device by it, and it stays what it is. */
static int open_path(struct target_info *info, struct err *err)
{
	const int fd = open(info->spec, O_PATH | O_CLOEXEC);
	DEFER(defer_free) char *real = NULL;

	if (fd < 0 && errno == ENOENT)
		return not_found(info->spec, err);
	if (fd < 0)
		return err_errno(err, -errno, "%s", info->spec);
	real = realpath(info->spec, NULL);
	snprintf(info->path, sizeof(info->path), "%s", real ? real : info->spec);
	return fd;
}

/* What would have no effect is refused. */
static int check_files(const struct target *target, const struct target_request *request,
		       struct err *err)
{
	if (target->ops == &target_directory || target->ops == &target_join)
		return 0;
	if (request->file_count > 1)
		return err_set(err, -EINVAL, "%s: a number of files is for directories",
			       request->spec);
	if (request->stripe_bytes)
		return err_set(err, -EINVAL, "%s: stripes are for several files", request->spec);
	return 0;
}

static int open_kind(struct target *target, const struct target_request *request, struct err *err)
{
	DEFER(defer_close) int path_fd = -1;
	struct stat st;
	int r;

	target->ops = kind_of_scheme(request->spec);
	if (target->ops) {
		r = check_files(target, request, err);
		return r < 0 ? r : target->ops->open(target, request, -1, err);
	}

	r = open_path(&target->info, err);
	if (r < 0)
		return r;
	path_fd = r;
	if (fstat(path_fd, &st) < 0)
		return err_errno(err, -errno, "%s", request->spec);
	target->ops = kind_of_mode(st.st_mode);
	if (!target->ops)
		return err_set(err, -EINVAL,
			       "%s is a %s; a target is a directory, a file or a block device",
			       request->spec, S_ISFIFO(st.st_mode) ? "pipe" : "socket");
	r = check_files(target, request, err);
	return r < 0 ? r : target->ops->open(target, request, path_fd, err);
}

int target_open(struct target **ret, const struct target_request *request, struct err *err)
{
	struct target *target;
	int r;

	assert(request->spec);
	if (!*request->spec)
		return err_set(err, -EINVAL,
			       "the target is empty; name a directory, a file or a device");
	if (strlen(request->spec) >= sizeof(target->info.spec))
		return err_set(err, -EINVAL, "the target's name is longer than %zu bytes",
			       sizeof(target->info.spec) - 1);
	target = calloc(1, sizeof(*target));
	if (!target)
		return err_errno(err, -ENOMEM, "%s", request->spec);
	target->fd = -1;
	strcpy(target->info.spec, request->spec);
	r = open_kind(target, request, err);
	if (r == 0)
		r = target_check_size(target, request, err);
	if (r < 0) {
		target_close(target);
		return r;
	}
	*ret = target;
	return 0;
}

void target_close(struct target *target)
{
	if (!target)
		return;
	if (target->ops && target->ops->close)
		target->ops->close(target);
	for (uint32_t i = 0; i < target->part_count; i++)
		if (target->parts[i].fd >= 0)
			close(target->parts[i].fd);
	if (target->fd >= 0 && !target->part_count)
		close(target->fd);
	free(target->parts);
	free(target);
}

int target_flush(const struct target *target)
{
	for (uint32_t i = 0; i < target->part_count; i++)
		if (fdatasync(target->parts[i].fd) < 0)
			return -1;
	return target->fd < 0 || target->part_count ? 0 : fdatasync(target->fd);
}

int target_reopen(int path_fd, int flags)
{
	char path[64];
	int fd;

	assert(!(flags & (O_CREAT | O_TRUNC)));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int target_flags(const struct target_request *request, bool writable)
{
	return (writable ? O_RDWR : O_RDONLY) | request->sync_flags;
}

static void describe_alignment(struct target *target)
{
	struct target_info *info = &target->info;
	struct statx stx;

	info->memory_align_bytes = info->offset_align_bytes = info->logical_block_bytes;
	if (statx(target->fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) < 0 ||
	    !(stx.stx_mask & STATX_DIOALIGN) || !stx.stx_dio_offset_align)
		return;
	info->memory_align_bytes = stx.stx_dio_mem_align;
	info->offset_align_bytes = stx.stx_dio_offset_align;
}

static bool set_direct(int fd, const struct target_request *request)
{
	const int flags = fcntl(fd, F_GETFL);
	bool direct = false;

	if (!request->buffered)
		direct = fcntl(fd, F_SETFL, flags | O_DIRECT) == 0;
	/* Another's file refuses O_NOATIME; its reads then update the time of access. */
	if (!request->atime)
		(void)!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NOATIME);
	return direct;
}

void target_set_direct(struct target *target, const struct target_request *request)
{
	target->info.direct = set_direct(target->fd, request);
	for (uint32_t i = 1; i < target->part_count; i++)
		target->info.direct &= set_direct(target->parts[i].fd, request);
	describe_alignment(target);
}

static void describe_file_system(struct target *target, char *source, size_t source_bytes)
{
	struct target_info *info = &target->info;
	struct mount_facts facts;
	struct mounts *mounts;
	struct statvfs vfs;

	if (fstatvfs(target->fd, &vfs) == 0) {
		info->free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
		info->total_bytes = (uint64_t)vfs.f_blocks * vfs.f_frsize;
	}
	source[0] = '\0';
	if (mounts_open(&mounts, "", NULL) < 0)
		return;
	if (mounts_find_file(mounts, target->fd, &facts)) {
		snprintf(info->filesystem, sizeof(info->filesystem), "%s", facts.type);
		snprintf(info->mount_point, sizeof(info->mount_point), "%s", facts.point);
		snprintf(info->mount_source, sizeof(info->mount_source), "%s", facts.source);
		snprintf(info->mount_options, sizeof(info->mount_options), "%s", facts.options);
		snprintf(source, source_bytes, "%s", facts.source);
	}
	mounts_close(mounts);
}

void target_describe_place(struct target *target)
{
	char source[PATH_MAX], name[STACK_NAME_BYTES];
	struct stat st;

	describe_file_system(target, source, sizeof(source));
	if (fstat(target->fd, &st) < 0)
		return;
	/* btrfs numbers its files by a device of its own: the mount's source then tells. */
	if (stack_name_of("", st.st_dev, name) == 0 ||
	    (source[0] == '/' && stack_name_of_path("", source, name) == 0))
		stack_describe("", name, &target->info);
}

int target_check_size(const struct target *target, const struct target_request *request,
		      struct err *err)
{
	const struct target_info *info = &target->info;

	if (info->size_bytes == 0)
		return err_set(err, -EFBIG,
			       "%s is empty: there is nothing to read, and tare does not extend it",
			       info->spec);
	if (info->size_bytes >= request->need_bytes)
		return 0;
	return err_set(err, -EFBIG,
		       "%s has %llu bytes, and %llu are needed; tare does not extend it",
		       info->spec, (unsigned long long)info->size_bytes,
		       (unsigned long long)request->need_bytes);
}

const struct target_ops *const target_kinds[] = {
	&target_directory,
	&target_file,
	&target_block,
	&target_char,
	&target_null,
	&target_sim,
	&target_join,
	NULL,
};
