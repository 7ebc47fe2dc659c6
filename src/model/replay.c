/* SPDX-License-Identifier: MIT */
#include "model/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "model/trace.h"

static const char *const timing_choices[] = { "recorded", "gaps", "none", NULL };
static const char *const beyond_choices[] = { "refuse", "clip", "wrap", NULL };
static const char *const overlap_choices[] = { "refuse", "allow", "separate", NULL };
static const char *const clones_choices[] = { "together", "in-turn", NULL };
static const char *const unit_choices[] = { "auto", "s", "ms", "us", "ns", NULL };
static const char *const wait_choices[] = { "auto", "absolute-ms", "relative-us", NULL };
static const char *const code_choices[] = { "not-said", "read=0", "read=1", NULL };

/* "2", "0.5", "2x" */
static int parse_speed(void *member, const char *value, struct err *err)
{
	char *end;
	const double speed = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "x") != 0) || !(speed >= 1e-6 && speed <= 1e6))
		return err_set(err, -EINVAL,
			       "'%s' is no speed from 0.000001 to 1000000; 2 is twice as fast", value);
	*(uint64_t *)member = (uint64_t)(speed * PPM + 0.5);
	return 0;
}

static void print_speed(const void *member, struct text *ret)
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

static int parse_skip(void *member, const char *value, struct err *err)
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

static void print_skip(const void *member, struct text *ret)
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
static int parse_plain(void *member, const char *value, struct err *err)
{
	(void)member;
	if (strchr(value, ';'))
		return err_set(err, -EINVAL, "';' ends an option; none may contain it");
	return -ENOENT;
}

#define AT(member) .offset = offsetof(struct replay, member)
#define ENUM(member, list) .type = FIELD_ENUM, AT(member), .choices = (list)
#define U64(member, u, low, high) \
	.type = FIELD_U64, .unit = (u), AT(member), .min = (low), .max = (high)
#define TEXT(member) \
	.type = FIELD_TEXT, AT(member), .room = sizeof(((struct replay *)NULL)->member), \
	.parse = parse_plain
#define CUSTOM(member, in, out) .type = FIELD_CUSTOM, AT(member), .parse = (in), .print = (out)

const struct field replay_fields[] = {
#define GROUP "Timing"
	{ .name = "timing", ENUM(timing, timing_choices), .preset = "recorded", .group = GROUP,
	  .help = "at recorded times whatever came back; one by one with the recorded pauses; or as "
		  "fast as the depth allows" },
	{ .name = "speed", CUSTOM(speed_ppm, parse_speed, print_speed), .preset = "1",
	  .metavar = "FACTOR", .group = GROUP, .help = "2 plays twice as fast, 0.5 half as fast" },
#undef GROUP
#define GROUP "Place"
	{ .name = "align", U64(align_bytes, UNIT_BYTES, 0, 1u << 30), .group = GROUP,
	  .help = "round starts down and ends up to this; without it as recorded" },
	{ .name = "divide", U64(divide, UNIT_COUNT, 1, 1000000), .preset = "1", .group = GROUP,
	  .help = "divide offsets by this, for a smaller target; then align rounds" },
	{ .name = "beyond", ENUM(beyond, beyond_choices), .preset = "refuse", .group = GROUP,
	  .help = "requests past the target's end: refuse the trace, cut them, or wrap them round" },
	{ .name = "overlap", ENUM(overlap, overlap_choices), .preset = "refuse", .group = GROUP,
	  .help = "recorded targets whose ranges meet on one target: refuse, allow, or put them "
		  "behind each other" },
	{ .name = "skip", CUSTOM(skip, parse_skip, print_skip), .metavar = "OP,...", .group = GROUP,
	  .help = "leave these out, counted: read, write, trim, flush" },
	{ .name = "streams", TEXT(streams), .metavar = "NAME,...", .group = GROUP,
	  .help = "recorded targets to be replayed; without it all" },
#undef GROUP
#define GROUP "Format"
	{ .name = "format", TEXT(format), .metavar = "NAME", .group = GROUP,
	  .help = "what the trace is written in; without it its content tells" },
	{ .name = "wait-unit", ENUM(wait_unit, wait_choices), .preset = "auto", .group = GROUP,
	  .help = "fio's iolog version 2: waits until so many ms after the start, as fio does it, or "
		  "for so many us, as its manual has it" },
	{ .name = "time-unit", ENUM(time_unit, unit_choices), .preset = "auto", .group = GROUP,
	  .help = "of times, where the format leaves it open" },
	{ .name = "code", ENUM(read_code, code_choices), .preset = "not-said", .group = GROUP,
	  .help = "what 0 and 1 stand for, where the format leaves it open" },
	{ .name = "block", U64(block_bytes, UNIT_BYTES, 0, 1u << 20), .group = GROUP,
	  .help = "bytes of a logical block in the trace; without it what the format says" },
	{ .name = "columns", TEXT(columns), .metavar = "NAME,...", .group = GROUP,
	  .help = "of a table without a header: time, op, offset, lba, length, blocks, target, "
		  "latency, -" },
	{ .name = "clones", ENUM(clones, clones_choices), .preset = "together", .group = GROUP,
	  .help = "fio's iolog with several headers: side by side, or one after another" },
#undef GROUP
	{ .name = NULL },
};

void replay_init(struct replay *replay)
{
	memset(replay, 0, sizeof(*replay));
	fields_preset(replay_fields, replay);
}

struct field replay_field_at(const struct field *field, size_t base)
{
	struct field moved = *field;

	moved.offset += base;
	return moved;
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
