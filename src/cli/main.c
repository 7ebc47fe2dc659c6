/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/help.h"

static int print_plan(const struct invocation *inv)
{
	struct text text = TEXT_INIT;
	struct plan plan;
	struct err err;
	int exit_code;

	if (invocation_plan(inv, &plan, &err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &err);
	plan_print(&plan, &text);
	exit_code = print_words(inv, "plan", &text);
	text_done(&text);
	plan_done(&plan);
	return exit_code;
}

static int print_help(const struct invocation *inv)
{
	struct text text = TEXT_INIT;
	int exit_code;

	help_short(inv->verb, &text);
	exit_code = print_words(inv, "help", &text);
	text_done(&text);
	return exit_code;
}

int main(int argc, char **argv)
{
	static struct problems problems;
	static struct invocation inv;

	setlocale(LC_CTYPE, "");
	/* A reader that goes away ("| head") is an error of write, not a death in mid-run. */
	signal(SIGPIPE, SIG_IGN);
	if (args_parse(&inv, argc, (const char *const *)argv, &problems) < 0)
		return args_fail(&inv, &problems);
	if (inv.help)
		return print_help(&inv);
	if (inv.print_plan && inv.verb->positional != POSITIONAL_FOREIGN)
		return print_plan(&inv);
	return inv.verb->run(&inv);
}
