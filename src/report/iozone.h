/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * iozone - iozone 3.508's own output, to the column. Pure: text in memory out.
 *
 *	report_iozone_banner		before anything runs; ends with the table's header
 *	report_iozone_row		each line of the table, as its last cell is done
 *	report_iozone_round, _pass	throughput mode: before a round, after each test of it
 *	report_iozone_end		completion, and the -R report
 *	report_iozone_findings		what the audit has to say about it all
 */

#include "base/err.h"
#include "base/text.h"
#include "model/iozone.h"
#include "model/result.h"

/* version is tare's; began is a date as ctime writes it, without its newline. */
void report_iozone_banner(const struct iozone_sheet *sheet, const char *version, const char *began,
			  struct text *ret);
void report_iozone_row(const struct iozone_sheet *sheet, uint32_t row, struct text *ret);
void report_iozone_round(const struct iozone_sheet *sheet, uint32_t row, struct text *ret);
void report_iozone_pass(const struct iozone_sheet *sheet, uint32_t row, enum iozone_pass pass,
			struct text *ret);
void report_iozone_end(const struct iozone_sheet *sheet, struct text *ret);

/* Each code once, with how many measurements it is about; then where all of it is. */
void report_iozone_findings(const struct result *result, struct text *ret);

/* The -b file: comma-separated text, or a workbook of Excel 2 (BIFF 2) or of today (.xlsx). */
enum iozone_book { IOZONE_BOOK_CSV, IOZONE_BOOK_BIFF2, IOZONE_BOOK_XLSX };
int report_iozone_book(const struct iozone_sheet *sheet, enum iozone_book kind, struct text *ret,
		       struct err *err);

/* Throughput mode: the sum of the streams' rates of a pass, in the sheet's unit; 0 without one. */
double report_iozone_streams_rate(const struct iozone_sheet *sheet, uint32_t row,
				  enum iozone_pass pass);
