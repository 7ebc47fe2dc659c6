/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/stop.h"
#include "report/trim.h"
#include "state/state.h"
#include "target/mounts.h"
#include "trim/deep.h"
#include "trim/judge.h"
#include "trim/probe.h"
#include "trim/walk.h"
#include "trim/watch.h"

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

/* --- progress ----------------------------------------------------------------------------- */

struct told {
	bool live, lines;
	char last[96];
};

static void told_init(struct told *told, const struct invocation *inv)
{
	*told = (struct told){
		.live = inv->progress == PROGRESS_AUTO && isatty(STDERR_FILENO),
		.lines = inv->progress == PROGRESS_PLAIN,
	};
}

/* The same work is told once; on a terminal with how far it is. */
static void tell(void *ctx, const char *doing, double done_ratio)
{
	struct told *told = ctx;

	if (told->live)
		fprintf(stderr, "\r\033[K%3.0f %%  %s", 100 * done_ratio, doing);
	else if (told->lines && strcmp(told->last, doing) != 0)
		fprintf(stderr, "trim: %s\n", doing);
	snprintf(told->last, sizeof(told->last), "%s", doing);
}

static void tell_phase(void *ctx, const char *name, size_t index, size_t count)
{
	tell(ctx, name, count ? (double)index / (double)count : 0);
}

static void told_done(const struct told *told)
{
	if (told->live)
		fputs("\r\033[K", stderr);
}

/* --- one target --------------------------------------------------------------------------- */

static bool is_sim(const char *target)
{
	return strncmp(target, "sim:", 4) == 0;
}

/* Trying is of use only where something is announced, or where nothing is known beforehand. */
static bool is_worth_trying(const struct invocation *inv, const struct trim_report *report)
{
	const uint32_t top = trim_top_block(report);

	if (strcmp(report->verdict.code, "not-applicable") == 0)
		return false;
	if (inv->erase_serial[0] && trim_probe_can_ask(report))
		return true;
	/* A file system or what lies on it stops them before any device is told. */
	for (uint32_t i = 0; i < report->layer_count && i < top; i++)
		if (report->layers[i].capable == TRIM_NO)
			return false;
	if (top == TRIM_TOP)
		return strcmp(report->verdict.code, "blocked") != 0;
	return report->layers[top].granularity_bytes > 0 && report->layers[top].max_bytes > 0;
}

static int probe(struct invocation *inv, struct trim_report *report, struct told *told,
		 struct err *err)
{
	uint64_t now_ns = 0;
	struct clock clock;
	const struct trim_probe_options options = {
		.clock = &clock,
		.stop = stop_on_signals(),
		.progress = tell,
		.progress_ctx = told,
		.erase_serial = inv->erase_serial[0] ? inv->erase_serial : NULL,
	};

	if (is_sim(report->spec))
		clock_init_virtual(&clock, &now_ns);
	else
		clock_init_real(&clock);
	return trim_probe(report, &options, err);
}

static int deep(struct invocation *inv, struct trim_report *report, struct told *told,
		struct err *err)
{
	const struct protocol_options options = {
		.target = report->spec,
		.size_bytes = inv->test_file_bytes,
		.idle_ns = inv->idle_ns ? inv->idle_ns : 60 * SECOND_NS,
		.measure = {
			.stop = stop_on_signals(),
			.erase_serial = inv->erase_serial[0] ? inv->erase_serial : NULL,
			.command = inv->command,
			.ledger_directory = "",
			.observer = { .ctx = told, .begin = tell_phase },
		},
	};

	return trim_deep(report, &options, err);
}

/* Layers, evidence, verdict; 0 or what makes the rest pointless. */
static int look(struct invocation *inv, const char *target, struct trim_report *report,
		struct err *err)
{
	struct told told;
	int r = consent_settle(inv, target, true, err);

	if (r == 0)
		r = trim_walk("", target, report, err);
	if (r < 0)
		return r;
	trim_judge(report);
	if (!is_worth_trying(inv, report))
		return 0;
	state_reap(NULL);
	told_init(&told, inv);
	r = probe(inv, report, &told, err);
	/* A drive that damages data or hangs is not given any more. */
	if (r == 0 && inv->deep && !report->interrupted && !report->guards_changed &&
	    !report->aborted)
		r = deep(inv, report, &told, err);
	told_done(&told);
	trim_judge(report);
	return r == -EINTR ? 0 : r;
}

static int trim_one(struct invocation *inv, const char *target)
{
	DEFER(defer_free) struct trim_report *report = new_report();
	struct err err = { 0 };
	int r = look(inv, target, report, &err);

	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	return print(inv, report);
}

/* --- watching ----------------------------------------------------------------------------- */

static void show_line(void *ctx, const struct trim_watch_line *line)
{
	char text[256];

	trim_watch_format(ctx, line, text, sizeof(text));
	printf("%s\n", text);
	fflush(stdout);
}

