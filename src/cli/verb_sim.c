/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/sim_text.h"
#include "serve/serve.h"
#include "sim/sim.h"

static int fail(struct invocation *inv, const struct err *err)
{
	return invocation_fail(inv, exit_of_refusal(err->code), err);
}

static int print_and_done(struct invocation *inv, struct text *text)
{
	const int exit_code = print_text(inv, text);

	text_done(text);
	return exit_code;
}

/* --- what there is ------------------------------------------------------------------------- */

static int run_list(struct invocation *inv)
{
	struct text text = TEXT_INIT;

	sim_text_list(inv->json, &text);
	return print_and_done(inv, &text);
}

static int run_show(struct invocation *inv)
{
	struct text text = TEXT_INIT;
	struct sim_config config;
	struct err err = { 0 };

	if (sim_config_parse(&config, inv->words[1], &err) < 0)
		return fail(inv, &err);
	sim_text_config(&config, inv->json, &text);
	return print_and_done(inv, &text);
}

/* --- serving ------------------------------------------------------------------------------- */

static void serve_is_ready(void *ctx, const struct serve_ready *ready)
{
	struct invocation *inv = ctx;
	struct text text = TEXT_INIT;

	sim_text_ready(ready, inv->json, &text);
	print_and_done(inv, &text);
}

static void serve_note(void *ctx, const char *text)
{
	(void)ctx;
	fprintf(stderr, "tare: %s\n", text);
}

static volatile sig_atomic_t serve_stop;

static void on_serve_signal(int number)
{
	(void)number;
	serve_stop = 1;
}

/*
 * Unlike elsewhere (stop.h) a second Ctrl-C does not cut the end short, and a terminal that
 * goes away is an end, too: half of it would leave a mount that nobody answers for.
 */
static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_serve_signal }, before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], NULL, &before);
		if (numbers[i] != SIGHUP || before.sa_handler != SIG_IGN)	/* nohup */
			sigaction(numbers[i], &action, NULL);
	}
}

static int run_serve(struct invocation *inv)
{
	struct err err = { 0 };
	const struct serve_options options = {
		.spec = inv->words[1],
		.directory = inv->words[2],
		.loop = inv->loop,
		.stop = &serve_stop,
		.ctx = inv,
		.ready = serve_is_ready,
		.note = serve_note,
	};

	catch_signals();
	return serve_run(&options, &err) < 0 ? fail(inv, &err) : EXIT_DONE;
}

/* --- a served drive ------------------------------------------------------------------------ */

/* "7" or "0-99" */
static int parse_blocks(const char *word, struct sim_stat_request *ret, struct err *err)
{
	int end = 0;

	if (sscanf(word, "%" SCNu64 "-%" SCNu64 "%n", &ret->block_first, &ret->block_last, &end) < 2 ||
	    !end || word[end]) {
		end = 0;
		if (sscanf(word, "%" SCNu64 "%n", &ret->block_first, &end) < 1 || word[end])
			return err_set(err, -EINVAL, "--lba: '%s' is no range of logical blocks, "
				       "as in 0-99", word);
		ret->block_last = ret->block_first;
	}
	if (word[0] == '-' || ret->block_first > ret->block_last)
		return err_set(err, -EINVAL, "--lba: '%s' ends before it begins", word);
	ret->has_blocks = true;
	return 0;
}

static int run_stat(struct invocation *inv)
{
	struct sim_stat_request request = {
		.path = inv->words[1],
		.json = inv->json,
		.log = inv->log,
	};
	struct text text = TEXT_INIT;
	struct err err = { 0 };

	if (inv->lba[0] && parse_blocks(inv->lba, &request, &err) < 0)
		return fail(inv, &err);
	if (sim_text_stat(&request, &text, &err) < 0) {
		text_done(&text);
		return fail(inv, &err);
	}
	return print_and_done(inv, &text);
}

/* --- cleaning ------------------------------------------------------------------------------ */

static void keep_note(void *ctx, const char *text)
{
	json_array_append_new(ctx, json_string(text));
}

static void clean_text(const struct invocation *inv, int count, json_t *notes, struct text *ret)
{
	json_t *note;
	size_t i;

	if (inv->json) {
		json_t *object = json_pack("{s:i, s:O}", "drives", count, "done", notes);
		char *dump = json_dumps(object, JSON_INDENT(2));

		text_add(ret, "%s\n", dump ? dump : "");
		free(dump);
		json_decref(object);
		return;
	}
	json_array_foreach(notes, i, note)
		text_add(ret, "%s\n", json_string_value(note));
	if (count == 0)
		text_add(ret, "nothing was left behind\n");
}

