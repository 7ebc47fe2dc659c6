/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * text - a string that grows, and the nearest known word to a mistyped one.
 * A struct text starts as TEXT_INIT (all zero) and is given back with text_done;
 * running out of memory aborts: the texts here are reports, not data.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
	char *data;	/* NUL-terminated; NULL while empty */
	size_t length;
	size_t room;
};

#define TEXT_INIT { NULL, 0, 0 }

void text_done(struct text *text);
void text_add(struct text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_vadd(struct text *text, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));
void text_add_bytes(struct text *text, const char *bytes, size_t length);
const char *text_string(const struct text *text);	/* "" while empty; borrowed */
char *text_take(struct text *text);			/* the caller's to free; never NULL */

/* Columns a UTF-8 string takes in a terminal; one per code point. */
size_t text_columns(const char *utf8);

/* Levenshtein distance; words over 63 bytes are compared by their first 63. */
size_t text_distance(const char *a, const char *b);

/*
 * The candidate nearest to word: names_of(ctx, i) returns the i-th, NULL ends.
 * NULL when none is within max(2, a third of the word's length).
 */
const char *text_nearest(const char *word, const char *(*name_of)(const void *ctx, size_t i),
			 const void *ctx);
