/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "report/fio_number.h"
#include "report/sample.h"
#include "report/sample_fio.h"

/* As fio 3.33 wrote these amounts. */
static void numbers_are_written_as_fio_writes_them(void)
{
	static const struct {
		double value;
		const char *want;
	} sizes[] = { { 4096, "4096B" },	     { 65536, "64.0KiB" },
		      { 10000, "9.77KiB" },	     { 1048576, "1024KiB" },
		      { 8388608, "8192KiB" },	     { 16777216, "16.0MiB" },
		      { 81920, "80.0KiB" },	     { 33423360, "31.9MiB" },
		      { 134217728, "128MiB" },	     { 0, "0B" } },
	  rates[] = { { 4094582, "4095kB/s" }, { 943128576, "943MB/s" }, { 43092, "43.1kB/s" } },
	  counts[] = { { 999, "999" },	   { 1632000, "1632k" }, { 27675, "27.7k" },
		       { 14384, "14.4k" }, { 1011600, "1012k" }, { 10, "10" } };
	char buffer[FIO_NUMBER_BYTES];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		CHECK_STR(fio_bytes(sizes[i].value, 1024, buffer), sizes[i].want);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		CHECK_STR(fio_rate(rates[i].value, 1000, false, buffer), rates[i].want);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		CHECK_STR(fio_count(counts[i].value, 4, buffer), counts[i].want);
	CHECK_STR(fio_count(19902000, 6, buffer), "19902k");
	CHECK_STR(fio_count(263336, 6, buffer), "263336");
	CHECK_STR(fio_rate(942800000, 1000, true, buffer), "7542Mbit/s");
	CHECK_STR(fio_rate(942800000, 1024, true, buffer), "7193Mibit/s");
}

static char *read_whole(const char *path)
{
	DEFER(defer_fclose) FILE *file = fopen(path, "re");
	struct text text = TEXT_INIT;
	int c;

	while (file && (c = fgetc(file)) != EOF)
		text_add(&text, "%c", c);
	return text_take(&text);
}

/* golden/NAME holds what is expected; TARE_REWRITE=1 writes it anew, to be reviewed as a diff. */
static void compare(const char *name, const struct text *got)
{
	DEFER(defer_free) char *want = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/src/report/golden/%s", getenv("TARE_SOURCE_ROOT"), name);
	if (getenv("TARE_REWRITE")) {
		DEFER(defer_fclose) FILE *file = fopen(path, "we");

		CHECK(file && fputs(text_string(got), file) >= 0);
		return;
	}
	want = read_whole(path);
	CHECK_STR(text_string(got), want);
}

static void the_normal_format(void)
{
	struct sample_fio sample;
	struct text text = TEXT_INIT;

	sample_fio_init(&sample);
	report_fio_normal(&sample.report, &text);
	compare("fio-normal.txt", &text);
	text_done(&text);
	sample_fio_done(&sample);
}

/* All that is not usual: mixed, an error, other units, a list of percentiles, lat's own. */
static void the_normal_format_of_what_is_unusual(void)
{
	struct sample_fio sample;
	struct text text = TEXT_INIT;
	struct fio_job *job;

	sample_fio_init(&sample);
	job = &sample.labels.jobs[0];
	job->unified = 1;
	job->continue_on_error = true;
	job->lat_percentiles = true;
	job->percentile_count = 3;
	job->percentiles[0] = 50;
	job->percentiles[1] = 99.9;
	job->percentiles[2] = 99.999;
	sample.result.measurements[0].errno_count = 1;
	sample.result.measurements[0].errnos[0].code = -5;
	sample.result.measurements[0].errnos[0].count = 2;
	job = &sample.labels.jobs[2];
	job->kb_base = 1000;
	job->unit_base = 1;
	job->clat = false;
	report_fio_normal(&sample.report, &text);
	compare("fio-normal-unusual.txt", &text);
	text_done(&text);
	sample_fio_done(&sample);
}

static void the_lines_before_a_run(void)
{
	struct sample_fio sample;
	struct text text = TEXT_INIT;
	struct plan plan;

	sample_fio_init(&sample);
	plan_init(&plan);
	for (size_t i = 0; i < 3; i++)
		plan_add(&plan, PHASE_MEASURE)->workload = sample.result.measurements[i].workload;
	plan.phases[2].workload.size_mix.count = 2;
	plan.phases[2].workload.size_mix.sizes[0].bytes = 8192;
	plan.phases[2].workload.size_mix.sizes[1].bytes = 65536;
	report_fio_start(&plan, &sample.labels, "0.1", &text);
	CHECK_STR(text_string(&text),
		  "clones: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, "
		  "(T) 4096B-4096B, ioengine=libaio, iodepth=4\n"
		  "...\n"
		  "seq: (g=1): rw=write, bs=(R) 8192B-64.0KiB, (W) 8192B-64.0KiB, "
		  "(T) 8192B-64.0KiB, ioengine=libaio, iodepth=1\n"
		  "fio-3.33-compat tare 0.1\n"
		  "Starting 3 threads\n");
	text_done(&text);
	plan_done(&plan);
	sample_fio_done(&sample);
}

/* Field n, from 1, of line l, from 0. */
static const char *field(const char *text, size_t line, size_t n, char *ret)
{
	while (line-- > 0)
		text = strchr(text, '\n') + 1;
	while (--n > 0)
		text = strchr(text, ';') + 1;
	snprintf(ret, 64, "%.*s", (int)strcspn(text, ";\n"), text);
	return ret;
}

static size_t field_count(const char *text, size_t line)
{
	size_t count = 1;

	while (line-- > 0)
		text = strchr(text, '\n') + 1;
	for (; *text != '\n'; text++)
		count += *text == ';';
	return count;
}

