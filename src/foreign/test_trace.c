/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/blktrace_api.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "foreign/trace.h"
#include "model/workload.h"

/* What the last import gave. */
static struct trace *trace;
static struct trace_report report;
static struct err err;
static int code;
static struct trace_record records[64];
static size_t record_count;

static void keep_records(void)
{
	const struct trace_record *record;
	struct cursor cursor;

	record_count = 0;
	CHECK_EQ(trace_cursor(trace, &cursor, NULL), 0);
	while ((record = cursor_next(&cursor)) && record_count < 64)
		records[record_count++] = *record;
	cursor_done(&cursor);
}

static void forget(void)
{
	trace_free(trace);
	trace_report_done(&report);
	trace = NULL;
	err = (struct err){ 0 };
}

static void import_bytes(const void *data, size_t bytes, const char *options)
{
	struct replay replay;

	forget();
	replay_init(&replay);
	CHECK_EQ(replay_parse(&replay, options, &err), 0);
	code = trace_import_memory(&trace, "t", data, bytes, &replay, &report, &err);
	record_count = 0;
	if (code == 0)
		keep_records();
}

static void import(const char *text, const char *options)
{
	import_bytes(text, strlen(text), options);
	if (code < 0)
		printf("# %s\n", err.text);
}

/* op, time since the beginning, offset, length of a record. */
static void want(size_t i, enum trace_op op, uint64_t time_ns, uint64_t offset, uint64_t length)
{
	CHECK(i < record_count);
	if (i >= record_count)
		return;
	CHECK_EQ(records[i].op, op);
	CHECK_EQ(records[i].time_ns - trace->zero_ns, time_ns);
	CHECK_EQ(records[i].offset_bytes, offset);
	CHECK_EQ(records[i].length_bytes, length);
}

static bool noted(const char *part)
{
	return strstr(text_string(&report.notes), part) != NULL;
}

static void an_iolog_of_version_2_waits_as_fio_does(void)
{
	import("fio version 2 iolog\n/dev/sdq add\n/dev/sdq open\n/dev/sdq read 0 4096\n"
	       "/dev/sdq wait 250 0\n/dev/sdq write 65536 8192\n/dev/sdq close\n", "");
	CHECK_EQ(code, 0);
	CHECK_STR(report.format, "iolog");
	CHECK_EQ(record_count, 2);
	want(0, TRACE_READ, 0, 0, 4096);
	want(1, TRACE_WRITE, 250 * MILLISECOND_NS, 65536, 8192);
	CHECK_EQ(trace->stats.bytes[TRACE_READ] + trace->stats.bytes[TRACE_WRITE], 12288);
	CHECK(noted("ms after the start"));
}

static void waits_that_may_mean_either_are_asked_for(void)
{
	static const char text[] = "fio version 2 iolog\nf read 0 512\nf wait 100 0\nf read 512 512\n"
				   "f wait 100 0\nf read 1024 512\n";

	import(text, "");
	CHECK_EQ(code, -EINVAL);
	CHECK(strstr(err.hint, "--wait-unit=") != NULL);
	import(text, "wait-unit=relative-us");
	want(2, TRACE_READ, 200000, 1024, 512);
	import(text, "wait-unit=absolute-ms");
	want(2, TRACE_READ, 100 * MILLISECOND_NS, 1024, 512);
	import("fio version 2 iolog\nf wait 90 0\nf read 0 512\nf wait 30 0\nf read 0 512\n", "");
	CHECK_EQ(code, -EINVAL);
}

static void an_iolog_of_version_3_has_its_times_in_us(void)
{
	import("fio version 3 iolog\n0 data.0.0 add\n3 data.0.0 open\n10 data.0.0 read 8192 4096\n"
	       "100010 data.0.0 write 0 4096\n100900 data.0.0 sync 0 0\n101000 data.0.0 close\n",
			"");
	CHECK_EQ(record_count, 3);
	want(0, TRACE_READ, 10000, 8192, 4096);
	want(1, TRACE_WRITE, 100010000, 0, 4096);
	want(2, TRACE_FLUSH, 100900000, 0, 0);
	CHECK_EQ(trace->stream_count, 1);
	CHECK_STR(trace->streams[0].name, "data.0.0");
}

