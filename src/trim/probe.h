/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * probe - the evidence of `tare trim`, live: data of our own is written, its blocks are freed and
 * discarded, and then it is looked at whether the discards arrived at each layer (rung 2) and
 * whether they did something (rung 3). The report comes with its layers filled (trim/walk) and
 * goes on to trim/judge.
 *
 * On a path everything happens in one unnamed test file: pieces of each size that are freed by
 * punching holes, between guards that stay. Where holes cannot be punched (FAT), each piece and
 * each guard is a file of its own, and pieces are freed by deleting them. Where a piece lies on the
 *lowest readable devices is proven on the guards; the pieces themselves are not read before they
 *are freed. On a device or the reference drive the same is done in ranges of it, through the gate
 *of target_open, and without consent nothing is done at all. Where the kernel's discard of a whole
 *drive fails or does nothing, the drive is asked by its own command.
 *
 * Whatever could not be done is evidence with its errno: what the probe lacks the right to, what
 * the file system refuses, what would need consent. It fails only where nothing can be said:
 * -ENOMEM, a place that is gone, or a gate that stays shut in spite of the consent given.
 *
 * Codes of the evidence, in the order in which they come:
 *	consent, test-file, extents, mapping-proven, counters-quiet, kernel-log, first-discard,
 *	guards-written, punch-hole, online-discard, fitrim, discard, read-back, delivered, space,
 *	asked-directly, guards
 *
 * Threads: one. Files and devices opened are closed at the end; an unnamed file needs no reaping,
 * and a name that had to be given is noted for the next start (target/testfile.h).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "model/trim.h"

/* Zero is right for every member but the clock. */
struct trim_probe_options {
	const struct clock *clock; /* the virtual one of a reference drive; else real */
	const volatile int *stop;  /* not 0: end soon, with what was seen so far; NULL */
	void (*progress)(void *ctx, const char *doing, double done_ratio); /* NULL */
	void *progress_ctx;
	const char *erase_serial; /* consent to write the device named, as target_request's */
	const uint64_t *sizes; /* of the pieces, ascending, at most TRIM_SIZES; NULL = 4k to 64m */
	uint32_t size_count;
	uint64_t budget_bytes; /* most that is written; 0 = 256 MiB; never over 10 % of free */
	const uint64_t *read_after_ns; /* when to read back, rising; NULL = at once, 1, 5, 10 s */
	uint32_t read_after_count;
	uint64_t quiet_ns;  /* counters rest when nothing rose for so long; 0 = 1 s */
	uint64_t online_ns; /* what a discarding mount gets before FITRIM; 0 = 10 s */
	bool by_deletion;   /* files for pieces, although holes could be punched */
	uint64_t seed;	    /* of the data; 0 = drawn */
};

/*
 * Whether the drive can be asked past the kernel's queue: the report is about a whole drive, which
 * announces a command for it. Then a probe with consent is of use even where the kernel announces
 * no discard.
 */
bool trim_probe_can_ask(const struct trim_report *report);

int trim_probe(struct trim_report *report, const struct trim_probe_options *options,
	       struct err *err);
