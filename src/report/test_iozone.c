/* SPDX-License-Identifier: MIT */
#include "report/iozone.h"

#include <stdlib.h>

#include "base/check.h"

static char *copy(const char *words)
{
	char *ret = strdup(words);

	if (!ret)
		abort();
	return ret;
}

static struct iozone_sheet *sheet_of(uint32_t selected)
{
	static struct iozone_sheet sheet;

	iozone_sheet_done(&sheet);
	sheet.selected = selected;
	sheet.command = copy("iozone -a");
	sheet.option_lines = copy("Auto Mode\n");
	sheet.stride_records = 17;
	sheet.cache_kb = 1024;
	sheet.cache_line_bytes = 32;
	return &sheet;
}

static uint32_t add_row(struct iozone_sheet *sheet, uint64_t file_kb, uint64_t record_kb)
{
	struct iozone_row *row = iozone_sheet_add_row(sheet);

	row->file_kb = file_kb;
	row->record_kb = record_kb;
	iozone_sheet_add_record(sheet, record_kb);
	return (uint32_t)sheet->row_count - 1;
}

/* A pass over the whole file in so many microseconds. */
static struct iozone_cell *add_cell(struct iozone_sheet *sheet, uint32_t row,
				    enum iozone_pass pass, uint64_t us)
{
	struct iozone_cell *cell = iozone_sheet_add_cell(sheet);
	const struct iozone_row *at = &sheet->rows[row];

	*cell = (struct iozone_cell){
		.row = row,
		.pass = pass,
		.done = true,
		.count = at->file_kb / at->record_kb,
		.bytes = at->file_kb * 1024,
		.duration_ns = us * 1000,
		.busy_ns = us * 1000,
	};
	return cell;
}

static void check_text(struct text *text, const char *want)
{
	CHECK_STR(text_string(text), want);
	text_done(text);
}

static void values_end_in_their_columns(void)
{
	struct iozone_sheet *sheet = sheet_of(0x2ff);
	struct text text = TEXT_INIT;
	uint32_t row = add_row(sheet, 1024, 4);

	for (int pass = 0; pass <= IOZONE_REFREAD; pass++)
		add_cell(sheet, row, (enum iozone_pass)pass, 1000 * ((unsigned)pass + 1));
	report_iozone_row(sheet, row, &text);
	/* 1024 kB in 1 ms is 1024000 kB/s, in 3 ms 341333.3, cut. */
	check_text(&text, "            1024       4   1024000    512000    341333    256000    204800"
			  "    170666    146285     128000     113777    102400     93090     85333"
			  "     78769\n");
}

static void headers_are_156_wide_and_196_with_extensions(void)
{
	struct iozone_sheet *sheet = sheet_of(0x7ff);
	struct text text = TEXT_INIT;
	const char *lower;

	add_row(sheet, 64, 4);
	report_iozone_banner(sheet, "9.9", "Mon Nov 30 19:00:00 2026", &text);
	lower = strstr(text_string(&text), "              kB  reclen");
	CHECK(lower != NULL);
	CHECK_STR(lower, "              kB  reclen    write    rewrite      read    reread      read"
			 "     write      read    rewrite       read    fwrite  frewrite     fread"
			 "   freread\n");
	CHECK_EQ(strlen(lower), 157);
	text_done(&text);

	sheet->extended = true;
	report_iozone_banner(sheet, "9.9", "Mon Nov 30 19:00:00 2026", &text);
	lower = strstr(text_string(&text), "              kB  reclen");
	CHECK_EQ(strlen(lower), 197);
	text_done(&text);

	sheet->no_stdio = true;
	report_iozone_banner(sheet, "9.9", "Mon Nov 30 19:00:00 2026", &text);
	lower = strstr(text_string(&text), "              kB  reclen");
	CHECK_EQ(strlen(lower), 157);
	text_done(&text);
}

