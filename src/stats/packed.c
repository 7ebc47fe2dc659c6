/* SPDX-License-Identifier: MIT */
#include "stats/packed.h"

#include <assert.h>
#include <stdlib.h>

#define COUNT_BITS 48

struct histogram_packed *histogram_pack(const struct histogram *h)
{
	struct histogram_packed *packed;
	uint32_t entry_count = 0;

	if (h->count == 0)
		return NULL;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		entry_count += h->buckets[i] != 0;
	packed = malloc(sizeof(*packed) + entry_count * sizeof(packed->entries[0]));
	if (!packed)
		return NULL;
	*packed = (struct histogram_packed){
		.count = h->count,
		.overflow_count = h->overflow_count,
		.min_ns = h->min_ns,
		.max_ns = h->max_ns,
		.sum_ns = h->sum_ns,
	};
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (h->buckets[i] == 0)
			continue;
		assert(h->buckets[i] >> COUNT_BITS == 0);
		packed->entries[packed->entry_count++] = (uint64_t)i << COUNT_BITS | h->buckets[i];
	}
	return packed;
}

void histogram_merge_packed(struct histogram *into, const struct histogram_packed *from)
{
	for (uint32_t i = 0; i < from->entry_count; i++)
		into->buckets[from->entries[i] >> COUNT_BITS] +=
			from->entries[i] & ((1ull << COUNT_BITS) - 1);
	into->count += from->count;
	into->overflow_count += from->overflow_count;
	into->sum_ns += from->sum_ns;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
}
