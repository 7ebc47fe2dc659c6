/* SPDX-License-Identifier: MIT */
/* The machine a job file is read on; nothing is opened but job files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/sysfs.h"
#include "base/units.h"
#include "foreign/fio_source.h"

static int too_big(const char *path, size_t bytes_max, struct err *err)
{
	char size[UNITS_TEXT_BYTES];

	return err_set(err, -EFBIG, "%s is larger than %s, too much for a job file", path,
		       units_format_bytes(bytes_max, size));
}

static int world_read(void *ctx, const char *path, size_t bytes_max, struct text *ret,
		      struct err *err)
{
	const bool standard = strcmp(path, "-") == 0;
	DEFER(defer_fclose) FILE *opened = standard ? NULL : fopen(path, "re");
	FILE *file = standard ? stdin : opened;
	char buffer[16384];
	struct stat st;
	size_t bytes;

	(void)ctx;
	if (!file)
		return errno == ENOENT ? err_set(err, -ENOENT, "%s: no such job file", path)
				       : err_errno(err, -errno, "%s", path);
	if (fstat(fileno(file), &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "%s is a directory, not a job file: a job has its files "
					     "there with --directory=%s", path, path);
	if (S_ISBLK(st.st_mode))
		return err_set(err, -EINVAL, "%s is a device, not a job file: a job works on it with "
					     "--filename=%s", path, path);
	if (!standard && !S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return err_set(err, -EINVAL, "%s is no regular file, so no job file", path);
	while ((bytes = fread(buffer, 1, sizeof(buffer), file)) > 0) {
		text_add_bytes(ret, buffer, bytes);
		if (ret->length > bytes_max)
			return too_big(path, bytes_max, err);
	}
	return ferror(file) ? err_errno(err, -errno, "%s", path) : 0;
}

static const char *world_environment(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

/* In units of 512 bytes, whatever the device's block is. */
static uint64_t device_bytes(dev_t device)
{
	return 512 * sysfs_read_u64(0, "/sys/dev/block/%u:%u/size", major(device), minor(device));
}

static bool is_zoned(dev_t device)
{
	char line[32];

	return sysfs_read(line, sizeof(line), "/sys/dev/block/%u:%u/queue/zoned", major(device),
			  minor(device)) == 0 &&
	       strcmp(line, "none") != 0;
}

static enum fio_thing world_look(void *ctx, const char *path, uint64_t *ret_bytes)
{
	struct stat st;

	(void)ctx;
	*ret_bytes = 0;
	if (stat(path, &st) < 0)
		return FIO_NOTHING;
	if (S_ISREG(st.st_mode)) {
		*ret_bytes = (uint64_t)st.st_size;
		return FIO_FILE;
	}
	if (S_ISDIR(st.st_mode))
		return FIO_DIRECTORY;
	if (S_ISCHR(st.st_mode))
		return FIO_CHAR_DEVICE;
	if (!S_ISBLK(st.st_mode))
		return FIO_OTHER;
	*ret_bytes = device_bytes(st.st_rdev);
	return is_zoned(st.st_rdev) ? FIO_ZONED_DEVICE : FIO_DEVICE;
}

static int world_node_cpus(void *ctx, uint32_t node, char *list, size_t list_bytes)
{
	(void)ctx;
	return sysfs_read(list, list_bytes, "/sys/devices/system/node/node%u/cpulist", node);
}

static uint64_t positive(long value)
{
	return value > 0 ? (uint64_t)value : 1;
}

void fio_world_real(struct fio_world *ret)
{
	*ret = (struct fio_world){
		.read = world_read,
		.environment = world_environment,
		.look = world_look,
		.node_cpus = world_node_cpus,
		.page_bytes = positive(sysconf(_SC_PAGESIZE)),
		.cpu_count = positive(sysconf(_SC_NPROCESSORS_ONLN)),
	};
	ret->memory_mb = positive(sysconf(_SC_PHYS_PAGES)) * ret->page_bytes / MIB;
}
