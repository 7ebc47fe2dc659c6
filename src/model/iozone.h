/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * iozone - what an iozone command line says that no workload can hold, and that its reader
 * expects back in the output: rows and columns, units, the option lines. foreign/iozone fills
 * it beside the plan; the figures come in as the measurements end; report/iozone prints it.
 *
 * Ownership: the sheet's lists and texts are its own: iozone_sheet_done, which takes a zeroed one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* A pass over the file: one column of the table, one block in throughput mode. */
enum iozone_pass {
	IOZONE_WRITE,
	IOZONE_REWRITE,
	IOZONE_READ,
	IOZONE_REREAD,
	IOZONE_RANDOM_READ,
	IOZONE_RANDOM_WRITE,
	IOZONE_BACKWARD,
	IOZONE_RECORD_REWRITE,
	IOZONE_STRIDE,
	IOZONE_FWRITE,
	IOZONE_REFWRITE,
	IOZONE_FREAD,
	IOZONE_REFREAD,
	IOZONE_PWRITE,
	IOZONE_REPWRITE,
	IOZONE_PREAD,
	IOZONE_REPREAD,
	IOZONE_PWRITEV,
	IOZONE_REPWRITEV,
	IOZONE_PREADV,
	IOZONE_REPREADV,
	IOZONE_MIXED,		/* throughput mode only */
	IOZONE_PASSES,
};

#define IOZONE_TESTS 13		/* -i 0 to 12 */

/* In the order of the table's columns. */
struct iozone_pass_info {
	const char *name;		/* of measurements: "write", "random-read" */
	uint32_t test;			/* -i */
	bool again;			/* a retest: -+n leaves it out */
	bool writes;
	uint32_t width;			/* of the column; 0 = has none */
	const char *upper, *lower;	/* its two header words; upper "" for most */
	uint32_t lower_short;		/* the header ends so many columns before the data */
	const char *title;		/* of its -R report: "Writer report" */
	const char *book_title;		/* of its -b block: "Writer Report" */
	const char *streams;		/* throughput: "initial writers"; NULL = none */
	bool streams_wide;		/* their count is printed two wide */
	const char *streams_title;	/* of its -R line: "Initial write" */
};
extern const struct iozone_pass_info iozone_passes[IOZONE_PASSES];

/* Throughput mode's own order; ends with IOZONE_PASSES. */
extern const enum iozone_pass iozone_stream_order[];

/* Blanks iozone prints for a test that is not selected, against its columns' width. */
extern const uint8_t iozone_skipped_blanks[IOZONE_TESTS];

enum iozone_unit { IOZONE_KB_PER_S, IOZONE_OPS_PER_S, IOZONE_US_PER_OP };

/* A line of the table, or a round of throughput mode. */
struct iozone_row {
	uint64_t file_kb, record_kb;
	uint32_t stream_count;		/* throughput; else 1 */
};

/* One measuring phase of the plan, in its order, and what it gave. */
struct iozone_cell {
	uint32_t row;
	enum iozone_pass pass;
	uint32_t stream;
	bool reads;			/* a mixed pass: this stream reads */
	bool pauses_count;		/* pauses asked for are in the figures' time */
	size_t phase;			/* of the plan */
	bool done, failed;
	uint64_t count, bytes;
	uint64_t start_ns, duration_ns;	/* of the measurement */
	uint64_t busy_ns;		/* what the figures are of: without asked pauses */
};

struct iozone_sheet {
	bool throughput, four_columns;	/* -t, -l, -u; -A */
	bool extended;			/* -E: pwrite, pread */
	bool vectored;			/* -i 11, 12 */
	bool no_stdio;			/* -H, -k, -B: these columns are absent */
	bool historical_blanks;		/* --exact */
	bool no_retest;			/* -+n */
	bool threads;			/* -T: the word for streams */
	bool per_stream;		/* -C */
	bool excel;			/* -R */
	bool invalid;			/* -V, -+d: figures are no performance */
	uint32_t stream_count_min, stream_count_max;	/* -l, -u; 0 = not given */
	uint32_t stride_records;
	uint32_t cache_kb, cache_line_bytes;	/* -S, -L: printed, no more */
	bool interrupted;
	enum iozone_unit unit;
	uint32_t selected;		/* bit per test */

	char *command;			/* owned: "iozone -a ..." */
	char *option_lines;		/* owned: the banner's, each with its newline, without tabs */
	char **notes;			/* owned sentences: what is not literal, what has no effect */
	size_t note_count;
	uint64_t *records_kb;		/* owned: of the sweep, ascending */
	size_t record_count;
	struct iozone_row *rows;	/* owned */
	size_t row_count;
	struct iozone_cell *cells;	/* owned */
	size_t cell_count;
};

void iozone_sheet_done(struct iozone_sheet *sheet);
void iozone_sheet_note(struct iozone_sheet *sheet, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct iozone_row *iozone_sheet_add_row(struct iozone_sheet *sheet);	/* zeroed */
struct iozone_cell *iozone_sheet_add_cell(struct iozone_sheet *sheet);	/* zeroed */
void iozone_sheet_add_record(struct iozone_sheet *sheet, uint64_t record_kb);

/* Whether the pass has a column in this table, and whether its test was selected. */
bool iozone_has_column(const struct iozone_sheet *sheet, enum iozone_pass pass);
bool iozone_is_selected(const struct iozone_sheet *sheet, enum iozone_pass pass);

/* NULL when the row has no such pass. */
const struct iozone_cell *iozone_cell_of(const struct iozone_sheet *sheet, uint32_t row,
					 enum iozone_pass pass, uint32_t stream);

/* In the sheet's unit; kB/s and us/op as iozone cuts them to whole numbers in its table. */
double iozone_figure(const struct iozone_sheet *sheet, const struct iozone_cell *cell);
