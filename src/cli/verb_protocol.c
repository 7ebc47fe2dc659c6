/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/protocol_text.h"
#include "cli/stop.h"
#include "protocol/protocol.h"
#include "protocol/seeds.h"
#include "state/keep.h"
#include "state/state.h"

/* --- progress ----------------------------------------------------------------------------- */

struct told {
	const char *protocol;
	bool live, lines;
	char last[64];
};

static void tell(void *ctx, const char *name, size_t index, size_t count)
{
	struct told *told = ctx;

	(void)index;
	(void)count;
	if (told->live)
		fprintf(stderr, "\r\033[K%s: %s", told->protocol, name);
	else if (told->lines)
		fprintf(stderr, "%s: %s\n", told->protocol, name);
}

static void told_init(struct told *told, const struct invocation *inv,
		      const struct protocol *protocol)
{
	*told = (struct told){
		.protocol = protocol->name,
		.live = inv->progress == PROGRESS_AUTO && isatty(STDERR_FILENO),
		.lines = inv->progress == PROGRESS_PLAIN,
	};
}

static void told_done(const struct told *told)
{
	if (told->live)
		fputs("\r\033[K", stderr);
}

/* --- running ------------------------------------------------------------------------------ */

static int print(struct invocation *inv, const struct protocol *protocol,
		 const struct protocol_outcome *outcome)
{
	struct report_style style;
	struct text text = TEXT_INIT;
	int exit_code;

	if (inv->forecast) {
		protocol_text_forecast(protocol, outcome, inv->json, &text);
	} else if (inv->json) {
		protocol_json_outcome(protocol, outcome, &text);
	} else {
		invocation_style(inv, &style);
		protocol_text_outcome(protocol, outcome, &style, &text);
	}
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

static int fail(struct invocation *inv, struct err *err)
{
	if (err->code == -EINTR && !inv->forecast)
		err_hint(err, "what is done is kept: the same command with --resume goes on");
	return invocation_fail(inv, exit_of_refusal(err->code), err);
}

/* Nothing is accepted and then ignored. */
static int check_options(const struct invocation *inv, const struct protocol *protocol,
			 struct err *err)
{
	static const struct {
		const char *option, *protocols;
	} only[] = {
		{ "idle", "three-state techgage contamination cache fill-level" },
		{ "repeat", "three-state techgage" },
		{ "cell", "steady degrade-recover" },
		{ "client", "steady" },
		{ "active-range", "steady" },
		{ "active-amount", "steady" },
		{ "plan", "contamination" },
	};
	const bool given[] = { inv->idle_ns, inv->cycle_count, inv->cell_ns, inv->client,
			       inv->active_ppm, inv->active_bytes, inv->plan_path[0] };

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i] && !strstr(only[i].protocols, protocol->name))
			return err_set(err, -EINVAL, "--%s is an option of %s, not of %s",
				       only[i].option, only[i].protocols, protocol->name);
	return 0;
}

/* Whether the target is written: always, or only where that was allowed. */
static bool writes(const struct invocation *inv, const struct protocol *protocol)
{
	return protocol->writes ||
	       (protocol->writes_if_allowed && (inv->erase_data || inv->expendable[0]));
}

static int prepare(struct invocation *inv, const struct protocol *protocol,
		   struct protocol_options *options, struct plan *plan, struct err *err)
{
	static char path[PATH_MAX];
	int r = check_options(inv, protocol, err);

	if (r == 0 && inv->plan_path[0]) {
		r = plan_load(plan, inv->plan_path, err);
		options->plan = plan;
	}
	if (r < 0 || inv->forecast)
		return r;
	r = consent_settle(inv, options->target, writes(inv, protocol), err);
	if (r == 0)
		r = keep_path(protocol->name, options->target, "", path, err);
	options->checkpoint = path;
	return r;
}

