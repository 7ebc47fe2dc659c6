/* SPDX-License-Identifier: MIT */
#include "trim/probe_spread.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"

/* Frees of small sizes are what a file system sends all day; three places tell luck from rule. */
#define PLACES_SMALL 6
#define PLACES 3
#define SMALL_BYTES (64 * KIB)
#define LARGE_BYTES (64 * MIB)

/* More than the neighbour that a careless drive takes along: mapping units go up to 64 KiB. */
#define GUARD_MIN_BYTES (64 * KIB)
#define GUARD_MAX_BYTES MIB
/* Pieces start on multiples of their size up to this: an erase unit that a drive announces. */
#define ALIGN_MAX_BYTES MIB

static const uint64_t default_sizes[] = { 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB,
					  MIB,	   4 * MIB,  16 * MIB, 64 * MIB };
_Static_assert(ARRAY_COUNT(default_sizes) <= TRIM_SIZES, "sizes of a report");

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static uint32_t places_of(uint64_t size)
{
	if (size >= LARGE_BYTES)
		return 1;
	return size <= SMALL_BYTES ? PLACES_SMALL : PLACES;
}

static uint64_t guard_of(uint64_t size, uint64_t unit)
{
	return round_up(clamp(size, GUARD_MIN_BYTES, GUARD_MAX_BYTES), unit);
}

static void add(struct spread *s, const struct stretch *stretch)
{
	assert(s->count < SPREAD_STRETCHES);
	s->stretches[s->count++] = *stretch;
	s->written_bytes += stretch->bytes;
	if (!stretch->guard)
		s->freed_bytes += stretch->bytes;
	if (s->end_bytes < stretch->at_bytes + stretch->bytes)
		s->end_bytes = stretch->at_bytes + stretch->bytes;
}

/* Of its pieces, those numbered region, region + step ... */
struct region {
	uint64_t at_bytes;
	uint32_t number, step;
};

static void lay_region(struct spread *s, const struct spread_wish *wish,
		       const struct region *region)
{
	uint64_t at = region->at_bytes;

	for (uint32_t i = 0; i < s->size_count; i++) {
		const uint64_t size = s->sizes[i];
		const uint64_t align =
			round_up(size < ALIGN_MAX_BYTES ? size : ALIGN_MAX_BYTES, wish->unit_bytes);
		const uint64_t guard = guard_of(size, wish->unit_bytes);

		for (uint32_t k = region->number; k < places_of(size); k += region->step) {
			const uint64_t start = round_up(at + guard, align);

			add(s, &(struct stretch){
				       .at_bytes = at, .bytes = start - at, .guard = true });
			add(s,
			    &(struct stretch){ .at_bytes = start, .bytes = size, .size_index = i });
			at = start + size;
		}
	}
	add(s, &(struct stretch){
		       .at_bytes = at, .bytes = guard_of(MIB, wish->unit_bytes), .guard = true });
}

static void lay(struct spread *s, const struct spread_wish *wish)
{
	const uint32_t regions = wish->span_bytes ? SPREAD_REGIONS : 1;

	s->count = 0;
	s->end_bytes = s->written_bytes = s->freed_bytes = 0;
	for (uint32_t i = 0; i < regions; i++) {
		struct region region = { .number = i, .step = regions };

		/* One and three quarters in, and the middle. */
		region.at_bytes = wish->span_bytes * (2 * i + 1) / (2 * SPREAD_REGIONS);
		region.at_bytes = round_up(region.at_bytes, ALIGN_MAX_BYTES);
		if (region.at_bytes % wish->unit_bytes)
			region.at_bytes = round_up(region.at_bytes, wish->unit_bytes);
		lay_region(s, wish, &region);
	}
}

static bool fits(const struct spread *s, const struct spread_wish *wish)
{
	if (s->written_bytes > wish->budget_bytes)
		return false;
	/* Each region within its third: the last one's end says nothing of the first's. */
	for (uint32_t i = 1; wish->span_bytes && i < s->count; i++)
		if (s->stretches[i].at_bytes <
		    s->stretches[i - 1].at_bytes + s->stretches[i - 1].bytes)
			return false;
	return !wish->span_bytes || s->end_bytes <= wish->span_bytes;
}

/* The smallest piece that will do. */
static void choose_first(struct spread *s, const struct spread_wish *wish)
{
	const uint64_t want = wish->need_bytes > SMALL_BYTES ? wish->need_bytes : SMALL_BYTES;
	struct stretch *best = NULL;

	for (uint32_t i = 0; i < s->count; i++) {
		struct stretch *stretch = &s->stretches[i];

		if (!stretch->guard &&
		    (!best || (best->bytes < want && stretch->bytes > best->bytes)))
			best = stretch;
	}
	assert(best);
	best->first = true;
}

static void take_sizes(struct spread *s, const struct spread_wish *wish)
{
	const uint64_t *sizes = wish->sizes ? wish->sizes : default_sizes;
	const uint32_t count = wish->sizes ? wish->size_count : ARRAY_COUNT(default_sizes);

	assert(count <= TRIM_SIZES && wish->unit_bytes > 0);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t size = round_up(sizes[i], wish->unit_bytes);

		if (!s->size_count || size > s->sizes[s->size_count - 1])
			s->sizes[s->size_count++] = size;
	}
	/* Nothing large enough to show an effect for sure: then that instead of the largest. */
	if (s->size_count && s->sizes[s->size_count - 1] < wish->need_bytes) {
		s->size_count -= s->size_count == TRIM_SIZES;
		s->sizes[s->size_count++] = round_up(wish->need_bytes, wish->unit_bytes);
	}
}

/*
 * The largest sizes go first when there is too little room; of those that are large enough for
 * all layers the smallest stays, and what lies between goes instead.
 */
static bool drop_one(struct spread *s, const struct spread_wish *wish)
{
	const uint32_t last = s->size_count - 1;

	if (s->size_count == 1)
		return false;
	if (s->sizes[last - 1] >= wish->need_bytes) {
		s->size_count--;
		return true;
	}
	s->sizes[last - 1] = s->sizes[last];
	s->size_count--;
	return true;
}

int spread_make(struct spread *ret, const struct spread_wish *wish, struct err *err)
{
	char room[UNITS_TEXT_BYTES], need[UNITS_TEXT_BYTES];
	struct spread s = { 0 };

	take_sizes(&s, wish);
	do {
		lay(&s, wish);
		if (!fits(&s, wish))
			continue;
		choose_first(&s, wish);
		*ret = s;
		return 0;
	} while (drop_one(&s, wish));
	return err_set(
		err, -ENOSPC, "%s are too little to test discards in, where a whole unit is %s",
		units_format_size((double)(wish->span_bytes && wish->span_bytes < wish->budget_bytes
						   ? wish->span_bytes
						   : wish->budget_bytes),
				  room),
		units_format_size((double)(wish->need_bytes > wish->unit_bytes ? wish->need_bytes
									       : wish->unit_bytes),
				  need));
}
