/* SPDX-License-Identifier: MIT */
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/defer.h"
#include "base/units.h"

#define LABEL_COLUMNS 22
#define VALUE_COLUMNS 11
#define BAR_COLUMNS 12
#define LATENCY_COLUMNS 10
#define TABLE_COLUMNS (2 + LABEL_COLUMNS + 2 * (VALUE_COLUMNS + 3 + BAR_COLUMNS))

/* One line: what differs only in reading or writing. */
struct row {
	bool random;
	uint64_t block_bytes;
	uint32_t depth_count, job_count;
	const struct measurement *ops[2];	/* OP_READ, OP_WRITE; NULL where not measured */
};

struct rows {
	struct row *rows;
	size_t count;
	double max[2];				/* [random]: the figure that fills a bar */
	bool has[2];				/* any read, any write */
};

static bool is_synced(const struct workload *w)
{
	return w->fdatasync_count || w->fsync_count || w->sync;
}

static enum op_kind direction(const struct measurement *m)
{
	return m->workload.rw == RW_READ || m->workload.rw == RW_RANDREAD ? OP_READ : OP_WRITE;
}

bool text_table_shows(const struct measurement *m)
{
	const struct workload *w = &m->workload;
	const bool one_way = w->rw == RW_READ || w->rw == RW_WRITE || w->rw == RW_RANDREAD ||
			     w->rw == RW_RANDWRITE;

	return one_way && !w->rate_iops && !w->size_mix.count && !w->verify &&
	       (!is_synced(w) || (w->depth_count == 1 && w->job_count <= 1));
}

/* Sequential rows speak of bytes, random rows of requests. */
static double figure(const struct measurement *m)
{
	const struct op_result *op = &m->ops[direction(m)];

	return summary_per_second(workload_is_random(&m->workload) ? op->count : op->bytes,
				  m->duration_ns);
}

static void rows_add(struct rows *rows, const struct measurement *m)
{
	const struct workload *w = &m->workload;
	const enum op_kind kind = direction(m);
	const bool random = workload_is_random(w);
	struct row *row = NULL;

	for (size_t i = 0; i < rows->count && !row; i++) {
		struct row *r = &rows->rows[i];

		if (!r->ops[kind] && r->random == random && r->block_bytes == w->block_bytes &&
		    r->depth_count == w->depth_count && r->job_count == w->job_count)
			row = r;
	}
	if (!row) {
		row = &rows->rows[rows->count++];
		*row = (struct row){ random, w->block_bytes, w->depth_count, w->job_count, { 0 } };
	}
	row->ops[kind] = m;
	rows->has[kind] = true;
	if (figure(m) > rows->max[random])
		rows->max[random] = figure(m);
}

static void add_mark(const struct result *result, const struct measurement *m,
		     const struct report_style *style, struct text *ret)
{
	const int severity = text_severity_of(result, m);

	text_add(ret, " ");
	if (severity > SEVERITY_INFO)
		text_add(ret, "%s%s%s", layout_tone(style, layout_marks[severity].tone),
			 layout_marks[severity].symbol, layout_end(style));
	else
		text_add(ret, " ");
}

static void add_cell(const struct result *result, const struct measurement *m, double max,
		     const struct report_style *style, struct text *ret)
{
	char buffer[UNITS_TEXT_BYTES];
	double value;

	if (!m || !m->ops[direction(m)].count) {
		layout_right(ret, "–", VALUE_COLUMNS);
		value = 0;
	} else {
		value = figure(m);
		layout_right(ret, workload_is_random(&m->workload) ?
					  units_format_rate(value, buffer) :
					  units_format_rate_bytes(value, buffer), VALUE_COLUMNS);
	}
	if (m)
		add_mark(result, m, style, ret);
	else
		text_add(ret, "  ");
	if (!style->bars)
		return;
	text_add(ret, " %s", layout_tone(style, TONE_BAR));
	layout_bar(ret, max > 0 ? value / max : 0, BAR_COLUMNS);
	text_add(ret, "%s", layout_end(style));
}

