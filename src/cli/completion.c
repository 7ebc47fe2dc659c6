/* SPDX-License-Identifier: MIT */
#include "cli/completion.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"

/* The tables of a verb, one after the other: its own, the workload's, the common ones. */
static const struct field *verb_table(const struct verb *verb, size_t i)
{
	size_t own = 0;

	while (own < VERB_TABLES && verb->tables[own])
		own++;
	if (i < own)
		return verb->tables[i];
	i -= own;
	if (verb->takes_workload && i == 0)
		return workload_fields;
	if (verb->takes_workload)
		i--;
	return i == 0 ? common_fields : NULL;
}

/* What a shell is told about one row; NULL at the end. */
static const struct field *verb_field(const struct verb *verb, size_t index)
{
	const struct field *table;

	for (size_t i = 0; (table = verb_table(verb, i)); i++) {
		size_t count = 0;

		while (table[count].name && count < index)
			count++;
		if (table[count].name)
			return &table[count];
		index -= count;
	}
	return NULL;
}

static bool takes_path(const struct field *field)
{
	return field->metavar && (strcmp(field->metavar, "TARGET") == 0 ||
				  strcmp(field->metavar, "FILE") == 0);
}

static void add_choices(const struct field *field, struct text *ret)
{
	for (size_t i = 0; field->choices[i]; i++)
		text_add(ret, "%s%s", i ? " " : "", field->choices[i]);
}

static void add_topics(const struct verb *verb, struct text *ret)
{
	for (size_t i = 0; verb->topics && verb->topics[i]; i++)
		text_add(ret, "%s%s", i ? " " : "", verb->topics[i]);
	if (strcmp(verb->name, "help") != 0)
		return;
	for (size_t i = 0; verbs[i]; i++)
		text_add(ret, "%s%s", *verbs[i]->name ? " " : "", verbs[i]->name);
	for (size_t i = 0; help_topics[i].name; i++)
		text_add(ret, " %s", help_topics[i].name);
}

static bool takes_target(const struct verb *verb)
{
	return verb->positional == POSITIONAL_TARGET || verb->positional == POSITIONAL_PLAN_TARGET;
}

static bool takes_topics(const struct verb *verb)
{
	return verb->positional == POSITIONAL_TOPIC || verb->positional == POSITIONAL_WORDS;
}

/* bash: "--rw=" for what takes a value, so that no blank follows it. */
static void bash_verb(const struct verb *verb, struct text *ret)
{
	const struct field *field;

	text_add(ret, "\t%s)\n\t\toptions=\"", *verb->name ? verb->name : "''");
	for (size_t i = 0; (field = verb_field(verb, i)); i++)
		text_add(ret, "%s--%s%s", i ? " " : "", field->name,
			 field->type == FIELD_BOOL || field->value_optional ? "" : "=");
	text_add(ret, "\"\n\t\twords=\"");
	add_topics(verb, ret);
	if (!*verb->name) {
		for (size_t i = 0; verbs[i]; i++)
			text_add(ret, "%s%s", *verbs[i]->name ? " " : "", verbs[i]->name);
	}
	text_add(ret, "\"\n\t\ttargets=%d\n\t\t;;\n",
		 takes_target(verb) || verb->positional == POSITIONAL_WORDS);
}

/* Values by option name; a name means the same in each verb that has choices for it. */
static void bash_values(struct text *ret)
{
	const struct field *const tables[] = { common_fields, workload_fields, NULL };

	for (size_t t = 0; tables[t]; t++) {
		for (const struct field *field = tables[t]; field->name; field++) {
			if (!field->choices)
				continue;
			text_add(ret, "\t--%s%s%s) values=\"", field->name,
				 field->alias ? "|--" : "", field->alias ? field->alias : "");
			add_choices(field, ret);
			text_add(ret, "\" ;;\n");
		}
	}
	text_add(ret, "\t--filename|--directory|--expendable) paths=1 ;;\n");
}