static void unselected_tests_leave_blanks_historical_ones_narrower(void)
{
	struct iozone_sheet *sheet = sheet_of(1u << 0 | 1u << 2);
	struct text text = TEXT_INIT;
	uint32_t row = add_row(sheet, 64, 64);

	add_cell(sheet, row, IOZONE_WRITE, 1000);
	add_cell(sheet, row, IOZONE_REWRITE, 500);
	add_cell(sheet, row, IOZONE_RANDOM_READ, 250);
	add_cell(sheet, row, IOZONE_RANDOM_WRITE, 125);
	report_iozone_row(sheet, row, &text);
	CHECK_EQ(text.length, 157);
	/* random read ends at 74. */
	CHECK_EQ(strncmp(text_string(&text) + 44, "                        256000    512000", 40), 0);
	text_done(&text);

	sheet->historical_blanks = true;
	report_iozone_row(sheet, row, &text);
	/* 18 blanks for read and reread: random read ends at 72. */
	CHECK_EQ(strncmp(text_string(&text) + 44, "                      256000    512000", 38), 0);
	CHECK_EQ(text.length, 44 + 18 + 20 + 9 + 10 + 10 + 18 + 17 + 1);
	text_done(&text);
}

static void no_retest_is_zero_and_no_figure_is_said(void)
{
	struct iozone_sheet *sheet = sheet_of(3);
	struct text text = TEXT_INIT;
	uint32_t row = add_row(sheet, 64, 64);

	sheet->four_columns = true;
	add_cell(sheet, row, IOZONE_WRITE, 1000);
	add_cell(sheet, row, IOZONE_READ, 1000)->failed = true;
	report_iozone_row(sheet, row, &text);
	check_text(&text, "              64      64     64000         0       n/a         0\n");
}

static void units_are_cut_not_rounded(void)
{
	struct iozone_sheet *sheet = sheet_of(1);
	uint32_t row = add_row(sheet, 1024, 4);
	const struct iozone_cell *cell = add_cell(sheet, row, IOZONE_WRITE, 3000);
	struct text text = TEXT_INIT;

	/* 256 requests in 3 ms: 85333.3 per s, 11.7 us each. */
	CHECK_NEAR(iozone_figure(sheet, cell), 341333.33, 0.01);
	sheet->unit = IOZONE_OPS_PER_S;
	CHECK_NEAR(iozone_figure(sheet, cell), 85333.33, 0.01);
	sheet->unit = IOZONE_US_PER_OP;
	CHECK_NEAR(iozone_figure(sheet, cell), 11.71875, 0.00001);
	sheet->no_retest = true;
	sheet->four_columns = true;
	report_iozone_row(sheet, row, &text);
	check_text(&text, "            1024       4        11         0                    \n");
}

static struct iozone_sheet *two_streams(void)
{
	struct iozone_sheet *sheet = sheet_of(1);
	struct iozone_cell *cell;
	uint32_t row = add_row(sheet, 1024, 4);

	sheet->throughput = true;
	sheet->rows[row].stream_count = 2;
	/* 1024 kB in 0.5 s; the other began 0.25 s later and took 0.25 s. */
	add_cell(sheet, row, IOZONE_WRITE, 500000);
	cell = add_cell(sheet, row, IOZONE_WRITE, 250000);
	cell->stream = 1;
	cell->start_ns = 250000000;
	return sheet;
}

