/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * imported - what another tool's result file says, in tare's units: rows of one name and one
 * operation each. Plain data: foreign/import fills it, report/imported prints it.
 *
 * Every figure is a double, and NaN says that the file does not tell: a 0 is always a 0 that the
 * other tool wrote. Counts and bytes are exact to 2^53.
 *
 * Ownership: the lists and texts are its own: imported_done, which takes a zeroed one. Running
 * out of memory aborts, as in base/text.
 */

#include <stddef.h>
#include <stdint.h>

enum imported_op {
	IMPORTED_READ,
	IMPORTED_WRITE,
	IMPORTED_TRIM,
	IMPORTED_SYNC,
	IMPORTED_MIXED,		/* several kinds in one figure */
	IMPORTED_OPS,
};
extern const char *const imported_op_names[IMPORTED_OPS];

/* What a latency is the time of. */
enum imported_span {
	IMPORTED_SPAN_UNKNOWN,
	IMPORTED_TOTAL,		/* from before the submission on: fio's lat, a response time */
	IMPORTED_COMPLETION,	/* from the submission on: fio's clat */
	IMPORTED_SPANS,
};
extern const char *const imported_span_names[IMPORTED_SPANS];	/* NULL for unknown */

struct imported_percentile {
	double percent, ns;
};

struct imported_latency {
	enum imported_span span, percentile_span;
	double min_ns, mean_ns, max_ns, stddev_ns;
	struct imported_percentile *percentiles;	/* owned, in the file's order */
	size_t percentile_count;
};

struct imported_row {
	char *name;		/* owned: of the job, the test or the specification */
	char *part;		/* owned: whose share it is: a host, "DISK sdb"; NULL = the whole */
	enum imported_op op;
	uint32_t report_number;	/* from 1: a file may hold several reports in a row */
	double block_bytes, file_bytes, depth_count, stream_count;
	double count, bytes, duration_ns, error_count;
	double iops, bytes_per_s;
	double wall_bytes_per_s;/* all bytes over the time until the last stream ended */
	struct imported_latency latency;
	char **files;		/* owned: what was read or written, in the file's order */
	size_t file_count;
};

struct imported {
	char *file;		/* owned: where it was read from */
	const char *tool, *format;	/* "fio", "json" */
	char *version;		/* owned: of the tool; NULL = not told */
	uint32_t report_count;
	struct imported_row *rows;	/* owned */
	size_t row_count;
	char **notes;		/* owned sentences, for the reader of the table */
	size_t note_count;
};

void imported_done(struct imported *imported);

/* A row with every figure unknown, of the latest report; borrowed until the next one is added. */
struct imported_row *imported_add_row(struct imported *imported, const char *name,
				      enum imported_op op);
void imported_row_add_file(struct imported_row *row, const char *file);
void imported_add_percentile(struct imported_latency *latency, double percent, double ns);
void imported_note(struct imported *imported, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Only the first that is told is kept. */
void imported_set_version(struct imported *imported, const char *text, size_t length);
char *imported_copy(const char *text, size_t length);

/* NaN when no such percentile is there. */
double imported_percentile_ns(const struct imported_latency *latency, double percent);
