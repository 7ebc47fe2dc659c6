/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "report/imported.h"
#include "report/json_tree.h"

static void put_whole(json_t *object, const char *key, double value)
{
	if (value >= 0 && value < (double)INT64_MAX)
		json_put_u64(object, key, (uint64_t)llround(value));
	else
		json_put(object, key, json_null());
}

static void put_text(json_t *object, const char *key, const char *text)
{
	json_put(object, key, text ? json_text(text) : json_null());
}

static json_t *latency_json(const struct imported_latency *latency)
{
	json_t *root = json_object(), *list = json_array();

	put_text(root, "span", imported_span_names[latency->span]);
	json_put_real(root, "min_ns", latency->min_ns);
	json_put_real(root, "mean_ns", latency->mean_ns);
	json_put_real(root, "max_ns", latency->max_ns);
	json_put_real(root, "stddev_ns", latency->stddev_ns);
	put_text(root, "percentile_span", imported_span_names[latency->percentile_span]);
	for (size_t i = 0; i < latency->percentile_count; i++) {
		json_t *one = json_object();

		json_put_real(one, "percent", latency->percentiles[i].percent);
		json_put_real(one, "ns", latency->percentiles[i].ns);
		json_array_append_new(list, one);
	}
	json_put(root, "percentiles", list);
	return root;
}

static json_t *row_json(const struct imported_row *row)
{
	json_t *root = json_object(), *files = json_array();

	json_put_text(root, "name", row->name);
	put_text(root, "part", row->part);
	json_put(root, "op", json_string(imported_op_names[row->op]));
	json_put_u64(root, "report", row->report_number);
	for (size_t i = 0; i < row->file_count; i++)
		json_array_append_new(files, json_text(row->files[i]));
	json_put(root, "files", files);
	put_whole(root, "block_bytes", row->block_bytes);
	put_whole(root, "file_bytes", row->file_bytes);
	put_whole(root, "depth", row->depth_count);
	put_whole(root, "streams", row->stream_count);
	put_whole(root, "count", row->count);
	put_whole(root, "bytes", row->bytes);
	put_whole(root, "errors", row->error_count);
	put_whole(root, "duration_ns", row->duration_ns);
	json_put_real(root, "iops", row->iops);
	json_put_real(root, "bytes_per_s", row->bytes_per_s);
	json_put_real(root, "wall_bytes_per_s", row->wall_bytes_per_s);
	json_put(root, "latency", latency_json(&row->latency));
	return root;
}

static json_t *source_json(const struct imported *imported)
{
	json_t *root = json_object(), *rows = json_array(), *notes = json_array();

	json_put_text(root, "file", imported->file);
	json_put_text(root, "tool", imported->tool);
	json_put_text(root, "format", imported->format);
	put_text(root, "version", imported->version);
	json_put_u64(root, "reports", imported->report_count);
	for (size_t i = 0; i < imported->row_count; i++)
		json_array_append_new(rows, row_json(&imported->rows[i]));
	json_put(root, "rows", rows);
	for (size_t i = 0; i < imported->note_count; i++)
		json_array_append_new(notes, json_text(imported->notes[i]));
	json_put(root, "notes", notes);
	return root;
}

void report_imported_json(const struct imported *sources, size_t count, struct text *ret)
{
	json_t *root = json_object(), *list = json_array();

	json_put(root, "schema", json_string(REPORT_IMPORTED_SCHEMA));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, source_json(&sources[i]));
	json_put(root, "sources", list);
	json_write(root, ret);
	json_decref(root);
}