/*
 * Counted in fio 3.33's lines: 121 without a disk, 9 for one, 41 for a further direction, 6 more
 * each with samples (version 5), 1 for a description, 2 for errors.
 */
static void the_fields_of_each_version_are_as_many(void)
{
	static const struct {
		uint32_t version, unified;
		bool disk_util, errors;
		size_t want, want_described;
	} cases[] = {
		{ 3, 0, false, false, 121, 122 }, { 3, 0, true, false, 130, 131 },
		{ 3, 2, false, false, 162, 163 }, { 3, 1, false, false, 80, 81 },
		{ 3, 0, false, true, 123, 124 },  { 2, 0, true, true, 163, 164 },
		{ 4, 0, true, true, 173, 174 },	  { 5, 0, true, true, 191, 192 },
		{ 5, 1, false, false, 86, 87 },	  { 5, 2, false, false, 227, 228 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sample_fio sample;
		struct text text = TEXT_INIT;

		sample_fio_init(&sample);
		sample.labels.terse_version = cases[i].version;
		sample.labels.disk_util = cases[i].disk_util;
		for (size_t k = 0; k < 3; k++) {
			sample.labels.jobs[k].unified = cases[i].unified;
			sample.labels.jobs[k].continue_on_error = cases[i].errors;
		}
		report_fio_terse(&sample.report, &text);
		CHECK_EQ(field_count(text.data, 0), cases[i].want);
		CHECK_EQ(field_count(text.data, 1), cases[i].want_described);
		text_done(&text);
		sample_fio_done(&sample);
	}
}

/* The places are the table's of version 3. */
static void the_fields_of_version_3_are_where_they_belong(void)
{
	static const struct {
		size_t line, number;
		const char *want;
	} fields[] = {
		{ 0, 1, "3" },	     { 0, 2, "fio-3.33-compat tare 0.1" },
		{ 0, 3, "clones" },  { 0, 4, "0" },
		{ 0, 5, "0" },	     { 0, 6, "2800" },
		{ 0, 7, "700" },     { 0, 8, "175" },
		{ 0, 9, "4000" },    { 0, 10, "0" },
		{ 0, 14, "200" },    { 0, 15, "200" },
		{ 0, 16, "200.000000" },	  { 0, 17, "0.000000" },
		{ 0, 18, "1.000000%=200" },	  { 0, 34, "99.990000%=200" },
		{ 0, 35, "0%=0" },		  { 0, 38, "200" },
		{ 0, 42, "800" },		  { 0, 43, "800" },
		{ 0, 44, "100.000000%" },	  { 0, 45, "800.000000" },
		{ 0, 46, "0.000000" },		  { 0, 47, "1400" },
		{ 0, 49, "87" },		  { 0, 55, "1000" },
		{ 0, 88, "2.857143%" },		  { 0, 90, "2000" },
		{ 0, 91, "2" },			  { 0, 92, "20" },
		{ 0, 95, "100.0%" },		  { 0, 100, "0.00%" },
		{ 0, 106, "66.67%" },		  { 0, 110, "33.33%" },
		{ 0, 122, "nvme0n1" },		  { 0, 123, "700" },
		{ 0, 130, "20.00%" },		  { 1, 3, "seq" },
		{ 1, 4, "1" },			  { 1, 131, "one \"line\"" },
		{ 1, 49, "64" },		  { 1, 113, "100.00%" },
	};
	struct sample_fio sample;
	struct text text = TEXT_INIT;
	char got[64];

	sample_fio_init(&sample);
	sample.labels.terse_version = 3;
	report_fio_terse(&sample.report, &text);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		CHECK_STR(field(text.data, fields[i].line, fields[i].number, got), fields[i].want);
	text_done(&text);
	sample_fio_done(&sample);
}

static void a_semicolon_in_a_name_makes_no_field(void)
{
	struct sample_fio sample;
	struct text text = TEXT_INIT;
	char got[64];

	sample_fio_init(&sample);
	sample.labels.terse_version = 3;
	strcpy(sample.labels.jobs[0].name, "a;b\n");
	report_fio_terse(&sample.report, &text);
	CHECK_STR(field(text.data, 0, 3, got), "a b ");
	CHECK_EQ(field_count(text.data, 0), 130);
	text_done(&text);
	sample_fio_done(&sample);
}

static void several_formats_come_in_fios_order(void)
{
	struct sample_fio sample;
	struct text text = TEXT_INIT;
	const char *json, *normal;

	sample_fio_init(&sample);
	sample.labels.terse_version = 3;
	sample.labels.outputs = FIO_NORMAL | FIO_JSON | FIO_TERSE;
	report_fio(&sample.report, &text);
	json = strstr(text.data, "\n{\n  \"fio version\"");
	normal = strstr(text.data, "\nclones: (groupid=0, jobs=2): err= 0: pid=42: ");
	CHECK(strncmp(text.data, "3;fio-", 6) == 0);
	CHECK(json && normal && json < normal);
	text_done(&text);
	sample_fio_done(&sample);
}

#define RUN(...)                                                                           \
	int main(void)                                                                     \
	{                                                                                  \
		static const struct check_test tests[] = { __VA_ARGS__ };                  \
		setenv("TZ", "UTC", 1);                                                    \
		return check_run(tests, sizeof(tests) / sizeof(tests[0]));                 \
	}

RUN(TEST(numbers_are_written_as_fio_writes_them), TEST(the_normal_format),
    TEST(the_normal_format_of_what_is_unusual), TEST(the_lines_before_a_run),
    TEST(the_fields_of_each_version_are_as_many),
    TEST(the_fields_of_version_3_are_where_they_belong),
    TEST(a_semicolon_in_a_name_makes_no_field), TEST(several_formats_come_in_fios_order))
