/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>

#include "base/check.h"
#include "report/trim.h"

static struct trim_report report;

static struct trim_layer *layer(const char *name, const char *kind, enum trim_answer capable)
{
	struct trim_layer *ret = &report.layers[report.layer_count];

	snprintf(ret->name, sizeof(ret->name), "%s", name);
	snprintf(ret->kind, sizeof(ret->kind), "%s", kind);
	ret->parent = report.layer_count ? report.layer_count - 1 : TRIM_TOP;
	ret->capable = capable;
	ret->is_block = report.layer_count++ > 0;
	return ret;
}

/* An encrypted volume that drops discards above a drive that takes them. */
static void make_blocked(void)
{
	struct trim_layer *ret;

	memset(&report, 0, sizeof(report));
	strcpy(report.spec, "/home");
	report.active.mount_option = report.active.timer = TRIM_NO;
	strcpy(layer("/home", "ext4", TRIM_YES)->detail, "rw,relatime");
	ret = layer("dm-0", "crypt", TRIM_NO);
	strcpy(ret->reason, "CRYPT_OFF");
	strcpy(ret->why, "dm-crypt drops discards");
	ret = layer("nvme0n1", "nvme", TRIM_YES);
	ret->granularity_bytes = 512;
	ret->max_bytes = 2199023255040;
	strcpy(ret->needs_root, "its identify data");
	trim_report_warn(&report, "none-active", "/home", "nothing sends discards");
	strcpy(report.verdict.code, "blocked");
	strcpy(report.verdict.layer, "dm-0");
	strcpy(report.verdict.reason, "CRYPT_OFF");
	strcpy(report.verdict.text, "not end to end; dm-0 (crypt): dm-crypt drops discards");
	strcpy(report.verdict.remedy,
	       "cryptsetup refresh --allow-discards home\nRisk: free areas can be seen.");
}

static void one_screen_has_tree_verdict_and_remedy(void)
{
	const struct report_style style = { .utf8 = true, .columns = 80 };
	struct text text = TEXT_INIT;

	make_blocked();
	report_trim_text(&report, &style, &text);
	CHECK_STR(text_string(&text),
		  "  ✓ /home        ext4        rw, relatime\n"
		  "  ✗ └ dm-0       crypt       no discard\n"
		  "  ✓   └ nvme0n1  nvme        512 to 2.00 TiB\n"
		  "          root could also read its identify data\n"
		  "\n"
		  "  discards        nobody sends them\n"
		  "  ! /home: nothing sends discards\n"
		  "\n"
		  "✗ blocked (CRYPT_OFF): not end to end; dm-0 (crypt): dm-crypt drops discards\n"
		  "  cryptsetup refresh --allow-discards home\n"
		  "  Risk: free areas can be seen.\n");
	text_done(&text);
}

static void a_list_has_a_line_for_each(void)
{
	const struct report_style style = { .columns = 200 };
	struct text text = TEXT_INIT;

	make_blocked();
	report_trim_line(&report, &style, &text);
	strcpy(report.verdict.code, "cannot-tell");
	strcpy(report.verdict.reason, "NOT_TRIED");
	report_trim_line(&report, &style, &text);
	CHECK_STR(text_string(&text),
		  "X /home                blocked (CRYPT_OFF): not end to end; dm-0 (crypt): dm-crypt "
		  "drops discards\n"
		  "+ /home                ext4: every layer takes discards; nobody sends them; tare "
		  "trim /home proves it\n");
	text_done(&text);
}

static void plain_is_one_fact_per_line(void)
{
	const struct report_style style = { .plain = true, .columns = 80 };
	struct text text = TEXT_INIT;

	make_blocked();
	report_trim_text(&report, &style, &text);
	CHECK(strstr(text_string(&text), "dm-0 takes discards: no\n"));
	CHECK(strstr(text_string(&text), "nvme0n1 lies below: dm-0\n"));
	CHECK(strstr(text_string(&text), "\nverdict: blocked\nlayer: dm-0\nreason: CRYPT_OFF\n"));
	text_done(&text);
}

static void what_would_order_the_terminal_about_is_not_printed(void)
{
	const struct report_style style = { .utf8 = true, .columns = 80 };
	struct text text = TEXT_INIT;

	make_blocked();
	strcpy(report.layers[0].name, "/a\033[2Jb");
	strcpy(report.layers[0].detail, "x\033]0;y\007");
	report_trim_text(&report, &style, &text);
	CHECK(!strchr(text_string(&text), '\033'));
	CHECK(!strchr(text_string(&text), '\007'));
	text_done(&text);
}

/* --- JSON --------------------------------------------------------------------------------- */

static json_t *document(void)
{
	struct text text = TEXT_INIT;
	struct trim_evidence *evidence;
	json_error_t error;
	json_t *ret;

	make_blocked();
	report.layers[2].have_delivered = true;
	report.layers[2].delivered_count = 3;
	report.layers[2].delivered_bytes = 12288;
	evidence = trim_report_add(&report, RUNG_SENT, "fitrim", "/home");
	evidence->error = -EOPNOTSUPP;
	evidence->content = CONTENT_OLD;
	report.sizes[report.size_count++] = (struct trim_size){ .bytes = 4096, .tried_count = 3 };
	report_trim_json(&report, &text);
	ret = json_loads(text_string(&text), 0, &error);
	text_done(&text);
	return ret;
}

static void answers_are_true_false_or_null(void)
{
	json_t *doc = document(), *layers = json_object_get(doc, "layers");

	CHECK_STR(json_string_value(json_object_get(doc, "schema")), "tare.trim/1");
	CHECK(json_is_false(json_object_get(json_array_get(layers, 1), "capable")));
	CHECK(json_is_true(json_object_get(json_array_get(layers, 2), "capable")));
	CHECK(json_is_null(json_object_get(json_array_get(layers, 2), "promises_zeros")));
	CHECK(json_is_null(json_object_get(json_array_get(layers, 0), "parent")));
	CHECK_EQ(json_integer_value(json_object_get(json_array_get(layers, 2), "parent")), 1);
	CHECK_STR(json_string_value(json_object_get(
			  json_array_get(json_object_get(doc, "evidence"), 0), "errno")),
		  "EOPNOTSUPP");
	json_decref(doc);
}

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
			inside = strstr(line, "tare.trim/1") != NULL;
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

	if (*path && !strstr(path + strlen(path) - 2, "[]")) {
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
	CHECK(json_object_size(documented) > 50);
	json_object_foreach(documented, path, used) {
		if (!json_is_true(used))
			printf("# documented and never written: %s\n", path);
		CHECK(json_is_true(used));
	}
	json_decref(documented);
	json_decref(doc);
}

TESTS(TEST(one_screen_has_tree_verdict_and_remedy), TEST(a_list_has_a_line_for_each),
      TEST(plain_is_one_fact_per_line),
      TEST(what_would_order_the_terminal_about_is_not_printed),
      TEST(answers_are_true_false_or_null),
      TEST(every_member_is_documented_and_every_documented_member_is_there))
