/* SPDX-License-Identifier: MIT */
#include "stats/histogram.h"

#include <assert.h>
#include <stdbool.h>

#include "base/units.h"

void histogram_init(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min_ns = UINT64_MAX;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (!from->count)
		return;
	into->count += from->count;
	into->overflow_count += from->overflow_count;
	into->sum_ns += from->sum_ns;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

/* Powers of two below the second step are exact: their width is 1, not a fraction. */
uint64_t histogram_bucket_width_ns(uint32_t bucket)
{
	assert(bucket < HISTOGRAM_BUCKETS);
	return bucket < HISTOGRAM_STEPS ? 1 : 1ull << ((bucket >> HISTOGRAM_STEP_BITS) - 1);
}

uint64_t histogram_bucket_low_ns(uint32_t bucket)
{
	const uint64_t step = HISTOGRAM_STEPS + (bucket & (HISTOGRAM_STEPS - 1));

	assert(bucket < HISTOGRAM_BUCKETS);
	if (bucket < HISTOGRAM_STEPS)
		return bucket;
	return step << ((bucket >> HISTOGRAM_STEP_BITS) - 1);
}

/* 128 bits: count * ppm overflows 64 for 2e13 samples, a week at 30 MIOPS. */
static uint64_t rank_of(uint64_t count, uint32_t ppm)
{
	const unsigned __int128 scaled = (unsigned __int128)count * ppm;
	const uint64_t rank = (uint64_t)((scaled + PPM - 1) / PPM);

	return rank ? rank : 1;
}

static uint32_t bucket_of_rank(const struct histogram *h, uint64_t rank)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen >= rank)
			return i;
	}
	/* The buckets hold count samples, and rank is at most count. */
	assert(false);
	return HISTOGRAM_BUCKETS - 1;
}

uint64_t histogram_percentile_ns(const struct histogram *h, uint32_t ppm)
{
	uint64_t rank, ns;
	uint32_t bucket;

	assert(ppm <= PPM);
	if (!h->count)
		return 0;
	rank = rank_of(h->count, ppm);
	/* Of what lies beyond the last bucket only the largest is known. */
	if (rank > h->count - h->overflow_count)
		return h->max_ns;

	bucket = bucket_of_rank(h, rank);
	ns = histogram_bucket_low_ns(bucket) + (histogram_bucket_width_ns(bucket) - 1) / 2;
	if (ns < h->min_ns)
		return h->min_ns;
	return ns > h->max_ns ? h->max_ns : ns;
}

int histogram_has_percentile(const struct histogram *h, uint32_t ppm)
{
	assert(ppm <= PPM);
	return (unsigned __int128)h->count * (PPM - ppm) >= (unsigned __int128)10 * PPM;
}

double histogram_mean_ns(const struct histogram *h)
{
	return h->count ? (double)h->sum_ns / (double)h->count : 0.0;
}
