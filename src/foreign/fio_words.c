/* SPDX-License-Identifier: MIT */
/* fio's command line: options of its own, job options, job files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "foreign/fio_parts.h"

struct parsing {
	const struct fio_request *request;
	struct fio_translation *t;
	struct fio_words *words;
	uint32_t at;
	size_t section; /* index + 1 of the --name in force; 0 = defaults */
	const char *files[64];
	uint32_t file_count;
};

static const struct place command_line = { "command line", 0, 0 };

static void problem(struct parsing *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void problem(struct parsing *p, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fio_remark(&p->t->problems, NULL, "%s", text);
}

static void note(struct parsing *p, const char *name, const char *why)
{
	fio_labels_note(&p->t->labels, "--%s: no effect: %s", name, why);
}

static void take_format(struct parsing *p, const char *value)
{
	static const struct {
		const char *name;
		enum fio_output output;
	} formats[] = {
		{ "normal", FIO_NORMAL }, { "json", FIO_JSON },	    { "json+", FIO_JSON_PLUS },
		{ "terse", FIO_TERSE },	  { "minimal", FIO_TERSE },
	};
	DEFER(defer_free) char *copy = strdup(value);
	char *rest = copy, *part;

	if (!copy)
		abort();
	while ((part = strsep(&rest, ","))) {
		size_t i = 0;

		while (i < ARRAY_COUNT(formats) && strcmp(formats[i].name, part) != 0)
			i++;
		if (i == ARRAY_COUNT(formats))
			problem(p,
				"--output-format: '%.32s' is not one of normal, json, json+, terse",
				part);
		else
			p->t->labels.outputs |= formats[i].output;
	}
}

static void take_terse_version(struct parsing *p, const char *value)
{
	if (strlen(value) == 1 && *value >= '2' && *value <= '5')
		p->t->labels.terse_version = (uint32_t)(*value - '0');
	else
		problem(p, "--terse-version: '%.32s' is not from 2 to 5", value);
}

static void take_section(struct parsing *p, const char *value)
{
	struct fio_words *words = p->words;

	words->only = reallocarray(words->only, words->only_count + 1, sizeof(*words->only));
	if (!words->only || !(words->only[words->only_count] = strdup(value)))
		abort();
	words->only_count++;
}

static void take_action(struct parsing *p, const char *name, const char *value)
{
	static const struct {
		const char *name;
		enum fio_action action;
	} actions[] = {
		{ "parse-only", FIO_PARSE_ONLY }, { "showcmd", FIO_SHOWCMD },
		{ "cmdhelp", FIO_CMDHELP },	  { "enghelp", FIO_ENGHELP },
		{ "version", FIO_VERSION },
	};

	for (size_t i = 0; i < ARRAY_COUNT(actions); i++)
		if (strcmp(actions[i].name, name) == 0)
			p->t->action = actions[i].action;
	p->t->topic = strcmp(value, "all") == 0 ? "" : value;
}

static void take_output(struct parsing *p, const char *value)
{
	p->t->output_path = value;
}

static void take_minimal(struct parsing *p, const char *value)
{
	(void)value;
	p->t->labels.outputs |= FIO_TERSE;
}

static void take_append(struct parsing *p, const char *value)
{
	(void)value;
	p->t->labels.outputs |= FIO_TERSE | FIO_NORMAL;
}

static void take_readonly(struct parsing *p, const char *value)
{
	(void)value;
	p->words->readonly = true;
}

static void take_eta(struct parsing *p, const char *value)
{
	if (strcmp(value, "never") == 0)
		p->t->quiet = true;
	else if (strcmp(value, "always") != 0 && strcmp(value, "auto") != 0)
		problem(p, "--eta: '%.32s' is not one of always, never, auto", value);
}

/* How an option of the command line takes its value. */
enum wants { WANTS_NOTHING, WANTS_VALUE, MAY_HAVE };

static const struct command {
	const char *name;
	enum wants wants;
	void (*take)(struct parsing *p, const char *value); /* NULL: noted or refused */
	bool refused;
	const char *why;
} commands[] = {
	{ "output", WANTS_VALUE, take_output, false, NULL },
	{ "output-format", WANTS_VALUE, take_format, false, NULL },
	{ "minimal", WANTS_NOTHING, take_minimal, false, NULL },
	{ "append-terse", WANTS_NOTHING, take_append, false, NULL },
	{ "terse-version", WANTS_VALUE, take_terse_version, false, NULL },
	{ "section", WANTS_VALUE, take_section, false, NULL },
	{ "readonly", WANTS_NOTHING, take_readonly, false, NULL },
	{ "eta", WANTS_VALUE, take_eta, false, NULL },
	{ "parse-only", WANTS_NOTHING, NULL, false, NULL },
	{ "showcmd", WANTS_NOTHING, NULL, false, NULL },
	{ "version", WANTS_NOTHING, NULL, false, NULL },
	{ "cmdhelp", MAY_HAVE, NULL, false, NULL },
	{ "enghelp", MAY_HAVE, NULL, false, NULL },
	{ "eta-interval", WANTS_VALUE, NULL, false, "progress is shown as it is read best" },
	{ "eta-newline", WANTS_VALUE, NULL, false, "progress is shown as it is read best" },
	{ "status-interval", WANTS_VALUE, NULL, false, "the result is printed once, at the end" },
	{ "alloc-size", WANTS_VALUE, NULL, false, "memory is taken as it is needed" },
	{ "max-jobs", WANTS_VALUE, NULL, false, "there are as many jobs as the file has" },
	{ "warnings-fatal", WANTS_NOTHING, NULL, false, "what makes no sense is an error anyway" },
	{ "bandwidth-log", WANTS_NOTHING, NULL, false, "use write_bw_log" },
	{ "debug", WANTS_VALUE, NULL, false, "there is nothing to trace" },
	{ "idle-prof", WANTS_VALUE, NULL, false, "the audit says how busy the CPUs were" },
	{ "aux-path", WANTS_VALUE, NULL, false, "no state files are written" },
	{ "cpuclock-test", WANTS_NOTHING, NULL, true, "run tare doctor" },
	{ "crctest", MAY_HAVE, NULL, true, "run tare doctor" },
	{ "server", MAY_HAVE, NULL, true, "one machine at a time; start tare there" },
	{ "daemonize", WANTS_VALUE, NULL, true, "one machine at a time; start tare there" },
	{ "client", WANTS_VALUE, NULL, true, "one machine at a time; start tare there" },
	{ "remote-config", WANTS_VALUE, NULL, true, "one machine at a time; start tare there" },
	{ "inflate-log", WANTS_VALUE, NULL, true, "tare's logs are not compressed" },
	{ "trigger", WANTS_VALUE, NULL, true, "it runs shell commands" },
	{ "trigger-file", WANTS_VALUE, NULL, true, "it runs shell commands" },
	{ "trigger-timeout", WANTS_VALUE, NULL, true, "it runs shell commands" },
	{ "trigger-remote", WANTS_VALUE, NULL, true, "it runs shell commands" },
	{ "merge-blktrace-only", WANTS_NOTHING, NULL, true, "merge traces with blkparse" },
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* Behind the '=', else the next word. NULL with a problem when there is none. */
static const char *value_of(struct parsing *p, const char *name, const char *value)
{
	if (value)
		return value;
	if (p->at < p->request->word_count)
		return p->request->words[p->at++];
	problem(p, "--%s: its value is missing", name);
	return NULL;
}

static void take_command(struct parsing *p, const struct command *command, const char *value)
{
	if (command->wants == WANTS_VALUE)
		value = value_of(p, command->name, value);
	else if (!value)
		value = "";
	if (!value)
		return;
	if (command->take)
		command->take(p, value);
	else if (command->refused)
		problem(p, "--%s is not supported: %s", command->name, command->why);
	else if (command->why)
		note(p, command->name, command->why);
	else
		take_action(p, command->name, value);
}

/* Whose options these are: the last --name's, or everybody's. */
static struct fio_section *section_now(struct parsing *p)
{
	return p->section ? &p->words->source.sections[p->section - 1] : &p->words->defaults;
}

static void take_job_option(struct parsing *p, const struct fio_row *row, const char *name,
			    const char *value)
{
	const struct fio_assignment item = { .place = command_line };

	if (row->type != FIO_FLAG)
		value = value_of(p, name, value);
	if (row->type != FIO_FLAG && !value)
		return;
	if (strcmp(row->name, "name") == 0) {
		fio_source_add(&p->words->source, value, &command_line);
		p->section = p->words->source.section_count;
		return;
	}
	fio_source_assign(&p->words->source, section_now(p), &item, name, value);
}

static void take_option(struct parsing *p, const char *word)
{
	const size_t dashes = word[1] == '-' ? 2 : 1;
	const size_t length = strcspn(word + dashes, "=");
	const char *value = word[dashes + length] ? word + dashes + length + 1 : NULL;
	const struct command *command;
	const struct fio_row *row;
	char name[64];

	if (!length || length >= sizeof(name)) {
		problem(p, "%.64s: no such option", word);
		return;
	}
	memcpy(name, word + dashes, length);
	name[length] = '\0';
	command = find_command(name);
	row = fio_row_find(name);
	if (command)
		take_command(p, command, value);
	else if (row && row->class != FIO_COMMAND)
		take_job_option(p, row, name, value);
	else if (fio_row_nearest(name))
		problem(p, "%s: no such option; did you mean --%s?", word, fio_row_nearest(name));
	else
		problem(p, "%.64s: no such option", word);
}

static void take_file(struct parsing *p, const char *word)
{
	const size_t length = strcspn(word, "=");
	char name[64];
	uint64_t bytes;

	if (!*word) {
		problem(p, "an empty word (an unset shell variable?)");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(length < 63 ? length : 63), word);
	if (word[length] && fio_row_find(name)) {
		problem(p, "%.64s: did you mean --%.64s?", word, word);
		return;
	}
	if (strcmp(word, "-") != 0 &&
	    p->request->world->look(p->request->world->ctx, word, &bytes) == FIO_NOTHING) {
		problem(p, "%.200s: no such job file", word);
		return;
	}
	if (p->file_count == ARRAY_COUNT(p->files))
		problem(p, "%.200s: more than %zu job files", word, ARRAY_COUNT(p->files));
	else
		p->files[p->file_count++] = word;
}

static bool is_wanted(const struct fio_words *words, const char *name)
{
	for (uint32_t i = 0; i < words->only_count; i++)
		if (strcmp(words->only[i], name) == 0)
			return true;
	return !words->only_count;
}

/* Job files come behind the jobs of the command line, and each waits for the one before. */
static void read_files(struct parsing *p)
{
	struct fio_words *words = p->words;

	for (uint32_t i = 0; i < p->file_count; i++) {
		const size_t first = words->source.section_count;
		bool begun = i == 0;

		fio_source_read(&words->source, p->files[i]);
		for (size_t j = first; j < words->source.section_count; j++) {
			struct fio_section *section = &words->source.sections[j];

			if (section->global)
				continue;
			section->skipped = !is_wanted(words, section->name);
			section->begins_file = !begun && !section->skipped;
			begun |= section->begins_file;
		}
	}
}

static void check_sections(struct parsing *p)
{
	const struct fio_words *words = p->words;

	for (uint32_t i = 0; i < words->only_count; i++) {
		bool found = false;

		for (size_t j = 0; j < words->source.section_count; j++)
			found |= strcmp(words->source.sections[j].name, words->only[i]) == 0;
		if (!found && p->file_count)
			problem(p, "--section=%.64s: no section of that name", words->only[i]);
	}
}

void fio_words_read(const struct fio_request *request, struct fio_translation *t,
		    struct fio_words *ret)
{
	struct parsing p = { .request = request, .t = t, .words = ret };

	*ret = (struct fio_words){
		.source = { .world = request->world, .problems = &t->problems },
		.defaults = { .global = true, .place = command_line },
	};
	ret->source.notes = &t->remarks;
	while (p.at < request->word_count) {
		const char *word = request->words[p.at++];

		if (word[0] == '-' && word[1])
			take_option(&p, word);
		else
			take_file(&p, word);
	}
	read_files(&p);
	check_sections(&p);
}

void fio_words_done(struct fio_words *words)
{
	for (size_t i = 0; i < words->defaults.count; i++) {
		free(words->defaults.items[i].name);
		free(words->defaults.items[i].value);
	}
	free(words->defaults.items);
	for (uint32_t i = 0; i < words->only_count; i++)
		free(words->only[i]);
	free(words->only);
	fio_source_done(&words->source);
}
