/* SPDX-License-Identifier: MIT */
#include "report/imported.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>

#include "base/check.h"

/* A read with all figures, and a write with none. */
static struct imported sample(void)
{
	struct imported ret = { .tool = "fio", .format = "json", .report_count = 1 };
	struct imported_row *row = imported_add_row(&ret, "job\033[2J", IMPORTED_READ);

	ret.file = imported_copy("a.json", 6);
	imported_set_version(&ret, "fio-3.36", 8);
	row->part = imported_copy("host", 4);
	row->count = 1e15;
	row->bytes = 4096;
	row->iops = 0;
	row->bytes_per_s = 1500;
	row->latency.span = IMPORTED_TOTAL;
	row->latency.percentile_span = IMPORTED_COMPLETION;
	row->latency.mean_ns = 1.5;
	imported_add_percentile(&row->latency, 99, 2000);
	imported_row_add_file(row, "x");
	imported_add_row(&ret, "job\033[2J", IMPORTED_WRITE);
	imported_note(&ret, "a note of %d words", 5);
	return ret;
}

static json_t *document(void)
{
	struct imported imported = sample();
	struct text text = TEXT_INIT;
	json_t *ret;

	report_imported_json(&imported, 1, &text);
	ret = json_loads(text_string(&text), 0, NULL);
	text_done(&text);
	imported_done(&imported);
	return ret;
}

static void unknown_is_null_and_zero_is_zero(void)
{
	json_t *doc = document();
	json_t *source = json_array_get(json_object_get(doc, "sources"), 0);
	json_t *row = json_array_get(json_object_get(source, "rows"), 0);

	CHECK_STR(json_string_value(json_object_get(doc, "schema")), "tare.imported/1");
	CHECK_EQ(json_integer_value(json_object_get(row, "count")), 1000000000000000);
	CHECK(json_is_real(json_object_get(row, "iops")));
	CHECK_NEAR(json_real_value(json_object_get(row, "iops")), 0, 0);
	CHECK(json_is_null(json_object_get(row, "duration_ns")));
	row = json_array_get(json_object_get(source, "rows"), 1);
	CHECK(json_is_null(json_object_get(row, "iops")));
	CHECK(json_is_null(json_object_get(row, "part")));
	CHECK_EQ(json_array_size(json_object_get(row, "files")), 0);
	json_decref(doc);
}

static void a_table_has_dashes_for_what_is_not_known(void)
{
	const struct report_style style = { .columns = 80 };
	struct imported imported = sample();
	struct text text = TEXT_INIT;

	report_imported_text(&imported, 1, &style, &text);
	CHECK_STR(text_string(&text),
		  "a.json: fio 3.36 (json)\n"
		  "  name     of           IOPS  bandwidth     mean      p99\n"
		  "  job?[2J  host  read   0 /s  1.50 kB/s  1.50 ns  2.00 us\n"
		  "  job?[2J        write     -          -        -        -\n"
		  "  mean and max: total latency; percentiles: completion latency\n"
		  "  files of job?[2J: x\n"
		  "- a note of 5 words\n");
	text_done(&text);
	imported_done(&imported);
}

/* Rows "- `path`: ..." of the page's section. */
static json_t *documented_paths(void)
{
	char path[PATH_MAX], line[4096], name[256];
	json_t *ret = json_object();
	bool inside = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/docs/result-schema.md", getenv("TARE_SOURCE_ROOT"));
	file = fopen(path, "re");
	CHECK(file != NULL);
	while (file && fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			inside = strstr(line, "tare.imported/1") != NULL;
		if (inside && sscanf(line, "- `%255[^`]`:", name) == 1)
			json_object_set_new(ret, name, json_false());
	}
	if (file)
		fclose(file);
	return ret;
}

static void walk(const json_t *value, const char *path, json_t *documented)
{
	const char *key;
	char child[512];
	size_t index;
	json_t *item;

	if (*path && strcmp(path + strlen(path) - 2, "[]") != 0) {
		if (!json_object_get(documented, path))
			printf("# not in docs/result-schema.md: %s\n", path);
		CHECK(json_object_get(documented, path) != NULL);
		json_object_set_new(documented, path, json_true());
	}
	snprintf(child, sizeof(child), "%s[]", path);
	json_array_foreach(value, index, item)
		walk(item, child, documented);
	if (!json_is_object(value))
		return;
	json_object_foreach((json_t *)(uintptr_t)value, key, item) {
		snprintf(child, sizeof(child), "%s%s%s", path, *path ? "." : "", key);
		walk(item, child, documented);
	}
}

static void every_member_is_documented_and_every_documented_member_is_there(void)
{
	json_t *documented = documented_paths(), *doc = document(), *used;
	const char *path;

	walk(doc, "", documented);
	CHECK_EQ(json_object_size(documented), 35);
	json_object_foreach(documented, path, used) {
		if (!json_is_true(used))
			printf("# documented and never written: %s\n", path);
		CHECK(json_is_true(used));
	}
	json_decref(documented);
	json_decref(doc);
}

TESTS(TEST(unknown_is_null_and_zero_is_zero),
      TEST(a_table_has_dashes_for_what_is_not_known),
      TEST(every_member_is_documented_and_every_documented_member_is_there))
