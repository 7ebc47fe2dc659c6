/* SPDX-License-Identifier: MIT */

#include "cli/cli.h"
#include "cli/version.h"

static int version_run(struct invocation *inv)
{
	struct text text = TEXT_INIT;
	int exit_code;

	if (inv->json)
		text_add(&text, "{\n  \"schema\": \"tare.version/1\",\n  \"version\": \"%s\"\n}\n",
			 TARE_VERSION);
	else
		text_add(&text, "tare %s\n", TARE_VERSION);
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

const struct verb verb_version = {
	.name = "version",
	.summary = "the version",
	.positional = POSITIONAL_NONE,
	.examples = {
		{ "version", "the version" },
		{ "version --json", "the version in a JSON document" },
		{ "--version", "the same as tare version" },
	},
	.run = version_run,
};
