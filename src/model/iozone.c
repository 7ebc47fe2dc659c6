/* SPDX-License-Identifier: MIT */
#include "model/iozone.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TITLES(report, book) .title = report " report", .book_title = book " Report"
#define STREAMS(words, wide, heading) \
	.streams = (words), .streams_wide = (wide), .streams_title = (heading)

const struct iozone_pass_info iozone_passes[IOZONE_PASSES] = {
	[IOZONE_WRITE] = { .name = "write", .test = 0, .writes = true, .width = 10, .upper = "",
			   .lower = "write", .lower_short = 1, TITLES("Writer", "Writer"),
			   STREAMS("initial writers", true, "Initial write") },
	[IOZONE_REWRITE] = { .name = "rewrite", .test = 0, .again = true, .writes = true,
			     .width = 10, .upper = "", .lower = "rewrite",
			     TITLES("Re-writer", "Re-writer"),
			     STREAMS("rewriters", true, "Rewrite") },
	[IOZONE_READ] = { .name = "read", .test = 1, .width = 10, .upper = "", .lower = "read",
			  TITLES("Reader", "Reader"), STREAMS("readers", true, "Read") },
	[IOZONE_REREAD] = { .name = "reread", .test = 1, .again = true, .width = 10, .upper = "",
			    .lower = "reread", TITLES("Re-Reader", "Re-reader"),
			    STREAMS("re-readers", false, "Re-read") },
	[IOZONE_RANDOM_READ] = { .name = "random-read", .test = 2, .width = 10, .upper = "random",
				 .lower = "read", TITLES("Random read", "Random Read"),
				 STREAMS("random readers", false, "Random read") },
	[IOZONE_RANDOM_WRITE] = { .name = "random-write", .test = 2, .writes = true, .width = 10,
				  .upper = "random", .lower = "write",
				  TITLES("Random write", "Random Write"),
				  STREAMS("random writers", false, "Random write") },
	[IOZONE_BACKWARD] = { .name = "backward-read", .test = 3, .width = 10, .upper = "bkwd",
			      .lower = "read", TITLES("Backward read", "Backward Read"),
			      STREAMS("reverse readers", false, "Reverse Read") },
	[IOZONE_RECORD_REWRITE] = { .name = "record-rewrite", .test = 4, .writes = true,
				    .width = 11, .upper = "record", .lower = "rewrite",
				    TITLES("Record rewrite", "Record Rewrite") },
	[IOZONE_STRIDE] = { .name = "stride-read", .test = 5, .width = 11, .upper = "stride",
			    .lower = "read", TITLES("Stride read", "Stride Read"),
			    STREAMS("stride readers", false, "Stride read") },
	[IOZONE_FWRITE] = { .name = "fwrite", .test = 6, .writes = true, .width = 10, .upper = "",
			    .lower = "fwrite", TITLES("Fwrite", "Fwrite"),
			    STREAMS("fwriters", true, "Fwrite") },
	[IOZONE_REFWRITE] = { .name = "refwrite", .test = 6, .again = true, .writes = true,
			      .width = 10, .upper = "", .lower = "frewrite",
			      TITLES("Re-Fwrite", "Re-fwrite") },
	[IOZONE_FREAD] = { .name = "fread", .test = 7, .width = 10, .upper = "", .lower = "fread",
			   TITLES("Fread", "Fread"), STREAMS("freaders", true, "Fread") },
	[IOZONE_REFREAD] = { .name = "refread", .test = 7, .again = true, .width = 10, .upper = "",
			     .lower = "freread", TITLES("Re-Fread", "Re-fread") },
	[IOZONE_PWRITE] = { .name = "pwrite", .test = 9, .writes = true, .width = 10, .upper = "",
			    .lower = "pwrite", TITLES("Pwrite", "Pwrite"),
			    STREAMS("pwrite writers", false, "Pwrite") },
	[IOZONE_REPWRITE] = { .name = "repwrite", .test = 9, .again = true, .writes = true,
			      .width = 10, .upper = "", .lower = "repwrite",
			      TITLES("Re-Pwrite", "Re-pwrite") },
	[IOZONE_PREAD] = { .name = "pread", .test = 10, .width = 10, .upper = "", .lower = "pread",
			   TITLES("Pread", "Pread"), STREAMS("pread readers", false, "Pread") },
	[IOZONE_REPREAD] = { .name = "repread", .test = 10, .again = true, .width = 10,
			     .upper = "", .lower = "repread", TITLES("Re-Pread", "Re-pread") },
	[IOZONE_PWRITEV] = { .name = "pwritev", .test = 11, .writes = true, .width = 10,
			     .upper = "", .lower = "pwritev", TITLES("Pwritev", "Pwritev"),
			     STREAMS("pwritev writers", false, "Pwritev") },
	[IOZONE_REPWRITEV] = { .name = "repwritev", .test = 11, .again = true, .writes = true,
			       .width = 10, .upper = "", .lower = "repwritev",
			       TITLES("Re-Pwritev", "Re-pwritev") },
	[IOZONE_PREADV] = { .name = "preadv", .test = 12, .width = 10, .upper = "",
			    .lower = "preadv", TITLES("Preadv", "Preadv"),
			    STREAMS("preadv readers", false, "Preadv") },
	[IOZONE_REPREADV] = { .name = "repreadv", .test = 12, .again = true, .width = 10,
			      .upper = "", .lower = "repreadv",
			      TITLES("Re-Preadv", "Re-preadv") },
	[IOZONE_MIXED] = { .name = "mixed", .test = 8, .upper = "", .lower = "",
			   STREAMS("mixed workload", false, "Mixed workload") },
};

