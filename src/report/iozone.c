/* SPDX-License-Identifier: MIT */
#include "report/iozone.h"

#include <inttypes.h>
#include <string.h>

#define CALLED "3.508" /* the version whose layout this is */

static const char *unit_line(const struct iozone_sheet *sheet)
{
	return sheet->unit == IOZONE_KB_PER_S ? "Output is in kBytes/sec" : NULL;
}

static void add_option_lines(const struct iozone_sheet *sheet, struct text *ret)
{
	const char *at = sheet->option_lines ? sheet->option_lines : "";

	while (*at) {
		const size_t length = strcspn(at, "\n");

		text_add(ret, "\t%.*s\n", (int)length, at);
		at += length + 1;
	}
}

static void add_notes(const struct iozone_sheet *sheet, struct text *ret)
{
	if (sheet->invalid)
		text_add(ret, "\ttare: INVALID FOR PERFORMANCE: every block is checked\n");
	for (size_t i = 0; i < sheet->note_count; i++)
		text_add(ret, "\ttare: %s\n", sheet->notes[i]);
}

static const char *word_for_streams(const struct iozone_sheet *sheet, uint32_t count)
{
	if (sheet->threads)
		return count == 1 ? "thread" : "threads";
	return count == 1 ? "process" : "processes";
}

/* Spaces up to the column, then the word, so that it ends before it. */
static void add_ending(struct text *ret, size_t start, size_t end_column, const char *word)
{
	const size_t at = ret->length - start + strlen(word);

	text_add(ret, "%*s%s", end_column > at ? (int)(end_column - at) : 0, "", word);
}

static void add_header_line(const struct iozone_sheet *sheet, bool upper, struct text *ret)
{
	const size_t start = ret->length;
	size_t column = 24;

	add_ending(ret, start, 16, upper ? "" : "kB");
	add_ending(ret, start, 24, upper ? "" : "reclen");
	for (int pass = 0; pass < IOZONE_PASSES; pass++) {
		const struct iozone_pass_info *info = &iozone_passes[pass];

		if (!iozone_has_column(sheet, (enum iozone_pass)pass))
			continue;
		column += info->width;
		add_ending(ret, start, column - info->lower_short,
			   upper ? info->upper : info->lower);
	}
	add_ending(ret, start, column, "");
	text_add(ret, "\n");
}

static void add_rounds(const struct iozone_sheet *sheet, struct text *ret)
{
	if (!sheet->stream_count_min)
		return;
	text_add(ret, "\tMin process = %u \n", sheet->stream_count_min);
	text_add(ret, "\tMax process = %u \n", sheet->stream_count_max);
}

void report_iozone_banner(const struct iozone_sheet *sheet, const char *version, const char *began,
			  struct text *ret)
{
	text_add(ret, "\tIozone: Performance Test of File I/O\n");
	text_add(ret, "\t        Version $Revision: " CALLED " $\n");
	text_add(ret, "\t\tCompiled for 64 bit mode.\n");
	text_add(ret, "\t\tBuild: tare %s \n\n", version);
	text_add(ret,
		 "\tContributors: none of iozone's: tare measures, and prints as iozone does.\n\n");
	text_add(ret, "\tRun began: %s\n\n", began);
	add_option_lines(sheet, ret);
	add_notes(sheet, ret);
	text_add(ret, "\tCommand line used: %s\n", sheet->command);
	if (unit_line(sheet))
		text_add(ret, "\t%s\n", unit_line(sheet));
	text_add(ret, "\tTime Resolution = 0.000001 seconds.\n");
	text_add(ret, "\tProcessor cache size set to %u kBytes.\n", sheet->cache_kb);
	text_add(ret, "\tProcessor cache line size set to %u bytes.\n", sheet->cache_line_bytes);
	text_add(ret, "\tFile stride size set to %u * record size.\n", sheet->stride_records);
	if (sheet->throughput) {
		add_rounds(sheet, ret);
		return;
	}
	add_header_line(sheet, true, ret);
	add_header_line(sheet, false, ret);
}

