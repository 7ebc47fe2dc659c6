/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * json_tree - building and writing jansson trees. Members keep their order. Running out of
 * memory aborts, as in base/text.h. For report/ and cli/.
 */

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/result.h"

/* Each takes ownership of nothing but value; object is borrowed. */
void json_put(json_t *object, const char *key, json_t *value);
json_t *json_text(const char *bytes);	/* a string; made valid UTF-8 */
void json_put_text(json_t *object, const char *key, const char *bytes);
void json_put_text_or_null(json_t *object, const char *key, const char *bytes);	/* "" = null */
void json_put_u64(json_t *object, const char *key, uint64_t value);
void json_put_bool(json_t *object, const char *key, bool value);
void json_put_real(json_t *object, const char *key, double value);	/* NaN, infinity = null */

/*
 * The document with its newline. Indented; whatever fits in a line stays in one, and so do
 * flat arrays of any length.
 */
void json_write(const json_t *root, struct text *ret);

/* The document of report_json. The caller's to decref. */
json_t *report_result_json(const struct result *result);

/* Parts of the result that `tare devices` and `tare doctor` show too. The caller's to decref. */
json_t *report_target_json(const struct target_info *info);
json_t *report_machine_json(const struct machine *machine);

/* { "code", "errno", "message", "hint" }; code is the class of the exit status: "refused". */
json_t *report_error_object(const char *code, const struct err *err);
/* The document that holds it; takes ownership of error. */
void report_error_document(json_t *error, struct text *ret);