static void add_row(const struct result *result, const struct rows *rows, const struct row *row,
		    const struct report_style *style, struct text *ret)
{
	struct text label = TEXT_INIT;

	text_add(&label, "%s ", row->random ? "random" : "sequential");
	text_add_size(&label, row->block_bytes);
	text_add(&label, " Q%" PRIu32, row->depth_count);
	if (row->job_count > 1)
		text_add(&label, " × %" PRIu32, row->job_count);
	text_add(ret, "  ");
	layout_left(ret, text_string(&label), LABEL_COLUMNS);
	for (int kind = OP_READ; kind <= OP_WRITE; kind++)
		if (rows->has[kind])
			add_cell(result, row->ops[kind], rows->max[row->random], style, ret);
	text_add(ret, "\n");
	text_done(&label);
}

static void add_heading(const struct rows *rows, const struct report_style *style,
			struct text *ret)
{
	text_add(ret, "%s  %*s", layout_tone(style, TONE_STRONG), LABEL_COLUMNS, "");
	for (int kind = OP_READ; kind <= OP_WRITE; kind++) {
		if (!rows->has[kind])
			continue;
		layout_right(ret, op_names[kind], VALUE_COLUMNS);
		text_add(ret, "%*s", style->bars ? 3 + BAR_COLUMNS : 2, "");
	}
	text_add(ret, "%s\n", layout_end(style));
}

/* Latency says most where nothing queues: random requests one at a time. */
static bool has_latency_row(const struct measurement *m)
{
	const struct workload *w = &m->workload;

	return text_table_shows(m) && workload_is_random(w) && w->depth_count == 1 &&
	       w->job_count <= 1;
}

static void add_latency_row(const struct result *result, const struct measurement *m,
			    const struct report_style *style, struct text *ret)
{
	static const uint32_t shown_ppm[] = { 500000, 990000, 999000 };
	const struct op_result *op = &m->ops[direction(m)];
	char buffer[UNITS_TEXT_BYTES];

	text_add(ret, "    ");
	layout_left(ret, direction(m) == OP_READ	? "read" :
			 is_synced(&m->workload) ? "sync'd write" : "write", LABEL_COLUMNS - 2);
	for (size_t i = 0; i < ARRAY_COUNT(shown_ppm); i++)
		layout_right(ret, text_percentile(op->latency, shown_ppm[i], buffer),
			     LATENCY_COLUMNS);
	layout_right(ret, op->latency && op->count ?
			     units_format_latency((double)op->latency->max_ns, buffer) : "–",
		     LATENCY_COLUMNS);
	layout_right(ret, op->count ? units_format_rate(summary_per_second(op->count,
									   m->duration_ns),
							buffer) : "–", LATENCY_COLUMNS);
	add_mark(result, m, style, ret);
	text_add(ret, "\n");
}

static void add_latencies(const struct result *result, const struct report_style *style,
			  struct text *ret)
{
	static const char *const headings[] = { "p50", "p99", "p99.9", "max", "rate" };
	uint64_t block_bytes = 0;

	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *m = &result->measurements[i];
		struct text label = TEXT_INIT;

		if (!has_latency_row(m))
			continue;
		if (m->workload.block_bytes != block_bytes) {
			block_bytes = m->workload.block_bytes;
			text_add(&label, "latency ");
			text_add_size(&label, block_bytes);
			text_add(&label, " Q1");
			text_add(ret, "\n%s  ", layout_tone(style, TONE_STRONG));
			layout_left(ret, text_string(&label), LABEL_COLUMNS);
			for (size_t h = 0; h < ARRAY_COUNT(headings); h++)
				layout_right(ret, headings[h], LATENCY_COLUMNS);
			text_add(ret, "%s\n", layout_end(style));
			text_done(&label);
		}
		add_latency_row(result, m, style, ret);
	}
}

void text_table(const struct result *result, const struct report_style *given, struct text *ret)
{
	struct report_style narrow = *given;
	const struct report_style *style = &narrow;
	DEFER(defer_free) struct row *storage =
		calloc(result->measurement_count + 1, sizeof(*storage));
	struct rows rows = { .rows = storage };

	if (!storage)
		abort();
	narrow.bars = given->bars && given->columns >= TABLE_COLUMNS;
	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *m = &result->measurements[i];

		if (text_table_shows(m) && !is_synced(&m->workload))
			rows_add(&rows, m);
	}
	if (rows.count)
		add_heading(&rows, style, ret);
	for (size_t i = 0; i < rows.count; i++)
		add_row(result, &rows, &rows.rows[i], style, ret);
	add_latencies(result, style, ret);
}
