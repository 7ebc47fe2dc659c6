/* SPDX-License-Identifier: MIT */
/*
 * args - a strict parser: every word is an option of the verb, a value of one, or a
 * positional of a known kind; whatever is not is a problem, and all problems are told at
 * once, before anything is opened.
 */
#include "cli/cli.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/words.h"
#include "target/target.h"

struct parser {
	struct invocation *inv;
	struct problems *problems;
	const char *const *argv;
	int argc, at;
	bool options_ended;		/* "--" was seen */
	const struct field *last_flag;	/* just given without a value it may have, or NULL */
	const char *filename;		/* as --filename gave it */
	const char *target;		/* as a positional gave it */
	field_bits seen[VERB_TABLES + 1];
};

__attribute__((format(printf, 2, 3)))
static void problem(struct parser *p, const char *fmt, ...)
{
	struct problems *problems = p->problems;
	va_list args;

	if (problems->count < PROBLEMS) {
		va_start(args, fmt);
		vsnprintf(problems->texts[problems->count], sizeof(problems->texts[0]), fmt, args);
		va_end(args);
	}
	problems->count++;
}

/* An option as typed: "--no-x=y" gives name "x", negated, value "y". */
struct option {
	char name[64];
	const char *value;	/* NULL when there is no '=' */
	bool negated;
	const struct field *field;
	void *noun;
	field_bits *seen;
	size_t row;
};

static const struct field *table_at(const struct parser *p, size_t i)
{
	if (i == 0)
		return common_fields;
	return p->inv->verb ? p->inv->verb->tables[i - 1] : NULL;
}

static bool find_in(struct option *option, const struct field *table, void *noun,
		    field_bits *seen)
{
	option->field = field_find(table, option->name);
	if (!option->field)
		return false;
	option->noun = noun;
	option->seen = seen;
	option->row = (size_t)(option->field - table);
	return true;
}

static bool find_option(struct parser *p, struct option *option)
{
	const struct field *table;

	for (size_t i = 0; i <= VERB_TABLES && (table = table_at(p, i)); i++) {
		if (find_in(option, table, p->inv, &p->seen[i]))
			return true;
	}
	return p->inv->verb && p->inv->verb->takes_workload &&
	       find_in(option, workload_fields, &p->inv->workload, &p->inv->workload_seen);
}

static void unknown_option(struct parser *p, const struct option *option)
{
	const char *nearest = NULL, *advice = words_fio_advice(option->name);
	const struct field *table;

	if (advice) {
		problem(p, "--%s: %s", option->name, advice);
		return;
	}
	for (size_t i = 0; !nearest && i <= VERB_TABLES && (table = table_at(p, i)); i++)
		nearest = field_nearest(table, option->name);
	if (!nearest && p->inv->verb && p->inv->verb->takes_workload)
		nearest = field_nearest(workload_fields, option->name);
	if (nearest)
		problem(p, "--%s: no such option; did you mean --%s?", option->name, nearest);
	else
		problem(p, "--%s: no such option", option->name);
}

/* The word behind an option that is none may be its value: then nothing is to be said of it. */
static void skip_value(struct parser *p)
{
	if (p->at < p->argc && p->argv[p->at][0] != '-' &&
	    words_kind(p->argv[p->at]) == WORD_NOTHING)
		p->at++;
}

/* Splits a word behind its dashes; false (with a problem) when it cannot be an option. */
static bool split_option(struct parser *p, const char *word, struct option *ret)
{
	const size_t length = strcspn(word, "=");

	*ret = (struct option){ .value = word[length] ? word + length + 1 : NULL };
	if (length == 0 || length >= sizeof(ret->name)) {
		problem(p, "--%s: no such option", word);
		return false;
	}
	memcpy(ret->name, word, length);
	if (!find_option(p, ret) && strncmp(ret->name, "no-", 3) == 0) {
		memmove(ret->name, ret->name + 3, length - 2);
		ret->negated = find_option(p, ret) && ret->field->type == FIELD_BOOL;
		if (!ret->negated) {
			memmove(ret->name + 3, ret->name, length - 2);
			memcpy(ret->name, "no-", 3);
			ret->field = NULL;
		}
	}
	if (ret->field)
		return true;
	unknown_option(p, ret);
	if (!ret->value)
		skip_value(p);
	return false;
}

