/* SPDX-License-Identifier: MIT */
#include "engine/test_fake.h"
#include "model/recording.h"
#include "model/trace.h"
#include "base/defer.h"
#include "base/units.h"

#define US MICROSECOND_NS
#define MS MILLISECOND_NS

struct event {
	uint64_t time_ns;
	enum trace_op op;
	uint64_t offset_bytes, length_bytes;
	const char *stream;
};

static struct trace *trace_of(const struct event *events, size_t count)
{
	struct trace *trace = NULL;

	CHECK_EQ(trace_new(&trace, NULL), 0);
	trace->from_start = true;
	for (size_t i = 0; i < count; i++) {
		struct trace_record record = {
			.time_ns = events[i].time_ns,
			.op = (uint8_t)events[i].op,
			.offset_bytes = events[i].offset_bytes,
			.length_bytes = events[i].length_bytes,
		};

		CHECK_EQ(trace_stream(trace, events[i].stream ? events[i].stream : "a",
				      &record.stream, NULL), 0);
		CHECK_EQ(trace_add(trace, &record, NULL), 0);
	}
	CHECK_EQ(trace_finish(trace, NULL), 0);
	return trace;
}

static struct workload workload_of(const struct trace *trace, const char *options)
{
	struct workload w;
	struct err err = { 0 };

	workload_init(&w);
	strcpy(w.trace, "t");
	w.depth_count = 8;
	w.seed = 1;
	CHECK_EQ(replay_parse(&w.replay, options, &err), 0);
	trace_describe(trace, &w);
	if (trace_check(trace, &w, &err) < 0 || workload_check(&w, &err) < 0)
		printf("# %s\n", err.text);
	CHECK_EQ(err.code, 0);
	return w;
}

/* In virtual time, from 1 s on. */
static struct measurement play(const struct trace *trace, const struct workload *w,
			       struct target *target, struct recording *recording)
{
	struct measurement m;
	struct clock clock;
	uint64_t now_ns = SECOND_NS;
	struct err err = { 0 };

	clock_init_virtual(&clock, &now_ns);
	measurement_init(&m);
	CHECK_EQ(engine_run_group(&(struct engine_job){ .workload = w, .target = target, .ret = &m,
							.trace = trace, .measurement_index = 3 },
				  1,
				  &(struct engine_options){ .clock = &clock, .stop = &fake.stop,
							    .recording = recording },
				  &err),
		 0);
	if (err.code)
		printf("# %s\n", err.text);
	return m;
}

static struct measurement play_events(const struct event *events, size_t count, const char *options,
				      struct target *target)
{
	struct trace *trace = trace_of(events, count);
	struct workload w = workload_of(trace, options);
	struct measurement m = play(trace, &w, target, NULL);

	trace_free(trace);
	return m;
}

static void want_log(size_t i, uint64_t at_ns, enum io_kind kind, uint64_t offset, uint32_t length)
{
	CHECK(i < fake.count);
	CHECK_EQ(fake.log[i].at_ns - SECOND_NS, at_ns);
	CHECK_EQ(fake.log[i].kind, kind);
	CHECK_EQ(fake.log[i].offset_bytes, offset);
	CHECK_EQ(fake.log[i].length_bytes, length);
}

static const struct event plain[] = {
	{ 10 * US, TRACE_READ, 8192, 4096, NULL },
	{ 15 * US, TRACE_WRITE, 0, 8192, NULL },
	{ 900 * US, TRACE_TRIM, 16384, 4096, NULL },
	{ 1000 * US, TRACE_FLUSH, 0, 0, NULL },
};

static void requests_start_at_their_times(void)
{
	struct target target = fake_target(1024, 50 * US);
	struct measurement m = play_events(plain, 4, "", &target);

	CHECK_EQ(fake.count, 4);
	want_log(0, 10 * US, IO_READ, 8192, 4096);
	want_log(1, 15 * US, IO_WRITE, 0, 8192);
	want_log(2, 900 * US, IO_TRIM, 16384, 4096);
	want_log(3, 1000 * US, IO_FSYNC, 0, 0);
	CHECK_EQ(m.ops[OP_SYNC].count, 1);
	CHECK_EQ(m.duration_ns, 1050 * US);
	CHECK_EQ(m.replay.played_count, 4);
	CHECK_EQ(m.lateness->max_ns, 0);
	measurement_done(&m);
}

