/* SPDX-License-Identifier: MIT */
#include "model/field.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/utf8.h"

static void *member_of(const struct field *field, void *noun)
{
	return (char *)noun + field->offset;
}

static const void *const_member_of(const struct field *field, const void *noun)
{
	return (const char *)noun + field->offset;
}

/* Equal but for '_' against '-'. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		if (*a != *b && !(*a == '_' && *b == '-') && !(*a == '-' && *b == '_'))
			return false;
	}
	return *a == *b;
}

const struct field *field_find(const struct field *fields, const char *name)
{
	for (const struct field *f = fields; f->name; f++) {
		if (same_name(name, f->name) || (f->alias && same_name(name, f->alias)))
			return f;
	}
	return NULL;
}

static const char *name_at(const void *ctx, size_t i)
{
	return ((const struct field *)ctx)[i].name;
}

static const char *choice_at(const void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

/* A row without an alias stands with its name again. */
static const char *alias_at(const void *ctx, size_t i)
{
	const struct field *field = (const struct field *)ctx + i;

	return field->alias ? field->alias : field->name;
}

const char *field_nearest(const struct field *fields, const char *name)
{
	const char *nearest = text_nearest(name, name_at, fields);

	if (nearest)
		return nearest;
	nearest = text_nearest(name, alias_at, fields);
	return nearest ? field_find(fields, nearest)->name : NULL;
}