/* The value, from the word itself or the next one; NULL (with a problem) when it is missing. */
static const char *take_value(struct parser *p, const struct option *option)
{
	struct text room = TEXT_INIT;
	const char *value = option->value;

	if (option->negated) {
		if (value)
			problem(p, "--no-%s takes no value", option->name);
		return value ? NULL : "0";
	}
	if (!value && option->field->type == FIELD_BOOL)
		return "1";
	if (option->field->value_optional)
		return value ? value : "";
	if (!value && p->at < p->argc && strncmp(p->argv[p->at], "--", 2) != 0)
		value = p->argv[p->at++];
	if (!value) {
		problem(p, "--%s needs a value: %s", option->name,
			field_metavar(option->field, &room));
		text_done(&room);
	} else if (!*value) {
		problem(p, "--%s: the value is empty (an unset shell variable?)", option->name);
		value = NULL;
	}
	return value;
}

static void apply_option(struct parser *p, struct option *option)
{
	const bool alone = !option->value && !option->negated;
	const char *value = take_value(p, option);
	struct err err;

	p->last_flag = alone && (option->field->type == FIELD_BOOL || option->field->value_optional)
			       ? option->field
			       : NULL;
	if (!value)
		return;
	assert(option->row < FIELD_ROWS_MAX);
	if (!option->field->repeatable && *option->seen >> option->row & 1)
		problem(p, "--%s is given twice", option->field->name);
	*option->seen |= (field_bits)1 << option->row;
	if (option->value && option->field->value_optional && !*value) {
		problem(p, "--%s=: the value is empty (an unset shell variable?)", option->name);
		return;
	}
	if (field_set(option->field, option->noun, value, &err) < 0) {
		problem(p, "--%s%s%s%s", err.text, *err.hint ? " (" : "", err.hint,
			*err.hint ? ")" : "");
		return;
	}
	if (option->field->offset == offsetof(struct invocation, target) &&
	    option->noun == p->inv)
		p->filename = value;
}

static void take_option(struct parser *p, const char *word)
{
	struct option option;

	if (!p->inv->verb && strcmp(word, "version") == 0)
		p->inv->verb = verb_find("version");
	else if (split_option(p, word, &option))
		apply_option(p, &option);
}

static void take_single_dash(struct parser *p, const char *word)
{
	struct option option = { .value = NULL };
	const size_t length = strcspn(word + 1, "=");

	if (strcmp(word, "-h") == 0) {
		p->inv->help = true;
		return;
	}
	if (length < sizeof(option.name)) {
		memcpy(option.name, word + 1, length);
		if (length && find_option(p, &option)) {
			problem(p, "%s: options begin with two dashes; did you mean -%s?", word, word);
			if (!word[1 + length])
				skip_value(p);
			return;
		}
	}
	problem(p, "%s: no such option; options begin with two dashes", word);
}

/* Is it an option without its dashes ("rw=write")? Then says so. */
static bool is_bare_option(struct parser *p, const char *word)
{
	const size_t length = strcspn(word, "=");
	struct option option = { .value = NULL };

	if (!word[length] || length == 0 || length >= sizeof(option.name))
		return false;
	memcpy(option.name, word, length);
	if (find_option(p, &option)) {
		problem(p, "%s: did you mean --%s?", word, word);
		return true;
	}
	if (words_kind(word) != WORD_NOTHING)
		return false;
	problem(p, "%s: not an option, which begins with two dashes, nor anything that exists",
		word);
	return true;
}

static void take_target(struct parser *p, const char *word)
{
	struct err err;

	if (p->target) {
		problem(p, "%s: the target is %s already; one target per run", word, p->target);
		return;
	}
	if (words_check_target(word, &err) < 0) {
		problem(p, "%s", err.text);
		return;
	}
	p->target = word;
	if (strlen(word) >= sizeof(p->inv->target)) {
		problem(p, "%.40s…: the path is too long", word);
		return;
	}
	if (!p->filename)
		snprintf(p->inv->target, sizeof(p->inv->target), "%s", word);
}

static void take_plan(struct parser *p, const char *word)
{
	if (*p->inv->plan_path)
		problem(p, "%s: the plan is %s already; one plan per run", word, p->inv->plan_path);
	else if (words_kind(word) != WORD_FILE)
		problem(p, "%s: no such plan file", word);
	else if (strlen(word) >= sizeof(p->inv->plan_path))
		problem(p, "%.40s…: the path is too long", word);
	else
		snprintf(p->inv->plan_path, sizeof(p->inv->plan_path), "%s", word);
}

