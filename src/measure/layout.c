/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "measure/session.h"

/* A test file smaller than this says little about a drive: time never cuts below it. */
#define LAYOUT_BYTES_MIN (256 * MIB)
#define LAYOUT_BLOCK_BYTES MIB

struct progress_ctx {
	struct seat *seat;
	uint64_t done_bytes;	/* by the parts before this one */
};

/* A blank drive is tested as a file would be: on its first bytes, written before. */
#define LAYOUT_DRIVE_BYTES (8 * GIB)

static uint64_t whole_bytes(const struct seat *seat)
{
	const struct target_info *info = &seat->target->info;

	if (info->kind != TARGET_DIRECTORY && info->size_bytes > LAYOUT_DRIVE_BYTES)
		return LAYOUT_DRIVE_BYTES;
	return info->size_bytes;
}

static void layout_progress(void *ctx, const struct engine_progress *progress)
{
	const struct progress_ctx *at = ctx;
	const struct measure_observer *observer = &at->seat->session->options->observer;
	struct engine_progress whole = *progress;

	whole.done_bytes += at->done_bytes;
	whole.total_bytes = whole_bytes(at->seat);
	whole.total_ns = 0;
	if (observer->progress)
		observer->progress(observer->ctx, &whole);
}

/* Part of the file: from, to, and the time it may take (0 = any). */
struct part {
	uint64_t start_bytes, end_bytes, runtime_ns;
};

static void part_workload(const struct seat *seat, const struct part *part, struct workload *ret)
{
	const uint64_t length_bytes = part->end_bytes - part->start_bytes;

	workload_init(ret);
	snprintf(ret->name, sizeof(ret->name), "layout");
	ret->rw = RW_WRITE;
	ret->block_bytes = length_bytes % LAYOUT_BLOCK_BYTES ? length_bytes : LAYOUT_BLOCK_BYTES;
	ret->depth_count = 8;
	ret->job_count = 1;
	ret->offset.bytes = part->start_bytes;
	ret->size.bytes = length_bytes;
	ret->io_size_bytes = length_bytes;
	ret->runtime_ns = part->runtime_ns;
	ret->ramp_ns = 0;
	ret->seed = seat->session->clock.virtual_ns ? 1 : 0;
	ret->data = DATA_RANDOM;
	/* Past the page cache, whatever the phases do: their reads are to find none of it there. */
	ret->direct = true;
}

static int no_room(const struct seat *seat, uint64_t written_bytes, struct err *err)
{
	char written[UNITS_TEXT_BYTES], whole[UNITS_TEXT_BYTES];

	err_set(err, -ENOSPC, "%s: no space left after %s of the %s test file; it is removed",
		seat->target->info.spec, units_format_size((double)written_bytes, written),
		units_format_size((double)seat->target->info.size_bytes, whole));
	return err_hint(err, "free some space, or ask for a smaller test file with --size");
}

/* What the engine could not write: one sentence for each kind of failure. */
static int part_failed(const struct seat *seat, const struct measurement *m, struct err *err)
{
	const int code = m->errno_count ? m->errnos[0].code : -EIO;

	if (code == -ENOSPC || code == -EDQUOT)
		return no_room(seat, seat->layout_bytes, err);
	return err_set(err, code, "%s: writing the test file: %s", seat->target->info.spec,
		       m->error_text);
}

/* Writes one part; what got written is added to the result's layout_bytes. */
static int part_write(struct seat *seat, const struct part *part, struct err *err)
{
	struct progress_ctx at = { seat, part->start_bytes };
	const struct engine_options options = {
		.clock = &seat->session->clock,
		.stop = seat->session->options->stop,
		.progress = layout_progress,
		.progress_ctx = &at,
	};
	struct workload workload;
	struct measurement m;
	int r;

	if (part->end_bytes <= part->start_bytes || session_stopped(seat->session))
		return 0;
	part_workload(seat, part, &workload);
	r = open_mode_apply(seat, &workload, err);
	if (r < 0)
		return r;
	measurement_init(&m);
	r = engine_run(&workload, seat->target, &options, &m, err);
	if (r < 0) {
		measurement_done(&m);
		return err_wrap(err, "writing the test file");
	}
	seat->layout_bytes += m.ops[OP_WRITE].bytes;
	seat->session->result->layout_bytes += m.ops[OP_WRITE].bytes;
	if (m.ended_early)
		r = part_failed(seat, &m, err);
	measurement_done(&m);
	return r;
}

