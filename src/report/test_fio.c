/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "report/fio.h"
#include "report/sample.h"
#include "report/sample_fio.h"
#include "stats/histogram.h"

static json_t *parse(const struct text *text)
{
	json_error_t error;
	json_t *ret = json_loadb(text->data, text->length, JSON_REJECT_DUPLICATES, &error);

	if (!ret)
		printf("# line %d: %s\n", error.line, error.text);
	CHECK(ret != NULL);
	return ret;
}

static json_t *document_of(const struct sample_fio *sample, bool bins)
{
	struct text text = TEXT_INIT;
	json_t *ret;

	report_fio_json(&sample->report, bins, &text);
	CHECK_EQ(text.data[0], '{');
	CHECK_STR(text.data + text.length - 3, "\n}\n");
	CHECK(strcasestr(text.data, "nan") == NULL);
	ret = parse(&text);
	text_done(&text);
	return ret;
}

static json_t *document(bool bins)
{
	struct sample_fio sample;
	json_t *ret;

	sample_fio_init(&sample);
	ret = document_of(&sample, bins);
	sample_fio_done(&sample);
	return ret;
}

/* "a/b/2/c": a member, or an array's item by its index. */
static const json_t *at(const json_t *value, const char *path)
{
	char key[64];

	while (value && *path) {
		const size_t length = strcspn(path, "/");

		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key)) :
					       json_object_get(value, key);
		path += length + (path[length] == '/');
	}
	return value;
}

static const char *string_at(const json_t *value, const char *path)
{
	return json_string_value(at(value, path));
}

static double number_at(const json_t *value, const char *path)
{
	CHECK(json_is_number(at(value, path)));
	return json_number_value(at(value, path));
}

static const char *type_name(const json_t *value)
{
	static const char *const names[] = { "object", "array", "string", "integer", "real",
					     "true",   "false", "null" };

	return names[json_typeof(value)];
}

/* "key type, key type, ..." of an object's members in order. */
static void members(const json_t *object, struct text *ret)
{
	const char *key;
	json_t *item, *own = json_incref((json_t *)(uintptr_t)object);

	json_object_foreach(own, key, item)
		text_add(ret, "%s%s %s", ret->length ? ", " : "", key, type_name(item));
	json_decref(own);
}

static void check_members(const json_t *object, const char *want)
{
	struct text got = TEXT_INIT;

	members(object, &got);
	CHECK_STR(text_string(&got), want);
	text_done(&got);
}

#define LATENCY "min integer, max integer, mean real, stddev real, N integer"
#define DIRECTION                                                                              \
	"io_bytes integer, io_kbytes integer, bw_bytes integer, bw integer, iops real, "       \
	"runtime integer, total_ios integer, short_ios integer, drop_ios integer, "            \
	"slat_ns object, clat_ns object, lat_ns object, bw_min integer, bw_max integer, "      \
	"bw_agg real, bw_mean real, bw_dev real, bw_samples integer, iops_min integer, "       \
	"iops_max integer, iops_mean real, iops_stddev real, iops_samples integer"
#define STEPS "2 real, 4 real, 10 real, 20 real, 50 real, 100 real, 250 real, 500 real, " \
	"750 real, 1000 real"