static void a_second_header_is_a_clone_beside_the_first_or_after_it(void)
{
	static const char text[] = "fio version 3 iolog\n5 f read 0 512\n20 f read 512 512\n"
				   "fio version 3 iolog\n7 f read 1024 512\n";

	import(text, "");
	want(0, TRACE_READ, 5000, 0, 512);
	want(1, TRACE_READ, 7000, 1024, 512);
	want(2, TRACE_READ, 20000, 512, 512);
	CHECK(noted("2 headers"));
	import(text, "clones=in-turn");
	want(2, TRACE_READ, 27000, 1024, 512);
}

static void other_versions_of_iolog_are_refused_as_what_they_are(void)
{
	import("fio version 1 iolog\n0, 0, 4096\n", "");
	CHECK_EQ(code, -EINVAL);
	CHECK(strstr(err.text, "versions 2 and 3 are read") != NULL);
}

/* R04: each discard counts, with its bytes. */
static void discards_are_counted(void)
{
	import("fio version 3 iolog\n0 /dev/null add\n1 /dev/null open\n2 /dev/null trim 0 2147483648\n"
	       "3 /dev/null write 0 4096\n4 /dev/null close\n", "");
	CHECK_EQ(trace->stats.counts[TRACE_TRIM], 1);
	CHECK_EQ(trace->stats.bytes[TRACE_TRIM], 2147483648);
	CHECK_EQ(trace->stats.counts[TRACE_WRITE], 1);
	CHECK_EQ(trace->stats.end_bytes, 2147483648);
}

/* R03: add and open twice are nothing; the two ranges do not meet. */
static void two_recorded_devices_may_share_a_target_when_apart(void)
{
	struct workload workload;

	workload_init(&workload);
	import("fio version 2 iolog\n/dev/sdb add\n/dev/sdc add\n/dev/sdb open\n/dev/sdc open\n"
	       "/dev/sdb read 0 512\n/dev/sdc read 512 512\n/dev/sdb close\n/dev/sdc close\n", "");
	CHECK_EQ(record_count, 2);
	want(0, TRACE_READ, 0, 0, 512);
	want(1, TRACE_READ, 0, 512, 512);
	CHECK_EQ(trace->stream_count, 2);
	trace_describe(trace, &workload);
	CHECK_EQ(trace_check(trace, &workload, &err), 0);
	CHECK_EQ(workload.rw, RW_RANDREAD);
	CHECK_EQ(workload.size.bytes, 1024);
}

static void ranges_that_meet_are_refused_allowed_or_put_apart(void)
{
	struct workload workload;

	import("fio version 3 iolog\n0 a write 4096 8192\n1 b read 8192 4096\n", "");
	workload_init(&workload);
	trace_describe(trace, &workload);
	CHECK_EQ(trace_check(trace, &workload, &err), -EINVAL);
	CHECK(strstr(err.text, "'a' and 'b'") != NULL);
	workload.replay.overlap = OVERLAP_ALLOW;
	CHECK_EQ(trace_check(trace, &workload, &err), 0);
	workload.replay.overlap = OVERLAP_SEPARATE;
	trace_describe(trace, &workload);
	CHECK_EQ(trace_check(trace, &workload, &err), 0);
	CHECK_EQ(trace_base_bytes(trace, 1, &workload.replay), MIB);
	CHECK_EQ(workload.size.bytes, MIB + 12288);
}

static void a_plan_that_says_less_than_its_trace_does_is_refused(void)
{
	struct workload workload;

	import("fio version 3 iolog\n0 a write 4096 8192\n1 a trim 0 4096\n", "");
	workload_init(&workload);
	trace_describe(trace, &workload);
	CHECK_EQ(workload.rw, RW_RANDWRITE);
	CHECK_EQ(workload.trim_ppm, PPM / 2);
	CHECK_EQ(workload.block_bytes, 8192);
	workload.trim_ppm = 0;
	CHECK_EQ(trace_check(trace, &workload, &err), -EINVAL);
	CHECK(strstr(err.text, "1 discards") != NULL);
	workload.rw = RW_RANDREAD;
	CHECK_EQ(trace_check(trace, &workload, &err), -EINVAL);
	CHECK(strstr(err.text, "1 writes") != NULL);
	workload.replay.skip = 1u << TRACE_WRITE | 1u << TRACE_TRIM;
	CHECK_EQ(trace_check(trace, &workload, &err), -EINVAL);
	CHECK(strstr(err.text, "nothing of the trace") != NULL);
}

