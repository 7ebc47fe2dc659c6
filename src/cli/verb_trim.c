/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "report/trim.h"
#include "target/mounts.h"
#include "trim/judge.h"
#include "trim/walk.h"

static struct trim_report *new_report(void)
{
	struct trim_report *report = calloc(1, sizeof(*report));

	assert(report);		/* as the texts of base/text.h */
	return report;
}

static int print(struct invocation *inv, const struct trim_report *report)
{
	struct report_style style;
	struct text text = TEXT_INIT;
	int exit_code;

	invocation_style(inv, &style);
	if (inv->json)
		report_trim_json(report, &text);
	else
		report_trim_text(report, &style, &text);
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code == EXIT_DONE ? trim_exit_code(report, inv->accept) : exit_code;
}

static int trim_one(struct invocation *inv, const char *target)
{
	DEFER(defer_free) struct trim_report *report = new_report();
	struct err err = { 0 };
	int r = consent_settle(inv, target, true, &err);

	if (r == 0)
		r = trim_walk("", target, report, &err);
	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	trim_judge(report);
	return print(inv, report);
}

/* --- all mounts --------------------------------------------------------------------------- */

struct listing {
	struct invocation *inv;
	struct report_style style;
	struct text text;
	void *json;
	struct trim_report *report;
	int worst;
};

/* Everything that could be trimmed, once: also what fstrim --all leaves out without a word. */
static bool is_listed(const struct mount_facts *facts)
{
	return facts->source[0] == '/' || strcmp(facts->type, "zfs") == 0 ||
	       strncmp(facts->type, "nfs", 3) == 0;
}

static bool list_one(void *ctx, const struct mount_facts *facts)
{
	struct listing *listing = ctx;
	int code;

	if (!is_listed(facts) || trim_walk("", facts->point, listing->report, NULL) < 0)
		return true;
	trim_judge(listing->report);
	code = trim_exit_code(listing->report, listing->inv->accept);
	if (code > listing->worst)
		listing->worst = code;
	if (listing->json)
		report_trim_list_add(listing->json, listing->report);
	else
		report_trim_line(listing->report, &listing->style, &listing->text);
	return true;
}

static int trim_all(struct invocation *inv)
{
	struct listing listing = { .inv = inv, .text = TEXT_INIT, .report = new_report() };
	struct mounts *mounts;
	struct err err = { 0 };
	int r = mounts_open(&mounts, "", &err), exit_code;

	if (r < 0) {
		free(listing.report);
		return invocation_fail(inv, exit_of_refusal(r), &err);
	}
	invocation_style(inv, &listing.style);
	if (inv->json)
		report_trim_list_begin(&listing.json);
	mounts_each(mounts, list_one, &listing);
	mounts_close(mounts);
	if (inv->json)
		report_trim_list_end(listing.json, &listing.text);
	exit_code = print_text(inv, &listing.text);
	text_done(&listing.text);
	free(listing.report);
	return exit_code == EXIT_DONE ? listing.worst : exit_code;
}

static int trim_run(struct invocation *inv)
{
	if (inv->all_mounts)
		return trim_all(inv);
	return trim_one(inv, inv->target[0] ? inv->target : ".");
}

static const char *const accept_choices[] = { "end-to-end", "partial", NULL };

#define AT(member) .offset = offsetof(struct invocation, member)

static const struct field trim_fields[] = {
	{ .name = "all", .type = FIELD_BOOL, AT(all_mounts), .group = "Trim",
	  .help = "one line for every mounted file system, from what is announced; nothing is "
		  "written or sent" },
	{ .name = "accept", .type = FIELD_ENUM, AT(accept), .choices = accept_choices,
	  .preset = "end-to-end", .group = "Trim",
	  .help = "partial: exit with 0 also where it works only as far as this machine can see" },
	{ .name = NULL },
};

const struct verb verb_trim = {
	.name = "trim",
	.summary = "prove that TRIM works end to end, or name the layer that stops it and the remedy",
	.description =
		"Draws the layers from a path or device down to the hardware, each with what it says "
		"of discards, and ends with a verdict, the layer to blame, and the commands that "
		"mend it on this machine, with their risks.",
	.positional = POSITIONAL_TARGET,
	.operands = "[PATH|DEVICE]",
	.tables = { trim_fields, consent_fields },
	.examples = {
		{ "trim", "the file system of the current directory" },
		{ "trim /dev/sdb", "a device: what it announces; nothing is written" },
		{ "trim --all", "every mounted file system, a line each" },
		{ "trim --json / | jq '.verdict'", "for scripts" },
	},
	.run = trim_run,
};
