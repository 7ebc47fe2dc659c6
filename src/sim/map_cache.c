/* SPDX-License-Identifier: MIT */

/*
 * A drive without DRAM holds a part of its mapping table. The table is cut into
 * translation pages of 4 KiB, 1024 entries each; those in use lately are kept, by the
 * clock algorithm. A miss reads one from flash; a changed one is programmed when it goes.
 */

#include <errno.h>
#include <stdlib.h>

#include "sim/drive.h"

#define ENTRIES 1024u
#define USED 1u
#define DIRTY 2u

int map_cache_init(struct sim *s, struct err *err)
{
	const uint32_t pages = (s->map.units + ENTRIES - 1) / ENTRIES;
	const uint64_t held = (uint64_t)pages * s->config.map_cache_ppm / PPM;

	if (held >= pages)
		return 0;
	s->map_cache_size = held < 2 ? 2 : (uint32_t)held;
	s->map_cache = malloc(s->map_cache_size * sizeof(*s->map_cache));
	s->map_cache_bits = calloc(s->map_cache_size, 1);
	s->map_cache_of = calloc(pages, sizeof(*s->map_cache_of));
	if (!s->map_cache || !s->map_cache_bits || !s->map_cache_of)
		return err_set(err, -ENOMEM, "sim: no memory for the map cache");
	for (uint32_t i = 0; i < s->map_cache_size; i++)
		s->map_cache[i] = NO_UNIT;
	return 0;
}

static uint32_t make_place(struct sim *s, uint64_t t_ps)
{
	for (;;) {
		const uint32_t i = s->map_cache_hand;
		uint8_t *bits = &s->map_cache_bits[i];

		if (s->map_cache[i] == NO_UNIT)
			return i;
		if (!(*bits & USED)) {
			if (*bits & DIRTY) {
				flash_map_access(&s->flash, t_ps, s->map_cache[i], true);
				s->counters.map_programmed_bytes += s->config.page_bytes;
			}
			s->map_cache_of[s->map_cache[i]] = 0;
			return i;
		}
		*bits &= (uint8_t)~USED;
		s->map_cache_hand = (i + 1) % s->map_cache_size;
	}
}

/* When the map entry of the unit is at hand. */
uint64_t map_cache_touch(struct sim *s, uint64_t t_ps, uint32_t unit, bool dirty)
{
	const uint32_t page = unit / ENTRIES;
	uint32_t place;

	if (!s->map_cache)
		return t_ps;
	if (!s->map_cache_of[page]) {
		place = make_place(s, t_ps);
		s->map_cache[place] = page;
		s->map_cache_of[page] = place + 1;
		s->map_cache_bits[place] = 0;
		s->counters.map_misses++;
		t_ps = flash_map_access(&s->flash, t_ps, page, false);
	}
	place = s->map_cache_of[page] - 1;
	s->map_cache_bits[place] |= (uint8_t)(USED | (dirty ? DIRTY : 0));
	return t_ps;
}
