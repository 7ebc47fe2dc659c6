/* SPDX-License-Identifier: MIT */
#include "foreign/iozone.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/iozone_options.h"

struct walk {
	struct iozone_command *c;
	const char *const *words;
	size_t count, at;
};

static void __attribute__((format(printf, 2, 0)))
add_problem(struct iozone_command *command, const char *format, va_list args)
{
	if (command->problem_count < IOZONE_PROBLEMS)
		vsnprintf(command->problems[command->problem_count], sizeof(command->problems[0]),
			  format, args);
	command->problem_count++;
}

void iozone_problem(struct iozone_command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_problem(command, format, args);
	va_end(args);
}

void iozone_problem_as(struct iozone_command *command, int original_code, const char *format, ...)
{
	va_list args;

	if (!command->original_code)
		command->original_code = original_code;
	va_start(args, format);
	add_problem(command, format, args);
	va_end(args);
}

/* iozone's exit codes for a number out of its range, by option. */
static int code_of_range(const char *name)
{
	static const struct {
		const char *name;
		int code;
	} rows[] = { { "r", 21 }, { "y", 23 }, { "q", 23 }, { "l", 4 }, { "u", 6 }, { "t", 14 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].code;
	return 0;
}

static bool has_typographic_dash(const char *word)
{
	return strncmp(word, "\u2013", 3) == 0 || strncmp(word, "\u2014", 3) == 0 ||
	       strncmp(word, "\u2212", 3) == 0;
}

/* "4GB" was meant as 4g, "1t" as 1024g; "" when nothing is near. */
static void suggest_kb(const char *text, size_t digits, char *ret, size_t ret_bytes)
{
	const char *unit = text + digits;
	const int letter = tolower((unsigned char)*unit);
	unsigned long long number = digits && digits < 10 ? strtoull(text, NULL, 10) : 0;

	*ret = '\0';
	if (!number)
		return;
	if (letter && strchr("kmg", letter) &&
	    (strcasecmp(unit + 1, "b") == 0 || strcasecmp(unit + 1, "ib") == 0))
		snprintf(ret, ret_bytes, "; did you mean %llu%c?", number, letter);
	else if (letter == 't')
		snprintf(ret, ret_bytes, "; did you mean %llug?", number * 1024);
	else
		snprintf(ret, ret_bytes, "; %llu alone is %llu kB", number, number);
}

static bool parse_kb(struct walk *w, const struct iozone_option *option, const char *text,
		     uint64_t *ret)
{
	const size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;
	const char letter = (char)tolower((unsigned char)*unit);
	const unsigned int shift = letter == 'm' ? 10 : letter == 'g' ? 20 : 0;
	char suggestion[64];

	if (digits == 0 || digits > 12 || (letter && (!strchr("kmg", letter) || unit[1]))) {
		suggest_kb(text, digits, suggestion, sizeof(suggestion));
		iozone_problem(w->c, "-%s %.40s: a size is a number of kB, or ends in k, m or g%s",
			       option->name, text, suggestion);
		return false;
	}
	*ret = strtoull(text, NULL, 10) << shift;
	if (*ret < option->min || *ret > option->max) {
		iozone_problem_as(w->c, code_of_range(option->name),
				  "-%s %.40s: %llu kB is not within %llu and %llu kB", option->name,
				  text, (unsigned long long)*ret, (unsigned long long)option->min,
				  (unsigned long long)option->max);
		return false;
	}
	return true;
}

static bool parse_number(struct walk *w, const struct iozone_option *option, const char *text,
			 uint64_t *ret)
{
	const size_t digits = strspn(text, "0123456789");

	*ret = digits && digits < 16 ? strtoull(text, NULL, 10) : 0;
	if (digits && !text[digits] && digits < 16 && *ret >= option->min && *ret <= option->max)
		return true;
	if (strcmp(option->name, "i") == 0)
		iozone_problem(w->c,
			       "-i %.40s: no such test; they are 0 to %d (the original takes "
			       "numbers it does not know for test 0, which writes)",
			       text, IOZONE_TESTS - 1);
	else
		iozone_problem_as(w->c, code_of_range(option->name),
				  "-%s %.40s: a number from %llu to %llu is wanted", option->name,
				  text, (unsigned long long)option->min,
				  (unsigned long long)option->max);
	return false;
}

static void store(struct iozone_command *c, const struct iozone_option *option,
		  const struct iozone_value *value)
{
	char *member = (char *)c + option->offset;

	switch (option->argument) {
	case IOZONE_NONE:
		*(bool *)member = true;
		break;
	case IOZONE_KB:
		*(uint64_t *)(void *)member = value->number;
		break;
	case IOZONE_NUMBER:
		*(uint32_t *)(void *)member = (uint32_t)value->number;
		break;
	case IOZONE_WORD:
		*(const char **)(void *)member = value->text;
		break;
	case IOZONE_NAMES:
		break;
	}
}

static void show(struct iozone_command *c, const struct iozone_option *option,
		 const struct iozone_value *value)
{
	if (!option->before)
		return;
	text_add(&c->option_lines, "%s", option->before);
	if (value->text)
		text_add(&c->option_lines, "%llu", (unsigned long long)value->number);
	text_add(&c->option_lines, "%s\n", option->after);
}

static void apply(struct walk *w, const struct iozone_option *option, const char *text)
{
	struct iozone_value value = { .text = text };

	if (option->refusal) {
		iozone_problem(w->c, "-%s: %s", option->name, option->refusal);
		return;
	}
	if (option->argument == IOZONE_KB && !parse_kb(w, option, text, &value.number))
		return;
	if (option->argument == IOZONE_NUMBER && option->max != UINT64_MAX &&
	    !parse_number(w, option, text, &value.number))
		return;
	if (option->note)
		text_add(&w->c->notes, "-%s: %s\n", option->name, option->note);
	if (option->take)
		option->take(w->c, &value);
	else if (!option->note || option->before)
		store(w->c, option, &value);
	show(w->c, option, &value);
}

static uint32_t largest_stream_count(const struct iozone_command *c)
{
	uint32_t ret = c->stream_max > c->stream_min ? c->stream_max : c->stream_min;

	for (uint32_t i = 0; i < c->round_count; i++)
		ret = c->streams[i] > ret ? c->streams[i] : ret;
	return ret;
}

/* -F takes one name for each stream there is so far. */
static void take_names(struct walk *w)
{
	const uint32_t want = largest_stream_count(w->c);
	uint32_t have = 0;

	if (!want) {
		iozone_problem_as(w->c, 12,
				  "-F: how many names there are is said by -t or -u before it");
		while (w->at < w->count && w->words[w->at][0] != '-')
			w->at++;
		return;
	}
	w->c->name_count = 0;
	while (have < want && w->at < w->count && w->words[w->at][0] != '-')
		w->c->names[have++] = w->words[w->at++];
	w->c->name_count = have;
	if (have < want)
		iozone_problem_as(w->c, 13, "-F: %u names for %u streams", have, want);
}

static const struct iozone_option *find(const char *name, size_t length)
{
	for (const struct iozone_option *row = iozone_options; row->name; row++) {
		if (strlen(row->name) == length && strncmp(row->name, name, length) == 0)
			return row;
	}
	return NULL;
}

/* "-aRb": letters to the end of the word, or to the first that takes the rest, or the next word. */
static void take_cluster(struct walk *w, const char *word)
{
	const char *at = word + 1;

	while (*at) {
		const size_t length = *at == '+' && at[1] ? 2 : 1;
		const struct iozone_option *option = find(at, length);

		if (!option) {
			iozone_problem_as(w->c, 255, "%.40s: -%.*s is no option of iozone", word,
					  (int)length, at);
			return;
		}
		at += length;
		if (option->argument == IOZONE_NONE) {
			apply(w, option, NULL);
			continue;
		}
		if (option->argument == IOZONE_NAMES && !*at) {
			take_names(w);
			return;
		}
		if (!*at && w->at == w->count) {
			iozone_problem_as(w->c, option->name[0] == '+' ? 200 : 255,
					  "-%s needs a value", option->name);
			return;
		}
		apply(w, option, *at ? at : w->words[w->at++]);
		return;
	}
}

static void take_word(struct walk *w)
{
	const char *word = w->words[w->at++];

	if (has_typographic_dash(word))
		iozone_problem(w->c,
			       "looks like an option with a typographic dash: %.40s; write -%.40s",
			       word, word + 3);
	else if (word[0] == '-' && word[1] == '-')
		iozone_problem_as(w->c, 255,
				  "%.80s: neither iozone nor tare iozone has such an option", word);
	else if (word[0] == '-' && word[1])
		take_cluster(w, word);
	else if (!*word)
		iozone_problem(w->c, "an empty word (an unset shell variable?)");
	else
		iozone_problem(w->c, "%.200s: belongs to no option; iozone would ignore it", word);
}

bool iozone_is_throughput(const struct iozone_command *c)
{
	return c->round_count || c->stream_min || c->stream_max;
}

bool iozone_is_auto(const struct iozone_command *c)
{
	return c->auto_sweep || c->obsolete || c->file_count > 1 || c->record_count > 1;
}

bool iozone_writes(const struct iozone_command *c)
{
	for (int pass = 0; pass < IOZONE_PASSES; pass++) {
		if (iozone_passes[pass].writes && c->tests >> iozone_passes[pass].test & 1)
			return true;
	}
	return c->tests >> iozone_passes[IOZONE_MIXED].test & 1 && iozone_is_throughput(c);
}

struct mix {
	bool wrong;
	int code; /* of the original; 0 = it takes it */
	const char *text;
};

static void check_mixes(struct iozone_command *c, const struct mix *mixes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (mixes[i].wrong)
			iozone_problem_as(c, mixes[i].code, "%s", mixes[i].text);
	}
}