static void speed_scales_times(void)
{
	struct target target = fake_target(1024, 1 * US);
	struct measurement m = play_events(plain, 4, "speed=2", &target);

	want_log(0, 5 * US, IO_READ, 8192, 4096);
	want_log(3, 500 * US, IO_FSYNC, 0, 0);
	measurement_done(&m);
	target = fake_target(1024, 1 * US);
	m = play_events(plain, 4, "speed=0.1", &target);
	want_log(2, 9 * MS, IO_TRIM, 16384, 4096);
	measurement_done(&m);
}

/*
 * A million, three gaps in turn that make 100 us, at three times their speed: the last at
 * floor(99999930 us / 3). No request starts late, none early, and nothing has added up.
 */
static void a_million_end_without_drift(void)
{
	static const uint64_t at_us[3] = { 0, 30, 70 };
	struct target target = fake_target(1024, 1 * US);
	struct trace *trace = NULL;
	struct workload w;
	struct measurement m;
	struct trace_record record = { .length_bytes = 4096 };

	CHECK_EQ(trace_new(&trace, NULL), 0);
	CHECK_EQ(trace_stream(trace, "a", &record.stream, NULL), 0);
	for (uint64_t i = 0; i < 1000000; i++) {
		record.time_ns = (i / 3 * 100 + at_us[i % 3]) * US;
		record.offset_bytes = i % 1000 * 4096;
		CHECK_EQ(trace_add(trace, &record, NULL), 0);
	}
	CHECK_EQ(trace_finish(trace, NULL), 0);
	w = workload_of(trace, "speed=3");
	m = play(trace, &w, &target, NULL);
	CHECK_EQ(fake.count, 1000000);
	CHECK_EQ(m.ops[OP_READ].count, 1000000);
	CHECK_EQ(m.lateness->count, 1000000);
	CHECK_EQ(m.lateness->max_ns, 0);
	CHECK_EQ(m.replay.last_late_ns, 0);
	/* 333333 whole turns; the last is the first of the next. */
	CHECK_EQ(m.duration_ns, 333333ull * 100 * US / 3 + 1 * US);
	want_log(1, 10 * US, IO_READ, 4096, 4096);
	want_log(2, 70 * US / 3, IO_READ, 8192, 4096);
	measurement_done(&m);
	trace_free(trace);
}

/* Depth 8, each 10 us: while the target stalls for 5 ms arrivals pile up; then they catch up. */
static void what_was_late_does_not_make_later_ones_late(void)
{
	struct target target = fake_target(1024, 10 * US);
	struct event events[1000];
	struct measurement m;

	for (uint64_t i = 0; i < 1000; i++)
		events[i] = (struct event){ i * 20 * US, TRACE_READ, i * 4096, 4096, NULL };
	fake.stall_from_ns = SECOND_NS + 2 * MS;
	fake.stall_to_ns = SECOND_NS + 7 * MS;
	m = play_events(events, 1000, "", &target);
	want_log(50, 1 * MS, IO_READ, 50 * 4096, 4096);
	CHECK(fake.log[200].at_ns > SECOND_NS + 4 * MS);
	want_log(999, 999 * 20 * US, IO_READ, 999 * 4096, 4096);
	CHECK(m.lateness->max_ns > 4 * MS);
	CHECK_EQ(m.replay.last_late_ns, 0);
	measurement_done(&m);
}

static void as_fast_as_possible_keeps_the_depth_and_flushes_in_order(void)
{
	struct target target = fake_target(1024, 100 * US);
	struct event events[20];
	struct measurement m;

	for (uint64_t i = 0; i < 20; i++)
		events[i] = (struct event){ i * SECOND_NS, TRACE_WRITE, i * 4096, 4096, NULL };
	events[12] = (struct event){ 12 * SECOND_NS, TRACE_FLUSH, 0, 0, NULL };
	m = play_events(events, 20, "timing=none", &target);
	CHECK_EQ(fake.count, 20);
	CHECK_EQ(fake.flying_max, 8);
	/* Eight, four, then the flush alone begins, with others behind it. */
	want_log(11, 100 * US, IO_WRITE, 11 * 4096, 4096);
	want_log(12, 200 * US, IO_FSYNC, 0, 0);
	want_log(13, 200 * US, IO_WRITE, 13 * 4096, 4096);
	CHECK(!m.lateness || m.lateness->count == 0);
	measurement_done(&m);
}

