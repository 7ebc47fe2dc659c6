/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * import - other tools' result files, told apart by what is in them: fio's JSON (2.x and 3.x) and
 * terse lines (2 to 5), iozone's tables and throughput blocks, IOMeter's result CSV. Units are
 * those of the version that wrote the file. What no figures can be taken from without guessing
 * (fio's text for people, IOMeter's file per update, iozone's workbook) is refused by name, with
 * what to use instead.
 *
 * Ownership: import_parse and import_load fill, imported_done frees; ret is untouched on failure.
 */

#include "base/err.h"
#include "model/imported.h"

/* -EINVAL with a sentence that begins with the name; the text need not end with a NUL. */
int import_parse(struct imported *ret, const char *name, const char *text, size_t length,
		 struct err *err);

/* "-" is standard input. */
int import_load(struct imported *ret, const char *path, struct err *err);
