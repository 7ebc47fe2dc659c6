/* SPDX-License-Identifier: MIT */
#pragma once

/* words - what a word of the command line is, before anything is opened (stat() only). */

#include <stdbool.h>

#include "base/err.h"

enum word_kind {
	WORD_NOTHING,		/* no such thing */
	WORD_DIRECTORY,
	WORD_FILE,
	WORD_BLOCK,
	WORD_CHAR,
	WORD_SPEC,		/* "null", "null:size=1g", "sim:NAME", "join:FILE:FILE" */
	WORD_OTHER,		/* a socket, a pipe */
};
enum word_kind words_kind(const char *word);

/* Ends in .yaml or .yml. */
bool words_is_plan_name(const char *word);

/* Could it be a target? Names of kinds; what is inside is the gate's (target_open) to judge. */
int words_check_target(const char *word, struct err *err);

/* "a typographic dash (U+2013)" when the word begins with one, behind plain dashes or not. */
const char *words_typographic_dash(const char *word);
const char *words_behind_dashes(const char *word);

/* What to do in place of an option that fio has and tare has not; NULL = no word on it. */
const char *words_fio_advice(const char *name);
