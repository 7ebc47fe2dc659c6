/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/fio_output.h"
#include "cli/maps.h"
#include "cli/traces.h"
#include "foreign/fio.h"

/* What is not done to the letter is said before anything runs. */
static void print_notes(const struct fio_labels *labels)
{
	for (size_t i = 0; i < labels->note_count; i++)
		fprintf(stderr, "note: %s\n", labels->notes[i]);
}

static void print_remarks(const struct traces *traces)
{
	struct text text = TEXT_INIT;

	traces_remarks(traces, &text);
	fputs(text_string(&text), stderr);
	text_done(&text);
}

static int fail_problems(const struct invocation *inv, const struct fio_translation *t)
{
	static struct problems problems;

	if (!inv->json)
		print_notes(&t->labels);
	problems.count = t->problems.count;
	for (size_t i = 0; i < t->problems.count && i < PROBLEMS; i++)
		snprintf(problems.texts[i], sizeof(problems.texts[i]), "%s", t->problems.texts[i]);
	return args_fail(inv, &problems);
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

static int run_plan(struct invocation *inv, const struct fio_translation *t, struct traces *traces)
{
	struct err err = { 0 };
	int r = consent_settle_plan(inv, &t->plan, &err);

	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	if (t->output_path && !freopen(t->output_path, "w", stdout)) {
		err_errno(&err, -errno, "--output=%s", t->output_path);
		return invocation_fail(inv, EXIT_USAGE, &err);
	}
	if (t->quiet)
		inv->progress = PROGRESS_NONE;
	return fio_output_run(inv, &(struct fio_job_run){
					   .plan = &t->plan,
					   .labels = &t->labels,
					   .traces = traces,
				   });
}

static int act(struct invocation *inv, const struct fio_translation *t, struct traces *traces)
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
	print_remarks(traces);
	return inv->print_plan ? print_plan(inv, &t->plan) : run_plan(inv, t, traces);
}

static int fio_run(struct invocation *inv)
{
	static struct name_map named[FOREIGN_MAPS];
	struct fio_map maps[FOREIGN_MAPS];
	struct fio_world world;
	struct traces traces;
	const struct fio_request request = {
		.words = inv->foreign_words,
		.word_count = inv->foreign_count,
		.world = &world,
		.maps = maps,
		.map_count = inv->foreign_maps.count,
		.exact = inv->foreign_exact,
		.trace_open = traces_open,
		.trace_ctx = &traces,
	};
	struct fio_translation t;
	int exit_code;

	for (size_t i = 0; i < maps_split(inv, named); i++)
		maps[i] = (struct fio_map){ named[i].name, named[i].path };
	fio_world_real(&world);
	traces_init(&traces);
	if (fio_translate(&request, &t) < 0)
		exit_code = fail_problems(inv, &t);
	else
		exit_code = act(inv, &t, &traces);
	fio_translation_done(&t);
	traces_done(&traces);
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
	.tables = { foreign_fields, map_fields, consent_fields },
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