static int flush(struct seat *seat, struct err *err)
{
	if (target_flush(seat->target) == 0)
		return 0;
	if (errno == ENOSPC || errno == EDQUOT)
		return no_room(seat, seat->layout_bytes, err);
	return err_errno(err, -errno, "%s: flushing the test file", seat->target->info.spec);
}

/* The parts of a file: what is needed, what time allows, and what is left of a block. */
static int write_parts(struct seat *seat, uint64_t need_bytes, struct err *err)
{
	const uint64_t size_bytes = whole_bytes(seat);
	const uint64_t blocks_bytes = size_bytes / LAYOUT_BLOCK_BYTES * LAYOUT_BLOCK_BYTES;
	const uint64_t limit_ns = seat->session->options->layout_ns_max;
	const uint64_t begin_ns = clock_now_ns(&seat->session->clock);
	const struct part tail = { blocks_bytes, size_bytes, 0 };
	struct part needed = { 0, blocks_bytes, 0 }, rest = { blocks_bytes, blocks_bytes, 0 };
	uint64_t took_ns;
	int r;

	if (need_bytes < LAYOUT_BYTES_MIN)
		need_bytes = LAYOUT_BYTES_MIN;
	if (limit_ns && need_bytes < blocks_bytes)
		needed.end_bytes = need_bytes / LAYOUT_BLOCK_BYTES * LAYOUT_BLOCK_BYTES;
	r = part_write(seat, &needed, err);
	if (r < 0)
		return r;
	took_ns = clock_now_ns(&seat->session->clock) - begin_ns;
	rest.start_bytes = needed.end_bytes;
	/* A little time is always given: the engine takes 0 for "as long as it takes". */
	rest.runtime_ns = took_ns < limit_ns ? limit_ns - took_ns : MILLISECOND_NS;
	r = part_write(seat, &rest, err);
	if (r < 0 || seat->layout_bytes < blocks_bytes)
		return r;
	return part_write(seat, &tail, err);
}

/* Sequential: what was written is the beginning of the file, without a gap. The rest goes. */
static int cut_off(struct seat *seat, struct err *err)
{
	const uint64_t laid_out_bytes = seat->layout_bytes;
	struct target_info *info = &seat->target->info;

	if (laid_out_bytes == info->size_bytes)
		return 0;
	if (info->kind != TARGET_DIRECTORY || seat->target->part_count > 1) {
		seat->range_bytes = laid_out_bytes;
		return 0;
	}
	if (ftruncate(seat->target->fd, (off_t)laid_out_bytes) < 0)
		return err_errno(err, -errno, "%s: shortening the test file", info->spec);
	info->size_bytes = laid_out_bytes;
	seat_info(seat)->size_bytes = laid_out_bytes;
	return 0;
}

static void describe_state(struct seat *seat)
{
	struct result *result = seat->session->result;
	char size[UNITS_TEXT_BYTES];

	snprintf(result->state, sizeof(result->state), "laid-out");
	if (seat->target->info.kind == TARGET_DIRECTORY)
		snprintf(result->state_text, sizeof(result->state_text),
			 "the test file was written once in full, sequentially, with data that "
			 "cannot be compressed; what the drive went through before is not known");
	else
		snprintf(result->state_text, sizeof(result->state_text),
			 "a blank drive, whose first %s, all that was tested, were written once, "
			 "sequentially, with data that cannot be compressed",
			 units_format_size((double)result->layout_bytes, size));
}

int layout_run(struct seat *seat, uint64_t need_bytes, struct err *err)
{
	const uint64_t begin_ns = clock_now_ns(&seat->session->clock);
	struct result *result = seat->session->result;
	int r;

	r = write_parts(seat, need_bytes, err);
	if (r == 0)
		r = flush(seat, err);
	result->layout_ns += clock_now_ns(&seat->session->clock) - begin_ns;
	if (r < 0 || session_stopped(seat->session))
		return r;
	r = cut_off(seat, err);
	/* The result's state is that of the plan's own target. */
	if (r == 0 && seat->index == 0)
		describe_state(seat);
	return r;
}