static void gaps_begin_where_the_one_before_ended(void)
{
	struct target target = fake_target(1024, 7 * US);
	struct measurement m = play_events(plain, 4, "timing=gaps", &target);

	want_log(0, 10 * US, IO_READ, 8192, 4096);
	want_log(1, 10 * US + 7 * US + 5 * US, IO_WRITE, 0, 8192);
	want_log(2, 22 * US + 7 * US + 885 * US, IO_TRIM, 16384, 4096);
	CHECK_EQ(fake.flying_max, 1);
	measurement_done(&m);
}

static void places_are_aligned_divided_and_put_apart(void)
{
	static const struct event events[] = {
		{ 0, TRACE_READ, 1536, 1024, "a" },
		{ 1, TRACE_READ, 40960, 4096, "a" },
		{ 2, TRACE_READ, 0, 4096, "b" },
	};
	struct target target = fake_target(1024, US);
	struct measurement m = play_events(events, 3, "align=4k;overlap=separate", &target);

	CHECK_EQ(fake.log[0].offset_bytes, 0);
	CHECK_EQ(fake.log[0].length_bytes, 4096);
	CHECK_EQ(fake.log[1].offset_bytes, 40960);
	CHECK_EQ(fake.log[2].offset_bytes, MIB);
	measurement_done(&m);
	target = fake_target(1024, US);
	m = play_events(events, 3, "divide=4;align=4k;streams=a", &target);
	CHECK_EQ(fake.count, 2);
	CHECK_EQ(fake.log[1].offset_bytes, 8192);	/* 10240, down */
	CHECK_EQ(fake.log[1].length_bytes, 8192);	/* to 14336, up */
	measurement_done(&m);
}

static void past_the_end_is_cut_or_wrapped_and_counted(void)
{
	static const struct event events[] = {
		{ 0, TRACE_READ, 0, 4096, NULL },
		{ 1, TRACE_READ, 12288, 8192, NULL },	/* half of it is past 16 KiB */
		{ 2, TRACE_READ, 65536 + 4096, 4096, NULL },
	};
	struct target target = fake_target(4, US);
	struct measurement m = play_events(events, 3, "beyond=clip", &target);

	CHECK_EQ(fake.count, 2);
	CHECK_EQ(fake.log[1].length_bytes, 4096);
	CHECK_EQ(m.replay.clipped_count, 2);
	CHECK_EQ(m.replay.played_count, 2);
	measurement_done(&m);
	target = fake_target(4, US);
	m = play_events(events, 3, "beyond=wrap", &target);
	CHECK_EQ(fake.count, 3);
	CHECK_EQ(fake.log[1].offset_bytes, 8192);
	CHECK_EQ(fake.log[1].length_bytes, 8192);
	CHECK_EQ(fake.log[2].offset_bytes, 4096);
	CHECK_EQ(m.replay.wrapped_count, 2);
	measurement_done(&m);
}

static void what_is_past_the_end_is_refused_unless_asked_otherwise(void)
{
	static const struct event events[] = { { 0, TRACE_READ, 12288, 8192, NULL } };
	struct target target = fake_target(4, US);
	struct trace *trace = trace_of(events, 1);
	struct workload w = workload_of(trace, "");
	struct engine_range range;
	struct err err = { 0 };

	CHECK_EQ(engine_resolve(&w, &target.info, &range, &err), -EFBIG);
	w.size.bytes = 0;
	w.replay.beyond = BEYOND_CLIP;
	CHECK_EQ(engine_resolve(&w, &target.info, &range, &err), 0);
	trace_free(trace);
}

static void long_discards_are_several_and_skipped_ones_are_counted(void)
{
	static const struct event events[] = {
		{ 0, TRACE_TRIM, 0, 5ull << 30, NULL },
		{ 10, TRACE_READ, 4096, 4096, NULL },
		{ 20, TRACE_ZERO, 0, 4096, NULL },
	};
	struct target target = fake_target(2u << 20, US);
	struct measurement m = play_events(events, 3, "", &target);

	CHECK_EQ(fake.count, 4);
	want_log(0, 0, IO_TRIM, 0, 1u << 31);
	want_log(1, 0, IO_TRIM, 2ull << 30, 1u << 31);
	want_log(2, 0, IO_TRIM, 4ull << 30, 1u << 30);
	CHECK_EQ(m.ops[OP_TRIM].bytes, 5ll << 30);
	CHECK_EQ(m.replay.skipped_count, 1);
	measurement_done(&m);
	target = fake_target(1024, US);
	m = play_events(events, 3, "skip=trim;beyond=clip", &target);
	CHECK_EQ(fake.count, 1);
	CHECK_EQ(m.replay.skipped_count, 2);
	measurement_done(&m);
}