static void blkparse_gives_what_was_issued_and_its_latency(void)
{
	import("  8,16  1       12     0.000100000  4321  D   R 4096 + 8 [app]\n"
	       "  8,16  0        7     0.000180000     0  C   R 4096 + 8 [0]\n"
	       "  8,16  1       13     0.000200000  4321  D  WS 8192 + 256 [app]\n"
	       "CPU0 (8,16):\n Reads Queued: 1, 4KiB\n", "");
	CHECK_STR(report.format, "blkparse");
	CHECK_EQ(record_count, 2);
	want(0, TRACE_READ, 100000, 2 * MIB, 4096);
	CHECK_EQ(records[0].latency_ns, 80000);
	want(1, TRACE_WRITE, 200000, 4 * MIB, 131072);
	CHECK_EQ(records[1].flags, TRACE_SYNC);
	CHECK_EQ(records[1].latency_ns, 0);
	CHECK_STR(trace->streams[0].name, "8:16");
	CHECK(noted("events D"));
}

/* R01: lines of two CPUs in the order of their time; completions are for latency alone. */
static void events_of_several_cpus_come_in_the_order_of_time(void)
{
	import("  8,0 1 1 0.000200 77 D W 4096 + 8 [x]\n  8,0 0 1 0.000100 77 D R 0 + 8 [x]\n"
	       "  8,0 0 2 0.000300 0 C R 0 + 8 [0]\n", "");
	CHECK_EQ(record_count, 2);
	want(0, TRACE_READ, 100000, 0, 4096);
	CHECK_EQ(records[0].latency_ns, 200000);
	want(1, TRACE_WRITE, 200000, 4096 * 512, 4096);
	CHECK_EQ(report.unordered_count, 1);
}

/* R06: sectors of 512 bytes; Q where there is no D, and it says so. */
static void sectors_have_512_bytes_and_queued_events_do(void)
{
	import("  9,0 3 1 0.000000000 697 Q W 223488 + 8 [fio]\n"
	       "  9,0 3 2 0.000010000 697 Q W 223496 + 16 [fio]\n", "");
	want(0, TRACE_WRITE, 0, 223488ull * 512, 4096);
	want(1, TRACE_WRITE, 10000, 223496ull * 512, 8192);
	CHECK(noted("events Q"));
	import("8,0 0 1 0.1 7 Q R 0 + 8 [x]\n8,0 0 2 0.2 7 D R 0 + 8 [x]\n", "");
	CHECK_EQ(record_count, 1);
	want(0, TRACE_READ, 200 * MILLISECOND_NS, 0, 4096);
}

static void rwbs_is_read_letter_by_letter(void)
{
	import("8,0 0 1 0.1 7 D FWFS 0 + 8 [x]\n8,0 0 2 0.2 7 D DE 8 + 8 [x]\n"
	       "8,0 0 3 0.3 7 D FN 0 + 0 [x]\n8,0 0 4 0.4 7 D RAM 16 + 8 [x]\n"
	       "8,0 0 5 0.5 7 D R 36 (12 00 00) [x]\n8,0 0 6 0.6 7 P N [x]\n"
	       "8,0 0 7 0.7 7 A W 8 + 8 <- (8,1) 0\n8,0 0 8 0.8 7 m N cfq schedule\n", "");
	CHECK_EQ(record_count, 5);
	want(0, TRACE_WRITE, 100 * MILLISECOND_NS, 0, 4096);
	CHECK_EQ(records[0].flags, TRACE_PREFLUSH | TRACE_FUA | TRACE_SYNC);
	CHECK_EQ(records[1].op, TRACE_TRIM);
	want(2, TRACE_FLUSH, 300 * MILLISECOND_NS, 0, 0);
	CHECK_EQ(records[3].flags, TRACE_READ_AHEAD | TRACE_METADATA);
	CHECK_EQ(records[4].op, TRACE_OTHER);
	CHECK_EQ(report.bad_count, 0);
}

static struct blk_io_trace event_of(uint32_t action, uint64_t time_ns, uint64_t sector)
{
	return (struct blk_io_trace){
		.magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
		.time = time_ns,
		.sector = sector,
		.bytes = 4096,
		.action = action,
		.device = 8u << 20 | 16,
	};
}

static void swap_event(struct blk_io_trace *e)
{
	e->magic = __builtin_bswap32(e->magic);
	e->time = __builtin_bswap64(e->time);
	e->sector = __builtin_bswap64(e->sector);
	e->bytes = __builtin_bswap32(e->bytes);
	e->action = __builtin_bswap32(e->action);
	e->device = __builtin_bswap32(e->device);
}

