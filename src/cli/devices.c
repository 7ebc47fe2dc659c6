/* SPDX-License-Identifier: MIT */
#include "cli/devices.h"

#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "report/json_tree.h"
#include "report/layout.h"
#include "report/summary.h"

enum column { COLUMN_PATH, COLUMN_SIZE, COLUMN_KIND, COLUMN_MODEL, COLUMN_USE, COLUMNS };

static const char *const headings[COLUMNS] = { "device", "size", "kind", "model", "in use" };

static void add_kind(const struct target_info *info, struct text *ret)
{
	const char *kind = info->layer_count ? info->layers[0].kind : "";

	if (info->transport[0])
		summary_add_printable(ret, info->transport);
	else if (kind[0] && strcmp(kind, "disk") != 0)
		summary_add_printable(ret, kind);
	else
		text_add(ret, "disk");
	/* The kernel calls most virtual devices rotational for want of knowledge. */
	if (info->rotational && strcmp(kind, "disk") == 0)
		text_add(ret, ", rotating");
	if (info->removable)
		text_add(ret, ", removable");
	if (info->read_only)
		text_add(ret, ", read-only");
}

/* What a device of software stands for says more than that it has no model. */
static void add_model(const struct target_info *info, struct text *ret)
{
	if (info->model[0])
		summary_add_printable(ret, info->model);
	else if (info->layer_count && info->layers[0].detail[0])
		summary_add_printable(ret, info->layers[0].detail);
	else
		text_add(ret, "–");
}

static void add_cell(const struct target_device *device, enum column column, struct text *ret)
{
	char size[UNITS_TEXT_BYTES];

	switch (column) {
	case COLUMN_PATH:
		summary_add_printable(ret, device->info.path);
		break;
	case COLUMN_SIZE:
		text_add(ret, "%s", units_format_size((double)device->info.size_bytes, size));
		break;
	case COLUMN_KIND:
		add_kind(&device->info, ret);
		break;
	case COLUMN_MODEL:
		add_model(&device->info, ret);
		break;
	case COLUMN_USE:
		summary_add_printable(ret, device->use[0] ? device->use : "–");
		break;
	case COLUMNS:
		break;
	}
}

static size_t column_width(const struct target_device *devices, size_t count, enum column column)
{
	size_t width = strlen(headings[column]);

	for (size_t i = 0; i < count; i++) {
		struct text cell = TEXT_INIT;

		add_cell(&devices[i], column, &cell);
		if (text_columns(text_string(&cell)) > width)
			width = text_columns(text_string(&cell));
		text_done(&cell);
	}
	return width;
}

static void plain_text(const struct target_device *device, struct text *ret)
{
	for (enum column column = COLUMN_SIZE; column < COLUMNS; column++) {
		summary_add_printable(ret, device->info.path);
		text_add(ret, " %s: ", headings[column]);
		add_cell(device, column, ret);
		text_add(ret, "\n");
	}
}

static void add_row(const struct target_device *device, const size_t *widths,
		    const struct report_style *style, struct text *ret)
{
	size_t indent = 2;

	for (enum column column = 0; column < COLUMNS; column++) {
		struct text cell = TEXT_INIT;

		if (device)
			add_cell(device, column, &cell);
		else
			text_add(&cell, "%s", headings[column]);
		text_add(ret, "  ");
		if (column == COLUMN_SIZE)
			layout_right(ret, text_string(&cell), widths[column]);
		else if (column == COLUMN_USE)
			layout_wrap(ret, text_string(&cell), indent, style->columns);
		else
			layout_left(ret, text_string(&cell), widths[column]);
		indent += widths[column] + 2;
		text_done(&cell);
	}
	text_add(ret, "\n");
}

void devices_text(const struct target_device *devices, size_t count,
		  const struct report_style *style, struct text *ret)
{
	const size_t start = ret->length;
	size_t widths[COLUMNS];

	if (count == 0)
		text_add(ret, "no block devices to be seen here\n");
	for (enum column column = 0; column < COLUMNS; column++)
		widths[column] = column_width(devices, count, column);
	if (count && !style->plain) {
		text_add(ret, "%s", layout_tone(style, TONE_STRONG));
		add_row(NULL, widths, style, ret);
		text_add(ret, "%s", layout_end(style));
	}
	for (size_t i = 0; i < count; i++) {
		if (style->plain)
			plain_text(&devices[i], ret);
		else
			add_row(&devices[i], widths, style, ret);
	}
	layout_finish(ret, start, style);
}

void devices_json(const struct target_device *devices, size_t count, struct text *ret)
{
	json_t *root = json_object(), *list = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *device = report_target_json(&devices[i].info);

		json_put_text_or_null(device, "by_id", devices[i].by_id);
		json_put_text_or_null(device, "use", devices[i].use);
		json_array_append_new(list, device);
	}
	json_put(root, "schema", json_string("tare.devices/1"));
	json_put(root, "devices", list);
	json_write(root, ret);
	json_decref(root);
}
