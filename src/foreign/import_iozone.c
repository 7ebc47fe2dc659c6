/* SPDX-License-Identifier: MIT */
/*
 * What iozone prints: the table of a single stream and auto mode, and the blocks of throughput
 * mode. A test that was not selected leaves blanks narrower than its columns, so that a value's
 * place says nothing: values are counted against the header and the -i list of the command line.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "foreign/import_parts.h"
#include "model/iozone.h"

#define VALUES_MAX 64	/* -+u has a second figure for each test: told, not taken */

struct reader {
	struct imported *ret;
	struct err *err;
	size_t line;

	/* of the banner */
	enum iozone_unit unit;
	uint32_t selected;			/* bit per -i of the command line; 0 = none there */
	bool four_columns;			/* -A */
	bool completed;

	/* the table's header, and a row that had all its columns: where each ends */
	enum iozone_pass columns[IOZONE_PASSES];
	size_t column_count;
	size_t ends[VALUES_MAX], ends_count;

	/* throughput mode */
	double stream_count, file_kb, record_kb;
	bool has_block;				/* the last row is a block's */
	bool skips;				/* the spreadsheet behind says the same again */
	size_t short_line;			/* of a row that was cut short; 0 = none */
	size_t absent_count, failed_count, short_count, stopped_count;
};

static bool is_selected(const struct reader *r, enum iozone_pass pass)
{
	return !r->selected || r->selected >> iozone_passes[pass].test & 1;
}

/* --- the banner --------------------------------------------------------------------------- */

static void take_command(struct reader *r, struct span command)
{
	struct span word;

	r->selected = 0;
	r->four_columns = false;
	while ((word = span_word(&command)).length) {
		struct span test = { word.at + 2, word.length - 2 };

		if (word.length < 2 || word.at[0] != '-')
			continue;
		r->four_columns |= word.length == 2 && word.at[1] == 'A';
		if (word.at[1] != 'i')
			continue;
		if (word.length == 2)
			test = span_word(&command);
		if (span_number(test) >= 0 && span_number(test) < IOZONE_TESTS)
			r->selected |= 1u << (uint32_t)span_number(test);
	}
}

static void take_version(struct reader *r, struct span behind)
{
	const struct span version = span_word(&behind);

	imported_set_version(r->ret, version.at, version.length);
}

/* Another run in the same file begins with its title; at the end, what is there is looked over. */
static int end_run(struct reader *r)
{
	if (r->short_line && r->completed)
		return err_set(r->err, -EINVAL, "line %zu: fewer figures than tests that were "
						"selected, though the run went through", r->short_line);
	r->short_count += r->short_line > 0;
	r->stopped_count += !r->completed;
	return 0;
}

static int begin_run(struct reader *r)
{
	int rc = r->ret->row_count ? end_run(r) : 0;

	if (r->ret->row_count)
		r->ret->report_count++;
	r->column_count = r->ends_count = 0;
	r->unit = IOZONE_KB_PER_S;
	r->selected = 0;
	r->stream_count = r->file_kb = r->record_kb = NAN;
	r->has_block = r->skips = r->completed = r->four_columns = false;
	r->short_line = 0;
	return rc;
}

static bool take_banner(struct reader *r, struct span line)
{
	struct span behind;

	if ((behind = span_behind(line, "$Revision:")).at)
		take_version(r, behind);
	else if ((behind = span_behind(line, "Command line used:")).at)
		take_command(r, behind);
	else if (span_behind(line, "OPS Mode.").at)
		r->unit = IOZONE_OPS_PER_S;
	else if (span_behind(line, "Microseconds/op Mode.").at)
		r->unit = IOZONE_US_PER_OP;
	else if (span_behind(line, "iozone test complete").at)
		r->completed = true;
	else if (span_behind(line, "Excel output is below").at ||
		 span_behind(line, "\"Throughput report Y-axis").at)
		r->skips = true;
	else
		return false;
	return true;
}

/* --- the table ---------------------------------------------------------------------------- */

/*
 * The lower header line, whose words are those of the passes in their order: of several "read",
 * each is the next one.
 */
static bool take_header(struct reader *r, struct span line)
{
	const struct span first = span_word(&line), second = span_word(&line);
	int pass = 0;
	struct span word;

	if (!span_is(first, "kB") || !span_is(second, "reclen"))
		return false;
	r->column_count = r->ends_count = 0;
	while ((word = span_word(&line)).length) {
		while (pass < IOZONE_MIXED && !span_is(word, iozone_passes[pass].lower))
			pass++;
		if (pass == IOZONE_MIXED)
			break;
		r->columns[r->column_count++] = (enum iozone_pass)pass++;
	}
	return true;
}

/* The file's and the record's size, then the figures; "n/a" is one that failed. */
struct cells {
	struct span cells[VALUES_MAX];
	size_t count;
};

