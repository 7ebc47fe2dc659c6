/* SPDX-License-Identifier: MIT */
#include "state/state.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "state/extents.h"
#include "state/tree.h"
#include "state/work.h"
#include "target/testfile.h"

bool work_stopped(const struct work *work)
{
	const volatile sig_atomic_t *stop = work->state->options.stop;

	return stop && *stop;
}

uint64_t work_seed(struct work *work, uint64_t asked)
{
	struct state *state = work->state;

	if (asked)
		return asked;
	return random_mix(state->options.seed + ++state->seed_count) | 1;
}

void work_figure(struct work *work, const char *name, double value)
{
	struct step_result *ret = work->ret;

	assert(ret->figure_count < STEP_FIGURES);
	snprintf(ret->figures[ret->figure_count].name, sizeof(ret->figures[0].name), "%s", name);
	ret->figures[ret->figure_count++].value = value;
}

void work_say(struct work *work, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(work->ret->text, sizeof(work->ret->text), fmt, args);
	va_end(args);
}

void work_method(struct work *work, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(work->ret->method, sizeof(work->ret->method), fmt, args);
	va_end(args);
}

int state_open(struct state **ret, const struct state_options *options, struct err *err)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return err_set(err, -ENOMEM, "no memory for the state");
	state->options = *options;
	state->target = options->target;
	state->clock = options->clock;
	if (!options->seed && options->clock->virtual_ns)
		state->options.seed = 1;
	while (!state->options.seed)
		if (getrandom(&state->options.seed, sizeof(state->options.seed), 0) < 0)
			state->options.seed = clock_gettime_ns();
	*ret = state;
	return 0;
}

void state_close(struct state *state)
{
	if (!state)
		return;
	tree_close(state->tree);
	extents_free(state->extents);
	free(state);
}

int state_reap(const char *notes)
{
	char usual[4096];

	if (!notes && testfile_notes_directory(usual, sizeof(usual)) < 0)
		return 0;
	notes = notes ? notes : usual;
	return tree_reap(notes) + testfile_reap(notes);
}

static bool is_bare(const struct target_info *info)
{
	return info->kind == TARGET_BLOCK || info->kind == TARGET_SIM;
}

int state_step_possible(const struct target_info *info, const struct step *step, struct err *err)
{
	const enum target_kind kind = info->kind;
	const struct step_dirty *dirty = &step->dirty;

	if (kind == TARGET_NULL || kind == TARGET_CHAR)
		return err_set(err, -EOPNOTSUPP, "%s: %s has no state", step_rows[step->kind].name,
			       info->spec);
	if (step->kind != STEP_DIRTY || dirty->by == DIRTY_RANDOM)
		return 0;
	if (dirty->by == DIRTY_AGING && kind != TARGET_DIRECTORY)
		return err_set(err, -EOPNOTSUPP,
			       "dirty: aging needs a directory of a mounted file system, and %s is none",
			       info->spec);
	if (kind == TARGET_FILE)
		return err_set(err, -EOPNOTSUPP,
			       "dirty: files cannot be made in %s, a file; name its directory",
			       info->spec);
	if (dirty->from[0] && is_bare(info))
		return err_set(err, -EOPNOTSUPP,
			       "dirty: a tree can be copied into a directory, and %s is a bare drive",
			       info->spec);
	return 0;
}

static const struct action *actions_of(const struct target_info *info, const struct step *step)
{
	switch (step->kind) {
	case STEP_PURGE:
		return purge_actions;
	case STEP_FILL:
		return fill_actions;
	case STEP_DIRTY:
		if (step->dirty.by == DIRTY_RANDOM)
			return dirty_random_actions;
		if (step->dirty.by == DIRTY_AGING)
			return age_actions;
		return is_bare(info) ? dirty_extents_actions : dirty_files_actions;
	case STEP_DELETE:
		return delete_actions;
	case STEP_TRIM:
		return trim_actions;
	case STEP_SETTLE:
		return settle_actions;
	case STEP_REST:
		return rest_actions;
	default:
		assert(!"a kind of step");
		return NULL;
	}
}

