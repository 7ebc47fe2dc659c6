/* SPDX-License-Identifier: MIT */

/*
 * The grammar: a line that begins with ' is a key; further such lines are captions; then comes one
 * line of data. Sections come in any order and may be missing. What IOMeter reads as 0 or skips
 * without a word is an error here.
 */

#include "foreign/icf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "foreign/place.h"

#define LINE_BYTES 4097
#define FILE_MAX_BYTES (16 * MIB)
#define OLD_ALIGN_BYTES 2048

struct reader {
	struct icf *icf;
	const char *file, *text, *end;
	uint32_t line;			/* of the current one, from 1 */
	char current[LINE_BYTES];	/* trimmed; keys with their ' */
	bool is_done;			/* there is no current line */
	bool is_old;			/* six numbers a row */
	struct err *err;
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *r, const char *format, ...)
{
	const struct place place = { r->file, r->line, 0 };
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return place_error(&place, -EINVAL, r->err, "%s", text);
}

__attribute__((format(printf, 2, 3))) static void warn(struct reader *r, const char *format, ...)
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

static void *grow(void *items, size_t count, size_t item_bytes)
{
	items = reallocarray(items, count + 1, item_bytes);
	if (!items)
		abort();
	memset((char *)items + count * item_bytes, 0, item_bytes);
	return items;
}

/* --- lines ----------------------------------------------------------------------------- */

/* The next one, blank or not, without the blanks around it. */
static int next_raw(struct reader *r)
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
		return fail(r, "the line is longer than %d bytes", LINE_BYTES - 1);
	if (memchr(line, '\0', (size_t)(end - line)))
		return fail(r, "the line has a zero byte in it: this is no text");
	memcpy(r->current, line, (size_t)(end - line));
	r->current[end - line] = '\0';
	return 0;
}

static int next(struct reader *r)
{
	int rc;

	do
		rc = next_raw(r);
	while (rc == 0 && !r->is_done && !r->current[0]);
	return rc;
}

static bool is_caption(const struct reader *r)
{
	return r->current[0] == '\'';
}

/* Whether the current line is this key; case does not count, nor what follows. */
static bool is_key(const struct reader *r, const char *key)
{
	const char *at = r->current;

	if (*at != '\'')
		return false;
	for (at++; isspace((unsigned char)*at); at++)
		;
	return strncasecmp(at, key, strlen(key)) == 0;
}

static bool is_version(const struct reader *r)
{
	const char *at = r->current + (r->current[0] == '\'');

	return strncasecmp(at, "version ", 8) == 0 && isdigit((unsigned char)at[strspn(at + 8, " ") + 8]);
}

/* From a key to its data: the next line that is no caption. Empty before an 'End. */
static int data(struct reader *r, bool *ret_empty)
{
	int rc;

	*ret_empty = false;
	do
		rc = next(r);
	while (rc == 0 && !r->is_done && is_caption(r) && !is_key(r, "end "));
	if (rc == 0 && r->is_done)
		return fail(r, "the file ends where a value is expected");
	*ret_empty = rc == 0 && is_caption(r);
	return rc;
}

/* --- values ---------------------------------------------------------------------------- */

/* Words of a line, between commas and blanks; a comma behind the last is allowed. */
static size_t words(char *text, char **ret, size_t max)
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

