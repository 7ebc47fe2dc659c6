/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/defer.h"
#include "report/json_tree.h"
#include "report/report.h"
#include "report/sample.h"
#include "stats/histogram.h"

static json_t *document(void (*make)(struct result *))
{
	struct result result;
	struct text text = TEXT_INIT;
	json_error_t error;
	json_t *ret;

	make(&result);
	report_json(&result, &text);
	CHECK_EQ(text.data[text.length - 1], '\n');
	ret = json_loadb(text.data, text.length, JSON_REJECT_DUPLICATES, &error);
	CHECK(ret != NULL);
	text_done(&text);
	result_done(&result);
	return ret;
}

/* "a.b.2.c": a member, or an array's item by its index. */
static const json_t *at(const json_t *value, const char *path)
{
	char key[64];

	while (value && *path) {
		const size_t length = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key)) :
					       json_object_get(value, key);
		path += length + (path[length] == '.');
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

static void a_check_has_the_promised_members(void)
{
	json_t *doc = document(sample_check);

	CHECK_STR(string_at(doc, "schema"), "tare.result/1");
	CHECK(json_is_false(at(doc, "interrupted")));
	CHECK(json_is_null(at(doc, "error")));
	CHECK_STR(string_at(doc, "target.spec"), "/home");
	CHECK_STR(string_at(doc, "target.kind"), "directory");
	CHECK_STR(string_at(doc, "target.device"), "nvme0n1");
	CHECK_STR(string_at(doc, "target.layers.0.kind"), "crypt");
	CHECK_EQ(json_array_size(at(doc, "targets")), 1);
	CHECK(json_equal(at(doc, "targets.0"), at(doc, "target")));
	CHECK_STR(string_at(doc, "state.name"), "laid-out");
	CHECK_EQ(json_array_size(at(doc, "measurements")), 9);
	CHECK_STR(string_at(doc, "measurements.2.name"), "rand-read-4k-q32");
	CHECK_EQ(number_at(doc, "measurements.2.duration_ns"), 5000000000);
	CHECK_EQ(number_at(doc, "measurements.2.ops.read.count"), 4060000);
	CHECK_EQ(number_at(doc, "measurements.2.ops.read.bytes"), 16629760000);
	CHECK_NEAR(number_at(doc, "measurements.2.ops.read.iops"), 812000, 1e-6);
	CHECK_NEAR(number_at(doc, "measurements.2.ops.read.bytes_per_s"), 3325952000., 1e-3);
	CHECK_EQ(number_at(doc, "measurements.2.ops.read.errors"), 0);
	CHECK(at(doc, "measurements.2.ops.write") == NULL);
	CHECK_STR(string_at(doc, "findings.1.code"), "not-level");
	CHECK_STR(string_at(doc, "findings.1.severity"), "warning");
	CHECK_STR(string_at(doc, "findings.1.measurement"), "rand-write-4k-q32");
	CHECK(json_is_null(at(doc, "findings.2.remedy")));
	json_decref(doc);
}

static void what_ran_together_and_where_is_told(void)
{
	json_t *doc = document(sample_group);

	CHECK_EQ(json_array_size(at(doc, "targets")), 2);
	CHECK_STR(string_at(doc, "targets.0.spec"), "/home");
	CHECK_STR(string_at(doc, "targets.1.spec"), "/dev/nvme1n1");
	CHECK_EQ(number_at(doc, "measurements.0.group"), 0);
	CHECK_EQ(number_at(doc, "measurements.0.target"), 0);
	CHECK_EQ(number_at(doc, "measurements.1.group"), 0);
	CHECK_EQ(number_at(doc, "measurements.1.target"), 1);
	CHECK_EQ(number_at(doc, "measurements.2.group"), 1);
	json_decref(doc);
}

