/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * trace_write - a recording or a trace as fio's iolog version 3, which fio and tare replay, and a
 * table beside it with what that format cannot hold: nanoseconds, latency, how late a request was
 * started, its result, the job. One header, one stream; times count from the first request that
 * is written.
 *
 * A trace that has been written and read again gives the same requests.
 */

#include <stdio.h>

#include "base/err.h"
#include "model/recording.h"
#include "model/trace.h"

struct trace_output {
	FILE *iolog, *table;		/* borrowed; either may be NULL */
	const char *about;		/* of the target, for the table's head: one line */
	/* Of targets, by measurement of a recording; NULL leaves one's requests out. */
	const char *const *names;
	size_t name_count;
};

int trace_write_recording(const struct recording *recording, const struct trace_output *output,
			  struct err *err);
int trace_write(const struct trace *trace, const struct trace_output *output, struct err *err);