static int number(struct reader *r, const char *word, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	const char *at = word;

	for (; isdigit((unsigned char)*at); at++) {
		const unsigned digit = (unsigned)(*at - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return fail(r, "%.40s is too large", word);
		value = value * 10 + digit;
	}
	if (*at || at == word)
		return fail(r, "'%.40s' is no number", word);
	if (value > max)
		return fail(r, "%.40s is more than %llu", word, (unsigned long long)max);
	*ret = value;
	return 0;
}

static int number32(struct reader *r, const char *word, uint32_t max, uint32_t *ret)
{
	uint64_t value = 0;
	int rc = number(r, word, max, &value);

	*ret = (uint32_t)value;
	return rc;
}

/* A word of the list, or its index as early files have it. */
static int choice(struct reader *r, const char *word, const char *const *names, uint32_t *ret)
{
	uint32_t count = 0, value;

	for (; names[count]; count++)
		if (strcasecmp(word, names[count]) == 0) {
			*ret = count;
			return 0;
		}
	if (!isdigit((unsigned char)*word))
		return fail(r, "'%.40s' is none of %s to %s", word, names[0], names[count - 1]);
	if (number32(r, word, count - 1, &value) < 0)
		return -EINVAL;
	*ret = value;
	return 0;
}

static int name(struct reader *r, const char *text, char ret[ICF_NAME_BYTES])
{
	if (strlen(text) >= ICF_NAME_BYTES)
		return fail(r, "the name '%.20s…' is longer than %d bytes", text, ICF_NAME_BYTES - 1);
	snprintf(ret, ICF_NAME_BYTES, "%s", text);
	return 0;
}

/* So many numbers on the data line of a key. */
static int numbers(struct reader *r, uint64_t *ret, size_t count)
{
	char *word[8];
	size_t have;
	bool empty;
	int rc = data(r, &empty);

	if (rc < 0)
		return rc;
	have = empty ? 0 : words(r->current, word, 8);
	if (have != count)
		return fail(r, "%zu numbers where %zu are expected", have, count);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = number(r, word[i], UINT32_MAX, &ret[i]);
	return rc;
}

/* Text that may be blank or missing altogether; what is too long is cut. */
static int free_text(struct reader *r, char *ret, size_t ret_bytes)
{
	int rc = next_raw(r);

	if (rc < 0 || r->is_done || is_caption(r))
		return rc;
	if (strlen(r->current) >= ret_bytes)
		warn(r, "cut to %zu bytes", ret_bytes - 1);
	snprintf(ret, ret_bytes, "%.*s", (int)ret_bytes - 1, r->current);
	return next(r);
}

/* --- sections -------------------------------------------------------------------------- */

static int cycle(struct reader *r, struct icf_cycle *ret, bool has_end)
{
	static const char *const types[] = { "LINEAR", "EXPONENTIAL", NULL };
	const size_t want = has_end ? 4 : 3;
	uint32_t type = 0;
	char *word[8];
	bool empty;
	int rc = data(r, &empty);

	if (rc < 0)
		return rc;
	if (empty || words(r->current, word, 8) != want)
		return fail(r, "a cycle is start%s, step and LINEAR or EXPONENTIAL", has_end ? ", end" : "");
	rc = number32(r, word[0], 1 << 20, &ret->start);
	if (rc == 0 && has_end)
		rc = number32(r, word[1], 1 << 20, &ret->end);
	if (rc == 0)
		rc = number32(r, word[want - 2], 1 << 20, &ret->step);
	if (rc == 0)
		rc = choice(r, word[want - 1], types, &type);
	ret->exponential = type;
	return rc;
}

static int one_choice(struct reader *r, const char *const *names, uint32_t *ret)
{
	bool empty;
	int rc = data(r, &empty);

	return rc < 0 ? rc : choice(r, r->current, names, ret);
}

static int spawn(struct reader *r, char *ret, size_t ret_bytes)
{
	uint64_t value;
	bool empty;
	int rc = data(r, &empty);

	if (rc == 0 && strcasecmp(r->current, "NUMBER_OF_CPUS") != 0)
		rc = number(r, r->current, UINT32_MAX, &value);
	if (rc == 0)
		snprintf(ret, ret_bytes, "%.20s", r->current);
	return rc;
}

static int setup_key(struct reader *r, bool *ret_known)
{
	struct icf *icf = r->icf;
	uint64_t time[3] = { 0 };
	int rc = 0;

	*ret_known = true;
	if (is_key(r, "Test Description"))
		return free_text(r, icf->description, sizeof(icf->description));
	if (is_key(r, "Run Time")) {
		rc = numbers(r, time, 3);
		if (rc == 0 && (time[0] > 8784 || time[1] > 527040 || time[2] > 31622400))
			return fail(r, "a run time of more than a year");
		icf->run_s = (uint32_t)(time[0] * 3600 + time[1] * 60 + time[2]);
	} else if (is_key(r, "Ramp Up Time")) {
		rc = numbers(r, time, 1);
		if (rc == 0 && time[0] > 31622400)
			return fail(r, "a ramp up time of more than a year");
		icf->ramp_s = (uint32_t)time[0];
	} else if (is_key(r, "Default Disk Workers") || is_key(r, "Default Workers")) {
		rc = spawn(r, icf->disk_workers, sizeof(icf->disk_workers));
	} else if (is_key(r, "Default Network Workers")) {
		rc = spawn(r, icf->net_workers, sizeof(icf->net_workers));
	} else if (is_key(r, "Record Results")) {
		rc = one_choice(r, icf_record_names, &icf->record);
	} else if (is_key(r, "Worker Cycling")) {
		rc = cycle(r, &icf->workers, false);
	} else if (is_key(r, "Disk Cycling")) {
		rc = cycle(r, &icf->targets, false);
	} else if (is_key(r, "Queue Depth Cycling")) {
		rc = cycle(r, &icf->depth, true);
	} else if (is_key(r, "Test Type")) {
		rc = one_choice(r, icf_test_names, &icf->test);
	} else {
		*ret_known = false;
		return 0;
	}
	return rc < 0 ? rc : next(r);
}

static bool begins_section(const struct reader *r)
{
	return is_key(r, "TEST SETUP") || is_key(r, "RESULTS DISPLAY") ||
	       is_key(r, "ACCESS SPECIFICATIONS") || is_key(r, "MANAGER LIST");
}

static int setup(struct reader *r)
{
	bool known = true;
	int rc = next(r);

	r->icf->has_setup = true;
	while (rc == 0 && !r->is_done && !is_key(r, "end test setup")) {
		/* Files before 1999 end it without a word. */
		if (begins_section(r) || is_version(r))
			return 0;
		if (!is_caption(r))
			return fail(r, "'%.40s' stands where a key of the test setup is expected",
				    r->current);
		rc = setup_key(r, &known);
		if (rc == 0 && !known)
			return fail(r, "%.60s: no such key of the test setup", r->current);
	}
	return rc < 0 || r->is_done ? rc : next(r);
}

/* Of the program's window: nothing that is measured. */
static int skip_section(struct reader *r, const char *end)
{
	int rc = next(r);

	while (rc == 0 && !r->is_done && !is_key(r, end) && !begins_section(r))
		rc = next(r);
	return rc < 0 || r->is_done || !is_key(r, end) ? rc : next(r);
}

/* One row of a specification into line: eight numbers, or six of the old layout. */
static int row(struct reader *r, struct access_line *line)
{
	static const uint32_t limits[] = { WORKLOAD_BLOCK_MAX_BYTES, 100, 100, 100, 86400000,
					   UINT32_MAX, WORKLOAD_BLOCK_MAX_BYTES,
					   WORKLOAD_BLOCK_MAX_BYTES };
	const size_t want = r->is_old ? 6 : 8;
	uint32_t value[8] = { [6] = OLD_ALIGN_BYTES };
	char *word[8];
	const size_t have = words(r->current, word, 8);
	int rc = 0;

	if (have != want)
		return fail(r, "%zu numbers in a row; there are %zu: size, %% of size, %% reads, %% random, "
			       "delay, burst%s", have, want, r->is_old ? "" : ", align, reply");
	for (size_t i = 0; rc == 0 && i < want; i++)
		rc = number32(r, word[i], limits[i], &value[i]);
	if (rc < 0)
		return rc;
	if (value[0] == 0)
		return fail(r, "a request of 0 bytes");
	*line = (struct access_line){
		.bytes = value[0],
		.weight = value[1],
		.read_ppm = value[2] * (PPM / 100),
		.random_ppm = value[3] * (PPM / 100),
		.delay_us = value[4] * 1000,
		.burst_count = value[5],
		.align_bytes = value[6],
		.reply_bytes = value[7],
	};
	if (value[4] > UINT32_MAX / 1000)
		return fail(r, "a delay of more than %u ms", UINT32_MAX / 1000);
	if (value[0] == 66560)
		warn(r, "66560 bytes is no multiple of 4096, and widely a slip for 65536; kept as it is");
	return 0;
}

static uint32_t weight_of(const struct icf_spec *spec)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < spec->lines.count; i++)
		sum += spec->lines.lines[i].weight;
	return sum;
}

