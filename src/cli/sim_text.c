/* SPDX-License-Identifier: MIT */
#include "cli/sim_text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"

static void add_json(json_t *json, size_t flags, struct text *ret)
{
	DEFER(defer_free) char *dump = json_dumps(json, flags | JSON_REAL_PRECISION(9));

	if (dump)
		text_add(ret, "%s\n", dump);
	json_decref(json);
}

void sim_text_list(bool json, struct text *ret)
{
	json_t *list = json_array();

	for (const struct sim_preset *preset = sim_presets; preset->name; preset++) {
		if (json)
			json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", preset->name,
							      "model", preset->model, "help",
							      preset->help));
		else
			text_add(ret, "%-14s %s\n", preset->name, preset->help);
	}
	if (json)
		add_json(list, JSON_INDENT(2), ret);
	else
		json_decref(list);
}

static json_t *config_json(const struct sim_config *config)
{
	struct text spec = TEXT_INIT;
	json_t *object, *parameters = json_array();

	sim_config_print(config, &spec);
	object = json_pack("{s:s, s:s, s:o}", "spec", text_string(&spec), "model", config->model,
			   "parameters", parameters);
	text_done(&spec);
	for (const struct sim_field *field = sim_fields; field->name; field++) {
		struct text value = TEXT_INIT;
		uint64_t raw;

		memcpy(&raw, (const char *)config + field->offset, sizeof(raw));
		sim_field_print(field, config, &value);
		json_array_append_new(parameters,
				      json_pack("{s:s, s:s, s:I, s:s, s:s}", "name", field->name,
						"value", text_string(&value), "number",
						(json_int_t)raw, "group", field->group, "help",
						field->help));
		text_done(&value);
	}
	return object;
}

void sim_text_config(const struct sim_config *config, bool json, struct text *ret)
{
	const char *group = "";
	struct text spec = TEXT_INIT;

	if (json) {
		add_json(config_json(config), JSON_INDENT(2), ret);
		return;
	}
	sim_config_print(config, &spec);
	text_add(ret, "sim:%s  %s\n", text_string(&spec), config->model);
	text_done(&spec);
	for (const struct sim_field *field = sim_fields; field->name; field++) {
		struct text value = TEXT_INIT;

		if (strcmp(field->group, group) != 0)
			text_add(ret, "\n%s\n", field->group);
		group = field->group;
		sim_field_print(field, config, &value);
		text_add(ret, "  %-20s %-12s %s\n", field->name, text_string(&value), field->help);
		text_done(&value);
	}
}

static void ready_text(const struct serve_ready *ready, struct text *ret)
{
	char floor[UNITS_TEXT_BYTES], deducted[UNITS_TEXT_BYTES];

	units_format_latency((double)ready->floor_ns, floor);
	units_format_latency((double)ready->deducted_ns, deducted);
	text_add(ret, "file      %s\n", ready->file);
	if (ready->device[0])
		text_add(ret, "device    %s\n", ready->device);
	text_add(ret, "drive     sim:%s (%s)\n", ready->spec, ready->model);
	text_add(ret, "process   %d\n", (int)ready->pid);
	text_add(ret, "path      %s for a read that takes no time; %s deducted, "
		      "leaving %+.1f µs (median), %+.1f µs (p99)\n", floor, deducted,
		 (double)ready->residual_ns_p50 / 1000, (double)ready->residual_ns_p99 / 1000);
	if (!ready->real_time)
		text_add(ret, "          without SCHED_FIFO: expect a tail of milliseconds when busy\n");
	if (ready->device[0] && !(ready->locked && ready->io_flusher))
		text_add(ret, "          %s%s%s: may hang when memory runs out\n",
			 ready->locked ? "" : "memory not locked",
			 ready->locked || ready->io_flusher ? "" : ", ",
			 ready->io_flusher ? "" : "not an I/O flusher");
	text_add(ret, "Ctrl-C ends it and removes what was made.\n");
}

