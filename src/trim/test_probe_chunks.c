/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/btrfs_tree.h>

#include "base/check.h"
#include "base/units.h"
#include "trim/probe_chunks.h"

/* Four devices, stripes of 64 KiB, the chunk's part of device i begins at (i + 1) GiB. */
static struct chunk chunk_of(uint64_t profile, uint32_t stripes, uint32_t sub)
{
	struct chunk chunk = { .logical_bytes = 10 * GIB,
			       .length_bytes = GIB,
			       .stripe_bytes = 64 * KIB,
			       .profile = profile,
			       .stripe_count = stripes,
			       .sub_count = sub };

	for (uint32_t i = 0; i < stripes; i++) {
		chunk.stripes[i].device_id = i + 1;
		chunk.stripes[i].offset_bytes = (i + 1) * GIB;
	}
	return chunk;
}

static int find(uint64_t profile, uint32_t stripes, uint64_t within, struct chunk_places *ret)
{
	struct chunk chunk = chunk_of(profile, stripes, 2);
	const struct chunks chunks = { &chunk, 1 };

	return chunks_find(&chunks, 10 * GIB + within, ret, NULL);
}

static void single_is_shifted(void)
{
	struct chunk_places p;

	CHECK_EQ(find(0, 1, 5 * MIB, &p), 0);
	CHECK_EQ(p.count, 1);
	CHECK_EQ(p.copies[0].device_id, 1);
	CHECK_EQ(p.copies[0].offset_bytes, GIB + 5 * MIB);
	CHECK_EQ(p.bytes, GIB - 5 * MIB);
}

static void a_mirror_has_the_same_on_both(void)
{
	struct chunk_places p;

	CHECK_EQ(find(BTRFS_BLOCK_GROUP_RAID1, 2, 5 * MIB, &p), 0);
	CHECK_EQ(p.count, 2);
	CHECK_EQ(p.copies[1].device_id, 2);
	CHECK_EQ(p.copies[1].offset_bytes, 2 * GIB + 5 * MIB);
}

/* 5 * 64 KiB + 4 KiB on three devices: stripe 5 is row 1, column 2. */
static void stripes_go_round(void)
{
	struct chunk_places p;

	CHECK_EQ(find(BTRFS_BLOCK_GROUP_RAID0, 3, 324 * KIB, &p), 0);
	CHECK_EQ(p.count, 1);
	CHECK_EQ(p.copies[0].device_id, 3);
	CHECK_EQ(p.copies[0].offset_bytes, 3 * GIB + 68 * KIB);
	CHECK_EQ(p.bytes, 60 * KIB);
}

/* Four devices in two pairs: stripe 5 is row 2, the second pair. */
static void raid10_goes_round_in_pairs(void)
{
	struct chunk_places p;

	CHECK_EQ(find(BTRFS_BLOCK_GROUP_RAID10, 4, 324 * KIB, &p), 0);
	CHECK_EQ(p.count, 2);
	CHECK_EQ(p.copies[0].device_id, 3);
	CHECK_EQ(p.copies[0].offset_bytes, 3 * GIB + 132 * KIB);
	CHECK_EQ(p.copies[1].device_id, 4);
	CHECK_EQ(p.copies[1].offset_bytes, 4 * GIB + 132 * KIB);
}

static void parity_and_what_is_not_there_are_refused(void)
{
	struct chunk_places p;

	CHECK_EQ(find(BTRFS_BLOCK_GROUP_RAID5, 3, 0, &p), -EOPNOTSUPP);
	CHECK_EQ(find(0, 1, GIB, &p), -ERANGE);
}

TESTS(TEST(single_is_shifted), TEST(a_mirror_has_the_same_on_both), TEST(stripes_go_round),
      TEST(raid10_goes_round_in_pairs), TEST(parity_and_what_is_not_there_are_refused))