static int add_row(struct reader *r, struct icf_spec *spec)
{
	if (spec->lines.count == WORKLOAD_LINES)
		return fail(r, "more than %d rows in one specification", WORKLOAD_LINES);
	return row(r, &spec->lines.lines[spec->lines.count++]);
}

/* A later one of the same name takes the place of the earlier. */
static void keep_spec(struct icf *icf, const struct icf_spec *spec)
{
	for (size_t i = 0; i < icf->spec_count; i++)
		if (strcasecmp(icf->specs[i].name, spec->name) == 0) {
			icf->specs[i] = *spec;
			return;
		}
	icf->specs = grow(icf->specs, icf->spec_count, sizeof(*icf->specs));
	icf->specs[icf->spec_count++] = *spec;
}

static int named_spec(struct reader *r)
{
	struct icf_spec spec = { .name = "" };
	char *comma;
	bool empty;
	int rc = data(r, &empty);

	if (rc < 0)
		return rc;
	comma = empty ? NULL : strrchr(r->current, ',');
	if (!comma)
		return fail(r, "'NAME,NONE|ALL|DISK|NET' is expected");
	spec.line = r->line;
	rc = choice(r, comma + 1 + strspn(comma + 1, " \t"), icf_assignment_names, &spec.assignment);
	while (comma > r->current && isspace((unsigned char)comma[-1]))
		comma--;
	*comma = '\0';
	if (rc == 0)
		rc = name(r, r->current, spec.name);
	if (rc == 0 && !spec.name[0])
		return fail(r, "the specification has no name");
	if (rc == 0)
		rc = next(r);
	if (rc == 0 && !r->is_done && is_caption(r) && is_key(r, "size"))
		rc = next(r);
	while (rc == 0 && !r->is_done && !is_caption(r) && !is_version(r)) {
		rc = add_row(r, &spec);
		if (rc == 0)
			rc = next(r);
	}
	if (rc < 0)
		return rc;
	if (weight_of(&spec) != 100)
		return fail(r, "the percentages of '%.60s' (line %u) add to %u, not to 100", spec.name,
			    spec.line, weight_of(&spec));
	keep_spec(r->icf, &spec);
	return 0;
}

