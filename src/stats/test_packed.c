/* SPDX-License-Identifier: MIT */
#include "base/check.h"
#include "stats/packed.h"

#include <stdlib.h>

static void an_empty_histogram_packs_to_nothing(void)
{
	static struct histogram h;

	histogram_init(&h);
	CHECK(histogram_pack(&h) == NULL);
}

static void packing_keeps_every_bucket_and_the_exact_ends(void)
{
	static struct histogram h, back;
	struct histogram_packed *packed;

	histogram_init(&h);
	histogram_init(&back);
	for (uint64_t i = 0; i < 1000; i++)
		histogram_add(&h, 5);
	histogram_add(&h, 70001);
	histogram_add(&h, UINT64_C(1) << 42);
	packed = histogram_pack(&h);
	CHECK(packed != NULL);
	CHECK_EQ(packed->entry_count, 3);
	histogram_merge_packed(&back, packed);
	CHECK(memcmp(&h, &back, sizeof(h)) == 0);
	histogram_merge_packed(&back, packed);
	CHECK_EQ(back.count, 2004);
	CHECK_EQ(back.buckets[5], 2000);
	CHECK_EQ(back.overflow_count, 2);
	CHECK_EQ(back.min_ns, 5);
	CHECK_EQ(back.max_ns, INT64_C(1) << 42);
	free(packed);
}

TESTS(TEST(an_empty_histogram_packs_to_nothing), TEST(packing_keeps_every_bucket_and_the_exact_ends))