static void check_modes(struct iozone_command *c)
{
	const bool streams = iozone_is_throughput(c);
	const struct mix mixes[] = {
		{ streams && iozone_is_auto(c), 17,
		  "throughput mode (-t, -l, -u) takes one file and one record size, and none of "
		  "-a, -A: run them one after the other" },
		{ streams && (c->file_min_kb || c->file_max_kb || c->record_min_kb ||
			      c->record_max_kb),
		  17,
		  "throughput mode (-t, -l, -u) and the limits of auto mode (-n, -g, -y, -q) "
		  "exclude each other: say -s and -r" },
		{ streams && c->file, 17, "throughput mode names its files with -F, not -f" },
		{ streams && c->microseconds, 17, "throughput mode has no -N: use -O" },
		{ c->file && c->name_count, 10, "-f and -F exclude each other" },
		{ !streams && c->name_count, 17,
		  "-F and -+R name the files of streams: they need -t or -u" },
		{ c->ops && c->microseconds, 0, "-O and -N exclude each other" },
		{ c->dedupe && c->diagnose, 20,
		  "-+d and repeated data (-+w, -+y, -+C) exclude each other" },
		{ c->dedupe && c->verify, 0,
		  "-V and repeated data (-+w, -+y, -+C) exclude each other: each "
		  "verified block is unique" },
		{ c->stream_max && c->stream_min > c->stream_max, 0, "-l is more than -u" },
		{ c->round_count && (c->stream_min || c->stream_max), 0,
		  "-t and -l or -u exclude each other" },
		{ !streams && (c->divide || c->release_us || c->mix_percent || c->mix_readers), 0,
		  "-d, -+k, -+p and -+K are of throughput mode: they need -t or -u" },
		{ c->mapped && c->depth, 18,
		  "-B and -H or -k exclude each other: what is mapped is done at once" },
		{ c->mapped && c->direct, 0,
		  "-B and -I exclude each other: what is mapped goes through the "
		  "page cache" },
		{ c->mapped && (c->full_sync || c->data_sync), 0,
		  "-B and -o, -+D or -+r exclude each other: -G writes back what is mapped, each "
		  "time" },
		{ c->sync_each && !c->mapped, 0, "-G needs -B" },
		{ c->mix_percent && c->mix_readers, 0, "-+p and -+K exclude each other" },
		{ c->delay_ms && c->burst_kb, 0, "-J and -+b exclude each other" },
		{ c->rate && (c->delay_ms || c->burst_kb), 0,
		  "-+O and the delays of -J and -+b exclude each other" },
		{ c->reads_only && !c->file && !c->name_count, 19,
		  "-+E needs the file it is to read: -f or -F" },
		{ c->reads_only && c->tests && iozone_writes(c), 20,
		  "-+E only reads: choose tests that do, with -i 1, 3, 5, 7, 10 or 12" },
	};

	check_mixes(c, mixes, sizeof(mixes) / sizeof(mixes[0]));
}

