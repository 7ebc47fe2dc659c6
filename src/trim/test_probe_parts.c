/* SPDX-License-Identifier: MIT */

/* The parts of the probe that need no device: test data, where pieces lie, whole units, extents. */

#include <errno.h>
#include <linux/fiemap.h>

#include "base/check.h"
#include "base/defer.h"
#include "base/units.h"
#include "trim/probe_fiemap.h"
#include "trim/probe_place.h"
#include "trim/probe_sector.h"
#include "trim/probe_spread.h"
#include "trim/watch.h"

/* --- test data --- */

static const struct sector_key key = { { 1, 2 } }, other_key = { { 1, 3 } };

static void a_sector_is_known_by_run_and_place(void)
{
	unsigned char sector[SECTOR_BYTES];

	sector_fill(&key, 4096, sector, sizeof(sector));
	CHECK_EQ(sector_look(&key, 4096, sector), CONTENT_OLD);
	CHECK_EQ(sector_look(&key, 4608, sector), CONTENT_OTHER);
	CHECK_EQ(sector_look(&other_key, 4096, sector), CONTENT_OTHER);
	sector[SECTOR_BYTES - 1] ^= 1;
	CHECK_EQ(sector_look(&key, 4096, sector), CONTENT_OTHER);
}

static void blank_is_all_of_it(void)
{
	unsigned char sector[SECTOR_BYTES];

	memset(sector, 0, sizeof(sector));
	CHECK_EQ(sector_look(&key, 0, sector), CONTENT_ZEROS);
	sector[300] = 1;
	CHECK_EQ(sector_look(&key, 0, sector), CONTENT_OTHER);
	memset(sector, 0xff, sizeof(sector));
	CHECK_EQ(sector_look(&key, 0, sector), CONTENT_ONES);
	sector[511] = 0;
	CHECK_EQ(sector_look(&key, 0, sector), CONTENT_OTHER);
}

static void sectors_are_counted_by_what_they_hold(void)
{
	unsigned char data[5 * SECTOR_BYTES];
	struct sector_count count = { 0 };

	sector_fill(&key, 0, data, sizeof(data));
	memset(data + SECTOR_BYTES, 0, SECTOR_BYTES);
	memset(data + 2 * SECTOR_BYTES, 0xff, SECTOR_BYTES);
	data[3 * SECTOR_BYTES]++;
	sector_add(&key, 0, data, sizeof(data), &count);
	CHECK_EQ(count.old, 2);
	CHECK_EQ(count.zeros, 1);
	CHECK_EQ(count.ones, 1);
	CHECK_EQ(count.other, 1);
	CHECK_EQ(sector_total(&count), 5);
	CHECK_EQ(sector_most(&count), CONTENT_OLD);
	CHECK_EQ(sector_most(&(struct sector_count){ 0 }), CONTENT_NOT_READ);
}

/* --- where pieces lie --- */

static const struct spread_wish plain = { .budget_bytes = 256 * MIB, .unit_bytes = 4096 };

/* No gap, no overlap, guards on both sides of every piece. */
static void check_neighbours(const struct spread *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct stretch *a = &s->stretches[i];

		CHECK(a->bytes > 0 && a->at_bytes % 4096 == 0 && a->bytes % 4096 == 0);
		if (a->guard)
			continue;
		CHECK(i > 0 && s->stretches[i - 1].guard && i + 1 < s->count &&
		      s->stretches[i + 1].guard);
		CHECK_EQ(s->stretches[i - 1].at_bytes + s->stretches[i - 1].bytes, a->at_bytes);
		CHECK_EQ(s->stretches[i + 1].at_bytes, a->at_bytes + a->bytes);
		CHECK(s->stretches[i - 1].bytes >= 64 * KIB &&
		      s->stretches[i + 1].bytes >= 64 * KIB);
	}
}

static void every_piece_lies_between_guards(void)
{
	struct spread s;

	CHECK_EQ(spread_make(&s, &plain, NULL), 0);
	CHECK_EQ(s.size_count, 8);
	CHECK_EQ(s.sizes[7], 64 * MIB);
	/* 6 each of 4, 16 and 64 KiB, 3 each of 256 KiB to 16 MiB, one of 64 MiB. */
	CHECK_EQ(s.freed_bytes, 6 * 84 * KIB + 3 * (256 * KIB + 21 * MIB) + 64 * MIB);
	CHECK(s.written_bytes <= 256 * MIB);
	check_neighbours(&s);
}

