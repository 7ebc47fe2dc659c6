/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "base/units.h"
#include "sim/drive.h"

static bool is_power_of_two(uint64_t x)
{
	return x && !(x & (x - 1));
}

static int check_sizes(const struct sim_config *c, struct err *err)
{
	if (c->logical_block_bytes != 512 && c->logical_block_bytes != 4096)
		return err_set(err, -EINVAL, "sim: logical_block is 512 or 4096");
	if (!is_power_of_two(c->physical_block_bytes) ||
	    c->physical_block_bytes < c->logical_block_bytes)
		return err_set(err, -EINVAL, "sim: physical_block is a power of two, "
			       "not below logical_block");
	if (!is_power_of_two(c->page_bytes) || !is_power_of_two(c->mapping_unit_bytes))
		return err_set(err, -EINVAL, "sim: page and mapping_unit are powers of two");
	if (c->mapping_unit_bytes < c->logical_block_bytes)
		return err_set(err, -EINVAL, "sim: mapping_unit is not below logical_block");
	if (!is_power_of_two(c->trim_granularity_bytes) ||
	    c->trim_granularity_bytes < c->logical_block_bytes)
		return err_set(err, -EINVAL, "sim: trim_granularity is a power of two, "
			       "not below logical_block");
	return 0;
}

static uint64_t units_per_block(const struct sim_config *c)
{
	return c->channels * c->dies * c->pages_per_block * c->page_bytes / c->mapping_unit_bytes;
}

static int check_geometry(const struct sim_config *c, struct err *err)
{
	const uint64_t pages = c->channels * c->dies * c->pages_per_block;
	const uint64_t block_bytes = pages * c->page_bytes;
	const uint64_t units = c->capacity_bytes / c->mapping_unit_bytes;

	if (c->capacity_bytes % c->mapping_unit_bytes || c->capacity_bytes % 4096)
		return err_set(err, -EINVAL, "sim: capacity is a multiple of 4 KiB and of "
			       "mapping_unit");
	if (block_bytes % c->mapping_unit_bytes || units_per_block(c) < 2)
		return err_set(err, -EINVAL, "sim: a block of %" PRIu64 " bytes does not hold "
			       "whole mapping units, two at least", block_bytes);
	if (units * 2 > GHOST / 2 || units_per_block(c) >= HELD)
		return err_set(err, -EINVAL, "sim: more than 2^29 mapping units; "
			       "take a larger mapping_unit");
	if (c->capacity_bytes < 4 * block_bytes)
		return err_set(err, -EINVAL, "sim: capacity is under four blocks of %" PRIu64
			       " MiB; take fewer pages_per_block", (uint64_t)(block_bytes / MIB));
	return 0;
}

static int check_mapping(const struct sim_config *c, struct err *err)
{
	const uint64_t spare = c->capacity_bytes / PPM * c->op_ppm;

	if (c->mapping == SIM_MAPPING_PAGE && spare < units_per_block(c) * c->mapping_unit_bytes)
		return err_set(err, -EINVAL, "sim: op leaves less than a block of spare; "
			       "take more, or fewer pages_per_block");
	if (c->mapping != SIM_MAPPING_PAGE && c->slc != SIM_SLC_OFF)
		return err_set(err, -EINVAL, "sim: slc needs mapping=page");
	if (c->mapping != SIM_MAPPING_PAGE && c->mapping_unit_bytes < c->page_bytes)
		return err_set(err, -EINVAL, "sim: mapping=%s places whole pages: mapping_unit "
			       "is not below page", c->mapping == SIM_MAPPING_BLOCK ? "block" :
			       "hybrid");
	if (c->gc_interleave &&
	    (c->mapping != SIM_MAPPING_PAGE || c->streams != SIM_STREAMS_MIXED))
		return err_set(err, -EINVAL, "sim: gc_interleave needs mapping=page and "
			       "streams=mixed");
	if (c->slc != SIM_SLC_OFF && (c->slc_ppm == 0 || c->cell_bits < 2))
		return err_set(err, -EINVAL, "sim: slc needs slc_size and two cell_bits at least");
	if (c->slc != SIM_SLC_OFF && c->pages_per_block / c->cell_bits * c->channels * c->dies *
				     c->page_bytes < c->mapping_unit_bytes)
		return err_set(err, -EINVAL, "sim: a block in SLC mode holds no mapping unit; "
			       "take more pages_per_block");
	if (c->rate_per_s == 0 && (c->burst_per_s || c->credits_count))
		return err_set(err, -EINVAL, "sim: burst and credits need rate");
	if (c->burst_per_s && c->burst_per_s < c->rate_per_s)
		return err_set(err, -EINVAL, "sim: burst is below rate");
	return 0;
}

int sim_config_check(const struct sim_config *config, struct err *err)
{
	int r = check_sizes(config, err);

	if (r == 0)
		r = check_geometry(config, err);
	if (r == 0)
		r = check_mapping(config, err);
	return r;
}