static void blktrace_is_read_in_either_byte_order(void)
{
	struct blk_io_trace events[] = {
		event_of(BLK_TA_QUEUE | BLK_TC_ACT(BLK_TC_READ), 1000, 8),
		event_of(BLK_TA_ISSUE | BLK_TC_ACT(BLK_TC_READ), 1100, 8),
		event_of(BLK_TA_COMPLETE | BLK_TC_ACT(BLK_TC_READ), 1500, 8),
		event_of(BLK_TA_ISSUE | BLK_TC_ACT(BLK_TC_WRITE | BLK_TC_DISCARD), 2000, 16),
		event_of(BLK_TA_ISSUE | BLK_TC_ACT(BLK_TC_WRITE | BLK_TC_SYNC), 3000, 24),
	};

	for (int swapped = 0; swapped < 2; swapped++) {
		import_bytes(events, sizeof(events), "");
		CHECK_EQ(code, 0);
		CHECK_STR(report.format, "blktrace");
		CHECK_EQ(record_count, 3);
		want(0, TRACE_READ, 0, 4096, 4096);
		CHECK_EQ(records[0].latency_ns, 400);
		want(1, TRACE_TRIM, 900, 8192, 4096);
		want(2, TRACE_WRITE, 1900, 12288, 4096);
		CHECK_EQ(records[2].flags, TRACE_SYNC);
		CHECK_STR(trace->streams[0].name, "8:16");
		for (size_t i = 0; i < 5; i++)
			swap_event(&events[i]);
	}
	events[0].magic = BLK_IO_TRACE_MAGIC | 9;
	import_bytes(events, sizeof(events), "");
	CHECK(strstr(err.text, "version 9") != NULL);
}

static void a_completion_goes_to_the_oldest_of_its_place(void)
{
	import("8,0 0 1 0.000001 7 D R 0 + 8 [x]\n8,0 0 2 0.000002 7 D R 0 + 8 [x]\n"
	       "8,0 0 3 0.000005 7 C R 0 + 8 [0]\n8,0 0 4 0.000009 7 C R 0 + 8 [0]\n", "");
	CHECK_EQ(records[0].latency_ns, 4000);
	CHECK_EQ(records[1].latency_ns, 7000);
}

/*
 * A recorder that lost its completions, all at one place: to add the next must not walk those that
 * wait, which would be 5e9 steps here.
 */
static void issues_without_completions_at_one_place_stay_cheap(void)
{
	enum { COUNT = 320000 };
	struct text text = TEXT_INIT;

	for (int i = 0; i < COUNT; i++)
		text_add(&text, "8,0 0 1 0.%09d 7 D R 64 + 8 [x]\n", i + 1);
	/* The one that it ends is the oldest of those that still wait, PAIR_ROOM before it. */
	text_add(&text, "8,0 0 1 0.%09d 7 C R 64 + 8 [0]\n", COUNT + 1);
	import(text_string(&text), "");
	CHECK_EQ(code, 0);
	CHECK_EQ(trace->count, COUNT);
	CHECK_EQ(trace->stats.latency_count, 1);
	CHECK_EQ(trace->stats.bytes[TRACE_READ], COUNT * 4096ull);
	text_done(&text);
}

static void the_published_sets_are_told_apart(void)
{
	import("129000000000000000,srv1,2,Write,1048576,16384,25000\n"
	       "129000000000015000,srv1,2,Read,4096,4096,1200\n", "");
	CHECK_STR(report.format, "msr");
	want(0, TRACE_WRITE, 0, 1048576, 16384);
	CHECK_EQ(records[0].latency_ns, 2500000);
	want(1, TRACE_READ, 1500000, 4096, 4096);
	CHECK_EQ(records[1].latency_ns, 120000);
	CHECK_STR(trace->streams[0].name, "srv1.2");

	import("0,2048,4096,W,0.000000\n1,16,512,r,0.012500\n", "");
	CHECK_STR(report.format, "spc");
	want(0, TRACE_WRITE, 0, MIB, 4096);
	want(1, TRACE_READ, 12500000, 8192, 512);
	CHECK_STR(trace->streams[1].name, "1");

	import("7,R,8192,4096,1600000000000250\n", "");
	CHECK_STR(report.format, "alibaba");
	want(0, TRACE_READ, 0, 8192, 4096);
	CHECK_EQ(records[0].time_ns, 1600000000000250000);
	CHECK_STR(trace->streams[0].name, "7");

	import("1600000000,128,16,1,31\n", "");
	CHECK_STR(report.format, "tencent");
	want(0, TRACE_WRITE, 0, 65536, 8192);
	CHECK_STR(trace->streams[0].name, "31");

	import("1500 77 cp 64 8 W 8 0 d41d8cd98f00b204e9800998ecf8427e\n", "");
	CHECK_STR(report.format, "fiu");
	want(0, TRACE_WRITE, 0, 32768, 4096);
	CHECK_EQ(records[0].time_ns, 1500);
	CHECK_STR(trace->streams[0].name, "8:0");
}

