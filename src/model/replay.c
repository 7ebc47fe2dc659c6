/* SPDX-License-Identifier: MIT */
#include "model/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "model/trace.h"

const char *const replay_timing_choices[] = { "recorded", "gaps", "none", NULL };
const char *const replay_beyond_choices[] = { "refuse", "clip", "wrap", NULL };
const char *const replay_overlap_choices[] = { "refuse", "allow", "separate", NULL };
const char *const replay_clones_choices[] = { "together", "in-turn", NULL };
const char *const replay_unit_choices[] = { "auto", "s", "ms", "us", "ns", NULL };
const char *const replay_wait_choices[] = { "auto", "absolute-ms", "relative-us", NULL };
const char *const replay_code_choices[] = { "not-said", "read=0", "read=1", NULL };

/* "2", "0.5", "2x" */
int replay_parse_speed(void *member, const char *value, struct err *err)
{
	char *end;
	const double speed = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "x") != 0) || !(speed >= 1e-6 && speed <= 1e6))
		return err_set(err, -EINVAL,
			"'%s' is no speed from 0.000001 to 1000000; 2 is twice as fast", value);
	*(uint64_t *)member = (uint64_t)(speed * PPM + 0.5);
	return 0;
}

void replay_print_speed(const void *member, struct text *ret)
{
	const uint64_t ppm = *(const uint64_t *)member;
	char text[32];
	size_t length = (size_t)snprintf(text, sizeof(text), "%llu.%06llu",
					 (unsigned long long)(ppm / PPM),
					 (unsigned long long)(ppm % PPM));

	while (text[length - 1] == '0')
		text[--length] = '\0';
	if (text[length - 1] == '.')
		text[--length] = '\0';
	text_add(ret, "%s", text);
}

static const char *op_name_at(const void *ctx, size_t i)
{
	(void)ctx;
	return i <= TRACE_FLUSH ? trace_op_names[i] : NULL;
}

static int find_op(const char *word, uint32_t *bits, struct err *err)
{
	const char *nearest;

	/* The other name discards go by. */
	if (strcmp(word, "discard") == 0)
		word = "trim";
	for (uint32_t op = 0; op <= TRACE_FLUSH; op++) {
		if (strcmp(word, trace_op_names[op]) == 0) {
			*bits |= 1u << op;
			return 0;
		}
	}
	nearest = text_nearest(word, op_name_at, NULL);
	err_set(err, -EINVAL, "'%s' is none of read, write, trim, flush", word);
	return nearest ? err_hint(err, "did you mean %s?", nearest) : -EINVAL;
}

int replay_parse_skip(void *member, const char *value, struct err *err)
{
	DEFER(defer_free) char *copy = strdup(value);
	uint32_t bits = 0;
	char *save = NULL;
	int r = copy ? 0 : err_set(err, -ENOMEM, "no memory");

	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; r == 0 && word;
	     word = strtok_r(NULL, ",", &save))
		r = find_op(word, &bits, err);
	if (r == 0 && !bits)
		r = err_set(err, -EINVAL, "nothing is named; there are read, write, trim, flush");
	if (r == 0)
		*(uint32_t *)member = bits;
	return r;
}

void replay_print_skip(const void *member, struct text *ret)
{
	const uint32_t bits = *(const uint32_t *)member;
	const char *mark = "";

	for (uint32_t op = 0; op <= TRACE_FLUSH; op++) {
		if (!(bits >> op & 1))
			continue;
		text_add(ret, "%s%s", mark, trace_op_names[op]);
		mark = ",";
	}
}

/* The mark between options in a plan stands in none of them. */
int replay_parse_plain(void *member, const char *value, struct err *err)
{
	(void)member;
	if (strchr(value, ';'))
		return err_set(err, -EINVAL, "';' ends an option; none may contain it");
	return -ENOENT;
}

const struct field replay_fields[] = {
#define REPLAY_BASE 0
#include "model/replay_rows.h"
	{ .name = NULL },
};

void replay_init(struct replay *replay)
{
	memset(replay, 0, sizeof(*replay));
	fields_preset(replay_fields, replay);
}

static int set_pair(struct replay *replay, char *pair, uint64_t *seen, struct err *err)
{
	char *value = strchr(pair, '=');
	const struct field *field;
	const char *nearest;
	size_t row;

	if (!value)
		return err_set(err, -EINVAL, "'%s' is no NAME=VALUE", pair);
	*value++ = '\0';
	field = field_find(replay_fields, pair);
	if (!field) {
		nearest = field_nearest(replay_fields, pair);
		return err_set(err, -EINVAL, "no option '%s'%s%s%s", pair,
			       nearest ? "; did you mean '" : "", nearest ? nearest : "",
			       nearest ? "'?" : "");
	}
	row = (size_t)(field - replay_fields);
	if (*seen >> row & 1)
		return err_set(err, -EINVAL, "%s is given twice", field->name);
	*seen |= 1ull << row;
	return field_set(field, replay, value, err);
}

int replay_parse(struct replay *replay, const char *text, struct err *err)
{
	DEFER(defer_free) char *copy = strdup(text);
	struct replay parsed;
	uint64_t seen = 0;
	char *save = NULL;
	int r = copy ? 0 : err_set(err, -ENOMEM, "no memory");

	replay_init(&parsed);
	for (char *pair = copy ? strtok_r(copy, ";", &save) : NULL; r == 0 && pair;
	     pair = strtok_r(NULL, ";", &save))
		r = set_pair(&parsed, pair + strspn(pair, " "), &seen, err);
	if (r == 0)
		*replay = parsed;
	return r;
}

void replay_print(const struct replay *replay, struct text *ret)
{
	const char *mark = "";

	for (const struct field *field = replay_fields; field->name; field++) {
		/* A stream may well be called "0". */
		const bool is_text = field->type == FIELD_TEXT;

		if (is_text ? !*((const char *)replay + field->offset) :
			      field_is_preset(field, replay))
			continue;
		text_add(ret, "%s%s=", mark, field->name);
		field_print(field, replay, ret);
		mark = ";";
	}
}

int replay_parse_member(void *member, const char *value, struct err *err)
{
	return replay_parse(member, value, err);
}

void replay_print_member(const void *member, struct text *ret)
{
	replay_print(member, ret);
}
