/* SPDX-License-Identifier: MIT */

/*
 * probe_map - where the test data lies on the devices below, and the proof of it on the guards:
 * a mapping that is wrong would find no data where none ever was, and call that a discard. The
 * pieces themselves stay unread until they are freed: some set-ups do not trim what was read.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "trim/probe_work.h"
#include "trim/walk.h"

/* Below dm-crypt a guard is overwritten and its ciphertext compared: a few are proof enough. */
#define CHANGED_GUARDS 3
#define CHANGED_BYTES (64 * KIB)

static int extents_of_device(struct probe *p, struct err *err)
{
	p->extents.list = calloc(1, sizeof(*p->extents.list));
	if (!p->extents.list)
		return err_errno(err, -ENOMEM, "extents");
	p->extents.list[0].length_bytes = p->target->info.size_bytes;
	p->extents.count = 1;
	return 0;
}

/* One after the other, as if they were one file. */
static int extents_of_files(struct probe *p, struct err *err)
{
	for (uint32_t i = 0; i < p->spread.count; i++) {
		const struct stretch *stretch = &p->spread.stretches[i];
		struct file_extents own = { 0 };
		int r = fiemap_read(p->files[i]->fd, &own, err);

		for (size_t k = 0; k < own.count; k++)
			own.list[k].file_bytes += stretch->at_bytes;
		if (r == 0 && fiemap_join(&p->extents, &own) < 0)
			r = err_errno(err, -ENOMEM, "extents");
		free(own.list);
		if (r < 0)
			return r;
	}
	return 0;
}

/* All that was written must have a place: a hole in the map would look like a discard. */
static bool is_whole(const struct probe *p)
{
	const struct file_extents *e = &p->extents;
	uint64_t at = 0;

	for (size_t i = 0; i < e->count; i++) {
		if (e->list[i].file_bytes > at)
			return false;
		at = e->list[i].file_bytes + e->list[i].length_bytes;
	}
	return at >= p->spread.end_bytes;
}

static int find_extents(struct probe *p, struct err *err)
{
	int r;

	if (!p->is_file)
		return extents_of_device(p, err);
	r = p->by_file ? extents_of_files(p, err) : fiemap_read(p->target->fd, &p->extents, err);
	if (r == 0 && !is_whole(p))
		r = err_set(err, -ENOTSUP, "the file system does not say where all of the file is");
	return r;
}

static int find_place(struct probe *p, struct err *err)
{
	const struct place_wish wish = {
		.report = p->report,
		.extents = &p->extents,
		.btrfs_fd = p->is_btrfs ? p->target->fd : -1,
		.layer = trim_top_block(p->report),
	};
	int r = place_make(&p->place, &wish, err);

	if (r == 0)
		r = place_open(&p->place, err);
	if (r == -EACCES || r == -EPERM)
		err_hint(err, "what the blocks hold once they are free can be read by root only");
	return r;
}

/* Without a place nothing can be read below, but everything else goes on. */
int probe_map(struct probe *p, struct err *err)
{
	int r;

	/* The reference drive is read as it is written; it has nothing below, as memory and
	 * servers. */
	if (p->queue || trim_top_block(p->report) == TRIM_TOP)
		return 0;
	r = find_extents(p, err);
	if (r < 0) {
		probe_failed(p, RUNG_NONE, "extents", err);
		*err = (struct err){ 0 };
		return 0;
	}
	if (p->is_file)
		probe_say(p, RUNG_NONE, "extents", true, "the test file lies in %zu extent%s",
			  p->extents.count, p->extents.count == 1 ? "" : "s");
	r = find_place(p, err);
	if (r < 0) {
		probe_failed(p, RUNG_NONE, "mapping-proven", err);
		place_done(&p->place);
		*err = (struct err){ 0 };
	}
	return 0;
}

