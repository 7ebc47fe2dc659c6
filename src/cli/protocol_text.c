/* SPDX-License-Identifier: MIT */
#include "cli/protocol_text.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "report/json_tree.h"
#include "report/layout.h"

#define PROTOCOL_SCHEMA "tare.protocol/1"

static json_t *list_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; protocols[i]; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "name", protocols[i]->name,
						      "summary", protocols[i]->summary, "writes",
						      protocols[i]->writes));
	return list;
}

void protocol_text_list(bool json, struct text *ret)
{
	if (json) {
		json_t *list = list_json();

		json_write(list, ret);
		json_decref(list);
		return;
	}
	for (size_t i = 0; protocols[i]; i++)
		text_add(ret, "%-16s %s\n", protocols[i]->name, protocols[i]->summary);
}

/* --- forecast -------------------------------------------------------------------------- */

static double drive_writes(const struct protocol_outcome *o)
{
	return o->capacity_bytes ? (double)o->written_bytes / (double)o->capacity_bytes : 0;
}

static json_t *totals_json(const struct protocol_outcome *o)
{
	json_t *ret = json_object();

	json_put_u64(ret, "duration_ns", o->total_ns);
	json_put_u64(ret, "written_bytes", o->written_bytes);
	json_put_u64(ret, "read_bytes", o->read_bytes);
	json_put_real(ret, "drive_writes", drive_writes(o));
	return ret;
}

/* "2 h 10 min", "33 min", "12 s" */
static void add_duration(uint64_t ns, struct text *ret)
{
	const uint64_t minutes = (ns / SECOND_NS + 30) / 60;

	if (minutes >= 60)
		text_add(ret, "%llu h %llu min", (unsigned long long)(minutes / 60),
			 (unsigned long long)(minutes % 60));
	else if (ns >= 90 * SECOND_NS)
		text_add(ret, "%llu min", (unsigned long long)minutes);
	else
		text_add(ret, "%.1f s", (double)ns / (double)SECOND_NS);
}

static void add_totals(const struct protocol_outcome *o, struct text *ret)
{
	char written[UNITS_TEXT_BYTES], capacity[UNITS_TEXT_BYTES], read[UNITS_TEXT_BYTES];

	add_duration(o->total_ns, ret);
	text_add(ret, "; writes %s, %.1f times the %s used; reads %s",
		 units_format_size((double)o->written_bytes, written), drive_writes(o),
		 units_format_size((double)o->capacity_bytes, capacity),
		 units_format_size((double)o->read_bytes, read));
}

static void forecast_json(const struct protocol *protocol, const struct protocol_outcome *o,
			  struct text *ret)
{
	json_t *root = json_object(), *assumed = json_object();

	json_put_text(root, "schema", PROTOCOL_SCHEMA);
	json_put_text(root, "protocol", protocol->name);
	json_put(root, "target", report_target_json(&o->result.target));
	json_put(root, "forecast", totals_json(o));
	json_put_real(assumed, "sequential_bytes_per_s", o->assumed_sequential_bytes_per_s);
	json_put_real(assumed, "random_bytes_per_s", o->assumed_random_bytes_per_s);
	json_put(root, "assumed", assumed);
	json_write(root, ret);
	json_decref(root);
}

void protocol_text_forecast(const struct protocol *protocol, const struct protocol_outcome *o,
			    bool json, struct text *ret)
{
	char sequential[UNITS_TEXT_BYTES], random[UNITS_TEXT_BYTES];

	if (json) {
		forecast_json(protocol, o, ret);
		return;
	}
	text_add(ret, "%s takes at most ", protocol->name);
	add_totals(o, ret);
	text_add(ret,
		 "\nif the drive does %s sequentially and %s at random; as slow as such drives "
		 "get\n",
		 units_format_rate_bytes(o->assumed_sequential_bytes_per_s, sequential),
		 units_format_rate_bytes(o->assumed_random_bytes_per_s, random));
	if (protocol->writes && o->result.target.kind == TARGET_BLOCK)
		text_add(ret, "it erases the device: --erase-data\n");
}

/* --- outcome --------------------------------------------------------------------------- */

static json_t *evidence_json(const struct protocol_outcome *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->evidence_count; i++) {
		const struct protocol_evidence *e = &o->evidence[i];
		json_t *row = json_object();

		json_put_text(row, "name", e->name);
		json_put_text(row, "unit", e->unit);
		json_put_real(row, "value", e->value);
		json_put_real(row, "low", e->low);
		json_put_real(row, "high", e->high);
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *cells_json(const struct protocol_outcome *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->cell_count; i++) {
		const struct protocol_cell *cell = &o->cells[i];
		json_t *row = json_object();

		json_put_text(row, "name", cell->name);
		json_put_u64(row, "bytes", cell->bytes);
		json_put_u64(row, "duration_ns", cell->duration_ns);
		json_put_real(row, "bytes_per_s", cell->bytes_per_s);
		json_put_real(row, "iops", cell->iops);
		json_put_u64(row, "latency_ns_p50", cell->latency_ns_p50);
		json_put_u64(row, "latency_ns_p99", cell->latency_ns_p99);
		json_put_u64(row, "latency_ns_p99_9", cell->latency_ns_p999);
		json_put_u64(row, "latency_ns_max", cell->latency_ns_max);
		json_array_append_new(list, row);
	}
	return list;
}