static void a_blank_kind_is_skipped_and_counted(void)
{
	import("Timestamp,Response,IOType,LUN,Offset,Size\n"
	       "1500000000.000100000,0.000250,R,1,409600,8192\n1500000000.000900000,,,1,0,4096\n",
			"");
	CHECK_EQ(record_count, 1);
	want(0, TRACE_READ, 0, 409600, 8192);
	CHECK_EQ(records[0].latency_ns, 250000);
	CHECK_EQ(report.blank_count, 1);
	CHECK_EQ(report.bad_count, 0);
}

static void what_0_and_1_mean_is_never_guessed(void)
{
	import("time_us,device,type,offset,size\n10,0,1,4096,512\n", "");
	CHECK_EQ(code, -EINVAL);
	CHECK(strstr(err.hint, "--code=") != NULL);
	import("time_us,device,type,offset,size\n10,0,1,4096,512\n", "code=read=0");
	want(0, TRACE_WRITE, 0, 4096, 512);
	import("5 0 8 16 0\n9 0 24 16 1\n", "");
	CHECK_EQ(code, -EINVAL);
	CHECK(strstr(err.hint, "mqsim") != NULL);
	import("5 0 8 16 0\n9 0 24 16 1\n", "format=mqsim");
	want(0, TRACE_WRITE, 0, 4096, 8192);
	want(1, TRACE_READ, 4, 12288, 8192);
	import("5 0 8 16 0\n9 0 24 16 1\n", "format=disksim");
	CHECK(strstr(err.hint, "--time-unit=") != NULL);
	import("5 0 4096 512 0\n9.5 0 24 16 1\n", "format=huaicheng");
	want(1, TRACE_READ, 4500000, 24, 16);
}

static void units_that_do_not_show_are_asked_for(void)
{
	import("time,op,lba,length\n1.5,R,8,4096\n", "");
	CHECK(strstr(err.hint, "--block=") != NULL);
	import("time,op,lba,length\n1.5,R,8,4096\n", "block=4k");
	want(0, TRACE_READ, 0, 32768, 4096);
	import("time,op,offset,length\n15,R,8,4096\n", "");
	CHECK(strstr(err.hint, "--time-unit=") != NULL);
	import("W 15 4096 512\n", "format=table;columns=op,time_ms,offset,length");
	want(0, TRACE_WRITE, 0, 4096, 512);
	CHECK_EQ(records[0].time_ns, 15 * MILLISECOND_NS);
	import("R 1 2 3\n", "format=table");
	CHECK(strstr(err.hint, "--columns=") != NULL);
	import("time_s,op,offset,length\n1,R,8,8\n2,R,16,16\n", "");
	CHECK(noted("sectors"));
}

static void iozone_telemetry_needs_its_direction(void)
{
	static const char text[] = "# two sequential 64 KiB transfers, then a jump\n0 65536 2\n"
				   "65536 65536 2\n1048576 4096 0\n";

	import(text, "");
	CHECK_EQ(code, -EINVAL);
	import(text, "format=iozone-x");
	CHECK_EQ(record_count, 3);
	want(0, TRACE_WRITE, 2 * MILLISECOND_NS, 0, 65536);
	want(1, TRACE_WRITE, 4 * MILLISECOND_NS, 65536, 65536);
	want(2, TRACE_WRITE, 4 * MILLISECOND_NS, 1048576, 4096);
	CHECK_EQ(trace->stats.bytes[TRACE_WRITE], 135168);
	CHECK_EQ(trace->stats.end_bytes, 1028 * KIB);
	import(text, "format=iozone-y");
	CHECK_EQ(records[2].op, TRACE_READ);
}

