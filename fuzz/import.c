/* SPDX-License-Identifier: MIT */
/*
 * Another tool's result: figures that print, as text and as JSON that jansson takes, or a
 * sentence that says why not.
 */
#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "foreign/import.h"
#include "fuzz.h"
#include "report/imported.h"

static void print(const struct imported *imported)
{
	static const struct report_style styles[] = {
		{ .utf8 = true, .columns = 80 },
		{ .plain = true, .columns = 40 },
	};
	const struct imported twice[] = { *imported, *imported };	/* borrowed */
	struct text text = TEXT_INIT;
	json_t *root;

	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		report_imported_text(twice, i + 1, &styles[i], &text);
	EXPECT(text.length > 0);
	text.length = 0;
	report_imported_json(imported, 1, &text);
	root = json_loads(text_string(&text), 0, NULL);
	EXPECT(json_object_size(root) == 2);
	json_decref(root);
	text_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct imported imported;
	struct err err = { 0 };

	if (import_parse(&imported, "fuzz", (const char *)data, size, &err) < 0) {
		EXPECT(err.code == -EINVAL && strncmp(err.text, "fuzz: ", 6) == 0 && err.text[6]);
		return 0;
	}
	EXPECT(imported.tool && imported.row_count + imported.note_count > 0);
	for (size_t i = 0; i < imported.row_count; i++)
		EXPECT(imported.rows[i].name && imported.rows[i].op < IMPORTED_OPS);
	print(&imported);
	imported_done(&imported);
	return 0;
}
