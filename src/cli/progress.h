/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * progress - what is going on, on stderr: a live line when that is a terminal, else a line
 * per phase, or nothing. Also the summary of what is about to be done to the target, and,
 * since it is known then, the header of the report on stdout.
 *
 * Ownership: progress_init then progress_done, which clears the live line. The observer and
 * the plan are borrowed in between.
 */

#include "cli/cli.h"
#include "measure/measure.h"

struct progress {
	const struct plan *plan;
	bool header;			/* print the report's header on stdout */
	struct report_style style;	/* of stdout */
	enum { PROGRESS_SILENT, PROGRESS_LINES, PROGRESS_LIVE } how;
	bool utf8;
	uint32_t columns;		/* of stderr */
	bool live_shown;		/* there is a live line to clear */
	char name[64];
	size_t index, count;
	uint32_t target_count;		/* shown so far */
};

void progress_init(struct progress *progress, const struct invocation *inv,
		   const struct plan *plan);
void progress_done(struct progress *progress);

/* To be put into measure_options. */
struct measure_observer progress_observer(struct progress *progress);

/* "not destructive: ..." or "DESTRUCTIVE: ...": one line without its newline. */
void progress_summary(const struct plan *plan, uint32_t target_index,
		      const struct target_info *info, struct text *ret);