static void bash_print(struct text *ret)
{
	text_add(ret, "# bash completion for tare; made by: tare completion bash\n"
		      "_tare_devices()\n{\n"
		      "\tlocal path name\n"
		      "\tfor path in /sys/block/*; do\n"
		      "\t\tname=${path##*/}\n"
		      "\t\t[ -e \"$path\" ] && echo \"/dev/${name//!//}\"\n"
		      "\tdone\n}\n\n"
		      "_tare()\n{\n"
		      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} option='' verb='' word i\n"
		      "\tlocal options='' words='' values='' targets=0 paths=0\n"
		      "\tCOMPREPLY=()\n"
		      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		      "\t\tword=${COMP_WORDS[i]}\n"
		      "\t\tcase $word in\n"
		      "\t\t-*|=) ;;\n"
		      "\t\t*) [ \"${COMP_WORDS[i - 1]}\" = = ] || { verb=$word; break; } ;;\n"
		      "\t\tesac\n"
		      "\tdone\n"
		      "\tif [ \"$cur\" = = ]; then\n"
		      "\t\toption=${COMP_WORDS[COMP_CWORD - 1]} cur=''\n"
		      "\telif [ \"${COMP_WORDS[COMP_CWORD - 1]}\" = = ]; then\n"
		      "\t\toption=${COMP_WORDS[COMP_CWORD - 2]}\n"
		      "\telse\n"
		      "\t\toption=${COMP_WORDS[COMP_CWORD - 1]}\n"
		      "\tfi\n"
		      "\tcase $verb in\n");
	for (size_t i = 0; verbs[i]; i++)
		bash_verb(verbs[i], ret);
	if (!verb_find(""))
		text_add(ret, "\t'') words=\"help\" ;;\n");
	text_add(ret, "\tesac\n\tcase $option in\n");
	bash_values(ret);
	text_add(ret, "\tesac\n"
		      "\tif [ -n \"$values\" ]; then\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\")\n"
		      "\telif [[ $cur == -* ]]; then\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
		      "\t\t[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
		      "\telif [ $((targets + paths)) -gt 0 ]; then\n"
		      "\t\tcompopt -o filenames\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_tare_devices)\" -- \"$cur\"; "
		      "compgen -f -- \"$cur\")\n"
		      "\telse\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		      "\tfi\n"
		      "}\n"
		      "complete -F _tare tare\n");
}

/* Within single quotes, where a shell gives only the quote itself a meaning. */
static void add_quoted(const char *words, const char *escaped, struct text *ret)
{
	for (; *words; words++) {
		if (*words == '\'')
			text_add(ret, "'\\''");
		else if (strchr(escaped, *words))
			text_add(ret, "\\%c", *words);
		else
			text_add_bytes(ret, words, 1);
	}
}

static void zsh_option(const struct field *field, struct text *ret)
{
	struct text room = TEXT_INIT;
	const char *metavar = field_metavar(field, &room);

	text_add(ret, "\t\t\t'--%s%s[", field->name,
		 field->type == FIELD_BOOL ? ""
		 : field->value_optional   ? "=-"
					   : "=");
	add_quoted(field->help, "[]\\", ret);
	text_add(ret, "]");
	if (metavar) {
		text_add(ret, field->value_optional ? "::" : ":");
		add_quoted(field->choices ? field->name : metavar, ":\\", ret);
		text_add(ret, ":");
		if (takes_path(field)) {
			text_add(ret, "_tare_targets");
		} else if (field->choices) {
			text_add(ret, "(");
			add_choices(field, ret);
			text_add(ret, ")");
		}
	}
	text_add(ret, "' \\\n");
	text_done(&room);
}

static void zsh_verb(const struct verb *verb, struct text *ret)
{
	const struct field *field;

	text_add(ret, "\t%s)\n\t\t_arguments \\\n", verb->name);
	for (size_t i = 0; (field = verb_field(verb, i)); i++)
		zsh_option(field, ret);
	if (takes_target(verb)) {
		text_add(ret, "\t\t\t'*:target:_tare_targets'\n");
	} else if (takes_topics(verb)) {
		text_add(ret, "\t\t\t'1:topic:(");
		add_topics(verb, ret);
		text_add(ret, verb->positional == POSITIONAL_WORDS ?
			 ")' \\\n\t\t\t'*:file:_tare_targets'\n" : ")'\n");
	} else {
		text_add(ret, "\t\t\t'*:: :_message \"no more words\"'\n");
	}
	text_add(ret, "\t\t;;\n");
}

