/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <assert.h>
#include <errno.h>

#include "base/units.h"

#define ALIGN_BYTES 4096u

static uint64_t amount_bytes(const struct amount *amount, uint64_t whole_bytes)
{
	if (!amount->ppm)
		return amount->bytes;
	return (uint64_t)((unsigned __int128)whole_bytes * amount->ppm / PPM);
}

static void widen(struct engine_range *range, uint32_t bytes)
{
	if (!range->block_max_bytes || bytes < range->block_min_bytes)
		range->block_min_bytes = bytes;
	if (bytes > range->block_max_bytes)
		range->block_max_bytes = bytes;
}

static void resolve_sizes(const struct workload *workload, struct engine_range *range)
{
	const struct size_mix *mix = &workload->size_mix;
	const struct access_lines *lines = &workload->lines;

	for (uint32_t i = 0; i < lines->count; i++) {
		widen(range, lines->lines[i].bytes);
		if (lines->lines[i].reply_bytes)
			widen(range, lines->lines[i].reply_bytes);
	}
	for (uint32_t i = 0; i < mix->count; i++)
		widen(range, (uint32_t)mix->sizes[i].bytes);
	if (!mix->count && !lines->count)
		widen(range, (uint32_t)workload->block_bytes);
	for (uint32_t i = 0; i < workload->write_mix.count; i++)
		widen(range, (uint32_t)workload->write_mix.sizes[i].bytes);
}

/* The largest power of two, at most limit, that all sizes are multiples of. */
static uint64_t common_power(const struct workload *workload, uint64_t limit)
{
	uint64_t power = limit;

	for (uint32_t i = 0; i < workload->size_mix.count; i++)
		while (workload->size_mix.sizes[i].bytes % power)
			power /= 2;
	for (uint32_t i = 0; i < workload->write_mix.count; i++)
		while (workload->write_mix.sizes[i].bytes % power)
			power /= 2;
	while (workload->size_mix.count == 0 && workload->block_bytes % power)
		power /= 2;
	return power;
}

/*
 * Default: the larger of 4 KiB and the physical block, but no more than the sizes themselves are
 * multiples of, so that 512-byte requests still follow each other.
 */
static int resolve_align(const struct workload *workload, const struct target_info *info,
			 struct engine_range *range, struct err *err)
{
	const uint64_t physical_bytes = info->physical_block_bytes;
	uint64_t align_bytes = workload->align_bytes;

	if (align_bytes == 0) {
		align_bytes = physical_bytes > ALIGN_BYTES ? physical_bytes : ALIGN_BYTES;
		if (align_bytes & (align_bytes - 1))
			align_bytes = ALIGN_BYTES;
		align_bytes = common_power(workload, align_bytes);
	}
	if (align_bytes > UINT32_MAX)
		return err_set(err, -EINVAL, "blockalign=%llu is more than 4g",
			       (unsigned long long)align_bytes);
	range->align_bytes = (uint32_t)align_bytes;
	range->granule_bytes = 1;
	if (workload->direct && info->offset_align_bytes)
		range->granule_bytes = info->offset_align_bytes;
	else if (workload->direct && info->logical_block_bytes)
		range->granule_bytes = info->logical_block_bytes;
	return 0;
}

static int check_granule(const char *name, uint64_t bytes, const struct engine_range *range,
			 struct err *err)
{
	char text[UNITS_TEXT_BYTES];

	if (bytes % range->granule_bytes == 0)
		return 0;
	err_set(err, -EINVAL,
		"%s=%s is not a multiple of %u bytes, the target's block for direct I/O", name,
		units_format_bytes(bytes, text), range->granule_bytes);
	return err_hint(err, "Use a multiple of %u, or direct=0", range->granule_bytes);
}

/* blockalign is what all of a trace is in multiples of. */
static int check_trace_granule(const struct engine_range *range, struct err *err)
{
	if (range->align_bytes % range->granule_bytes == 0)
		return check_granule("offset", range->offset_bytes, range, err);
	err_set(err, -EINVAL,
		"the trace has requests that are no multiples of %u bytes, the target's block for "
		"direct I/O",
		range->granule_bytes);
	return err_hint(err, "align=%u rounds them, or direct=0", range->granule_bytes);
}