static void take_topic(struct parser *p, const char *word)
{
	if (*p->inv->topic)
		problem(p, "%s: one word at a time", word);
	else if (strlen(word) >= sizeof(p->inv->topic))
		problem(p, "%.40s…: nothing of that name", word);
	else
		snprintf(p->inv->topic, sizeof(p->inv->topic), "%s", word);
}

static void take_loose_word(struct parser *p, const char *word)
{
	struct invocation *inv = p->inv;

	if (inv->word_count == INVOCATION_WORDS)
		problem(p, "%s: tare %s takes at most %d words", word, inv->verb->name,
			INVOCATION_WORDS);
	else if (strlen(word) >= sizeof(inv->words[0]))
		problem(p, "%.40s…: the word is too long", word);
	else
		snprintf(inv->words[inv->word_count++], sizeof(inv->words[0]), "%s", word);
}

static void take_foreign(struct parser *p, const char *word)
{
	struct invocation *inv = p->inv;

	if (inv->foreign_count == FOREIGN_WORDS)
		problem(p, "%s: tare %s takes at most %d words", word, inv->verb->name,
			FOREIGN_WORDS);
	else
		inv->foreign_words[inv->foreign_count++] = word;
}

static const char *verb_name_at(const void *ctx, size_t i)
{
	(void)ctx;
	return verbs[i] ? verbs[i]->name : NULL;
}

static bool is_workload_option(const char *word)
{
	const size_t length = strcspn(word, "=");
	char name[64];

	if (!word[length] || length >= sizeof(name))
		return false;
	memcpy(name, word, length);
	name[length] = '\0';
	return field_find(workload_fields, name) != NULL;
}

static void take_verb(struct parser *p, const char *word)
{
	const char *nearest;

	p->inv->verb = *word ? verb_find(word) : NULL;
	if (p->inv->verb)
		return;
	p->inv->verb = verb_find("");
	nearest = text_nearest(word, verb_name_at, NULL);
	if (is_workload_option(word)) {
		problem(p, "%s: did you mean tare run --%s?", word, word);
		return;
	}
	if (is_bare_option(p, word))
		return;
	if (nearest && *nearest)
		problem(p, "%s: no such command; did you mean tare %s?", word, nearest);
	else if (words_kind(word) != WORD_NOTHING)
		problem(p, "%s: no such command; did you mean tare check %s?", word, word);
	else
		problem(p, "%s: no such command; tare help lists them", word);
}

/* Is the word meant for the flag before it, which takes values behind '=' only? */
static bool is_stray_value(const struct field *flag, const char *word)
{
	if (flag->type == FIELD_BOOL)
		return strcmp(word, "0") == 0 || strcmp(word, "1") == 0;
	return *word && words_kind(word) == WORD_NOTHING;
}

static void take_positional(struct parser *p, const char *word)
{
	const struct field *flag = p->last_flag;

	p->last_flag = NULL;
	if (flag && is_stray_value(flag, word)) {
		problem(p, "%s: write --%s=%s", word, flag->name, word);
		return;
	}
	if (!p->inv->verb) {
		take_verb(p, word);
		return;
	}
	if (!*word) {
		problem(p, "an empty word (an unset shell variable?)");
		return;
	}
	/* "NAME,key=value" of a reference drive looks like one. */
	if (p->inv->verb->positional != POSITIONAL_WORDS && is_bare_option(p, word))
		return;
	switch (p->inv->verb->positional) {
	case POSITIONAL_NONE:
		problem(p, "%s: tare %s takes no more words", word, p->inv->verb->name);
		break;
	case POSITIONAL_TARGET:
		take_target(p, word);
		break;
	case POSITIONAL_PLAN_TARGET:
		if (words_is_plan_name(word))
			take_plan(p, word);
		else
			take_target(p, word);
		break;
	case POSITIONAL_TOPIC:
		take_topic(p, word);
		break;
	case POSITIONAL_WORDS:
		take_loose_word(p, word);
		break;
	case POSITIONAL_FOREIGN:
		take_foreign(p, word);
		break;
	}
}

