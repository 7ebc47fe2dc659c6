/* SPDX-License-Identifier: MIT */
/*
 * fio's terse lines, versions 2 to 5: a fixed number of fields for each direction, then those of
 * the machine, then groups of nine for disks or none. Latencies in microseconds, bandwidths KiB/s.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "foreign/import_parts.h"

#define FIELDS_MAX 4096
#define MACHINE_FIELDS 34	/* 5 of the processor, 7 depths, 22 latencies */
#define PERCENTILE_FIELDS 20

/* Of a direction, from its first field on. */
enum { KIB_DONE, KIB_PER_S, IOPS, RUNTIME_MS, CLAT = 8, PERCENTILES = 12, LAT = 32 };

static const struct terse_version {
	uint32_t number;
	size_t head_fields, direction_fields, direction_count;
} versions[] = {
	{ 2, 4, 41, 3 },
	{ 3, 5, 41, 2 },
	{ 4, 5, 41, 3 },
	{ 5, 5, 47, 3 },
};

struct line {
	struct span fields[FIELDS_MAX];
	size_t count;
	size_t number;			/* of the file */
	const struct terse_version *version;
};

static const struct terse_version *find_version(struct span field)
{
	for (size_t i = 0; i < ARRAY_COUNT(versions); i++) {
		if (field.length == 1 && field.at[0] == (char)('0' + versions[i].number))
			return &versions[i];
	}
	return NULL;
}

bool import_is_terse(struct span line)
{
	struct span rest = line;
	const struct span first = span_field(&rest, ';'), second = span_field(&rest, ';');

	if (first.length != 1 || first.at[0] < '1' || first.at[0] > '9' || !rest.length)
		return false;
	/* Version 2 says nothing of itself: all its fields have to. */
	if (first.at[0] == '2') {
		size_t separators = 0;

		for (size_t i = 0; i < line.length; i++)
			separators += line.at[i] == ';';
		return separators > 40;
	}
	return span_begins(second, "fio-");
}

/* The processor's two shares stand where so many directions end, and are percentages. */
static bool machine_is_at(const struct line *line, size_t at)
{
	return at + MACHINE_FIELDS <= line->count && line->fields[at].length > 1 &&
	       line->fields[at].at[line->fields[at].length - 1] == '%' &&
	       line->fields[at + 1].length > 1 &&
	       line->fields[at + 1].at[line->fields[at + 1].length - 1] == '%' &&
	       !isnan(span_number(line->fields[at])) && !isnan(span_number(line->fields[at + 1]));
}

/*
 * How many directions there are: the version's own, one with unified_rw_reporting=1, one more
 * with =both, two in version 2 before trims were told. 0 = the fields fit none.
 */
static size_t count_directions(const struct line *line)
{
	const struct terse_version *v = line->version;
	const size_t tries[] = { v->direction_count, 1, v->direction_count + 1, 2 };

	for (size_t i = 0; i < ARRAY_COUNT(tries); i++) {
		if (machine_is_at(line, v->head_fields + tries[i] * v->direction_fields))
			return tries[i];
	}
	return 0;
}

static void take_percentiles(const struct span *fields, struct imported_latency *ret)
{
	for (size_t i = 0; i < PERCENTILE_FIELDS; i++) {
		struct span value = fields[PERCENTILES + i];
		const struct span name = span_field(&value, '=');
		const double percent = span_number(name), us = span_number(value);

		/* "0%=0" is a place that is not used. */
		if (!(percent > 0 && percent <= 100) || isnan(us))
			continue;
		/* Of which latency they are is lat_percentiles' to say, and the line does not. */
		imported_add_percentile(ret, percent, us * (double)MICROSECOND_NS);
	}
}

static void take_latency(const struct span *fields, struct imported_latency *ret)
{
	const size_t at = span_number(fields[LAT + 2]) > 0 ? LAT : CLAT;
	const double us = (double)MICROSECOND_NS;

	if (!(span_number(fields[at + 2]) > 0))
		return;
	ret->span = at == LAT ? IMPORTED_TOTAL : IMPORTED_COMPLETION;
	ret->min_ns = span_number(fields[at]) * us;
	ret->max_ns = span_number(fields[at + 1]) * us;
	ret->mean_ns = span_number(fields[at + 2]) * us;
	ret->stddev_ns = span_number(fields[at + 3]) * us;
	take_percentiles(fields, ret);
}

