/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * seeds - the figures published from 2008 to 2010 that started all this, measured again by the
 * articles' procedures on the reference drives of the time: through the engine, as on any
 * drive. Nothing here knows what should come out but the table that compares.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

enum seed_level { SEED_SHAPE, SEED_RATIO, SEED_ABSOLUTE }; /* levels 1, 2 and 3 */

struct seed_row {
	const char *drive, *what, *source;
	enum seed_level level;
	const char *unit;		      /* "MB/s", "MiB/s", "x" */
	double published;		      /* in that unit */
	double low, high;		      /* what the level allows */
	double median, range_low, range_high; /* ours, over the seeds */
	bool met;
};

struct seeds {
	struct seed_row *rows;
	size_t row_count;
	uint32_t seed_count;
};

/*
 * Every procedure with seeds 1 .. seed_count (6 to 64). range is the interval of the median
 * at 95 % at least, by order statistics. The caller's to seeds_done.
 */
int seeds_run(struct seeds *ret, uint32_t seed_count, struct err *err);
void seeds_done(struct seeds *seeds);

/* The table with its explanation, in Markdown. */
void seeds_markdown(const struct seeds *seeds, struct text *ret);
