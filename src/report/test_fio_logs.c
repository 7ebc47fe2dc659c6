/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "model/recording.h"
#include "report/sample.h"
#include "report/sample_fio.h"
#include "stats/packed.h"

/* Files in memory: "== NAME\n" and what was written to it. */
struct files {
	struct text names[16], contents[16];
	size_t count;
	int fail_code;
};

static int keep(void *ctx, const char *name, bool first, const char *bytes, size_t length,
		struct err *err)
{
	struct files *files = ctx;
	size_t i = 0;

	if (files->fail_code)
		return err_set(err, files->fail_code, "no");
	while (i < files->count && strcmp(text_string(&files->names[i]), name) != 0)
		i++;
	CHECK_EQ(first, i == files->count);
	if (i == files->count) {
		text_add(&files->names[i], "%s", name);
		files->count++;
	}
	text_add_bytes(&files->contents[i], bytes, length);
	return 0;
}

static const char *content(const struct files *files, const char *name)
{
	for (size_t i = 0; i < files->count; i++) {
		if (strcmp(text_string(&files->names[i]), name) == 0)
			return text_string(&files->contents[i]);
	}
	return NULL;
}

static void files_done(struct files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		text_done(&files->names[i]);
		text_done(&files->contents[i]);
	}
}

static void replace(char **text, const char *with)
{
	free(*text);
	*text = strdup(with);
	if (!*text)
		abort();
}

/* Each second's requests take count x 1000 ns on average: 1, 2, 3 us. */
static void add_latencies(struct measurement *m, enum op_kind kind)
{
	for (size_t i = 0; i < m->second_count; i++) {
		struct histogram h;

		histogram_init(&h);
		histogram_add_many(&h, (i + 1) * 1000, m->seconds[i].ops[kind].count);
		m->seconds[i].latency[kind] = histogram_pack(&h);
	}
}

static void sample_of_logs(struct sample_fio *sample, uint64_t log_avg_ms)
{
	sample_fio_init(sample);
	for (size_t i = 0; i < 3; i++) {
		sample->labels.jobs[i].log_avg_ms = log_avg_ms;
		sample->labels.jobs[i].per_job_logs = true;
	}
	add_latencies(&sample->result.measurements[2], OP_WRITE);
}

static void averages_of_seconds(void)
{
	struct sample_fio sample;
	struct files files = { 0 };
	const struct fio_log_writer writer = { &files, keep };
	struct err err = { 0 };

	sample_of_logs(&sample, 1000);
	replace(&sample.labels.jobs[0].write_bw_log, "a");
	replace(&sample.labels.jobs[2].write_iops_log, "b");
	replace(&sample.labels.jobs[2].write_lat_log, "b");
	CHECK_EQ(report_fio_logs(&sample.report, &writer, &err), 0);
	CHECK_EQ(files.count, 5);
	/* 100 reads and 50 writes of 4 KiB in each of three seconds. */
	CHECK_STR(content(&files, "a_bw.1.log"), "1000, 400, 0, 0, 0\n"
						 "1000, 200, 1, 0, 0\n"
						 "2000, 400, 0, 0, 0\n"
						 "2000, 200, 1, 0, 0\n"
						 "3000, 400, 0, 0, 0\n"
						 "3000, 200, 1, 0, 0\n");
	CHECK_STR(content(&files, "b_iops.3.log"), "1000, 64, 1, 0, 0\n"
						   "2000, 64, 1, 0, 0\n"
						   "2250, 64, 1, 0, 0\n");
	CHECK_STR(content(&files, "b_lat.3.log"), "1000, 1000, 1, 0, 0\n"
						  "2000, 2000, 1, 0, 0\n"
						  "2250, 3000, 1, 0, 0\n");
	CHECK_STR(content(&files, "b_clat.3.log"), content(&files, "b_lat.3.log"));
	CHECK_STR(content(&files, "b_slat.3.log"), "");
	files_done(&files);
	sample_fio_done(&sample);
}

/* Two seconds together: 64 requests of 1 us and 64 of 2 us; then the rest. */
static void averages_over_several_seconds(void)
{
	struct sample_fio sample;
	struct files files = { 0 };
	const struct fio_log_writer writer = { &files, keep };
	struct err err = { 0 };

	sample_of_logs(&sample, 2000);
	replace(&sample.labels.jobs[2].write_lat_log, "b");
	sample.labels.jobs[2].slat = sample.labels.jobs[2].clat = false;
	sample.labels.jobs[2].log_offset = true;
	CHECK_EQ(report_fio_logs(&sample.report, &writer, &err), 0);
	CHECK_EQ(files.count, 1);
	CHECK_STR(content(&files, "b_lat.3.log"), "2000, 1500, 1, 0, 0, 0\n"
						  "2250, 3000, 1, 0, 0, 0\n");
	files_done(&files);
	sample_fio_done(&sample);
}

static void jobs_may_share_a_file(void)
{
	struct sample_fio sample;
	struct files files = { 0 };
	const struct fio_log_writer writer = { &files, keep };
	struct err err = { 0 };

	sample_of_logs(&sample, 3000);
	for (size_t i = 0; i < 3; i++) {
		replace(&sample.labels.jobs[i].write_iops_log, "all");
		sample.labels.jobs[i].per_job_logs = false;
	}
	CHECK_EQ(report_fio_logs(&sample.report, &writer, &err), 0);
	CHECK_EQ(files.count, 1);
	CHECK_STR(content(&files, "all_iops.log"), "3000, 100, 0, 0, 0\n"
						   "3000, 50, 1, 0, 0\n"
						   "3000, 100, 0, 0, 0\n"
						   "3000, 50, 1, 0, 0\n"
						   "4000, 100, 0, 0, 0\n"
						   "4000, 50, 1, 0, 0\n"
						   "2250, 64, 1, 0, 0\n");
	files_done(&files);
	sample_fio_done(&sample);
}

