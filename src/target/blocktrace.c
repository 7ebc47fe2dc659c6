/* SPDX-License-Identifier: MIT */
#include "target/blocktrace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/blktrace_api.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"

#define BUFFER_BYTES (512u << 10)	/* the kernel's, each of so many per CPU */
#define BUFFER_COUNT 8u
#define PART_BYTES (256u << 10)		/* ours: larger than any event */
#define POLL_MS 50
#define CPUS_MAX 4096

/* Events of one CPU. */
struct part {
	int fd;
	char *data;			/* owned; of PART_BYTES */
	size_t bytes;			/* not written yet: less than an event when at rest */
};

struct tracing {
	const struct blocktrace_request *request;
	struct blocktrace_result *ret;
	int device_fd, debug_fd;
	bool set_up;
	char name[BLKTRACE_BDEV_SIZE];
	struct part *parts;
	struct pollfd *polls;
	size_t part_count;
};

static int open_device(struct tracing *t, struct err *err)
{
	const char *path = t->request->device;
	struct stat st;

	t->device_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (t->device_fd < 0)
		return err_errno(err, -errno, "%s", path);
	if (fstat(t->device_fd, &st) < 0 || !S_ISBLK(st.st_mode))
		return err_set(err, -ENOTBLK, "%s is no block device", path);
	snprintf(t->ret->device_number, sizeof(t->ret->device_number), "%u:%u", major(st.st_rdev),
		 minor(st.st_rdev));
	return 0;
}

