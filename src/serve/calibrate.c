/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"
#include "serve/calibrate.h"
#include "serve/file.h"

#define READS 300
#define READS_WARM 30
#define READ_BYTES 4096
#define MODEL_NS (100 * MICROSECOND_NS)

static int compare_ns(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorted times of READS reads. */
static int time_reads(int fd, void *buffer, uint64_t *ret_ns, struct err *err)
{
	for (int i = -READS_WARM; i < READS; i++) {
		const uint64_t start_ns = clock_gettime_ns();

		if (pread(fd, buffer, READ_BYTES, 0) != READ_BYTES)
			return err_errno(err, errno ? -errno : -EIO, "read the served drive");
		if (i >= 0)
			ret_ns[i] = clock_gettime_ns() - start_ns;
	}
	qsort(ret_ns, READS, sizeof(ret_ns[0]), compare_ns);
	return 0;
}

static int measure(struct calibration *ret, struct file *file, int fd, void *buffer,
		   struct err *err)
{
	uint64_t ns[READS];
	int r;

	file_rehearse(file, 0, 0);
	r = time_reads(fd, buffer, ns, err);
	if (r < 0)
		return r;
	ret->floor_ns = ns[READS / 2];

	file_rehearse(file, MODEL_NS, 0);
	r = time_reads(fd, buffer, ns, err);
	if (r < 0)
		return r;
	ret->overhead_ns = ns[READS / 2] > MODEL_NS ? ns[READS / 2] - MODEL_NS : 0;
	if (ret->overhead_ns > MODEL_NS)
		ret->overhead_ns = MODEL_NS;

	file_rehearse(file, MODEL_NS, ret->overhead_ns);
	r = time_reads(fd, buffer, ns, err);
	if (r < 0)
		return r;
	ret->residual_ns_p50 = (int64_t)ns[READS / 2] - (int64_t)MODEL_NS;
	ret->residual_ns_p99 = (int64_t)ns[READS * 99 / 100] - (int64_t)MODEL_NS;
	return 0;
}

int calibrate(struct calibration *ret, struct file *file, const char *path, struct err *err)
{
	DEFER(defer_close) int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	DEFER(defer_free) void *buffer = aligned_alloc(READ_BYTES, READ_BYTES);
	int r;

	if (fd < 0)
		return err_errno(err, -errno, "open '%s'", path);
	if (!buffer)
		return err_errno(err, -ENOMEM, "calibrate");
	r = measure(ret, file, fd, buffer, err);
	file_rehearse(file, REHEARSE_OFF, 0);
	return r;
}
