/* SPDX-License-Identifier: MIT */
#include "state/purge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "state/extents.h"
#include "state/trim.h"
#include "state/work.h"

#define SAMPLE_SEED 0x70757267u

static int choose_method(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct target *target = work->state->target;
	const uint32_t asked = work->step->purge.method;

	work->method = asked;
	if (asked == PURGE_SIM && !target->purge)
		return err_set(err, -EOPNOTSUPP, "%s is no reference drive", target->info.spec);
	if (asked != PURGE_AUTO)
		return 0;
	if (target->purge)
		work->method = PURGE_SIM;
	else if (target->info.kind == TARGET_BLOCK && !target->info.discard_max_bytes)
		work->method = PURGE_ZERO;
	else
		work->method = PURGE_DISCARD;
	return 0;
}

static int look_before(void *ctx, struct err *err)
{
	struct work *work = ctx;

	work->span = (struct span){ 0, work->state->target->info.size_bytes };
	work->samples = calloc(2, sizeof(*work->samples));
	if (!work->samples)
		return err_set(err, -ENOMEM, "no memory for samples");
	return samples_take(work, SAMPLE_SEED, &work->samples[0], err);
}

/* Of a file: a hole; the file system passes it on as it likes, so it is told to now. */
static int punch_and_trim(struct work *work, struct err *err)
{
	uint64_t covered;
	int r = work_discard(work, &work->span, err);

	if (r < 0 || work->state->target->info.kind != TARGET_DIRECTORY)
		return r;
	r = trim_file_system(work, &covered, NULL);
	work_method(work, "%s", r == 0 ? "hole punching and FITRIM" : "hole punching");
	return 0;
}

static int erase(struct work *work, struct err *err)
{
	struct target *target = work->state->target;

	switch ((enum purge_method)work->method) {
	case PURGE_SIM:
		return target->purge(target, err);
	case PURGE_ZERO:
		return work_zero(work, &work->span, err);
	case PURGE_DISCARD:
		if (target->info.kind == TARGET_BLOCK || target->queue)
			return work_discard(work, &work->span, err);
		work_method(work, "hole punching");
		return punch_and_trim(work, err);
	case PURGE_NVME_FORMAT:
	case PURGE_NVME_FORMAT_CRYPTO:
	case PURGE_NVME_SANITIZE_BLOCK:
	case PURGE_NVME_SANITIZE_CRYPTO:
		return purge_nvme(work, (enum purge_method)work->method, err);
	default:
		return purge_ata(work, (enum purge_method)work->method, err);
	}
}

static int erase_all(void *ctx, struct err *err)
{
	struct work *work = ctx;
	struct discard_meter meter;
	int r;

	work_method(work, "%s", purge_method_names[work->method]);
	discard_meter_begin(work, &meter);
	r = erase(work, err);
	if (r == 0)
		r = work_flush(work, err);
	if (r < 0)
		return r;
	if (work->method == PURGE_DISCARD)
		discard_meter_end(work, &meter);
	/* What was "on" a bare drive is gone with it. */
	extents_free(work->state->extents);
	work->state->extents = NULL;
	/* Reads are to come from the drive, not from what the page cache kept. */
	if (work->state->target->fd >= 0)
		(void)!posix_fadvise(work->state->target->fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

static int look_after(void *ctx, struct err *err)
{
	struct work *work = ctx;
	struct samples_change change;
	int r;

	if (work_stopped(work))
		return 0;
	r = samples_take(work, SAMPLE_SEED, &work->samples[1], err);
	if (r < 0)
		return r;
	samples_compare(&work->samples[0], &work->samples[1], &change);
	work_figure(work, "samples", work->samples[1].count);
	work_figure(work, "held_data_before", change.held);
	work_figure(work, "blank_after", change.blank_total);
	work_figure(work, "unchanged", change.unchanged);
	work->ret->reached = change.unchanged == 0;
	if (!work->samples[1].count)
		work_say(work, "done by %s; the target is too small to look at samples of it",
			 work->ret->method);
	else if (change.unchanged)
		work_say(work, "%s had no effect on %u of %u samples that held data: they read as before",
			 work->ret->method, change.unchanged, change.held);
	else if (!change.held)
		work_say(work, "done by %s; none of %u samples held data before", work->ret->method,
			 work->samples[1].count);
	else
		work_say(work, "done by %s; of %u samples that held data %u are blank, none is as before",
			 work->ret->method, change.held, change.blank);
	return 0;
}

const struct action purge_actions[] = {
	{ "choose how", choose_method, NULL },
	{ "look at samples", look_before, NULL },
	{ "erase", erase_all, NULL },
	{ "look at them again", look_after, NULL },
	{ NULL, NULL, NULL },
};
