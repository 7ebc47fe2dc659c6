/* SPDX-License-Identifier: MIT */
#include "foreign/import_json.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/text.h"

#define DEPTH_MAX 64	/* fio's own is 7 */
#define NUMBER_BYTES 400
#define NODES_MAX (1u << 20)	/* a job of fio's has some 500, without its histograms */

struct parser {
	const char *at, *end;
	size_t line;
	int depth;
	size_t node_count;		/* of the tree as it stands */
	struct err *err;
};

static int parse_value(struct parser *p, struct json_node **ret);

static int expected(const struct parser *p, const char *what)
{
	if (p->at == p->end)
		return err_set(p->err, -EINVAL, "line %zu: the JSON ends where %s is wanted; was the "
						"file cut short?", p->line, what);
	return err_set(p->err, -EINVAL, "line %zu: no JSON: '%.*s' where %s is wanted", p->line,
		       (int)strnlen(p->at, p->end - p->at < 12 ? (size_t)(p->end - p->at) : 12),
		       p->at, what);
}

static void skip_blanks(struct parser *p)
{
	for (; p->at < p->end && memchr(" \t\r\n", *p->at, 4); p->at++)
		p->line += *p->at == '\n';
}

static bool take(struct parser *p, char c)
{
	skip_blanks(p);
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

static struct json_node *new_node(enum json_kind kind)
{
	struct json_node *node = calloc(1, sizeof(*node));

	if (!node)
		abort();	/* as base/text.h */
	node->kind = kind;
	return node;
}

/* Four hexadecimal digits behind \u; -1 when they are none. */
static int take_unit(struct parser *p)
{
	int unit = 0;

	if (p->end - p->at < 4)
		return -1;
	for (int i = 0; i < 4; i++, p->at++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF";
		const char *digit = *p->at ? strchr(digits, *p->at) : NULL;

		if (!digit)
			return -1;
		unit = unit * 16 + (int)((digit - digits) % 16);
	}
	return unit;
}

static void add_code(struct text *ret, unsigned code)
{
	char bytes[4];
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char marks[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = length - 1; i > 0; i--, code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(marks[length] | code);
	text_add_bytes(ret, bytes, length);
}

/* \uD83D\uDE00 is one code point; half a pair, and a NUL, become U+FFFD. */
static int take_code(struct parser *p, struct text *ret)
{
	int unit = take_unit(p), low;

	if (unit < 0)
		return expected(p, "four hexadecimal digits");
	if (unit >= 0xd800 && unit < 0xdc00 && p->end - p->at >= 2 && p->at[0] == '\\' &&
	    p->at[1] == 'u') {
		p->at += 2;
		low = take_unit(p);
		if (low < 0)
			return expected(p, "four hexadecimal digits");
		unit = low >= 0xdc00 && low < 0xe000 ?
			       0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) :
			       0xfffd;
	}
	add_code(ret, unit == 0 || (unit >= 0xd800 && unit < 0xe000) ? 0xfffd : (unsigned)unit);
	return 0;
}

static int take_escape(struct parser *p, struct text *ret)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *letter = p->at < p->end && *p->at ? strchr(letters, *p->at) : NULL;

	if (letter) {
		text_add_bytes(ret, &meant[letter - letters], 1);
		p->at++;
		return 0;
	}
	if (p->at == p->end || *p->at != 'u')
		return expected(p, "an escape (\\n, \\u0041)");
	p->at++;
	return take_code(p, ret);
}

