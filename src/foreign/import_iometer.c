/* SPDX-License-Identifier: MIT */
/*
 * IOMeter's result CSV. Columns are found by their captions: files of 2006 lack the split into
 * binary and decimal megabytes, and the bins. A row is All, a manager, a worker or a disk.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/text.h"
#include "base/units.h"
#include "foreign/import_parts.h"

#define COLUMNS_MAX 256
#define SPECS_MAX 512	/* sizes of those beyond are not known */

/* What there is of reads, and in the same order of writes, and of both. */
enum figure { RATE, BINARY, DECIMAL, BINARY_MB, UNSAID, MEAN_MS, MAX_MS, ERRORS, IOS, FIGURES };
static const char *const captions[][FIGURES] = {
	[IMPORTED_READ] = { "Read IOps", "Read MiBps (Binary)", "Read MBps (Decimal)",
			    "Read MBps (Binary)", "Read MBps",
			    "Average Read Response Time", "Maximum Read Response Time",
			    "Read Errors", "Read I/Os" },
	[IMPORTED_WRITE] = { "Write IOps", "Write MiBps (Binary)", "Write MBps (Decimal)",
			     "Write MBps (Binary)", "Write MBps", "Average Write Response Time",
			     "Maximum Write Response Time", "Write Errors", "Write I/Os" },
};
static const char *const both_captions[FIGURES] = {
	"IOps", "MiBps (Binary)", "MBps (Decimal)", "MBps (Binary)", "MBps",
	"Average Response Time", "Maximum Response Time", "Errors", "",
};

/* What the lines below a caption are. */
enum part { PART_OTHER, PART_VERSION, PART_SPEC_NAME, PART_SPEC_LINES, PART_RESULTS };

/* An access specification; with lines of several sizes it has none. */
struct spec {
	struct span name;
	double block_bytes;
	uint32_t line_count;
};

struct reader {
	struct imported *ret;
	struct err *err;
	size_t line;
	enum part part;
	struct spec specs[SPECS_MAX];
	size_t spec_count;
	struct span columns[COLUMNS_MAX];	/* the captions of results */
	size_t column_count;
	struct span fields[COLUMNS_MAX];	/* of the row at hand */
	size_t field_count;
	struct span spec;			/* of the test at hand: disks do not repeat it */
};

/* Empty when the row or the file has no such column; no column is called "". */
static struct span field_of(const struct reader *r, const char *caption)
{
	for (size_t i = 0; i < r->column_count && i < r->field_count; i++) {
		if (*caption && span_is(r->columns[i], caption))
			return r->fields[i];
	}
	return (struct span){ "", 0 };
}

/* NaN for what is blank; -1 stands for what differs between targets. */
static double number_of(const struct reader *r, const char *caption)
{
	const double number = span_number(field_of(r, caption));

	return number >= 0 ? number : NAN;
}

static bool has_column(const struct reader *r, const char *caption)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (span_is(r->columns[i], caption))
			return true;
	}
	return false;
}

/* Megabytes without a word to them are binary: the split came when that was found misleading. */
static double bytes_per_s(const struct reader *r, const char *const *names)
{
	static const struct {
		enum figure figure;
		double unit_bytes;
	} units[] = {
		{ BINARY, (double)MIB }, { BINARY_MB, (double)MIB }, { DECIMAL, 1e6 },
		{ UNSAID, (double)MIB },
	};

	for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
		const double number = number_of(r, names[units[i].figure]);

		if (!isnan(number))
			return number * units[i].unit_bytes;
	}
	return NAN;
}

