/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * icf_read - the lines and values of an IOMeter configuration, for icf_parse.c. A line that
 * begins with ' is a key or a caption; functions return 0 or -EINVAL with the sentence in r->err.
 */

#include "foreign/icf.h"

#define LINE_BYTES 4097

struct reader {
	struct icf *icf;
	const char *file, *text, *end;
	uint32_t line;			/* of the current one, from 1 */
	char current[LINE_BYTES];	/* trimmed; keys with their ' */
	bool is_done;			/* there is no current line */
	bool is_old;			/* six numbers a row */
	struct err *err;
};

int reader_fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Into icf->warnings, with its place. */
void reader_warn(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *reader_grow(void *items, size_t count, size_t item_bytes);	/* zeroed at the end */

int reader_next_raw(struct reader *r);	/* the next line, blank or not */
int reader_next(struct reader *r);	/* that is not blank */
bool reader_is_caption(const struct reader *r);
/* Whether the current line is this key; case does not count, nor what follows. */
bool reader_is_key(const struct reader *r, const char *key);
bool reader_is_version(const struct reader *r);
/* From a key to its data: the next line that is no caption. Empty before an 'End. */
int reader_data(struct reader *r, bool *ret_empty);

/* Words of a line, between commas and blanks; how many there are, at most max in ret. */
size_t reader_words(char *text, char **ret, size_t max);
int reader_number(struct reader *r, const char *word, uint64_t max, uint64_t *ret);
int reader_number32(struct reader *r, const char *word, uint32_t max, uint32_t *ret);
/* A word of the list, or its index as early files have it. */
int reader_choice(struct reader *r, const char *word, const char *const *names, uint32_t *ret);
int reader_name(struct reader *r, const char *text, char ret[ICF_NAME_BYTES]);
int reader_numbers(struct reader *r, uint64_t *ret, size_t count);	/* on the data line of a key */
/* A copy as long as there is room, without blanks at its end. */
void reader_cut(const char *text, char *ret, size_t ret_bytes);
/* Text that may be blank or missing altogether; what is too long is cut. */
int reader_free_text(struct reader *r, char *ret, size_t ret_bytes);