/* Behind the opening quote, up to and with the closing one. */
static int take_text(struct parser *p, char **ret)
{
	struct text text = TEXT_INIT;
	int r = 0;

	while (r == 0 && p->at < p->end && *p->at != '"') {
		const char c = *p->at;

		if ((unsigned char)c < ' ') {
			r = expected(p, "the end of a string");
		} else if (c == '\\') {
			p->at++;
			r = take_escape(p, &text);
		} else {
			text_add_bytes(&text, p->at++, 1);
		}
	}
	if (r == 0 && p->at == p->end)
		r = expected(p, "the end of a string");
	if (r == 0) {
		p->at++;
		*ret = text_take(&text);
	}
	text_done(&text);
	return r;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(const char *s)
{
	s += *s == '-';
	if (*s == '0')
		s++;
	else if (*s >= '1' && *s <= '9')
		s += strspn(s, "0123456789");
	else
		return false;
	if (*s == '.') {
		const size_t digits = strspn(s + 1, "0123456789");

		if (!digits)
			return false;
		s += 1 + digits;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '+' || *s == '-';
		return *s && strspn(s, "0123456789") == strlen(s);
	}
	return !*s;
}

/* true, false, null, numbers, and what printf makes of a number that is none. */
static int take_word(struct parser *p, struct json_node **ret)
{
	static const struct {
		const char *word;
		enum json_kind kind;
		double number;
	} words[] = {
		{ "true", JSON_NODE_BOOL, 1 },	    { "false", JSON_NODE_BOOL, 0 },
		{ "null", JSON_NODE_NULL, NAN },    { "nan", JSON_NODE_NUMBER, NAN },
		{ "-nan", JSON_NODE_NUMBER, NAN },  { "inf", JSON_NODE_NUMBER, NAN },
		{ "-inf", JSON_NODE_NUMBER, NAN },
	};
	char word[NUMBER_BYTES];
	size_t length = 0;

	while (p->at + length < p->end && length + 1 < sizeof(word) &&
	       !memchr(",]} \t\r\n:\"[{", p->at[length], 11)) {
		word[length] = p->at[length];
		length++;
	}
	word[length] = '\0';
	if (is_number(word)) {
		*ret = new_node(JSON_NODE_NUMBER);
		(*ret)->number = strtod(word, NULL);
		p->at += length;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		if (strcmp(word, words[i].word) != 0)
			continue;
		*ret = new_node(words[i].kind);
		(*ret)->number = words[i].number;
		p->at += length;
		return 0;
	}
	return expected(p, "a value");
}

/* json+ has a histogram of each latency, thousands of members that nobody here reads. */
static bool is_left_out(const struct json_node *parent, const char *key,
			const struct json_node *child)
{
	return parent->kind == JSON_NODE_OBJECT && child->kind == JSON_NODE_OBJECT &&
	       strcmp(key, "bins") == 0;
}

static void append(struct json_node *parent, struct json_node *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
}

static int take_member(struct parser *p, struct json_node *parent)
{
	const size_t count_before = p->node_count;
	struct json_node *child = NULL;
	char *key = NULL;
	int r = 0;

	if (parent->kind == JSON_NODE_OBJECT) {
		r = take(p, '"') ? take_text(p, &key) : expected(p, "a key");
		if (r == 0 && !take(p, ':'))
			r = expected(p, "a colon");
	}
	if (r == 0)
		r = parse_value(p, &child);
	if (r < 0) {
		free(key);
		return r;
	}
	child->key = key;
	if (is_left_out(parent, key, child)) {
		json_node_free(child);
		p->node_count = count_before;
		return 0;
	}
	append(parent, child);
	return 0;
}

/* Behind the opening bracket. */
static int take_members(struct parser *p, struct json_node *node)
{
	const char close = node->kind == JSON_NODE_OBJECT ? '}' : ']';
	int r;

	if (take(p, close))
		return 0;
	do {
		r = take_member(p, node);
		if (r < 0)
			return r;
	} while (take(p, ','));
	return take(p, close) ? 0 : expected(p, "a comma or the closing bracket");
}

static int parse_value(struct parser *p, struct json_node **ret)
{
	struct json_node *node;
	int r;

	skip_blanks(p);
	if (p->node_count++ == NODES_MAX)
		return err_set(p->err, -EFBIG, "line %zu: more than %u values in one JSON document, "
					       "which no result has", p->line, NODES_MAX);
	if (p->at == p->end || !memchr("{[\"", *p->at, 3))
		return take_word(p, ret);
	if (p->depth == DEPTH_MAX)
		return err_set(p->err, -EINVAL, "line %zu: JSON nested deeper than %d", p->line,
			       DEPTH_MAX);
	node = new_node(*p->at == '{' ? JSON_NODE_OBJECT :
			*p->at == '[' ? JSON_NODE_ARRAY : JSON_NODE_TEXT);
	p->at++;
	p->depth++;
	r = node->kind == JSON_NODE_TEXT ? take_text(p, &node->text) : take_members(p, node);
	p->depth--;
	if (r < 0)
		json_node_free(node);
	else
		*ret = node;
	return r;
}

int json_node_parse(struct json_node **ret, const char *text, size_t length, size_t first_line,
		    size_t *ret_length, struct err *err)
{
	struct parser p = { .at = text, .end = text + length, .line = first_line, .err = err };
	int r = parse_value(&p, ret);

	if (r == 0)
		*ret_length = (size_t)(p.at - text);
	return r;
}

void json_node_free(struct json_node *node)
{
	struct json_node *next;

	if (!node)
		return;
	for (struct json_node *child = node->first; child; child = next) {
		next = child->next;
		json_node_free(child);
	}
	free(node->key);
	free(node->text);
	free(node);
}

static const struct json_node *find_from(const struct json_node *member, const char *key)
{
	while (member && strcmp(member->key, key) != 0)
		member = member->next;
	return member;
}

const struct json_node *json_node_find(const struct json_node *object, const char *key)
{
	return object && object->kind == JSON_NODE_OBJECT ? find_from(object->first, key) : NULL;
}

const struct json_node *json_node_again(const struct json_node *member)
{
	return find_from(member->next, member->key);
}

double json_node_number(const struct json_node *object, const char *key)
{
	const struct json_node *member = json_node_find(object, key);

	return member && member->kind == JSON_NODE_NUMBER ? member->number : NAN;
}

const char *json_node_text(const struct json_node *object, const char *key)
{
	const struct json_node *member = json_node_find(object, key);

	return member && member->kind == JSON_NODE_TEXT ? member->text : NULL;
}
