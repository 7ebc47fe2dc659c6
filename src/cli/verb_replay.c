/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/maps.h"
#include "cli/runner.h"
#include "cli/traces.h"
#include "cli/words.h"

#define DEPTH_COUNT 64u
#define POOL_BYTES (256 * MIB)		/* what buffers may take, unless a depth is asked for */

/* Recorded targets and where each goes. */
struct mappings {
	struct name_map items[FOREIGN_MAPS];
	size_t count;
};

static int unknown_word(const struct invocation *inv, const char *word, struct err *err)
{
	const char *nearest = NULL;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word[1] ? word + 2 : "");
	for (size_t i = 0; !nearest && i < VERB_TABLES && inv->verb->tables[i]; i++)
		nearest = field_nearest(inv->verb->tables[i], name);
	err_set(err, -EINVAL, "%s: no such option", word);
	return nearest ? err_hint(err, "did you mean --%s?", nearest) : -EINVAL;
}

/* All words but the target, which is the last unless maps say where each goes. */
static int take_words(struct invocation *inv, struct err *err)
{
	struct workload *w = &inv->workload;
	const bool has_target = inv->foreign_maps.count == 0 && inv->foreign_count > 1;
	const uint32_t count = inv->foreign_count - has_target;
	struct text traces = TEXT_INIT;
	int r = 0;

	for (uint32_t i = 0; i < inv->foreign_count; i++)
		if (inv->foreign_words[i][0] == '-')
			return unknown_word(inv, inv->foreign_words[i], err);
	if (inv->foreign_count == 0) {
		err_set(err, -EINVAL, "which trace?");
		return err_hint(err, "tare replay TRACE TARGET");
	}
	for (uint32_t i = 0; i < count; i++)
		text_add(&traces, "%s%s", i ? "," : "", inv->foreign_words[i]);
	if (traces.length >= sizeof(w->trace)) {
		err_set(err, -E2BIG, "the names of the traces are longer than %zu bytes together",
			sizeof(w->trace) - 1);
		r = err_hint(err, "a pattern in quotes names them, as in '*.csv.gz'");
	} else {
		strcpy(w->trace, text_string(&traces));
	}
	text_done(&traces);
	if (r < 0 || !has_target)
		return r;
	snprintf(inv->target, sizeof(inv->target), "%s", inv->foreign_words[count]);
	return words_check_target(inv->target, err);
}

/* As deep as buffers allow; at recorded times depth is only what may wait. */
static uint32_t depth_of(const struct invocation *inv, const struct trace *trace)
{
	const uint64_t length_bytes = trace_length_max_bytes(trace, &inv->workload.replay);
	uint64_t depth = DEPTH_COUNT;

	if (inv->replay_depth_count)
		return inv->replay_depth_count;
	if (length_bytes && POOL_BYTES / inv->workload.job_count / length_bytes < depth)
		depth = POOL_BYTES / inv->workload.job_count / length_bytes;
	return depth > 4 ? (uint32_t)depth : 4;
}

static int add_phase(const struct invocation *inv, const struct trace *trace, const char *streams,
		     struct plan *plan, struct err *err)
{
	struct workload *w = &plan_add(plan, PHASE_MEASURE)->workload;
	int r;

	*w = inv->workload;
	w->depth_count = depth_of(inv, trace);
	if (streams && strlen(streams) >= sizeof(w->replay.streams))
		return err_set(err, -E2BIG,
				"the names of the recorded targets for one target are longer "
					    "than %zu bytes together",
			       sizeof(w->replay.streams) - 1);
	if (streams)
		strcpy(w->replay.streams, streams);
	trace_describe(trace, w);
	r = trace_check(trace, w, err);
	return r < 0 ? r : workload_check(w, err);
}

/* Nothing is guessed: each recorded target has a place. */
static int check_maps(const struct mappings *maps, const struct trace *trace, struct err *err)
{
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		const char *name = trace->streams[i].name;
		bool found = false;

		for (size_t k = 0; k < maps->count; k++)
			found |= strcmp(maps->items[k].name, name) == 0;
		if (!found) {
			err_set(err, -EINVAL, "--map says nothing of recorded target '%s'", name);
			return err_hint(err,
					"--map=%s=PATH, or --streams names those to be replayed",
					name);
		}
	}
	return 0;
}

