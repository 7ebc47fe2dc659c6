/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <errno.h>

#include "base/units.h"
#include "engine/engine.h"

static struct target_info disk(void)
{
	return (struct target_info){
		.kind = TARGET_BLOCK,
		.path = "/dev/sdz",
		.size_bytes = 1000 * MIB + 512,
		.logical_block_bytes = 512,
		.physical_block_bytes = 4096,
	};
}

static struct workload reads(void)
{
	struct workload w;

	workload_init(&w);
	w.rw = RW_RANDREAD;
	return w;
}

static void the_default_is_the_whole_target(void)
{
	const struct target_info info = disk();
	const struct workload w = reads();
	struct engine_range range;

	CHECK_EQ(engine_resolve(&w, &info, &range, NULL), 0);
	CHECK_EQ(range.offset_bytes, 0);
	CHECK_EQ(range.size_bytes, 1000 * MIB + 512);
	CHECK_EQ(range.span_bytes, range.size_bytes);
	CHECK_EQ(range.align_bytes, 4096);
	CHECK_EQ(range.granule_bytes, 512);
	CHECK_EQ(range.block_min_bytes, 4096);
	CHECK_EQ(range.block_max_bytes, 4096);
}

static void alignment_follows_the_device_and_the_sizes(void)
{
	static const struct {
		uint32_t physical_bytes;
		uint64_t block_bytes, align_bytes;
		uint32_t want_bytes;
	} cases[] = {
		{ 512, 4096, 0, 4096 },	     { 4096, 65536, 0, 4096 },
		{ 16384, 65536, 0, 16384 },  { 16384, 4096, 0, 4096 },
		{ 4096, 512, 0, 512 },	     { 4096, 6144, 0, 2048 },
		{ 4096, 4096, 1 << 20, 1 << 20 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct target_info info = disk();
		struct workload w = reads();
		struct engine_range range = { 0 };

		info.physical_block_bytes = cases[i].physical_bytes;
		w.block_bytes = cases[i].block_bytes;
		w.align_bytes = cases[i].align_bytes;
		CHECK_EQ(engine_resolve(&w, &info, &range, NULL), 0);
		CHECK_EQ(range.align_bytes, cases[i].want_bytes);
	}
}

static void shares_of_the_target_are_aligned(void)
{
	const struct target_info info = disk();
	struct workload w = reads();
	struct engine_range range;

	w.offset.ppm = 333333;
	w.size.ppm = 500000;
	CHECK_EQ(engine_resolve(&w, &info, &range, NULL), 0);
	CHECK_EQ(range.offset_bytes, 349523968);	/* 349525003 in whole blocks of 4 KiB */
	CHECK_EQ(range.size_bytes, 524288256);
	w.size.ppm = 900000;
	CHECK_EQ(engine_resolve(&w, &info, &range, NULL), 0);
	CHECK_EQ(range.offset_bytes + range.size_bytes, info.size_bytes);
}

static void what_does_not_fit_is_refused(void)
{
	const struct target_info info = disk();
	struct engine_range range;
	struct workload w = reads();
	struct err err = { 0 };

	w.size.bytes = 2 * GIB;
	CHECK_EQ(engine_resolve(&w, &info, &range, &err), -EFBIG);
	CHECK_STR(err.text, "a range of 2g at offset 0 does not fit in the target's 1048576512");
	w = reads();
	w.offset.bytes = 1000 * MIB;
	CHECK_EQ(engine_resolve(&w, &info, &range, &err), -EFBIG);
	w.offset.bytes = 4 * GIB;
	CHECK_EQ(engine_resolve(&w, &info, &range, &err), -EFBIG);
}

static void direct_io_keeps_to_the_targets_blocks(void)
{
	struct target_info info = disk();
	struct engine_range range;
	struct workload w = reads();
	struct err err = { 0 };

	info.logical_block_bytes = 4096;
	w.size_mix.count = 2;
	w.size_mix.sizes[0].bytes = 512;
	w.size_mix.sizes[0].ppm = 40000;
	w.size_mix.sizes[1].bytes = 65536;
	w.size_mix.sizes[1].ppm = 960000;
	w.align_bytes = 4096;
	CHECK_EQ(engine_resolve(&w, &info, &range, &err), -EINVAL);
	CHECK_STR(err.text, "bssplit=512 is not a multiple of 4096 bytes, the target's block for "
			    "direct I/O");
	w.direct = false;
	CHECK_EQ(engine_resolve(&w, &info, &range, &err), 0);
	CHECK_EQ(range.block_min_bytes, 512);
	CHECK_EQ(range.block_max_bytes, 65536);
	CHECK_EQ(range.granule_bytes, 1);

	w = reads();
	w.offset.bytes = 512;
	CHECK_EQ(engine_resolve(&w, &info, &range, &err), -EINVAL);
	CHECK_STR(err.text, "offset=512 is not a multiple of 4096 bytes, the target's block for "
			    "direct I/O");
}

static void trims_need_a_device_that_takes_them(void)
{
	struct target_info info = disk();
	struct engine_range range;
	struct workload w = reads();
	struct err err = { 0 };

	w.rw = RW_RANDTRIM;
	CHECK_EQ(engine_resolve(&w, &info, &range, &err), -EOPNOTSUPP);
	CHECK_STR(err.text, "'/dev/sdz' does not take discards");
	info.discard_max_bytes = 1 << 20;
	CHECK_EQ(engine_resolve(&w, &info, &range, &err), 0);
}

TESTS(TEST(the_default_is_the_whole_target), TEST(alignment_follows_the_device_and_the_sizes),
      TEST(shares_of_the_target_are_aligned), TEST(what_does_not_fit_is_refused),
      TEST(direct_io_keeps_to_the_targets_blocks), TEST(trims_need_a_device_that_takes_them))
