/* SPDX-License-Identifier: MIT */
#include "target/spec.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

static const char *key_name(const void *ctx, size_t i)
{
	return ((const struct spec_key *)ctx)[i].name;
}

static const char *word_name(const void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

static void list_names(struct text *list, const char *(*name_of)(const void *ctx, size_t i),
		       const void *ctx)
{
	const char *name;

	for (size_t i = 0; (name = name_of(ctx, i)); i++)
		if (*name)
			text_add(list, "%s%s", list->length ? ", " : "", name);
}

/* "delay: no 'raed'; did you mean 'read'?", or the whole list when nothing is near. */
static int unknown(const char *what, const char *word,
		   const char *(*name_of)(const void *ctx, size_t i), const void *ctx,
		   struct err *err)
{
	const char *nearest = text_nearest(word, name_of, ctx);
	struct text list = TEXT_INIT;

	if (nearest && *nearest)
		return err_set(err, -EINVAL, "%s has no '%.64s'; did you mean '%s'?", what, word,
			       nearest);
	list_names(&list, name_of, ctx);
	err_set(err, -EINVAL, "%s has no '%.64s'; it knows %s", what, word, text_string(&list));
	text_done(&list);
	return -EINVAL;
}

static int parse_word(const char *what, const struct spec_key *key, const char *value,
		      uint64_t *ret, struct err *err)
{
	char whole[64];

	for (size_t i = 0; key->words[i]; i++) {
		if (strcmp(key->words[i], value) == 0) {
			*ret = i;
			return 0;
		}
	}
	snprintf(whole, sizeof(whole), "%s%s%s", what, *key->name ? " " : "", key->name);
	return unknown(whole, value, word_name, key->words, err);
}

static int parse_value(const char *what, const struct spec_key *key, const char *value, void *ret,
		       struct err *err)
{
	uint64_t *number = (uint64_t *)(void *)((char *)ret + key->offset);
	int r = 0;

	switch (key->type) {
	case SPEC_BYTES:
		r = units_parse_bytes(value, number, err);
		break;
	case SPEC_TIME:
		r = units_parse_time_ns(value, number, err);
		break;
	case SPEC_COUNT:
		r = units_parse_count(value, number, err);
		break;
	case SPEC_WORD:
		return parse_word(what, key, value, number, err);
	}
	if (r < 0)
		err_wrap(err, "%s %s", what, key->name);
	return r < 0 ? -EINVAL : 0;
}

static int find_key(const struct spec_key *keys, const char *name)
{
	for (int i = 0; keys[i].name; i++) {
		assert(i < SPEC_KEYS);
		if (strcmp(keys[i].name, name) == 0)
			return i;
	}
	return -1;
}

int spec_parse(const char *what, const char *text, const struct spec_key *keys, void *ret,
	       struct err *err)
{
	int given = 0;

	while (*text) {
		const size_t length = strcspn(text, ",");
		char item[128];
		char *value;
		const char *name;
		int index;

		if (length == 0 || length >= sizeof(item))
			return err_set(err, -EINVAL, "%s: write key=value,key=value; not '%.64s'",
				       what, text);
		memcpy(item, text, length);
		item[length] = '\0';
		text += length;
		if (*text == ',' && !*++text)
			return err_set(err, -EINVAL, "%s: nothing follows the last comma", what);

		value = strchr(item, '=');
		name = value ? item : "";
		if (value)
			*value++ = '\0';
		else
			value = item;
		index = find_key(keys, name);
		if (index < 0 && value == item)
			return err_set(err, -EINVAL, "%s: '%.64s' lacks its value; write key=value",
				       what, item);
		if (index < 0 || (value != item && !*name))
			return unknown(what, name, key_name, keys, err);
		if (given & (1 << index))
			return err_set(err, -EINVAL, "%s: '%s' is given twice", what,
				       *name ? name : value);
		given |= 1 << index;
		if (parse_value(what, &keys[index], value, ret, err) < 0)
			return -EINVAL;
	}
	return given;
}
