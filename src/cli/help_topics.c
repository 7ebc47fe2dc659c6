/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "cli/help.h"
#include "measure/audit.h"

static void print_exits(struct text *ret)
{
	for (const struct exit_info *info = exit_infos; info->name; info++)
		text_add(ret, "%5d  %s\n", info->code, info->help);
}

static void print_findings(struct text *ret)
{
	for (const struct audit_rule *rule = audit_rules; rule->code; rule++)
		text_add(ret, "%s (%s)\n    %s\n", rule->code, severity_names[rule->severity],
			 rule->help);
}

static void print_workload(struct text *ret)
{
	const char *group = NULL;

	text_add(ret, "Each is an option of tare run (--iodepth=32) and a key of a plan:\n\n"
		      "  target: /mnt/data\n"
		      "  defaults: { bs: 4k, runtime: 10s }\n"
		      "  phases:\n"
		      "    - measure: { rw: randread, iodepth: 32 }\n"
		      "    - idle: 5s\n"
		      "    - measure: { rw: randwrite, rate-iops: 1000 }\n");
	help_options(workload_fields, &group, ret);
}

static void print_steps(struct text *ret)
{
	text_add(ret, "Each is a phase of a plan and a word of tare precondition --steps:\n\n"
		      "  phases:                          --steps='fill:times=2,bs=1m; trim'\n"
		      "    - fill: { times: 2, bs: 1m }\n"
		      "    - trim:\n");
	for (size_t i = 0; i < STEP_KINDS; i++) {
		const char *group = NULL;

		text_add(ret, "\n%s - %s\n", step_rows[i].name, step_rows[i].help);
		if (step_rows[i].main_field)
			text_add(ret, "  %s=VALUE alone sets %s\n", step_rows[i].name,
				 step_rows[i].main_field);
		if (step_rows[i].fields->name)
			help_options(step_rows[i].fields, &group, ret);
	}
}

const struct help_topic help_topics[] = {
	{ "steps", "the steps of a drive's state", print_steps },
	{ "workload", "the fields of a workload, and a plan", print_workload },
	{ "exit-codes", "what the exit status says", print_exits },
	{ "findings", "what the audit of a result can find", print_findings },
	{ NULL, NULL, NULL },
};

/* scdoc gives these a meaning; a backslash takes it away. */
static void add_escaped(const char *words, struct text *ret)
{
	for (; *words; words++) {
		if (strchr("\\*_~`", *words))
			text_add(ret, "\\");
		text_add_bytes(ret, words, 1);
	}
}

static void scdoc_option(const struct field *field, struct text *ret)
{
	struct text room = TEXT_INIT;
	const char *metavar = field_metavar(field, &room);

	text_add(ret, "*--%s*", field->name);
	if (metavar) {
		text_add(ret, field->value_optional ? "[=" : "=");
		add_escaped(metavar, ret);
		text_add(ret, field->value_optional ? "]" : "");
	}
	if (field->alias)
		text_add(ret, ", *--%s*", field->alias);
	text_add(ret, "\n\t");
	add_escaped(field->help, ret);
	if (field->preset && *field->preset) {
		text_add(ret, field->type == FIELD_BOOL ? "; default " : ". Default: ");
		add_escaped(field->preset, ret);
	}
	text_add(ret, ".\n\n");
	text_done(&room);
}

static void scdoc_table(const struct field *table, const char **group, struct text *ret)
{
	for (const struct field *field = table; field->name; field++) {
		if (!*group || strcmp(*group, field->group) != 0)
			text_add(ret, "## %s\n\n", field->group);
		*group = field->group;
		scdoc_option(field, ret);
	}
}

static void scdoc_options(const struct verb *verb, struct text *ret)
{
	const char *group = NULL;

	for (size_t i = 0; i < VERB_TABLES && verb->tables[i]; i++)
		scdoc_table(verb->tables[i], &group, ret);
	if (verb->takes_workload)
		text_add(ret, "## Workload\n\nIts options are in *tare-workload*(5).\n\n");
	scdoc_table(common_fields, &group, ret);
}

static void scdoc_description(const struct verb *verb, struct text *ret)
{
	add_escaped(verb->description ? verb->description : verb->summary, ret);
	text_add(ret, "\n");
}

static void scdoc_examples(const struct verb *verb, struct text *ret)
{
	for (size_t i = 0; i < VERB_EXAMPLES && verb->examples[i].command; i++) {
		text_add(ret, "*tare ");
		add_escaped(verb->examples[i].command, ret);
		text_add(ret, "*\n\t");
		add_escaped(verb->examples[i].help, ret);
		text_add(ret, ".\n\n");
	}
}

static void scdoc_synopsis(const struct verb *verb, struct text *ret)
{
	text_add(ret, "*tare%s%s* \\[options\\]", *verb->name ? " " : "", verb->name);
	if (verb->operands) {
		text_add(ret, " ");
		for (const char *c = verb->operands; *c; c++)
			text_add(ret, strchr("[]_*", *c) ? "\\%c" : "%c", *c);
	}
	text_add(ret, "\n");
}

static void scdoc_commands(struct text *ret)
{
	for (size_t i = 0; verbs[i]; i++) {
		if (*verbs[i]->name)
			text_add(ret, "*tare-%s*(1)\n\t%s.\n\n", verbs[i]->name, verbs[i]->summary);
	}
}

static void scdoc_exits(struct text *ret)
{
	for (const struct exit_info *info = exit_infos; info->name; info++)
		text_add(ret, "*%d*\n\t%s.\n\n", info->code, info->help);
}

static void scdoc_findings(struct text *ret)
{
	for (const struct audit_rule *rule = audit_rules; rule->code; rule++) {
		text_add(ret, "*%s* (%s)\n\t", rule->code, severity_names[rule->severity]);
		add_escaped(rule->help, ret);
		text_add(ret, ".\n\n");
	}
}

static void scdoc_workload(struct text *ret)
{
	const char *group = NULL;

	scdoc_table(workload_fields, &group, ret);
}

static void scdoc_common(struct text *ret)
{
	for (const struct field *field = common_fields; field->name; field++)
		scdoc_option(field, ret);
}

static const struct {
	const char *name;
	void (*print)(struct text *ret);
} plain_parts[] = {
	{ "commands", scdoc_commands },
	{ "common", scdoc_common },
	{ "exit-codes", scdoc_exits },
	{ "findings", scdoc_findings },
	{ "workload", scdoc_workload },
	{ NULL, NULL },
};

static const struct {
	const char *name;
	void (*print)(const struct verb *verb, struct text *ret);
} verb_parts[] = {
	{ "synopsis", scdoc_synopsis },
	{ "description", scdoc_description },
	{ "options", scdoc_options },
	{ "examples", scdoc_examples },
	{ NULL, NULL },
};

int help_scdoc(const char *part, struct text *ret)
{
	const size_t word = strcspn(part, " ");

	for (size_t i = 0; plain_parts[i].name; i++) {
		if (strcmp(plain_parts[i].name, part) == 0) {
			plain_parts[i].print(ret);
			return 0;
		}
	}
	for (size_t i = 0; verb_parts[i].name; i++) {
		const struct verb *verb = verb_find(part[word] ? part + word + 1 : "");

		if (verb && strlen(verb_parts[i].name) == word &&
		    strncmp(verb_parts[i].name, part, word) == 0) {
			verb_parts[i].print(verb, ret);
			return 0;
		}
	}
	return -ENOENT;
}
