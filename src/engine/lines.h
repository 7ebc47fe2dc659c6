/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * lines - requests as IOMeter's access lines ask for them. For each burst a line is drawn by its
 * weight; each of its requests is a read by the line's share, and goes to a random place by
 * the line's other share, or else on from where the last one ended.
 *
 * Random starts are uniform over the multiples of the line's alignment, counted from byte 0 of the
 * target, from which the request fits into the range; 0 stands for range.align_bytes (the device's
 * page). A request that goes on starts at the next multiple of the line's alignment, right where
 * the last one ended when that is 0; at the range's first when it would not fit.
 *
 * Threads: one worker's own. Plain data; no done. Deterministic from its seed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "engine/engine.h"
#include "target/io.h"

struct lines {
	const struct access_lines *lines;	/* NULL = there are none */
	uint64_t start_bytes, end_bytes;	/* of the range */
	uint32_t align_bytes;
	uint8_t line_of_slot[100];
	uint32_t current;
	uint32_t burst_left;
	uint64_t position_bytes;	/* where the last request ended */
	struct random random;
};

struct lines_request {
	enum io_kind kind;
	uint32_t length_bytes;
	uint64_t offset_bytes;
	uint64_t delay_ns;		/* before it starts */
	const struct access_line *line;
};

void lines_init(struct lines *lines, const struct workload *workload,
		const struct engine_range *range, uint64_t seed);
void lines_next(struct lines *lines, struct lines_request *ret);

/* What answers a request of the line that was of this kind. */
void lines_reply(struct lines *lines, const struct access_line *line, enum io_kind kind,
		 struct lines_request *ret);