static int run_named(struct invocation *inv, const struct protocol *protocol)
{
	struct plan plan = { 0 };
	struct protocol_options options = {
		.target = inv->words[1],
		.size_bytes = inv->test_file_bytes,
		.idle_ns = inv->idle_ns,
		.repeat_count = inv->cycle_count,
		.cell_ns = inv->cell_ns,
		.client = inv->client,
		.active_ppm = inv->active_ppm,
		.active_bytes = inv->active_bytes,
		.seed = inv->protocol_seed,
		.forecast = inv->forecast,
		.resume = inv->resume,
	};
	struct protocol_outcome outcome;
	struct told told;
	struct err err = { 0 };
	int r, exit_code;

	if (prepare(inv, protocol, &options, &plan, &err) < 0) {
		plan_done(&plan);
		return fail(inv, &err);
	}
	if (!inv->forecast)
		state_reap(NULL);
	told_init(&told, inv, protocol);
	options.measure = (struct measure_options){
		.stop = stop_on_signals(),
		.erase_serial = inv->erase_serial[0] ? inv->erase_serial : NULL,
		.expendable_path = inv->expendable[0] ? inv->expendable : NULL,
		.command = inv->command,
		.ledger_directory = "",
		.observer = { .ctx = &told, .begin = tell },
	};
	r = protocol_run(protocol, &options, &outcome, &err);
	told_done(&told);
	exit_code = r < 0 ? fail(inv, &err) : print(inv, protocol, &outcome);
	protocol_outcome_done(&outcome);
	plan_done(&plan);
	return exit_code;
}

static int unknown(struct invocation *inv, const char *word)
{
	const char *nearest = protocol_nearest(word);
	struct err err = { 0 };

	err_set(&err, -EINVAL, "%s: no such protocol%s%s", word, nearest ? "; did you mean " : "",
		nearest ? nearest : "");
	err_hint(&err, "tare protocol list");
	return fail(inv, &err);
}

static int describe(struct invocation *inv, const struct protocol *protocol)
{
	struct text text = TEXT_INIT;
	int exit_code;

	text_add(&text, "%s: %s\n\n%s\n", protocol->name, protocol->summary, protocol->description);
	exit_code = print_words(inv, "protocol", &text);
	text_done(&text);
	return exit_code;
}