static void check_sizes(struct iozone_command *c)
{
	const uint64_t record_kb = iozone_smallest_record_kb(c),
		       file_kb = iozone_smallest_file_kb(c);

	if (c->record_min_kb && c->record_max_kb && c->record_min_kb > c->record_max_kb)
		iozone_problem_as(c, 23, "-y %llu kB is more than -q %llu kB",
				  (unsigned long long)c->record_min_kb,
				  (unsigned long long)c->record_max_kb);
	else if (c->file_min_kb && c->file_max_kb && c->file_min_kb > c->file_max_kb)
		iozone_problem(c, "-n %llu kB is more than -g %llu kB",
			       (unsigned long long)c->file_min_kb,
			       (unsigned long long)c->file_max_kb);
	else if (record_kb > file_kb)
		iozone_problem_as(c, 23,
				  "a record of %llu kB is more than the smallest file, %llu kB",
				  (unsigned long long)record_kb, (unsigned long long)file_kb);
	if (c->burst_kb && c->record_count && c->burst_kb < c->record_kb[0])
		iozone_problem(c, "-+b: a burst is less than a record");
}

/* -+R's list may be short, and a -t behind -F larger than those before it. */
static void check_names(struct iozone_command *c)
{
	const uint32_t want = largest_stream_count(c);

	if (!c->problem_count && c->name_count && c->name_count < want)
		iozone_problem_as(c, 13, "-F, -+R: %u names for %u streams", c->name_count, want);
}

