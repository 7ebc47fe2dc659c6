/* SPDX-License-Identifier: MIT */

/*
 * Faults by seed. Writes fail, vanish or are damaged, and requests stall, by draw; reads
 * fail by address, for a medium error stays where it is until the address is rewritten.
 */

#include "sim/drive.h"

bool fault_draw(struct sim *s, uint64_t ppm)
{
	return ppm && random_below(&s->random, PPM) < ppm;
}

static bool page_is_bad(const struct sim *s, uint64_t page)
{
	return random_mix(page ^ random_mix(s->config.seed)) % PPM < s->config.read_error_ppm &&
	       !(s->healed[page / 64] >> (page % 64) & 1);
}

bool fault_unreadable(const struct sim *s, uint64_t offset, uint64_t length)
{
	if (!s->config.read_error_ppm)
		return false;
	for (uint64_t page = offset / CONTENT_PAGE; page * CONTENT_PAGE < offset + length; page++) {
		if (page_is_bad(s, page))
			return true;
	}
	return false;
}

void fault_heal(struct sim *s, uint64_t offset, uint64_t length)
{
	if (!s->config.read_error_ppm)
		return;
	for (uint64_t page = offset / CONTENT_PAGE; page * CONTENT_PAGE < offset + length; page++)
		s->healed[page / 64] |= 1ull << (page % 64);
}
