/* SPDX-License-Identifier: MIT */
#include "foreign/iozone.h"

#define FILE_KB 512    /* -s, single stream and throughput */
#define RECORD_KB 4    /* -r */
#define FILE_MIN_KB 64 /* auto */
#define FILE_MAX_KB 524288
#define RECORD_MIN_KB 4
#define RECORD_MAX_KB 16384
/* Larger files are not measured with records smaller than this, unless asked for. */
#define CROSS_OVER_FILE_KB 16384
#define CROSS_OVER_RECORD_KB 64

static uint64_t given(uint64_t value, uint64_t preset)
{
	return value ? value : preset;
}

static bool sweeps_files(const struct iozone_command *c)
{
	return iozone_is_auto(c) && !c->file_count;
}

static bool sweeps_records(const struct iozone_command *c)
{
	return iozone_is_auto(c) && !c->record_count;
}

/* The smallest file of a sweep may be what -g allows. */
static uint64_t file_min_kb(const struct iozone_command *c)
{
	const uint64_t max_kb = given(c->file_max_kb, FILE_MAX_KB);

	return c->file_min_kb ? c->file_min_kb : max_kb < FILE_MIN_KB ? max_kb : FILE_MIN_KB;
}

static uint64_t record_min_kb(const struct iozone_command *c)
{
	const uint64_t max_kb = given(c->record_max_kb, RECORD_MAX_KB);

	return c->record_min_kb		? c->record_min_kb
	       : max_kb < RECORD_MIN_KB ? max_kb
					: RECORD_MIN_KB;
}

static uint64_t least(const uint64_t *list, uint32_t count, uint64_t preset)
{
	uint64_t ret = count ? list[0] : preset;

	for (uint32_t i = 1; i < count; i++)
		ret = list[i] < ret ? list[i] : ret;
	return ret;
}

uint64_t iozone_smallest_file_kb(const struct iozone_command *c)
{
	return least(c->file_kb, c->file_count, sweeps_files(c) ? file_min_kb(c) : FILE_KB);
}

uint64_t iozone_smallest_record_kb(const struct iozone_command *c)
{
	return least(c->record_kb, c->record_count,
		     sweeps_records(c) ? record_min_kb(c) : RECORD_KB);
}

static bool crosses_over(const struct iozone_command *c)
{
	return c->auto_sweep && !c->no_cross_over && !c->record_count && !c->file_count &&
	       !c->record_min_kb && !c->record_max_kb;
}

/* A loop over either a list or a sweep. */
struct sizes {
	const uint64_t *list;
	uint32_t count;
	uint64_t min_kb, max_kb, multiplier;
};

static uint64_t sizes_first(const struct sizes *sizes, uint32_t *at)
{
	*at = 0;
	return sizes->count ? sizes->list[0] : sizes->min_kb;
}

/* 0 after the last. */
static uint64_t sizes_next(const struct sizes *sizes, uint32_t *at, uint64_t kb)
{
	if (sizes->count)
		return ++*at < sizes->count ? sizes->list[*at] : 0;
	if (kb > UINT64_MAX / sizes->multiplier)
		return 0;
	kb *= sizes->multiplier;
	return kb <= sizes->max_kb ? kb : 0;
}

static void add_row(struct iozone_sheet *sheet, uint64_t file_kb, uint64_t record_kb)
{
	struct iozone_row *row = iozone_sheet_add_row(sheet);

	row->file_kb = file_kb;
	row->record_kb = record_kb;
}

static void rows_of_file(const struct iozone_command *c, const struct sizes *records,
			 uint64_t file_kb, struct iozone_sheet *sheet)
{
	struct sizes sizes = *records;
	uint64_t kb;
	uint32_t at;

	if (crosses_over(c) && file_kb > CROSS_OVER_FILE_KB && sizes.min_kb < CROSS_OVER_RECORD_KB)
		sizes.min_kb = CROSS_OVER_RECORD_KB;
	for (kb = sizes_first(&sizes, &at); kb; kb = sizes_next(&sizes, &at, kb)) {
		if (kb <= file_kb && kb <= (sizes.count ? kb : sizes.max_kb))
			add_row(sheet, file_kb, kb);
	}
}

static void table_rows(const struct iozone_command *c, struct iozone_sheet *sheet)
{
	const uint64_t multiplier = c->multiplier ? c->multiplier : 2;
	const struct sizes files = { c->file_kb, c->file_count, file_min_kb(c),
				     given(c->file_max_kb, FILE_MAX_KB), multiplier };
	const struct sizes records = { c->record_kb, c->record_count, record_min_kb(c),
				       given(c->record_max_kb, RECORD_MAX_KB), multiplier };
	uint64_t kb;
	uint32_t at;

	for (kb = sizes_first(&files, &at); kb; kb = sizes_next(&files, &at, kb))
		rows_of_file(c, &records, kb, sheet);
	for (kb = sizes_first(&records, &at); kb; kb = sizes_next(&records, &at, kb))
		iozone_sheet_add_record(sheet, kb);
}

static void add_round(const struct iozone_command *c, uint32_t stream_count,
		      struct iozone_sheet *sheet)
{
	const uint64_t file_kb = c->file_count ? c->file_kb[0] : FILE_KB;

	add_row(sheet, c->divide ? file_kb / stream_count : file_kb,
		c->record_count ? c->record_kb[0] : RECORD_KB);
	sheet->rows[sheet->row_count - 1].stream_count = stream_count;
}

static void rounds(const struct iozone_command *c, struct iozone_sheet *sheet)
{
	const uint32_t first = c->stream_min ? c->stream_min : 1;
	const uint32_t last = c->stream_max ? c->stream_max : first;

	for (uint32_t i = 0; i < c->round_count; i++)
		add_round(c, c->streams[i], sheet);
	for (uint32_t n = first; !c->round_count && n <= last; n++)
		add_round(c, n, sheet);
	iozone_sheet_add_record(sheet, c->record_count ? c->record_kb[0] : RECORD_KB);
}

void iozone_rows(const struct iozone_command *c, struct iozone_sheet *sheet)
{
	if (iozone_is_throughput(c)) {
		rounds(c, sheet);
	} else if (iozone_is_auto(c)) {
		table_rows(c, sheet);
	} else {
		add_row(sheet, c->file_count ? c->file_kb[0] : FILE_KB,
			c->record_count ? c->record_kb[0] : RECORD_KB);
		iozone_sheet_add_record(sheet, sheet->rows[0].record_kb);
	}
}
