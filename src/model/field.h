/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * field - a member of a noun, declared once. Flags, YAML keys, JSON members, help,
 * completion and manual are loops over a table of these.
 *
 * Names are written with hyphens ("ramp-time"); an underscore is taken for a hyphen on
 * input, so that fio's spelling works, and JSON writes underscores. A field's value lives
 * at offset in its struct; the type says as what. Tables end with a name of NULL.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

enum field_type {
	FIELD_BOOL,	/* bool; on the command line the value may be left out */
	FIELD_ENUM,	/* uint32_t, an index into choices */
	FIELD_U32,	/* uint32_t */
	FIELD_U64,	/* uint64_t */
	FIELD_AMOUNT,	/* struct amount */
	FIELD_TEXT,	/* char[], of room bytes */
	FIELD_CUSTOM,	/* parsed and printed by the functions of the row */
};

enum field_unit {
	UNIT_NONE,
	UNIT_COUNT,	/* 10k = 10000 */
	UNIT_BYTES,	/* 4k = 4096 */
	UNIT_NS,	/* 500ms */
	UNIT_PPM,	/* 70% */
};

/* Bytes, or a share of the target's size when ppm > 0; both zero = not given. */
struct amount {
	uint64_t bytes;
	uint32_t ppm;
};

struct field {
	const char *name;
	const char *alias;		/* fio's other name for it ("readwrite" for "rw"), or NULL */
	enum field_type type;
	enum field_unit unit;
	size_t offset;
	size_t room;			/* FIELD_TEXT: bytes with the NUL */
	uint64_t min, max;		/* numbers: accepted range, inclusive */
	const char *preset;		/* the default, as a user would write it; NULL = zero */
	const char *const *choices;	/* FIELD_ENUM: NULL-terminated */
	const char *help;		/* one line, no full stop */
	const char *group;		/* heading in help and manual */
	/*
	 * FIELD_CUSTOM: the whole value. Others, when given: looked at first, for spellings
	 * of its own or a better sentence; -ENOENT passes the value on to the type.
	 */
	int (*parse)(void *member, const char *value, struct err *err);
	void (*print)(const void *member, struct text *ret);		/* FIELD_CUSTOM */
	const char *metavar;		/* what help calls the value; NULL = after type and unit */
	bool repeatable;		/* on a command line: each time adds one */
	bool value_optional;		/* "--erase-data" or "--erase-data=X"; parse sees "" */
	bool input_only;		/* another way to write a member that has a row of its own:
					 * never printed ("buffered" for direct) */
};

/* Which rows of a table were given: bit i is row i. Tables have at most so many rows. */
typedef unsigned __int128 field_bits;
#define FIELD_ROWS_MAX 128

void fields_preset(const struct field *fields, void *noun);

/* NULL when there is none of that name; '_' counts as '-'. */
const struct field *field_find(const struct field *fields, const char *name);
/* NULL when none is near; aliases count, and the name is given then. */
const char *field_nearest(const struct field *fields, const char *name);

/* Sets the member from what the user wrote; untouched on failure. The sentence names the field. */
int field_set(const struct field *field, void *noun, const char *value, struct err *err);

/* The value as a user would write it: field_set takes it back unchanged. */
void field_print(const struct field *field, const void *noun, struct text *ret);
bool field_is_preset(const struct field *field, const void *noun);

/* "SIZE", "TIME", "COUNT", "PERCENT", "TEXT", or "a|b|c" for choices; NULL for booleans. */
const char *field_metavar(const struct field *field, struct text *room);