static void add_value(const struct iozone_sheet *sheet, uint32_t row, enum iozone_pass pass,
		      struct text *ret)
{
	const struct iozone_cell *cell = iozone_cell_of(sheet, row, pass, 0);
	const int width = (int)iozone_passes[pass].width;

	if (cell && (cell->failed || !cell->done))
		text_add(ret, "%*s", width, "n/a");
	else
		text_add(ret, "%*" PRIu64, width,
			 cell ? (uint64_t)iozone_figure(sheet, cell) : (uint64_t)0);
}

/* Blanks for a test that was not selected, over all its columns; once, at its first. */
static void add_blanks(const struct iozone_sheet *sheet, enum iozone_pass pass, struct text *ret)
{
	const uint32_t test = iozone_passes[pass].test;
	uint32_t width = 0;

	for (int i = 0; i < IOZONE_PASSES; i++) {
		if (iozone_passes[i].test != test)
			continue;
		if (i < (int)pass)
			return;
		width += iozone_passes[i].width;
	}
	text_add(ret, "%*s", (int)(sheet->historical_blanks ? iozone_skipped_blanks[test] : width),
		 "");
}

void report_iozone_row(const struct iozone_sheet *sheet, uint32_t row, struct text *ret)
{
	const struct iozone_row *at = &sheet->rows[row];

	text_add(ret, "%16" PRIu64 "%8" PRIu64, at->file_kb, at->record_kb);
	for (int pass = 0; pass < IOZONE_PASSES; pass++) {
		if (!iozone_has_column(sheet, (enum iozone_pass)pass))
			continue;
		if (iozone_is_selected(sheet, (enum iozone_pass)pass))
			add_value(sheet, row, (enum iozone_pass)pass, ret);
		else
			add_blanks(sheet, (enum iozone_pass)pass, ret);
	}
	text_add(ret, "\n");
}

void report_iozone_round(const struct iozone_sheet *sheet, uint32_t row, struct text *ret)
{
	const struct iozone_row *at = &sheet->rows[row];
	const char *word = word_for_streams(sheet, at->stream_count);

	text_add(ret, "\tThroughput test with %u %s\n", at->stream_count, word);
	text_add(ret, "\tEach %s writes a %" PRIu64 " kByte file in %" PRIu64 " kByte records\n\n",
		 sheet->threads ? "thread" : "process", at->file_kb, at->record_kb);
}

/* What the streams of a pass did together. */
struct together {
	uint32_t count;
	double sum, min, max; /* of rates */
	double transfer_min;  /* kB, or requests */
	uint64_t bytes, requests, start_ns, end_ns;
};

static double transfer_of(const struct iozone_sheet *sheet, const struct iozone_cell *cell)
{
	return sheet->unit == IOZONE_OPS_PER_S ? (double)cell->count : (double)cell->bytes / 1024;
}

static void add_stream(const struct iozone_sheet *sheet, const struct iozone_cell *cell,
		       struct together *sum)
{
	const double rate = iozone_figure(sheet, cell), transfer = transfer_of(sheet, cell);
	const uint64_t end_ns = cell->start_ns + cell->duration_ns;

	if (sum->count == 0 || rate < sum->min)
		sum->min = rate;
	if (rate > sum->max)
		sum->max = rate;
	if (sum->count == 0 || transfer < sum->transfer_min)
		sum->transfer_min = transfer;
	if (sum->count == 0 || cell->start_ns < sum->start_ns)
		sum->start_ns = cell->start_ns;
	if (end_ns > sum->end_ns)
		sum->end_ns = end_ns;
	sum->sum += rate;
	sum->bytes += cell->bytes;
	sum->requests += cell->count;
	sum->count++;
}

static struct together sum_up(const struct iozone_sheet *sheet, uint32_t row, enum iozone_pass pass)
{
	struct together ret = { 0 };

	for (size_t i = 0; i < sheet->cell_count; i++) {
		const struct iozone_cell *cell = &sheet->cells[i];

		if (cell->row == row && cell->pass == pass && cell->done && !cell->failed)
			add_stream(sheet, cell, &ret);
	}
	return ret;
}