static bool is_writable(int fd)
{
	const int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* A directory's file is ours; all else was opened for writing only with consent. */
static int check_rights(const struct state *state, const struct step *step, struct err *err)
{
	const struct target *target = state->target;

	if (!step_writes(step) || target->fd < 0 || is_writable(target->fd))
		return 0;
	return err_set(err, -EPERM, "%s was not opened for writing", target->info.spec);
}

static void describe(struct step_result *ret, const struct step *step)
{
	struct text asked = TEXT_INIT;

	snprintf(ret->name, sizeof(ret->name), "%s", step_rows[step->kind].name);
	step_print(step, &asked);
	snprintf(ret->asked, sizeof(ret->asked), "%s", text_string(&asked));
	text_done(&asked);
}

int state_step(struct state *state, const struct step *step, struct step_result *ret,
	       struct err *err)
{
	struct work work = { .state = state, .step = step, .ret = ret };
	const struct target_info *info = &state->target->info;
	const size_t before_measurement = ret->before_measurement;
	struct action_run run = { .ctx = &work };
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->before_measurement = before_measurement;
	ret->reached = true;
	ret->start_ns = clock_now_ns(state->clock);
	describe(ret, step);
	r = step_check(step, err);
	if (r == 0)
		r = state_step_possible(info, step, err);
	if (r == 0)
		r = check_rights(state, step, err);
	if (r < 0)
		return r;
	run.actions = actions_of(info, step);
	r = actions_run(&run, err);
	free(work.samples);
	ret->duration_ns = clock_now_ns(state->clock) - ret->start_ns;
	ret->interrupted |= work_stopped(&work);
	if (r < 0)
		return err_wrap(err, "%s", ret->name);
	return 0;
}

static uint64_t amount_of(const struct amount *amount, uint64_t whole_bytes)
{
	if (amount->ppm)
		return (uint64_t)((unsigned __int128)whole_bytes * amount->ppm / PPM);
	return amount->bytes;
}

static uint64_t range_of(const struct amount *offset, const struct amount *size,
			 uint64_t whole_bytes)
{
	const uint64_t start = amount_of(offset, whole_bytes);
	const uint64_t asked = amount_of(size, whole_bytes);

	if (start >= whole_bytes)
		return 0;
	return asked && asked < whole_bytes - start ? asked : whole_bytes - start;
}

void state_forecast(const struct target_info *info, const struct step *step,
		    struct state_forecast *ret)
{
	const uint64_t whole = info->size_bytes;
	const struct step_fill *fill = &step->fill;
	const struct step_dirty *dirty = &step->dirty;

	*ret = (struct state_forecast){ 0 };
	switch (step->kind) {
	case STEP_PURGE:
		ret->discard_bytes = whole;
		break;
	case STEP_FILL:
		ret->write_bytes = (uint64_t)((unsigned __int128)range_of(&fill->offset, &fill->size,
									  whole) *
					      fill->times_ppm / PPM);
		break;
	case STEP_DIRTY:
		if (dirty->by == DIRTY_RANDOM) {
			const uint64_t range = range_of(&dirty->offset, &dirty->size, whole);
			const uint64_t amount = amount_of(&dirty->amount, range);

			ret->write_bytes = amount ? amount : range;
		} else {
			ret->write_bytes = tree_forecast_bytes(
				dirty, is_bare(info) ? range_of(&dirty->offset, &dirty->size, whole) :
						       info->free_bytes);
		}
		break;
	case STEP_TRIM:
		ret->discard_bytes = info->kind == TARGET_DIRECTORY ?
					     info->free_bytes :
					     range_of(&step->trim.offset, &step->trim.size, whole);
		break;
	case STEP_REST:
		ret->rest_ns = step->rest.time_ns;
		break;
	default:
		break;
	}
}