static void a_runtime_ends_it_before(void)
{
	struct target target = fake_target(1024, US);
	struct trace *trace = trace_of(plain, 4);
	struct workload w = workload_of(trace, "");
	struct measurement m;

	w.runtime_ns = 500 * US;
	m = play(trace, &w, &target, NULL);
	CHECK_EQ(m.replay.played_count, 2);
	CHECK_EQ(m.duration_ns, 500 * US);
	measurement_done(&m);
	trace_free(trace);
}

/* The tap: each request once, with its three times, in the order that is asked for. */
static void a_recording_has_what_each_request_did(void)
{
	struct target target = fake_target(1024, 50 * US);
	struct trace *trace = trace_of(plain, 4);
	struct workload w = workload_of(trace, "");
	struct recording *recording = NULL;
	struct recording_cursor cursor;
	const struct recorded_io *io;
	struct measurement m;

	CHECK_EQ(recording_new(&recording, NULL), 0);
	fake.stall_from_ns = SECOND_NS;
	fake.stall_to_ns = SECOND_NS + 100 * US;
	m = play(trace, &w, &target, recording);
	CHECK_EQ(recording->count, 4);
	CHECK_EQ(recording->lost_count, 0);
	CHECK_EQ(recording_sort(recording, RECORDED_BY_SUBMIT, &cursor, NULL), 0);
	io = cursor_next(&cursor.cursor);
	CHECK_EQ(io->op, OP_READ);
	CHECK_EQ(io->submit_ns, SECOND_NS + 10 * US);
	CHECK_EQ(io->intended_ns, SECOND_NS + 10 * US);
	CHECK_EQ(io->done_ns, SECOND_NS + 150 * US);
	CHECK_EQ(io->result, 4096);
	CHECK_EQ(io->measurement_index, 3);
	io = cursor_next(&cursor.cursor);
	CHECK_EQ(io->op, OP_WRITE);
	CHECK_EQ(io->offset_bytes, 0);
	CHECK_EQ(io->length_bytes, 8192);
	CHECK_EQ(((const struct recorded_io *)cursor_next(&cursor.cursor))->op, OP_TRIM);
	CHECK_EQ(((const struct recorded_io *)cursor_next(&cursor.cursor))->op, OP_SYNC);
	CHECK(!cursor_next(&cursor.cursor));
	recording_cursor_done(&cursor);
	recording_free(recording);
	measurement_done(&m);
	trace_free(trace);
}

/* In real time, by several workers, through the tap's own thread: none is missing. */
static void a_recording_of_a_closed_loop_is_whole(void)
{
	struct target target = fake_target(4096, 0);
	struct workload w = fake_workload();
	struct recording *recording = NULL;
	struct recording_cursor cursor;
	const struct recorded_io *io;
	struct measurement m;
	struct clock clock;
	uint64_t count = 0, before_ns = 0, sum_bytes = 0, disorder = 0;

	clock_init_real(&clock);
	CHECK_EQ(recording_new(&recording, NULL), 0);
	measurement_init(&m);
	w.job_count = 2;
	w.depth_count = 4;
	w.repeat = true;
	w.io_size_bytes = 60000ull * 4096;
	CHECK_EQ(engine_run(&w, &target,
			    &(struct engine_options){ .clock = &clock, .recording = recording }, &m, NULL),
		 0);
	CHECK_EQ(recording->count + recording->lost_count, 60000);
	CHECK_EQ(recording_sort(recording, RECORDED_BY_DONE, &cursor, NULL), 0);
	while ((io = cursor_next(&cursor.cursor))) {
		disorder += io->done_ns < before_ns || io->submit_ns > io->done_ns;
		before_ns = io->done_ns;
		sum_bytes += io->length_bytes;
		count++;
	}
	CHECK_EQ(count, recording->count);
	CHECK_EQ(sum_bytes, count * 4096);
	CHECK_EQ(disorder, 0);
	recording_cursor_done(&cursor);
	recording_free(recording);
	measurement_done(&m);
}

/* --- several pacers share a trace ------------------------------------------------------------- */

