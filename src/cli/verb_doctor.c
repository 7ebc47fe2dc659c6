/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/doctor.h"

static int doctor_run(struct invocation *inv)
{
	static struct doctor doctor;
	struct text text = TEXT_INIT;
	struct report_style style;
	int exit_code;

	doctor_look(&doctor);
	invocation_style(inv, &style);
	if (inv->json)
		doctor_json(&doctor, &text);
	else
		doctor_text(&doctor, &style, &text);
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "what this machine lets tare measure, and tare's own ceiling",
	.description = "Tries each faculty rather than asking for versions, then measures the "
		       "instrument: requests per second on a target that completes at once, the cost of "
		       "reading the clock, and the speed of making and verifying data beside memcpy. A "
		       "result near these figures says more of the machine than of the drive.",
	.positional = POSITIONAL_NONE,
	.examples = {
		{ "doctor", "about a second" },
		{ "doctor --json", "for scripts" },
		{ "doctor --plain", "one fact per line" },
	},
	.run = doctor_run,
};