/* 71,000 reads, of which 355 took 214 us and the rest 68 us. */
static void percentiles_are_numbers_and_say_how_far_they_carry(void)
{
	json_t *doc = document(sample_check);
	const json_t *latency = at(doc, "measurements.3.ops.read.latency_ns");

	CHECK_EQ(number_at(latency, "min"), 68000);
	CHECK_NEAR(number_at(latency, "mean"), 68730, 0.01);
	CHECK_NEAR(number_at(latency, "p50"), 68000, 680);
	CHECK_NEAR(number_at(latency, "p90"), 68000, 680);
	CHECK_NEAR(number_at(latency, "p99"), 68000, 680);
	CHECK_NEAR(number_at(latency, "p99_9"), 214000, 2140);
	CHECK_NEAR(number_at(latency, "p99_99"), 214000, 2140);
	CHECK_EQ(number_at(latency, "max"), 214000);
	CHECK_STR(string_at(latency, "supported_up_to"), "p99_9");
	CHECK_EQ(json_array_size(at(latency, "histogram.low_ns")), 2);
	CHECK_EQ(number_at(latency, "histogram.count.0"), 70645);
	CHECK_EQ(number_at(latency, "histogram.count.1"), 355);
	json_decref(doc);
}

static void the_workload_is_told_by_the_names_of_its_fields(void)
{
	json_t *doc = document(sample_check);
	const json_t *workload = at(doc, "measurements.2.workload");

	for (const struct field *field = workload_fields; field->name; field++) {
		char key[64];

		snprintf(key, sizeof(key), "%s", field->name);
		for (char *c = key; *c; c++)
			*c = *c == '-' ? '_' : *c;
		CHECK(field->input_only == (json_object_get(workload, key) == NULL));
	}
	CHECK_STR(string_at(workload, "rw"), "randread");
	CHECK_EQ(number_at(workload, "bs"), 4096);
	CHECK_EQ(number_at(workload, "iodepth"), 32);
	CHECK(json_is_true(at(workload, "direct")));
	CHECK_EQ(number_at(workload, "size.bytes"), 0);
	CHECK_STR(string_at(workload, "randseed"), "0");
	json_decref(doc);
}

static void an_open_loop_keeps_latency_service_and_lateness_apart(void)
{
	json_t *doc = document(sample_open_loop);
	const json_t *m = at(doc, "measurements.0");

	CHECK(json_is_true(at(doc, "interrupted")));
	CHECK_STR(string_at(doc, "error.code"), "space");
	CHECK_STR(string_at(doc, "error.errno"), "ENOSPC");
	CHECK_STR(string_at(doc, "error.hint"), "free some");
	CHECK_EQ(number_at(m, "ops.read.latency_ns.max"), 71000);
	CHECK_EQ(number_at(m, "ops.read.service_ns.max"), 70000);
	CHECK_EQ(number_at(m, "lateness_ns.max"), 20000);
	CHECK_EQ(number_at(m, "backlog_ns_max"), 1200000000);
	/* 129 ms of user time over 12,900 requests; the sync is not one of them. */
	CHECK_NEAR(number_at(m, "user_ns_per_io"), 10000, 1e-6);
	CHECK_NEAR(number_at(m, "cpu_ns_per_io"), 30000, 1e-6);
	CHECK_STR(string_at(m, "errors.0.code"), "ENOSPC");
	CHECK_STR(string_at(m, "verify.first_bad.what"), "stale");
	CHECK_EQ(number_at(m, "drive.write_amplification"), 1.75);
	CHECK_EQ(number_at(m, "temperature_c.max"), 41);
	CHECK_EQ(json_array_size(at(m, "seconds")), 10);
	CHECK_EQ(number_at(m, "seconds.4.ops.read.count"), 200);
	CHECK_EQ(number_at(m, "segments.1.start_s"), 4);
	json_decref(doc);
}

static void bytes_that_are_no_text_do_not_break_the_document(void)
{
	json_t *doc = document(sample_device);

	CHECK_STR(string_at(doc, "target.model"), "Bad\033[2JDrive \xef\xbf\xbd");
	CHECK(json_is_null(at(doc, "measurements.0.temperature_c.start")));
	CHECK(json_is_null(at(doc, "target.filesystem")));
	CHECK_STR(string_at(doc, "measurements.1.error"),
		  "read of 4 KiB at offset 8192: Input/output error");
	json_decref(doc);
}

static void an_error_is_a_document_too(void)
{
	struct text text = TEXT_INIT;
	struct err err = { 0 };
	json_t *doc;

	err_set(&err, -EBUSY, "/dev/sda is \"in use\"");
	report_error_json("refused", &err, &text);
	doc = json_loads(text_string(&text), 0, NULL);
	CHECK_STR(string_at(doc, "schema"), "tare.result/1");
	CHECK_STR(string_at(doc, "error.code"), "refused");
	CHECK_STR(string_at(doc, "error.errno"), "EBUSY");
	CHECK_STR(string_at(doc, "error.message"), "/dev/sda is \"in use\"");
	CHECK(json_is_null(at(doc, "error.hint")));
	json_decref(doc);
	text_done(&text);
}

