/* SPDX-License-Identifier: MIT */

/*
 * file - an existing regular file. Reading opens it read-only; writing needs that the
 * command line named this very file expendable, and changes bytes inside it, never its size.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "target/gate.h"
#include "target/kinds.h"

/* The file itself is named, or an item of "FILE:FILE". 1, 0, or why a name leads nowhere. */
static int is_named(const char *list, const struct stat *file, struct err *err)
{
	const char *at = list;
	char item[4096];
	struct stat named;

	if (stat(list, &named) == 0)
		return file->st_dev == named.st_dev && file->st_ino == named.st_ino;
	while (target_next_item(&at, item, sizeof(item))) {
		if (stat(item, &named) < 0)
			return err_errno(err, -errno, "%s, named as expendable", item);
		if (file->st_dev == named.st_dev && file->st_ino == named.st_ino)
			return 1;
	}
	return 0;
}

static int check_expendable(const struct target_info *info, const struct target_request *request,
			    int path_fd, struct err *err)
{
	struct stat file;
	int r = 0;

	if (fstat(path_fd, &file) < 0)
		return err_errno(err, -errno, "%s", info->spec);
	if (request->expendable_path)
		r = is_named(request->expendable_path, &file, err);
	if (r != 0)
		return r < 0 ? r : 0;
	if (request->expendable_path)
		err_set(err, -EPERM, "%s is not the file named as expendable (%s); not touched",
			info->spec, request->expendable_path);
	else
		err_set(err, -EPERM, "%s is a file that tare did not make; not touched",
			info->spec);
	err_hint(err, "name a directory: tare makes its own file there; or say that this one "
		      "may be overwritten: --expendable=%.120s",
		 info->spec);
	return -EPERM;
}

static int check_writable(const struct target_info *info, const struct target_request *request,
			  int path_fd, struct err *err)
{
	int r = gate_check_devtmpfs(path_fd, info->path, err);

	if (r == 0)
		r = check_expendable(info, request, path_fd, err);
	if (r == 0)
		r = gate_check_file(path_fd, info->path, err);
	return r;
}

static int file_open(struct target *target, const struct target_request *request, int path_fd,
		     struct err *err)
{
	struct target_info *info = &target->info;
	struct stat st;
	int r;

	info->kind = TARGET_FILE;
	if (request->writes) {
		r = check_writable(info, request, path_fd, err);
		if (r < 0)
			return r;
	}
	target->fd = r = target_reopen(path_fd, target_flags(request, request->writes));
	if (r < 0)
		return err_errno(err, r, "%s cannot be opened for %s", info->spec,
				 request->writes ? "writing" : "reading");
	if (fstat(target->fd, &st) < 0)
		return err_errno(err, -errno, "%s", info->spec);
	/* Once more with the file open: a loop device or swapon may have taken it meanwhile. */
	if (request->writes) {
		r = gate_check_file(target->fd, info->path, err);
		if (r < 0)
			return r;
	}
	info->size_bytes = (uint64_t)st.st_size;
	target_describe_place(target);
	target_set_direct(target, request);
	return 0;
}

const struct target_ops target_file = {
	.mode = S_IFREG,
	.help = "FILE, an existing regular file; written only when named as expendable",
	.open = file_open,
};