/* The guards as they are on the plain level: what was written, in every sector. */
static int compare_guards(struct probe *p, struct sector_count *ret, struct err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < p->spread.count; i++) {
		const struct stretch *stretch = &p->spread.stretches[i];
		const struct place_part part = { stretch->at_bytes, stretch->bytes };

		if (stretch->guard)
			r = place_look(&p->place, &p->place.plain, &part, &p->key, ret, err);
	}
	return r;
}

static bool every_sector_differs(const unsigned char *a, const unsigned char *b, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += SECTOR_BYTES)
		if (memcmp(a + at, b + at, SECTOR_BYTES) == 0)
			return false;
	return true;
}

/*
 * Overwrites a part of a guard with other data and puts the first back: what lies below must
 * change with it. 1 when it did. A file system that writes elsewhere does not pass.
 */
static int guard_shows_below(struct probe *p, const struct place_part *part, struct err *err)
{
	DEFER(defer_free) unsigned char *before = aligned_alloc(4096, CHANGED_BYTES);
	DEFER(defer_free) unsigned char *after = aligned_alloc(4096, CHANGED_BYTES);
	const struct sector_key key = p->key;
	int r;

	if (!before || !after)
		return err_errno(err, -ENOMEM, "guards");
	r = place_read_low(&p->place, part, before, err);
	if (r < 0)
		return r;
	p->key.run[1] = ~key.run[1];
	r = probe_write(p, part->at_bytes, part->length_bytes, err);
	p->key = key;
	if (r == 0)
		r = probe_flush(p, err);
	if (r == 0)
		r = place_read_low(&p->place, part, after, err);
	if (r == 0)
		r = probe_write(p, part->at_bytes, part->length_bytes, err);
	if (r == 0)
		r = probe_flush(p, err);
	return r < 0 ? r : every_sector_differs(before, after, part->length_bytes);
}

static int change_guards(struct probe *p, struct err *err)
{
	const uint32_t step = p->spread.count / CHANGED_GUARDS / 2 * 2;
	int r = 1;

	/* Guards are the even ones. */
	for (uint32_t i = 0; r == 1 && i < p->spread.count; i += step ? step : 2) {
		const struct stretch *stretch = &p->spread.stretches[i];
		struct place_part part = { stretch->at_bytes, stretch->bytes };

		if (!stretch->guard)
			continue;
		if (part.length_bytes > CHANGED_BYTES)
			part.length_bytes = CHANGED_BYTES;
		r = guard_shows_below(p, &part, err);
	}
	return r;
}

static void not_proven(struct probe *p, const char *why)
{
	p->report->mapping = TRIM_NO;
	probe_say(p, RUNG_NONE, "mapping-proven", false,
		  "%s: what is read below is not the file's data", why);
}

static int prove_failed(struct probe *p, struct err *err)
{
	probe_failed(p, RUNG_NONE, "mapping-proven", err);
	*err = (struct err){ 0 };
	return 0;
}

int probe_prove(struct probe *p, struct err *err)
{
	struct sector_count count = { 0 };
	char text[UNITS_TEXT_BYTES], where[96];
	int r;

	if (!p->place.low.count)
		return 0;
	r = compare_guards(p, &count, err);
	if (r < 0)
		return prove_failed(p, err);
	if (count.old != sector_total(&count) || !count.old) {
		not_proven(p, "the guards were not found where the file system says they are");
		return 0;
	}
	if (p->place.changed) {
		r = change_guards(p, err);
		if (r < 0)
			return prove_failed(p, err);
		if (r == 0) {
			not_proven(p, "overwriting a guard changed nothing below the encryption");
			return 0;
		}
	}
	place_describe(&p->place, 0, where, sizeof(where));
	p->placed = true;
	p->report->mapping = TRIM_YES;
	probe_say(p, RUNG_NONE, "mapping-proven", true,
		  "%s of guards read back raw as written, the first at %s%s",
		  units_format_size((double)(sector_total(&count) * SECTOR_BYTES), text), where,
		  p->place.changed ? "; below, they change when overwritten" : "")
		->bytes = sector_total(&count) * SECTOR_BYTES;
	return 0;
}
