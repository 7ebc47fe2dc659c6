/* SPDX-License-Identifier: MIT */

/* walk_translate - where bytes of a layer lie on the lowest ones, and what follows from it. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trim/walk.h"
#include "trim/walk_parts.h"

uint32_t trim_top_block(const struct trim_report *report)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (report->layers[i].is_block)
			return i;
	return TRIM_TOP;
}

static bool is_leaf(const struct trim_report *report, uint32_t index)
{
	for (uint32_t i = index + 1; i < report->layer_count; i++)
		if (report->layers[i].parent == index)
			return false;
	return true;
}

/* The mapping that holds the byte; NULL beyond all of them. */
static const struct trim_segment *segment_at(const struct trim_report *report, uint32_t layer,
					     uint64_t offset_bytes)
{
	for (uint32_t i = 0; i < report->segment_count; i++) {
		const struct trim_segment *segment = &report->segments[i];

		if (segment->layer == layer && offset_bytes >= segment->start_bytes &&
		    offset_bytes - segment->start_bytes < segment->length_bytes)
			return segment;
	}
	return NULL;
}

struct translation {
	const struct trim_report *report;
	struct trim_pieces *ret;
	uint64_t at_bytes;		/* of the whole span: where the piece in hand begins */
	struct err *err;
};

static int translate(struct translation *t, const struct trim_span *span, uint64_t at_bytes);

/* Pieces that lie behind each other are one. */
static int add_piece(struct translation *t, const struct trim_span *span, uint64_t at_bytes)
{
	struct trim_pieces *ret = t->ret;

	for (uint32_t i = 0; i < ret->count; i++) {
		struct trim_piece *last = &ret->list[i];

		if (last->layer == span->layer &&
		    last->offset_bytes + last->length_bytes == span->offset_bytes &&
		    last->at_bytes + last->length_bytes == at_bytes) {
			last->length_bytes += span->length_bytes;
			return 0;
		}
	}
	if (ret->count == TRIM_PIECES)
		return err_set(t->err, -E2BIG, "the range lies in more than %d pieces",
			       TRIM_PIECES);
	ret->list[ret->count++] = (struct trim_piece){
		.layer = span->layer,
		.offset_bytes = span->offset_bytes,
		.length_bytes = span->length_bytes,
		.at_bytes = at_bytes,
	};
	return 0;
}

static int translate_legs(struct translation *t, const struct trim_segment *segment,
			  const struct trim_span *within, uint64_t at_bytes)
{
	int r = 0;

	for (uint32_t i = 0; i < segment->leg_count && r == 0; i++)
		r = translate(t, &(struct trim_span){
			.layer = segment->legs[i].layer,
			.offset_bytes = segment->legs[i].start_bytes + within->offset_bytes,
			.length_bytes = within->length_bytes,
		}, at_bytes);
	return r;
}

/* within counts from the segment's first byte. */
static int translate_stripes(struct translation *t, const struct trim_segment *segment,
			     struct trim_span within, uint64_t at_bytes)
{
	const uint64_t chunk = segment->chunk_bytes;
	int r = 0;

	while (within.length_bytes > 0 && r == 0) {
		const uint64_t number = within.offset_bytes / chunk;
		const uint64_t inside = within.offset_bytes % chunk;
		const uint64_t part = chunk - inside < within.length_bytes ?
				      chunk - inside : within.length_bytes;
		const uint32_t leg = (uint32_t)(number % segment->leg_count);

		r = translate(t, &(struct trim_span){
			.layer = segment->legs[leg].layer,
			.offset_bytes = segment->legs[leg].start_bytes +
					number / segment->leg_count * chunk + inside,
			.length_bytes = part,
		}, at_bytes);
		within.offset_bytes += part;
		within.length_bytes -= part;
		at_bytes += part;
	}
	return r;
}

static int translate_part(struct translation *t, const struct trim_segment *segment,
			  const struct trim_span *part, uint64_t at_bytes)
{
	const struct trim_layer *layer = &t->report->layers[segment->layer];
	const struct trim_span within = {
		.offset_bytes = part->offset_bytes - segment->start_bytes,
		.length_bytes = part->length_bytes,
	};

	if (segment->how == MAP_UNKNOWN || segment->leg_count == 0)
		return err_set(t->err, -EOPNOTSUPP,
			       "%s (%s) moves blocks about: where they lie below it is not known",
			       layer->name, layer->kind);
	if (segment->how == MAP_STRIPED)
		return translate_stripes(t, segment, within, at_bytes);
	return translate_legs(t, segment, &within, at_bytes);
}

static int translate(struct translation *t, const struct trim_span *span, uint64_t at_bytes)
{
	struct trim_span rest = *span;
	int r = 0;

	if (is_leaf(t->report, span->layer))
		return add_piece(t, span, at_bytes);
	while (rest.length_bytes > 0 && r == 0) {
		const struct trim_segment *segment = segment_at(t->report, rest.layer,
								rest.offset_bytes);
		struct trim_span part = rest;
		uint64_t room;

		if (!segment)
			return err_set(t->err, -ERANGE, "byte %llu of %s is in no mapping",
				       (unsigned long long)rest.offset_bytes,
				       t->report->layers[rest.layer].name);
		room = segment->length_bytes - (rest.offset_bytes - segment->start_bytes);
		if (part.length_bytes > room)
			part.length_bytes = room;
		r = translate_part(t, segment, &part, at_bytes);
		rest.offset_bytes += part.length_bytes;
		rest.length_bytes -= part.length_bytes;
		at_bytes += part.length_bytes;
	}
	return r;
}

