/* SPDX-License-Identifier: MIT */
#include "trim/probe_place.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "target/target.h"
#include "trim/probe_chunks.h"
#include "trim/walk.h"

#define BUFFER_BYTES MIB
/* Pieces of a stripe of 64 KiB, on two copies: well below TRIM_PIECES. */
#define STEP_BYTES MIB

/*
 * The report as it would be if the machine ended at some layers. What lies below those that turn
 * bytes into others, or that move them about, is cut off: translation ends there.
 */

static bool changes_bytes(const struct trim_layer *layer)
{
	return strcmp(layer->kind, "crypt") == 0 || strcmp(layer->kind, "integrity") == 0;
}

/* A backing file lies elsewhere in pieces of its own; pools and caches move blocks. */
static bool ends_here(const struct trim_report *report, uint32_t index)
{
	bool known = false;

	for (uint32_t i = 0; i < report->segment_count; i++) {
		const struct trim_segment *segment = &report->segments[i];

		if (segment->layer != index)
			continue;
		if (segment->how == MAP_UNKNOWN)
			return true;
		for (uint32_t leg = 0; leg < segment->leg_count; leg++)
			if (!report->layers[segment->legs[leg].layer].is_block)
				return true;
		known = true;
	}
	return !known;
}

static void cut_below(struct trim_report *report, uint32_t index)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < report->segment_count; i++)
		if (report->segments[i].layer != index)
			report->segments[kept++] = report->segments[i];
	report->segment_count = kept;
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (report->layers[i].parent == index)
			report->layers[i].parent = TRIM_TOP;
}

static struct trim_report *cut_new(const struct trim_report *report, bool plain)
{
	struct trim_report *cut = malloc(sizeof(*cut));

	if (!cut)
		return NULL;
	*cut = *report;
	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct trim_layer *layer = &report->layers[i];

		if (layer->is_block && (ends_here(report, i) || (plain && changes_bytes(layer))))
			cut_below(cut, i);
	}
	return cut;
}

static int add(struct place_level *level, const struct place_range *range)
{
	struct place_range *last = level->count ? &level->list[level->count - 1] : NULL;

	if (last && last->layer == range->layer &&
	    last->file_bytes + last->length_bytes == range->file_bytes &&
	    last->device_bytes + last->length_bytes == range->device_bytes) {
		last->length_bytes += range->length_bytes;
		return 0;
	}
	if ((level->count & (level->count - 1)) == 0) {
		const size_t room = level->count ? level->count * 2 : 1;
		struct place_range *more = realloc(level->list, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		level->list = more;
	}
	level->list[level->count++] = *range;
	return 0;
}

/* A run of the file that lies in one piece on a layer. */
static int add_run(struct place_level *level, const struct trim_report *report,
		   const struct place_range *run, struct err *err)
{
	DEFER(defer_free) struct trim_pieces *pieces = malloc(sizeof(*pieces));
	int r = pieces ? 0 : -ENOMEM;

	if (r < 0)
		return err_errno(err, r, "addresses");
	for (uint64_t done = 0; done < run->length_bytes; done += STEP_BYTES) {
		const uint64_t left = run->length_bytes - done;
		const struct trim_span span = { run->layer, run->device_bytes + done,
						left < STEP_BYTES ? left : STEP_BYTES };

		r = trim_translate(report, &span, pieces, err);
		for (uint32_t i = 0; r == 0 && i < pieces->count; i++) {
			const struct trim_piece *piece = &pieces->list[i];

			r = add(level, &(struct place_range){ .file_bytes = run->file_bytes + done +
									    piece->at_bytes,
							      .device_bytes = piece->offset_bytes,
							      .length_bytes = piece->length_bytes,
							      .layer = piece->layer });
			if (r < 0)
				err_errno(err, r, "addresses");
		}
		if (r < 0)
			return r;
	}
	return 0;
}

struct volumes { /* of btrfs */
	const struct place_wish *wish;
	struct chunks chunks;
};

static int layer_of_device(const struct volumes *v, uint64_t device_id, uint32_t *ret,
			   struct err *err)
{
	const struct trim_report *report = v->wish->report;
	char name[64];

	if (chunks_device(v->wish->btrfs_fd, device_id, name, sizeof(name)) < 0)
		return err_set(err, -ENODEV, "device %llu of btrfs has no name here",
			       (unsigned long long)device_id);
	for (uint32_t i = 0; i < report->layer_count; i++) {
		if (strcmp(report->layers[i].name, name) == 0) {
			*ret = i;
			return 0;
		}
	}
	return err_set(err, -ENODEV, "%s of btrfs is not among the layers", name);
}

static int add_btrfs(struct place_level *level, const struct volumes *v,
		     const struct trim_report *report, const struct file_extent *extent,
		     struct err *err)
{
	uint64_t done = 0;

	while (done < extent->length_bytes) {
		struct chunk_places at;
		int r = chunks_find(&v->chunks, extent->physical_bytes + done, &at, err);

		if (r == 0 && at.bytes > extent->length_bytes - done)
			at.bytes = extent->length_bytes - done;
		for (uint32_t i = 0; r == 0 && i < at.count; i++) {
			struct place_range run = { .file_bytes = extent->file_bytes + done,
						   .device_bytes = at.copies[i].offset_bytes,
						   .length_bytes = at.bytes };

			r = layer_of_device(v, at.copies[i].device_id, &run.layer, err);
			if (r == 0)
				r = add_run(level, report, &run, err);
		}
		if (r < 0)
			return r;
		done += at.bytes;
	}
	return 0;
}

static int make_level(struct place_level *ret, const struct volumes *v,
		      const struct trim_report *report, struct err *err)
{
	const struct place_wish *wish = v->wish;
	int r = 0;

	for (size_t i = 0; r == 0 && i < wish->extents->count; i++) {
		const struct file_extent *extent = &wish->extents->list[i];
		const struct place_range run = { extent->file_bytes, extent->physical_bytes,
						 extent->length_bytes, wish->layer };

		if (wish->btrfs_fd >= 0)
			r = add_btrfs(ret, v, report, extent, err);
		else
			r = add_run(ret, report, &run, err);
	}
	return r;
}

static bool is_same(const struct place_level *a, const struct place_level *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->list[i].layer != b->list[i].layer ||
		    a->list[i].device_bytes != b->list[i].device_bytes)
			return false;
	return true;
}