static bool same(struct span a, struct span b)
{
	return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* The latest of that name: a file is appended to, and specifications change. */
static double block_bytes(const struct reader *r, struct span name)
{
	for (size_t i = r->spec_count; i > 0; i--) {
		const struct spec *spec = &r->specs[i - 1];

		if (same(spec->name, name))
			return spec->line_count == 1 ? spec->block_bytes : NAN;
	}
	return NAN;
}

static void add_row(struct reader *r, enum imported_op op, const char *const *names)
{
	const char *bytes = op == IMPORTED_READ ? "Bytes Read" : op == IMPORTED_WRITE ?
						  "Bytes Written" : "";
	const struct span type = field_of(r, "'Target Type"), name = field_of(r, "Target Name");
	DEFER(defer_free) char *spec = span_copy(r->spec);
	struct imported_row *row = imported_add_row(r->ret, spec, op);
	struct text part = TEXT_INIT;

	if (!span_is(type, "ALL")) {
		text_add(&part, "%.*s %.*s", (int)type.length, type.at, (int)name.length, name.at);
		row->part = text_take(&part);
	}
	row->block_bytes = block_bytes(r, r->spec);
	row->iops = number_of(r, names[RATE]);
	row->bytes_per_s = bytes_per_s(r, names);
	row->count = number_of(r, names[IOS]);
	row->bytes = number_of(r, bytes);
	row->error_count = number_of(r, names[ERRORS]);
	row->depth_count = number_of(r, "Queue Depth");
	row->latency.mean_ns = number_of(r, names[MEAN_MS]) * (double)MILLISECOND_NS;
	row->latency.max_ns = number_of(r, names[MAX_MS]) * (double)MILLISECOND_NS;
	if (!isnan(row->latency.mean_ns) || !isnan(row->latency.max_ns))
		row->latency.span = IMPORTED_TOTAL;
}

static bool has_io(const struct reader *r, const char *const *names)
{
	return number_of(r, names[RATE]) > 0 || number_of(r, names[IOS]) > 0 ||
	       number_of(r, names[ERRORS]) > 0;
}

static void take_result(struct reader *r)
{
	const struct span type = field_of(r, "'Target Type");
	const struct span spec = field_of(r, "Access Specification Name");
	const size_t before = r->ret->row_count;

	if (span_is(type, "PROCESSOR"))
		return;
	if (spec.length)
		r->spec = spec;
	for (int op = IMPORTED_READ; op <= IMPORTED_WRITE; op++) {
		if (has_io(r, captions[op]))
			add_row(r, (enum imported_op)op, captions[op]);
	}
	if (r->ret->row_count == before && has_io(r, both_captions))
		add_row(r, IMPORTED_MIXED, both_captions);
}

static int split_fields(const struct reader *r, struct span line, struct span *ret,
			size_t *ret_count)
{
	*ret_count = 0;
	while (line.length) {
		if (*ret_count == COLUMNS_MAX)
			return err_set(r->err, -EINVAL, "line %zu: more than %d columns", r->line,
				       COLUMNS_MAX);
		ret[(*ret_count)++] = span_trim(span_field(&line, ','));
	}
	return 0;
}

static int take_captions(struct reader *r, struct span line)
{
	int rc = split_fields(r, line, r->columns, &r->column_count);

	r->spec = (struct span){ "", 0 };
	if (rc == 0 && (!has_column(r, "Target Name") || !has_column(r, "IOps")))
		rc = err_set(r->err, -EINVAL, "line %zu: the columns of IOMeter's results are without "
					      "'Target Name' or 'IOps'", r->line);
	return rc;
}

/* "name,2": the name ends at the last comma. */
static void take_spec_name(struct reader *r, struct span line)
{
	size_t length = line.length;

	while (length && line.at[length - 1] != ',')
		length--;
	if (r->spec_count < SPECS_MAX)
		r->specs[r->spec_count++] = (struct spec){
			.name = span_trim((struct span){ line.at, length ? length - 1 : 0 }),
		};
}

/* "4096,100,67,100,0,1,0,0,": size, share of it, ... */
static void take_spec_line(struct reader *r, struct span line)
{
	struct spec *spec = r->spec_count ? &r->specs[r->spec_count - 1] : NULL;

	if (!spec)
		return;
	spec->block_bytes = span_number(span_trim(span_field(&line, ',')));
	spec->line_count++;
}

static int take_section(struct reader *r, struct span line)
{
	static const struct {
		const char *caption;
		enum part part;
	} sections[] = {
		{ "'Version", PART_VERSION },
		{ "'Access specification name,", PART_SPEC_NAME },
		{ "'size,", PART_SPEC_LINES },
		{ "'Target Type,", PART_RESULTS },
	};

	r->part = PART_OTHER;
	for (size_t i = 0; i < ARRAY_COUNT(sections); i++) {
		if (span_begins(line, sections[i].caption))
			r->part = sections[i].part;
	}
	return r->part == PART_RESULTS ? take_captions(r, line) : 0;
}

static int take_line(struct reader *r, struct span line)
{
	int rc = 0;

	if (span_begins(line, "TimeStamp,'Target Type")) {
		err_set(r->err, -EINVAL, "line %zu: IOMeter's file of each update, with a row for every "
					 "second", r->line);
		return err_hint(r->err, "import the result file, whose name has no 'inst' in front");
	}
	if (span_begins(line, "'"))
		return take_section(r, line);
	if (span_begins(line, "Aborted test"))
		imported_note(r->ret, "a test was aborted: its figures are those until then");
	else if (r->part == PART_VERSION)
		imported_set_version(r->ret, line.at, line.length);
	else if (r->part == PART_SPEC_NAME && line.length)
		take_spec_name(r, line);
	else if (r->part == PART_SPEC_LINES && line.length)
		take_spec_line(r, line);
	else if (r->part == PART_RESULTS && line.length) {
		rc = split_fields(r, line, r->fields, &r->field_count);
		if (rc == 0)
			take_result(r);
	}
	return rc;
}

int import_iometer(struct imported *ret, struct span text, struct err *err)
{
	DEFER(defer_free) struct reader *r = calloc(1, sizeof(*r));
	int rc = 0;

	if (!r)
		return err_set(err, -ENOMEM, "reading IOMeter's results");
	r->ret = ret;
	r->err = err;
	ret->tool = "IOMeter";
	ret->format = "csv";
	ret->report_count = 1;
	while (rc == 0 && text.length) {
		r->line++;
		rc = take_line(r, span_trim(span_line(&text)));
	}
	return rc;
}
