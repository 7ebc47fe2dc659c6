/* SPDX-License-Identifier: MIT */
#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <liburing.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/sysfs.h"
#include "measure/gather.h"

#define SAY(member, ...) snprintf(member, sizeof(member), __VA_ARGS__)

static bool ring_opens(unsigned flags)
{
	struct io_uring ring;

	if (io_uring_queue_init(8, &ring, flags) < 0)
		return false;
	io_uring_queue_exit(&ring);
	return true;
}

static void look_uring(struct doctor_row *ret)
{
	static const struct {
		unsigned flags;
		const char *name;
	} features[] = {
		{ IORING_SETUP_SUBMIT_ALL, "submit all" },
		{ IORING_SETUP_COOP_TASKRUN, "coop taskrun" },
		{ IORING_SETUP_SINGLE_ISSUER, "single issuer" },
		{ IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, "defer taskrun" },
		{ IORING_SETUP_SQPOLL, "submission polling" },
	};
	struct io_uring ring;
	const int r = io_uring_queue_init(8, &ring, 0);
	size_t length = 0;

	if (r < 0) {
		SAY(ret->text, "not available: %s", strerror(-r));
		SAY(ret->remedy, r == -ENOSYS ? "libaio is used instead; io_uring needs Linux 5.1" :
			"libaio is used instead; see kernel.io_uring_disabled and the container's "
			"seccomp profile");
		return;
	}
	io_uring_queue_exit(&ring);
	ret->good = true;
	length += (size_t)SAY(ret->text, "available");
	for (size_t i = 0; i < ARRAY_COUNT(features) && length < sizeof(ret->text); i++)
		if (ring_opens(features[i].flags))
			length += (size_t)snprintf(ret->text + length, sizeof(ret->text) - length,
						   ", %s", features[i].name);
}

static void look_aio(struct doctor_row *ret)
{
	io_context_t context = NULL;
	const int r = io_setup(8, &context);

	if (r < 0) {
		SAY(ret->text, "not available: %s", strerror(-r));
		SAY(ret->remedy, r == -EAGAIN ? "raise fs.aio-max-nr" :
						"the kernel lacks CONFIG_AIO or a seccomp profile "
						"forbids it");
		return;
	}
	io_destroy(context);
	ret->good = true;
	SAY(ret->text, "available");
}

/* A file without a name, so that there is nothing to clean up. */
static void look_direct(struct doctor_row *ret)
{
	DEFER(defer_close) int fd = open(".", O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
	DEFER(defer_free) void *block = NULL;

	if (fd < 0) {
		const bool tmpfile = errno != EINVAL;

		SAY(ret->text, "not in this directory: %s", strerror(errno));
		SAY(ret->remedy, tmpfile ? "name a directory where files can be written" :
			"figures here go through the page cache; name a directory on a file system "
			"with direct I/O");
		return;
	}
	if (posix_memalign(&block, 4096, 4096) != 0) {
		SAY(ret->text, "no memory for a block");
		return;
	}
	memset(block, 0, 4096);
	if (pwrite(fd, block, 4096, 0) != 4096) {
		SAY(ret->text, "accepted here, but a write fails: %s", strerror(errno));
		SAY(ret->remedy, "look at the free space and the file system's block size");
		return;
	}
	ret->good = true;
	SAY(ret->text, "works in this directory, with unnamed files");
}

static void look_root(struct doctor_row *ret)
{
	ret->good = geteuid() == 0;
	if (ret->good) {
		SAY(ret->text, "running as root: devices can be opened");
		return;
	}
	SAY(ret->text, "not root: files can be measured, devices only where their nodes may be read");
	SAY(ret->remedy, "run as root for devices, and for temperature and serial number of some");
}

static void look_loop(struct doctor_row *ret)
{
	DEFER(defer_close) int fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	ret->good = fd >= 0;
	SAY(ret->text, ret->good ? "loop devices can be made" : "no loop devices: %s",
	    strerror(errno));
	if (!ret->good)
		SAY(ret->remedy, "only tare's own tests need them");
}

static void look_clock(struct doctor_row *ret)
{
	struct clock clock;
	char kernel[32];

	clock_init_real(&clock);
	sysfs_read(kernel, sizeof(kernel),
		   "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	ret->good = clock.multiplier != 0;
	SAY(ret->text, "reads %s; the kernel uses %s", clock_source(&clock),
	    kernel[0] ? kernel : "an unknown source");
	if (!ret->good)
		SAY(ret->remedy, "each time stamp is a call of clock_gettime: small latencies cost more "
				 "CPU");
}

static void look_governor(struct doctor_row *ret)
{
	char governor[32];

	sysfs_read(governor, sizeof(governor),
		   "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	ret->good = !governor[0] || strcmp(governor, "performance") == 0;
	SAY(ret->text, governor[0] ? "%s" : "no frequency scaling to be seen", governor);
	if (!ret->good)
		SAY(ret->remedy, "cpupower frequency-set -g performance steadies small latencies");
}

static void look_memlock(struct doctor_row *ret)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	/* 32 buffers of 1 MiB are what the largest row of a check registers. */
	ret->good = geteuid() == 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= 33554432;
	if (limit.rlim_cur == RLIM_INFINITY)
		SAY(ret->text, "no limit of locked memory");
	else
		SAY(ret->text, "%llu KiB of memory may be locked",
		    (unsigned long long)limit.rlim_cur / 1024);
	if (!ret->good)
		SAY(ret->remedy, "raise ulimit -l: buffers too large for it are not registered");
}

static void look_cgroup(struct doctor_row *ret)
{
	char max[64] = "", path[PATH_MAX] = "/", line[PATH_MAX];
	DEFER(defer_fclose) FILE *file = fopen("/proc/self/cgroup", "re");

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) == 0)
			SAY(path, "%s", line + 3);
	}
	/* The limit of the nearest group that has one counts, up to the root. */
	for (;;) {
		char *slash = strrchr(path, '/');

		sysfs_read(max, sizeof(max), "/sys/fs/cgroup%s/cpu.max", path);
		if ((max[0] && strncmp(max, "max", 3) != 0) || !slash || slash == path)
			break;
		*slash = '\0';
	}
	ret->good = !max[0] || strncmp(max, "max", 3) == 0;
	SAY(ret->text, ret->good ? "no limit of CPU time%s" : "CPU time is limited: cpu.max %s",
	    ret->good ? "" : max);
	if (!ret->good)
		SAY(ret->remedy, "a generator that is throttled makes the drive look slow");
}

const struct doctor_check doctor_checks[] = {
	{ "io_uring", look_uring },
	{ "libaio", look_aio },
	{ "direct-io", look_direct },
	{ "rights", look_root },
	{ "locked-memory", look_memlock },
	{ "loop", look_loop },
	{ "clock", look_clock },
	{ "governor", look_governor },
	{ "cgroup", look_cgroup },
	{ NULL, NULL },
};

void doctor_look(struct doctor *ret)
{
	memset(ret, 0, sizeof(*ret));
	gather_machine("", &ret->machine);
	for (const struct doctor_check *check = doctor_checks; check->code; check++) {
		struct doctor_row *row = &ret->rows[ret->row_count++];

		row->code = check->code;
		check->look(row);
	}
	ret->have_ceiling = measure_ceiling(&ret->ceiling, &ret->ceiling_error) == 0;
}
