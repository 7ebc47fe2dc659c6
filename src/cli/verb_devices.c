/* SPDX-License-Identifier: MIT */
#include "base/defer.h"
#include "cli/cli.h"
#include "cli/devices.h"

static int devices_run(struct invocation *inv)
{
	DEFER(defer_free) struct target_device *devices = NULL;
	struct text text = TEXT_INIT;
	struct report_style style;
	struct err err = { 0 };
	size_t count = 0;
	int exit_code;

	if (target_list_devices(&devices, &count, &err) < 0)
		return invocation_fail(inv, EXIT_REFUSED, &err);
	invocation_style(inv, &style);
	if (inv->json)
		devices_json(devices, count, &text);
	else
		devices_text(devices, count, &style, &text);
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

const struct verb verb_devices = {
	.name = "devices",
	.summary = "list the drives of this machine and what uses them",
	.description = "Needs no rights and opens nothing. The JSON holds serial numbers, block sizes, "
		       "queue settings and the by-id link of each.",
	.positional = POSITIONAL_NONE,
	.examples = {
		{ "devices", "a table" },
		{ "devices --json", "everything known of each" },
		{ "devices --plain", "one fact per line" },
	},
	.run = devices_run,
};