/* As `fio --output-format=json` of 3.33 prints them: names, types, order. */
static void keys_and_types_are_fios(void)
{
	json_t *doc = document(false);

	check_members(doc, "fio version string, timestamp integer, timestamp_ms integer, "
			   "time string, global options object, jobs array, "
			   "disk_util array, tare object");
	check_members(at(doc, "jobs/0"),
		      "jobname string, groupid integer, error integer, eta integer, "
		      "elapsed integer, job options object, read object, write object, "
		      "trim object, sync object, job_runtime integer, usr_cpu real, sys_cpu real, "
		      "ctx integer, majf integer, minf integer, iodepth_level object, "
		      "iodepth_submit object, iodepth_complete object, latency_ns object, "
		      "latency_us object, latency_ms object, latency_depth integer, "
		      "latency_target integer, latency_percentile real, latency_window integer");
	check_members(at(doc, "jobs/0/read"), DIRECTION);
	check_members(at(doc, "jobs/0/trim"), DIRECTION);
	check_members(at(doc, "jobs/0/read/slat_ns"), LATENCY);
	check_members(at(doc, "jobs/0/read/clat_ns"), LATENCY ", percentile object");
	check_members(at(doc, "jobs/0/read/lat_ns"), LATENCY);
	check_members(at(doc, "jobs/0/trim/clat_ns"), LATENCY);
	check_members(at(doc, "jobs/0/read/clat_ns/percentile"),
		      "1.000000 integer, 5.000000 integer, 10.000000 integer, 20.000000 integer, "
		      "30.000000 integer, 40.000000 integer, 50.000000 integer, "
		      "60.000000 integer, 70.000000 integer, 80.000000 integer, "
		      "90.000000 integer, 95.000000 integer, 99.000000 integer, "
		      "99.500000 integer, 99.900000 integer, 99.950000 integer, "
		      "99.990000 integer");
	check_members(at(doc, "jobs/0/sync"), "total_ios integer, lat_ns object");
	check_members(at(doc, "jobs/0/sync/lat_ns"), LATENCY);
	check_members(at(doc, "jobs/1/sync/lat_ns"), LATENCY ", percentile object");
	check_members(at(doc, "jobs/0/iodepth_level"),
		      "1 real, 2 real, 4 real, 8 real, 16 real, 32 real, >=64 real");
	check_members(at(doc, "jobs/0/iodepth_submit"),
		      "0 real, 4 real, 8 real, 16 real, 32 real, 64 real, >=64 real");
	check_members(at(doc, "jobs/0/latency_ns"), STEPS);
	check_members(at(doc, "jobs/0/latency_us"), STEPS);
	check_members(at(doc, "jobs/0/latency_ms"), STEPS ", 2000 real, >=2000 real");
	CHECK_STR(string_at(doc, "jobs/1/desc"), "one \"line\"");
	CHECK(at(doc, "jobs/0/desc") == NULL);
	json_decref(doc);
}

/* Two clones, 3 s and 4 s: counts and run times add up, rates are over the longest. */
static void a_group_is_merged_as_fio_merges(void)
{
	json_t *doc = document(false);
	const json_t *job = at(doc, "jobs/0"), *read = at(job, "read");

	CHECK_EQ(json_array_size(at(doc, "jobs")), 2);
	CHECK_STR(string_at(job, "jobname"), "clones");
	CHECK_EQ(number_at(job, "groupid"), 0);
	CHECK_EQ(number_at(job, "job_runtime"), 7000);
	CHECK_EQ(number_at(read, "runtime"), 4000);
	CHECK_EQ(number_at(read, "total_ios"), 700);
	CHECK_EQ(number_at(read, "io_bytes"), 700 * 4096);
	CHECK_EQ(number_at(read, "io_kbytes"), 2800);
	CHECK_EQ(number_at(read, "bw_bytes"), 716800);
	CHECK_EQ(number_at(read, "bw"), 700);
	CHECK_NEAR(number_at(read, "iops"), 175, 1e-6);
	CHECK_EQ(number_at(read, "clat_ns/N"), 700);
	CHECK_NEAR(number_at(read, "clat_ns/mean"), 200000, 1e-6);
	CHECK_NEAR(number_at(read, "clat_ns/stddev"), 0, 1e-6);
	CHECK_NEAR(number_at(read, "clat_ns/percentile/99.000000"), 200000, 2000);
	/* Seven samples of 400 KiB/s; least, most and mean of the clones added. */
	CHECK_EQ(number_at(read, "bw_samples"), 7);
	CHECK_EQ(number_at(read, "bw_min"), 800);
	CHECK_EQ(number_at(read, "bw_max"), 800);
	CHECK_NEAR(number_at(read, "bw_mean"), 800, 1e-6);
	CHECK_NEAR(number_at(read, "bw_agg"), 100, 1e-6);
	CHECK_NEAR(number_at(read, "iops_mean"), 200, 1e-6);
	CHECK_EQ(number_at(job, "write/total_ios"), 350);
	/* 200 ms of 7 s, 400 ms of 7 s. */
	CHECK_NEAR(number_at(job, "usr_cpu"), 2.857143, 1e-6);
	CHECK_NEAR(number_at(job, "sys_cpu"), 5.714286, 1e-6);
	CHECK_EQ(number_at(job, "ctx"), 2000);
	CHECK_EQ(number_at(job, "majf"), 2);
	CHECK_EQ(number_at(job, "minf"), 20);
	CHECK_NEAR(number_at(job, "iodepth_level/4"), 100, 1e-6);
	CHECK_NEAR(number_at(job, "iodepth_submit/4"), 100, 1e-6);
	CHECK_NEAR(number_at(job, "iodepth_complete/4"), 75, 1e-6);
	CHECK_NEAR(number_at(job, "iodepth_complete/8"), 25, 1e-6);
	CHECK_NEAR(number_at(job, "latency_us/250"), 66.666667, 1e-5);
	CHECK_NEAR(number_at(job, "latency_ms/2"), 33.333333, 1e-5);
	CHECK_EQ(number_at(job, "elapsed"), 5);
	json_decref(doc);
}