/* One phase for each target, of all that are mapped to it; all run together. */
static int add_mapped(const struct invocation *inv, const struct trace *trace,
		      const struct mappings *maps, struct plan *plan, struct err *err)
{
	int r = *inv->workload.replay.streams ? 0 : check_maps(maps, trace, err);

	for (size_t i = 0; r == 0 && i < maps->count; i++) {
		const char *path = maps->items[i].path;
		struct text streams = TEXT_INIT;
		bool known = false;

		for (size_t k = 0; k < i; k++)
			known |= strcmp(maps->items[k].path, path) == 0;
		if (known)
			continue;
		for (size_t k = i; k < maps->count; k++)
			if (strcmp(maps->items[k].path, path) == 0)
				text_add(&streams, "%s%s", streams.length ? "," : "",
					 maps->items[k].name);
		r = words_check_target(path, err);
		if (r == 0)
			r = add_phase(inv, trace, text_string(&streams), plan, err);
		if (r == 0) {
			struct phase *phase = &plan->phases[plan->phase_count - 1];

			phase->target_index = plan_add_target(plan, path);
			phase->together = phase->target_index > 0;
		}
		text_done(&streams);
	}
	return r;
}

static int make_plan(struct invocation *inv, const struct trace *trace, struct plan *ret,
		     struct err *err)
{
	struct mappings maps;
	int r;

	plan_init(ret);
	maps.count = maps_split(inv, maps.items);
	if (maps.count) {
		r = add_mapped(inv, trace, &maps, ret, err);
	} else {
		memcpy(ret->target, inv->target, sizeof(ret->target));
		r = add_phase(inv, trace, NULL, ret, err);
	}
	/* One target is the plan's own: no list. */
	if (r == 0 && ret->target_count == 1) {
		free(ret->targets);
		ret->targets = NULL;
		ret->target_count = 0;
	}
	if (r < 0)
		plan_done(ret);
	return r;
}

