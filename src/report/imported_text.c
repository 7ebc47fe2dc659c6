/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "report/imported.h"
#include "report/layout.h"
#include "report/summary.h"

struct sources {
	const struct imported *sources;
	size_t count;
	size_t skip;		/* bytes of the directory that all their names begin with */
};

/* A line of the table. */
struct line {
	const struct sources *all;
	const struct imported *source;
	const struct imported_row *row;
};

/* A cell's text, nothing for what is not known. */
typedef void cell_fn(const struct line *at, struct text *ret);

static void add_figure(double figure, char *(*format)(double figure, char *buffer),
		       struct text *ret)
{
	char buffer[UNITS_TEXT_BYTES];

	if (!isnan(figure))
		text_add(ret, "%s", format(figure, buffer));
}

static char *format_exact_bytes(double bytes, char *buffer)
{
	return units_format_bytes(bytes < 1e18 ? (uint64_t)bytes : (uint64_t)1e18, buffer);
}

static char *format_count(double count, char *buffer)
{
	return units_format_count(count < 1e18 ? (uint64_t)count : (uint64_t)1e18, buffer);
}

static void source_cell(const struct line *at, struct text *ret)
{
	summary_add_printable(ret, at->source->file + at->all->skip);
}

static void name_cell(const struct line *at, struct text *ret)
{
	summary_add_printable(ret, at->row->name);
}

static void part_cell(const struct line *at, struct text *ret)
{
	if (at->row->part)
		summary_add_printable(ret, at->row->part);
}

static void op_cell(const struct line *at, struct text *ret)
{
	text_add(ret, "%s", imported_op_names[at->row->op]);
}

static void report_cell(const struct line *at, struct text *ret)
{
	text_add(ret, "%" PRIu32, at->row->report_number);
}

static void file_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->file_bytes, format_exact_bytes, ret);
}

static void block_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->block_bytes, format_exact_bytes, ret);
}

static void depth_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->depth_count, format_count, ret);
}

static void streams_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->stream_count, format_count, ret);
}

static void errors_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->error_count, format_count, ret);
}

static void count_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->count, format_count, ret);
}

static void bytes_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->bytes, units_format_size, ret);
}

static void rate_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->iops, units_format_rate, ret);
}

static void bandwidth_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->bytes_per_s, units_format_rate_bytes, ret);
}

static void wall_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->wall_bytes_per_s, units_format_rate_bytes, ret);
}

static void mean_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->latency.mean_ns, units_format_latency, ret);
}

static void p50_cell(const struct line *at, struct text *ret)
{
	add_figure(imported_percentile_ns(&at->row->latency, 50), units_format_latency, ret);
}

static void p99_cell(const struct line *at, struct text *ret)
{
	add_figure(imported_percentile_ns(&at->row->latency, 99), units_format_latency, ret);
}

static void p999_cell(const struct line *at, struct text *ret)
{
	add_figure(imported_percentile_ns(&at->row->latency, 99.9), units_format_latency, ret);
}

static void max_cell(const struct line *at, struct text *ret)
{
	add_figure(at->row->latency.max_ns, units_format_latency, ret);
}

static const struct column {
	const char *title, *fact;	/* fact: in plain text; NULL = part of what it is about */
	cell_fn *cell;
	bool left, plain_only;
	bool titled;			/* in plain text the title stands before the value */
} columns[] = {
	{ .title = "from", .cell = source_cell, .left = true },
	{ .title = "name", .cell = name_cell, .left = true },
	{ .title = "of", .cell = part_cell, .left = true },
	{ .title = "", .cell = op_cell, .left = true },
	{ .title = "report", .cell = report_cell, .titled = true },
	{ .title = "file", .cell = file_cell, .titled = true },
	{ .title = "block", .cell = block_cell, .titled = true },
	{ .title = "depth", .fact = "depth", .cell = depth_cell },
	{ .title = "streams", .fact = "streams", .cell = streams_cell },
	{ .title = "", .fact = "requests", .cell = count_cell, .plain_only = true },
	{ .title = "", .fact = "bytes", .cell = bytes_cell, .plain_only = true },
	{ .title = "errors", .fact = "errors", .cell = errors_cell },
	{ .title = "IOPS", .fact = "rate", .cell = rate_cell },
	{ .title = "bandwidth", .fact = "bandwidth", .cell = bandwidth_cell },
	{ .title = "to the end",
	  .fact = "bandwidth to the end of the last stream", .cell = wall_cell },
	{ .title = "mean", .fact = "latency mean", .cell = mean_cell },
	{ .title = "p50", .fact = "latency p50", .cell = p50_cell },
	{ .title = "p99", .fact = "latency p99", .cell = p99_cell },
	{ .title = "p99.9", .fact = "latency p99.9", .cell = p999_cell },
	{ .title = "max", .fact = "latency max", .cell = max_cell },
};
#define COLUMNS ARRAY_COUNT(columns)