static const struct stretch *first_of(const struct spread *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->stretches[i].first)
			return &s->stretches[i];
	return &s->stretches[0];
}

static void the_first_is_small_but_large_enough(void)
{
	struct spread_wish wish = plain;
	struct spread s;

	CHECK_EQ(spread_make(&s, &plain, NULL), 0);
	CHECK_EQ(first_of(&s)->bytes, 64 * KIB);
	CHECK(!first_of(&s)->guard);
	wish.need_bytes = 2 * MIB;
	CHECK_EQ(spread_make(&s, &wish, NULL), 0);
	CHECK_EQ(first_of(&s)->bytes, 4 * MIB);
}

static void with_little_room_the_largest_sizes_go(void)
{
	struct spread_wish wish = plain;
	struct spread s;

	wish.budget_bytes = 16 * MIB;
	CHECK_EQ(spread_make(&s, &wish, NULL), 0);
	CHECK_EQ(s.sizes[s.size_count - 1], MIB);
	CHECK(s.written_bytes <= 16 * MIB);
	check_neighbours(&s);
	wish.budget_bytes = 256 * KIB;
	CHECK_EQ(spread_make(&s, &wish, NULL), -ENOSPC);
}

static void one_size_is_as_large_as_a_unit_or_nothing_is_done(void)
{
	struct spread_wish wish = plain;
	struct err err = { 0 };
	struct spread s;

	wish.need_bytes = 16 * MIB;
	wish.budget_bytes = 64 * MIB;
	CHECK_EQ(spread_make(&s, &wish, NULL), 0);
	CHECK_EQ(s.sizes[s.size_count - 1], 16 * MIB);
	CHECK(s.written_bytes <= 64 * MIB);
	check_neighbours(&s);
	wish.budget_bytes = 32 * MIB;
	CHECK_EQ(spread_make(&s, &wish, &err), -ENOSPC);
	CHECK_STR(err.text,
		  "32.0 MiB are too little to test discards in, where a whole unit is 16.0 MiB");
	wish.need_bytes = 128 * MIB;
	wish.budget_bytes = 1024 * MIB;
	CHECK_EQ(spread_make(&s, &wish, NULL), 0);
	CHECK_EQ(s.sizes[s.size_count - 1], 128 * MIB);
}

static void on_a_device_the_places_are_far_apart(void)
{
	struct spread_wish wish = plain;
	struct spread s;

	wish.span_bytes = 60 * GIB;
	CHECK_EQ(spread_make(&s, &wish, NULL), 0);
	CHECK_EQ(s.stretches[0].at_bytes, 10 * GIB);
	CHECK(s.end_bytes > 50 * GIB && s.end_bytes < 51 * GIB);
	wish.span_bytes = 2 * MIB;
	CHECK_EQ(spread_make(&s, &wish, NULL), -ENOSPC);
}

/* --- whole units --- */

static void whole_units_are_those_of_the_device(void)
{
	static struct trim_report report;
	struct place_range range = { .file_bytes = 0,
				     .device_bytes = 3 * MIB,
				     .length_bytes = 16 * MIB };
	struct place place = { .report = &report, .low = { &range, 1 } };
	const struct place_part all = { 0, 16 * MIB }, small = { 0, 4 * MIB };

	report.layer_count = 1;
	report.layers[0].alignment_bytes = 0;
	/* 3 to 19 MiB: 4, 8 and 12 MiB begin whole units of 4 MiB. */
	CHECK_EQ(place_whole_units(&place, &all, 4 * MIB), 12 * MIB);
	CHECK_EQ(place_whole_units(&place, &small, 4 * MIB), 0);
	/* Units from 3 MiB on: all of it. */
	report.layers[0].alignment_bytes = 3 * MIB;
	CHECK_EQ(place_whole_units(&place, &all, 4 * MIB), 16 * MIB);
	CHECK_EQ(place_whole_units(&place, &small, 4 * MIB), 4 * MIB);
}

