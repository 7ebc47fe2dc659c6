/* SPDX-License-Identifier: MIT */

/* dirty - the steps that make and delete files: in a directory, on a bare drive, for long. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "state/extents.h"
#include "state/profile.h"
#include "state/stream.h"
#include "state/tree.h"
#include "state/work.h"

static void count(struct work *work, const struct tree_tally *made, const struct tree_tally *gone)
{
	work->ret->file_count += made->file_count;
	work->ret->written_bytes += made->bytes;
	work->ret->file_deleted_count += gone->file_count;
}

static void say_files(struct work *work)
{
	const struct step_result *ret = work->ret;
	char size[UNITS_TEXT_BYTES];

	work_say(work, "%llu files of %s made, %llu deleted", (unsigned long long)ret->file_count,
		 units_format_size((double)ret->written_bytes, size),
		 (unsigned long long)ret->file_deleted_count);
	if (ret->file_count)
		work_figure(work, "mean_file_bytes",
			    (double)ret->written_bytes / (double)ret->file_count);
	if (ret->duration_ns)
		work_figure(work, "files_per_s",
			    (double)ret->file_count * 1e9 / (double)ret->duration_ns);
}

/* --- in a directory ------------------------------------------------------------------ */

static void tree_progress(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
	const struct work *work = ctx;
	const struct state_options *o = &work->state->options;
	const struct engine_progress progress = {
		.done_bytes = done_bytes,
		.total_bytes = total_bytes,
		.elapsed_ns = clock_now_ns(work->state->clock) - work->ret->start_ns,
	};

	o->progress(o->progress_ctx, &progress);
}

static int open_tree(void *ctx, struct err *err)
{
	struct work *work = ctx;
	struct state *state = work->state;
	const struct tree_options options = {
		.directory = state->target->info.path,
		.notes = state->options.notes,
		.thread_count = work->step->dirty.thread_count,
		.stop = state->options.stop,
		.progress = state->options.progress ? tree_progress : NULL,
		.progress_ctx = work,
	};

	if (!state->tree)
		return tree_open(&state->tree, &options, err);
	/* Files of earlier steps stay; the new step's wishes count from here on. */
	tree_set_options(state->tree, &options);
	return 0;
}

static int profile_here(struct work *work, struct profile *ret, struct err *err)
{
	uint64_t free_bytes, free_files;
	int r = tree_room(work->state->tree, &free_bytes, &free_files, err);

	return r < 0 ? r : profile_of(&work->step->dirty, free_bytes, free_files, ret, err);
}

static int make_set(struct work *work, const struct profile *profile,
		    const struct profile_set *set, struct err *err)
{
	const struct step_dirty *dirty = &work->step->dirty;
	const struct tree_shape shape = { dirty->per_directory_count, dirty->deep_count };
	struct tree_tally made = { 0 };
	uint64_t *sizes;
	int r = profile_sizes(set, profile->sigma, work_seed(work, dirty->seed), &sizes, err);

	if (r < 0)
		return r;
	r = tree_make(work->state->tree, &shape, sizes, set->file_count, &made, err);
	count(work, &made, &(struct tree_tally){ 0 });
	return r;
}

static int copy_set(struct work *work, struct err *err)
{
	struct tree_tally made = { 0 };
	int r = tree_copy(work->state->tree, work->step->dirty.from, &made, err);

	count(work, &made, &(struct tree_tally){ 0 });
	return r;
}

/* On the drive before they go: what is deleted in memory never dirtied anything. */
static int sync_and_delete(struct work *work, uint32_t ppm, struct err *err)
{
	struct tree *tree = work->state->tree;
	struct tree_tally gone = { 0 };
	int r = tree_sync(tree, err);

	if (r == 0 && ppm && !work_stopped(work)) {
		r = tree_delete(tree, ppm, work_seed(work, work->step->dirty.seed), &gone, err);
		count(work, &(struct tree_tally){ 0 }, &gone);
		if (r == 0)
			r = tree_sync(tree, err);
	}
	return r;
}

