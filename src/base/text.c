/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 64

static void reserve(struct text *text, size_t extra)
{
	size_t need = text->length + extra + 1;

	if (need <= text->room)
		return;
	if (need < text->room * 2)
		need = text->room * 2;
	text->data = realloc(text->data, need);
	if (!text->data)
		abort();
	text->room = need;
}

void text_done(struct text *text)
{
	free(text->data);
	*text = (struct text)TEXT_INIT;
}

void text_add_bytes(struct text *text, const char *bytes, size_t length)
{
	reserve(text, length);
	memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void text_vadd(struct text *text, const char *fmt, va_list args)
{
	va_list again;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (length < 0)
		return;
	reserve(text, (size_t)length);
	vsnprintf(text->data + text->length, (size_t)length + 1, fmt, args);
	text->length += (size_t)length;
}

void text_add(struct text *text, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	text_vadd(text, fmt, args);
	va_end(args);
}

const char *text_string(const struct text *text)
{
	return text->data ? text->data : "";
}

char *text_take(struct text *text)
{
	char *data;

	reserve(text, 0);
	data = text->data;
	data[text->length] = '\0';
	*text = (struct text)TEXT_INIT;
	return data;
}

size_t text_columns(const char *utf8)
{
	size_t columns = 0;

	for (; *utf8; utf8++)
		columns += ((unsigned char)*utf8 & 0xc0) != 0x80;
	return columns;
}

size_t text_distance(const char *a, const char *b)
{
	const size_t a_length = strnlen(a, WORD_BYTES - 1), b_length = strnlen(b, WORD_BYTES - 1);
	size_t row[WORD_BYTES];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			const size_t above = row[j];
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			if (above + 1 < best)
				best = above + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diagonal = above;
		}
	}
	return row[b_length];
}

const char *text_nearest(const char *word, const char *(*name_of)(const void *ctx, size_t i),
			 const void *ctx)
{
	const size_t length = strlen(word);
	size_t limit = length / 3 > 2 ? length / 3 : 2;
	const char *best = NULL, *name;

	for (size_t i = 0; (name = name_of(ctx, i)); i++) {
		const size_t distance = text_distance(word, name);

		if (distance <= limit && distance < length) {
			best = name;
			if (distance == 0)
				break;
			limit = distance - 1;
		}
	}
	return best;
}