static int set_bool(const struct field *field, bool *member, const char *value, struct err *err)
{
	static const char *const yes[] = { "1", "yes", "true", "on", NULL };
	static const char *const no[] = { "0", "no", "false", "off", NULL };

	for (size_t i = 0; yes[i]; i++) {
		if (strcmp(value, yes[i]) == 0) {
			*member = true;
			return 0;
		}
		if (strcmp(value, no[i]) == 0) {
			*member = false;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "%s: '%s' is neither yes nor no; write 1 or 0", field->name,
		       value);
}

static void add_choices(const struct field *field, struct text *text, const char *separator)
{
	for (size_t i = 0; field->choices[i]; i++)
		text_add(text, "%s%s", i ? separator : "", field->choices[i]);
}

static int set_enum(const struct field *field, uint32_t *member, const char *value,
		    struct err *err)
{
	struct text list = TEXT_INIT;
	const char *nearest;

	for (uint32_t i = 0; field->choices[i]; i++) {
		if (strcmp(value, field->choices[i]) == 0) {
			*member = i;
			return 0;
		}
	}
	nearest = text_nearest(value, choice_at, field->choices);
	add_choices(field, &list, ", ");
	err_set(err, -EINVAL, "%s: '%s' is not one of %s", field->name, value, text_string(&list));
	if (nearest)
		err_hint(err, "did you mean %s=%s?", field->name, nearest);
	text_done(&list);
	return -EINVAL;
}

/* In the field's own unit, for sentences about its range. */
static void print_number(const struct field *field, uint64_t value, struct text *ret)
{
	char buffer[UNITS_TEXT_BYTES];

	switch (field->unit) {
	case UNIT_BYTES:
		units_format_bytes(value, buffer);
		break;
	case UNIT_NS:
		units_format_time_ns(value, buffer);
		break;
	case UNIT_PPM:
		units_format_ppm((uint32_t)value, buffer);
		break;
	case UNIT_COUNT:
		units_format_count(value, buffer);
		break;
	case UNIT_NONE:
		snprintf(buffer, sizeof(buffer), "%llu", (unsigned long long)value);
		break;
	}
	text_add(ret, "%s", buffer);
}

static int check_range(const struct field *field, uint64_t number, const char *value,
		       struct err *err)
{
	struct text text = TEXT_INIT;

	if (number >= field->min && number <= field->max)
		return 0;
	if (number < field->min) {
		text_add(&text, "%s: %s is too small; it is at least ", field->name, value);
		print_number(field, field->min, &text);
	} else {
		text_add(&text, "%s: %s is too large; it is at most ", field->name, value);
		print_number(field, field->max, &text);
	}
	err_set(err, -ERANGE, "%s", text_string(&text));
	text_done(&text);
	return -ERANGE;
}

/* Digits alone: seeds and the like, where 10k would be no help. */
static int parse_plain(const char *value, uint64_t *ret, struct err *err)
{
	const size_t digits = strspn(value, "0123456789");

	if (!digits || value[digits])
		return err_set(err, -EINVAL, "'%s' is not a whole number; write digits only", value);
	errno = 0;
	*ret = strtoull(value, NULL, 10);
	if (errno == ERANGE)
		return err_set(err, -ERANGE, "number '%s' is too large", value);
	return 0;
}

static int parse_number(const struct field *field, const char *value, uint64_t *ret,
			struct err *err)
{
	uint32_t ppm = 0;
	int r = 0;

	if (strchr(value, ','))
		return err_set(err, -EINVAL,
			       "%s: '%s': separate values for reads, writes and trims are not "
			       "supported; give one value",
			       field->name, value);
	switch (field->unit) {
	case UNIT_BYTES:
		r = units_parse_bytes(value, ret, err);
		break;
	case UNIT_NS:
		r = units_parse_time_ns(value, ret, err);
		break;
	case UNIT_PPM:
		r = units_parse_ppm(value, &ppm, err);
		*ret = ppm;
		break;
	case UNIT_COUNT:
		r = units_parse_count(value, ret, err);
		break;
	case UNIT_NONE:
		r = parse_plain(value, ret, err);
		break;
	}
	if (r < 0) {
		err_wrap(err, "%s", field->name);
		return r;
	}
	return check_range(field, *ret, value, err);
}

static int set_amount(const struct field *field, struct amount *member, const char *value,
		      struct err *err)
{
	struct amount amount = { 0, 0 };
	int r;

	if (strchr(value, '%')) {
		r = units_parse_ppm(value, &amount.ppm, err);
		if (r < 0) {
			err_wrap(err, "%s", field->name);
			return r;
		}
		if (field->min && !amount.ppm)
			return err_set(err, -ERANGE, "%s: 0%% is too small", field->name);
	} else {
		r = parse_number(field, value, &amount.bytes, err);
		if (r < 0)
			return r;
	}
	*member = amount;
	return 0;
}

static int set_text(const struct field *field, char *member, const char *value, struct err *err)
{
	const size_t length = strlen(value);

	if (length >= field->room)
		return err_set(err, -ERANGE, "%s: %zu bytes are too long; at most %zu fit",
			       field->name, length, field->room - 1);
	for (const char *c = value; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return err_set(err, -EINVAL, "%s: a control character (0x%02x) in the value",
				       field->name, (unsigned)*c);
	}
	if (!utf8_is_valid(value))
		return err_set(err, -EINVAL, "%s: the value is not UTF-8", field->name);
	memcpy(member, value, length + 1);
	return 0;
}

int field_set(const struct field *field, void *noun, const char *value, struct err *err)
{
	void *member = member_of(field, noun);
	uint64_t number = 0;
	int r;

	if (field->parse) {
		r = field->parse(member, value, err);
		if (r < 0 && r != -ENOENT)
			err_wrap(err, "%s", field->name);
		if (r != -ENOENT || field->type == FIELD_CUSTOM)
			return r;
	}
	switch (field->type) {
	case FIELD_BOOL:
		return set_bool(field, member, value, err);
	case FIELD_ENUM:
		return set_enum(field, member, value, err);
	case FIELD_AMOUNT:
		return set_amount(field, member, value, err);
	case FIELD_TEXT:
		return set_text(field, member, value, err);
	case FIELD_U32:
	case FIELD_U64:
		r = parse_number(field, value, &number, err);
		if (r < 0)
			return r;
		if (field->type == FIELD_U32) {
			assert(field->max <= UINT32_MAX);
			*(uint32_t *)member = (uint32_t)number;
		} else {
			*(uint64_t *)member = number;
		}
		return 0;
	case FIELD_CUSTOM:
		break;
	}
	assert(field->type != FIELD_CUSTOM);	/* it has a parse function */
	return -EINVAL;
}

static void print_amount(const struct amount *amount, struct text *ret)
{
	char buffer[UNITS_TEXT_BYTES];

	if (amount->ppm)
		text_add(ret, "%s", units_format_ppm(amount->ppm, buffer));
	else
		text_add(ret, "%s", units_format_bytes(amount->bytes, buffer));
}

void field_print(const struct field *field, const void *noun, struct text *ret)
{
	const void *member = const_member_of(field, noun);

	assert(!field->input_only);
	switch (field->type) {
	case FIELD_BOOL:
		text_add(ret, "%d", *(const bool *)member);
		break;
	case FIELD_ENUM:
		text_add(ret, "%s", field->choices[*(const uint32_t *)member]);
		break;
	case FIELD_U32:
		print_number(field, *(const uint32_t *)member, ret);
		break;
	case FIELD_U64:
		print_number(field, *(const uint64_t *)member, ret);
		break;
	case FIELD_AMOUNT:
		print_amount(member, ret);
		break;
	case FIELD_TEXT:
		text_add(ret, "%s", (const char *)member);
		break;
	case FIELD_CUSTOM:
		field->print(member, ret);
		break;
	}
}

void fields_preset(const struct field *fields, void *noun)
{
	for (const struct field *f = fields; f->name; f++) {
		if (f->preset && !f->input_only) {
			const int r = field_set(f, noun, f->preset, NULL);

			assert(r == 0);
			(void)r;
		}
	}
}

bool field_is_preset(const struct field *field, const void *noun)
{
	struct text now = TEXT_INIT;
	bool same;

	if (field->input_only)
		return true;
	field_print(field, noun, &now);
	if (field->preset)
		same = strcmp(text_string(&now), field->preset) == 0;
	else
		same = !*text_string(&now) || strcmp(text_string(&now), "0") == 0 ||
		       strcmp(text_string(&now), "0%") == 0 ||
		       (field->type == FIELD_ENUM &&
			strcmp(text_string(&now), field->choices[0]) == 0);
	text_done(&now);
	return same;
}

const char *field_metavar(const struct field *field, struct text *room)
{
	static const char *const names[] = {
		[UNIT_NONE] = "N", [UNIT_COUNT] = "COUNT", [UNIT_BYTES] = "SIZE",
		[UNIT_NS] = "TIME", [UNIT_PPM] = "PERCENT",
	};

	if (field->metavar)
		return field->metavar;
	if (field->choices) {
		add_choices(field, room, "|");
		return text_string(room);
	}
	switch (field->type) {
	case FIELD_BOOL:
		return NULL;
	case FIELD_AMOUNT:
		return "SIZE|PERCENT";
	case FIELD_TEXT:
	case FIELD_CUSTOM:
		return "TEXT";
	default:
		return names[field->unit];
	}
}
