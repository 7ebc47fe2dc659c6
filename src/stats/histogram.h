/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * histogram - latencies in ns, log-linear: exact below 128, then 64 steps per power
 * of two (at most 1.6 % wide; a value read back is within 1 %, see
 * histogram_percentile). Up to 2^41 ns (36 min); above: the last bucket, counted in
 * overflow_count. Merging is addition; percentiles are never averaged.
 *
 * Threads: one writer. Ownership: plain data, about 18 KiB; histogram_init, no done.
 */

#include <stdint.h>
#include <string.h>

#define HISTOGRAM_STEP_BITS 6
#define HISTOGRAM_STEPS (1u << HISTOGRAM_STEP_BITS)
#define HISTOGRAM_TOP_BITS 41
#define HISTOGRAM_BUCKETS ((HISTOGRAM_TOP_BITS - HISTOGRAM_STEP_BITS + 1) * HISTOGRAM_STEPS)

struct histogram {
	uint64_t count;
	uint64_t overflow_count;
	uint64_t min_ns, max_ns;	/* exact; min is UINT64_MAX while empty */
	uint64_t sum_ns;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_init(struct histogram *h);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The bucket of a value, and a bucket's lowest value and width in ns. */
static inline uint32_t histogram_bucket(uint64_t ns)
{
	uint32_t exponent;

	if (ns < HISTOGRAM_STEPS)
		return (uint32_t)ns;
	if (ns >> HISTOGRAM_TOP_BITS)
		return HISTOGRAM_BUCKETS - 1;
	exponent = 63 - (uint32_t)__builtin_clzll(ns);
	return ((exponent - HISTOGRAM_STEP_BITS + 1) << HISTOGRAM_STEP_BITS) +
	       (uint32_t)((ns >> (exponent - HISTOGRAM_STEP_BITS)) & (HISTOGRAM_STEPS - 1));
}

uint64_t histogram_bucket_low_ns(uint32_t bucket);
uint64_t histogram_bucket_width_ns(uint32_t bucket);

/* count times the same value. */
static inline void histogram_add_many(struct histogram *h, uint64_t ns, uint64_t count)
{
	h->buckets[histogram_bucket(ns)] += count;
	h->overflow_count += ns >> HISTOGRAM_TOP_BITS != 0 ? count : 0;
	h->count += count;
	h->sum_ns += ns * count;
	if (ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

static inline void histogram_add(struct histogram *h, uint64_t ns)
{
	histogram_add_many(h, ns, 1);
}

/*
 * The value at rank ceil(p * n), 1-based, 128-bit product: the middle of its bucket
 * (error at most half a width, 0.8 %), never outside the exact min and max. 0 when empty;
 * the exact max when the rank falls among the overflowed.
 */
uint64_t histogram_percentile_ns(const struct histogram *h, uint32_t ppm);

/* Enough samples to speak of it: n >= 10 / (1 - p) (statistics.md section 2). */
int histogram_has_percentile(const struct histogram *h, uint32_t ppm);
double histogram_mean_ns(const struct histogram *h);