static void size_words(uint32_t bytes, char *ret, size_t ret_bytes)
{
	if (bytes % MIB == 0)
		snprintf(ret, ret_bytes, "%u MiB", bytes / (uint32_t)MIB);
	else if (bytes >= KIB)
		snprintf(ret, ret_bytes, "%u KiB", bytes / (uint32_t)KIB);
	else
		snprintf(ret, ret_bytes, "%u B", bytes);
}

/* Old files do not name them: after what they do, as IOMeter did. */
static void name_old(const struct icf *icf, struct icf_spec *spec)
{
	const struct access_line *line = &spec->lines.lines[0];
	const uint32_t random = line->random_ppm / (PPM / 100), reads = line->read_ppm / (PPM / 100);
	char size[24], base[96];

	size_words(line->bytes, size, sizeof(size));
	if (spec->lines.count == 1) {
		snprintf(base, sizeof(base), "%s ", size);
		if (random == 0 || random == 100)
			snprintf(base + strlen(base), 40, "%s ", random ? "random" : "sequential");
		else
			snprintf(base + strlen(base), 40, "%u%% random ", random);
		if (reads == 0 || reads == 100)
			snprintf(base + strlen(base), 40, "%s", reads ? "reads" : "writes");
		else
			snprintf(base + strlen(base), 40, "%u%% reads", reads);
		snprintf(spec->name, sizeof(spec->name), "%s", base);
	} else {
		snprintf(base, sizeof(base), "Untitled");
		snprintf(spec->name, sizeof(spec->name), "Untitled 1");
	}
	for (unsigned n = 2; icf_find_spec(icf, spec->name); n++)
		snprintf(spec->name, sizeof(spec->name), "%s %u", base, n);
}

