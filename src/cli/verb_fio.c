/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/fio_output.h"
#include "foreign/fio.h"

/* NAME=PATH; the last '=' that leaves a path. */
static int parse_map(void *member, const char *value, struct err *err)
{
	struct invocation *inv = member;
	const char *mark = strchr(value, '=');

	if (!mark || mark == value || !mark[1])
		return err_set(err, -EINVAL, "'%.200s' is not NAME=PATH, as in /dev/sdb=/dev/loop0", value);
	if (inv->foreign_maps.count == FOREIGN_MAPS)
		return err_set(err, -ERANGE, "more than %d of them", FOREIGN_MAPS);
	inv->foreign_maps.words[inv->foreign_maps.count++] = value;
	return 0;
}

static const struct field fio_fields[] = {
	{ .name = "map", .type = FIELD_CUSTOM, .offset = 0, .parse = parse_map, .metavar = "NAME=PATH",
	  .input_only = true, .group = "Translation",
	  .help = "use another target for what the job file calls NAME" },
	{ .name = NULL },
};

static int fail_problems(const struct invocation *inv, const struct fio_translation *t)
{
	static struct problems problems;

	problems.count = t->problems.count;
	for (size_t i = 0; i < t->problems.count && i < PROBLEMS; i++)
		snprintf(problems.texts[i], sizeof(problems.texts[i]), "%s", t->problems.texts[i]);
	return args_fail(inv, &problems);
}

static bool phase_writes(const struct plan *plan, const char *spec)
{
	for (size_t i = 0; i < plan->phase_count; i++) {
		const struct phase *phase = &plan->phases[i];

		if (phase->kind == PHASE_MEASURE && workload_writes(&phase->workload) &&
		    strcmp(plan->targets[phase->target_index].spec, spec) == 0)
			return true;
	}
	return false;
}

/* Consent is about the one target of its kind that is written, wherever it stands in the plan. */
static int settle_consent(struct invocation *inv, const struct plan *plan, struct err *err)
{
	const mode_t wanted = inv->erase_data ? S_IFBLK : S_IFREG;
	const char *spec = NULL;
	struct stat st;

	if (!inv->erase_data && !inv->expendable[0])
		return 0;
	for (size_t i = 0; i < plan->target_count; i++) {
		const char *candidate = plan->targets[i].spec;

		if (stat(candidate, &st) < 0 || (st.st_mode & S_IFMT) != wanted ||
		    !phase_writes(plan, candidate) || (spec && strcmp(spec, candidate) == 0))
			continue;
		if (spec)
			return err_set(err, -EINVAL,
				       "%s and %s would both be written, and consent names one; run their jobs "
				       "apart (--section)",
				       spec, candidate);
		spec = candidate;
	}
	spec = spec ? spec : plan->targets[0].spec;
	return consent_settle(inv, spec, phase_writes(plan, spec), err);
}

static int print_plan(const struct invocation *inv, const struct plan *plan)
{
	struct text text = TEXT_INIT;
	int exit_code;

	plan_print(plan, &text);
	exit_code = print_words(inv, "plan", &text);
	text_done(&text);
	return exit_code;
}

/* fio's own lists, of what tare makes of them. */
static int describe(const struct invocation *inv, const struct fio_translation *t)
{
	struct text text = TEXT_INIT;
	struct err err;
	int exit_code = EXIT_DONE;

	if (t->action == FIO_VERSION)
		text_add(&text, "fio-3.33\n");
	else if (t->action == FIO_ENGHELP)
		fio_describe_engines(&text);
	else if (fio_describe_options(t->topic, &text) < 0) {
		err_set(&err, -EINVAL, "--cmdhelp: fio has no option '%.64s'", t->topic);
		return invocation_fail(inv, EXIT_USAGE, &err);
	}
	exit_code = print_words(inv, "text", &text);
	text_done(&text);
	return exit_code;
}