static bool has_errors(const struct imported *imported)
{
	for (size_t i = 0; i < imported->row_count; i++) {
		if (imported->rows[i].error_count > 0)
			return true;
	}
	return false;
}

/* Columns that would say the same in every line are left out. */
static bool is_shown(const struct sources *all, const struct column *column)
{
	bool has_reports = false, has_error = false;

	for (size_t i = 0; i < all->count; i++) {
		has_reports |= all->sources[i].report_count > 1;
		has_error |= has_errors(&all->sources[i]);
	}
	if (column->cell == source_cell)
		return all->count > 1;
	if (column->cell == report_cell)
		return has_reports;
	return !column->plain_only && (column->cell != errors_cell || has_error);
}

/* Columns its widest cell takes; 0 = nothing is known in any line, and the column is left out. */
static size_t width_of(const struct sources *all, const struct column *column)
{
	size_t width = 0;

	if (!is_shown(all, column))
		return 0;
	for (size_t s = 0; s < all->count; s++) {
		const struct imported *source = &all->sources[s];

		for (size_t i = 0; i < source->row_count; i++) {
			struct text cell = TEXT_INIT;
			size_t have;

			column->cell(&(struct line){ all, source, &source->rows[i] }, &cell);
			have = text_columns(text_string(&cell));
			width = have > width ? have : width;
			text_done(&cell);
		}
	}
	return width && text_columns(column->title) > width ? text_columns(column->title) : width;
}

static void add_cell(const struct column *column, size_t width, const char *cell, struct text *ret)
{
	text_add(ret, "  ");
	if (column->left)
		layout_left(ret, cell, width);
	else
		layout_right(ret, *cell ? cell : "–", width);
}

static void add_lines(const struct sources *all, const struct imported *source,
		      const size_t *widths, struct text *ret)
{
	for (size_t i = 0; i < source->row_count; i++) {
		for (size_t c = 0; c < COLUMNS; c++) {
			struct text cell = TEXT_INIT;

			if (widths[c]) {
				columns[c].cell(&(struct line){ all, source, &source->rows[i] },
						&cell);
				add_cell(&columns[c], widths[c], text_string(&cell), ret);
			}
			text_done(&cell);
		}
		text_add(ret, "\n");
	}
}

static void add_table(const struct sources *all, const struct report_style *style, struct text *ret)
{
	size_t widths[COLUMNS], shown = 0;

	for (size_t c = 0; c < COLUMNS; c++) {
		widths[c] = width_of(all, &columns[c]);
		shown += widths[c] > 0;
	}
	if (!shown)
		return;
	text_add(ret, "%s", layout_tone(style, TONE_QUIET));
	for (size_t c = 0; c < COLUMNS; c++) {
		if (!widths[c])
			continue;
		text_add(ret, "  ");
		if (columns[c].left)
			layout_left(ret, columns[c].title, widths[c]);
		else
			layout_right(ret, columns[c].title, widths[c]);
	}
	text_add(ret, "%s\n", layout_end(style));
	for (size_t i = 0; i < all->count; i++)
		add_lines(all, &all->sources[i], widths, ret);
}

/* Facts about "a read", or "write write file 1m block 4k". */
static void add_facts(const struct sources *all, const struct line *at, struct text *ret)
{
	struct text about = TEXT_INIT, cell = TEXT_INIT;

	for (size_t c = 0; c < COLUMNS; c++) {
		const struct column *column = &columns[c];

		cell.length = 0;
		column->cell(at, &cell);
		if (!cell.length || (!column->fact && !is_shown(all, column)))
			continue;
		if (column->fact)
			text_add(ret, "%s %s: %s\n", text_string(&about), column->fact,
				 text_string(&cell));
		else
			text_add(&about, "%s%s%s%s", about.length ? " " : "",
				 column->titled ? column->title : "", column->titled ? " " : "",
				 text_string(&cell));
	}
	text_done(&about);
	text_done(&cell);
}