static void note_fragments(struct work *work, const char *name)
{
	const double extents = tree_extents_per_file(work->state->tree);

	if (extents > 0)
		work_figure(work, name, extents);
}

static int use_files(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_dirty *dirty = &work->step->dirty;
	struct profile profile = { .set_count = 1, .round_count = 1 };
	int r = dirty->from[0] ? 0 : profile_here(work, &profile, err);

	if (dirty->from[0]) {
		profile.round_count = dirty->round_count ? dirty->round_count : 1;
		profile.delete_ppm = dirty->delete_ppm;
	}
	work_method(work, dirty->from[0] ? "copied files" : "made files");
	for (uint32_t round = 0; round < profile.round_count; round++) {
		for (uint32_t i = 0; r == 0 && i < profile.set_count && !work_stopped(work); i++) {
			const bool last = round + 1 == profile.round_count &&
					  i + 1 == profile.set_count;

			r = dirty->from[0] ? copy_set(work, err) :
					     make_set(work, &profile, &profile.sets[i], err);
			if (r == 0 && last && !work_stopped(work))
				note_fragments(work, "extents_per_file");
			if (r == 0)
				r = sync_and_delete(work, profile.delete_ppm, err);
		}
	}
	work->ret->duration_ns = clock_now_ns(work->state->clock) - work->ret->start_ns;
	return r;
}

static int tell_files(void *ctx, struct err *err)
{
	(void)err;
	say_files(ctx);
	return 0;
}

const struct action dirty_files_actions[] = {
	{ "a directory of our own", open_tree, NULL },
	{ "make and delete files", use_files, NULL },
	{ "tell", tell_files, NULL },
	{ NULL, NULL, NULL },
};

/* --- aging --------------------------------------------------------------------------- */

/* Files up to the level of what is free now. */
static int fill_up(void *ctx, struct err *err)
{
	struct work *work = ctx;
	struct step_dirty dirty = work->step->dirty;
	struct profile profile;
	uint64_t free_bytes, free_files;
	int r = tree_room(work->state->tree, &free_bytes, &free_files, err);

	if (r < 0)
		return r;
	if (!dirty.amount.bytes && !dirty.amount.ppm)
		dirty.amount.ppm = dirty.level_ppm;
	r = profile_of(&dirty, free_bytes, free_files, &profile, err);
	if (r == 0)
		r = make_set(work, &profile, &profile.sets[0], err);
	if (r == 0)
		r = tree_sync(work->state->tree, err);
	if (r == 0)
		note_fragments(work, "extents_per_file_before");
	return r;
}

static int churn(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_dirty *dirty = &work->step->dirty;
	const uint64_t bytes = (uint64_t)((unsigned __int128)work->ret->written_bytes *
					  dirty->churn_ppm / PPM);
	struct tree_tally tally = { 0 };
	int r;

	work_method(work, "aging");
	if (work_stopped(work))
		return 0;
	r = tree_churn(work->state->tree, bytes, work_seed(work, dirty->seed), &tally, err);
	work->ret->written_bytes += tally.bytes;
	work_figure(work, "churned_files", (double)tally.file_count);
	work_figure(work, "churned_bytes", (double)tally.bytes);
	if (r == 0)
		note_fragments(work, "extents_per_file");
	return r;
}

static int end_age(void *ctx, struct err *err)
{
	struct work *work = ctx;
	char made[UNITS_TEXT_BYTES];
	int r = 0;

	units_format_size((double)work->ret->written_bytes, made);
	if (work->step->dirty.delete_ppm)
		r = sync_and_delete(work, work->step->dirty.delete_ppm, err);
	work_say(work, "%llu files made and aged, %s written in all, %llu deleted",
		 (unsigned long long)work->ret->file_count, made,
		 (unsigned long long)work->ret->file_deleted_count);
	return r;
}