double report_iozone_streams_rate(const struct iozone_sheet *sheet, uint32_t row,
				  enum iozone_pass pass)
{
	return sum_up(sheet, row, pass).sum;
}

static double parents_rate(const struct iozone_sheet *sheet, const struct together *sum)
{
	const uint64_t wall_ns = sum->end_ns - sum->start_ns;
	const double seconds = (double)(wall_ns ? wall_ns : 1) / 1e9;

	if (sheet->unit == IOZONE_OPS_PER_S)
		return (double)sum->requests / seconds;
	return (double)sum->bytes / 1024 / seconds;
}

static void add_per_stream(const struct iozone_sheet *sheet, uint32_t row, enum iozone_pass pass,
			   struct text *ret)
{
	const bool ops = sheet->unit == IOZONE_OPS_PER_S;

	for (size_t i = 0; i < sheet->cell_count; i++) {
		const struct iozone_cell *cell = &sheet->cells[i];

		if (cell->row != row || cell->pass != pass || !cell->done)
			continue;
		text_add(ret, "\tChild[%u] xfer count = %10.2f %s, Throughput = %10.2f %s\n",
			 cell->stream, transfer_of(sheet, cell), ops ? "ops" : "kB",
			 iozone_figure(sheet, cell), ops ? "ops/sec" : "kB/sec");
	}
}

void report_iozone_pass(const struct iozone_sheet *sheet, uint32_t row, enum iozone_pass pass,
			struct text *ret)
{
	const struct iozone_pass_info *info = &iozone_passes[pass];
	const bool ops = sheet->unit == IOZONE_OPS_PER_S;
	const char *unit = ops ? "ops/sec" : "kB/sec", *one = sheet->threads ? "thread" : "process";
	const struct together sum = sum_up(sheet, row, pass);
	const int wide = info->streams_wide ? 2 : 1;

	text_add(ret, "\tChildren see throughput for %*u %s \t= %10.2f %s\n", wide,
		 sheet->rows[row].stream_count, info->streams, sum.sum, unit);
	text_add(ret, "\tParent sees throughput for %*u %s \t= %10.2f %s\n", wide,
		 sheet->rows[row].stream_count, info->streams, parents_rate(sheet, &sum), unit);
	text_add(ret, "\tMin throughput per %s \t\t\t= %10.2f %s \n", one, sum.min, unit);
	text_add(ret, "\tMax throughput per %s \t\t\t= %10.2f %s\n", one, sum.max, unit);
	text_add(ret, "\tAvg throughput per %s \t\t\t= %10.2f %s\n", one,
		 sum.count ? sum.sum / sum.count : 0, unit);
	text_add(ret, "\tMin xfer \t\t\t\t\t= %10.2f %s\n", sum.transfer_min, ops ? "ops" : "kB");
	if (sheet->per_stream)
		add_per_stream(sheet, row, pass, ret);
	if (sum.count < sheet->rows[row].stream_count)
		text_add(ret, "\ttare: %u of %u streams failed: see the end\n",
			 sheet->rows[row].stream_count - sum.count, sheet->rows[row].stream_count);
	text_add(ret, "\n");
}

static bool has_cells(const struct iozone_sheet *sheet, enum iozone_pass pass)
{
	for (size_t i = 0; i < sheet->cell_count; i++) {
		if (sheet->cells[i].pass == pass)
			return true;
	}
	return false;
}