static void a_job_of_its_own(void)
{
	json_t *doc = document(false);
	const json_t *job = at(doc, "jobs/1"), *write = at(job, "write");

	CHECK_EQ(number_at(job, "groupid"), 1);
	CHECK_EQ(number_at(write, "io_bytes"), 144 * 65536);
	CHECK_EQ(number_at(write, "runtime"), 2250);
	CHECK_NEAR(number_at(write, "iops"), 64, 1e-6);
	/* The last quarter of a second is no sample. */
	CHECK_EQ(number_at(write, "bw_samples"), 2);
	CHECK_NEAR(number_at(write, "bw_mean"), 4096, 1e-6);
	CHECK_NEAR(number_at(write, "bw_dev"), 0, 1e-6);
	CHECK_EQ(number_at(job, "sync/total_ios"), 9);
	CHECK_NEAR(number_at(job, "sync/lat_ns/mean"), 2e6, 1);
	CHECK_NEAR(number_at(job, "latency_ms/20"), 100, 1e-6);
	/* Nothing was read: no rate of nothing. */
	CHECK_EQ(number_at(job, "read/runtime"), 0);
	CHECK_EQ(number_at(job, "read/clat_ns/N"), 0);
	CHECK_EQ(number_at(job, "read/clat_ns/min"), 0);
	json_decref(doc);
}

static void options_are_as_written_and_completed(void)
{
	json_t *doc = document(false);

	CHECK_STR(string_at(doc, "global options/ioengine"), "libaio");
	CHECK_STR(string_at(doc, "global options/group_reporting"), "1");
	CHECK_STR(string_at(doc, "jobs/0/job options/rw"), "randrw");
	CHECK_STR(string_at(doc, "jobs/0/job options/numjobs"), "2");
	CHECK_STR(string_at(doc, "jobs/0/job options/filename"), "b");
	CHECK_STR(string_at(doc, "jobs/0/job options/bs"), "4k");
	CHECK_STR(string_at(doc, "jobs/0/job options/iodepth"), "4");
	CHECK_STR(string_at(doc, "jobs/0/job options/direct"), "1");
	CHECK_STR(string_at(doc, "jobs/0/job options/size"), "64m");
	/* What [global] sets is not a preset. */
	CHECK(at(doc, "jobs/0/job options/ioengine") == NULL);
	CHECK_STR(string_at(doc, "jobs/1/job options/numjobs"), "1");
	json_decref(doc);
}

