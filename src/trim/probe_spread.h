/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * spread - where in the test file, or on the device, pieces of which size lie, and the guards
 * between them. Every piece has a guard right before and right behind it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/trim.h"

struct stretch {
	uint64_t at_bytes, bytes;
	bool guard;	     /* stays; else it is freed */
	bool first;	     /* freed before all others, alone */
	bool freed;	     /* by now; whoever frees it says so */
	uint32_t size_index; /* into the sizes, of a piece */
};

#define SPREAD_STRETCHES 128
#define SPREAD_REGIONS 3

struct spread {
	struct stretch stretches[SPREAD_STRETCHES]; /* by offset within each region, one region
						       after the other */
	uint32_t count;
	uint64_t end_bytes; /* of the last */
	uint64_t sizes[TRIM_SIZES];
	uint32_t size_count;
	uint64_t written_bytes, freed_bytes;
};

struct spread_wish {
	const uint64_t *sizes; /* ascending; NULL = 4 KiB to 64 MiB */
	uint32_t size_count;
	uint64_t budget_bytes; /* most to be written; the largest sizes are left out for it */
	uint64_t unit_bytes;   /* pieces and guards are multiples of it, and lie on them */
	uint64_t
		need_bytes; /* some piece, the first one too, is to be so large that all must act */
	uint64_t span_bytes; /* of a device: the regions lie across it; 0 = one after the other */
};

/* -ENOSPC when not even the smallest size fits, or none of need_bytes. */
int spread_make(struct spread *ret, const struct spread_wish *wish, struct err *err);
