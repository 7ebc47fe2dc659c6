/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * trace_formats - what the readers of trace formats share: a row per format in one table, and
 * the importer they fill. A reader takes lines from im->in and gives records to import_add;
 * what makes no sense goes to import_bad, and reading goes on.
 */

#include <stdbool.h>

#include "foreign/trace.h"
#include "foreign/trace_input.h"

#define TRACE_SAMPLE_LINES 8
#define TRACE_FIELDS 24
#define TRACE_REQUEST_MAX_BYTES (1ull << 30)	/* of a read or write; more is no request */

/* The beginning of a file, for telling what it is. */
struct trace_sample {
	unsigned char bytes[4096];
	size_t count;
	char text[4097];		/* the same as text; lines cut out of it */
	char *lines[TRACE_SAMPLE_LINES];	/* without blank ones and those beginning with '#' */
	size_t line_count;
};

struct trace_format;

struct importer {
	struct trace *trace;
	struct trace_input *in;		/* of the file being read */
	const struct trace_format *format;
	const struct replay *replay;
	struct trace_report *report;
	struct err *err;

	/* of the file being read */
	uint64_t last_ns;
	uint64_t file_record_count;

	/* blkparse, blktrace: events of all files, paired when all are there */
	struct sorter *events;		/* owned */
	uint64_t issued_count, queued_count;

	/* fio's iolog version 2: what the waits of all files look like */
	uint64_t wait_count, wait_last, wait_first;
	bool wait_falls;

	/* tables: sizes that look like sectors */
	uint64_t size_count;
	bool size_large, size_whole;
};

struct trace_format {
	const char *name;
	const char *help;		/* one line, no full stop */
	/* Whether it may be this; NULL: only when it is asked for by name. */
	bool (*recognise)(const struct trace_sample *sample);
	/* May refuse what is recognised, with advice; NULL. */
	int (*refuse)(const struct trace_sample *sample, const char *file, struct err *err);
	int (*scan)(struct importer *im);	/* a first pass over each file; NULL */
	int (*read)(struct importer *im);	/* each file */
	int (*finish)(struct importer *im);	/* after all; NULL */
	const struct trace_table *table;	/* of trace_table.c */
};

/* In the order they are tried. trace_iolog.c, trace_blk.c, trace_table.c, trace_iozone.c */
extern const struct trace_format trace_iolog, trace_blktrace, trace_blkparse;
extern const struct trace_format trace_msr, trace_spc, trace_alibaba, trace_tencent, trace_fiu;
extern const struct trace_format trace_disksim, trace_mqsim, trace_huaicheng;
extern const struct trace_format trace_csv, trace_columns;
extern const struct trace_format trace_iozone_x, trace_iozone_y, trace_iozone_wol, trace_iozone_rol;
extern const struct trace_format trace_iometer;

/* 0, or a negative errno from keeping it. stream is the recorded target's name. */
int import_add(struct importer *im, struct trace_record *record, const char *stream);

/* Counts the time's order within the file. */
void import_order(struct importer *im, uint64_t time_ns);

/* Offset and length in sane limits? NULL, or why not. */
const char *import_judge(const struct trace_record *record);

/* A line that makes no sense, and why. Always 0: reading goes on. */
int import_bad(struct importer *im, const char *line, const char *why);

void import_note(struct importer *im, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Cuts a line into fields, at each mark (',': fields may be empty, blanks around them go) or at
 * runs of blanks (mark ' '). How many; TRACE_FIELDS at most, the last one has the rest.
 */
size_t split_fields(char *line, char mark, char *fields[TRACE_FIELDS]);

/* Plain decimal digits, within 64 bits. */
bool parse_whole(const char *text, uint64_t *ret);
/* "12", "12.000345": times 10^digits, further digits cut off; within 64 bits. */
bool parse_scaled(const char *text, unsigned int digits, uint64_t *ret);
/* R, read, W, write, ... any case; false for anything else. */
bool parse_op(const char *text, uint8_t *ret);
bool all_digits(const char *text);
