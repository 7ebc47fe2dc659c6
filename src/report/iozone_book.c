/* SPDX-License-Identifier: MIT */
#include "report/iozone.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xlsxwriter.h>

#include "base/defer.h"

/*
 * The three formats are three ways to put a text or a number into a cell; what stands where is
 * said once.
 */
struct book {
	void (*label)(struct book *book, uint32_t row, uint32_t column, const char *label);
	void (*number)(struct book *book, uint32_t row, uint32_t column, double number);
	struct text *text;    /* CSV, BIFF */
	uint32_t row, column; /* CSV: where the text is */
	lxw_worksheet *sheet;
};

static void csv_go(struct book *book, uint32_t row, uint32_t column)
{
	assert(row > book->row || (row == book->row && column >= book->column));
	for (; book->row < row; book->row++, book->column = 0)
		text_add(book->text, "\n");
	for (; book->column < column; book->column++)
		text_add(book->text, ",");
}

static void csv_label(struct book *book, uint32_t row, uint32_t column, const char *label)
{
	csv_go(book, row, column);
	text_add(book->text, "\"");
	for (; *label; label++)
		text_add(book->text, *label == '"' ? "\"\"" : "%c", *label);
	text_add(book->text, "\"");
}

static void csv_number(struct book *book, uint32_t row, uint32_t column, double number)
{
	csv_go(book, row, column);
	text_add(book->text, number < 1e15 && number == (double)(uint64_t)number ? "%.0f" : "%.2f",
		 number);
}

/* A record: type, length, then row, column and three bytes of plain format. */
static void biff_cell(struct book *book, uint16_t type, uint32_t row, uint32_t column,
		      uint16_t more_bytes)
{
	const uint16_t head[] = { htole16(type), htole16((uint16_t)(7 + more_bytes)),
				  htole16((uint16_t)row), htole16((uint16_t)column) };

	text_add_bytes(book->text, (const char *)head, sizeof(head));
	text_add_bytes(book->text, "\0\0\0", 3);
}

static void biff_label(struct book *book, uint32_t row, uint32_t column, const char *label)
{
	const size_t length = strlen(label) < 255 ? strlen(label) : 255;
	const char count = (char)length;

	biff_cell(book, 4, row, column, (uint16_t)(1 + length));
	text_add_bytes(book->text, &count, 1);
	text_add_bytes(book->text, label, length);
}

static void biff_number(struct book *book, uint32_t row, uint32_t column, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	bits = htole64(bits);
	biff_cell(book, 3, row, column, sizeof(bits));
	text_add_bytes(book->text, (const char *)&bits, sizeof(bits));
}

static void xlsx_label(struct book *book, uint32_t row, uint32_t column, const char *label)
{
	worksheet_write_string(book->sheet, row, (lxw_col_t)column, label, NULL);
}

static void xlsx_number(struct book *book, uint32_t row, uint32_t column, double number)
{
	worksheet_write_number(book->sheet, row, (lxw_col_t)column, number, NULL);
}

static bool has_pass(const struct iozone_sheet *sheet, enum iozone_pass pass)
{
	for (size_t i = 0; i < sheet->cell_count; i++) {
		if (sheet->cells[i].pass == pass)
			return true;
	}
	return false;
}

static const char *unit_name(const struct iozone_sheet *sheet)
{
	static const char *const names[] = { "kBytes/sec", "ops/sec", "us/op" };

	return names[sheet->unit];
}

static uint32_t column_of(const struct iozone_sheet *sheet, uint64_t record_kb)
{
	uint32_t i = 0;

	while (i < sheet->record_count && sheet->records_kb[i] != record_kb)
		i++;
	return i + 1;
}

/* The title, the records, a line per file size. Returns the row behind it. */
static uint32_t write_pass(struct book *book, const struct iozone_sheet *sheet,
			   enum iozone_pass pass, uint32_t at)
{
	uint64_t file_kb = 0;

	book->label(book, at++, 0, iozone_passes[pass].book_title);
	for (uint32_t i = 0; i < sheet->record_count; i++)
		book->number(book, at, i + 1, (double)sheet->records_kb[i]);
	for (uint32_t row = 0; row < sheet->row_count; row++) {
		const struct iozone_row *r = &sheet->rows[row];
		const struct iozone_cell *cell = iozone_cell_of(sheet, row, pass, 0);

		if (r->file_kb != file_kb)
			book->number(book, ++at, 0, (double)r->file_kb);
		file_kb = r->file_kb;
		if (cell && cell->done && !cell->failed)
			book->number(book, at, column_of(sheet, r->record_kb),
				     (double)(uint64_t)iozone_figure(sheet, cell));
	}
	return at + 2;
}