static int make_levels(struct place *place, const struct volumes *v, struct err *err)
{
	DEFER(defer_free) struct trim_report *low = cut_new(v->wish->report, false);
	DEFER(defer_free) struct trim_report *plain = cut_new(v->wish->report, true);
	int r;

	if (!low || !plain || !place->buffer)
		return err_errno(err, -ENOMEM, "addresses");
	r = make_level(&place->low, v, low, err);
	if (r == 0)
		r = make_level(&place->plain, v, plain, err);
	if (r < 0)
		return r;
	place->changed = !is_same(&place->low, &place->plain);
	return 0;
}

int place_make(struct place *ret, const struct place_wish *wish, struct err *err)
{
	struct volumes v = { .wish = wish };
	int r = 0;

	*ret = (struct place){ .report = wish->report,
			       .buffer = aligned_alloc(4096, BUFFER_BYTES) };
	if (wish->btrfs_fd >= 0)
		r = chunks_read(wish->btrfs_fd, &v.chunks, err);
	if (r == 0)
		r = make_levels(ret, &v, err);
	free(v.chunks.list);
	if (r < 0)
		place_done(ret);
	return r;
}

void place_done(struct place *place)
{
	for (uint32_t i = 0; i < TRIM_LAYERS; i++)
		target_close(place->devices[i]);
	free(place->low.list);
	free(place->plain.list);
	free(place->buffer);
	*place = (struct place){ 0 };
}

static int open_device(struct place *place, uint32_t layer, struct err *err)
{
	char path[128] = "/dev/";
	struct target_request request = { .spec = path };
	char *end = stpncpy(path + 5, place->report->layers[layer].name, sizeof(path) - 6);

	/* As udev does: a slash in a kernel name is written "!" in sysfs. */
	for (char *c = path; c < end; c++)
		if (*c == '!')
			*c = '/';
	return place->devices[layer] ? 0 : target_open(&place->devices[layer], &request, err);
}