static void the_head_and_the_key_that_is_tares(void)
{
	json_t *doc = document(false);

	CHECK_STR(string_at(doc, "fio version"), "fio-3.33-compat tare 0.1");
	CHECK_EQ(number_at(doc, "timestamp"), 1700000000);
	CHECK_EQ(number_at(doc, "timestamp_ms"), 1700000000123);
	/* "Tue Nov 14 22:13:20 2023" in some zone. */
	CHECK_EQ(strlen(string_at(doc, "time")), 24);
	CHECK_STR(string_at(doc, "tare/schema"), "tare.result/1");
	CHECK_STR(string_at(doc, "tare/target/spec"), "/home");
	CHECK_STR(string_at(doc, "tare/notes/0"), "thread: no effect, tare always uses threads");
	CHECK_STR(string_at(doc, "tare/measurements/2/name"), "seq");
	CHECK(at(doc, "tare/measurements/0/seconds") == NULL);
	CHECK(at(doc, "tare/measurements/0/ops/read/latency_ns/histogram") == NULL);
	json_decref(doc);
}

/* The clones ran together, 4 s at most, and saw the same 400 ms; seq its own 850 of 2250 ms. */
static void a_disk_is_counted_once_for_what_ran_together(void)
{
	json_t *doc = document(false);
	const json_t *disk = at(doc, "disk_util/0");

	CHECK_EQ(json_array_size(at(doc, "disk_util")), 1);
	check_members(disk, "name string, read_ios integer, write_ios integer, "
			    "read_merges integer, write_merges integer, read_ticks integer, "
			    "write_ticks integer, in_queue integer, util real");
	CHECK_STR(string_at(disk, "name"), "nvme0n1");
	CHECK_EQ(number_at(disk, "read_ios"), 700);
	CHECK_EQ(number_at(disk, "write_ios"), 494);
	CHECK_EQ(number_at(disk, "write_merges"), 3);
	CHECK_EQ(number_at(disk, "read_ticks"), 140);
	CHECK_EQ(number_at(disk, "in_queue"), 490);
	CHECK_NEAR(number_at(disk, "util"), 20, 1e-6);
	json_decref(doc);
}

static void json_plus_adds_the_buckets(void)
{
	json_t *doc = document(true), *bins;
	const char *key;
	json_t *count;

	check_members(at(doc, "jobs/0/read/clat_ns"),
		      LATENCY ", percentile object, bins object");
	check_members(at(doc, "jobs/0/read/lat_ns"), LATENCY);
	bins = json_incref((json_t *)(uintptr_t)at(doc, "jobs/0/read/clat_ns/bins"));
	CHECK_EQ(json_object_size(bins), 1);
	json_object_foreach(bins, key, count) {
		CHECK_NEAR(atof(key), 200000, 2000);
		CHECK_EQ(json_integer_value(count), 700);
	}
	json_decref(bins);
	json_decref(doc);
}

static void mixed_reporting_replaces_or_joins_the_directions(void)
{
	struct sample_fio sample;
	json_t *doc;

	sample_fio_init(&sample);
	sample.labels.jobs[0].unified = 1;
	sample.labels.jobs[2].unified = 2;
	doc = document_of(&sample, false);
	CHECK(at(doc, "jobs/0/read") == NULL);
	CHECK(at(doc, "jobs/0/sync") == NULL);
	check_members(at(doc, "jobs/0/mixed"), DIRECTION);
	CHECK_EQ(number_at(doc, "jobs/0/mixed/total_ios"), 1050);
	CHECK_EQ(number_at(doc, "jobs/0/mixed/runtime"), 4000);
	/* 2 x 150 requests a second. */
	CHECK_NEAR(number_at(doc, "jobs/0/mixed/iops_mean"), 300, 1e-6);
	/* (700 x 0.2 ms + 350 x 1 ms) / 1050 */
	CHECK_NEAR(number_at(doc, "jobs/0/mixed/clat_ns/mean"), 466666.67, 1);
	CHECK_EQ(number_at(doc, "jobs/1/write/total_ios"), 144);
	CHECK_EQ(number_at(doc, "jobs/1/sync/total_ios"), 9);
	CHECK_EQ(number_at(doc, "jobs/1/mixed/total_ios"), 144);
	json_decref(doc);
	sample_fio_done(&sample);
}

