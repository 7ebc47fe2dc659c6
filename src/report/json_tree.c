/* SPDX-License-Identifier: MIT */
#include "report/json_tree.h"

#include <math.h>
#include <stdlib.h>

#include "base/defer.h"
#include "report/summary.h"

#define LINE_COLUMNS 140
#define DUMP_FLAGS (JSON_ENCODE_ANY | JSON_REAL_PRECISION(12))

void json_put(json_t *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new(object, key, value) < 0)
		abort();
}

json_t *json_text(const char *bytes)
{
	struct text clean = TEXT_INIT;
	json_t *ret;

	summary_add_utf8(&clean, bytes);
	ret = json_string(text_string(&clean));
	text_done(&clean);
	if (!ret)
		abort();
	return ret;
}

void json_put_text(json_t *object, const char *key, const char *bytes)
{
	json_put(object, key, json_text(bytes));
}

void json_put_text_or_null(json_t *object, const char *key, const char *bytes)
{
	if (*bytes)
		json_put_text(object, key, bytes);
	else
		json_put(object, key, json_null());
}

void json_put_u64(json_t *object, const char *key, uint64_t value)
{
	json_put(object, key, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

void json_put_bool(json_t *object, const char *key, bool value)
{
	json_put(object, key, json_boolean(value));
}

void json_put_real(json_t *object, const char *key, double value)
{
	json_put(object, key, isfinite(value) ? json_real(value) : json_null());
}

static bool is_flat_array(const json_t *value)
{
	if (!json_is_array(value))
		return false;
	for (size_t i = 0; i < json_array_size(value); i++) {
		const json_t *item = json_array_get(value, i);

		if (json_is_array(item) || json_is_object(item))
			return false;
	}
	return true;
}

static void write_value(const json_t *value, size_t indent, struct text *ret);

static void write_items(const json_t *value, size_t indent, struct text *ret)
{
	const char *key, *separator = "";
	json_t *item, *object = json_incref((json_t *)(uintptr_t)value);
	size_t index;

	if (json_is_array(value)) {
		json_array_foreach(value, index, item) {
			text_add(ret, "%s\n%*s", separator, (int)indent, "");
			write_value(item, indent, ret);
			separator = ",";
		}
	} else {
		json_object_foreach(object, key, item) {
			/* Keys are ours: plain ASCII, nothing to escape. */
			text_add(ret, "%s\n%*s\"%s\": ", separator, (int)indent, "", key);
			write_value(item, indent, ret);
			separator = ",";
		}
	}
	json_decref(object);
}

/* Every level is dumped anew to see whether it fits: a handful of levels, once per run. */
static void write_value(const json_t *value, size_t indent, struct text *ret)
{
	DEFER(defer_free) char *line = json_dumps(value, DUMP_FLAGS);

	if (!line)
		abort();
	if ((!json_is_array(value) && !json_is_object(value)) || is_flat_array(value) ||
	    indent + text_columns(line) <= LINE_COLUMNS) {
		text_add(ret, "%s", line);
		return;
	}
	text_add(ret, "%c", json_is_array(value) ? '[' : '{');
	write_items(value, indent + 2, ret);
	text_add(ret, "\n%*s%c", (int)indent, "", json_is_array(value) ? ']' : '}');
}

void json_write(const json_t *root, struct text *ret)
{
	write_value(root, 0, ret);
	text_add(ret, "\n");
}