/* The page's tables: rows that begin with "| `path` |". */
static json_t *documented_paths(void)
{
	char path[4096], line[4096], name[256];
	json_t *ret = json_object();
	FILE *file;

	snprintf(path, sizeof(path), "%s/docs/result-schema.md", getenv("TARE_SOURCE_ROOT"));
	file = fopen(path, "re");
	CHECK(file != NULL);
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "| `%255[^`]` |", name) == 1)
			json_object_set_new(ret, name, json_false());
	if (file)
		fclose(file);
	return ret;
}

/* Members named by data stand under one name in the page. */
static const char *generic(const char *parent, const char *key)
{
	const size_t length = strlen(parent);

	if (length >= 4 && strcmp(parent + length - 4, ".ops") == 0)
		return "KIND";
	if (length >= 9 && strcmp(parent + length - 9, ".workload") == 0)
		return "OPTION";
	if (length >= 6 && strcmp(parent + length - 6, ".drive") == 0)
		return "NAME";
	if (length >= 8 && strcmp(parent + length - 8, ".figures") == 0)
		return "FIGURE";
	return key;
}

static void walk(const json_t *value, const char *path, json_t *documented)
{
	char child[512];
	const char *key;
	json_t *item, *part;
	size_t index;

	if (*path) {
		if (!json_object_get(documented, path))
			printf("# not in docs/result-schema.md: %s\n", path);
		CHECK(json_object_get(documented, path) != NULL);
		json_object_set_new(documented, path, json_true());
	}
	/* Options are tare-workload(5)'s to describe; latencies have one table, targets another. */
	if (strcmp(path, "targets") == 0 || strstr(path, ".OPTION") || strstr(path, ".service_ns") || strstr(path, ".lateness_ns"))
		return;
	json_array_foreach(value, index, item) {
		if (!json_is_object(item))
			return;
		snprintf(child, sizeof(child), "%s[]", path);
		json_object_foreach(item, key, part) {
			char member[1024];

			snprintf(member, sizeof(member), "%s.%s", child, generic(child, key));
			walk(part, member, documented);
		}
	}
	if (!json_is_object(value))
		return;
	json_object_foreach((json_t *)(uintptr_t)value, key, item) {
		snprintf(child, sizeof(child), "%s%s%s", path, *path ? "." : "",
			 generic(path, key));
		walk(item, child, documented);
	}
}

static void every_member_is_documented_and_every_documented_member_is_there(void)
{
	json_t *documented = documented_paths(), *used, *doc = document(sample_open_loop);
	const char *path;

	CHECK(json_object_size(documented) > 0);
	if (json_object_size(documented) > 0)
		walk(doc, "", documented);
	json_object_foreach(documented, path, used) {
		if (!json_is_true(used))
			printf("# documented and never written: %s\n", path);
		CHECK(json_is_true(used));
	}
	json_decref(documented);
	json_decref(doc);
}

static void short_values_stay_in_one_line(void)
{
	struct text text = TEXT_INIT;
	json_t *root = json_object(), *numbers = json_array(), *small = json_object();

	for (int i = 0; i < 100; i++)
		json_array_append_new(numbers, json_integer(1000));
	json_put_u64(small, "a", 1);
	json_put(root, "small", small);
	json_put(root, "numbers", numbers);
	json_write(root, &text);
	CHECK(strncmp(text_string(&text), "{\n  \"small\": {\"a\": 1},\n  \"numbers\": [1000, ", 41) == 0);
	CHECK(strstr(text_string(&text), "1000]\n}\n") != NULL);
	json_decref(root);
	text_done(&text);
}

TESTS(TEST(a_check_has_the_promised_members),
      TEST(what_ran_together_and_where_is_told),
      TEST(percentiles_are_numbers_and_say_how_far_they_carry),
      TEST(the_workload_is_told_by_the_names_of_its_fields),
      TEST(an_open_loop_keeps_latency_service_and_lateness_apart),
      TEST(bytes_that_are_no_text_do_not_break_the_document), TEST(an_error_is_a_document_too),
      TEST(every_member_is_documented_and_every_documented_member_is_there),
      TEST(short_values_stay_in_one_line))