int trim_translate(const struct trim_report *report, const struct trim_span *span,
		   struct trim_pieces *ret, struct err *err)
{
	struct translation t = { .report = report, .ret = ret, .err = err };

	ret->count = 0;
	if (span->layer >= report->layer_count ||
	    span->length_bytes > UINT64_MAX / 4 || span->offset_bytes > UINT64_MAX / 4)
		return err_set(err, -ERANGE, "no such range");
	return translate(&t, span, 0);
}

/* --- alignment ---------------------------------------------------------------------------- */

static bool moves_blocks(const struct trim_report *report, uint32_t index)
{
	for (uint32_t i = 0; i < report->segment_count; i++)
		if (report->segments[i].layer == index && report->segments[i].how == MAP_UNKNOWN)
			return true;
	return false;
}

/* Bytes from the first byte of the uppermost device to where this layer's own addresses begin. */
static bool offset_of(const struct trim_report *report, uint32_t index, uint64_t *ret)
{
	uint64_t sum = 0;

	for (uint32_t at = index; at != TRIM_TOP; at = report->layers[at].parent) {
		const uint32_t parent = report->layers[at].parent;

		if (parent == TRIM_TOP || !report->layers[parent].is_block)
			break;
		/* Within a pool, a cache or a parity array an offset says nothing. */
		if (moves_blocks(report, parent))
			return false;
		sum += report->layers[parent].start_bytes;
	}
	*ret = sum;
	return true;
}

static void format_size(uint64_t bytes, char *text, size_t text_bytes)
{
	if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
		snprintf(text, text_bytes, "%llu MiB", (unsigned long long)bytes >> 20);
	else if (bytes >= 1024 && bytes % 1024 == 0)
		snprintf(text, text_bytes, "%llu KiB", (unsigned long long)bytes >> 10);
	else
		snprintf(text, text_bytes, "%llu bytes", (unsigned long long)bytes);
}

static void warn_alignment(struct trim_report *report, const struct trim_layer *layer,
			   uint64_t offset_bytes)
{
	const uint64_t unit = layer->granularity_bytes;
	char at[32], unit_text[32], over[32];

	format_size(offset_bytes, at, sizeof(at));
	format_size(unit, unit_text, sizeof(unit_text));
	format_size((unit - offset_bytes % unit) % unit, over, sizeof(over));
	trim_report_warn(report, "alignment", layer->name,
			 "alignment is bad, which is no failure of discard: what lies above begins "
			 "at %s of %s, whose unit is %s (%s off), so that only ranges of 2 units "
			 "surely hold a whole one; re-partition at a multiple of %s",
			 at, layer->name, unit_text, over, unit_text);
}

/* A unit of its own, not one that it has from those below. */
static bool has_own_unit(const struct trim_report *report, uint32_t index)
{
	for (uint32_t i = index + 1; i < report->layer_count; i++)
		if (report->layers[i].parent == index &&
		    report->layers[i].granularity_bytes >= report->layers[index].granularity_bytes)
			return false;
	/* Sectors are never off. */
	return report->layers[index].granularity_bytes > SECTOR_BYTES;
}

/* The first device right below; TRIM_TOP without one. */
static uint32_t block_below(const struct trim_report *report, uint32_t index)
{
	for (uint32_t i = index + 1; i < report->layer_count; i++)
		if (report->layers[i].parent == index && report->layers[i].is_block)
			return i;
	return TRIM_TOP;
}

/* The lowest device on which it is known where the bytes lie. */
static void name_device(struct trim_report *report)
{
	uint32_t at = trim_top_block(report), below = at;

	for (; below != TRIM_TOP; below = moves_blocks(report, at) ? TRIM_TOP :
					  block_below(report, at))
		at = below;
	if (at != TRIM_TOP)
		snprintf(report->device, sizeof(report->device), "%s", report->layers[at].name);
}

void walk_finish(struct walk *walk)
{
	struct trim_report *report = walk->report;
	bool misaligned = false;
	uint64_t unit = 0;

	for (uint32_t i = 0; i < report->layer_count; i++) {
		struct trim_layer *layer = &report->layers[i];
		uint64_t offset_bytes;

		if (!layer->is_block)
			continue;
		if (layer->granularity_bytes > unit)
			unit = layer->granularity_bytes;
		if (has_own_unit(report, i) && offset_of(report, i, &offset_bytes) &&
		    offset_bytes % layer->granularity_bytes !=
		    layer->alignment_bytes % layer->granularity_bytes) {
			misaligned = true;
			warn_alignment(report, layer, offset_bytes);
		}
	}
	report->unit_bytes = misaligned ? 2 * unit : unit;
	name_device(report);
}