static void blocks_of_streams_are_laid_out(void)
{
	struct iozone_sheet *sheet = two_streams();
	struct text text = TEXT_INIT;

	report_iozone_round(sheet, 0, &text);
	check_text(&text, "\tThroughput test with 2 processes\n"
			  "\tEach process writes a 1024 kByte file in 4 kByte records\n\n");
	sheet->per_stream = true;
	report_iozone_pass(sheet, 0, IOZONE_WRITE, &text);
	check_text(&text,
		   "\tChildren see throughput for  2 initial writers \t=    6144.00 kB/sec\n"
		   "\tParent sees throughput for  2 initial writers \t=    4096.00 kB/sec\n"
		   "\tMin throughput per process \t\t\t=    2048.00 kB/sec \n"
		   "\tMax throughput per process \t\t\t=    4096.00 kB/sec\n"
		   "\tAvg throughput per process \t\t\t=    3072.00 kB/sec\n"
		   "\tMin xfer \t\t\t\t\t=    1024.00 kB\n"
		   "\tChild[0] xfer count =    1024.00 kB, Throughput =    2048.00 kB/sec\n"
		   "\tChild[1] xfer count =    1024.00 kB, Throughput =    4096.00 kB/sec\n\n");
	sheet->per_stream = false;
	sheet->threads = true;
	sheet->unit = IOZONE_OPS_PER_S;
	report_iozone_pass(sheet, 0, IOZONE_WRITE, &text);
	check_text(&text,
		   "\tChildren see throughput for  2 initial writers \t=    1536.00 ops/sec\n"
		   "\tParent sees throughput for  2 initial writers \t=    1024.00 ops/sec\n"
		   "\tMin throughput per thread \t\t\t=     512.00 ops/sec \n"
		   "\tMax throughput per thread \t\t\t=    1024.00 ops/sec\n"
		   "\tAvg throughput per thread \t\t\t=     768.00 ops/sec\n"
		   "\tMin xfer \t\t\t\t\t=     256.00 ops\n\n");
}

static void a_stream_without_end_is_said(void)
{
	struct iozone_sheet *sheet = two_streams();
	struct text text = TEXT_INIT;

	sheet->cells[1].done = false;
	report_iozone_pass(sheet, 0, IOZONE_WRITE, &text);
	CHECK(strstr(text_string(&text), "\ttare: 1 of 2 streams failed: see the end\n") != NULL);
	text_done(&text);
}

static void streams_are_reported_for_a_spreadsheet(void)
{
	struct iozone_sheet *sheet = two_streams();
	struct text text = TEXT_INIT;

	sheet->excel = true;
	report_iozone_end(sheet, &text);
	check_text(&text, "\n\n\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n"
			  "\"Record size = 4 kBytes \"\n\"Output is in kBytes/sec\"\n\n"
			  "\"  Initial write \" 6144.00 \n\niozone test complete.\n");
}

static struct iozone_sheet *two_files(void)
{
	struct iozone_sheet *sheet = sheet_of(1);

	sheet->no_retest = sheet->excel = true;
	add_cell(sheet, add_row(sheet, 64, 4), IOZONE_WRITE, 1000);
	add_cell(sheet, add_row(sheet, 64, 64), IOZONE_WRITE, 500);
	/* 4 kB is left out by the cross-over. */
	add_cell(sheet, add_row(sheet, 32768, 64), IOZONE_WRITE, 1000000);
	iozone_sheet_add_record(sheet, 128);
	return sheet;
}

static void tables_are_reported_for_a_spreadsheet(void)
{
	struct text text = TEXT_INIT;

	report_iozone_end(two_files(), &text);
	check_text(&text, "\niozone test complete.\nExcel output is below:\n\n\"Writer report\"\n"
			  "        \"4\"  \"64\"  \"128\"\n\"64\"   64000  128000 \n"
			  "\"32768\"   0  32768  0 \n\n");
}

static void the_book_is_comma_separated_text(void)
{
	struct text text = TEXT_INIT;
	struct err err;

	CHECK_EQ(report_iozone_book(two_files(), IOZONE_BOOK_CSV, &text, &err), 0);
	check_text(&text,
		   "\"iozone -a\"\n\n"
		   "\"The top row is records sizes, the left column is file sizes, both in kB; values are in "
		   "kBytes/sec\"\n\n\"Writer Report\"\n,4,64,128\n64,64000,128000\n32768,,32768\n");
	CHECK_EQ(report_iozone_book(two_streams(), IOZONE_BOOK_CSV, &text, &err), 0);
	check_text(&text, "\"iozone -a\"\n\"Throughput report: type of test, then number of processes\"\n"
			  "\"Record size = 4 kBytes\"\n\"Output is in kBytes/sec\"\n"
			  "\"Initial write\",,6144\n");
}