/* One line per file size; what the cross-over left out is 0. */
static void add_report(const struct iozone_sheet *sheet, enum iozone_pass pass, struct text *ret)
{
	text_add(ret, "\"%s\"\n      ", iozone_passes[pass].title);
	for (size_t i = 0; i < sheet->record_count; i++)
		text_add(ret, "  \"%" PRIu64 "\"", sheet->records_kb[i]);
	for (uint32_t row = 0; row < sheet->row_count;) {
		const uint64_t file_kb = sheet->rows[row].file_kb;

		text_add(ret, "\n\"%" PRIu64 "\" ", file_kb);
		for (size_t i = 0; i < sheet->record_count && sheet->records_kb[i] <= file_kb;
		     i++) {
			const bool here = row < sheet->row_count &&
					  sheet->rows[row].file_kb == file_kb &&
					  sheet->rows[row].record_kb == sheet->records_kb[i];
			const struct iozone_cell *cell =
				here ? iozone_cell_of(sheet, row, pass, 0) : NULL;

			text_add(ret, "  %" PRIu64,
				 cell ? (uint64_t)iozone_figure(sheet, cell) : (uint64_t)0);
			row += here;
		}
		text_add(ret, " ");
		while (row < sheet->row_count && sheet->rows[row].file_kb == file_kb)
			row++;
	}
	text_add(ret, "\n\n");
}

static void add_streams_report(const struct iozone_sheet *sheet, struct text *ret)
{
	text_add(ret, "\n\n\n\"Throughput report Y-axis is type of test X-axis is number of %s\"\n",
		 sheet->threads ? "threads" : "processes");
	text_add(ret, "\"Record size = %" PRIu64 " kBytes \"\n", sheet->rows[0].record_kb);
	text_add(ret, "\"Output is in %s\"\n",
		 sheet->unit == IOZONE_OPS_PER_S ? "ops/sec" : "kBytes/sec");
	for (const enum iozone_pass *pass = iozone_stream_order; *pass != IOZONE_PASSES; pass++) {
		if (!has_cells(sheet, *pass))
			continue;
		text_add(ret, "\n\"%15s \" ", iozone_passes[*pass].streams_title);
		for (uint32_t row = 0; row < sheet->row_count; row++)
			text_add(ret, "%.2f ", report_iozone_streams_rate(sheet, row, *pass));
		text_add(ret, "\n");
	}
}

void report_iozone_end(const struct iozone_sheet *sheet, struct text *ret)
{
	if (sheet->throughput && sheet->excel)
		add_streams_report(sheet, ret);
	text_add(ret,
		 sheet->interrupted ? "\niozone: interrupted.\n" : "\niozone test complete.\n");
	if (sheet->invalid)
		text_add(ret, "INVALID FOR PERFORMANCE: every block was checked\n");
	if (sheet->throughput || !sheet->excel)
		return;
	text_add(ret, "Excel output is below:\n\n");
	for (int pass = 0; pass < IOZONE_PASSES; pass++) {
		if (has_cells(sheet, (enum iozone_pass)pass))
			add_report(sheet, (enum iozone_pass)pass, ret);
	}
}

static size_t count_of(const struct result *result, const char *code)
{
	size_t ret = 0;

	for (size_t i = 0; i < result->finding_count; i++)
		ret += strcmp(result->findings[i].code, code) == 0;
	return ret;
}

static bool was_told(const struct result *result, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (strcmp(result->findings[i].code, result->findings[index].code) == 0)
			return true;
	}
	return false;
}

static bool is_in_banner(const struct finding *f)
{
	return strcmp(f->code, "iozone-note") == 0 || strcmp(f->code, "iozone-invalid") == 0;
}

/* With the record and the offset, where a finding has but the kind of error. */
static void add_error(const struct result *result, struct text *ret)
{
	for (size_t i = 0; i < result->finding_count; i++) {
		if (strcmp(result->findings[i].text, result->error_text) == 0)
			return;
	}
	if (*result->error_text)
		text_add(ret, "tare: error: %s\n", result->error_text);
}

void report_iozone_findings(const struct result *result, struct text *ret)
{
	add_error(result, ret);
	for (size_t i = 0; i < result->finding_count; i++) {
		const struct finding *f = &result->findings[i];
		const size_t count = count_of(result, f->code);

		/* What was asked is in the banner. */
		if (was_told(result, i) || is_in_banner(f))
			continue;
		text_add(ret, "tare: %s: %s%s%s: %s", severity_names[f->severity], f->code,
			 *f->measurement ? ", " : "", f->measurement, f->text);
		if (count > 1)
			text_add(ret, " (and %zu more: --json)", count - 1);
		text_add(ret, "\n");
	}
}
