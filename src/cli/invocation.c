/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/words.h"
#include "report/json_tree.h"
#include "target/target.h"

#define COLUMNS_PIPED 80
#define COLUMNS_MIN 40

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* NO_COLOR (no-color.org): set and not empty. */
static bool wants_colour(const struct invocation *inv, bool terminal)
{
	const char *term = getenv("TERM");

	if (inv->color != COLOR_AUTO)
		return inv->color == COLOR_ALWAYS;
	return terminal && !is_set("NO_COLOR") && term && *term && strcmp(term, "dumb") != 0;
}

void invocation_style(const struct invocation *inv, struct report_style *ret)
{
	const bool terminal = isatty(STDOUT_FILENO);
	struct winsize size;

	*ret = (struct report_style){
		.colour = wants_colour(inv, terminal),
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
		.plain = inv->plain,
		.columns = COLUMNS_PIPED,
		.bars = terminal && !inv->plain,
	};
	if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= COLUMNS_MIN)
		ret->columns = size.ws_col;
}

int print_text(const struct invocation *inv, const struct text *text)
{
	struct err err;

	if (fwrite(text_string(text), 1, text->length, stdout) == text->length &&
	    fflush(stdout) == 0)
		return EXIT_DONE;
	/* A reader that had enough is no failure of ours. */
	if (errno == EPIPE)
		return EXIT_DONE;
	err_errno(&err, -errno, "write to standard output");
	fprintf(stderr, "tare: %s\n", err.text);
	(void)inv;
	return EXIT_INTERNAL;
}

int print_words(const struct invocation *inv, const char *kind, const struct text *words)
{
	struct text text = TEXT_INIT;
	json_t *root;
	int exit_code;

	if (!inv->json)
		return print_text(inv, words);
	root = json_object();
	json_put(root, "schema", json_string("tare.text/1"));
	json_put(root, "kind", json_string(kind));
	json_put_text(root, "text", text_string(words));
	json_write(root, &text);
	json_decref(root);
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

int print_plan(const struct invocation *inv, const struct plan *plan)
{
	struct text text = TEXT_INIT;
	int exit_code;

	plan_print(plan, &text);
	exit_code = print_words(inv, "plan", &text);
	text_done(&text);
	return exit_code;
}

int invocation_fail(const struct invocation *inv, int exit_code, const struct err *err)
{
	struct text text = TEXT_INIT;

	if (!inv->json) {
		fprintf(stderr, "tare: %s\n", err->text);
		if (*err->hint)
			fprintf(stderr, "      %s\n", err->hint);
		return exit_code;
	}
	report_error_json(exit_name(exit_code), err, &text);
	print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

static size_t kept(const struct problems *problems)
{
	return problems->count < PROBLEMS ? problems->count : PROBLEMS;
}

static void problems_json(const struct invocation *inv, const struct problems *problems,
			  const char *hint)
{
	json_t *error = json_object(), *list = json_array();
	struct text text = TEXT_INIT;

	for (size_t i = 0; i < kept(problems); i++) {
		text_add(&text, "%s%s", i ? "; " : "", problems->texts[i]);
		json_array_append_new(list, json_text(problems->texts[i]));
	}
	json_put(error, "code", json_string(exit_name(EXIT_USAGE)));
	json_put(error, "errno", json_string("EINVAL"));
	json_put_text(error, "message", text_string(&text));
	json_put_text(error, "hint", hint);
	json_put(error, "problems", list);
	text_done(&text);
	report_error_document(error, &text);
	print_text(inv, &text);
	text_done(&text);
}

int args_fail(const struct invocation *inv, const struct problems *problems)
{
	char hint[128];

	snprintf(hint, sizeof(hint), "tare help%s%s", *inv->verb->name ? " " : "", inv->verb->name);
	if (inv->json) {
		problems_json(inv, problems, hint);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < kept(problems); i++)
		fprintf(stderr, "tare: %s\n", problems->texts[i]);
	if (problems->count > PROBLEMS)
		fprintf(stderr, "tare: and %zu more\n", problems->count - PROBLEMS);
	fprintf(stderr, "      nothing was run; see %s\n", hint);
	return EXIT_USAGE;
}

static int plan_of_flags(const struct invocation *inv, struct plan *ret)
{
	plan_init(ret);
	memcpy(ret->target, inv->target, sizeof(ret->target));
	plan_add(ret, PHASE_MEASURE)->workload = inv->workload;
	return 0;
}

/* What only the layers above a plan know: filters, and whether there is such a target. */
static int check_plan(const struct invocation *inv, const struct plan *plan, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->phase_count; i++) {
		const char *filter = plan->phases[i].workload.filter;

		if (*filter)
			r = target_filter_check(filter, err);
	}
	if (r == 0 && !inv->print_plan && *plan->target)
		r = words_check_target(plan->target, err);
	for (size_t i = 1; r == 0 && i < plan->target_count && !inv->print_plan; i++)
		r = words_check_target(plan->targets[i].spec, err);
	if (r < 0) {
		err_wrap(err, "%s", inv->plan_path);
		return -EINVAL;
	}
	if (!*plan->target && !inv->print_plan) {
		r = err_set(err, -EINVAL, "%s names no target", inv->plan_path);
		err_hint(err, "tare run %s TARGET", inv->plan_path);
	}
	return r;
}

int invocation_plan(const struct invocation *inv, struct plan *ret, struct err *err)
{
	int r;

	if (!*inv->plan_path)
		return plan_of_flags(inv, ret);
	r = plan_load(ret, inv->plan_path, err);
	if (r < 0)
		return r;
	if (*inv->target)
		memcpy(ret->target, inv->target, sizeof(ret->target));
	if (*inv->target && ret->target_count)
		memcpy(ret->targets[0].spec, inv->target, sizeof(ret->targets[0].spec));
	r = check_plan(inv, ret, err);
	if (r < 0)
		plan_done(ret);
	return r;
}