const enum iozone_pass iozone_stream_order[] = {
	IOZONE_WRITE,	    IOZONE_REWRITE, IOZONE_READ,	 IOZONE_REREAD, IOZONE_BACKWARD,
	IOZONE_STRIDE,	    IOZONE_RANDOM_READ, IOZONE_MIXED,	 IOZONE_RANDOM_WRITE,
	IOZONE_PWRITE,	    IOZONE_PREAD,   IOZONE_PWRITEV,	 IOZONE_PREADV, IOZONE_FWRITE,
	IOZONE_FREAD,	    IOZONE_PASSES,
};

const uint8_t iozone_skipped_blanks[IOZONE_TESTS] = {
	18, 18, 18, 9, 10, 10, 18, 17, 0, 18, 18, 18, 18,
};

void iozone_sheet_done(struct iozone_sheet *sheet)
{
	for (size_t i = 0; i < sheet->note_count; i++)
		free(sheet->notes[i]);
	free(sheet->notes);
	free(sheet->command);
	free(sheet->option_lines);
	free(sheet->records_kb);
	free(sheet->rows);
	free(sheet->cells);
	memset(sheet, 0, sizeof(*sheet));
}

/* Room for one more, at each power of two; running out of memory aborts, as in base/text. */
static void *grow(void *items, size_t count, size_t item_bytes)
{
	if (count & (count - 1) || (count == 0 && items))
		return items;
	items = realloc(items, (count ? count * 2 : 1) * item_bytes);
	if (!items)
		abort();
	return items;
}

void iozone_sheet_note(struct iozone_sheet *sheet, const char *format, ...)
{
	struct text text = TEXT_INIT;
	va_list args;

	va_start(args, format);
	text_vadd(&text, format, args);
	va_end(args);
	sheet->notes = grow(sheet->notes, sheet->note_count, sizeof(sheet->notes[0]));
	sheet->notes[sheet->note_count++] = text_take(&text);
}

struct iozone_row *iozone_sheet_add_row(struct iozone_sheet *sheet)
{
	sheet->rows = grow(sheet->rows, sheet->row_count, sizeof(sheet->rows[0]));
	sheet->rows[sheet->row_count] = (struct iozone_row){ .stream_count = 1 };
	return &sheet->rows[sheet->row_count++];
}

struct iozone_cell *iozone_sheet_add_cell(struct iozone_sheet *sheet)
{
	sheet->cells = grow(sheet->cells, sheet->cell_count, sizeof(sheet->cells[0]));
	sheet->cells[sheet->cell_count] = (struct iozone_cell){ .row = 0 };
	return &sheet->cells[sheet->cell_count++];
}

void iozone_sheet_add_record(struct iozone_sheet *sheet, uint64_t record_kb)
{
	size_t at = 0;

	while (at < sheet->record_count && sheet->records_kb[at] < record_kb)
		at++;
	if (at < sheet->record_count && sheet->records_kb[at] == record_kb)
		return;
	sheet->records_kb = grow(sheet->records_kb, sheet->record_count,
				 sizeof(sheet->records_kb[0]));
	memmove(sheet->records_kb + at + 1, sheet->records_kb + at,
		(sheet->record_count - at) * sizeof(sheet->records_kb[0]));
	sheet->records_kb[at] = record_kb;
	sheet->record_count++;
}

bool iozone_has_column(const struct iozone_sheet *sheet, enum iozone_pass pass)
{
	if (sheet->four_columns)
		return pass <= IOZONE_REREAD;
	if (pass >= IOZONE_FWRITE && pass <= IOZONE_REFREAD)
		return !sheet->no_stdio;
	if (pass >= IOZONE_PWRITE && pass <= IOZONE_REPREAD)
		return sheet->extended;
	if (pass >= IOZONE_PWRITEV && pass <= IOZONE_REPREADV)
		return sheet->extended && sheet->vectored;
	return pass != IOZONE_MIXED;
}

bool iozone_is_selected(const struct iozone_sheet *sheet, enum iozone_pass pass)
{
	return sheet->selected >> iozone_passes[pass].test & 1;
}

const struct iozone_cell *iozone_cell_of(const struct iozone_sheet *sheet, uint32_t row,
					 enum iozone_pass pass, uint32_t stream)
{
	for (size_t i = 0; i < sheet->cell_count; i++) {
		const struct iozone_cell *cell = &sheet->cells[i];

		if (cell->row == row && cell->pass == pass && cell->stream == stream)
			return cell;
	}
	return NULL;
}

double iozone_figure(const struct iozone_sheet *sheet, const struct iozone_cell *cell)
{
	const double seconds = (double)(cell->busy_ns ? cell->busy_ns : 1) / 1e9;

	if (!cell->count)
		return 0;
	switch (sheet->unit) {
	case IOZONE_OPS_PER_S:
		return (double)cell->count / seconds;
	case IOZONE_US_PER_OP:
		return seconds * 1e6 / (double)cell->count;
	case IOZONE_KB_PER_S:
		break;
	}
	return (double)cell->bytes / seconds / 1024;
}