/* A mount that hangs nowhere: nobody else sees it, and it goes with the descriptor. */
static int open_debugfs(struct tracing *t, struct err *err)
{
	DEFER(defer_close) int context = fsopen("debugfs", FSOPEN_CLOEXEC);

	if (context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		t->debug_fd = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (t->debug_fd < 0)
		t->debug_fd = open("/sys/kernel/debug", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->debug_fd < 0)
		return err_errno(err, -errno, "debugfs, where the kernel puts its traces");
	return 0;
}

static int explain_setup(const struct tracing *t, int code, struct err *err)
{
	const char *path = t->request->device;

	switch (code) {
	case -ENOTTY:
	case -EINVAL:
	case -EOPNOTSUPP:
		err_set(err, -EOPNOTSUPP, "%s: this kernel has no block tracing "
					  "(CONFIG_BLK_DEV_IO_TRACE)", path);
		return err_hint(err, "tare run --record=FILE records what tare itself does");
	case -EBUSY:
		err_set(err, -EBUSY, "%s is being traced already", path);
		return err_hint(err, "by blktrace, or by a recorder that was killed: blktrace -k %s ends it",
				path);
	case -EPERM:
	case -EACCES:
		return err_set(err, -EPERM, "%s: tracing a device needs root", path);
	default:
		return err_errno(err, code, "%s: tracing", path);
	}
}

static int set_up(struct tracing *t, struct err *err)
{
	struct blk_user_trace_setup setup = {
		.act_mask = BLK_TC_QUEUE | BLK_TC_ISSUE | BLK_TC_COMPLETE,
		.buf_size = BUFFER_BYTES,
		.buf_nr = BUFFER_COUNT,
	};

	if (ioctl(t->device_fd, BLKTRACESETUP, &setup) < 0)
		return explain_setup(t, -errno, err);
	t->set_up = true;
	memcpy(t->name, setup.name, sizeof(t->name));
	t->name[sizeof(t->name) - 1] = '\0';
	return 0;
}

/* Root is refused only by a kernel that keeps what it knows from everybody. */
static int explain_open(const struct tracing *t, int code, struct err *err)
{
	if (code != -EPERM)
		return err_errno(err, code,
				"%s: debugfs, block/%s/trace0", t->request->device, t->name);
	err_set(err, -EPERM,
			"%s: this kernel is locked down (confidentiality), and keeps its traces to "
			     "itself",
		t->request->device);
	return err_hint(err, "tare run --record=FILE records what tare itself does");
}

static int open_parts(struct tracing *t, struct err *err)
{
	int first_errno = ENOENT;

	t->parts = calloc(CPUS_MAX, sizeof(*t->parts));
	t->polls = calloc(CPUS_MAX, sizeof(*t->polls));
	if (!t->parts || !t->polls)
		return err_set(err, -ENOMEM, "no memory to trace");
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		struct part *part = &t->parts[t->part_count];
		char path[96];

		snprintf(path, sizeof(path), "block/%s/trace%u", t->name, cpu);
		part->fd = openat(t->debug_fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (part->fd < 0 && cpu == 0)
			first_errno = errno;
		if (part->fd < 0)
			continue;	/* no such CPU */
		t->polls[t->part_count++] = (struct pollfd){ part->fd, POLLIN, 0 };
		part->data = malloc(PART_BYTES);
		if (!part->data)
			return err_set(err, -ENOMEM, "no memory to trace");
	}
	return t->part_count ? 0 : explain_open(t, -first_errno, err);
}

static int write_all(int fd, const char *data, size_t bytes, struct err *err)
{
	while (bytes > 0) {
		const ssize_t done = write(fd, data, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_errno(err, -errno, "keeping events");
		data += done;
		bytes -= (size_t)done;
	}
	return 0;
}

ssize_t blocktrace_whole(const char *data, size_t bytes, uint64_t *ret_count)
{
	struct blk_io_trace event;
	size_t at = 0;

	*ret_count = 0;
	while (bytes - at >= sizeof(event)) {
		memcpy(&event, data + at, sizeof(event));
		if ((event.magic & 0xffffff00u) != BLK_IO_TRACE_MAGIC)
			return -EPROTO;
		if (bytes - at < sizeof(event) + event.pdu_len)
			break;
		at += sizeof(event) + event.pdu_len;
		/* The kernel's notes on clocks and processes are no requests. */
		*ret_count += !(event.action & BLK_TC_ACT(BLK_TC_NOTIFY));
	}
	return (ssize_t)at;
}

/* Whole events go out; the beginning of one waits for its rest. */
static int hand_out(struct tracing *t, struct part *part, struct err *err)
{
	uint64_t count;
	const ssize_t whole = blocktrace_whole(part->data, part->bytes, &count);
	int r;

	if (whole < 0)
		return err_set(err, (int)whole, "the kernel gave an event of an unknown form");
	r = write_all(t->request->fd, part->data, (size_t)whole, err);
	memmove(part->data, part->data + whole, part->bytes - (size_t)whole);
	part->bytes -= (size_t)whole;
	t->ret->event_count += count;
	return r;
}

/* All that is there now. */
static int drain(struct tracing *t, struct err *err)
{
	for (size_t i = 0; i < t->part_count; i++) {
		struct part *part = &t->parts[i];
		ssize_t count;

		while ((count = read(part->fd, part->data + part->bytes,
				     PART_BYTES - part->bytes)) > 0) {
			int r;

			part->bytes += (size_t)count;
			r = hand_out(t, part, err);
			if (r < 0)
				return r;
		}
		if (count < 0 && errno != EAGAIN && errno != EINTR)
			return err_errno(err, -errno, "reading events");
	}
	return 0;
}

static int watch(struct tracing *t, struct err *err)
{
	const struct blocktrace_request *request = t->request;
	const uint64_t end_ns = clock_gettime_ns() + request->for_ns;
	int r = 0;

	if (ioctl(t->device_fd, BLKTRACESTART) < 0)
		return err_errno(err, -errno, "%s: beginning to trace", request->device);
	if (request->ready)
		request->ready(request->ctx);
	while (r == 0 && !*request->stop && (!request->for_ns || clock_gettime_ns() < end_ns)) {
		poll(t->polls, (nfds_t)t->part_count, POLL_MS);
		r = drain(t, err);
	}
	ioctl(t->device_fd, BLKTRACESTOP);
	return r < 0 ? r : drain(t, err);
}

/* Events for which the kernel had no room. */
static void read_dropped(struct tracing *t)
{
	char path[96], text[32] = "";
	ssize_t count;

	snprintf(path, sizeof(path), "block/%s/dropped", t->name);
	DEFER(defer_close) int fd = openat(t->debug_fd, path, O_RDONLY | O_CLOEXEC);
	count = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (count > 0)
		t->ret->dropped_count = strtoull(text, NULL, 10);
}

static void tear_down(struct tracing *t)
{
	for (size_t i = 0; i < t->part_count; i++) {
		close(t->parts[i].fd);
		free(t->parts[i].data);
	}
	free(t->parts);
	free(t->polls);
	if (t->set_up)
		ioctl(t->device_fd, BLKTRACETEARDOWN);
	if (t->debug_fd >= 0)
		close(t->debug_fd);
	if (t->device_fd >= 0)
		close(t->device_fd);
}

int blocktrace_run(const struct blocktrace_request *request, struct blocktrace_result *ret,
		   struct err *err)
{
	struct tracing t = { .request = request, .ret = ret, .device_fd = -1, .debug_fd = -1 };
	int r;

	*ret = (struct blocktrace_result){ 0 };
	r = open_device(&t, err);
	if (r == 0)
		r = set_up(&t, err);
	if (r == 0)
		r = open_debugfs(&t, err);
	if (r == 0)
		r = open_parts(&t, err);
	if (r == 0)
		r = watch(&t, err);
	if (r == 0)
		read_dropped(&t);
	tear_down(&t);
	return r;
}