void sim_text_ready(const struct serve_ready *ready, bool json, struct text *ret)
{
	json_t *object;

	if (!json) {
		ready_text(ready, ret);
		return;
	}
	object = json_pack("{s:s, s:s?, s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b}",
			   "file", ready->file, "device", ready->device[0] ? ready->device : NULL,
			   "pid", (int)ready->pid, "spec", ready->spec, "model", ready->model,
			   "capacity_bytes", (json_int_t)ready->capacity_bytes,
			   "floor_ns", (json_int_t)ready->floor_ns,
			   "deducted_ns", (json_int_t)ready->deducted_ns,
			   "residual_ns_p50", (json_int_t)ready->residual_ns_p50,
			   "residual_ns_p99", (json_int_t)ready->residual_ns_p99,
			   "real_time", (int)ready->real_time, "locked", (int)ready->locked,
			   "io_flusher", (int)ready->io_flusher);
	add_json(object, JSON_COMPACT, ret);
}

/* --- a served drive -------------------------------------------------------------------- */

static int ask_json(const char *path, const char *attribute, json_t **ret, struct err *err)
{
	struct text answer = TEXT_INIT;
	int r = serve_query(path, attribute, &answer, err);

	if (r == 0) {
		*ret = json_loads(text_string(&answer), 0, NULL);
		if (!*ret)
			r = err_set(err, -EBADMSG, "'%s' gives an answer that is no JSON", path);
	}
	text_done(&answer);
	return r;
}

/* Asks as often as it takes: an answer holds so much only. */
static int ask_ranges(const struct sim_stat_request *request, json_t *ranges, struct err *err)
{
	uint64_t first = request->block_first;
	json_t *part;

	do {
		char attribute[64];
		json_int_t next = 0;
		int r;

		snprintf(attribute, sizeof(attribute), "map:%" PRIu64 "-%" PRIu64, first,
			 request->block_last);
		r = ask_json(request->path, attribute, &part, err);
		if (r < 0)
			return r;
		json_array_extend(ranges, json_object_get(part, "ranges"));
		next = json_integer_value(json_object_get(part, "next"));
		json_decref(part);
		first = (uint64_t)next;
	} while (first > 0);
	return 0;
}

/* Lines "number kind offset length submitted due answered error"; the next number, or 0. */
static uint64_t add_operations(const char *lines, json_t *ret)
{
	uint64_t number = 0, offset, length, submitted, due, answered;
	char kind[16];
	int error;

	while (sscanf(lines, "%" SCNu64 " %15s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64 " %d", &number, kind, &offset, &length, &submitted, &due,
		      &answered, &error) == 8) {
		json_array_append_new(ret, json_pack(
			"{s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:i}", "number", (json_int_t)number,
			"kind", kind, "offset_bytes", (json_int_t)offset, "length_bytes",
			(json_int_t)length, "submitted_ns", (json_int_t)submitted, "due_ns",
			(json_int_t)due, "answered_ns", (json_int_t)answered, "error", error));
		lines += strcspn(lines, "\n");
		lines += *lines == '\n';
	}
	return number ? number + 1 : 0;
}

static int ask_log(const struct sim_stat_request *request, json_t *ret, struct err *err)
{
	uint64_t next = 1;

	while (next) {
		struct text lines = TEXT_INIT;
		char attribute[64];
		int r;

		snprintf(attribute, sizeof(attribute), "log:%" PRIu64, next);
		r = serve_query(request->path, attribute, &lines, err);
		next = r < 0 ? 0 : add_operations(text_string(&lines), ret);
		text_done(&lines);
		if (r < 0)
			return r;
	}
	return 0;
}

static void print_row(const char *name, json_t *value, struct text *ret)
{
	char text[UNITS_TEXT_BYTES];

	if (json_is_string(value))
		text_add(ret, "%-24s %s\n", name, json_string_value(value));
	else if (json_is_real(value))
		text_add(ret, "%-24s %.3f\n", name, json_real_value(value));
	else if (strstr(name, "_bytes"))
		text_add(ret, "%-24s %-16" JSON_INTEGER_FORMAT " %s\n", name,
			 json_integer_value(value),
			 units_format_size((double)json_integer_value(value), text));
	else
		text_add(ret, "%-24s %" JSON_INTEGER_FORMAT "\n", name, json_integer_value(value));
}