static void lists_of_percentiles_and_what_is_disabled(void)
{
	struct sample_fio sample;
	struct fio_job *job;
	json_t *doc;

	sample_fio_init(&sample);
	job = &sample.labels.jobs[0];
	job->percentile_count = 2;
	job->percentiles[0] = 50;
	job->percentiles[1] = 99.999;
	job->lat_percentiles = true;
	job = &sample.labels.jobs[2];
	job->clat = false;
	job->lat_percentiles = true;
	job->clat_percentiles = false;
	doc = document_of(&sample, false);
	check_members(at(doc, "jobs/0/read/clat_ns/percentile"),
		      "50.000000 integer, 99.999000 integer");
	check_members(at(doc, "jobs/0/read/lat_ns/percentile"),
		      "50.000000 integer, 99.999000 integer");
	CHECK_EQ(number_at(doc, "jobs/1/write/clat_ns/N"), 0);
	CHECK_EQ(number_at(doc, "jobs/1/write/lat_ns/N"), 144);
	check_members(at(doc, "jobs/1/write/lat_ns"), LATENCY ", percentile object");
	json_decref(doc);
	sample_fio_done(&sample);
}

/* Seconds of 100, 110, 120 requests: mean 110, 10 off at most, 10 more each second. */
static void a_steady_state_is_that_of_its_last_seconds(void)
{
	struct sample_fio sample;
	struct measurement *m;
	json_t *doc;

	sample_fio_init(&sample);
	m = &sample.result.measurements[2];
	sample.labels.jobs[2].steadystate_text = strdup("iops_slope:10.000000%");
	m->workload.steady_window_ns = 3 * SECOND_NS;
	m->steady = true;
	m->seconds[2].length_ns = SECOND_NS;
	for (size_t i = 0; i < 3; i++) {
		m->seconds[i].ops[OP_WRITE].count = 100 + 10 * i;
		m->seconds[i].ops[OP_WRITE].bytes = 1000 * (100 + 10 * i);
	}
	doc = document_of(&sample, false);
	check_members(at(doc, "jobs/1/steadystate"),
		      "ss string, duration integer, attained integer, criterion string, "
		      "max_deviation real, slope real, data object");
	check_members(at(doc, "jobs/1/steadystate/data"),
		      "bw_mean integer, iops_mean integer, iops array, bw array");
	CHECK_STR(string_at(doc, "jobs/1/steadystate/criterion"), "9.090909%");
	CHECK_EQ(number_at(doc, "jobs/1/steadystate/attained"), 1);
	CHECK_EQ(number_at(doc, "jobs/1/steadystate/duration"), 3);
	CHECK_NEAR(number_at(doc, "jobs/1/steadystate/slope"), 10, 1e-9);
	CHECK_NEAR(number_at(doc, "jobs/1/steadystate/max_deviation"), 10, 1e-9);
	CHECK_EQ(number_at(doc, "jobs/1/steadystate/data/iops_mean"), 110);
	CHECK_EQ(number_at(doc, "jobs/1/steadystate/data/bw_mean"), 110000);
	CHECK_EQ(number_at(doc, "jobs/1/steadystate/data/iops/2"), 120);
	json_decref(doc);
	free(sample.labels.jobs[2].steadystate_text);
	sample.labels.jobs[2].steadystate_text = strdup("bw:9000");
	m->steady = false;
	doc = document_of(&sample, false);
	CHECK_STR(string_at(doc, "jobs/1/steadystate/criterion"), "10000.000000");
	CHECK_EQ(number_at(doc, "jobs/1/steadystate/attained"), 0);
	json_decref(doc);
	m->workload.steady_window_ns = 2 * SECOND_NS;
	doc = document_of(&sample, false);
	CHECK_STR(string_at(doc, "jobs/1/steadystate/criterion"), "5000.000000");
	CHECK_EQ(number_at(doc, "jobs/1/steadystate/duration"), 2);
	json_decref(doc);
	sample_fio_done(&sample);
}

