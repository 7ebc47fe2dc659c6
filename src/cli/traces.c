/* SPDX-License-Identifier: MIT */
#include "cli/traces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "report/json_tree.h"

#define STREAMS_SHOWN 8

struct traces_entry {
	struct traces_entry *next;
	char *key;			/* owned: files and how they are read */
	struct trace *trace;		/* owned */
	struct trace_report report;
};

void traces_init(struct traces *traces)
{
	*traces = (struct traces){ NULL };
}

void traces_done(struct traces *traces)
{
	struct traces_entry *next;

	for (struct traces_entry *entry = traces->first; entry; entry = next) {
		next = entry->next;
		trace_free(entry->trace);
		trace_report_done(&entry->report);
		free(entry->key);
		free(entry);
	}
	traces->first = NULL;
}

/* What reading depends on; how it is played does not matter. */
static char *key_of(const struct workload *workload)
{
	struct replay reading = workload->replay;
	struct text key = TEXT_INIT;

	reading.speed_ppm = PPM;
	reading.align_bytes = 0;
	reading.divide = 1;
	reading.beyond = reading.overlap = reading.skip = reading.timing = 0;
	reading.streams[0] = '\0';
	text_add(&key, "%s\n", workload->trace);
	replay_print(&reading, &key);
	return text_take(&key);
}

int traces_open(void *ctx, const struct workload *workload, const struct trace **ret,
		struct err *err)
{
	DEFER(defer_free) char *key = key_of(workload);
	struct traces *traces = ctx;
	struct traces_entry *entry;
	int r;

