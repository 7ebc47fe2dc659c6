/* SPDX-License-Identifier: MIT */
#include "foreign/icf_read.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "foreign/place.h"

int reader_fail(struct reader *r, const char *format, ...)
{
	const struct place place = { r->file, r->line, 0 };
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return place_error(&place, -EINVAL, r->err, "%s", text);
}

void reader_warn(struct reader *r, const char *format, ...)
{
	struct icf *icf = r->icf;
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (icf->warning_count < ICF_WARNINGS)
		snprintf(icf->warnings[icf->warning_count++], sizeof(icf->warnings[0]), "%.40s:%u: %s",
			 r->file, r->line, text);
}

void *reader_grow(void *items, size_t count, size_t item_bytes)
{
	items = reallocarray(items, count + 1, item_bytes);
	if (!items)
		abort();
	memset((char *)items + count * item_bytes, 0, item_bytes);
	return items;
}

/* --- lines ----------------------------------------------------------------------------- */

/* The next one, blank or not, without the blanks around it. */
int reader_next_raw(struct reader *r)
{
	const char *line = r->text, *end;

	if (line >= r->end) {
		r->is_done = true;
		r->current[0] = '\0';
		return 0;
	}
	end = memchr(line, '\n', (size_t)(r->end - line));
	end = end ? end : r->end;
	r->text = end < r->end ? end + 1 : end;
	r->line++;
	while (line < end && isspace((unsigned char)*line))
		line++;
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	if ((size_t)(end - line) >= LINE_BYTES)
		return reader_fail(r, "the line is longer than %d bytes", LINE_BYTES - 1);
	if (memchr(line, '\0', (size_t)(end - line)))
		return reader_fail(r, "the line has a zero byte in it: this is no text");
	memcpy(r->current, line, (size_t)(end - line));
	r->current[end - line] = '\0';
	return 0;
}

int reader_next(struct reader *r)
{
	int rc;

	do
		rc = reader_next_raw(r);
	while (rc == 0 && !r->is_done && !r->current[0]);
	return rc;
}

bool reader_is_caption(const struct reader *r)
{
	return r->current[0] == '\'';
}

/* Whether the current line is this key; case does not count, nor what follows. */
bool reader_is_key(const struct reader *r, const char *key)
{
	const char *at = r->current;

	if (*at != '\'')
		return false;
	for (at++; isspace((unsigned char)*at); at++)
		;
	return strncasecmp(at, key, strlen(key)) == 0;
}

bool reader_is_version(const struct reader *r)
{
	const char *at = r->current + (r->current[0] == '\'');

	return strncasecmp(at, "version ", 8) == 0 && isdigit((unsigned char)at[strspn(at + 8, " ") + 8]);
}

/* From a key to its data: the next line that is no caption. Empty before an 'End. */
int reader_data(struct reader *r, bool *ret_empty)
{
	int rc;

	*ret_empty = false;
	do
		rc = reader_next(r);
	while (rc == 0 && !r->is_done && reader_is_caption(r) && !reader_is_key(r, "end "));
	if (rc == 0 && r->is_done)
		return reader_fail(r, "the file ends where a value is expected");
	*ret_empty = rc == 0 && reader_is_caption(r);
	return rc;
}

/* --- values ---------------------------------------------------------------------------- */

/* Words of a line, between commas and blanks; a comma behind the last is allowed. */
size_t reader_words(char *text, char **ret, size_t max)
{
	size_t count = 0;
	char *word;

	while ((word = strsep(&text, ", \t")))
		if (*word) {
			if (count < max)
				ret[count] = word;
			count++;
		}
	return count;
}

int reader_number(struct reader *r, const char *word, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	const char *at = word;

	for (; isdigit((unsigned char)*at); at++) {
		const unsigned digit = (unsigned)(*at - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return reader_fail(r, "%.40s is too large", word);
		value = value * 10 + digit;
	}
	if (*at || at == word)
		return reader_fail(r, "'%.40s' is no number", word);
	if (value > max)
		return reader_fail(r, "%.40s is more than %llu", word, (unsigned long long)max);
	*ret = value;
	return 0;
}

int reader_number32(struct reader *r, const char *word, uint32_t max, uint32_t *ret)
{
	uint64_t value = 0;
	int rc = reader_number(r, word, max, &value);

	*ret = (uint32_t)value;
	return rc;
}

/* A word of the list, or its index as early files have it. */
int reader_choice(struct reader *r, const char *word, const char *const *names, uint32_t *ret)
{
	uint32_t count = 0, value;

	for (; names[count]; count++)
		if (strcasecmp(word, names[count]) == 0) {
			*ret = count;
			return 0;
		}
	if (!isdigit((unsigned char)*word))
		return reader_fail(r, "'%.40s' is none of %s to %s", word, names[0], names[count - 1]);
	if (reader_number32(r, word, count - 1, &value) < 0)
		return -EINVAL;
	*ret = value;
	return 0;
}

int reader_name(struct reader *r, const char *text, char ret[ICF_NAME_BYTES])
{
	if (strlen(text) >= ICF_NAME_BYTES)
		return reader_fail(r, "the name '%.20s…' is longer than %d bytes", text, ICF_NAME_BYTES - 1);
	snprintf(ret, ICF_NAME_BYTES, "%s", text);
	return 0;
}

/* So many numbers on the data line of a key. */
int reader_numbers(struct reader *r, uint64_t *ret, size_t count)
{
	char *word[8];
	size_t have;
	bool empty;
	int rc = reader_data(r, &empty);

	if (rc < 0)
		return rc;
	have = empty ? 0 : reader_words(r->current, word, 8);
	if (have != count)
		return reader_fail(r, "%zu numbers where %zu are expected", have, count);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = reader_number(r, word[i], UINT32_MAX, &ret[i]);
	return rc;
}

/* Where it was cut there may be a blank, which would not be read back. */
void reader_cut(const char *text, char *ret, size_t ret_bytes)
{
	snprintf(ret, ret_bytes, "%.*s", (int)ret_bytes - 1, text);
	for (size_t length = strlen(ret); length && isspace((unsigned char)ret[length - 1]); length--)
		ret[length - 1] = '\0';
}

/* Text that may be blank or missing altogether; what is too long is cut. */
int reader_free_text(struct reader *r, char *ret, size_t ret_bytes)
{
	int rc = reader_next_raw(r);

	if (rc < 0 || r->is_done || reader_is_caption(r))
		return rc;
	if (strlen(r->current) >= ret_bytes)
		reader_warn(r, "cut to %zu bytes", ret_bytes - 1);
	reader_cut(r->current, ret, ret_bytes);
	return reader_next(r);
}
