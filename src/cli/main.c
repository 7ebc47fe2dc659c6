/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "cli/cli.h"
#include "cli/help.h"

static int print_own_plan(const struct invocation *inv)
{
	struct plan plan;
	struct err err;
	int exit_code;

	if (invocation_plan(inv, &plan, &err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &err);
	exit_code = print_plan(inv, &plan);
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

/* Called by the name of the tool whose language it speaks ("iozone"): its verb comes first. */
static const char *const *with_verb(int *argc, char **argv, const char **room, size_t room_count)
{
	const char *slash = *argc ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : *argc ? argv[0] : "";

	if (strcmp(name, "iozone") != 0 || (size_t)*argc + 2 > room_count)
		return (const char *const *)argv;
	room[0] = "tare";
	room[1] = name;
	for (int i = 1; i <= *argc; i++)
		room[i + 1] = argv[i];
	++*argc;
	return room;
}

int main(int argc, char **argv)
{
	static struct problems problems;
	static struct invocation inv;
	static const char *room[FOREIGN_WORDS + 64];
	const char *const *words = with_verb(&argc, argv, room, ARRAY_COUNT(room));

	setlocale(LC_CTYPE, "");
	/* A reader that goes away ("| head") is an error of write, not a death in mid-run. */
	signal(SIGPIPE, SIG_IGN);
	if (args_parse(&inv, argc, words, &problems) < 0)
		return args_fail(&inv, &problems);
	if (inv.help)
		return print_help(&inv);
	if (inv.print_plan && inv.verb->positional != POSITIONAL_FOREIGN)
		return print_own_plan(&inv);
	return inv.verb->run(&inv);
}
