/* SPDX-License-Identifier: MIT */
#include "measure/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static bool is_same(const struct open_mode *a, const struct open_mode *b)
{
	return a->direct == b->direct && a->noatime == b->noatime && a->sync == b->sync;
}

static uint32_t fd_count(const struct target *target)
{
	return target->part_count ? target->part_count : target->fd >= 0;
}

static int fd_at(const struct target *target, uint32_t index)
{
	return target->part_count ? target->parts[index].fd : target->fd;
}

/* The same inode once more, for what F_SETFL cannot change (O_SYNC, O_DSYNC). */
static int open_again(const struct target *target, int fd, uint32_t sync, struct err *err)
{
	const int flags = fcntl(fd, F_GETFL);
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, (flags & O_ACCMODE) | open_mode_sync_flags(sync) | O_CLOEXEC);
	if (again < 0)
		return err_errno(err, -errno, "%s: opening it again with other flags",
				 target->info.path);
	return again;
}

/* As the gate does it: what is refused stays off, and the audit says so. Returns what took. */
static bool set_flags(int fd, const struct open_mode *mode)
{
	int flags = fcntl(fd, F_GETFL) & ~(O_DIRECT | O_NOATIME);

	if (fcntl(fd, F_SETFL, flags | (mode->direct ? O_DIRECT : 0)) < 0)
		(void)fcntl(fd, F_SETFL, flags);
	flags = fcntl(fd, F_GETFL);
	if (mode->noatime)
		(void)fcntl(fd, F_SETFL, flags | O_NOATIME);
	return flags & O_DIRECT;
}

/*
 * Puts one that is open with other flags in the descriptor's place. The old open file is kept
 * until the end: it may be the one that holds a device exclusively.
 */
static int replace(struct seat *seat, uint32_t index, uint32_t sync, struct err *err)
{
	const struct target *target = seat->target;
	const int fd = fd_at(target, index);
	int again, r;

	if (seat->claim_fds[index] < 0)
		seat->claim_fds[index] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (seat->claim_fds[index] < 0)
		return err_errno(err, -errno, "%s: second descriptor", target->info.path);
	again = open_again(target, fd, sync, err);
	if (again < 0)
		return again;
	r = dup3(again, fd, O_CLOEXEC) < 0 ? -errno : 0;
	close(again);
	return r < 0 ? err_errno(err, r, "%s: descriptor", target->info.path) : 0;
}

static int make_claims(struct seat *seat, struct err *err)
{
	const uint32_t count = fd_count(seat->target);

	if (seat->claim_fds)
		return 0;
	seat->claim_fds = malloc(count * sizeof(*seat->claim_fds));
	if (!seat->claim_fds)
		return err_set(err, -ENOMEM, "no memory for %u descriptors", count);
	memset(seat->claim_fds, 0xff, count * sizeof(*seat->claim_fds));	/* each -1 */
	return 0;
}

/*
 * Nothing of the target is cached when a buffered run begins. Pages that are still to be
 * written cannot be dropped, so they are written; those a program maps stay.
 */
static void drop_cache(const struct target *target, const struct workload *workload)
{
	if (workload->direct || !workload->invalidate || target->fd < 0)
		return;
	for (uint32_t i = 0; i < fd_count(target); i++) {
		(void)!fdatasync(fd_at(target, i));
		(void)!posix_fadvise(fd_at(target, i), 0, 0, POSIX_FADV_DONTNEED);
	}
}

static int apply(struct seat *seat, const struct workload *workload, struct err *err)
{
	const struct open_mode want = open_mode_of(workload);
	struct target *target = seat->target;
	bool is_direct = true;
	int r = 0;

	if (target->fd < 0 || is_same(&want, &seat->mode))
		return 0;
	if (want.sync != seat->mode.sync)
		r = make_claims(seat, err);
	for (uint32_t i = 0; r == 0 && i < fd_count(target); i++) {
		if (want.sync != seat->mode.sync)
			r = replace(seat, i, want.sync, err);
		if (r == 0)
			is_direct &= set_flags(fd_at(target, i), &want);
	}
	if (r < 0)
		return r;
	/* What the engine, the audit and the reader are told of the descriptor. */
	seat->mode = want;
	target->info.direct = is_direct;
	seat_info(seat)->direct = is_direct;
	return 0;
}

int open_mode_apply(struct seat *seat, const struct workload *workload, struct err *err)
{
	const int r = apply(seat, workload, err);

	if (r == 0)
		drop_cache(seat->target, workload);
	return r;
}

void open_mode_close_claims(struct seat *seat)
{
	for (uint32_t i = 0; seat->claim_fds && i < fd_count(seat->target); i++)
		if (seat->claim_fds[i] >= 0)
			close(seat->claim_fds[i]);
	free(seat->claim_fds);
	seat->claim_fds = NULL;
}

static int view_open(struct target *view, const struct target *target,
		     const struct open_mode *want, struct err *err)
{
	view->info.direct = true;
	for (uint32_t i = 0; i < fd_count(target); i++) {
		const int fd = open_again(target, fd_at(target, i), want->sync, err);

		if (fd < 0)
			return fd;
		view->info.direct &= set_flags(fd, want);
		if (view->part_count)
			view->parts[i].fd = fd;
		if (i == 0)
			view->fd = fd;
	}
	return 0;
}

int open_mode_view(const struct seat *seat, const struct workload *workload, struct target **ret,
		   struct err *err)
{
	const struct open_mode want = open_mode_of(workload);
	const struct target *target = seat->target;
	struct target *view;
	int r;

	*ret = NULL;
	drop_cache(target, workload);
	if (target->fd < 0 || is_same(&want, &seat->mode))
		return 0;
	view = malloc(sizeof(*view));
	if (!view)
		return err_set(err, -ENOMEM, "no memory for a second descriptor");
	*view = *target;
	view->fd = -1;
	view->parts = calloc(target->part_count + 1, sizeof(*view->parts));
	for (uint32_t i = 0; view->parts && i < target->part_count; i++) {
		view->parts[i] = target->parts[i];
		view->parts[i].fd = -1;
	}
	r = view->parts ? view_open(view, target, &want, err) :
			  err_set(err, -ENOMEM, "no memory for second descriptors");
	if (r < 0) {
		open_mode_close(view);
		return r;
	}
	*ret = view;
	return 0;
}

void open_mode_close(struct target *view)
{
	if (!view)
		return;
	for (uint32_t i = 0; view->parts && i < view->part_count; i++)
		if (view->parts[i].fd >= 0)
			close(view->parts[i].fd);
	if (view->fd >= 0 && !view->part_count)
		close(view->fd);
	free(view->parts);
	free(view);
}