static unsigned int u16_at(const unsigned char *bytes, size_t at)
{
	return bytes[at] | (unsigned int)bytes[at + 1] << 8;
}

/* Each record: type and length. The last is the end, at the end. */
static void the_old_workbook_is_whole(void)
{
	struct text text = TEXT_INIT;
	const unsigned char *bytes;
	size_t at = 0, labels = 0, numbers = 0;
	unsigned int type = 0;
	double number = 0;
	struct err err;

	CHECK_EQ(report_iozone_book(two_files(), IOZONE_BOOK_BIFF2, &text, &err), 0);
	bytes = (const unsigned char *)text_string(&text);
	CHECK_EQ(u16_at(bytes, 0), 9);
	CHECK_EQ(u16_at(bytes, 4), 2);
	CHECK_EQ(u16_at(bytes, 6), 16);
	while (at + 4 <= text.length) {
		type = u16_at(bytes, at);
		labels += type == 4;
		numbers += type == 3;
		/* 128000 in row 6 (the file of 64 kB), column 2 (64 kB records). */
		if (type == 3 && u16_at(bytes, at + 4) == 6 && u16_at(bytes, at + 6) == 2)
			memcpy(&number, bytes + at + 11, sizeof(number));
		at += 4 + u16_at(bytes, at + 2);
	}
	CHECK_EQ(at, text.length);
	CHECK_EQ(type, 10);
	CHECK_EQ(labels, 3);
	CHECK_EQ(numbers, 3 + 2 + 3);
	CHECK_NEAR(number, 128000, 0);
	text_done(&text);
}

static void the_workbook_is_a_zip_archive(void)
{
	struct text text = TEXT_INIT;
	struct err err;

	CHECK_EQ(report_iozone_book(two_files(), IOZONE_BOOK_XLSX, &text, &err), 0);
	CHECK(text.length > 1000);
	CHECK_EQ(memcmp(text_string(&text), "PK\003\004", 4), 0);
	text_done(&text);
}

static void findings_are_told_once_each(void)
{
	struct text text = TEXT_INIT;
	struct result result;

	result_init(&result);
	for (int i = 0; i < 3; i++) {
		struct finding *f = result_find(&result, "page-cache", SEVERITY_INVALID, "read-64k-4k");

		snprintf(f->text, sizeof(f->text), "cached");
	}
	snprintf(result_find(&result, "iozone-note", SEVERITY_INFO, "")->text, 320, "in the banner");
	report_iozone_findings(&result, &text);
	check_text(&text, "tare: invalid: page-cache, read-64k-4k: cached (and 2 more: --json)\n");
	strcpy(result.error_text, "read-64k-4k: 4k read at offset 0: Input/output error");
	report_iozone_findings(&result, &text);
	check_text(&text, "tare: error: read-64k-4k: 4k read at offset 0: Input/output error\n"
			  "tare: invalid: page-cache, read-64k-4k: cached (and 2 more: --json)\n");
	result_done(&result);
}

TESTS(TEST(values_end_in_their_columns), TEST(headers_are_156_wide_and_196_with_extensions),
      TEST(unselected_tests_leave_blanks_historical_ones_narrower),
      TEST(no_retest_is_zero_and_no_figure_is_said), TEST(units_are_cut_not_rounded),
      TEST(blocks_of_streams_are_laid_out), TEST(a_stream_without_end_is_said),
      TEST(streams_are_reported_for_a_spreadsheet), TEST(tables_are_reported_for_a_spreadsheet),
      TEST(the_book_is_comma_separated_text), TEST(the_old_workbook_is_whole),
      TEST(the_workbook_is_a_zip_archive), TEST(findings_are_told_once_each))