/* As `tare run --json` gives it. */
static json_t *result_json(const struct result *result)
{
	struct text text = TEXT_INIT;
	json_t *ret;

	report_json(result, &text);
	ret = json_loads(text_string(&text), 0, NULL);
	text_done(&text);
	return ret ? ret : json_null();
}

void protocol_json_outcome(const struct protocol *protocol, const struct protocol_outcome *o,
			   struct text *ret)
{
	json_t *root = json_object(), *verdict = json_object(), *notes = json_array();

	json_put_text(root, "schema", PROTOCOL_SCHEMA);
	json_put_text(root, "protocol", protocol->name);
	json_put_text(verdict, "code", o->verdict_code);
	json_put_text(verdict, "text", o->verdict_text);
	json_put(verdict, "evidence", evidence_json(o));
	json_put(root, "verdict", verdict);
	for (size_t i = 0; i < o->note_count; i++)
		json_array_append_new(notes, json_text(o->notes[i]));
	json_put(root, "notes", notes);
	json_put_u64(root, "seed", o->seed);
	json_put_u64(root, "capacity_bytes", o->capacity_bytes);
	json_put_u64(root, "resumed_cells", o->resumed_count);
	json_put(root, "totals", totals_json(o));
	json_put(root, "cells", cells_json(o));
	json_put(root, "result", result_json(&o->result));
	json_write(root, ret);
	json_decref(root);
}

static void add_value(double value, const char *unit, struct text *ret)
{
	char text[UNITS_TEXT_BYTES];

	if (strcmp(unit, "B/s") == 0)
		text_add(ret, "%s", units_format_rate_bytes(value, text));
	else if (strcmp(unit, "B") == 0)
		text_add(ret, "%s", units_format_size(value, text));
	else if (strcmp(unit, "/s") == 0)
		text_add(ret, "%s", units_format_rate(value, text));
	else if (strcmp(unit, "ns") == 0)
		text_add(ret, "%s", units_format_latency(value, text));
	else if (strcmp(unit, "%") == 0)
		text_add(ret, "%.0f %%", value);
	else if (strcmp(unit, "x") == 0)
		text_add(ret, "%.2f×", value);
	else
		text_add(ret, "%.4g%s%s", value, *unit ? " " : "", unit);
}

static void add_evidence(const struct protocol_evidence *e, size_t columns, bool plain,
			 struct text *ret)
{
	if (plain) {
		text_add(ret, "%s: %.9g %s", e->name, e->value, e->unit);
	} else {
		text_add(ret, "  ");
		layout_left(ret, e->name, columns + 2);
		add_value(e->value, e->unit, ret);
	}
	if (!isnan(e->low)) {
		text_add(ret, " (");
		add_value(e->low, e->unit, ret);
		text_add(ret, " to ");
		add_value(e->high, e->unit, ret);
		text_add(ret, ")");
	}
	text_add(ret, "\n");
}

void protocol_text_outcome(const struct protocol *protocol, const struct protocol_outcome *o,
			   const struct report_style *style, struct text *ret)
{
	size_t columns = 0;

	if (style->plain)
		text_add(ret, "%s: %s: ", protocol->name, o->verdict_code);
	layout_wrap(ret, o->verdict_text, 0, style->plain ? 10000 : style->columns);
	text_add(ret, ".\n");
	if (!style->plain)
		text_add(ret, "(%s: %s)\n\n", protocol->name, o->verdict_code);
	for (size_t i = 0; i < o->evidence_count; i++)
		if (text_columns(o->evidence[i].name) > columns)
			columns = text_columns(o->evidence[i].name);
	for (size_t i = 0; i < o->evidence_count; i++)
		add_evidence(&o->evidence[i], columns, style->plain, ret);
	text_add(ret, "%s", style->plain ? "" : "\n  took ");
	add_totals(o, ret);
	text_add(ret, "\n");
	for (size_t i = 0; i < o->note_count; i++) {
		text_add(ret, "%s", style->plain ? "note: " : "  · ");
		layout_wrap(ret, o->notes[i], 4, style->plain ? 10000 : style->columns);
		text_add(ret, "\n");
	}
	layout_finish(ret, 0, style);
}
