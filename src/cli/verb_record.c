/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"
#include "cli/cli.h"
#include "cli/record.h"
#include "cli/stop.h"
#include "cli/traces.h"
#include "target/blocktrace.h"

/* Events go by the device's numbers; the reader knows it by its path. */
static void name_device(struct trace *trace, const char *number, const char *path)
{
	for (uint32_t i = 0; i < trace->stream_count; i++)
		if (strcmp(trace->streams[i].name, number) == 0)
			snprintf(trace->streams[i].name, sizeof(trace->streams[i].name), "%.*s",
				 (int)sizeof(trace->streams[i].name) - 1, path);
}

static int write_files(struct record_files *files, const struct trace *trace, const char *device,
		       struct err *err)
{
	struct text about = TEXT_INIT;
	const char *names[] = { device };
	int r;

	text_add(&about, "target %s, by the kernel's block tracing", device);
	r = trace_write(trace,
			&(struct trace_output){
				.iolog = files->iolog,
				.table = files->table,
				.about = text_string(&about),
				.names = names,
				.name_count = 1,
			},
			err);
	text_done(&about);
	return r;
}

/* Events in a file of ours, into the two files of a recording. */
static int convert(const struct invocation *inv, int fd, const struct blocktrace_result *traced,
		   struct record_files *files, struct text *ret, struct err *err)
{
	struct trace_report report;
	struct trace *trace = NULL;
	struct replay replay;
	char path[64];
	int r;

	replay_init(&replay);
	strcpy(replay.format, "blktrace");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = trace_import(&trace, path, &replay, &report, err);
	if (r == 0) {
		/* Events of several CPUs lie in one file: that they interleave says nothing. */
		report.unordered_count = 0;
		report.lost_count = traced->dropped_count;
		name_device(trace, traced->device_number, inv->words[0]);
		r = write_files(files, trace, inv->words[0], err);
	}
	if (r == 0 && inv->json)
		traces_json(trace, &report, ret);
	else if (r == 0)
		traces_text(trace, &report, ret);
	if (r == 0 && !inv->json && traced->dropped_count)
		text_add(ret, "note      the kernel had no room for %" PRIu64 " events: this is not all that "
			      "happened\n",
			 traced->dropped_count);
	trace_report_done(&report);
	trace_free(trace);
	return r;
}

static void say_ready(void *ctx)
{
	const struct invocation *inv = ctx;

	if (inv->progress != PROGRESS_NONE)
		fprintf(stderr, "%s: recording%s\n", inv->words[0],
			inv->record_ns ? "" : ", until Ctrl-C");
}

static int record(struct invocation *inv, struct record_files *files, struct text *ret,
		  struct err *err)
{
	DEFER(defer_close) int fd = sorter_file(err);
	struct blocktrace_result traced;
	int r = fd < 0 ? fd : 0;

	if (r == 0)
		r = blocktrace_run(&(struct blocktrace_request){
					   .device = inv->words[0],
					   .for_ns = inv->record_ns,
					   .stop = stop_on_signals(),
					   .fd = fd,
					   .ready = say_ready,
					   .ctx = inv,
				   },
				   &traced, err);
	if (r == 0 && traced.event_count == 0)
		r = err_set(err, -ENODATA, "nothing was asked of %s meanwhile", inv->words[0]);
	return r < 0 ? r : convert(inv, fd, &traced, files, ret, err);
}

static int record_run(struct invocation *inv)
{
	struct record_files files;
	struct text text = TEXT_INIT;
	struct err err = { 0 };
	int r, exit_code;

	if (inv->word_count != 2) {
		err_set(&err, -EINVAL, "which device, and into which file?");
		err_hint(&err, "tare record DEVICE FILE");
		return invocation_fail(inv, EXIT_USAGE, &err);
	}
	r = record_open(&files, inv->words[1], &err);
	if (r == 0) {
		r = record(inv, &files, &text, &err);
		record_close(&files, r == 0);
	}
	exit_code = r < 0 ? invocation_fail(inv, exit_of_refusal(r), &err) : print_text(inv, &text);
	text_done(&text);
	return exit_code;
}

static const struct field record_fields[] = {
	{ .name = "for", .alias = "runtime", .type = FIELD_U64, .unit = UNIT_NS,
	  .offset = offsetof(struct invocation, record_ns), .min = 1,
	  .max = 366ull * 86400 * 1000000000, .group = "Record",
	  .help = "end after so long; without it with Ctrl-C" },
	{ .name = NULL },
};

const struct verb verb_record = {
	.name = "record",
	.summary = "record what others ask of a block device, to be replayed",
	.description =
		"Takes down the requests to a device as the kernel's block tracing sees them (root), and "
		"writes two new files: FILE, fio's iolog version 3, which tare replay and fio replay, and "
		"FILE.csv with what that cannot hold: nanoseconds, latencies and flags. The device is only "
		"looked at.\n\n"
		"Requests are those issued to the driver; where a device has no driver's queue of its own "
		"(device mapper, md), those queued. What tare itself does is recorded by --record of tare "
		"run, on any target and without root.",
	.positional = POSITIONAL_WORDS,
	.operands = "DEVICE FILE",
	.tables = { record_fields },
	.examples = {
		{ "record --for=1m /dev/nvme0n1 database.log", "a minute of what goes on" },
		{ "replay database.log /dev/nvme1n1 --erase-data=SERIAL",
				"the same on another drive" },
		{ "run --rw=randrw --runtime=10s --record=own.log .", "tare's own requests" },
	},
	.run = record_run,
};
