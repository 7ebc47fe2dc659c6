/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * sector - data that is recognised wherever it turns up: every 512 bytes carry the run's 128
 * bits, their own offset, and random bytes drawn from both, so that neither compression nor
 * deduplication nor an older run's data can be taken for it.
 */

#include <stddef.h>
#include <stdint.h>

#include "model/trim.h"

#define SECTOR_BYTES 512u

struct sector_key {
	uint64_t run[2];
};

/* How many sectors hold what. */
struct sector_count {
	uint64_t zeros, ones, old, other;
};

/* offset_bytes and bytes are multiples of the sector. */
void sector_fill(const struct sector_key *key, uint64_t offset_bytes, void *buffer, size_t bytes);
enum trim_content sector_look(const struct sector_key *key, uint64_t offset_bytes,
			      const void *sector);
/* Adds what the buffer holds of the data that was at that offset. */
void sector_add(const struct sector_key *key, uint64_t offset_bytes, const void *buffer,
		size_t bytes, struct sector_count *count);

uint64_t sector_total(const struct sector_count *count);
/* What most of them hold; NOT_READ for none. */
enum trim_content sector_most(const struct sector_count *count);
