/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * blocktrace - what the kernel sees of the requests to a block device, by its own block tracing:
 * events of blktrace's format, of all CPUs, into one file. The device is opened for reading and
 * nothing is read from it; tracing costs those who use it about a microsecond a request. It needs
 * root. debugfs need not be mounted: it is opened without a place in the file system.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct blocktrace_request {
	const char *device;		/* path */
	uint64_t for_ns;		/* 0 = until *stop */
	const volatile sig_atomic_t *stop;
	int fd;				/* where events go, whole ones only */
	void (*ready)(void *ctx);	/* tracing has begun; may be NULL */
	void *ctx;
};

struct blocktrace_result {
	uint64_t event_count, dropped_count;
	char device_number[32];		/* "8:16": what events call the device */
};

/*
 * 0, or
 *	-ENOTBLK	no block device
 *	-EPERM		not root, or a kernel that is locked down
 *	-EOPNOTSUPP	this kernel has no block tracing
 *	-EBUSY		somebody traces it already
 */
int blocktrace_run(const struct blocktrace_request *request, struct blocktrace_result *ret,
		   struct err *err);

/* How many of the bytes are whole events, and how many of requests; -EPROTO: these are none. */
ssize_t blocktrace_whole(const char *data, size_t bytes, uint64_t *ret_count);