static int run_clean(struct invocation *inv)
{
	json_t *notes = json_array();
	struct text text = TEXT_INIT;
	struct err err = { 0 };
	const int count = serve_clean(keep_note, notes, &err);

	if (count >= 0) {
		clean_text(inv, count, notes, &text);
	} else {
		json_t *done;
		size_t i;

		json_array_foreach(notes, i, done)
			serve_note(NULL, json_string_value(done));
	}
	json_decref(notes);
	return count < 0 ? fail(inv, &err) : print_and_done(inv, &text);
}

/* --- the verb ------------------------------------------------------------------------------ */

static const struct action {
	const char *name, *usage;
	uint32_t word_count;		/* its own included */
	int (*run)(struct invocation *inv);
	bool loop, blocks;		/* takes --loop; takes --lba and --log */
} actions[] = {
	{ "list", "list", 1, run_list, false, false },
	{ "show", "show NAME[,KEY=VALUE]...", 2, run_show, false, false },
	{ "serve", "serve NAME[,KEY=VALUE]... DIR", 3, run_serve, true, false },
	{ "stat", "stat FILE|DEVICE", 2, run_stat, false, true },
	{ "clean", "clean", 1, run_clean, false, false },
	{ NULL, NULL, 0, NULL, false, false },
};

static const char *action_name(const void *ctx, size_t i)
{
	(void)ctx;
	return actions[i].name;
}

static int unknown_action(struct invocation *inv, const char *word)
{
	const char *nearest = text_nearest(word, action_name, NULL);
	struct err err = { 0 };

	err_set(&err, -EINVAL, "sim: no such command '%s'", word);
	if (nearest)
		err_hint(&err, "did you mean tare sim %s?", nearest);
	else
		err_hint(&err, "tare sim list|show|serve|stat|clean");
	return fail(inv, &err);
}

static int sim_run(struct invocation *inv)
{
	const struct action *action = actions;
	struct err err = { 0 };

	if (inv->word_count == 0) {
		err_set(&err, -EINVAL, "sim: nothing says what is to be done");
		err_hint(&err, "tare sim list|show|serve|stat|clean");
		return fail(inv, &err);
	}
	while (action->name && strcmp(action->name, inv->words[0]) != 0)
		action++;
	if (!action->name)
		return unknown_action(inv, inv->words[0]);
	if (inv->word_count != action->word_count)
		err_set(&err, -EINVAL, "sim %s: write tare sim %s", action->name, action->usage);
	else if (inv->loop && !action->loop)
		err_set(&err, -EINVAL, "--loop goes with tare sim serve only");
	else if ((inv->lba[0] || inv->log) && !action->blocks)
		err_set(&err, -EINVAL, "--%s goes with tare sim stat only", inv->log ? "log" : "lba");
	return err.code ? fail(inv, &err) : action->run(inv);
}

#define AT(member) .offset = offsetof(struct invocation, member)

static const struct field sim_options[] = {
	{ .name = "loop", .type = FIELD_BOOL, AT(loop), .group = "Serve",
	  .help = "make a loop device on top of the file, for file systems and fstrim (root)" },
	{ .name = "lba", .type = FIELD_TEXT, AT(lba), .metavar = "FIRST-LAST",
	  .room = sizeof(((struct invocation *)NULL)->lba), .group = "Stat",
	  .help = "what the drive holds in these logical blocks" },
	{ .name = "log", .type = FIELD_BOOL, AT(log), .group = "Stat",
	  .help = "the latest operations (8192 are kept), with modelled and real times" },
	{ .name = NULL },
};

static const char *const topics[] = { "list", "show", "serve", "stat", "clean", NULL };

const struct verb verb_sim = {
	.name = "sim",
	.summary = "the reference drive: what there is, one as a file or a device, its truth",
	.description = "list names the drives, show tells a drive's parameters. serve makes one a file "
		       "(DIR/drive) and with --loop a block device, in real time, until Ctrl-C; its "
		       "content lives in memory. stat tells what the drive knows of itself, clean "
		       "removes what a killed server left.",
	.positional = POSITIONAL_WORDS,
	.operands = "list | show NAME | serve NAME DIR | stat FILE|DEVICE | clean",
	.tables = { sim_options },
	.topics = topics,
	.examples = {
		{ "sim list", "the drives there are" },
		{ "sim show x25m-g1,capacity=8g", "every parameter of one" },
		{ "sim serve x25m-g2 /tmp/ssd", "the file /tmp/ssd/drive, without root" },
		{ "sim serve nvme-tlc,capacity=4g /tmp/ssd --loop --json", "and a loop device" },
		{ "sim stat /dev/loop0 --lba 0-2047", "write amplification, and what is mapped" },
		{ "sim clean", "after a server was killed" },
	},
	.run = sim_run,
};
