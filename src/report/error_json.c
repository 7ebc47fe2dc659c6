/* SPDX-License-Identifier: MIT */
#include "report/json_tree.h"
#include "report/report.h"
#include "report/summary.h"

json_t *report_error_object(const char *code, const struct err *err)
{
	json_t *ret = json_object();
	char name[24];

	json_put_text(ret, "code", code);
	json_put_text_or_null(ret, "errno",
			      err->code ? summary_errno_name(err->code, name) : "");
	json_put_text(ret, "message", err->text);
	json_put_text_or_null(ret, "hint", err->hint);
	return ret;
}

void report_error_document(json_t *error, struct text *ret)
{
	json_t *root = json_object();

	json_put(root, "schema", json_string(REPORT_SCHEMA));
	json_put(root, "error", error);
	json_write(root, ret);
	json_decref(root);
}

void report_error_json(const char *code, const struct err *err, struct text *ret)
{
	report_error_document(report_error_object(code, err), ret);
}