static void iozone_logs_are_an_order_without_times(void)
{
	static const char text[] = "Offset in kBytes   Latency in microseconds  Transfer size in bytes\n"
			"         0         14      65536\n        64         -1      65536\n";

	import(text, "format=iozone-wol");
	CHECK_EQ(record_count, 2);
	CHECK_EQ(records[1].offset_bytes, 65536);
	CHECK_EQ(records[0].latency_ns, 14000);
	CHECK_EQ(records[1].latency_ns, 0);
	CHECK(!trace->stats.timed);
}

static void what_is_no_trace_is_shown(void)
{
	import("\x7f" "ELF\x02\x01\x01", "");
	CHECK_EQ(code, -EINVAL);
	CHECK(strstr(err.text, "not a trace") && strstr(err.text, ".ELF") &&
	      strstr(err.text, "7f 45 4c 46"));
	import("", "");
	CHECK(strstr(err.text, "empty") != NULL);
	import("'Results\nTimeStamp,'Target Type,Target Name\n", "");
	CHECK(strstr(err.text, "IOMeter") != NULL);
	import("x", "format=blkprase");
	CHECK(strstr(err.text, "no format 'blkprase'") != NULL);
}

/* Rule 8: up to 1 % of bad lines are counted, more are an error. */
static void bad_lines_are_counted_until_there_are_too_many(void)
{
	struct text text = TEXT_INIT;

	for (int i = 0; i < 198; i++)
		text_add(&text, "%d.5,R,%d,4096\n", i, i * 4096);
	text_add(&text, "198.5,R,x,4096\n199.5,Q,0,4096\n");
	import(text_string(&text), "format=table;columns=time,op,offset,length");
	CHECK_EQ(code, 0);
	CHECK_EQ(report.bad_count, 2);
	CHECK_EQ(report.line_count, 200);
	CHECK_EQ(report.bad[0].line, 199);
	CHECK_STR(report.bad[1].why, "neither read nor write");
	text_add(&text, "200.5,R,1\n");
	import(text_string(&text), "format=table;columns=time,op,offset,length");
	CHECK_EQ(code, -EINVAL);
	CHECK(strstr(err.text, "3 of 201 lines") != NULL);
	text_done(&text);
}

/* --- files ---------------------------------------------------------------------------------- */

static char directory[] = "/tmp/tare-trace-XXXXXX";

static void put(const char *name, const void *data, size_t bytes)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK_EQ(write(fd, data, bytes), (ssize_t)bytes);
	close(fd);
}

static void import_files(const char *words)
{
	struct replay replay;

	forget();
	replay_init(&replay);
	code = trace_import(&trace, words, &replay, &report, &err);
	record_count = 0;
	if (code == 0)
		keep_records();
}

static void compressed_files_read_as_what_they_hold(void)
{
	static const char text[] = "7,R,8192,4096,1600000000000250\n";
	unsigned char packed[256];
	z_stream z = { 0 };
	size_t bytes;

	bytes = ZSTD_compress(packed, sizeof(packed), text, strlen(text), 1);
	put("a.zst", packed, bytes);
	put("cut.zst", packed, bytes - 4);
	CHECK_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)(uintptr_t)text;
	z.avail_in = (unsigned int)strlen(text);
	z.next_out = packed;
	z.avail_out = sizeof(packed);
	CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
	put("a.gz", packed, sizeof(packed) - z.avail_out);
	deflateEnd(&z);
	import_files("a.zst");
	want(0, TRACE_READ, 0, 8192, 4096);
	import_files("a.gz");
	want(0, TRACE_READ, 0, 8192, 4096);
	import_files("cut.zst");
	CHECK_EQ(code, -EIO);
}

/* R01: the base name stands for all parts; each CPU's file is merged by time. */
static void a_base_name_picks_up_all_parts(void)
{
	const struct blk_io_trace a[] = {
		event_of(BLK_TA_ISSUE | BLK_TC_ACT(BLK_TC_WRITE), 200, 8),
	}, b[] = {
		event_of(BLK_TA_ISSUE | BLK_TC_ACT(BLK_TC_READ), 100, 0),
		event_of(BLK_TA_COMPLETE | BLK_TC_ACT(BLK_TC_WRITE), 300, 8),
	};

	put("run.blktrace.0", a, sizeof(a));
	put("run.blktrace.1", b, sizeof(b));
	import_files("run");
	CHECK_EQ(record_count, 2);
	want(0, TRACE_READ, 0, 0, 4096);
	want(1, TRACE_WRITE, 100, 4096, 4096);
	CHECK_EQ(records[1].latency_ns, 100);
	import_files("rum");
	CHECK_EQ(code, -ENOENT);
	CHECK(strstr(err.text, "rum.blktrace.0") != NULL);
}

