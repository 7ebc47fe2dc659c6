/* SPDX-License-Identifier: MIT */
#include "model/imported.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *const imported_op_names[IMPORTED_OPS] = { "read", "write", "trim", "sync", "mixed" };
const char *const imported_span_names[IMPORTED_SPANS] = { NULL, "total", "completion" };

static void row_done(struct imported_row *row)
{
	for (size_t i = 0; i < row->file_count; i++)
		free(row->files[i]);
	free(row->files);
	free(row->latency.percentiles);
	free(row->name);
	free(row->part);
}

void imported_done(struct imported *imported)
{
	for (size_t i = 0; i < imported->row_count; i++)
		row_done(&imported->rows[i]);
	for (size_t i = 0; i < imported->note_count; i++)
		free(imported->notes[i]);
	free(imported->rows);
	free(imported->notes);
	free(imported->file);
	free(imported->version);
	memset(imported, 0, sizeof(*imported));
}

/* Room for one more, at each power of two. */
static void *grow(void *items, size_t count, size_t item_bytes)
{
	if (count & (count - 1) || (count == 0 && items))
		return items;
	items = realloc(items, (count ? count * 2 : 1) * item_bytes);
	if (!items)
		abort();
	return items;
}

char *imported_copy(const char *text, size_t length)
{
	struct text copy = TEXT_INIT;

	text_add_bytes(&copy, text, length);
	return text_take(&copy);
}

struct imported_row *imported_add_row(struct imported *imported, const char *name,
				      enum imported_op op)
{
	struct imported_row *row;

	imported->rows = grow(imported->rows, imported->row_count, sizeof(*imported->rows));
	row = &imported->rows[imported->row_count++];
	*row = (struct imported_row){
		.name = imported_copy(name, strlen(name)),
		.op = op,
		.report_number = imported->report_count,
		.block_bytes = NAN, .file_bytes = NAN, .depth_count = NAN, .stream_count = NAN,
		.count = NAN, .bytes = NAN, .duration_ns = NAN, .error_count = NAN,
		.iops = NAN, .bytes_per_s = NAN, .wall_bytes_per_s = NAN,
		.latency = { .min_ns = NAN, .mean_ns = NAN, .max_ns = NAN, .stddev_ns = NAN },
	};
	return row;
}

void imported_row_add_file(struct imported_row *row, const char *file)
{
	row->files = grow(row->files, row->file_count, sizeof(*row->files));
	row->files[row->file_count++] = imported_copy(file, strlen(file));
}

void imported_add_percentile(struct imported_latency *latency, double percent, double ns)
{
	latency->percentiles = grow(latency->percentiles, latency->percentile_count,
				    sizeof(*latency->percentiles));
	latency->percentiles[latency->percentile_count++] =
		(struct imported_percentile){ percent, ns };
}

void imported_note(struct imported *imported, const char *format, ...)
{
	struct text text = TEXT_INIT;
	va_list args;

	va_start(args, format);
	text_vadd(&text, format, args);
	va_end(args);
	imported->notes = grow(imported->notes, imported->note_count, sizeof(*imported->notes));
	imported->notes[imported->note_count++] = text_take(&text);
}

void imported_set_version(struct imported *imported, const char *text, size_t length)
{
	if (!imported->version && length)
		imported->version = imported_copy(text, length);
}

double imported_percentile_ns(const struct imported_latency *latency, double percent)
{
	for (size_t i = 0; i < latency->percentile_count; i++) {
		if (fabs(latency->percentiles[i].percent - percent) < 1e-6)
			return latency->percentiles[i].ns;
	}
	return NAN;
}