static bool same_files(const struct imported_row *a, const struct imported_row *b)
{
	if (a->file_count != b->file_count || strcmp(a->name, b->name) != 0)
		return false;
	for (size_t i = 0; i < a->file_count; i++) {
		if (strcmp(a->files[i], b->files[i]) != 0)
			return false;
	}
	return true;
}

static void add_files(const struct imported *imported, const char *indent, struct text *ret)
{
	for (size_t i = 0; i < imported->row_count; i++) {
		const struct imported_row *row = &imported->rows[i];

		if (!row->file_count || (i && same_files(row - 1, row)))
			continue;
		text_add(ret, "%sfiles of ", indent);
		summary_add_printable(ret, row->name);
		for (size_t f = 0; f < row->file_count; f++) {
			text_add(ret, f ? ", " : ": ");
			summary_add_printable(ret, row->files[f]);
		}
		text_add(ret, "\n");
	}
}

static void add_notes(const struct imported *imported, bool names_file,
		      const struct report_style *style, struct text *ret)
{
	for (size_t i = 0; i < imported->note_count; i++) {
		struct text note = TEXT_INIT;

		if (names_file) {
			summary_add_printable(&note, imported->file);
			text_add(&note, ": ");
		}
		summary_add_printable(&note, imported->notes[i]);
		text_add(ret, "%s ", style->plain ? "note:" : "·");
		layout_wrap(ret, text_string(&note), 2, style->plain ? SIZE_MAX : style->columns);
		text_add(ret, "\n");
		text_done(&note);
	}
}

/* The mean may be of one thing and the percentiles of another: fio's lat and clat. Once is enough. */
static bool add_spans(const struct imported *imported, const char *indent, struct text *ret)
{
	for (size_t i = 0; i < imported->row_count; i++) {
		const struct imported_latency *latency = &imported->rows[i].latency;

		if (latency->percentile_count && latency->percentile_span != latency->span &&
		    latency->percentile_span) {
			text_add(ret, "%smean and max: %s latency; percentiles: %s latency\n",
				 indent, imported_span_names[latency->span] ?
					 imported_span_names[latency->span] : "unknown",
				 imported_span_names[latency->percentile_span]);
			return true;
		}
	}
	return false;
}

static void add_heading(const struct imported *imported, const struct report_style *style,
			struct text *ret)
{
	text_add(ret, "%s", layout_tone(style, TONE_STRONG));
	summary_add_printable(ret, imported->file);
	text_add(ret, "%s: %s", layout_end(style), imported->tool);
	if (imported->version) {
		text_add(ret, " ");
		summary_add_printable(ret, strncmp(imported->version, "fio-", 4) == 0 ?
						   imported->version + 4 : imported->version);
	}
	text_add(ret, " (%s)\n", imported->format);
}

static void add_plain(const struct sources *all, struct text *ret)
{
	for (size_t s = 0; s < all->count; s++) {
		const struct imported *source = &all->sources[s];

		for (size_t i = 0; i < source->row_count; i++)
			add_facts(all, &(struct line){ all, source, &source->rows[i] }, ret);
	}
}

static size_t common_directory(const struct imported *sources, size_t count)
{
	size_t skip = 0;

	for (size_t at = 0; count > 1 && sources[0].file[at]; at++) {
		for (size_t i = 1; i < count; i++) {
			if (sources[i].file[at] != sources[0].file[at])
				return skip;
		}
		if (sources[0].file[at] == '/')
			skip = at + 1;
	}
	return skip;
}

void report_imported_text(const struct imported *sources, size_t count,
			  const struct report_style *style, struct text *ret)
{
	const struct sources all = { sources, count, common_directory(sources, count) };
	const char *indent = style->plain ? "" : "  ";
	const size_t start = ret->length;

	for (size_t i = 0; i < count; i++)
		add_heading(&sources[i], style, ret);
	if (style->plain)
		add_plain(&all, ret);
	else
		add_table(&all, style, ret);
	for (size_t i = 0; i < count && !add_spans(&sources[i], indent, ret); i++)
		continue;
	for (size_t i = 0; i < count; i++) {
		add_files(&sources[i], indent, ret);
		add_notes(&sources[i], count > 1, style, ret);
	}
	layout_finish(ret, start, style);
}
