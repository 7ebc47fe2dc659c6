/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#define HELP_COLUMNS 80
#define HELP_INDENT 30

/* Words wrapped at HELP_COLUMNS, each line after the first indented; column is where we are. */
static void add_wrapped(struct text *ret, const char *words, size_t indent, size_t column)
{
	while (*words) {
		const size_t length = strcspn(words, " \n");
		char word[256];
		size_t columns;

		snprintf(word, sizeof(word), "%.*s", (int)length, words);
		columns = text_columns(word);
		if (column > indent && column + 1 + columns > HELP_COLUMNS) {
			text_add(ret, "\n%*s", (int)indent, "");
			column = indent;
		}
		text_add(ret, "%s%s", column > indent ? " " : "", word);
		column += columns + (column > indent);
		words += length;
		if (words[0] == '\n' && words[1] == '\n') {
			text_add(ret, "\n\n%*s", (int)indent, "");
			column = indent;
		}
		words += strspn(words, " \n");
	}
	text_add(ret, "\n");
}

/* "--bs=SIZE", "--erase-data[=SERIAL]", "--json", "--color=auto|always|never". */
static void add_option_name(const struct field *field, struct text *ret)
{
	struct text room = TEXT_INIT;
	const char *metavar = field_metavar(field, &room);
	const bool on = field->type == FIELD_BOOL && field->preset &&
			strcmp(field->preset, "1") == 0;

	if (field->value_optional)
		text_add(ret, "--%s[=%s]", field->name, metavar);
	else if (metavar)
		text_add(ret, "--%s=%s", field->name, metavar);
	else
		text_add(ret, "--%s%s", on ? "[no-]" : "", field->name);
	text_done(&room);
}

static bool has_shown_preset(const struct field *field)
{
	return field->preset && field->type != FIELD_BOOL && strcmp(field->preset, "0%") != 0;
}

/* Help, the other name, the preset: one sentence for a reader. */
static void add_option_text(const struct field *field, struct text *ret)
{
	text_add(ret, "%s", field->help);
	if (field->alias)
		text_add(ret, "; also --%s", field->alias);
	if (has_shown_preset(field))
		text_add(ret, " (default %s)", field->preset);
	else if (field->type == FIELD_BOOL && field->preset && strcmp(field->preset, "1") == 0)
		text_add(ret, " (default on)");
}

static void add_option(const struct field *field, struct text *ret)
{
	struct text name = TEXT_INIT, sentence = TEXT_INIT;
	size_t columns;

	add_option_name(field, &name);
	add_option_text(field, &sentence);
	columns = 2 + text_columns(text_string(&name));
	text_add(ret, "  %s", text_string(&name));
	if (columns + 2 > HELP_INDENT) {
		text_add(ret, "\n");
		columns = 0;
	}
	text_add(ret, "%*s", (int)(HELP_INDENT - columns), "");
	add_wrapped(ret, text_string(&sentence), HELP_INDENT, HELP_INDENT);
	text_done(&name);
	text_done(&sentence);
}

void help_option(const struct field *field, struct text *ret)
{
	add_option(field, ret);
}

void help_options(const struct field *table, const char **group, struct text *ret)
{
	for (const struct field *field = table; field->name; field++) {
		if (!*group || strcmp(*group, field->group) != 0)
			text_add(ret, "\n%s:\n", field->group);
		*group = field->group;
		add_option(field, ret);
	}
}

static void add_usage(const struct verb *verb, struct text *ret)
{
	const bool options = verb->tables[0] || verb->takes_workload;

	if (!*verb->name) {
		text_add(ret, "Usage: tare [COMMAND] [OPTION…]\n");
		return;
	}
	text_add(ret, "tare %s: %s\n\nUsage: tare %s%s%s%s\n", verb->name, verb->summary, verb->name,
		 options ? " [OPTION…]" : "", verb->operands ? " " : "",
		 verb->operands ? verb->operands : "");
}

static void add_examples(const struct verb *verb, size_t most, struct text *ret)
{
	text_add(ret, "\nExamples:\n");
	for (size_t i = 0; i < most && i < VERB_EXAMPLES && verb->examples[i].command; i++) {
		const char *command = verb->examples[i].command;

		text_add(ret, "  tare%s%s\n%6s", *command ? " " : "", command, "");
		add_wrapped(ret, verb->examples[i].help, 6, 6);
	}
}

static void add_row(const char *name, const char *help, struct text *ret)
{
	text_add(ret, "  %-12s ", name);
	add_wrapped(ret, help, 15, 15);
}

static void add_commands(struct text *ret)
{
	text_add(ret, "\nCommands:\n");
	for (size_t i = 0; verbs[i]; i++)
		add_row(*verbs[i]->name ? verbs[i]->name : "(none)", verbs[i]->summary, ret);
	text_add(ret, "\nMore help:\n");
	for (const struct help_topic *topic = help_topics; topic->name; topic++)
		add_row(topic->name, topic->summary, ret);
}

void help_short(const struct verb *verb, struct text *ret)
{
	if (*verb->name) {
		add_usage(verb, ret);
		add_examples(verb, 3, ret);
		text_add(ret, "\nAll options: tare help %s\n", verb->name);
		return;
	}
	text_add(ret, "tare: the storage benchmark that gives the right number by default\n\n");
	add_usage(verb, ret);
	add_examples(verb, 3, ret);
	add_commands(ret);
	text_add(ret, "\nOptions and examples of a command: tare help COMMAND\n");
}

void help_full(const struct verb *verb, struct text *ret)
{
	const char *group = NULL;

	if (!*verb->name) {
		help_short(verb, ret);
		return;
	}
	add_usage(verb, ret);
	if (verb->description) {
		text_add(ret, "\n");
		add_wrapped(ret, verb->description, 0, 0);
	}
	for (size_t i = 0; i < VERB_TABLES && verb->tables[i]; i++)
		help_options(verb->tables[i], &group, ret);
	if (verb->takes_workload)
		help_options(workload_fields, &group, ret);
	help_options(common_fields, &group, ret);
	add_examples(verb, VERB_EXAMPLES, ret);
}
