/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * packed - a histogram without its empty buckets: one second of a run takes a few
 * hundred bytes to a few KiB instead of 18 KiB, so that a day of seconds can be kept.
 *
 * Ownership: one malloc; free() gives it back. Immutable once made.
 */

#include <stdint.h>

#include "stats/histogram.h"

struct histogram_packed {
	uint64_t count;
	uint64_t overflow_count;
	uint64_t min_ns, max_ns;
	uint64_t sum_ns;
	uint32_t entry_count;
	uint64_t entries[];	/* bucket << 48 | count, in order of buckets */
};

/* NULL when h is empty or memory ran out. */
struct histogram_packed *histogram_pack(const struct histogram *h);
void histogram_merge_packed(struct histogram *into, const struct histogram_packed *from);