/* 1 for a row, 0 for a line that is none: it begins with two numbers. */
static int split_words(const struct reader *r, struct span line, struct cells *ret)
{
	struct span word;

	ret->count = 0;
	while (ret->count < VALUES_MAX && (word = span_word(&line)).length) {
		ret->cells[ret->count++] = word;
		if (!isnan(span_number(word)))
			continue;
		if (ret->count <= 2)
			return 0;
		if (!span_is(word, "n/a"))
			return err_set(r->err, -EINVAL, "line %zu: '%.*s' is no figure", r->line,
				       (int)(word.length < 40 ? word.length : 40), word.at);
	}
	return ret->count >= 2;
}

/* Figures that fill their columns touch: cut where a complete row of the same length has ends. */
static void split_at_ends(const struct reader *r, struct span line, struct cells *ret)
{
	struct cells cut = { .count = 0 };
	size_t from = 0;

	if (!r->ends_count || line.length != r->ends[r->ends_count - 1])
		return;
	for (size_t i = 0; i < r->ends_count; i++) {
		const struct span cell = { line.at + from, r->ends[i] - from };

		cut.cells[cut.count++] = span_trim(cell);
		if (isnan(span_number(span_trim(cell))))
			return;
		from = r->ends[i];
	}
	*ret = cut;
}

static void remember_ends(struct reader *r, struct span line, const struct cells *cells)
{
	r->ends_count = cells->count;
	for (size_t i = 0; i < cells->count; i++)
		r->ends[i] = (size_t)(cells->cells[i].at - line.at) + cells->cells[i].length;
}

static void set_figure(const struct reader *r, struct imported_row *row, double figure)
{
	const double kib = (double)KIB;

	switch (r->unit) {
	case IOZONE_KB_PER_S:
		row->bytes_per_s = figure * kib;
		if (row->block_bytes > 0)
			row->iops = row->bytes_per_s / row->block_bytes;
		break;
	case IOZONE_OPS_PER_S:
		row->iops = figure;
		if (row->block_bytes > 0)
			row->bytes_per_s = figure * row->block_bytes;
		break;
	case IOZONE_US_PER_OP:
		row->latency.span = IMPORTED_TOTAL;
		row->latency.mean_ns = figure * (double)MICROSECOND_NS;
		row->iops = (double)SECOND_NS / row->latency.mean_ns;
		if (row->block_bytes > 0)
			row->bytes_per_s = row->iops * row->block_bytes;
		break;
	}
}

static enum imported_op op_of(enum iozone_pass pass)
{
	if (pass == IOZONE_MIXED)
		return IMPORTED_MIXED;
	return iozone_passes[pass].writes ? IMPORTED_WRITE : IMPORTED_READ;
}

static void add_cell(struct reader *r, const struct cells *cells, size_t index,
		     enum iozone_pass pass)
{
	const double figure = span_number(cells->cells[index]);
	const double record_kb = span_number(cells->cells[1]);
	struct imported_row *row;

	if (!(figure > 0)) {
		/* -+n prints 0 for what it leaves out, tare n/a for what failed. */
		if (isnan(figure))
			r->failed_count++;
		else
			r->absent_count++;
		return;
	}
	row = imported_add_row(r->ret, iozone_passes[pass].name, op_of(pass));
	row->file_bytes = span_number(cells->cells[0]) * (double)KIB;
	row->stream_count = 1;
	/* A telemetry file's records differ: 0. */
	if (record_kb > 0)
		row->block_bytes = record_kb * (double)KIB;
	set_figure(r, row, figure);
}

static size_t count_selected(const struct reader *r)
{
	size_t count = 0;

	for (size_t i = 0; i < r->column_count; i++)
		count += is_selected(r, r->columns[i]);
	return count;
}

/* Figures in the order of the columns that were selected. */
static void add_cells(struct reader *r, const struct cells *cells, bool all)
{
	size_t index = 2;

	for (size_t i = 0; i < r->column_count && index < cells->count; i++) {
		if (all || is_selected(r, r->columns[i]))
			add_cell(r, cells, index++, r->columns[i]);
	}
}

static int take_row(struct reader *r, struct span line)
{
	const size_t limit = r->four_columns && r->column_count > 4 ? 4 : r->column_count;
	const size_t selected = r->four_columns ? limit : count_selected(r);
	struct cells cells;
	size_t figures;
	int rc;

	while (line.length && line.at[line.length - 1] == ' ')
		line.length--;
	rc = split_words(r, line, &cells);
	if (rc <= 0)
		return rc;
	if (r->short_line)
		return err_set(r->err, -EINVAL, "line %zu: fewer figures than in line %zu, which "
						"follows it", r->short_line, r->line);
	if (cells.count - 2 != r->column_count && cells.count - 2 != selected)
		split_at_ends(r, line, &cells);
	figures = cells.count - 2;
	if (figures == r->column_count || figures == selected) {
		remember_ends(r, line, &cells);
		add_cells(r, &cells, figures == r->column_count || r->four_columns);
		return 0;
	}
	/* iozone prints each figure as it comes: the last row of a stopped run is short. */
	if (figures < selected && (r->selected || r->four_columns || r->ends_count)) {
		r->short_line = r->line;
		add_cells(r, &cells, r->four_columns);
		return 0;
	}
	err_set(r->err, -EINVAL, "line %zu: %zu figures for %zu tests: which are they?", r->line,
		figures, selected);
	return err_hint(r->err, "the -i list is taken from \"Command line used:\"; is that line there, "
				"and whole?");
}

