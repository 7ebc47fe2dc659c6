/* SPDX-License-Identifier: MIT */
#include "engine/lines.h"

#include <assert.h>

#include "base/units.h"

void lines_init(struct lines *lines, const struct workload *workload,
		const struct engine_range *range, uint64_t seed)
{
	uint32_t slot = 0;

	*lines = (struct lines){ 0 };
	if (!workload->lines.count)
		return;
	lines->lines = &workload->lines;
	lines->start_bytes = range->offset_bytes;
	lines->end_bytes = range->offset_bytes + range->size_bytes;
	lines->align_bytes = range->align_bytes;
	lines->position_bytes = lines->start_bytes;
	for (uint32_t i = 0; i < lines->lines->count; i++)
		for (uint32_t k = 0; k < lines->lines->lines[i].weight; k++)
			lines->line_of_slot[slot++] = (uint8_t)i;
	assert(slot == 100);
	random_init(&lines->random, seed);
}

static bool draw(struct lines *lines, uint32_t share_ppm)
{
	return share_ppm && (share_ppm >= PPM || random_below(&lines->random, PPM) < share_ppm);
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static uint64_t place(struct lines *lines, const struct access_line *line, uint32_t length_bytes)
{
	const uint64_t align = line->align_bytes ? line->align_bytes : lines->align_bytes;
	uint64_t at;

	if (draw(lines, line->random_ppm)) {
		const uint64_t first = round_up(lines->start_bytes, align);
		const uint64_t last = (lines->end_bytes - length_bytes) / align * align;

		at = first + random_below(&lines->random, (last - first) / align + 1) * align;
	} else {
		at = round_up(lines->position_bytes, line->align_bytes ? line->align_bytes : 1);
		if (at + length_bytes > lines->end_bytes)
			at = round_up(lines->start_bytes, align);
	}
	lines->position_bytes = at + length_bytes;
	return at;
}

void lines_next(struct lines *lines, struct lines_request *ret)
{
	const struct access_line *line;

	ret->delay_ns = 0;
	if (lines->burst_left == 0) {
		lines->current = lines->line_of_slot[random_below(&lines->random, 100)];
		line = &lines->lines->lines[lines->current];
		lines->burst_left = line->burst_count ? line->burst_count : 1;
		ret->delay_ns = (uint64_t)line->delay_us * 1000;
	}
	line = &lines->lines->lines[lines->current];
	lines->burst_left--;
	ret->line = line;
	ret->length_bytes = line->bytes;
	ret->kind = draw(lines, line->read_ppm) ? IO_READ : IO_WRITE;
	ret->offset_bytes = place(lines, line, line->bytes);
}

void lines_reply(struct lines *lines, const struct access_line *line, enum io_kind kind,
		 struct lines_request *ret)
{
	*ret = (struct lines_request){
		.kind = kind == IO_READ ? IO_WRITE : IO_READ,
		.length_bytes = line->reply_bytes,
		.line = line,
	};
	ret->offset_bytes = place(lines, line, line->reply_bytes);
}
