/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * document - a small YAML document as a tree that knows where each piece stands. Scalars
 * are strings, whatever they look like. Anchors, aliases, tags, several documents, keys that
 * are no scalars and duplicate keys are errors.
 *
 * Ownership: document_parse gives an owned tree, document_free takes it (and NULL).
 */

#include <stddef.h>

#include "base/err.h"

#define DOCUMENT_BYTES_MAX (1u << 20)
#define DOCUMENT_DEPTH_MAX 16

enum node_kind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING };

struct node {
	enum node_kind kind;
	size_t line, column;		/* from 1 */
	char *text;			/* NODE_SCALAR */
	struct node *first;		/* children; of a mapping: key, value, key, value … */
	struct node *next;		/* sibling */
};

/* Sentences start with "name:line:column: ". */
int document_parse(struct node **ret, const char *name, const char *yaml, size_t length,
		   struct err *err);
void document_free(struct node *node);

/* A sentence about a node, with its place in front; returns code. */
int document_fail(const char *name, const struct node *node, struct err *err, int code,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* As a reader would call it: "a text", "a list", "a mapping". */
const char *document_kind_name(const struct node *node);