const struct action age_actions[] = {
	{ "a directory of our own", open_tree, NULL },
	{ "fill up", fill_up, NULL },
	{ "age", churn, NULL },
	{ "delete", end_age, NULL },
	{ NULL, NULL, NULL },
};

/* --- on a bare drive ----------------------------------------------------------------- */

static int resolve(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_dirty *dirty = &work->step->dirty;
	struct state *state = work->state;
	int r = work_resolve(work, &dirty->offset, &dirty->size, err);

	/* One map for all steps: what an earlier one left is where it is. */
	if (r == 0 && !state->extents)
		r = extents_new(&state->extents, &work->span, err);
	return r;
}

static int write_piece(void *ctx, const struct span *span, struct err *err)
{
	return stream_write(ctx, span, err);
}

static int place_set(struct work *work, struct stream *stream, const struct profile *profile,
		     const struct profile_set *set, struct err *err)
{
	struct extents *extents = work->state->extents;
	uint64_t *sizes;
	int r = profile_sizes(set, profile->sigma, work_seed(work, work->step->dirty.seed), &sizes,
			      err);

	if (r < 0)
		return r;
	for (uint64_t i = 0; r == 0 && i < set->file_count && !work_stopped(work); i++) {
		r = extents_make(extents, sizes[i], write_piece, stream, err);
		work->ret->file_count += r == 0;
	}
	free(sizes);
	return r < 0 ? r : stream_drain(stream, err);
}

static void forget(struct work *work, uint32_t ppm)
{
	struct extents *extents = work->state->extents;
	const uint64_t files = extents_file_count(extents);
	const uint64_t gone = ppm >= PPM ? files :
					   (uint64_t)((unsigned __int128)files * ppm / PPM);
	struct random random;

	random_init(&random, work_seed(work, 0));
	extents_delete(extents, gone, &random);
	work->ret->file_deleted_count += gone;
}

static int use_extents(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_dirty *dirty = &work->step->dirty;
	struct stream *stream = NULL;
	struct profile profile;
	uint64_t pieces = 0, files = 0;
	int r = profile_of(dirty, extents_free_bytes(work->state->extents), UINT64_MAX, &profile, err);

	if (r == 0)
		r = stream_open(&stream, work, 32, dirty->seed, err);
	for (uint32_t round = 0; r == 0 && round < profile.round_count; round++) {
		for (uint32_t i = 0; r == 0 && i < profile.set_count && !work_stopped(work); i++) {
			r = place_set(work, stream, &profile, &profile.sets[i], err);
			pieces = extents_piece_count(work->state->extents);
			files = extents_file_count(work->state->extents);
			if (r == 0)
				r = work_flush(work, err);
			if (r == 0)
				forget(work, profile.delete_ppm);
		}
	}
	stream_close(stream);
	work_method(work, "placed extents");
	if (files)
		work_figure(work, "extents_per_file", (double)pieces / (double)files);
	work->ret->duration_ns = clock_now_ns(work->state->clock) - work->ret->start_ns;
	return r;
}

const struct action dirty_extents_actions[] = {
	{ "find the range", resolve, NULL },
	{ "write and forget files", use_extents, NULL },
	{ "tell", tell_files, NULL },
	{ NULL, NULL, NULL },
};

/* --- deleting what is left ----------------------------------------------------------- */

static int delete_all(void *ctx, struct err *err)
{
	struct work *work = ctx;
	struct state *state = work->state;
	int r = 0;

	work_method(work, "without discard");
	if (state->tree)
		r = sync_and_delete(work, PPM, err);
	if (state->extents)
		forget(work, PPM);
	work_say(work, "%llu files deleted", (unsigned long long)work->ret->file_deleted_count);
	return r;
}

const struct action delete_actions[] = {
	{ "delete", delete_all, NULL },
	{ NULL, NULL, NULL },
};
