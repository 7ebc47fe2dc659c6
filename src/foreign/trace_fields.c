/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/defer.h"
#include "foreign/trace_formats.h"

static char *trim_blanks(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	return text;
}

size_t split_fields(char *line, char mark, char *fields[TRACE_FIELDS])
{
	const char marks[] = { mark, mark == ' ' ? '\t' : '\0', '\0' };
	size_t count = 0;

	if (mark == ' ')
		line += strspn(line, marks);
	while (*line || (mark != ' ' && count > 0)) {
		char *end = line + strcspn(line, marks);
		const bool last = !*end;

		if (count + 1 == TRACE_FIELDS) {
			fields[count++] = trim_blanks(line);
			return count;
		}
		*end = '\0';
		fields[count++] = mark == ' ' ? line : trim_blanks(line);
		if (last)
			break;
		line = end + 1;
		if (mark == ' ')
			line += strspn(line, marks);
	}
	return count;
}

bool all_digits(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

bool parse_whole(const char *text, uint64_t *ret)
{
	return parse_scaled(text, 0, ret) && all_digits(text);
}

bool parse_scaled(const char *text, unsigned int digits, uint64_t *ret)
{
	uint64_t value = 0;
	bool fraction = false, any = false;

	for (; *text; text++) {
		if (*text == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			return false;
		any = true;
		if (fraction && digits == 0)
			continue;
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return false;
		digits -= fraction;
	}
	for (; any && digits > 0; digits--) {
		if (__builtin_mul_overflow(value, 10u, &value))
			return false;
	}
	*ret = value;
	return any;
}

bool parse_op(const char *text, uint8_t *ret)
{
	static const struct {
		const char *word;
		uint8_t op;
	} rows[] = {
		{ "r", TRACE_READ },	  { "read", TRACE_READ },   { "rs", TRACE_READ },
		{ "w", TRACE_WRITE },	  { "write", TRACE_WRITE }, { "ws", TRACE_WRITE },
		{ "d", TRACE_TRIM },	  { "trim", TRACE_TRIM },   { "discard", TRACE_TRIM },
		{ "unmap", TRACE_TRIM },  { "f", TRACE_FLUSH },	    { "flush", TRACE_FLUSH },
		{ "sync", TRACE_FLUSH },  { "fsync", TRACE_FLUSH }, { "write-zeroes", TRACE_ZERO },
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (strcasecmp(text, rows[i].word) == 0) {
			*ret = rows[i].op;
			return true;
		}
	}
	return false;
}