/* --- throughput mode ---------------------------------------------------------------------- */

static const enum iozone_pass *find_streams(struct span name)
{
	for (const enum iozone_pass *pass = iozone_stream_order; *pass != IOZONE_PASSES; pass++) {
		if (span_is(name, iozone_passes[*pass].streams))
			return pass;
	}
	return NULL;
}

/* "= 4654248.50 kB/sec"; NaN when it is not that. */
static double figure_of(struct reader *r, struct span line)
{
	struct span behind = span_behind(line, "=");
	const double figure = span_number(span_word(&behind));
	const struct span unit = span_word(&behind);

	if (span_is(unit, "ops/sec"))
		r->unit = IOZONE_OPS_PER_S;
	else if (!span_is(unit, "kB/sec"))
		return NAN;
	return figure;
}

/* "Children see throughput for  2 initial writers  = 4654248.50 kB/sec" */
static int take_block(struct reader *r, struct span line)
{
	struct span name = span_behind(line, "throughput for");
	const double streams = span_number(span_word(&name)), figure = figure_of(r, line);
	const enum iozone_pass *pass;
	struct imported_row *row;

	name = span_trim(span_field(&name, '='));
	pass = find_streams(name);
	if (!pass || isnan(streams) || isnan(figure)) {
		err_set(r->err, -EINVAL, "line %zu: '%.*s' is no test of throughput mode with its "
					 "figure in kB/sec or ops/sec", r->line,
			(int)(line.length < 80 ? line.length : 80), line.at);
		return r->err->code;
	}
	row = imported_add_row(r->ret, iozone_passes[*pass].name, op_of(*pass));
	row->stream_count = streams;
	row->file_bytes = r->file_kb * (double)KIB;
	if (r->record_kb > 0)
		row->block_bytes = r->record_kb * (double)KIB;
	set_figure(r, row, figure);
	r->has_block = true;
	return 0;
}

/* "Parent sees throughput for ... =  330845.14 kB/sec": of the block before it. */
static void take_parent(struct reader *r, struct span line)
{
	struct imported_row *row;
	double figure = figure_of(r, line);

	if (!r->has_block)
		return;
	row = &r->ret->rows[r->ret->row_count - 1];
	if (r->unit == IOZONE_OPS_PER_S)
		figure *= row->block_bytes;
	else
		figure *= (double)KIB;
	row->wall_bytes_per_s = figure;
	r->has_block = false;
}

/* "Each process writes a 1024 kByte file in 4 kByte records" */
static void take_round(struct reader *r, struct span line)
{
	struct span file = span_behind(line, "writes a"), record = span_behind(line, "file in");

	r->file_kb = span_number(span_word(&file));
	r->record_kb = span_number(span_word(&record));
}

static int take_line(struct reader *r, struct span line)
{
	const struct span words = span_trim(line);

	if (span_behind(words, "Performance Test of File I/O").at)
		return begin_run(r);
	if (take_banner(r, words) || r->skips)
		return 0;
	if (span_begins(words, "Children see throughput for"))
		return take_block(r, words);
	if (span_begins(words, "Parent sees throughput for"))
		take_parent(r, words);
	else if (span_begins(words, "Each ") && span_behind(words, "writes a").at)
		take_round(r, words);
	else if (!take_header(r, words) && r->column_count)
		return take_row(r, line);
	return 0;
}

static void add_notes(const struct reader *r)
{
	if (r->absent_count)
		imported_note(r->ret, "no row for tests with a figure of 0, left out or without time to "
				      "move: %zu", r->absent_count);
	if (r->failed_count)
		imported_note(r->ret, "no row for tests with n/a, which failed or were refused: %zu",
			      r->failed_count);
	if (r->short_count)
		imported_note(r->ret, "the last row is cut short: its figures are those of the first "
				      "tests selected");
	if (r->stopped_count)
		imported_note(r->ret, "\"iozone test complete.\" is not there: the run did not end, or "
				      "the file is cut short");
}

int import_iozone(struct imported *ret, struct span text, struct err *err)
{
	struct reader r = { .ret = ret, .err = err };
	int rc;

	ret->tool = "iozone";
	ret->format = "output";
	ret->report_count = 1;
	rc = begin_run(&r);
	while (rc == 0 && text.length) {
		r.line++;
		rc = take_line(&r, span_line(&text));
	}
	if (rc == 0)
		rc = end_run(&r);
	if (rc == 0)
		add_notes(&r);
	return rc;
}
