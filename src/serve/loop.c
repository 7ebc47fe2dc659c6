/* SPDX-License-Identifier: MIT */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/sysfs.h"
#include "serve/loop.h"
#include "serve/mounts.h"

#define ATTEMPTS 8
#define PATIENCE_NS (2 * SECOND_NS)
#define POLL_US 5000

void loop_path(int number, char ret[LOOP_PATH_BYTES])
{
	snprintf(ret, LOOP_PATH_BYTES, "/dev/loop%d", number);
}

static int control_open(struct err *err)
{
	const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	if (control >= 0)
		return control;
	err_errno(err, -errno, "open '/dev/loop-control'");
	if (err && (err->code == -EACCES || err->code == -EPERM))
		err_hint(err, "a loop device needs root; without --loop the drive is a file");
	return err ? err->code : -EACCES;
}

static int device_open(int number)
{
	char path[LOOP_PATH_BYTES];

	loop_path(number, path);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* One discard, which the file refuses; after it the device no longer advertises them. */
static int learn_no_discard(int device, uint32_t block_bytes, struct err *err)
{
	uint64_t range[2] = { 0, block_bytes < 4096 ? 4096 : block_bytes };

	if (ioctl(device, BLKDISCARD, range) < 0 && errno != EOPNOTSUPP)
		return err_errno(err, -errno, "try a discard that the drive refuses");
	return 0;
}

/* 0, -EBUSY when someone else was quicker to take the new device, or another error. */
static int configure(int number, int file_fd, const char *file, uint32_t block_bytes)
{
	struct loop_config config = {
		.fd = (uint32_t)file_fd,
		.block_size = block_bytes,
		.info.lo_flags = LO_FLAGS_DIRECT_IO,
	};
	DEFER(defer_close) int device = -1;

	for (int tries = 0; tries < 200 && device < 0; tries++) {
		device = device_open(number);	/* its node may take a while to appear */
		if (device < 0 && errno != ENOENT)
			return -errno;
		if (device < 0)
			usleep(POLL_US);
	}
	if (device < 0)
		return -ENOENT;
	strncpy((char *)config.info.lo_file_name, file, LO_NAME_SIZE - 1);
	return ioctl(device, LOOP_CONFIGURE, &config) < 0 ? -errno : 0;
}

static int settle(int number, uint32_t block_bytes, bool discards, struct err *err)
{
	DEFER(defer_close) int device = device_open(number);
	char line[32];

	if (device < 0)
		return err_errno(err, -errno, "open '/dev/loop%d'", number);
	if (sysfs_read(line, sizeof(line), "/sys/block/loop%d/loop/dio", number) == 0 &&
	    strcmp(line, "1") != 0)
		return err_set(err, -EOPNOTSUPP, "/dev/loop%d does not do direct I/O on the drive, "
			       "so that the page cache would answer for it", number);
	if (!discards)
		return learn_no_discard(device, block_bytes, err);
	if (sysfs_read_u64(0, "/sys/block/loop%d/queue/discard_max_bytes", number) == 0)
		return err_set(err, -EOPNOTSUPP, "/dev/loop%d does not pass discards on", number);
	return 0;
}

int loop_attach(int *ret, const char *file, uint32_t block_bytes, bool discards, struct err *err)
{
	const struct loop_observer silent = { NULL, NULL };
	DEFER(defer_close) int control = control_open(err);
	DEFER(defer_close) int file_fd = -1;
	int number = -1, r = -EBUSY;

	if (control < 0)
		return control;
	file_fd = open(file, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (file_fd < 0)
		return err_errno(err, -errno, "open '%s'", file);
	for (int i = 0; i < ATTEMPTS && r == -EBUSY; i++) {
		number = ioctl(control, LOOP_CTL_ADD, -1);
		if (number < 0)
			return err_errno(err, -errno, "add a loop device");
		r = configure(number, file_fd, file, block_bytes);
	}
	if (r < 0) {
		ioctl(control, LOOP_CTL_REMOVE, number);
		return err_errno(err, r, "attach '%s' to /dev/loop%d", file, number);
	}
	r = settle(number, block_bytes, discards, err);
	if (r < 0) {
		loop_remove(number, &silent, NULL);
		return r;
	}
	*ret = number;
	return 0;
}

bool loop_is_of(int number, const char *file)
{
	const char *name = strrchr(file, '/');
	char line[4096], path[64];

	snprintf(path, sizeof(path), "/sys/block/loop%d", number);
	if (access(path, F_OK) < 0)
		return false;
	if (sysfs_read(line, sizeof(line), "/sys/block/loop%d/loop/backing_file", number) < 0)
		return true;	/* let go already */
	/* When the file system it lies in is unmounted, only its path therein is shown. */
	return strcmp(line, file) == 0 || (strcmp(line, name) == 0 && access(name, F_OK) < 0);
}

/* --- getting rid of it --------------------------------------------------------------------- */

static bool is_attached(int number)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/block/loop%d/loop", number);
	return access(path, F_OK) == 0;
}

/* "fio (1234)" of a process that has the device open; "" when none can be seen. */
static void find_holder(int number, char *ret, size_t ret_bytes)
{
	char path[LOOP_PATH_BYTES], link[300], to[64], name[64];
	DEFER(defer_closedir) DIR *proc = opendir("/proc");
	struct dirent *process, *fd;

	ret[0] = '\0';
	loop_path(number, path);
	while (proc && (process = readdir(proc))) {
		DEFER(defer_closedir) DIR *fds = NULL;

		snprintf(link, sizeof(link), "/proc/%.20s/fd", process->d_name);
		if (!isdigit((unsigned char)process->d_name[0]) || !(fds = opendir(link)))
			continue;
		while ((fd = readdir(fds))) {
			ssize_t length = readlinkat(dirfd(fds), fd->d_name, to, sizeof(to) - 1);

			to[length > 0 ? length : 0] = '\0';
			if (strcmp(to, path) != 0)
				continue;
			sysfs_read(name, sizeof(name), "/proc/%.20s/comm", process->d_name);
			snprintf(ret, ret_bytes, "%s (%.20s)", name, process->d_name);
			return;
		}
	}
}

static int detach(int number, struct err *err)
{
	const uint64_t until_ns = clock_gettime_ns() + PATIENCE_NS;
	char holder[96];
	int device = device_open(number);

	if (device < 0)
		return errno == ENOENT || errno == ENXIO ? 0 :
		       err_errno(err, -errno, "open '/dev/loop%d'", number);
	if (ioctl(device, LOOP_CLR_FD, 0) < 0 && errno != ENXIO) {
		const int r = -errno;

		close(device);
		return err_errno(err, r, "detach '/dev/loop%d'", number);
	}
	close(device);
	while (is_attached(number) && clock_gettime_ns() < until_ns)
		usleep(POLL_US);
	if (!is_attached(number))
		return 0;
	find_holder(number, holder, sizeof(holder));
	return err_set(err, -EBUSY, "/dev/loop%d is still held by %s; it goes with its last user",
		       number, holder[0] ? holder : "someone unseen");
}

int loop_remove(int number, const struct loop_observer *observer, struct err *err)
{
	const uint64_t until_ns = clock_gettime_ns() + PATIENCE_NS;
	DEFER(defer_close) int control = control_open(err);
	char path[LOOP_PATH_BYTES];
	int r;

	if (control < 0)
		return control;
	loop_path(number, path);
	mounts_unmount_device(path, observer->note, observer->ctx);
	r = detach(number, err);
	if (r < 0)
		return r;
	do
		r = ioctl(control, LOOP_CTL_REMOVE, number) < 0 ? -errno : 0;
	while (r == -EBUSY && clock_gettime_ns() < until_ns && usleep(POLL_US) == 0);
	if (r < 0 && r != -ENODEV)
		return err_errno(err, r, "remove '/dev/loop%d'", number);
	return 0;
}
