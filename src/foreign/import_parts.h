/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * import_parts - the readers behind import.h. Each fills rows and notes, and on failure leaves
 * a sentence without the file's name, and an imported that its caller gives back.
 */

#include <stdbool.h>

#include "base/err.h"
#include "model/imported.h"

/* A text in pieces: lines of it, fields of a line. Nothing is NUL-terminated. */
struct span {
	const char *at;
	size_t length;
};

struct span span_line(struct span *rest);		/* takes a line off, without its end */
struct span span_field(struct span *rest, char separator);
struct span span_word(struct span *rest);		/* blanks around it; length 0 = no more */
struct span span_trim(struct span s);
bool span_is(struct span s, const char *word);		/* in whatever case */
bool span_begins(struct span s, const char *word);
/* What follows the word, wherever it stands; at NULL when it does not. */
struct span span_behind(struct span s, const char *word);
/* All of it as a decimal number, NaN when it is none; a '%' at its end is allowed for. */
double span_number(struct span s);
char *span_copy(struct span s);

int import_fio_json(struct imported *ret, struct span text, struct err *err);
int import_fio_terse(struct imported *ret, struct span text, struct err *err);
int import_iozone(struct imported *ret, struct span text, struct err *err);
int import_iometer(struct imported *ret, struct span text, struct err *err);

/* The first '{' that opens an object with a member; length 0 when there is none. */
struct span import_json_start(struct span text);
/* "3;fio-3.33;name;": a line of fio's terse output? */
bool import_is_terse(struct span line);
