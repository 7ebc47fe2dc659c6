/* SPDX-License-Identifier: MIT */
#include "base/defer.h"
#include "cli/cli.h"
#include "cli/devices.h"
#include "report/layout.h"

/* `tare` alone: what is here, and what one would do next. */

static const struct example next[] = {
	{ "check", "the storage under this directory, about a minute" },
	{ "run --rw=randread --iodepth=32 --runtime=10s .", "one workload" },
	{ "doctor", "what this machine lets tare measure" },
};

static void add_next(const struct report_style *style, struct text *ret)
{
	size_t width = 0;

	for (size_t i = 0; i < ARRAY_COUNT(next); i++)
		if (text_columns(next[i].command) > width)
			width = text_columns(next[i].command);
	text_add(ret, "\n");
	for (size_t i = 0; i < ARRAY_COUNT(next); i++) {
		text_add(ret, "  %stare ", layout_tone(style, TONE_STRONG));
		layout_left(ret, next[i].command, width + 2);
		text_add(ret, "%s%s\n", layout_end(style), next[i].help);
	}
}

static int glance_run(struct invocation *inv)
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
	if (inv->json) {
		devices_json(devices, count, &text);
	} else {
		devices_text(devices, count, &style, &text);
		if (!style.plain)
			add_next(&style, &text);
	}
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

const struct verb verb_glance = {
	.name = "",
	.summary = "the drives of this machine and what to do next",
	.positional = POSITIONAL_NONE,
	.examples = {
		{ "", "the drives of this machine" },
		{ "check", "the storage under the current directory" },
		{ "help", "all commands" },
	},
	.run = glance_run,
};
