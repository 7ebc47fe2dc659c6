/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * watch - the discard counters of every layer, live: what rose since the last look, layer by
 * layer from the top. Needs no rights and sends nothing.
 */

#include "base/clock.h"
#include "base/err.h"
#include "model/trim.h"

/* One layer at which discards were counted since the last look. */
struct trim_watch_line {
	uint64_t at_ns; /* since the beginning, on the clock of the options */
	uint32_t layer; /* an index into the report's layers */
	uint64_t discard_count, discard_bytes,
		discard_ns;		   /* since the last look; ns: spent in them */
	uint64_t total_count, total_bytes; /* since the beginning */
};

struct trim_watch_options {
	const struct clock *clock;
	const volatile int *stop; /* not 0 ends it; NULL */
	uint64_t every_ns;	  /* between looks; 0 = 1 s */
	uint64_t duration_ns;	  /* 0 = until stopped */
	void (*line)(void *ctx, const struct trim_watch_line *line);
	void *ctx;
};

/*
 * Returns 0 when stopped or over. -ENODEV when no layer counts: none has a queue, or their
 * counters are off.
 */
int trim_watch(const struct trim_report *report, const struct trim_watch_options *options,
	       struct err *err);

/* "12.0 s  loop0      64.0 MiB in 4 discards, 1.20 ms each; 128 MiB so far" */
void trim_watch_format(const struct trim_report *report, const struct trim_watch_line *line,
		       char *text, size_t text_bytes);
