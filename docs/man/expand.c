/* SPDX-License-Identifier: MIT */
/*
 * expand PAGE.scd - the page with each line "@PART@" replaced by what the program's own
 * tables say (help_scdoc), so that the manual cannot drift from the parser.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "cli/help.h"

/* The part's name within the line, or NULL when it is ordinary text. */
static char *part_of(char *line)
{
	const size_t length = strcspn(line, "\n");

	if (length < 3 || line[0] != '@' || line[length - 1] != '@')
		return NULL;
	line[length - 1] = '\0';
	return line + 1;
}

int main(int argc, char **argv)
{
	DEFER(defer_fclose) FILE *page = argc == 2 ? fopen(argv[1], "re") : NULL;
	DEFER(defer_free) char *line = NULL;
	size_t room = 0;

	if (!page) {
		fprintf(stderr, "usage: expand PAGE.scd\n");
		return EXIT_FAILURE;
	}
	while (getline(&line, &room, page) > 0) {
		struct text text = TEXT_INIT;
		const char *part = part_of(line);

		if (part && help_scdoc(part, &text) < 0) {
			fprintf(stderr, "%s: no part '%s'\n", argv[1], part);
			return EXIT_FAILURE;
		}
		fputs(part ? text_string(&text) : line, stdout);
		text_done(&text);
	}
	return ferror(stdout) || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