static struct measurement play_shared(const struct event *events, size_t count, const char *options,
				      struct workload *w, struct target *target)
{
	struct trace *trace = trace_of(events, count);
	struct workload described = workload_of(trace, options);
	struct measurement m;

	described.job_count = w->job_count;
	described.depth_count = w->depth_count;
	described.runtime_ns = w->runtime_ns;
	CHECK_EQ(workload_check(&described, NULL), 0);
	m = play(trace, &described, target, NULL);
	trace_free(trace);
	return m;
}

/* One place each, 100 us: the third finds both taken until the first is done. */
static void a_second_pacer_takes_what_the_first_has_no_place_for(void)
{
	static const struct event events[] = {
		{ 0, TRACE_READ, 0, 4096, NULL },
		{ 10 * US, TRACE_WRITE, 4096, 4096, NULL },
		{ 20 * US, TRACE_ZERO, 0, 4096, NULL },
		{ 30 * US, TRACE_READ, 8192, 4096, NULL },
	};
	struct target target = fake_target(1024, 100 * US);
	struct measurement m = play_shared(events, 4, "",
					   &(struct workload){ .job_count = 2, .depth_count = 1 },
					   &target);

	CHECK_EQ(fake.count, 3);
	want_log(0, 0, IO_READ, 0, 4096);
	want_log(1, 10 * US, IO_WRITE, 4096, 4096);
	want_log(2, 100 * US, IO_READ, 8192, 4096);
	CHECK_EQ(m.replay.played_count, 3);
	CHECK_EQ(m.replay.skipped_count, 1);	/* each of both has read it */
	CHECK_EQ(m.replay.punctual_count, 2);
	CHECK_EQ(m.replay.last_late_ns, 70 * US);
	CHECK_EQ(m.backlog_ns_max, 70 * US);
	CHECK_EQ(m.lateness->count, 3);
	CHECK_EQ(m.duration_ns, 200 * US);
	measurement_done(&m);
}

/* Four places each: the flush begins when the twelve before it are done, whoever began them. */
static void a_flush_waits_for_what_any_pacer_began(void)
{
	struct target target = fake_target(1024, 100 * US);
	struct event events[20];
	struct measurement m;

	for (uint64_t i = 0; i < 20; i++)
		events[i] = (struct event){ i * SECOND_NS, TRACE_WRITE, i * 4096, 4096, NULL };
	events[12] = (struct event){ 12 * SECOND_NS, TRACE_FLUSH, 0, 0, NULL };
	fake.service_ns[IO_WRITE] = 130 * US;
	m = play_shared(events, 20, "timing=none",
			&(struct workload){ .job_count = 2, .depth_count = 4 }, &target);
	CHECK_EQ(fake.count, 20);
	want_log(7, 0, IO_WRITE, 7 * 4096, 4096);
	want_log(11, 130 * US, IO_WRITE, 11 * 4096, 4096);
	want_log(12, 260 * US, IO_FSYNC, 0, 0);
	want_log(13, 260 * US, IO_WRITE, 13 * 4096, 4096);
	want_log(19, 260 * US, IO_WRITE, 19 * 4096, 4096);
	CHECK_EQ(m.duration_ns, 390 * US);
	measurement_done(&m);
}

/* Ten a millisecond apart, two places for 20 ms: what was begun and what was not make ten. */
static void what_no_pacer_began_is_counted_once(void)
{
	struct target target = fake_target(1024, 3 * SECOND_NS);
	struct event events[11];
	struct measurement m;

	for (uint64_t i = 0; i < 11; i++)
		events[i] = (struct event){ i * MS, TRACE_READ, i * 4096, 4096, NULL };
	m = play_shared(events, 11, "",
			&(struct workload){ .job_count = 2, .depth_count = 1, .runtime_ns = 10 * MS },
			&target);
	CHECK_EQ(fake.count, 2);
	CHECK_EQ(m.replay.played_count, 2);
	CHECK_EQ(m.unserved_count, 8);
	measurement_done(&m);
}

