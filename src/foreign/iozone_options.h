/* SPDX-License-Identifier: MIT */
#pragma once

/* iozone_options - each option of iozone in one row: what it takes and what becomes of it. */

#include "foreign/iozone.h"

enum iozone_argument {
	IOZONE_NONE,
	IOZONE_KB,		/* kB, or with k, m or g behind it */
	IOZONE_NUMBER,
	IOZONE_WORD,
	IOZONE_NAMES,		/* as many words as there are streams */
};

struct iozone_value {
	const char *text;	/* NULL for IOZONE_NONE */
	uint64_t number;
};

struct iozone_option {
	const char *name;	/* "a", "+n" */
	enum iozone_argument argument;
	uint64_t min, max;	/* of a number */
	/* What becomes of it: a flag or number at offset, or take; refused; or of no effect. */
	size_t offset;
	void (*take)(struct iozone_command *command, const struct iozone_value *value);
	const char *refusal;	/* why, and what to use instead */
	const char *note;
	/* The banner's line: before, the value, after. */
	const char *before, *after;
};

/* name NULL ends. */
extern const struct iozone_option iozone_options[];