static int list(struct invocation *inv)
{
	struct text text = TEXT_INIT;
	int exit_code;

	protocol_text_list(inv->json, &text);
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

#define SEED_COUNT 10

static int run_seeds(struct invocation *inv)
{
	struct text text = TEXT_INIT;
	struct err err = { 0 };
	struct seeds seeds;
	int exit_code;

	if (seeds_run(&seeds, SEED_COUNT, &err) < 0)
		return fail(inv, &err);
	seeds_markdown(&seeds, &text);
	seeds_done(&seeds);
	exit_code = print_words(inv, "seeds", &text);
	text_done(&text);
	return exit_code;
}

static int protocol_verb_run(struct invocation *inv)
{
	const struct protocol *protocol;
	struct err err = { 0 };

	if (inv->word_count == 0 || strcmp(inv->words[0], "list") == 0)
		return list(inv);
	if (strcmp(inv->words[0], "seeds") == 0 && inv->word_count == 1)
		return run_seeds(inv);
	protocol = protocol_find(inv->words[0]);
	if (!protocol)
		return unknown(inv, inv->words[0]);
	if (inv->word_count == 1)
		return describe(inv, protocol);
	if (inv->word_count > 2) {
		err_set(&err, -EINVAL, "%s: one target per run", inv->words[2]);
		return fail(inv, &err);
	}
	if (inv->forecast && inv->resume) {
		err_set(&err, -EINVAL,
			"--forecast is of the whole, --resume of the rest: one of them");
		return fail(inv, &err);
	}
	return run_named(inv, protocol);
}

#define AT(member) .offset = offsetof(struct invocation, member)

static const struct field protocol_options_fields[] = {
	{ .name = "forecast",
	  .type = FIELD_BOOL,
	  AT(forecast),
	  .group = "Protocol",
	  .help = "time, bytes written and drive writes it takes at most; nothing is run" },
	{ .name = "resume",
	  .type = FIELD_BOOL,
	  AT(resume),
	  .group = "Protocol",
	  .help = "go on where a killed or interrupted run of the same command got" },
	{ .name = "size",
	  .type = FIELD_U64,
	  .unit = UNIT_BYTES,
	  AT(test_file_bytes),
	  .min = 16 * MIB,
	  .max = INT64_MAX,
	  .group = "Protocol",
	  .help = "of the test file, or of the part of the drive that is used" },
	{ .name = "idle",
	  .type = FIELD_U64,
	  .unit = UNIT_NS,
	  AT(idle_ns),
	  .min = 1,
	  .max = 7 * 86400 * SECOND_NS,
	  .group = "Protocol",
	  .help = "how long the pause of three-state, techgage, contamination (without it 30 min), "
		  "fill-level (15 min) or the longest of cache (5 min) is" },
	{ .name = "repeat",
	  .type = FIELD_U32,
	  .unit = UNIT_COUNT,
	  AT(cycle_count),
	  .min = 1,
	  .max = 12,
	  .group = "Protocol",
	  .help = "whole cycles of three-state (without it 1) and techgage (3)" },
	{ .name = "cell",
	  .type = FIELD_U64,
	  .unit = UNIT_NS,
	  AT(cell_ns),
	  .min = MILLISECOND_NS,
	  .max = 3600 * SECOND_NS,
	  .group = "Protocol",
	  .help = "how long a cell of steady, or the minute of degrade-recover, is; without it a "
		  "minute" },
	{ .name = "client",
	  .type = FIELD_BOOL,
	  AT(client),
	  .group = "Protocol",
	  .help = "steady with the client's depths and active amount, not the enterprise's" },
	{ .name = "active-range",
	  .type = FIELD_U32,
	  .unit = UNIT_PPM,
	  AT(active_ppm),
	  .min = 10000,
	  .max = PPM,
	  .group = "Protocol",
	  .help = "share of the capacity steady works in; without it all (the client's other is 75%)" },
	{ .name = "active-amount",
	  .type = FIELD_U64,
	  .unit = UNIT_BYTES,
	  AT(active_bytes),
	  .min = 16 * MIB,
	  .max = INT64_MAX,
	  .group = "Protocol",
	  .help = "what steady touches of that, in 2048 segments; without it all, with --client 8g "
		  "(its other is 16g)" },
	{ .name = "plan",
	  .type = FIELD_TEXT,
	  AT(plan_path),
	  .metavar = "FILE",
	  .room = sizeof(((struct invocation *)NULL)->plan_path),
	  .group = "Protocol",
	  .help = "the plan that contamination suspects; without it IOMeter's fill" },
	{ .name = "seed",
	  .type = FIELD_U64,
	  .unit = UNIT_COUNT,
	  AT(protocol_seed),
	  .min = 1,
	  .max = INT64_MAX,
	  .preset = "1",
	  .group = "Protocol",
	  .help = "of addresses and orders: the same gives the same requests" },
	{ .name = NULL },
};

static const char *const topics[] = {
	"list",	  "three-state", "techgage",   "alignment",    "contamination",	  "surface",
	"steady", "cache",	 "fill-level", "discard-cost", "degrade-recover", "seeds",
	NULL,
};

const struct verb verb_protocol = {
	.name = "protocol",
	.summary = "procedures with a verdict: trim, alignment, cache, steady state and others",
	.description =
		"list names them; seeds runs the procedures of the articles that started this on the "
		"reference drives of their time and prints a table of their figures and ours; NAME "
		"alone tells what one does; NAME and a target runs it. A device is erased by most of "
		"them, so it needs --erase-data; a directory gets a test file; the reference drive "
		"(sim:NAME) runs in virtual time.\n\n"
		"Each ends with one sentence, its evidence, and with --json the code of the "
		"verdict. Finished cells are kept, so that --resume goes on after a crash.",
	.positional = POSITIONAL_WORDS,
	.operands = "list | seeds | NAME | NAME TARGET",
	.tables = { protocol_options_fields, consent_fields },
	.topics = topics,
	.examples = {
		{ "protocol list", "what there is" },
		{ "protocol three-state sim:m80", "on a drive that cleans when idle" },
		{ "protocol three-state --forecast /dev/nvme1n1", "what it would take" },
		{ "protocol cache --erase-data /dev/nvme1n1", "asks for the serial number" },
		{ "protocol alignment --size 1g /mnt/data", "in a file of its own" },
	},
	.run = protocol_verb_run,
};
