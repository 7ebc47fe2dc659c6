/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * import_json - JSON as fio prints it: a tree that keeps members in their order and a key as
 * often as it is there, which jansson's does not. Strict as RFC 8259, but that a number may be
 * nan or inf, as old versions of fio print one. Objects called "bins", the histograms of json+, are
 * checked and left out. More than a million values are refused, so that memory stays bounded.
 *
 * Ownership: a tree is the caller's: json_node_free, which takes NULL. Texts are the nodes' own.
 */

#include <stddef.h>

#include "base/err.h"

enum json_kind { JSON_NODE_NULL, JSON_NODE_BOOL, JSON_NODE_NUMBER, JSON_NODE_TEXT,
		 JSON_NODE_ARRAY, JSON_NODE_OBJECT };

struct json_node {
	enum json_kind kind;
	char *key;			/* of a member; else NULL */
	char *text;			/* of a text */
	double number;			/* of a number, and 0 or 1 of a bool */
	struct json_node *first, *last;	/* of an array or object */
	struct json_node *next;
};

/*
 * The value at text; *ret_length is what it takes. -EINVAL or -EFBIG with a sentence, whose line is
 * counted from first_line.
 */
int json_node_parse(struct json_node **ret, const char *text, size_t length, size_t first_line,
		    size_t *ret_length, struct err *err);
void json_node_free(struct json_node *node);

/* The first member of that name; NULL when there is none, or no object. */
const struct json_node *json_node_find(const struct json_node *object, const char *key);
/* The next one of the same name; NULL. */
const struct json_node *json_node_again(const struct json_node *member);
/* NaN when it is no number, NULL when it is no text. */
double json_node_number(const struct json_node *object, const char *key);
const char *json_node_text(const struct json_node *object, const char *key);