static void write_table(struct book *book, const struct iozone_sheet *sheet)
{
	uint32_t at = 4;
	char text[256];

	snprintf(text, sizeof(text),
		 "The top row is records sizes, the left column is file sizes, both in kB; values "
		 "are "
		 "in %s%s",
		 unit_name(sheet), sheet->invalid ? "; INVALID FOR PERFORMANCE" : "");
	book->label(book, 2, 0, text);
	for (int pass = 0; pass < IOZONE_PASSES; pass++) {
		if (has_pass(sheet, (enum iozone_pass)pass))
			at = write_pass(book, sheet, (enum iozone_pass)pass, at);
	}
}

static void write_streams(struct book *book, const struct iozone_sheet *sheet)
{
	uint32_t at = 4;
	char text[128];

	snprintf(text, sizeof(text), "Throughput report: type of test, then number of %s%s",
		 sheet->threads ? "threads" : "processes",
		 sheet->invalid ? "; INVALID FOR PERFORMANCE" : "");
	book->label(book, 1, 0, text);
	snprintf(text, sizeof(text), "Record size = %" PRIu64 " kBytes", sheet->rows[0].record_kb);
	book->label(book, 2, 0, text);
	snprintf(text, sizeof(text), "Output is in %s", unit_name(sheet));
	book->label(book, 3, 0, text);
	for (const enum iozone_pass *pass = iozone_stream_order; *pass != IOZONE_PASSES; pass++) {
		if (!has_pass(sheet, *pass))
			continue;
		book->label(book, at, 0, iozone_passes[*pass].streams_title);
		for (uint32_t row = 0; row < sheet->row_count; row++)
			book->number(book, at, row + 2,
				     report_iozone_streams_rate(sheet, row, *pass));
		at++;
	}
}

static void write_all(struct book *book, const struct iozone_sheet *sheet)
{
	book->label(book, 0, 0, sheet->command);
	if (sheet->throughput)
		write_streams(book, sheet);
	else
		write_table(book, sheet);
}

static int take_file(int fd, struct text *ret, struct err *err)
{
	char part[4096];
	ssize_t got;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(err, -errno, "workbook");
	while ((got = read(fd, part, sizeof(part))) > 0)
		text_add_bytes(ret, part, (size_t)got);
	return got < 0 ? err_errno(err, -errno, "workbook") : 0;
}

/* The library writes to a path: that of a file in memory. */
static int write_xlsx(const struct iozone_sheet *sheet, struct text *ret, struct err *err)
{
	DEFER(defer_close) int fd = memfd_create("workbook", MFD_CLOEXEC);
	struct book book = { .label = xlsx_label, .number = xlsx_number };
	lxw_workbook *workbook;
	lxw_error failed;
	char path[64];

	if (fd < 0)
		return err_errno(err, -errno, "workbook");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	workbook = workbook_new(path);
	if (!workbook)
		return err_set(err, -ENOMEM, "workbook");
	book.sheet = workbook_add_worksheet(workbook, "iozone");
	write_all(&book, sheet);
	failed = workbook_close(workbook);
	if (failed != LXW_NO_ERROR)
		return err_set(err, -EIO, "workbook: %s", lxw_strerror(failed));
	return take_file(fd, ret, err);
}

int report_iozone_book(const struct iozone_sheet *sheet, enum iozone_book kind, struct text *ret,
		       struct err *err)
{
	static const char begin[] = { 9, 0, 4, 0, 2, 0, 16, 0 }, end[] = { 10, 0, 0, 0 };
	struct book book = { .label = csv_label, .number = csv_number, .text = ret };

	if (kind == IOZONE_BOOK_XLSX)
		return write_xlsx(sheet, ret, err);
	if (kind == IOZONE_BOOK_CSV) {
		write_all(&book, sheet);
		text_add(ret, "\n");
		return 0;
	}
	book.label = biff_label;
	book.number = biff_number;
	text_add_bytes(ret, begin, sizeof(begin));
	write_all(&book, sheet);
	text_add_bytes(ret, end, sizeof(end));
	return 0;
}
