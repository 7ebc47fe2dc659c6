/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"
#include "serve/calibrate.h"
#include "serve/file.h"

#define ROUNDS_MAX 100
#define ROUNDS_IDLE 10		/* so many without a better one end it */
#define READS 40		/* in a round */
#define READ_BYTES 4096
#define MODEL_NS (100 * MICROSECOND_NS)

struct times {
	uint64_t ns_p50, ns_p99;
};

static int compare_ns(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int time_round(int fd, void *buffer, struct times *ret, struct err *err)
{
	uint64_t ns[READS];

	for (int i = 0; i < READS; i++) {
		const uint64_t start_ns = clock_gettime_ns();

		if (pread(fd, buffer, READ_BYTES, 0) != READ_BYTES)
			return err_errno(err, errno ? -errno : -EIO, "read the served drive");
		ns[i] = clock_gettime_ns() - start_ns;
	}
	qsort(ns, READS, sizeof(ns[0]), compare_ns);
	ret->ns_p50 = ns[READS / 2];
	ret->ns_p99 = ns[READS * 99 / 100];
	return 0;
}

/*
 * The quietest of many rounds: what others do to this machine meanwhile is not the path's,
 * and deducting it would make the drive faster than it is.
 */
static int time_reads(int fd, void *buffer, struct times *ret, struct err *err)
{
	int idle_count = 0;

	*ret = (struct times){ UINT64_MAX, UINT64_MAX };
	for (int i = 0; i < ROUNDS_MAX && idle_count < ROUNDS_IDLE; i++) {
		struct times round;
		const int r = time_round(fd, buffer, &round, err);

		if (r < 0)
			return r;
		idle_count = round.ns_p50 + MICROSECOND_NS < ret->ns_p50 ? 0 : idle_count + 1;
		if (round.ns_p50 < ret->ns_p50)
			*ret = round;
	}
	return 0;
}

static int measure(struct calibration *ret, struct file *file, int fd, void *buffer,
		   struct err *err)
{
	struct times times;
	int r;

	file_rehearse(file, 0, 0);
	r = time_reads(fd, buffer, &times, err);
	if (r < 0)
		return r;
	ret->floor_ns = times.ns_p50;

	file_rehearse(file, MODEL_NS, 0);
	r = time_reads(fd, buffer, &times, err);
	if (r < 0)
		return r;
	ret->overhead_ns = times.ns_p50 > MODEL_NS ? times.ns_p50 - MODEL_NS : 0;
	if (ret->overhead_ns > MODEL_NS)
		ret->overhead_ns = MODEL_NS;

	file_rehearse(file, MODEL_NS, ret->overhead_ns);
	r = time_reads(fd, buffer, &times, err);
	if (r < 0)
		return r;
	ret->residual_ns_p50 = (int64_t)times.ns_p50 - (int64_t)MODEL_NS;
	ret->residual_ns_p99 = (int64_t)times.ns_p99 - (int64_t)MODEL_NS;
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
