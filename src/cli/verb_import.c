/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "cli/cli.h"
#include "foreign/import.h"
#include "report/imported.h"

static int check_words(const struct invocation *inv, struct err *err)
{
	uint32_t stdin_count = 0;

	if (!inv->foreign_count) {
		err_set(err, -EINVAL, "no file to import");
		return err_hint(err, "tare import FILE...; - is standard input");
	}
	for (uint32_t i = 0; i < inv->foreign_count; i++) {
		const char *word = inv->foreign_words[i];

		if (word[0] == '-' && word[1])
			return err_set(err, -EINVAL, "%s: no such option of tare import; a file of "
						     "that name is ./%s", word, word);
		stdin_count += strcmp(word, "-") == 0;
	}
	if (stdin_count > 1)
		return err_set(err, -EINVAL, "-: standard input can be read but once");
	return 0;
}

static int print(const struct invocation *inv, const struct imported *sources, size_t count)
{
	struct text text = TEXT_INIT;
	struct report_style style;
	int exit_code;

	invocation_style(inv, &style);
	if (inv->json)
		report_imported_json(sources, count, &text);
	else
		report_imported_text(sources, count, &style, &text);
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

static int import_run(struct invocation *inv)
{
	struct imported *sources;
	struct err err = { 0 };
	size_t count = 0;
	int exit_code, r = check_words(inv, &err);

	if (r < 0)
		return invocation_fail(inv, EXIT_USAGE, &err);
	sources = calloc(inv->foreign_count, sizeof(*sources));
	if (!sources)
		r = err_set(&err, -ENOMEM, "importing %u files", inv->foreign_count);
	while (r == 0 && count < inv->foreign_count) {
		r = import_load(&sources[count], inv->foreign_words[count], &err);
		count += r == 0;
	}
	if (r < 0)
		exit_code = invocation_fail(inv, r == -ENOMEM ? EXIT_INTERNAL : EXIT_USAGE, &err);
	else
		exit_code = print(inv, sources, count);
	for (size_t i = 0; i < count; i++)
		imported_done(&sources[i]);
	free(sources);
	return exit_code;
}

const struct verb verb_import = {
	.name = "import",
	.summary = "other tools' results, in one table or document and tare's units",
	.description =
		"Reads what fio (JSON of versions 2 and 3, json+, and terse versions 2 to 5), iozone "
		"(the table, and the blocks of throughput mode) and IOMeter (results.csv) wrote, told "
		"apart by what is in the file. Each row is a name and an operation; with --json one "
		"document holds them all, with null for what a file does not say.\n\n"
		"Units are those of the version that wrote the file: microseconds and KiB in fio 2, "
		"nanoseconds and bytes in fio 3. Repeated keys are kept, missing ones are unknown, text "
		"before the JSON is skipped. Figures of iozone are told apart by the -i list of its "
		"command line, since their columns shift. fio's text for people, IOMeter's file of each "
		"update and iozone's workbook are refused, with what to import instead.",
	.positional = POSITIONAL_FOREIGN,
	.operands = "FILE...",
	.examples = {
		{ "import before.json after.json", "two results of fio, whatever its versions" },
		{ "import --json iozone.out results.csv", "one document of both" },
		{ "import -", "what a pipe brings" },
	},
	.run = import_run,
};
