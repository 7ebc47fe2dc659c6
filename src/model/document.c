/* SPDX-License-Identifier: MIT */
#include "model/document.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
	yaml_parser_t parser;
	const char *name;
	struct err *err;
	unsigned depth_count;
};

void document_free(struct node *node)
{
	while (node) {
		struct node *next = node->next;

		document_free(node->first);
		free(node->text);
		free(node);
		node = next;
	}
}

int document_fail(const char *name, const struct node *node, struct err *err, int code,
		  const char *fmt, ...)
{
	char sentence[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	return err_set(err, code, "%s:%zu:%zu: %s", name, node->line, node->column, sentence);
}

const char *document_kind_name(const struct node *node)
{
	static const char *const names[] = { "a text", "a list", "a mapping" };

	return names[node->kind];
}

static int fail_at(const struct reader *r, yaml_mark_t mark, const char *sentence)
{
	const struct node place = { .line = mark.line + 1, .column = mark.column + 1 };

	return document_fail(r->name, &place, r->err, -EINVAL, "%s", sentence);
}

static int fail_parser(const struct reader *r)
{
	const yaml_parser_t *parser = &r->parser;
	char sentence[256];

	if (parser->error == YAML_MEMORY_ERROR)
		return err_set(r->err, -ENOMEM, "%s: no memory", r->name);
	if (parser->error == YAML_READER_ERROR)
		return err_set(r->err, -EINVAL, "%s: not YAML: %s at byte %zu", r->name,
			       parser->problem, parser->problem_offset);
	snprintf(sentence, sizeof(sentence), "not YAML: %s", parser->problem);
	return fail_at(r, parser->problem_mark, sentence);
}

/* Anchors and tags change what a document says without its reader seeing it. */
static int refuse_decorations(const struct reader *r, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	case YAML_ALIAS_EVENT:
		return fail_at(r, event->start_mark,
			       "aliases (*name) are not supported; write the value out");
	default:
		break;
	}
	if (anchor)
		return fail_at(r, event->start_mark,
			       "anchors (&name) are not supported; write the value out");
	if (tag)
		return fail_at(r, event->start_mark,
			       "tags (!name) are not supported; leave the tag out");
	return 0;
}

static int read_node(struct reader *r, yaml_event_t *event, struct node **ret);

static int refuse_duplicate(const struct reader *r, const struct node *mapping,
			    const struct node *key)
{
	for (const struct node *n = mapping->first; n && n != key; n = n->next->next) {
		if (strcmp(n->text, key->text) == 0)
			return document_fail(r->name, key, r->err, -EINVAL,
					     "key '%s' is there already, in line %zu", key->text,
					     n->line);
		if (!n->next)
			break;
	}
	return 0;
}

/* A value that is not there stands where its key does, not where the parser noticed. */
static void take_place(struct node *value, const struct node *key)
{
	if (value->kind == NODE_SCALAR && !*value->text) {
		value->line = key->line;
		value->column = key->column;
	}
}

/* Children up to the end event; each is linked in before it is judged, so that free finds it. */
static int read_children(struct reader *r, struct node *parent, yaml_event_type_t end)
{
	struct node **tail = &parent->first, *key = NULL;

	for (;;) {
		yaml_event_t event;
		int result;

		if (!yaml_parser_parse(&r->parser, &event))
			return fail_parser(r);
		if (event.type == end) {
			yaml_event_delete(&event);
			return 0;
		}
		result = read_node(r, &event, tail);
		if (result < 0)
			return result;
		if (parent->kind == NODE_MAPPING && !key) {
			if ((*tail)->kind != NODE_SCALAR)
				return document_fail(r->name, *tail, r->err, -EINVAL,
						     "a key is a text, not %s",
						     document_kind_name(*tail));
			result = refuse_duplicate(r, parent, *tail);
			if (result < 0)
				return result;
			key = *tail;
		} else if (key) {
			take_place(*tail, key);
			key = NULL;
		}
		tail = &(*tail)->next;
	}
}

static int read_scalar(struct reader *r, const yaml_event_t *event, struct node *node)
{
	const char *value = (const char *)event->data.scalar.value;

	if (strlen(value) != event->data.scalar.length)
		return fail_at(r, event->start_mark, "a text holds a zero byte");
	node->text = strdup(value);
	return node->text ? 0 : err_set(r->err, -ENOMEM, "%s: no memory", r->name);
}

/* Takes the event; *ret is linked and owned by the caller even on failure, or NULL. */
static int read_node(struct reader *r, yaml_event_t *event, struct node **ret)
{
	const yaml_event_type_t type = event->type;
	struct node *node;
	int result = refuse_decorations(r, event);

	if (result == 0 && r->depth_count >= DOCUMENT_DEPTH_MAX)
		result = fail_at(r, event->start_mark, "nested too deeply");
	if (result < 0) {
		yaml_event_delete(event);
		return result;
	}
	node = *ret = calloc(1, sizeof(*node));
	if (!node) {
		yaml_event_delete(event);
		return err_set(r->err, -ENOMEM, "%s: no memory", r->name);
	}
	node->line = event->start_mark.line + 1;
	node->column = event->start_mark.column + 1;
	node->kind = type == YAML_SCALAR_EVENT		 ? NODE_SCALAR
		     : type == YAML_SEQUENCE_START_EVENT ? NODE_SEQUENCE
							 : NODE_MAPPING;
	if (node->kind == NODE_SCALAR)
		result = read_scalar(r, event, node);
	yaml_event_delete(event);
	if (node->kind == NODE_SCALAR)
		return result;
	r->depth_count++;
	result = read_children(r, node, node->kind == NODE_SEQUENCE ? YAML_SEQUENCE_END_EVENT
								    : YAML_MAPPING_END_EVENT);
	r->depth_count--;
	return result;
}

/* Stream start, document start, the root, document end, stream end. */
static int read_document(struct reader *r, struct node **ret)
{
	yaml_event_t event;
	int result;

	for (;;) {
		yaml_event_type_t type;

		if (!yaml_parser_parse(&r->parser, &event))
			return fail_parser(r);
		type = event.type;
		switch (type) {
		case YAML_STREAM_START_EVENT:
		case YAML_DOCUMENT_END_EVENT:
			break;
		case YAML_DOCUMENT_START_EVENT:
			result = *ret ? fail_at(r, event.start_mark, "a second document; one per file")
				      : 0;
			if (result < 0) {
				yaml_event_delete(&event);
				return result;
			}
			break;
		case YAML_STREAM_END_EVENT:
			yaml_event_delete(&event);
			return *ret ? 0 : err_set(r->err, -EINVAL, "%s:1:1: empty", r->name);
		default:
			result = read_node(r, &event, ret);
			if (result < 0)
				return result;
			continue;
		}
		yaml_event_delete(&event);
	}
}

int document_parse(struct node **ret, const char *name, const char *yaml, size_t length,
		   struct err *err)
{
	struct reader r = { .name = name, .err = err };
	struct node *root = NULL;
	int result;

	if (length > DOCUMENT_BYTES_MAX)
		return err_set(err, -EINVAL, "%s: larger than 1 MiB, which no plan is", name);
	if (!yaml_parser_initialize(&r.parser))
		return err_set(err, -ENOMEM, "%s: no memory", name);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)yaml, length);
	result = read_document(&r, &root);
	yaml_parser_delete(&r.parser);
	if (result < 0)
		document_free(root);
	else
		*ret = root;
	return result;
}
