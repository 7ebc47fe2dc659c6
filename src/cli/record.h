/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * record - the two files of a recording: FILE, fio's iolog, and FILE.csv beside it. Both must be
 * new: they are made before anything runs, and removed again when nothing was recorded.
 *
 * Ownership: record_open then record_close.
 */

#include <stdio.h>

#include "base/err.h"
#include "foreign/trace_write.h"
#include "model/result.h"

struct record_files {
	char path[4096], table_path[4104];
	FILE *iolog, *table;
};

int record_open(struct record_files *ret, const char *path, struct err *err);
/* Closes; removes both when keep is false. */
void record_close(struct record_files *files, bool keep);

/* What the measurements of a result did. */
int record_write(struct record_files *files, const struct recording *recording,
		 const struct result *result, struct err *err);