static void several_files_are_merged_by_time(void)
{
	static const char one[] = "7,R,0,512,1600000000000100\n7,R,0,512,1600000000000300\n";
	static const char two[] = "8,W,0,512,1600000000000200\n";

	put("1.csv", one, strlen(one));
	put("2.csv", two, strlen(two));
	put("3.csv", "0,16,512,r,0.5\n", 15);
	import_files("1.csv,2.csv");
	CHECK_EQ(record_count, 3);
	want(1, TRACE_WRITE, 100000, 0, 512);
	CHECK_EQ(report.unordered_count, 0);
	import_files("[12].csv");
	CHECK_EQ(record_count, 3);
	import_files("1.csv,3.csv");
	CHECK(strstr(err.text, "are of one format") != NULL);
}

/* Far more than is sorted in memory, backwards. */
static void any_number_of_lines_is_put_in_order(void)
{
	struct text text = TEXT_INIT;
	const struct trace_record *record;
	struct cursor cursor;
	uint64_t before = 0, n = 0;

	for (int i = 150000; i > 0; i--)
		text_add(&text, "7,R,%d,4096,%d\n", i * 4096, 1000000 + i / 2);
	import(text_string(&text), "format=alibaba");
	CHECK_EQ(trace->count, 150000);
	CHECK_EQ(trace_cursor(trace, &cursor, NULL), 0);
	for (; (record = cursor_next(&cursor)); n++) {
		/* Equal times keep the order of their lines: the higher offset stood first. */
		const uint64_t i = record->offset_bytes / 4096;

		if (record->time_ns < before || record->time_ns != (1000000 + i / 2) * 1000)
			break;
		before = record->time_ns;
	}
	CHECK_EQ(n, 150000);
	cursor_done(&cursor);
	CHECK_EQ(records[1].offset_bytes, 3 * 4096);
	CHECK_EQ(records[2].offset_bytes, 2 * 4096);
	text_done(&text);
}

static void tidy(void)
{
	char command[64];

	forget();
	snprintf(command, sizeof(command), "rm -r %s", directory);
	CHECK(chdir("/") == 0 && system(command) == 0);
}

static void move_in(void)
{
	CHECK(mkdtemp(directory) != NULL);
	CHECK_EQ(chdir(directory), 0);
}

TESTS(TEST(an_iolog_of_version_2_waits_as_fio_does),
      TEST(waits_that_may_mean_either_are_asked_for),
      TEST(an_iolog_of_version_3_has_its_times_in_us),
      TEST(a_second_header_is_a_clone_beside_the_first_or_after_it),
      TEST(other_versions_of_iolog_are_refused_as_what_they_are),
      TEST(discards_are_counted),
      TEST(two_recorded_devices_may_share_a_target_when_apart),
      TEST(ranges_that_meet_are_refused_allowed_or_put_apart),
      TEST(a_plan_that_says_less_than_its_trace_does_is_refused),
      TEST(blkparse_gives_what_was_issued_and_its_latency),
      TEST(events_of_several_cpus_come_in_the_order_of_time),
      TEST(sectors_have_512_bytes_and_queued_events_do),
      TEST(rwbs_is_read_letter_by_letter),
      TEST(blktrace_is_read_in_either_byte_order),
      TEST(a_completion_goes_to_the_oldest_of_its_place),
      TEST(issues_without_completions_at_one_place_stay_cheap),
      TEST(the_published_sets_are_told_apart),
      TEST(a_blank_kind_is_skipped_and_counted),
      TEST(what_0_and_1_mean_is_never_guessed),
      TEST(units_that_do_not_show_are_asked_for),
      TEST(iozone_telemetry_needs_its_direction),
      TEST(iozone_logs_are_an_order_without_times),
      TEST(what_is_no_trace_is_shown),
      TEST(bad_lines_are_counted_until_there_are_too_many),
      TEST(move_in),
      TEST(compressed_files_read_as_what_they_hold),
      TEST(a_base_name_picks_up_all_parts),
      TEST(several_files_are_merged_by_time),
      TEST(any_number_of_lines_is_put_in_order),
      TEST(tidy))
