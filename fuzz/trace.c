/* SPDX-License-Identifier: MIT */
/*
 * A trace of any format is understood or refused with a sentence; what was understood is in order,
 * within what any device can address, and adds up to its own counts. The first byte chooses how it
 * is read: by content, or as one of the formats.
 */
#include <string.h>

#include "foreign/trace.h"
#include "fuzz.h"

static size_t format_count(void)
{
	size_t count = 0;

	while (trace_format_name(count))
		count++;
	return count;
}

static void check(const struct trace *trace)
{
	const struct trace_record *record;
	uint64_t before_ns = 0, counts[TRACE_OPS] = { 0 };
	struct cursor cursor;

	EXPECT(trace_cursor(trace, &cursor, NULL) == 0);
	while ((record = cursor_next(&cursor))) {
		EXPECT(record->op < TRACE_OPS && record->stream < trace->stream_count);
		EXPECT(record->time_ns >= before_ns && record->time_ns >= trace->zero_ns);
		EXPECT(record->op > TRACE_TRIM || record->length_bytes > 0);
		EXPECT(record->offset_bytes + record->length_bytes <= INT64_MAX);
		before_ns = record->time_ns;
		counts[record->op]++;
	}
	EXPECT(cursor.code == 0);
	EXPECT(memcmp(counts, trace->stats.counts, sizeof(counts)) == 0);
	cursor_done(&cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_report report;
	struct trace *trace = NULL;
	struct replay replay;
	struct err err = { 0 };

	if (size == 0)
		return 0;
	replay_init(&replay);
	if (data[0] < format_count())
		strcpy(replay.format, trace_format_name(data[0]));
	replay.read_code = data[0] >> 5 & 1;
	replay.time_unit = data[0] >> 6 & 1;
	if (data[0] & 0x80)
		strcpy(replay.columns, "time_us,op,lba,length,target");
	replay.block_bytes = 512;
	if (trace_import_memory(&trace, "fuzz", data + 1, size - 1, &replay, &report, &err) == 0)
		check(trace);
	else
		EXPECT(err.code < 0 && err.text[0]);
	trace_free(trace);
	trace_report_done(&report);
	return 0;
}
