/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "foreign/import_parts.h"

#define NUMBER_BYTES 64

static struct span take(struct span *rest, size_t length, size_t skip)
{
	const struct span piece = { rest->at, length };

	/* Nothing may be taken off what span_behind did not find: not even 0 bytes of NULL. */
	if (length + skip) {
		rest->at += length + skip;
		rest->length -= length + skip;
	}
	return piece;
}

struct span span_line(struct span *rest)
{
	const char *end = rest->length ? memchr(rest->at, '\n', rest->length) : NULL;
	struct span line = take(rest, end ? (size_t)(end - rest->at) : rest->length, end != NULL);

	if (line.length && line.at[line.length - 1] == '\r')
		line.length--;
	return line;
}

struct span span_field(struct span *rest, char separator)
{
	const char *end = rest->length ? memchr(rest->at, separator, rest->length) : NULL;

	return take(rest, end ? (size_t)(end - rest->at) : rest->length, end != NULL);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

struct span span_trim(struct span s)
{
	while (s.length && is_blank(s.at[0])) {
		s.at++;
		s.length--;
	}
	while (s.length && is_blank(s.at[s.length - 1]))
		s.length--;
	return s;
}

struct span span_word(struct span *rest)
{
	size_t length = 0;

	*rest = span_trim(*rest);
	while (length < rest->length && !is_blank(rest->at[length]))
		length++;
	return take(rest, length, 0);
}

bool span_is(struct span s, const char *word)
{
	return s.length == strlen(word) && strncasecmp(s.at, word, s.length) == 0;
}

bool span_begins(struct span s, const char *word)
{
	return s.length >= strlen(word) && strncasecmp(s.at, word, strlen(word)) == 0;
}

struct span span_behind(struct span s, const char *word)
{
	const size_t length = strlen(word);
	const int first = tolower((unsigned char)word[0]);

	for (; s.length >= length; s.at++, s.length--) {
		if (tolower((unsigned char)*s.at) == first && strncasecmp(s.at, word, length) == 0)
			return (struct span){ s.at + length, s.length - length };
	}
	return (struct span){ NULL, 0 };
}

double span_number(struct span s)
{
	char room[NUMBER_BYTES], *end;
	double number;

	if (s.length && s.at[s.length - 1] == '%')
		s.length--;
	if (s.length == 0 || s.length >= sizeof(room))
		return NAN;
	memcpy(room, s.at, s.length);
	room[s.length] = '\0';
	/* Neither blanks nor the hexadecimal, nan and inf that strtod would take. */
	if (strspn(room, "+-.0123456789eE") != s.length)
		return NAN;
	number = strtod(room, &end);
	return end == room + s.length && isfinite(number) ? number : NAN;
}

char *span_copy(struct span s)
{
	return imported_copy(s.at, s.length);
}