/* An option of ours, in another tool's command line? */
static bool is_own_option(struct parser *p, const char *word)
{
	struct option option = { .value = NULL };
	const size_t length = strcspn(word, "=");

	if (strncmp(word, "--", 2) != 0 || length - 2 >= sizeof(option.name))
		return false;
	memcpy(option.name, word + 2, length - 2);
	return find_option(p, &option);
}

static void take_word(struct parser *p)
{
	const char *word = p->argv[p->at++];
	const char *dash = words_typographic_dash(word);

	if (p->inv->verb && p->inv->verb->positional == POSITIONAL_FOREIGN) {
		if (is_own_option(p, word))
			take_option(p, word + 2);
		else
			take_foreign(p, word);
		return;
	}
	if (dash && !p->options_ended) {
		problem(p, "%s: begins with %s, as copied text often does; write --%s", word, dash,
			words_behind_dashes(word));
		return;
	}
	if (p->options_ended || word[0] != '-' || !word[1]) {
		take_positional(p, word);
	} else if (strcmp(word, "--") == 0) {
		p->options_ended = true;
	} else if (word[1] == '-') {
		p->last_flag = NULL;
		take_option(p, word + 2);
	} else {
		take_single_dash(p, word);
	}
}

/* What a plan file says is not changed from outside: it would no longer be that plan. */
static void check_plan_alone(struct parser *p)
{
	for (size_t i = 0; workload_fields[i].name; i++) {
		if (p->inv->workload_seen >> i & 1)
			problem(p, "--%s: has no effect on %s, whose phases say what is done",
				workload_fields[i].name, p->inv->plan_path);
	}
}

static void check_run(struct parser *p)
{
	const struct field *rw = field_find(workload_fields, "rw");
	struct invocation *inv = p->inv;
	struct err err;

	if (p->filename && p->target)
		problem(p, "%s: the target is %s already (--filename)", p->target, p->filename);
	if (p->filename && words_check_target(p->filename, &err) < 0)
		problem(p, "--filename: %s", err.text);
	if (*inv->plan_path) {
		check_plan_alone(p);
		return;
	}
	if (p->problems->count)
		return;		/* what is missing may only be mistyped */
	if (!(inv->workload_seen >> (rw - workload_fields) & 1) && !inv->workload.lines.count)
		problem(p, "nothing says what to do: give a plan file or --rw, as in --rw=randread");
	if (!p->filename && !p->target && !inv->print_plan)
		problem(p, "no target: name a directory, an existing file, a device or null");
	workload_settle(&inv->workload, inv->workload_seen);
	if (!p->problems->count && workload_check(&inv->workload, &err) < 0)
		problem(p, "%s", err.text);
	if (*inv->workload.filter && target_filter_check(inv->workload.filter, &err) < 0)
		problem(p, "--filter: %s", err.text);
}

static void check_all(struct parser *p)
{
	struct invocation *inv = p->inv;

	if (inv->quick && inv->is_long)
		problem(p, "--quick and --long exclude each other");
	if (inv->verb->positional == POSITIONAL_PLAN_TARGET)
		check_run(p);
}

/* Quotes what a shell would not take as one plain word. */
static void keep_command(struct invocation *inv, int argc, const char *const *argv)
{
	struct text text = TEXT_INIT;

	for (int i = 0; i < argc; i++) {
		const char *word = i ? argv[i] : "tare";

		text_add(&text, "%s", i ? " " : "");
		if (*word && !word[strcspn(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!")]) {
			text_add(&text, "%s", word);
			continue;
		}
		text_add(&text, "'");
		for (; *word; word++)
			text_add(&text, *word == '\'' ? "'\\''" : "%c", *word);
		text_add(&text, "'");
	}
	snprintf(inv->command, sizeof(inv->command), "%s", text_string(&text));
	text_done(&text);
}

int args_parse(struct invocation *ret, int argc, const char *const *argv,
	       struct problems *problems)
{
	struct parser p = { .inv = ret, .problems = problems, .argv = argv, .argc = argc, .at = 1 };

	memset(ret, 0, sizeof(*ret));
	workload_init(&ret->workload);
	fields_preset(common_fields, ret);
	problems->count = 0;
	keep_command(ret, argc, argv);
	while (p.at < argc)
		take_word(&p);
	if (!ret->verb)
		ret->verb = verb_find("");
	if (!ret->help)
		check_all(&p);
	return problems->count ? -EINVAL : 0;
}