static void record(struct recording *recording, uint64_t done_ms, uint64_t took_us,
		   enum op_kind op)
{
	const uint64_t done_ns = 5 * SECOND_NS + done_ms * MILLISECOND_NS;

	recording_append(recording,
			 &(struct recorded_io){
				 .intended_ns = done_ns - 2 * took_us * 1000,
				 .submit_ns = done_ns - took_us * 1000,
				 .done_ns = done_ns,
				 .offset_bytes = done_ms * 4096,
				 .length_bytes = 4096,
				 .result = op == OP_SYNC ? 0 : 4096,
				 .measurement_index = 2,
				 .op = (uint8_t)op,
			 },
			 1);
}

/* Six reads and a sync of the third measurement, which began at 5 s; recorded in no order. */
static struct recording *a_recording(struct sample_fio *sample)
{
	struct recording *ret;
	struct err err;

	CHECK_EQ(recording_new(&ret, &err), 0);
	sample->result.measurements[2].start_ns = 5 * SECOND_NS;
	sample->result.measurements[2].duration_ns = 350 * MILLISECOND_NS;
	record(ret, 310, 100, OP_READ);
	record(ret, 20, 100, OP_READ);
	record(ret, 90, 300, OP_READ);
	record(ret, 95, 50, OP_SYNC);
	record(ret, 100, 200, OP_READ);
	record(ret, 101, 400, OP_WRITE);
	record(ret, 0, 100, OP_READ);	/* meant for the ramp */
	sample->report.recording = ret;
	return ret;
}

/* Windows of 100 ms: 3 reads and none; then a write; none; then a read, in 50 ms. */
static void averages_over_less_than_a_second(void)
{
	struct sample_fio sample;
	struct files files = { 0 };
	const struct fio_log_writer writer = { &files, keep };
	struct recording *recording;
	struct err err = { 0 };

	sample_of_logs(&sample, 100);
	recording = a_recording(&sample);
	CHECK(!report_fio_logs_record(&sample.labels));
	replace(&sample.labels.jobs[2].write_lat_log, "b");
	replace(&sample.labels.jobs[2].write_iops_log, "b");
	CHECK(report_fio_logs_record(&sample.labels));
	CHECK_EQ(report_fio_logs(&sample.report, &writer, &err), 0);
	CHECK_STR(content(&files, "b_iops.3.log"), "100, 30, 0, 0, 0\n"
						   "200, 10, 1, 0, 0\n"
						   "350, 20, 0, 0, 0\n");
	CHECK_STR(content(&files, "b_clat.3.log"), "100, 200000, 0, 0, 0\n"
						   "200, 400000, 1, 0, 0\n"
						   "350, 100000, 0, 0, 0\n");
	CHECK_STR(content(&files, "b_lat.3.log"), "100, 400000, 0, 0, 0\n"
						  "200, 800000, 1, 0, 0\n"
						  "350, 200000, 0, 0, 0\n");
	files_done(&files);
	recording_free(recording);
	sample_fio_done(&sample);
}

static void a_line_for_each_request(void)
{
	struct sample_fio sample;
	struct files files = { 0 };
	const struct fio_log_writer writer = { &files, keep };
	struct recording *recording;
	struct err err = { 0 };

	sample_of_logs(&sample, 0);
	recording = a_recording(&sample);
	replace(&sample.labels.jobs[2].write_lat_log, "b");
	replace(&sample.labels.jobs[2].write_bw_log, "b");
	sample.labels.jobs[2].log_offset = true;
	CHECK_EQ(report_fio_logs(&sample.report, &writer, &err), 0);
	CHECK_STR(content(&files, "b_clat.3.log"), "20, 100000, 0, 4096, 81920, 0\n"
						   "90, 300000, 0, 4096, 368640, 0\n"
						   "100, 200000, 0, 4096, 409600, 0\n"
						   "101, 400000, 1, 4096, 413696, 0\n"
						   "310, 100000, 0, 4096, 1269760, 0\n");
	/* 4 KiB in 200 us are 20,000 KiB/s. */
	CHECK(strstr(content(&files, "b_bw.3.log"), "100, 20000, 0, 4096, 409600, 0\n") != NULL);
	files_done(&files);
	recording_free(recording);
	sample_fio_done(&sample);
}

static void a_file_that_cannot_be_written_ends_it(void)
{
	struct sample_fio sample;
	struct files files = { .fail_code = -EACCES };
	const struct fio_log_writer writer = { &files, keep };
	struct err err = { 0 };

	sample_of_logs(&sample, 1000);
	CHECK_EQ(report_fio_logs(&sample.report, &writer, &err), 0);
	replace(&sample.labels.jobs[0].write_bw_log, "a");
	CHECK_EQ(report_fio_logs(&sample.report, &writer, &err), -EACCES);
	CHECK_STR(err.text, "no");
	sample_fio_done(&sample);
}

TESTS(TEST(averages_of_seconds), TEST(averages_over_several_seconds), TEST(jobs_may_share_a_file),
      TEST(averages_over_less_than_a_second), TEST(a_line_for_each_request),
      TEST(a_file_that_cannot_be_written_ends_it))