/* In real time: each once, none before its time, and what is cut in pieces is cut once. */
static void pacers_in_threads_start_each_request_once(void)
{
	static const char *const options[] = { "speed=20", "timing=none" };
	enum { COUNT = 40000 };
	struct trace *trace = NULL;
	struct trace_record record = { 0 };
	struct clock clock;

	clock_init_real(&clock);
	CHECK_EQ(trace_new(&trace, NULL), 0);
	CHECK_EQ(trace_stream(trace, "a", &record.stream, NULL), 0);
	for (uint64_t i = 0; i < COUNT; i++) {
		const bool is_trim = i % 1000 == 999;

		record.time_ns = i * 50 * US;
		record.op = (uint8_t)(is_trim ? TRACE_TRIM : i % 100 == 50 ? TRACE_FLUSH : TRACE_READ);
		record.offset_bytes = record.op == TRACE_READ ? i * 4096 : 0;
		record.length_bytes = is_trim ? 5ull << 30 : record.op == TRACE_READ ? 4096 : 0;
		CHECK_EQ(trace_add(trace, &record, NULL), 0);
	}
	CHECK_EQ(trace_finish(trace, NULL), 0);
	for (size_t k = 0; k < ARRAY_COUNT(options); k++) {
		struct target target = fake_target(2u << 20, 0);
		struct workload w = workload_of(trace, options[k]);
		struct measurement m;
		uint64_t count = 0, sum = 0, begin_ns = NEVER_NS, early_count = 0;

		w.job_count = 3;
		measurement_init(&m);
		CHECK_EQ(engine_run_group(&(struct engine_job){ .workload = &w, .target = &target,
								.ret = &m, .trace = trace },
					  1, &(struct engine_options){ .clock = &clock }, NULL),
			 0);
		begin_ns = m.start_ns;
		for (size_t i = 0; i < fake.count; i++) {
			const struct fake_log *log = &fake.log[i];

			if (log->kind != IO_READ)
				continue;
			count++;
			sum += log->offset_bytes / 4096;
			early_count += k == 0 &&
				       log->at_ns < begin_ns + log->offset_bytes / 4096 * 2500;
		}
		/* 40 discards of three pieces each, 400 flushes; the rest are reads. */
		CHECK_EQ(fake.count, COUNT + 40 * 2);
		CHECK_EQ(m.replay.played_count, COUNT + 40 * 2);
		CHECK_EQ(count, COUNT - 440);
		/* All numbers, but each 999th of a thousand and each 50th of a hundred. */
		CHECK_EQ(sum, 799980000ull - (40 * 999 + 1000ull * (40 * 39 / 2)) -
				      (400 * 50 + 100ull * (400 * 399 / 2)));
		CHECK_EQ(early_count, 0);
		CHECK_EQ(m.ops[OP_TRIM].bytes, 40 * (5ll << 30));
		CHECK_EQ(m.ops[OP_SYNC].count, 400);
		CHECK(k == 1 || m.lateness->count == COUNT + 40 * 2);
		measurement_done(&m);
	}
	trace_free(trace);
}

static void pauses_have_no_use_for_a_second_pacer(void)
{
	struct trace *trace = trace_of(plain, 4);
	struct workload w = workload_of(trace, "timing=gaps");
	struct err err = { 0 };

	w.job_count = 2;
	CHECK_EQ(workload_check(&w, &err), -EINVAL);
	CHECK(strstr(err.text, "2 pacers have no use with timing=gaps"));
	w.replay.timing = TIMING_RECORDED;
	w.io_count = 3;
	CHECK_EQ(workload_check(&w, &err), -EINVAL);
	CHECK(strstr(err.text, "io-count"));
	trace_free(trace);
}

TESTS(TEST(requests_start_at_their_times),
      TEST(speed_scales_times),
      TEST(a_million_end_without_drift),
      TEST(what_was_late_does_not_make_later_ones_late),
      TEST(as_fast_as_possible_keeps_the_depth_and_flushes_in_order),
      TEST(gaps_begin_where_the_one_before_ended),
      TEST(places_are_aligned_divided_and_put_apart),
      TEST(past_the_end_is_cut_or_wrapped_and_counted),
      TEST(what_is_past_the_end_is_refused_unless_asked_otherwise),
      TEST(long_discards_are_several_and_skipped_ones_are_counted),
      TEST(a_runtime_ends_it_before),
      TEST(a_second_pacer_takes_what_the_first_has_no_place_for),
      TEST(a_flush_waits_for_what_any_pacer_began),
      TEST(what_no_pacer_began_is_counted_once),
      TEST(pacers_in_threads_start_each_request_once),
      TEST(pauses_have_no_use_for_a_second_pacer),
      TEST(a_recording_has_what_each_request_did),
      TEST(a_recording_of_a_closed_loop_is_whole))