static int take_direction(struct imported *ret, const struct line *line, size_t at,
			  enum imported_op op, struct err *err)
{
	const struct span *fields = line->fields + at;
	DEFER(defer_free) char *name = span_copy(line->fields[line->version->head_fields - 3]);
	struct imported_row *row;

	for (size_t i = 0; i <= RUNTIME_MS; i++) {
		if (isnan(span_number(fields[i])))
			return err_set(err, -EINVAL, "line %zu: field %zu is '%.*s' where a number is "
						     "wanted", line->number, at + i + 1,
				       (int)(fields[i].length < 40 ? fields[i].length : 40),
				       fields[i].at);
	}
	if (span_number(fields[KIB_DONE]) == 0 && span_number(fields[IOPS]) == 0)
		return 0;
	row = imported_add_row(ret, name, op);
	row->bytes = span_number(fields[KIB_DONE]) * (double)KIB;
	row->bytes_per_s = span_number(fields[KIB_PER_S]) * (double)KIB;
	row->iops = span_number(fields[IOPS]);
	row->duration_ns = span_number(fields[RUNTIME_MS]) * (double)MILLISECOND_NS;
	take_latency(fields, &row->latency);
	return 0;
}

static int take_directions(struct imported *ret, const struct line *line, size_t count,
			   struct err *err)
{
	const struct terse_version *v = line->version;
	const bool has_mixed = count == 1 || count == v->direction_count + 1;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		const bool is_mixed = has_mixed && i + 1 == count;

		r = take_direction(ret, line, v->head_fields + i * v->direction_fields,
				   is_mixed ? IMPORTED_MIXED : (enum imported_op)i, err);
	}
	return r;
}

static int take_line(struct imported *ret, const struct line *line, struct err *err)
{
	const struct terse_version *v = line->version;
	const size_t rows_before = ret->row_count, count = count_directions(line);
	const double error = span_number(line->fields[v->head_fields - 1]);
	const struct span name = line->fields[v->head_fields - 3];
	int r;

	if (!count)
		return err_set(err, -EINVAL, "line %zu: %zu fields, which are none of fio's terse "
					     "version %u: it has %zu, and 9 more for each disk",
			       line->number, line->count, v->number,
			       v->head_fields + v->direction_count * v->direction_fields +
				       MACHINE_FIELDS);
	if (v->number > 2)
		imported_set_version(ret, line->fields[1].at, line->fields[1].length);
	r = take_directions(ret, line, count, err);
	if (r == 0 && error > 0)
		imported_note(ret, "%.*s ended with an error: %s", (int)name.length, name.at,
			      strerror((int)fmin(error, 4095)));
	else if (r == 0 && ret->row_count == rows_before)
		imported_note(ret, "%.*s did no I/O", (int)name.length, name.at);
	return r;
}

static int split_line(struct line *line, struct span text, struct err *err)
{
	line->version = find_version((struct span){ text.at, 1 });
	if (!line->version)
		return err_set(err, -EINVAL, "line %zu: fio's terse version %c; 2 to 5 are read",
			       line->number, text.at[0]);
	line->count = 0;
	while (text.length) {
		if (line->count == FIELDS_MAX)
			return err_set(err, -EINVAL, "line %zu: more than %d fields", line->number,
				       FIELDS_MAX);
		line->fields[line->count++] = span_field(&text, ';');
	}
	return 0;
}

int import_fio_terse(struct imported *ret, struct span text, struct err *err)
{
	DEFER(defer_free) struct line *line = calloc(1, sizeof(*line));
	int r = 0;

	if (!line)
		return err_set(err, -ENOMEM, "reading fio's terse lines");
	ret->tool = "fio";
	ret->format = "terse";
	ret->report_count = 1;
	while (r == 0 && text.length) {
		const struct span at = span_line(&text);

		line->number++;
		if (!import_is_terse(at))
			continue;
		r = split_line(line, at, err);
		if (r == 0)
			r = take_line(ret, line, err);
	}
	return r;
}