static int check_line_granules(const struct access_lines *lines, const struct engine_range *range,
			       struct err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < lines->count; i++) {
		r = check_granule("access-lines: size", lines->lines[i].bytes, range, err);
		if (r == 0)
			r = check_granule("access-lines: align", lines->lines[i].align_bytes, range,
					  err);
		if (r == 0)
			r = check_granule("access-lines: reply", lines->lines[i].reply_bytes, range,
					  err);
		/* One aligned place at least must hold the largest request. */
		if (r == 0 && lines->lines[i].align_bytes &&
		    (range->offset_bytes + lines->lines[i].align_bytes - 1) /
					    lines->lines[i].align_bytes *
					    lines->lines[i].align_bytes +
				    range->block_max_bytes >
			    range->offset_bytes + range->size_bytes)
			r = err_set(err, -EFBIG,
				    "access-lines: no start aligned to %u has room for %u bytes",
				    lines->lines[i].align_bytes, range->block_max_bytes);
	}
	return r;
}

static int check_granules(const struct workload *workload, const struct engine_range *range,
			  struct err *err)
{
	int r = 0;

	if (*workload->trace)
		return check_trace_granule(range, err);
	r = check_granule("blockalign", range->align_bytes, range, err);
	if (r == 0)
		r = check_granule("offset", range->offset_bytes, range, err);
	if (r == 0 && workload->stride_bytes)
		r = check_granule("stride", workload->stride_bytes, range, err);
	if (workload->lines.count)
		return r == 0 ? check_line_granules(&workload->lines, range, err) : r;
	if (r == 0 && workload->size_mix.count == 0)
		r = check_granule("bs", workload->block_bytes, range, err);
	for (uint32_t i = 0; r == 0 && i < workload->size_mix.count; i++)
		r = check_granule("bssplit", workload->size_mix.sizes[i].bytes, range, err);
	for (uint32_t i = 0; r == 0 && i < workload->write_mix.count; i++)
		r = check_granule("bssplit-write", workload->write_mix.sizes[i].bytes, range, err);
	if (r == 0)
		r = check_granule("piece", workload->piece_bytes, range, err);
	if (r == 0)
		r = check_granule("piece-gap", workload->piece_gap_bytes, range, err);
	return r;
}

static int too_small(const struct engine_range *range, const struct target_info *info,
		     const char *what, uint64_t bytes, struct err *err)
{
	char want[UNITS_TEXT_BYTES], at[UNITS_TEXT_BYTES], have[UNITS_TEXT_BYTES];

	err_set(err, -EFBIG, "%s of %s at offset %s does not fit in the target's %s", what,
		units_format_bytes(bytes, want), units_format_bytes(range->offset_bytes, at),
		units_format_bytes(info->size_bytes, have));
	return err_hint(err, "Nothing is extended to make it fit; ask for less, or another target");
}

static int resolve_extent(const struct workload *workload, const struct target_info *info,
			  struct engine_range *range, struct err *err)
{
	const bool cut = workload->offset.ppm || workload->size.ppm;
	uint64_t rest_bytes;

	range->offset_bytes = amount_bytes(&workload->offset, info->size_bytes);
	if (cut)
		range->offset_bytes -= range->offset_bytes % range->align_bytes;
	if (range->offset_bytes >= info->size_bytes)
		return too_small(range, info, "a request", range->block_max_bytes, err);
	rest_bytes = info->size_bytes - range->offset_bytes;

	range->size_bytes = amount_bytes(&workload->size, info->size_bytes);
	if (workload->size.ppm && range->size_bytes > rest_bytes)
		range->size_bytes = rest_bytes;
	if (range->size_bytes == 0 && !workload->size.ppm)
		range->size_bytes = rest_bytes;
	if (range->size_bytes > rest_bytes)
		return too_small(range, info, "a range", range->size_bytes, err);
	if (range->size_bytes < range->block_max_bytes)
		return too_small(range, info, "a request", range->block_max_bytes, err);
	range->span_bytes = workload->segment_count ? rest_bytes : range->size_bytes;
	if (workload->segment_range.bytes || workload->segment_range.ppm)
		range->span_bytes = amount_bytes(&workload->segment_range, info->size_bytes);
	if (range->span_bytes > rest_bytes)
		return too_small(range, info, "a segment-range", range->span_bytes, err);
	return 0;
}

int engine_resolve(const struct workload *workload, const struct target_info *info,
		   struct engine_range *ret, struct err *err)
{
	struct engine_range range = { 0 };
	int r;

	resolve_sizes(workload, &range);
	assert(range.block_min_bytes > 0);
	r = resolve_align(workload, info, &range, err);
	if (r == 0)
		r = resolve_extent(workload, info, &range, err);
	if (r == 0)
		r = check_granules(workload, &range, err);
	if (r < 0)
		return r;
	if (workload_trims(workload) && info->kind == TARGET_BLOCK && info->discard_max_bytes == 0)
		return err_set(err, -EOPNOTSUPP, "'%s' does not take discards", info->path);
	*ret = range;
	return 0;
}