static void print_ranges(json_t *ranges, struct text *ret)
{
	json_t *range;
	size_t i;

	text_add(ret, "\n%15s  %-15s state\n", "first block", "last block");
	json_array_foreach(ranges, i, range)
		text_add(ret, "%15" JSON_INTEGER_FORMAT "  %-15" JSON_INTEGER_FORMAT " %s\n",
			 json_integer_value(json_object_get(range, "first")),
			 json_integer_value(json_object_get(range, "last")),
			 json_string_value(json_object_get(range, "state")));
}

static void print_log(json_t *log, struct text *ret)
{
	json_t *row;
	size_t i;

	text_add(ret, "\n%10s  %-5s %15s %12s %12s %12s  error\n", "number", "kind", "offset",
		 "length", "modelled_us", "answered_us");
	json_array_foreach(log, i, row) {
		const json_int_t start = json_integer_value(json_object_get(row, "submitted_ns"));
		const json_int_t due = json_integer_value(json_object_get(row, "due_ns"));
		const json_int_t answered = json_integer_value(json_object_get(row, "answered_ns"));

		text_add(ret, "%10" JSON_INTEGER_FORMAT "  %-5s %15" JSON_INTEGER_FORMAT
			 " %12" JSON_INTEGER_FORMAT " %12.1f %12.1f  %" JSON_INTEGER_FORMAT "\n",
			 json_integer_value(json_object_get(row, "number")),
			 json_string_value(json_object_get(row, "kind")),
			 json_integer_value(json_object_get(row, "offset_bytes")),
			 json_integer_value(json_object_get(row, "length_bytes")),
			 (double)(due - start) / 1000,
			 answered ? (double)(answered - start) / 1000 : 0.0,
			 json_integer_value(json_object_get(row, "error")));
	}
}

static void print_stat(json_t *stat, struct text *ret)
{
	json_t *value;
	const char *name;

	json_object_foreach(stat, name, value)
		if (!json_is_array(value))
			print_row(name, value, ret);
	value = json_object_get(stat, "ranges");
	if (value)
		print_ranges(value, ret);
	value = json_object_get(stat, "log");
	if (value)
		print_log(value, ret);
}

static int check_blocks(const struct sim_stat_request *request, json_t *stat, struct err *err)
{
	const json_int_t block_bytes = json_integer_value(json_object_get(stat, "logical_block_bytes"));
	const json_int_t bytes = json_integer_value(json_object_get(stat, "capacity_bytes"));

	if (block_bytes > 0 && request->block_last < (uint64_t)(bytes / block_bytes))
		return 0;
	return err_set(err, -ERANGE, "--lba: block %" PRIu64 " is behind the last, %"
		       JSON_INTEGER_FORMAT, request->block_last,
		       block_bytes > 0 ? bytes / block_bytes - 1 : 0);
}

int sim_text_stat(const struct sim_stat_request *request, struct text *ret, struct err *err)
{
	json_t *stat, *list;
	int r = ask_json(request->path, "stat", &stat, err);

	if (r < 0)
		return r;
	if (request->has_blocks) {
		list = json_array();
		json_object_set_new(stat, "ranges", list);
		r = check_blocks(request, stat, err);
		if (r == 0)
			r = ask_ranges(request, list, err);
	}
	if (r == 0 && request->log) {
		list = json_array();
		json_object_set_new(stat, "log", list);
		r = ask_log(request, list, err);
	}
	if (r < 0) {
		json_decref(stat);
		return r;
	}
	if (request->json) {
		add_json(stat, JSON_INDENT(2), ret);
		return 0;
	}
	print_stat(stat, ret);
	json_decref(stat);
	return 0;
}