static int trim_live(struct invocation *inv, const char *target)
{
	DEFER(defer_free) struct trim_report *report = new_report();
	struct err err = { 0 };
	struct clock clock;
	const struct trim_watch_options options = {
		.clock = &clock,
		.stop = stop_on_signals(),
		.line = show_line,
		.ctx = report,
	};
	int r = trim_walk("", target, report, &err);

	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	clock_init_real(&clock);
	r = trim_watch(report, &options, &err);
	return r < 0 ? invocation_fail(inv, exit_of_refusal(r), &err) : EXIT_DONE;
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
	/* Nothing is sent here: that every layer announces discards is all that can be asked. */
	if (code > listing->worst && strcmp(listing->report->verdict.reason, "NOT_TRIED") != 0)
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

/* Nothing is accepted and then ignored. */
static int check_options(const struct invocation *inv, struct err *err)
{
	const bool lists = inv->all_mounts || inv->watch;

	if (inv->all_mounts && inv->watch)
		return err_set(err, -EINVAL, "--all and --watch exclude each other");
	if (inv->all_mounts && inv->target[0])
		return err_set(err, -EINVAL, "--all is every mounted file system, and %s is one",
			       inv->target);
	if (inv->watch && inv->json)
		return err_set(err, -EINVAL, "--watch prints lines until it is stopped, and --json "
					     "is one document");
	if (lists && (inv->deep || inv->erase_data))
		return err_set(err, -EINVAL, "%s only looks: %s is of no use with it",
			       inv->watch ? "--watch" : "--all",
			       inv->deep ? "--deep" : "--erase-data");
	if (inv->watch && inv->accept)
		return err_set(err, -EINVAL, "--watch gives no verdict to accept");
	if (!inv->deep && (inv->test_file_bytes || inv->idle_ns))
		return err_set(err, -EINVAL, "--%s is an option of --deep",
			       inv->idle_ns ? "idle" : "size");
	return 0;
}

static int trim_run(struct invocation *inv)
{
	const char *target = inv->target[0] ? inv->target : ".";
	struct err err = { 0 };

	if (check_options(inv, &err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &err);
	if (inv->all_mounts)
		return trim_all(inv);
	return inv->watch ? trim_live(inv, target) : trim_one(inv, target);
}

static const char *const accept_choices[] = { "end-to-end", "partial", NULL };

#define AT(member) .offset = offsetof(struct invocation, member)

static const struct field trim_fields[] = {
	{ .name = "all", .type = FIELD_BOOL, AT(all_mounts), .group = "Trim",
	  .help = "one line for every mounted file system, from what is announced; nothing is "
		  "written or sent" },
	{ .name = "watch", .type = FIELD_BOOL, AT(watch), .group = "Trim",
	  .help = "the discard counters of every layer, live, until Ctrl-C; nothing is sent" },
	{ .name = "deep", .type = FIELD_BOOL, AT(deep), .group = "Trim",
	  .help = "measure, too, whether trim brings back the speed that use has cost (three-state)" },
	{ .name = "size", .type = FIELD_U64, .unit = UNIT_BYTES, AT(test_file_bytes),
	  .min = 16 * MIB, .max = INT64_MAX, .group = "Trim",
	  .help = "of the test file of --deep, or of the part of the drive that is used" },
	{ .name = "idle", .type = FIELD_U64, .unit = UNIT_NS, AT(idle_ns), .min = 1,
	  .max = 7 * 86400 * SECOND_NS, .group = "Trim",
	  .help = "the pause of --deep in which the drive may clean by itself; without it 60s" },
	{ .name = "accept", .type = FIELD_ENUM, AT(accept), .choices = accept_choices,
	  .preset = "end-to-end", .group = "Trim",
	  .help = "partial: exit with 0 also where it works only as far as this machine can see" },
	{ .name = NULL },
};

const struct verb verb_trim = {
	.name = "trim",
	.summary = "prove TRIM end to end, or name what stops it and the remedy",
	.description =
		"Draws the layers from a path or device down to the hardware, each with what it says "
		"of discards. Where they say that they take them, it is tried: on a path in a test "
		"file of its own, whose pieces are freed between guards that stay; on a device only "
		"with --erase-data. Then it is looked at whether the discards arrived at each layer, "
		"and whether the blocks on the drive are gone. It ends with a verdict, the layer to "
		"blame, and the commands that mend it on this machine, with their risks.\n\n"
		"Without root it says what it cannot see and what root would add. Nothing of it is "
		"a secure erase.",
	.positional = POSITIONAL_TARGET,
	.operands = "[PATH|DEVICE]",
	.tables = { trim_fields, erase_fields },
	.examples = {
		{ "trim /mnt/data", "a file system, down to the drive" },
		{ "trim /dev/sdb", "a device: what it announces; nothing is written" },
		{ "trim --erase-data /dev/sdb", "and what it does; asks for the serial number" },
		{ "trim --all", "every mounted file system, a line each" },
		{ "trim --watch /", "who discards what, live" },
		{ "trim --json / | jq '.verdict'", "for scripts" },
	},
	.run = trim_run,
};