static void a_byte_is_described_by_its_place_on_the_device(void)
{
	static struct trim_report report;
	struct place_range range = { .file_bytes = 4096,
				     .device_bytes = MIB,
				     .length_bytes = 8192 };
	struct place place = { .report = &report, .plain = { &range, 1 } };
	char text[64];

	strcpy(report.layers[0].name, "sda");
	place_describe(&place, 8192, text, sizeof(text));
	CHECK_STR(text, "byte 1052672 of sda");
	place_describe(&place, 0, text, sizeof(text));
	CHECK_STR(text, "byte 0 of the test file");
}

/* --- extents --- */

static void extents_that_lie_are_refused(void)
{
	static const struct {
		uint32_t flags;
		const char *words;
	} cases[] = {
		{ FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC, "delayed allocation" },
		{ FIEMAP_EXTENT_NOT_ALIGNED | FIEMAP_EXTENT_DATA_INLINE, "inline data" },
		{ FIEMAP_EXTENT_ENCODED, "encoded (compressed) data" },
		{ FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_ENCRYPTED, "encrypted data" },
		{ FIEMAP_EXTENT_SHARED, "shared blocks" },
		{ FIEMAP_EXTENT_UNWRITTEN, "unwritten blocks" },
		{ FIEMAP_EXTENT_NOT_ALIGNED | FIEMAP_EXTENT_DATA_TAIL, "tail packing" },
		{ FIEMAP_EXTENT_UNKNOWN, "an unknown place" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_STR(fiemap_refused(cases[i].flags), cases[i].words);
	CHECK(fiemap_refused(FIEMAP_EXTENT_LAST | FIEMAP_EXTENT_MERGED) == NULL);
}

static void neighbours_are_joined_and_others_not(void)
{
	struct file_extent parts[] = { { 0, 8192, 4096 },
				       { 4096, 12288, 4096 },
				       { 8192, 0, 4096 } };
	struct file_extents extents = { 0 };

	CHECK_EQ(fiemap_join(&extents, &(struct file_extents){ parts, 3 }), 0);
	CHECK_EQ(extents.count, 2);
	CHECK_EQ(extents.list[0].length_bytes, 8192);
	CHECK_EQ(extents.list[1].file_bytes, 8192);
	free(extents.list);
}

/* --- watching --- */

static void a_line_tells_layer_size_time_and_total(void)
{
	static struct trim_report report;
	const struct trim_watch_line line = { .at_ns = 12 * SECOND_NS,
					      .layer = 0,
					      .discard_count = 4,
					      .discard_bytes = 64 * MIB,
					      .discard_ns = 4800000,
					      .total_count = 8,
					      .total_bytes = 128 * MIB };
	char text[160];

	strcpy(report.layers[0].name, "loop0");
	trim_watch_format(&report, &line, text, sizeof(text));
	CHECK_STR(text,
		  "    12.0 s  loop0        64.0 MiB in 4 discards, 1.20 ms each; 128 MiB so far");
}

static void nothing_that_counts_cannot_be_watched(void)
{
	static struct trim_report report;
	struct clock clock;
	uint64_t now_ns = 0;
	struct trim_watch_options options = { .clock = &clock };
	struct err err = { 0 };

	clock_init_virtual(&clock, &now_ns);
	strcpy(report.spec, "/nowhere");
	report.layer_count = 1;
	strcpy(report.layers[0].name, "/nowhere");
	CHECK_EQ(trim_watch(&report, &options, &err), -ENODEV);
	CHECK_STR(err.text, "no layer below /nowhere counts discards");
}

TESTS(TEST(a_sector_is_known_by_run_and_place), TEST(blank_is_all_of_it),
      TEST(sectors_are_counted_by_what_they_hold), TEST(every_piece_lies_between_guards),
      TEST(the_first_is_small_but_large_enough), TEST(with_little_room_the_largest_sizes_go),
      TEST(one_size_is_as_large_as_a_unit_or_nothing_is_done),
      TEST(on_a_device_the_places_are_far_apart), TEST(whole_units_are_those_of_the_device),
      TEST(a_byte_is_described_by_its_place_on_the_device), TEST(extents_that_lie_are_refused),
      TEST(neighbours_are_joined_and_others_not), TEST(a_line_tells_layer_size_time_and_total),
      TEST(nothing_that_counts_cannot_be_watched))