/* What the original passes over in silence. */
static void note_idle_words(struct iozone_command *c)
{
	if (!iozone_is_auto(c) && !iozone_is_throughput(c) &&
	    (c->file_min_kb || c->file_max_kb || c->record_min_kb || c->record_max_kb))
		text_add(&c->notes, "-n, -g, -y and -q have no effect without -a\n");
	if (!iozone_is_throughput(c) && c->tests >> 8 & 1)
		text_add(&c->notes,
			 "-i 8 has no effect in auto mode and for a single stream: the mixed "
			 "test is of throughput mode\n");
	if (!iozone_is_throughput(c) && (c->tests >> 9 & 3) && !c->extended)
		text_add(&c->notes, "-i 9 and -i 10 have no effect without -E\n");
	if (!iozone_is_throughput(c) && (c->tests >> 11 & 3) && !c->extended)
		text_add(&c->notes, "-i 11 and -i 12 have no effect without -E\n");
	if (!iozone_is_throughput(c) && (c->no_stonewall || c->per_stream || c->threads))
		text_add(&c->notes, "-x, -C and -T have no effect without -t or -u\n");
	if (iozone_is_throughput(c) && c->tests >> 4 & 1)
		text_add(&c->notes, "-i 4 has no effect in throughput mode\n");
}

/* Tests that can run at all: 8 without streams cannot. */
static void settle_tests(struct iozone_command *c)
{
	const uint32_t single = 0xff | (c->extended ? 3u << 9 | 3u << 11 : 0);
	const uint32_t can = iozone_is_throughput(c) ? 0x1fefu : single;

	if (!c->tests)
		c->tests = c->obsolete ? 3u : can & 0x7ffu;
	if (c->obsolete && c->tests & ~3u)
		text_add(&c->notes, "-A runs tests 0 and 1 only\n");
	if (c->obsolete)
		c->tests &= 3u;
	if (!(c->tests & can) && !c->problem_count)
		iozone_problem(c, "none of the tests chosen with -i can run here: see %s",
			       c->obsolete ? "-A" : "-E, -t");
}

int iozone_parse(struct iozone_command *ret, const char *const *words, size_t count)
{
	struct walk w = { .c = ret, .words = words, .count = count };

	memset(ret, 0, sizeof(*ret));
	while (w.at < count)
		take_word(&w);
	for (size_t i = 0; i < count; i++)
		text_add(&ret->words, " %s", words[i]);
	if (ret->help || ret->version)
		return 0;
	if (!count)
		iozone_problem_as(
			ret, 255,
			"nothing says what to do: -a is the whole matrix, -i 0 -i 1 writes "
			"and reads one file");
	note_idle_words(ret);
	settle_tests(ret);
	check_modes(ret);
	check_names(ret);
	check_sizes(ret);
	return ret->problem_count ? -EINVAL : 0;
}

void iozone_command_done(struct iozone_command *command)
{
	free(command->name_list);
	text_done(&command->words);
	text_done(&command->option_lines);
	text_done(&command->notes);
	memset(command, 0, sizeof(*command));
}
