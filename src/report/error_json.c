/* SPDX-License-Identifier: MIT */
#include "report/json_tree.h"
#include "report/report.h"
#include "report/summary.h"

void report_error_json(const struct err *err, struct text *ret)
{
	json_t *root = json_object(), *error = json_object();
	char name[24];

	json_put(root, "schema", json_string(REPORT_SCHEMA));
	json_put_text(error, "code", summary_errno_name(err->code, name));
	json_put_text(error, "message", err->text);
	json_put_text_or_null(error, "hint", err->hint);
	json_put(root, "error", error);
	json_write(root, ret);
	json_decref(root);
}
