/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * counts - the kernel's discard counters of every layer of a report. They go on counting over
 * detaching and attaching, and others discard, too: always take differences.
 */

#include "base/clock.h"
#include "model/trim.h"

struct count {
	bool known;					   /* the layer counts */
	uint64_t discard_count, discard_bytes, discard_ns; /* ns: time spent in them, added up */
	uint64_t write_bytes;
};

struct counts {
	struct count layers[TRIM_LAYERS];
};

/* "sda1", "cciss!c0d0" as the kernel has it. True and filled when it counts. */
bool count_read(const char *name, struct count *ret);
void counts_read(const struct trim_report *report, struct counts *ret);

struct counts_wait {
	const struct clock *clock;
	const volatile int *stop;
	uint64_t quiet_ns; /* no discard counter of a topmost layer rises for so long */
	uint64_t limit_ns; /* give up then */
};

/* Until they rest; *ret is what they say then. False when they did not. */
bool counts_wait_quiet(const struct trim_report *report, const struct counts_wait *wait,
		       struct counts *ret);

/* The first layer from the top that counts; TRIM_TOP when none does. */
uint32_t counts_top(const struct trim_report *report, const struct counts *counts);
/* What was discarded at that layer between the two. */
uint64_t counts_rise(const struct counts *before, const struct counts *after, uint32_t layer);
/* The longest mean time of one discard at any layer between the two, in ns; 0 = none. */
uint64_t counts_slowest(const struct trim_report *report, const struct counts *before,
			const struct counts *after);
