/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * trace - recorded requests, in whatever format, into the one form of model/trace.h. The format
 * is told by content. Input may be compressed by gzip or zstd; any amount is read in constant
 * memory.
 *
 *	r = trace_import(&trace, "a.csv,b.csv", &replay, &report, &err);
 *	trace_free(trace);
 *	trace_report_done(&report);
 *
 * Several files are merged by time. "trace" alone stands for trace.blktrace.0 and its siblings.
 * Lines that make no sense are counted; more than 1 % of them are an error, and so is a file
 * that fits no format ("not a trace", with its first bytes). What a format leaves open (units,
 * what 0 and 1 mean) is never guessed: the options of struct replay say it.
 */

#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/replay.h"
#include "model/trace.h"

#define TRACE_BAD_SHOWN 5

/* How reading went. */
struct trace_report {
	const char *format;		/* name of the format; NULL = not known */
	uint64_t line_count;		/* or events, of all files */
	uint64_t bad_count;
	uint64_t blank_count;		/* requests whose kind is left blank: no reply was seen */
	uint64_t unordered_count;	/* earlier than the one before in its file */
	uint64_t lost_count;		/* events that the recorder says it lost */
	struct {
		uint64_t line;
		char file[96], text[96];
		const char *why;
	} bad[TRACE_BAD_SHOWN];
	struct text notes;		/* sentences, each with a newline: readings that were chosen */
};

int trace_import(struct trace **ret, const char *files, const struct replay *replay,
		 struct trace_report *report, struct err *err);
/* The same of one text in memory, for tests and fuzzers; name is what errors call it. */
int trace_import_memory(struct trace **ret, const char *name, const void *data, size_t bytes,
			const struct replay *replay, struct trace_report *report, struct err *err);
void trace_report_done(struct trace_report *report);

/* NULL-terminated names and one-line descriptions, in the order help lists them. */
const char *trace_format_name(size_t index);
const char *trace_format_help(size_t index);