static void zsh_print(struct text *ret)
{
	text_add(ret, "#compdef tare\n"
		      "# zsh completion for tare; made by: tare completion zsh\n"
		      "_tare_targets()\n{\n"
		      "\tlocal -a devices\n"
		      "\tdevices=(/sys/block/*(N:t))\n"
		      "\tdevices=(/dev/${^${devices//!//}})\n"
		      "\tcompadd -a devices\n"
		      "\t_files\n"
		      "}\n\n"
		      "_tare()\n{\n"
		      "\tlocal -a commands\n"
		      "\tlocal context state line\n"
		      "\tcommands=(\n");
	for (size_t i = 0; verbs[i]; i++) {
		if (!*verbs[i]->name)
			continue;
		text_add(ret, "\t\t'%s:", verbs[i]->name);
		add_quoted(verbs[i]->summary, ":\\", ret);
		text_add(ret, "'\n");
	}
	text_add(ret, "\t)\n"
		      "\tif (( CURRENT == 2 )); then\n"
		      "\t\t_describe command commands\n"
		      "\t\treturn\n"
		      "\tfi\n"
		      "\tshift words\n"
		      "\t(( CURRENT-- ))\n"
		      "\tcase $words[1] in\n");
	for (size_t i = 0; verbs[i]; i++) {
		if (*verbs[i]->name)
			zsh_verb(verbs[i], ret);
	}
	text_add(ret, "\tesac\n}\n\n"
		      "if [[ $funcstack[1] == _tare ]]; then\n"
		      "\t_tare \"$@\"\n"
		      "else\n"
		      "\tcompdef _tare tare\n"
		      "fi\n");
}

static void fish_option(const struct verb *verb, const struct field *field, struct text *ret)
{
	text_add(ret, "complete -c tare -n '__fish_seen_subcommand_from %s' -l %s -d '", verb->name,
		 field->name);
	add_quoted(field->help, "\\", ret);
	text_add(ret, "'");
	if (takes_path(field)) {
		text_add(ret, " -r -a '(__tare_devices)'");
	} else if (field->choices) {
		text_add(ret, " -x -a '");
		add_choices(field, ret);
		text_add(ret, "'");
	} else if (field->type != FIELD_BOOL && !field->value_optional) {
		text_add(ret, " -x");
	}
	text_add(ret, "\n");
}

static void fish_verb(const struct verb *verb, struct text *ret)
{
	const struct field *field;

	text_add(ret, "complete -c tare -n __fish_use_subcommand -f -a %s -d '", verb->name);
	add_quoted(verb->summary, "\\", ret);
	text_add(ret, "'\n");
	if (takes_target(verb)) {
		text_add(ret, "complete -c tare -n '__fish_seen_subcommand_from %s' -F -a "
			      "'(__tare_devices)'\n", verb->name);
	} else {
		text_add(ret, "complete -c tare -n '__fish_seen_subcommand_from %s' %s", verb->name,
			 verb->positional == POSITIONAL_WORDS ? "-F" : "-f");
		if (takes_topics(verb)) {
			text_add(ret, " -a '");
			add_topics(verb, ret);
			text_add(ret, "'");
		}
		text_add(ret, "\n");
	}
	for (size_t i = 0; (field = verb_field(verb, i)); i++)
		fish_option(verb, field, ret);
}

static void fish_print(struct text *ret)
{
	text_add(ret, "# fish completion for tare; made by: tare completion fish\n"
		      "function __tare_devices\n"
		      "\tfor path in /sys/block/*\n"
		      "\t\techo /dev/(string replace -a ! / (path basename $path))\n"
		      "\tend\n"
		      "end\n");
	for (size_t i = 0; verbs[i]; i++) {
		if (*verbs[i]->name)
			fish_verb(verbs[i], ret);
	}
}

const struct completion_shell completion_shells[] = {
	{ "bash", bash_print },
	{ "zsh", zsh_print },
	{ "fish", fish_print },
	{ NULL, NULL },
};
