/* SPDX-License-Identifier: MIT */
#include "measure/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct open_mode open_mode_of(const struct workload *workload)
{
	return (struct open_mode){ workload->direct, workload->noatime, workload->sync };
}

int open_mode_sync_flags(uint32_t sync)
{
	switch (sync) {
	case SYNC_DSYNC:
		return O_DSYNC;
	case SYNC_SYNC:
		return O_SYNC;
	default:
		return 0;
	}
}

/*
 * F_SETFL cannot change O_SYNC and O_DSYNC, so the same inode is opened again and put in the
 * old descriptor's place. The old open file is kept until the end: it may be the one that
 * holds a device exclusively.
 */
static int reopen(struct session *s, int flags, struct err *err)
{
	char path[64];
	int fd, r;

	if (s->claim_fd < 0)
		s->claim_fd = fcntl(s->target->fd, F_DUPFD_CLOEXEC, 0);
	if (s->claim_fd < 0)
		return err_errno(err, -errno, "%s: second descriptor", s->target->info.path);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->target->fd);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s: opening it again with other flags",
				 s->target->info.path);
	r = dup3(fd, s->target->fd, O_CLOEXEC) < 0 ? -errno : 0;
	close(fd);
	return r < 0 ? err_errno(err, r, "%s: descriptor", s->target->info.path) : 0;
}

/* What the engine, the audit and the reader are told of the descriptor. */
static void note_mode(struct session *s, const struct open_mode *mode, bool is_direct)
{
	s->mode = *mode;
	s->target->info.direct = is_direct;
	s->result->target.direct = is_direct;
}

static int apply(struct session *s, const struct workload *workload, struct err *err)
{
	const struct open_mode want = open_mode_of(workload);
	const int fd = s->target->fd;
	int flags, r;

	if (fd < 0 || (want.direct == s->mode.direct && want.noatime == s->mode.noatime &&
		       want.sync == s->mode.sync))
		return 0;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return err_errno(err, -errno, "%s: open flags", s->target->info.path);
	flags &= O_ACCMODE;
	if (want.sync != s->mode.sync) {
		r = reopen(s, flags | open_mode_sync_flags(want.sync), err);
		if (r < 0)
			return r;
	}
	/* As the gate does it: what is refused stays off, and the audit says so. */
	if (fcntl(fd, F_SETFL, flags | (want.direct ? O_DIRECT : 0)) < 0)
		(void)fcntl(fd, F_SETFL, flags);
	flags = fcntl(fd, F_GETFL);
	if (want.noatime)
		(void)fcntl(fd, F_SETFL, flags | O_NOATIME);
	note_mode(s, &want, flags & O_DIRECT);
	return 0;
}

int open_mode_apply(struct session *s, const struct workload *workload, struct err *err)
{
	const int r = apply(s, workload, err);
	const int fd = s->target->fd;

	/* Pages that are still to be written cannot be dropped; nor can those a program maps. */
	if (r == 0 && !workload->direct && workload->invalidate && fd >= 0) {
		(void)!fdatasync(fd);
		(void)!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	return r;
}
