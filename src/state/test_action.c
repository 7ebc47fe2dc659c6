/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/check.h"
#include "state/action.h"

struct diary {
	char text[32];
	char fails_at;
};

static int note(struct diary *diary, char letter, struct err *err)
{
	const size_t length = strlen(diary->text);

	diary->text[length] = letter;
	return diary->fails_at == letter ? err_set(err, -EBUSY, "Device or resource busy") : 0;
}

static int run_a(void *ctx, struct err *err) { return note(ctx, 'a', err); }
static int run_b(void *ctx, struct err *err) { return note(ctx, 'b', err); }
static int run_c(void *ctx, struct err *err) { return note(ctx, 'c', err); }
static void undo_a(void *ctx) { note(ctx, 'A', NULL); }
static void undo_b(void *ctx) { note(ctx, 'B', NULL); }
static void undo_c(void *ctx) { note(ctx, 'C', NULL); }

static const struct action actions[] = {
	{ "first", run_a, undo_a },
	{ "second", run_b, undo_b },
	{ "third", run_c, undo_c },
	{ NULL, NULL, NULL },
};

static void actions_run_in_order(void)
{
	struct diary diary = { 0 };

	CHECK_EQ(actions_run(&(struct action_run){ .actions = actions, .ctx = &diary }, NULL), 0);
	CHECK_STR(diary.text, "abc");
}

static void failure_undoes_in_reverse_and_names_the_action(void)
{
	struct diary diary = { .fails_at = 'c' };
	struct err err = { 0 };

	CHECK_EQ(actions_run(&(struct action_run){ .actions = actions, .ctx = &diary }, &err), -EBUSY);
	CHECK_STR(diary.text, "abcBA");
	CHECK_STR(err.text, "third: Device or resource busy");
}

static void note_done(void *ctx, size_t index, const struct action *action)
{
	char *text = ctx;

	text[strlen(text)] = (char)('0' + index);
	CHECK(strlen(action->name) > 0);
}

static void a_resumed_run_begins_where_it_is_told_and_can_still_undo_all(void)
{
	struct diary diary = { .fails_at = 'c' };
	char done[8] = "";
	struct action_run run = { .actions = actions, .ctx = &diary, .first = 1, .done = note_done,
				  .done_ctx = done };

	CHECK_EQ(actions_run(&run, NULL), -EBUSY);
	CHECK_STR(diary.text, "bcBA");
	CHECK_STR(done, "1");
}

TESTS(TEST(actions_run_in_order),
      TEST(failure_undoes_in_reverse_and_names_the_action),
      TEST(a_resumed_run_begins_where_it_is_told_and_can_still_undo_all))
