/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio - fio's job files and command lines as a plan and the labels of its report.
 *
 * Each job, and each clone of it, becomes one measurement; those that fio runs side by side
 * start together, a stonewall begins the next group. Files that are not there become unnamed
 * test files of tare's own in the same directory; files and devices that are there stand in the
 * plan by their names, for the gate to judge. What is not done to the letter is one note each.
 *
 * Nothing is opened but job files and the logs they replay; struct fio_world is all that is known of the machine.
 *
 *	struct fio_translation t;
 *	if (fio_translate(&request, &t) < 0)
 *		... t.problems, all of them ...
 *	fio_translation_done(&t);
 */

#include "foreign/fio_source.h"
#include "model/fio_labels.h"
#include "model/plan.h"
#include "model/trace.h"

struct fio_map { /* --map NAME=PATH: another target for a filename */
	const char *name, *path;
};

struct fio_request {
	const char *const *words; /* of fio's command line, without "fio" */
	uint32_t word_count;
	const struct fio_world *world;
	const struct fio_map *maps;
	uint32_t map_count;
	bool exact; /* to the letter where honest defaults would differ */
	/*
	 * The log of a read_iolog, which says what its job does and where; as in measure_options.
	 * NULL: such jobs are refused. Asked of plans that are to be run alone.
	 */
	int (*trace_open)(void *ctx, const struct workload *workload, const struct trace **ret,
			  struct err *err);
	void *trace_ctx;
};

enum fio_action { FIO_RUN, FIO_PARSE_ONLY, FIO_SHOWCMD, FIO_CMDHELP, FIO_ENGHELP, FIO_VERSION };

struct fio_translation {
	enum fio_action action;
	const char *topic;	 /* of --cmdhelp and --enghelp; "" = all; borrowed from words */
	const char *output_path; /* --output; NULL = standard output; borrowed */
	bool quiet;		 /* --eta=never */
	struct plan plan;
	struct fio_labels labels;
	struct fio_remarks problems;
	struct fio_remarks remarks; /* at a place in the text; the labels' notes hold them too */
	struct text commands;	    /* FIO_SHOWCMD: a fio command line for each file */
};

/* 0, or -EINVAL with the problems. *ret is initialised by the call, fio_translation_done's in both
 * cases. */
int fio_translate(const struct fio_request *request, struct fio_translation *ret);
void fio_translation_done(struct fio_translation *translation);

/* All options (topic ""), or one: name, type, what tare makes of it. 0, or -ENOENT. */
int fio_describe_options(const char *topic, struct text *ret);
/* fio's engines that are taken for what they are. */
void fio_describe_engines(struct text *ret);
