/* SPDX-License-Identifier: MIT */

/*
 * directory - a file of our own in it (testfile.h), or several that make up one range, readable
 * and writable whatever the workload does, since they must be laid out before they are read.
 */

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>

#include "base/units.h"
#include "target/gate.h"
#include "target/kinds.h"
#include "target/testfile.h"

#define BLOCK_BYTES 4096u
#define FAT_FILE_MAX_BYTES (4 * GIB - 1)

static int measure_room(int fd, const char *spec, struct testfile_room *ret, struct err *err)
{
	struct rlimit limit;
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return err_errno(err, -errno, "%s", spec);
	ret->total_bytes = (uint64_t)fs.f_blocks * (uint64_t)fs.f_frsize;
	ret->free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_frsize;
	ret->file_max_bytes = fs.f_type == MSDOS_SUPER_MAGIC ? FAT_FILE_MAX_BYTES : UINT64_MAX;
	/* Going beyond it would be a signal, not an error. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ret->file_max_bytes)
		ret->file_max_bytes = limit.rlim_cur;
	return 0;
}

struct directory {
	uint32_t count;
	struct testfile files[];
};

static int make_files(struct target *target, const struct testfile_place *place, uint32_t count,
		      struct err *err)
{
	struct directory *directory;
	int r = 0;

	directory = calloc(1, sizeof(*directory) + count * sizeof(directory->files[0]));
	if (!directory)
		return err_errno(err, -ENOMEM, "%u test files", count);
	target->private = directory;
	for (uint32_t i = 0; r == 0 && i < count; i++) {
		struct testfile *file = &directory->files[i];

		file->fd = file->note_fd = -1;
		directory->count = i + 1;
		r = testfile_create(file, place, TESTFILE_ANY, err);
	}
	if (r < 0)
		return r;
	target->fd = directory->files[0].fd;
	return 0;
}

/*
 * Each gets its share: in stripes all the same, in whole ones; one after the other whole blocks,
 * and the last what is left, so that together they are size_bytes.
 */
static uint64_t share_of(uint64_t size_bytes, uint32_t count, uint64_t stripe_bytes)
{
	if (stripe_bytes == 0)
		return size_bytes / count / BLOCK_BYTES * BLOCK_BYTES;
	return (size_bytes + stripe_bytes * count - 1) / (stripe_bytes * count) * stripe_bytes;
}

static int extend_files(struct target *target, uint64_t size_bytes, struct err *err)
{
	struct directory *directory = target->private;
	const uint32_t count = directory->count;
	const uint64_t share_bytes = share_of(size_bytes, count, target->stripe_bytes);
	uint64_t start_bytes = 0;
	char text[UNITS_TEXT_BYTES];

	if (count == 1)
		return testfile_extend(directory->files, size_bytes, err);
	if (share_bytes == 0)
		return err_set(err, -EINVAL, "%s: %u test files of %s in all are less than a block each",
			       target->info.spec, count, units_format_bytes(size_bytes, text));
	if (target_make_parts(target, count, err) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const bool takes_rest = target->stripe_bytes == 0 && i + 1 == count;
		const uint64_t bytes = takes_rest ? size_bytes - start_bytes : share_bytes;
		int r = testfile_extend(&directory->files[i], bytes, err);

		target->parts[i].fd = directory->files[i].fd;
		target->parts[i].start_bytes = start_bytes;
		target->parts[i].size_bytes = bytes;
		target->parts[i].device_major = target->info.device_major;
		target->parts[i].device_minor = target->info.device_minor;
		start_bytes += bytes;
		if (r < 0)
			return r;
	}
	return 0;
}

static int directory_open(struct target *target, const struct target_request *request, int path_fd,
			  struct err *err)
{
	struct target_info *info = &target->info;
	const struct testfile_place place = {
		.directory_fd = path_fd,
		.directory = info->path,
		.flags = request->sync_flags,
	};
	const uint32_t count = request->file_count > 1 ? request->file_count : 1;
	struct testfile_room room;
	uint64_t size;
	int r;

	info->kind = TARGET_DIRECTORY;
	target->stripe_bytes = count > 1 ? request->stripe_bytes : 0;
	r = target_check_parts(request, count, err);
	if (r == 0)
		r = gate_check_devtmpfs(path_fd, info->path, err);
	if (r == 0)
		r = measure_room(path_fd, info->spec, &room, err);
	if (r == 0)
		r = testfile_size(&room, request->size_bytes, request->need_bytes, &size, err);
	if (r == 0)
		r = make_files(target, &place, count, err);
	if (r < 0)
		return r;
	info->ours = true;
	target_describe_place(target);
	r = extend_files(target, size, err);
	if (r < 0)
		return r;
	info->size_bytes = size;
	target_set_direct(target, request);
	return 0;
}

static void directory_close(struct target *target)
{
	struct directory *directory = target->private;

	if (!directory)
		return;
	for (uint32_t i = 0; i < directory->count; i++)
		testfile_done(&directory->files[i]);
	target_forget_fds(target);
	free(directory);
}

const struct target_ops target_directory = {
	.mode = S_IFDIR,
	.help = "DIR, a directory: tare makes its own unnamed file in it, which vanishes "
		"afterwards",
	.open = directory_open,
	.close = directory_close,
};

int target_reap_leftovers(void)
{
	char notes[4096];

	return testfile_notes_directory(notes, sizeof(notes)) < 0 ? 0 : testfile_reap(notes);
}