int place_open(struct place *place, struct err *err)
{
	const struct place_level *levels[] = { &place->low, &place->plain };

	for (size_t l = 0; l < ARRAY_COUNT(levels); l++) {
		for (size_t i = 0; i < levels[l]->count; i++) {
			const int r = open_device(place, levels[l]->list[i].layer, err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int read_device(struct place *place, const struct place_range *range, void *buffer,
		       struct err *err)
{
	const struct target *target = place->devices[range->layer];
	const ssize_t got =
		pread(target->fd, buffer, range->length_bytes, (off_t)range->device_bytes);

	if (got != (ssize_t)range->length_bytes)
		return err_errno(err, got < 0 ? -errno : -EIO, "%s: read at %llu",
				 target->info.spec, (unsigned long long)range->device_bytes);
	return 0;
}

/* The part of a range that lies in the part of the file: false when there is none. */
static bool clip(const struct place_range *range, const struct place_part *part,
		 struct place_range *ret)
{
	const uint64_t from =
		range->file_bytes > part->at_bytes ? range->file_bytes : part->at_bytes;
	const uint64_t a = range->file_bytes + range->length_bytes;
	const uint64_t b = part->at_bytes + part->length_bytes;
	const uint64_t to = a < b ? a : b;

	if (from >= to)
		return false;
	*ret = (struct place_range){ from, range->device_bytes + (from - range->file_bytes),
				     to - from, range->layer };
	return true;
}

int place_look(struct place *place, const struct place_level *level, const struct place_part *part,
	       const struct sector_key *key, struct sector_count *ret, struct err *err)
{
	for (size_t i = 0; i < level->count; i++) {
		struct place_range range;

		if (!clip(&level->list[i], part, &range))
			continue;
		while (range.length_bytes > 0) {
			struct place_range step = range;
			int r;

			if (step.length_bytes > BUFFER_BYTES)
				step.length_bytes = BUFFER_BYTES;
			r = read_device(place, &step, place->buffer, err);
			if (r < 0)
				return r;
			sector_add(key, step.file_bytes, place->buffer, step.length_bytes, ret);
			range.file_bytes += step.length_bytes;
			range.device_bytes += step.length_bytes;
			range.length_bytes -= step.length_bytes;
		}
	}
	return 0;
}

int place_look_through(struct place *place, const struct place_part *part,
		       const struct sector_key *key, struct sector_count *ret, struct err *err)
{
	struct sector_count low = { 0 }, plain = { 0 };
	uint64_t old;
	int r = place_look(place, &place->low, part, key, &low, err);

	if (r < 0)
		return r;
	if (place->changed && low.other) {
		r = place_look(place, &place->plain, part, key, &plain, err);
		if (r < 0)
			return r;
		/* A mirror below has more copies of each sector than there are above. */
		old = plain.old * sector_total(&low) / sector_total(&plain);
		old = old < low.other ? old : low.other;
		low.old += old;
		low.other -= old;
	}
	ret->zeros += low.zeros;
	ret->ones += low.ones;
	ret->old += low.old;
	ret->other += low.other;
	return 0;
}

int place_read_low(struct place *place, const struct place_part *part, void *buffer,
		   struct err *err)
{
	for (size_t i = 0; i < place->low.count; i++) {
		struct place_range range;

		if (!clip(&place->low.list[i], part, &range))
			continue;
		const int r = read_device(
			place, &range, (char *)buffer + (range.file_bytes - part->at_bytes), err);

		if (r < 0)
			return r;
	}
	return 0;
}

uint64_t place_whole_units(const struct place *place, const struct place_part *part,
			   uint64_t unit_bytes)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < place->low.count; i++) {
		struct place_range range;
		uint64_t shift, from, to;

		if (!clip(&place->low.list[i], part, &range))
			continue;
		/* Units begin so far into the device. */
		shift = place->report->layers[range.layer].alignment_bytes % unit_bytes;
		from = (range.device_bytes + unit_bytes - shift + unit_bytes - 1) / unit_bytes;
		to = (range.device_bytes + range.length_bytes + unit_bytes - shift) / unit_bytes;
		bytes += to > from ? (to - from) * unit_bytes : 0;
	}
	return bytes;
}

void place_describe(const struct place *place, uint64_t at_bytes, char *text, size_t text_bytes)
{
	const struct place_part part = { at_bytes, 1 };

	for (size_t i = 0; i < place->plain.count; i++) {
		struct place_range range;

		if (!clip(&place->plain.list[i], &part, &range))
			continue;
		snprintf(text, text_bytes, "byte %llu of %s",
			 (unsigned long long)range.device_bytes,
			 place->report->layers[range.layer].name);
		return;
	}
	snprintf(text, text_bytes, "byte %llu of the test file", (unsigned long long)at_bytes);
}