static int old_specs(struct reader *r)
{
	struct icf_spec spec = { .assignment = ICF_ASSIGN_ALL };
	int rc = 0;

	r->is_old = true;
	while (rc == 0 && !r->is_done && !is_caption(r) && !is_version(r)) {
		const uint32_t line = r->line;

		spec.line = spec.lines.count ? spec.line : line;
		rc = add_row(r, &spec);
		if (rc == 0 && spec.lines.lines[spec.lines.count - 1].weight == 0) {
			warn(r, "a row of 0 %% is left out");
			spec.lines.count--;
		}
		if (rc == 0 && weight_of(&spec) > 100)
			return fail(r, "the percentages from line %u on add to %u, not to 100", spec.line,
				    weight_of(&spec));
		if (rc == 0 && weight_of(&spec) == 100) {
			name_old(r->icf, &spec);
			keep_spec(r->icf, &spec);
			spec = (struct icf_spec){ .assignment = ICF_ASSIGN_ALL };
		}
		if (rc == 0)
			rc = next(r);
	}
	if (rc == 0 && spec.lines.count)
		warn(r, "the last specification (line %u) adds to %u %% only and is left out", spec.line,
		     weight_of(&spec));
	return rc;
}

static int specs(struct reader *r)
{
	int rc = next(r);

	while (rc == 0 && !r->is_done && !is_key(r, "end access spec")) {
		if (is_key(r, "Access specification name"))
			rc = named_spec(r);
		else if (is_key(r, "size"))
			rc = next(r);
		else if (!is_caption(r) && !is_version(r))
			rc = old_specs(r);
		else if (begins_section(r) || is_version(r))
			return 0;
		else
			return fail(r, "%.60s: no such key of the access specifications", r->current);
	}
	return rc < 0 || r->is_done ? rc : next(r);
}

/* --- managers -------------------------------------------------------------------------- */

static int add_name(struct reader *r, struct icf_name **items, size_t *count)
{
	*items = grow(*items, *count, sizeof(**items));
	(*items)[*count].line = r->line;
	return name(r, r->current, (*items)[(*count)++].text);
}

static int enabled(struct reader *r, const char *word, bool *ret)
{
	static const char *const names[] = { "DISABLED", "ENABLED", NULL };
	uint32_t value = 0;
	int rc = choice(r, word, names, &value);

	*ret = value;
	return rc;
}

static int settings_queue(struct reader *r, struct icf_worker *w)
{
	char *word[8];
	size_t count;
	bool empty;
	int rc = data(r, &empty);

	if (rc < 0)
		return rc;
	count = empty ? 0 : words(r->current, word, 8);
	if (count != 3 && count != 5)
		return fail(r, "%zu values where 3 or 5 are expected: outstanding IOs, ENABLED|DISABLED, "
			       "transactions, ENABLED|DISABLED, seed", count);
	rc = number32(r, word[0], 65536, &w->outstanding_count);
	if (rc == 0)
		rc = enabled(r, word[1], &w->tests_connections);
	if (rc == 0)
		rc = number32(r, word[2], UINT32_MAX, &w->transactions_per_connection);
	if (rc == 0 && count == 5)
		rc = enabled(r, word[3], &w->has_seed);
	if (rc == 0 && count == 5)
		rc = number(r, word[4], UINT64_MAX, &w->seed);
	if (rc == 0 && w->outstanding_count == 0)
		return fail(r, "0 outstanding IOs");
	return rc < 0 ? rc : next(r);
}

static int settings_disk(struct reader *r, struct icf_worker *w)
{
	char *word[8];
	size_t count;
	bool empty;
	int rc = data(r, &empty);

	if (rc < 0)
		return rc;
	count = empty ? 0 : words(r->current, word, 8);
	if (count != 2 && count != 3)
		return fail(r, "%zu values where 2 or 3 are expected: maximum size, starting sector, data "
			       "pattern", count);
	rc = number(r, word[0], UINT64_MAX / 512, &w->max_sectors);
	if (rc == 0)
		rc = number(r, word[1], UINT64_MAX / 512, &w->start_sector);
	if (rc == 0 && count == 3)
		rc = number32(r, word[2], 2, &w->pattern);
	return rc < 0 ? rc : next(r);
}

static int settings(struct reader *r, struct icf_worker *w)
{
	bool empty;
	int rc = next(r);

	while (rc == 0 && !r->is_done && !is_key(r, "end default target settings")) {
		if (is_key(r, "Number of outstanding IOs")) {
			rc = settings_queue(r, w);
		} else if (is_key(r, "Disk maximum size")) {
			rc = settings_disk(r, w);
		} else if (is_key(r, "Local network interface") || is_key(r, "VI outstanding IOs")) {
			rc = data(r, &empty);
			if (rc == 0 && !empty)
				rc = next(r);
		} else {
			return fail(r, "%.60s: no such target setting", r->current);
		}
	}
	return rc < 0 || r->is_done ? rc : next(r);
}

