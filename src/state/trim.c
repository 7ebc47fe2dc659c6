/* SPDX-License-Identifier: MIT */

/* trim - what is free, or a range in pieces, discarded. */

#include "state/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/defer.h"
#include "state/extents.h"

struct trimmed {
	uint64_t request_count;
	uint64_t covered_bytes;		/* as FITRIM says */
};

static bool has_range(const struct step_trim *trim)
{
	return trim->offset.bytes || trim->offset.ppm || trim->size.bytes || trim->size.ppm;
}

static int resolve(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_trim *trim = &work->step->trim;

	return work_resolve(work, &trim->offset, &trim->size, err);
}

int trim_file_system(struct work *work, uint64_t *ret_covered, struct err *err)
{
	const struct target_info *info = &work->state->target->info;
	DEFER(defer_close) int fd = open(info->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fstrim_range range = { .len = UINT64_MAX };
	int r;

	if (fd < 0)
		return err_errno(err, -errno, "%s", info->path);
	/* Deleted files are free only when the deletion is on the drive. */
	if (syncfs(fd) < 0)
		return err_errno(err, -errno, "%s: sync", info->path);
	if (ioctl(fd, FITRIM, &range) == 0) {
		*ret_covered = range.len;
		return 0;
	}
	r = -errno;
	if (r == -ENOTTY)
		r = -EOPNOTSUPP;
	err_errno(err, r, "FITRIM on %s", info->filesystem[0] ? info->filesystem : info->path);
	if (r == -EPERM)
		err_hint(err, "trimming a file system needs root");
	else if (r == -EOPNOTSUPP)
		err_hint(err, "the file system or a device below it does not discard");
	return r;
}

/* Pieces of bs each every; without them the whole in one. */
static int discard_range(struct work *work, const struct span *span, struct trimmed *trimmed,
			 struct err *err)
{
	const struct step_trim *trim = &work->step->trim;
	const uint64_t end = span->offset_bytes + span->size_bytes;
	const uint64_t piece = trim->piece_bytes ? trim->piece_bytes : span->size_bytes;
	const uint64_t step = trim->every_bytes ? trim->every_bytes : piece;

	for (uint64_t at = span->offset_bytes; at < end && !work_stopped(work); at += step) {
		const struct span one = { at, piece < end - at ? piece : end - at };
		const int r = work_discard(work, &one, err);

		if (r < 0)
			return r;
		trimmed->request_count++;
	}
	return 0;
}

struct free_walk {
	struct work *work;
	struct trimmed *trimmed;
};

static int discard_free(void *ctx, const struct span *span, struct err *err)
{
	const struct free_walk *walk = ctx;

	return discard_range(walk->work, span, walk->trimmed, err);
}

static int discard_wanted(struct work *work, struct trimmed *trimmed, struct err *err)
{
	struct state *state = work->state;
	struct free_walk walk = { work, trimmed };

	if (has_range(&work->step->trim)) {
		work_method(work, state->target->info.kind == TARGET_BLOCK ? "discard" :
				  state->target->queue ? "discard" : "hole punching");
		return discard_range(work, &work->span, trimmed, err);
	}
	if (state->target->info.kind == TARGET_DIRECTORY) {
		work_method(work, "FITRIM");
		trimmed->request_count = 1;
		return trim_file_system(work, &trimmed->covered_bytes, err);
	}
	work_method(work, state->target->info.kind == TARGET_FILE ? "hole punching" : "discard");
	if (state->extents)
		return extents_each_free(state->extents, discard_free, &walk, err);
	return discard_range(work, &work->span, trimmed, err);
}

static void tell(struct work *work, const struct trimmed *trimmed)
{
	const struct step_result *ret = work->ret;
	const uint64_t asked = ret->discard_asked_bytes ? ret->discard_asked_bytes :
							  trimmed->covered_bytes;
	char size[UNITS_TEXT_BYTES], sent[UNITS_TEXT_BYTES];

	work_figure(work, "requests", (double)trimmed->request_count);
	if (trimmed->covered_bytes)
		work_figure(work, "covered_bytes", (double)trimmed->covered_bytes);
	units_format_size((double)asked, size);
	if (ret->have_sent)
		work_say(work, "%s asked for by %s, %s counted at the device", size, ret->method,
			 units_format_size((double)ret->discard_sent_bytes, sent));
	else
		work_say(work, "%s asked for by %s; nothing counts what arrived", size, ret->method);
}

static int discard(void *ctx, struct err *err)
{
	struct work *work = ctx;
	struct trimmed trimmed = { 0 };
	struct discard_meter meter;
	int r;

	discard_meter_begin(work, &meter);
	r = discard_wanted(work, &trimmed, err);
	if (r < 0)
		return r;
	discard_meter_end(work, &meter);
	if (!work->ret->discard_asked_bytes)
		work->ret->discard_asked_bytes = trimmed.covered_bytes;
	tell(work, &trimmed);
	return 0;
}

const struct action trim_actions[] = {
	{ "find the range", resolve, NULL },
	{ "discard", discard, NULL },
	{ NULL, NULL, NULL },
};