static void an_error_is_its_errno(void)
{
	struct sample_fio sample;
	struct measurement *m;
	json_t *doc;

	sample_fio_init(&sample);
	m = &sample.result.measurements[1];
	m->errno_count = 1;
	m->errnos[0].code = -5;
	m->errnos[0].count = 3;
	m->ended_early = true;
	sample.labels.jobs[0].continue_on_error = true;
	doc = document_of(&sample, false);
	CHECK_EQ(number_at(doc, "jobs/0/error"), 5);
	CHECK_EQ(number_at(doc, "jobs/0/total_err"), 3);
	CHECK_EQ(number_at(doc, "jobs/0/first_error"), 5);
	CHECK_EQ(number_at(doc, "jobs/1/error"), 0);
	CHECK(at(doc, "jobs/1/total_err") == NULL);
	json_decref(doc);
	sample_fio_done(&sample);
}

/* Nothing was measured at all: still one document, with empty lists. */
static void an_empty_result_is_a_document(void)
{
	struct sample_fio sample;
	json_t *doc;

	sample_fio_init(&sample);
	while (sample.result.measurement_count > 0)
		measurement_done(&sample.result.measurements[--sample.result.measurement_count]);
	doc = document_of(&sample, false);
	CHECK_EQ(json_array_size(at(doc, "jobs")), 0);
	json_decref(doc);
	sample_fio_done(&sample);
}

/* Ten samples 1000, 2000, ... 10000 ns: the sample's deviation is 3027.65. */
static void deviation_is_the_samples(void)
{
	struct sample_fio sample;
	json_t *doc;

	sample_fio_init(&sample);
	for (int i = 0; i < 2; i++) {
		struct histogram *h = i ? sample.result.measurements[2].ops[OP_WRITE].latency :
					  sample.result.measurements[2].ops[OP_WRITE].service;

		histogram_init(h);
		for (uint64_t k = 1; k <= 10; k++)
			histogram_add(h, k * 1000);
	}
	doc = document_of(&sample, false);
	CHECK_NEAR(number_at(doc, "jobs/1/write/clat_ns/mean"), 5500, 1e-6);
	CHECK_NEAR(number_at(doc, "jobs/1/write/clat_ns/stddev"), 3027.65, 30);
	/* 1000 ns is the first of the microseconds, 10000 ns the first above 10 us. */
	CHECK_NEAR(number_at(doc, "jobs/1/latency_us/2"), 10, 1e-6);
	CHECK_NEAR(number_at(doc, "jobs/1/latency_us/4"), 20, 1e-6);
	CHECK_NEAR(number_at(doc, "jobs/1/latency_us/10"), 60, 1e-6);
	CHECK_NEAR(number_at(doc, "jobs/1/latency_us/20"), 10, 1e-6);
	json_decref(doc);
	sample_fio_done(&sample);
}

/*
 * What programs read fio's JSON for, by their sources: fio-plot, PerfKitBenchmarker and one-line
 * scripts. A name that were missing or of another type would break them.
 */
