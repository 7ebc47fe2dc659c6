/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * help - what can be written, told from the tables the parser reads: for the terminal and,
 * as scdoc, for the manual.
 */

#include "base/text.h"
#include "cli/cli.h"

void help_short(const struct verb *verb, struct text *ret);	/* --help: three examples */
void help_full(const struct verb *verb, struct text *ret);	/* tare help VERB */

/* Under their groups; *group is the one before, NULL at first: tables may share one. */
void help_options(const struct field *table, const char **group, struct text *ret);
void help_option(const struct field *field, struct text *ret);	/* tare help iodepth */

/* Topics beside the verbs: "exit-codes", "findings", "workload". */
struct help_topic {
	const char *name;
	const char *summary;
	void (*print)(struct text *ret);
};
extern const struct help_topic help_topics[];	/* name NULL ends */

/*
 * What stands for @PART@ in a page of docs/man: "synopsis run", "description run",
 * "options run", "examples run"; "workload", "common", "exit-codes", "findings",
 * "commands". -ENOENT when there is no such part.
 */
int help_scdoc(const char *part, struct text *ret);
