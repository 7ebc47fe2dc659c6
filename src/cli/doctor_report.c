/* SPDX-License-Identifier: MIT */
#include "cli/doctor.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "engine/data.h"
#include "report/json_tree.h"
#include "report/layout.h"
#include "report/summary.h"

#define CODE_COLUMNS 14

static void add_machine(const struct machine *machine, struct text *ret)
{
	char memory[UNITS_TEXT_BYTES];

	summary_add_printable(ret, machine->cpu_model[0] ? machine->cpu_model : "CPU");
	text_add(ret, " × %" PRIu32 " · %s of memory · Linux ", machine->cpu_count,
		 units_format_size((double)machine->memory_bytes, memory));
	summary_add_printable(ret, machine->kernel);
	if (machine->virtualisation[0]) {
		text_add(ret, " · virtual machine: ");
		summary_add_printable(ret, machine->virtualisation);
	}
	text_add(ret, "\n\n");
}

static void add_row(const struct doctor_row *row, const struct report_style *style,
		    struct text *ret)
{
	const size_t indent = style->plain ? 0 : 4 + CODE_COLUMNS + 1;
	const size_t columns = style->plain ? SIZE_MAX : style->columns;

	if (style->plain) {
		text_add(ret, "%s: %s: ", row->code, row->good ? "yes" : "no");
	} else {
		text_add(ret, "  %s%s%s ",
			 layout_tone(style, row->good ? TONE_GOOD : TONE_WARNING),
			 row->good ? "✓" : "!", layout_end(style));
		layout_left(ret, row->code, CODE_COLUMNS);
	}
	layout_wrap(ret, row->text, indent, columns);
	if (row->remedy[0]) {
		text_add(ret, style->plain ? "; " : "\n");
		if (!style->plain)
			text_add(ret, "%*s→ ", (int)indent, "");
		layout_wrap(ret, row->remedy, style->plain ? 0 : indent + 2, columns);
	}
	text_add(ret, "\n");
}

#define LABEL_COLUMNS 28
#define VALUE_COLUMNS 10

static void add_figure(const char *what, const char *value, const struct report_style *style,
		       struct text *ret)
{
	if (style->plain) {
		text_add(ret, "%s: %s", what, value);
		return;
	}
	text_add(ret, "  ");
	layout_left(ret, what, LABEL_COLUMNS);
	layout_right(ret, value, VALUE_COLUMNS);
}

static void add_per_4k(const char *what, double ns, const struct report_style *style,
		       struct text *ret)
{
	char time[UNITS_TEXT_BYTES], rate[UNITS_TEXT_BYTES];

	add_figure(what, units_format_latency(ns, time), style, ret);
	text_add(ret, " per 4 KiB%s", style->plain ? ", " : "");
	layout_right(ret, ns > 0 ? units_format_rate_bytes(4096e9 / ns, rate) : "–",
		     style->plain ? 0 : 12);
	text_add(ret, "\n");
}

static void add_ceiling(const struct doctor *doctor, const struct report_style *style,
			struct text *ret)
{
	const struct ceiling *c = &doctor->ceiling;
	char text[UNITS_TEXT_BYTES];

	text_add(ret, "\n%sthe instrument itself%s, one worker\n", layout_tone(style, TONE_STRONG),
		 layout_end(style));
	if (!doctor->have_ceiling) {
		text_add(ret, "  not measured: %s\n", doctor->ceiling_error.text);
		return;
	}
	add_figure("null target, depth 1", units_format_rate(c->null_iops_q1, text), style, ret);
	text_add(ret, "\n");
	add_figure("null target, depth 32", units_format_rate(c->null_iops_q32, text), style, ret);
	text_add(ret, "\n");
	add_figure("one reading of the clock", units_format_latency(c->clock_ns, text), style, ret);
	text_add(ret, "\n");
	add_per_4k("fresh data for a write", c->fill_ns_per_4k, style, ret);
	add_per_4k("verification of a read", c->check_ns_per_4k, style, ret);
	add_per_4k("memcpy, to compare", c->memcpy_ns_per_4k, style, ret);
	add_figure("data is made by", data_fill_name(), style, ret);
	text_add(ret, "\n");
}

void doctor_text(const struct doctor *doctor, const struct report_style *style, struct text *ret)
{
	const size_t start = ret->length;

	add_machine(&doctor->machine, ret);
	for (size_t i = 0; i < doctor->row_count; i++)
		add_row(&doctor->rows[i], style, ret);
	add_ceiling(doctor, style, ret);
	layout_finish(ret, start, style);
}

static json_t *ceiling_json(const struct doctor *doctor)
{
	const struct ceiling *c = &doctor->ceiling;
	json_t *ret;

	if (!doctor->have_ceiling)
		return json_null();
	ret = json_object();
	json_put_real(ret, "null_iops_q1", c->null_iops_q1);
	json_put_real(ret, "null_iops_q32", c->null_iops_q32);
	json_put_real(ret, "clock_ns", c->clock_ns);
	json_put_real(ret, "fill_ns_per_4k", c->fill_ns_per_4k);
	json_put_real(ret, "check_ns_per_4k", c->check_ns_per_4k);
	json_put_real(ret, "memcpy_ns_per_4k", c->memcpy_ns_per_4k);
	json_put_real(ret, "fill_bytes_per_s", 4096e9 / c->fill_ns_per_4k);
	json_put_real(ret, "check_bytes_per_s", 4096e9 / c->check_ns_per_4k);
	json_put_real(ret, "memcpy_bytes_per_s", 4096e9 / c->memcpy_ns_per_4k);
	json_put_text(ret, "data_code", data_fill_name());
	return ret;
}

void doctor_json(const struct doctor *doctor, struct text *ret)
{
	json_t *root = json_object(), *checks = json_array();

	for (size_t i = 0; i < doctor->row_count; i++) {
		const struct doctor_row *row = &doctor->rows[i];
		json_t *check = json_object();

		json_put_text(check, "code", row->code);
		json_put_bool(check, "good", row->good);
		json_put_text(check, "text", row->text);
		json_put_text_or_null(check, "remedy", row->remedy);
		json_array_append_new(checks, check);
	}
	json_put(root, "schema", json_string("tare.doctor/1"));
	json_put(root, "machine", report_machine_json(&doctor->machine));
	json_put(root, "checks", checks);
	json_put(root, "ceiling", ceiling_json(doctor));
	json_write(root, ret);
	json_decref(root);
}