/* Without a target: what is in the trace is all that is asked. */
static int print_trace(const struct invocation *inv, const struct trace *trace,
		       const struct trace_report *report)
{
	struct text text = TEXT_INIT;
	int exit_code;

	if (inv->json)
		traces_json(trace, report, &text);
	else
		traces_text(trace, report, &text);
	exit_code = print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

static void show_trace(const struct invocation *inv, const struct trace *trace,
		       const struct trace_report *report)
{
	static const char *const rules[] = {
		[OVERLAP_REFUSE] = "have ranges of their own",
		[OVERLAP_ALLOW] = "may meet",
		[OVERLAP_SEPARATE] = "lie behind each other",
	};
	struct text text = TEXT_INIT;

	if (inv->progress == PROGRESS_NONE)
		return;
	traces_text(trace, report, &text);
	/* By which rule several recorded targets share one. */
	if (trace->stream_count > 1 && !inv->foreign_maps.count)
		text_add(&text, "sharing   recorded targets %s on %s\n",
			 rules[inv->workload.replay.overlap], inv->target);
	fputs(text_string(&text), stderr);
	text_done(&text);
}

static int run_plan(struct invocation *inv, struct traces *traces, const struct plan *plan)
{
	struct err err = { 0 };
	const int r = consent_settle_plan(inv, plan, &err);

	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	return runner_run(inv, &(struct runner){ .plan = plan, .full = true, .traces = traces });
}

static int replay(struct invocation *inv, struct traces *traces)
{
	const struct trace *trace;
	struct err err = { 0 };
	struct plan plan;
	int exit_code;

	if (take_words(inv, &err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &err);
	if (traces_open(traces, &inv->workload, &trace, &err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &err);
	if (!*inv->target && !inv->foreign_maps.count && !inv->print_plan)
		return print_trace(inv, trace, traces_report(traces, trace));
	if (make_plan(inv, trace, &plan, &err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &err);
	if (inv->print_plan) {
		exit_code = print_plan(inv, &plan);
	} else {
		show_trace(inv, trace, traces_report(traces, trace));
		exit_code = run_plan(inv, traces, &plan);
	}
	plan_done(&plan);
	return exit_code;
}

static int replay_run(struct invocation *inv)
{
	struct traces traces;
	int exit_code;

	traces_init(&traces);
	exit_code = replay(inv, &traces);
	traces_done(&traces);
	return exit_code;
}

#define INV(member) .offset = offsetof(struct invocation, member)
#define LOAD(member) .offset = offsetof(struct invocation, workload.member)

static const struct field play_fields[] = {
#define REPLAY_BASE offsetof(struct invocation, workload.replay)
#include "model/replay_rows.h"
	{ .name = NULL },
};

static const struct field how_fields[] = {
	{ .name = "print-plan", .type = FIELD_BOOL, INV(print_plan), .group = "Target",
	  .help = "print the plan this command line amounts to, and run nothing" },
	{ .name = "record", .type = FIELD_TEXT, INV(record),
	  .room = sizeof(((struct invocation *)NULL)->record), .metavar = "FILE", .group = "Target",
	  .help = "write what each request did into this new file, as fio's iolog, and into FILE.csv" },
	{ .name = "offset", .type = FIELD_AMOUNT, .unit = UNIT_BYTES, LOAD(offset), .max = INT64_MAX,
	  .group = "Target", .help = "where the trace's byte 0 lies on the target" },
	{ .name = "iodepth", .alias = "qd", .type = FIELD_U32, .unit = UNIT_COUNT,
	  INV(replay_depth_count), .min = 1, .max = 65536, .group = "How",
	  .help = "most requests in flight; without it 64, fewer where requests are large" },
	{ .name = "pacers", .type = FIELD_U32, .unit = UNIT_COUNT, LOAD(job_count), .min = 1,
	  .max = 1024, .preset = "1", .group = "How",
	  .help = "threads that share the trace: each request is started by the first that is free; "
		  "each wants a CPU and has the depth for its own" },
	{ .name = "runtime", .alias = "for", .type = FIELD_U64, .unit = UNIT_NS, LOAD(runtime_ns),
	  .max = 366ull * 86400 * 1000000000, .group = "How",
	  .help = "end after so long; without it with the trace" },
	{ .name = "direct", .type = FIELD_BOOL, LOAD(direct), .preset = "1", .group = "How",
	  .help = "bypass the page cache" },
	{ .name = "cpus-allowed", .type = FIELD_TEXT, LOAD(cpus),
	  .room = sizeof(((struct workload *)NULL)->cpus), .metavar = "LIST", .group = "How",
	  .help = "CPUs the pacers are pinned to in turn, as in 0-1,3" },
	{ .name = "filter", .type = FIELD_TEXT, LOAD(filter),
	  .room = sizeof(((struct workload *)NULL)->filter), .metavar = "SPEC", .group = "How",
	  .help = "put delays or errors over the target, as in delay:read=1ms" },
	{ .name = NULL },
};

const struct verb verb_replay = {
	.name = "replay",
	.summary = "replay recorded requests: fio's iolog, blktrace, public traces",
	.description =
		"Reads traces of many formats, told by their content, compressed or not; several files are "
		"merged by time, and NAME stands for all NAME.blktrace.N. Without a target it says what is "
		"in a trace. Before anything is opened all of it is read, so that what it would do is "
		"known: writes and discards need the same consent as those of tare run.\n\n"
		"Requests start at the recorded times, whatever came back; latency counts from the moment "
		"each was meant to start, and how late the starts were is in the report. Each time is "
		"worked out from the beginning, so lateness never adds up. On a machine that takes CPUs "
		"away now and then, --pacers=2 has a second thread start what is due in the meantime. "
		"With --timing=none they start "
		"as fast as the depth allows, with --timing=gaps each waits for the one before and then "
		"its recorded pause.\n\n"
		"Formats: iolog, blktrace, blkparse, msr, alibaba, tencent, spc, fiu, csv, mqsim, disksim, "
		"huaicheng, iozone-x, iozone-y, iozone-wol, iozone-rol, table; tare-replay(1) describes "
		"them.\n\n"
		"What a format leaves open - units, what 0 and 1 mean - is asked for and never guessed. "
		"Recorded targets that would meet on the target are refused unless --overlap says "
		"otherwise; so are requests past its end, unless --beyond does.",
	.positional = POSITIONAL_FOREIGN,
	.operands = "TRACE... [TARGET]",
	.tables = { play_fields, how_fields, map_fields, consent_fields },
	.examples = {
		{ "replay job.log null:",
				"fio's iolog at its times; the null target shows how exactly" },
		{ "replay web.csv.gz", "what is in a trace; nothing is run" },
		{ "replay sda /dev/sdb --erase-data=SERIAL",
				"sda.blktrace.0, .1, ... on another drive" },
		{ "replay --timing=none --iodepth=32 tpcc.csv /mnt/data",
				"as fast as 32 at once go" },
		{ "replay --skip=write,trim --speed=2 app.log /dev/sdb",
				"reads alone, twice as fast" },
		{ "replay --map=8:0=/dev/sdb --map=8:16=/dev/sdc run",
				"each recorded device to its own" },
	},
	.run = replay_run,
};