static void readers_find_what_they_look_for(void)
{
	static const struct {
		const char *path;
		json_type type;
	} wanted[] = {
		/* fio-plot: options of the job or global, per direction, latency shares */
		{ "fio version", JSON_STRING },
		{ "jobs/0/job options/iodepth", JSON_STRING },
		{ "jobs/0/job options/numjobs", JSON_STRING },
		{ "jobs/0/job options/bs", JSON_STRING },
		{ "jobs/0/job options/rw", JSON_STRING },
		{ "jobs/0/read/bw", JSON_INTEGER },
		{ "jobs/0/read/iops", JSON_REAL },
		{ "jobs/0/read/iops_stddev", JSON_REAL },
		{ "jobs/0/read/lat_ns/mean", JSON_REAL },
		{ "jobs/0/read/lat_ns/stddev", JSON_REAL },
		{ "jobs/0/latency_ns/2", JSON_REAL },
		{ "jobs/0/latency_us/1000", JSON_REAL },
		{ "jobs/0/latency_ms/>=2000", JSON_REAL },
		{ "jobs/0/usr_cpu", JSON_REAL },
		{ "jobs/0/sys_cpu", JSON_REAL },
		/* PerfKitBenchmarker */
		{ "global options/group_reporting", JSON_STRING },
		{ "jobs/0/jobname", JSON_STRING },
		{ "jobs/0/write/io_bytes", JSON_INTEGER },
		{ "jobs/0/write/bw_min", JSON_INTEGER },
		{ "jobs/0/write/bw_max", JSON_INTEGER },
		{ "jobs/0/write/bw_dev", JSON_REAL },
		{ "jobs/0/write/bw_agg", JSON_REAL },
		{ "jobs/0/write/bw_mean", JSON_REAL },
		{ "jobs/0/write/clat_ns/min", JSON_INTEGER },
		{ "jobs/0/write/clat_ns/max", JSON_INTEGER },
		{ "jobs/0/write/clat_ns/mean", JSON_REAL },
		{ "jobs/0/write/clat_ns/stddev", JSON_REAL },
		{ "jobs/0/write/clat_ns/percentile/99.950000", JSON_INTEGER },
		/* scripts */
		{ "jobs/0/read/bw_bytes", JSON_INTEGER },
		{ "jobs/0/read/clat_ns/percentile/99.000000", JSON_INTEGER },
		{ "jobs/0/error", JSON_INTEGER },
		{ "jobs/1/sync/lat_ns/mean", JSON_REAL },
		{ "disk_util/0/util", JSON_REAL },
	};
	json_t *doc = document(false);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const json_t *value = at(doc, wanted[i].path);

		if (!value || json_typeof(value) != wanted[i].type)
			printf("# %s\n", wanted[i].path);
		CHECK(value && json_typeof(value) == wanted[i].type);
	}
	json_decref(doc);
}

/* Cutters of lines know fio's layout: a member a line, blanks around the colon, six digits. */
static void the_layout_is_fios(void)
{
	struct sample_fio sample;
	struct text text = TEXT_INIT;

	sample_fio_init(&sample);
	report_fio_json(&sample.report, false, &text);
	CHECK(strncmp(text.data, "{\n  \"fio version\" : \"fio-3.33", 29) == 0);
	CHECK(strstr(text.data, "\n  \"jobs\" : [\n    {\n      \"jobname\" : \"clones\",\n"));
	CHECK(strstr(text.data, "\n        \"bw\" : 700,\n        \"iops\" : 175.000000,\n"));
	CHECK(strstr(text.data, "\n            \"99.000000\" : "));
	CHECK(strstr(text.data, "\n      \"latency_window\" : 0\n    },\n    {\n"));
	text_done(&text);
	sample_fio_done(&sample);
}

TESTS(TEST(keys_and_types_are_fios), TEST(readers_find_what_they_look_for),
      TEST(the_layout_is_fios), TEST(a_group_is_merged_as_fio_merges), TEST(a_job_of_its_own),
      TEST(options_are_as_written_and_completed), TEST(the_head_and_the_key_that_is_tares),
      TEST(a_disk_is_counted_once_for_what_ran_together), TEST(json_plus_adds_the_buckets), TEST(mixed_reporting_replaces_or_joins_the_directions),
      TEST(lists_of_percentiles_and_what_is_disabled), TEST(a_steady_state_is_that_of_its_last_seconds),
      TEST(an_error_is_its_errno),
      TEST(an_empty_result_is_a_document), TEST(deviation_is_the_samples))
