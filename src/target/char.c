/* SPDX-License-Identifier: MIT */

/*
 * char - /dev/null and /dev/zero: the kernel's call path with nothing behind it. What
 * other character devices would do with I/O nobody knows; they are refused.
 */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/units.h"
#include "target/kinds.h"

#define MEMORY_MAJOR 1
#define NULL_MINOR 3
#define ZERO_MINOR 5

static int char_open(struct target *target, const struct target_request *request, int path_fd,
		     struct err *err)
{
	struct target_info *info = &target->info;
	struct stat st;
	int r;

	if (fstat(path_fd, &st) < 0)
		return err_errno(err, -errno, "%s", info->spec);
	if (st.st_rdev != makedev(MEMORY_MAJOR, NULL_MINOR) &&
	    st.st_rdev != makedev(MEMORY_MAJOR, ZERO_MINOR)) {
		err_set(err, -EINVAL,
			"%s is a character device; of those only /dev/null and /dev/zero are "
			"targets",
			info->spec);
		if (strncmp(info->path, "/dev/nvme", 9) == 0)
			err_hint(err, "a drive's first namespace is %.64sn1", info->path);
		return -EINVAL;
	}
	if (!request->writes && st.st_rdev == makedev(MEMORY_MAJOR, NULL_MINOR))
		return err_set(err, -EFBIG, "/dev/null has nothing to read; read /dev/zero");
	target->fd = r = target_reopen(path_fd, target_flags(request, request->writes));
	if (r < 0)
		return err_errno(err, r, "%s", info->spec);
	info->kind = TARGET_CHAR;
	info->size_bytes = TIB;
	info->logical_block_bytes = info->physical_block_bytes = 512;
	info->memory_align_bytes = info->offset_align_bytes = 512;
	return 0;
}

const struct target_ops target_char = {
	.mode = S_IFCHR,
	.help = "/dev/null or /dev/zero: measures the kernel's call path",
	.open = char_open,
};
