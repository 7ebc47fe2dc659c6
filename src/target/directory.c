/* SPDX-License-Identifier: MIT */

/*
 * directory - a file of our own in it (testfile.h), readable and writable whatever the
 * workload does, since it must be laid out before it is read.
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

static int directory_open(struct target *target, const struct target_request *request, int path_fd,
			  struct err *err)
{
	struct target_info *info = &target->info;
	const struct testfile_place place = {
		.directory_fd = path_fd,
		.directory = info->path,
		.flags = request->sync_flags,
	};
	struct testfile_room room;
	struct testfile *file;
	uint64_t size;
	int r;

	info->kind = TARGET_DIRECTORY;
	r = gate_check_devtmpfs(path_fd, info->path, err);
	if (r == 0)
		r = measure_room(path_fd, info->spec, &room, err);
	if (r == 0)
		r = testfile_size(&room, request->size_bytes, request->need_bytes, &size, err);
	if (r < 0)
		return r;

	file = calloc(1, sizeof(*file));
	if (!file)
		return err_errno(err, -ENOMEM, "test file");
	file->fd = file->note_fd = -1;
	target->private = file;
	r = testfile_create(file, &place, TESTFILE_ANY, err);
	if (r < 0)
		return r;
	target->fd = file->fd;
	info->ours = true;
	target_describe_place(target);
	r = testfile_extend(file, size, err);
	if (r < 0)
		return r;
	info->size_bytes = size;
	target_set_direct(target, request);
	return 0;
}

static void directory_close(struct target *target)
{
	struct testfile *file = target->private;

	if (!file)
		return;
	testfile_done(file);
	target->fd = -1;
	free(file);
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