static int assigned_specs(struct reader *r, struct icf_worker *w)
{
	int rc = next(r);

	while (rc == 0 && !r->is_done && !is_key(r, "end assigned access")) {
		if (is_caption(r))
			return fail(r, "%.60s stands where the name of a specification is expected",
				    r->current);
		rc = add_name(r, &w->specs, &w->spec_count);
		if (rc == 0)
			rc = next(r);
	}
	return rc < 0 || r->is_done ? rc : next(r);
}

static int assigned_targets(struct reader *r, struct icf_worker *w)
{
	bool empty;
	int rc = next(r);

	while (rc == 0 && !r->is_done && !is_key(r, "end target assignments")) {
		if (is_key(r, "Target type") || is_key(r, "Target manager ID")) {
			rc = data(r, &empty);
		} else if (is_key(r, "Target")) {
			rc = data(r, &empty);
			if (rc == 0 && empty)
				return fail(r, "the target has no name");
			if (rc == 0)
				rc = add_name(r, &w->targets, &w->target_count);
		} else if (!is_key(r, "end target")) {
			return fail(r, "%.60s: no such key of a target", r->current);
		}
		if (rc == 0)
			rc = next(r);
	}
	return rc < 0 || r->is_done ? rc : next(r);
}

static int worker_type(struct reader *r, struct icf_worker *w)
{
	bool empty;
	int rc = data(r, &empty);

	if (rc < 0)
		return rc;
	if (empty || (strcasecmp(r->current, "DISK") != 0 &&
		      strncasecmp(r->current, "NETWORK", 7) != 0 && strcmp(r->current, "0") != 0))
		return fail(r, "'%.40s' is no worker type; there are DISK and NETWORK,…", r->current);
	snprintf(w->type, sizeof(w->type), "%.30s",
		 strcmp(r->current, "0") == 0 ? "DISK" : r->current);
	return next(r);
}

static int worker(struct reader *r, struct icf_manager *manager)
{
	struct icf_worker *w;
	bool empty;
	int rc = data(r, &empty);

	if (rc < 0)
		return rc;
	manager->workers = grow(manager->workers, manager->worker_count, sizeof(*manager->workers));
	w = &manager->workers[manager->worker_count++];
	w->outstanding_count = 1;
	w->transactions_per_connection = 1;
	w->line = r->line;
	snprintf(w->type, sizeof(w->type), "DISK");
	if (!empty)
		rc = name(r, r->current, w->name);
	if (rc == 0 && !empty)
		rc = next(r);
	while (rc == 0 && !r->is_done && !is_key(r, "end worker")) {
		if (is_key(r, "Worker type"))
			rc = worker_type(r, w);
		else if (is_key(r, "Default target settings"))
			rc = settings(r, w);
		else if (is_key(r, "Assigned access specs"))
			rc = assigned_specs(r, w);
		else if (is_key(r, "Target assignments"))
			rc = assigned_targets(r, w);
		else
			return fail(r, "%.60s: no such key of a worker", r->current);
	}
	return rc < 0 || r->is_done ? rc : next(r);
}

static int manager(struct reader *r)
{
	struct icf *icf = r->icf;
	struct icf_manager *m;
	char *comma;
	bool empty;
	int rc = data(r, &empty);

	if (rc < 0)
		return rc;
	icf->managers = grow(icf->managers, icf->manager_count, sizeof(*icf->managers));
	m = &icf->managers[icf->manager_count++];
	comma = empty ? NULL : strchr(r->current, ',');
	if (!comma)
		return fail(r, "'ID,NAME' of a manager is expected");
	*comma = '\0';
	rc = number32(r, r->current, UINT32_MAX, &m->id);
	if (rc == 0)
		rc = name(r, comma + 1, m->name);
	if (rc == 0)
		rc = next(r);
	while (rc == 0 && !r->is_done && !is_key(r, "end manager")) {
		if (is_key(r, "Manager network address"))
			rc = free_text(r, m->address, sizeof(m->address));
		else if (is_key(r, "Worker") && !is_key(r, "Worker type"))
			rc = worker(r, m);
		else
			return fail(r, "%.60s: no such key of a manager", r->current);
	}
	return rc < 0 || r->is_done ? rc : next(r);
}