/* What is not done to the letter is said before anything runs. */
static void print_notes(const struct fio_labels *labels)
{
	for (size_t i = 0; i < labels->note_count; i++)
		fprintf(stderr, "note: %s\n", labels->notes[i]);
}

static int run_plan(struct invocation *inv, const struct fio_translation *t)
{
	struct err err = { 0 };
	int r = settle_consent(inv, &t->plan, &err);

	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	if (t->output_path && !freopen(t->output_path, "w", stdout)) {
		err_errno(&err, -errno, "--output=%s", t->output_path);
		return invocation_fail(inv, EXIT_USAGE, &err);
	}
	if (t->quiet)
		inv->progress = PROGRESS_NONE;
	return fio_output_run(inv, &t->plan, &t->labels);
}

static int act(struct invocation *inv, const struct fio_translation *t)
{
	switch (t->action) {
	case FIO_CMDHELP:
	case FIO_ENGHELP:
	case FIO_VERSION:
		return describe(inv, t);
	case FIO_SHOWCMD:
		return print_words(inv, "text", &t->commands);
	case FIO_PARSE_ONLY:
		print_notes(&t->labels);
		return EXIT_DONE;
	case FIO_RUN:
		break;
	}
	print_notes(&t->labels);
	return inv->print_plan ? print_plan(inv, &t->plan) : run_plan(inv, t);
}

static void split_maps(const struct invocation *inv, char room[][4096], struct fio_map *maps)
{
	for (uint32_t i = 0; i < inv->foreign_maps.count; i++) {
		const char *word = inv->foreign_maps.words[i], *mark = strchr(word, '=');

		snprintf(room[i], sizeof(room[i]), "%.*s", (int)(mark - word), word);
		maps[i] = (struct fio_map){ room[i], mark + 1 };
	}
}

static int fio_run(struct invocation *inv)
{
	static char room[FOREIGN_MAPS][4096];
	struct fio_map maps[FOREIGN_MAPS];
	struct fio_world world;
	const struct fio_request request = {
		.words = inv->foreign_words,
		.word_count = inv->foreign_count,
		.world = &world,
		.maps = maps,
		.map_count = inv->foreign_maps.count,
		.exact = inv->foreign_exact,
	};
	struct fio_translation t;
	int exit_code;

	split_maps(inv, room, maps);
	fio_world_real(&world);
	if (fio_translate(&request, &t) < 0)
		exit_code = fail_problems(inv, &t);
	else
		exit_code = act(inv, &t);
	fio_translation_done(&t);
	return exit_code;
}

const struct verb verb_fio = {
	.name = "fio",
	.summary = "run fio's job files and command lines",
	.description =
		"Takes what fio takes: job files, or --name=JOB and its options, and prints what fio prints "
		"(--output-format=normal, json, json+ or terse). Every job and clone becomes a measurement "
		"of a plan, which --print-plan shows.\n\n"
		"Each option is done, refused by name with its place and what to use instead, or noted as "
		"having no effect (--cmdhelp lists them). Where tare does not do what is asked to the "
		"letter, one line says so: in particular, files that are not there become unnamed test "
		"files, written in full before a job starts and gone afterwards; files and devices that "
		"are there are only read, unless --expendable or --erase-data allows more.",
	.positional = POSITIONAL_FOREIGN,
	.operands = "[FIO-OPTIONS] [JOB.fio]...",
	.tables = { foreign_fields, fio_fields, consent_fields },
	.examples = {
		{ "fio job.fio", "a job file as it is" },
		{ "fio --name=r --rw=randread --size=1g --direct=1 --iodepth=32 --ioengine=libaio",
		  "a command line" },
		{ "fio --print-plan job.fio", "what tare makes of it; nothing is run" },
		{ "fio --map /dev/nvme0n1=/dev/loop0 --output-format=json job.fio",
		  "on another device" },
	},
	.run = fio_run,
};