	for (entry = traces->first; entry; entry = entry->next) {
		if (strcmp(entry->key, key) == 0) {
			*ret = entry->trace;
			return 0;
		}
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return err_set(err, -ENOMEM, "no memory for a trace");
	r = trace_import(&entry->trace, workload->trace, &workload->replay, &entry->report, err);
	if (r < 0) {
		trace_report_done(&entry->report);
		free(entry);
		return r;
	}
	entry->key = TAKE(key);
	entry->next = traces->first;
	traces->first = entry;
	*ret = entry->trace;
	return 0;
}

const struct trace_report *traces_report(const struct traces *traces, const struct trace *trace)
{
	for (const struct traces_entry *entry = traces->first; entry; entry = entry->next)
		if (entry->trace == trace)
			return &entry->report;
	return NULL;
}

/* --- what is in it -------------------------------------------------------------------------- */

static void add_counts(const struct trace_stats *stats, struct text *ret)
{
	static const char *const plurals[TRACE_OPS] = {
		"reads", "writes", "discards", "flushes", "writes of zeroes", "others",
	};
	static const char *const singulars[TRACE_OPS] = {
		"read", "write", "discard", "flush", "write of zeroes", "other",
	};
	const char *mark = "";
	char size[UNITS_TEXT_BYTES];

	for (int op = 0; op < TRACE_OPS; op++) {
		const uint64_t count = stats->counts[op];

		if (!count)
			continue;
		text_add(ret, "%s%" PRIu64 " %s", mark, count,
			 count == 1 ? singulars[op] : plurals[op]);
		if (op <= TRACE_TRIM)
			text_add(ret, " (%s)", units_format_size((double)stats->bytes[op], size));
		mark = ", ";
	}
	if (stats->counts[TRACE_ZERO] + stats->counts[TRACE_OTHER])
		text_add(ret, "; the last are not replayed");
}

static void add_places(const struct trace_stats *stats, struct text *ret)
{
	char size[UNITS_TEXT_BYTES], granule[UNITS_TEXT_BYTES];

	if (!stats->granule_bytes)
		return;
	text_add(ret, "up to %s, in multiples of %s",
		 units_format_size((double)stats->end_bytes, size),
		 units_format_bytes(stats->granule_bytes, granule));
	if (stats->unaligned_counts[1])
		text_add(ret, "; not in multiples of 512: %" PRIu64 ", of 4096: %" PRIu64,
			 stats->unaligned_counts[0], stats->unaligned_counts[1]);
}

static void add_times(const struct trace *trace, struct text *ret)
{
	const struct trace_stats *stats = &trace->stats;
	const double s = (double)stats->duration_ns / 1e9;
	char rate[UNITS_TEXT_BYTES], time[UNITS_TEXT_BYTES];

	if (!stats->timed) {
		text_add(ret, "an order without times");
		return;
	}
	text_add(ret, "%s", units_format_latency((double)stats->duration_ns, time));
	if (s > 0)
		text_add(ret, ", %s on average",
			 units_format_rate((double)trace->count / s, rate));
	if (stats->latency_count)
		text_add(ret, "; latencies were recorded for %" PRIu64, stats->latency_count);
}

static void add_streams(const struct trace *trace, struct text *ret)
{
	for (uint32_t i = 0; i < trace->stream_count && i < STREAMS_SHOWN; i++)
		text_add(ret, "%s%s", i ? ", " : "", trace->streams[i].name);
	if (trace->stream_count > STREAMS_SHOWN)
		text_add(ret, " and %u more", trace->stream_count - STREAMS_SHOWN);
}

static void add_reading(const struct trace_report *report, struct text *ret)
{
	if (report->unordered_count)
		text_add(ret, "order     %" PRIu64 " of %" PRIu64 " lines were earlier than the one before, "
			      "and are sorted\n",
			 report->unordered_count, report->line_count);
	if (report->bad_count)
		text_add(ret, "bad       %" PRIu64 " of %" PRIu64 " lines make no sense\n",
			 report->bad_count, report->line_count);
	for (size_t i = 0; i < report->bad_count && i < TRACE_BAD_SHOWN; i++)
		text_add(ret, "          %s:%" PRIu64 ": %s: '%s'\n", report->bad[i].file,
			 report->bad[i].line, report->bad[i].why, report->bad[i].text);
	for (const char *at = text_string(&report->notes); *at; at += strcspn(at, "\n") + 1)
		text_add(ret, "note      %.*s\n", (int)strcspn(at, "\n"), at);
}

void traces_remarks(const struct traces *traces, struct text *ret)
{
	for (const struct traces_entry *entry = traces->first; entry; entry = entry->next)
		add_reading(&entry->report, ret);
}

static void add_row(const char *name, struct text *row, struct text *ret)
{
	if (row->length)
		text_add(ret, "%-9s %s\n", name, text_string(row));
	text_done(row);
}

void traces_text(const struct trace *trace, const struct trace_report *report, struct text *ret)
{
	struct text row = TEXT_INIT;

	text_add(&row, "%s, %" PRIu64 " requests", report->format, trace->count);
	add_row("trace", &row, ret);
	add_counts(&trace->stats, &row);
	add_row("contains", &row, ret);
	add_times(trace, &row);
	add_row("times", &row, ret);
	add_places(&trace->stats, &row);
	add_row("place", &row, ret);
	add_streams(trace, &row);
	add_row(trace->stream_count == 1 ? "target" : "targets", &row, ret);
	add_reading(report, ret);
}

static json_t *counts_json(const uint64_t *counts)
{
	json_t *ret = json_object();

	for (int op = 0; op < TRACE_OPS; op++)
		json_put_u64(ret, trace_op_names[op], counts[op]);
	return ret;
}

static json_t *streams_json(const struct trace *trace)
{
	json_t *ret = json_array();

	for (uint32_t i = 0; i < trace->stream_count; i++) {
		const struct trace_stream *stream = &trace->streams[i];
		json_t *item = json_object();

		json_put_text(item, "name", stream->name);
		json_put(item, "counts", counts_json(stream->counts));
		json_put(item, "bytes", counts_json(stream->bytes));
		json_put_u64(item, "end_bytes", stream->end_bytes);
		json_array_append_new(ret, item);
	}
	return ret;
}

static json_t *notes_json(const struct trace_report *report)
{
	json_t *ret = json_array();

	for (const char *at = text_string(&report->notes); *at; at += strcspn(at, "\n") + 1)
		json_array_append_new(ret, json_stringn(at, strcspn(at, "\n")));
	return ret;
}

void traces_json(const struct trace *trace, const struct trace_report *report, struct text *ret)
{
	const struct trace_stats *stats = &trace->stats;
	json_t *root = json_object();

	json_put(root, "schema", json_string("tare.trace/1"));
	json_put_text(root, "format", report->format);
	json_put_u64(root, "record_count", trace->count);
	json_put(root, "counts", counts_json(stats->counts));
	json_put(root, "bytes", counts_json(stats->bytes));
	json_put_bool(root, "timed", stats->timed);
	json_put_u64(root, "duration_ns", stats->duration_ns);
	json_put_u64(root, "end_bytes", stats->end_bytes);
	json_put_u64(root, "granule_bytes", stats->granule_bytes);
	json_put_u64(root, "length_max_bytes", stats->length_max_bytes);
	json_put_u64(root, "unaligned_512_count", stats->unaligned_counts[0]);
	json_put_u64(root, "unaligned_4096_count", stats->unaligned_counts[1]);
	json_put_u64(root, "latency_count", stats->latency_count);
	json_put(root, "targets", streams_json(trace));
	json_put_u64(root, "line_count", report->line_count);
	json_put_u64(root, "bad_count", report->bad_count);
	json_put_u64(root, "blank_count", report->blank_count);
	json_put_u64(root, "unordered_count", report->unordered_count);
	json_put_u64(root, "lost_count", report->lost_count);
	json_put(root, "notes", notes_json(report));
	json_write(root, ret);
	json_decref(root);
}