static int managers(struct reader *r)
{
	int rc = next(r);

	r->icf->has_managers = true;
	while (rc == 0 && !r->is_done && !is_key(r, "end manager list")) {
		if (is_version(r) || begins_section(r))
			return 0;
		if (!is_key(r, "Manager ID"))
			return fail(r, "%.60s stands where a manager is expected", r->current);
		rc = manager(r);
	}
	return rc < 0 || r->is_done ? rc : next(r);
}

/* --- the file -------------------------------------------------------------------------- */

/* Which of the two layouts of rows the version means; rows tell for themselves in the end. */
static int version(struct reader *r)
{
	struct icf *icf = r->icf;
	const char *at = r->current + (r->current[0] == '\'') + 8;
	unsigned part[3] = { 0 };

	at += strspn(at, " ");
	if (icf->version[0])
		return next(r);
	snprintf(icf->version, sizeof(icf->version), "%.31s", at);
	(void)sscanf(at, "%u.%u.%u", &part[0], &part[1], &part[2]);
	if (part[0] > 1900 && part[0] * 10000 + part[1] * 100 + part[2] < 19980105)
		warn(r, "version %.20s is older than any that was published", icf->version);
	return next(r);
}

static int file(struct reader *r)
{
	int rc = next(r);

	while (rc == 0 && !r->is_done) {
		if (is_version(r))
			rc = version(r);
		else if (is_key(r, "TEST SETUP"))
			rc = setup(r);
		else if (is_key(r, "RESULTS DISPLAY"))
			rc = skip_section(r, "end results display");
		else if (is_key(r, "ACCESS SPECIFICATIONS"))
			rc = specs(r);
		else if (is_key(r, "MANAGER LIST"))
			rc = managers(r);
		else
			return fail(r, "'%.40s' begins no section: TEST SETUP, RESULTS DISPLAY, ACCESS "
				       "SPECIFICATIONS or MANAGER LIST", r->current);
	}
	return rc;
}

static void preset(struct icf *icf)
{
	static const struct icf_cycle one = { .start = 1, .step = 1 };

	memset(icf, 0, sizeof(*icf));
	icf->workers = icf->targets = one;
	icf->depth = (struct icf_cycle){ .start = 1, .end = 32, .step = 2, .exponential = true };
	snprintf(icf->disk_workers, sizeof(icf->disk_workers), "NUMBER_OF_CPUS");
	snprintf(icf->net_workers, sizeof(icf->net_workers), "0");
}

int icf_parse(struct icf *ret, const char *file_name, const char *text, size_t length,
	      struct err *err)
{
	struct err own = { 0 };
	struct reader r = {
		.icf = ret,
		.file = file_name,
		.text = text,
		.end = text + length,
		.err = err ? err : &own,
	};
	int rc;

	preset(ret);
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.text += 3;
	rc = file(&r);
	if (rc == 0 && !ret->has_setup && !ret->spec_count && !ret->has_managers)
		rc = fail(&r, "this is no IOMeter configuration: it has none of its sections");
	if (rc == 0 && !ret->version[0]) {
		r.line = 1;
		warn(&r, "no version line: read as the newest");
	}
	if (rc < 0)
		icf_done(ret);
	return rc;
}

int icf_load(struct icf *ret, const char *path, struct err *err)
{
	FILE *stream = fopen(path, "re");
	char *text = NULL;
	size_t length = 0;
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	if (!stream)
		return err_errno(err, -errno, "%s", path);
	text = malloc(FILE_MAX_BYTES + 1);
	if (!text)
		rc = err_errno(err, -ENOMEM, "%s", path);
	else
		length = fread(text, 1, FILE_MAX_BYTES + 1, stream);
	if (rc == 0 && ferror(stream))
		rc = err_errno(err, -errno, "%s", path);
	else if (rc == 0 && length > FILE_MAX_BYTES)
		rc = err_set(err, -EFBIG, "%s: more than 16 MiB: no IOMeter configuration is that long",
			     path);
	if (rc == 0)
		rc = icf_parse(ret, path, text, length, err);
	free(text);
	fclose(stream);
	return rc;
}
