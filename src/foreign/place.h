/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * foreign - other people's languages, each translated into a plan (model/plan.h) and nothing
 * else: fio job files and command lines, iozone command lines, IOMeter's .icf, traces. Nothing
 * here runs, prints or opens a target; a front end can be shown and fuzzed without running.
 *
 * place - where in a foreign text something stands.
 */

#include <stdint.h>

#include "base/err.h"

struct place {
	const char *file;		/* as given; "command line" */
	uint32_t line, column;		/* from 1; 0 = not known, left out */
};

/* err_set with "file:line:column: " before the sentence. Returns code. */
int place_error(const struct place *place, int code, struct err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
