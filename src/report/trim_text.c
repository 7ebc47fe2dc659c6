/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "report/layout.h"
#include "report/summary.h"
#include "report/text.h"
#include "report/trim.h"

#define NAME_COLUMNS_MAX 28
#define KIND_COLUMNS 11
#define LABEL_COLUMNS 15

/* --- marks -------------------------------------------------------------------------------- */

static const struct layout_mark mark_ok = { "✓", TONE_GOOD };
static const struct layout_mark mark_stopped = { "✗", TONE_BAD };
static const struct layout_mark mark_unknown = { "?", TONE_WARNING };
static const struct layout_mark mark_warning = { "!", TONE_WARNING };
static const struct layout_mark mark_note = { "·", TONE_QUIET };

static bool is_stopped(const struct trim_report *report, const struct trim_layer *layer)
{
	return layer->capable == TRIM_NO ||
	       (report->verdict.layer[0] && strcmp(report->verdict.layer, layer->name) == 0 &&
		strcmp(report->verdict.code, "blocked") == 0);
}

static const struct layout_mark *layer_mark(const struct trim_report *report,
					    const struct trim_layer *layer)
{
	if (strcmp(report->verdict.code, "not-applicable") == 0)
		return &mark_note;
	if (is_stopped(report, layer))
		return &mark_stopped;
	return layer->capable == TRIM_YES ? &mark_ok : &mark_unknown;
}

static const struct {
	const char *code;
	const struct layout_mark *mark;
} verdict_marks[] = {
	{ "works", &mark_ok },	     { "works-when-asked", &mark_ok },
	{ "blocked", &mark_stopped }, { "partial", &mark_warning },
	{ "sent-unproven", &mark_unknown }, { "ignored", &mark_stopped },
	{ "cannot-tell", &mark_unknown },   { "dangerous", &mark_stopped },
	{ "not-applicable", &mark_note },
};

static const struct layout_mark *verdict_mark(const struct trim_verdict *verdict)
{
	for (size_t i = 0; i < ARRAY_COUNT(verdict_marks); i++)
		if (strcmp(verdict_marks[i].code, verdict->code) == 0)
			return verdict->as_far_as_seen && verdict_marks[i].mark == &mark_ok ?
				       &mark_warning : verdict_marks[i].mark;
	return &mark_unknown;
}

/* "works as far as seen", "DANGEROUS" */
static void add_verdict_word(const struct trim_verdict *verdict, struct text *ret)
{
	if (strcmp(verdict->code, "dangerous") == 0)
		text_add(ret, "DANGEROUS");
	else
		text_add(ret, "%s", verdict->code);
}

static void add_mark(const struct layout_mark *mark, const struct report_style *style,
		     struct text *ret)
{
	text_add(ret, "  %s%s%s ", layout_tone(style, mark->tone), mark->symbol, layout_end(style));
}

/* Text of the machine, without what a terminal would take for orders, in lines of its own. */
static void add_wrapped(const char *text, size_t indent, const struct report_style *style,
			struct text *ret)
{
	struct text clean = TEXT_INIT;

	summary_add_printable(&clean, text);
	layout_wrap(ret, text_string(&clean), indent, style->columns);
	text_add(ret, "\n");
	text_done(&clean);
}

/* --- the tree ----------------------------------------------------------------------------- */

static uint32_t depth_of(const struct trim_report *report, uint32_t index)
{
	uint32_t depth = 0;

	while (report->layers[index].parent != TRIM_TOP) {
		index = report->layers[index].parent;
		depth++;
	}
	return depth;
}

static void add_name(const struct trim_report *report, uint32_t index, struct text *ret)
{
	const uint32_t depth = depth_of(report, index);

	if (depth > 0)
		text_add(ret, "%*s└ ", (int)(2 * (depth - 1)), "");
	summary_add_printable(ret, report->layers[index].name);
}

static size_t name_columns(const struct trim_report *report)
{
	size_t columns = 8;

	for (uint32_t i = 0; i < report->layer_count; i++) {
		const size_t wide = 2 * depth_of(report, i) + strlen(report->layers[i].name);

		if (wide > columns)
			columns = wide;
	}
	return columns > NAME_COLUMNS_MAX ? NAME_COLUMNS_MAX : columns;
}

/* "512 B to 2.0 GiB", "no discard" */
static void add_limits(const struct trim_layer *layer, struct text *ret)
{
	char least[UNITS_TEXT_BYTES], most[UNITS_TEXT_BYTES];

	if (!layer->is_block)
		return;
	if (layer->max_bytes == 0 || layer->granularity_bytes == 0)
		text_add(ret, "no discard");
	else
		text_add(ret, "%s to %s",
			 units_format_bytes(layer->granularity_bytes, least),
			 units_format_size((double)layer->max_bytes, most));
	if (layer->have_delivered)
		text_add(ret, ", %" PRIu64 " arrived, %s", layer->delivered_count,
			 units_format_size((double)layer->delivered_bytes, most));
}

/* Mount options get a blank behind each comma, so that lines can break there. */
static void add_detail(const struct trim_layer *layer, struct text *ret)
{
	struct text raw = TEXT_INIT;

	for (const char *p = layer->detail; *p; p++)
		text_add(&raw, "%c%s", *p, *p == ',' && !layer->is_block && p[1] != ' ' ? " " : "");
	summary_add_printable(ret, text_string(&raw));
	text_done(&raw);
}

static void add_layer(const struct trim_report *report, uint32_t index, size_t columns,
		      const struct report_style *style, struct text *ret)
{
	const struct trim_layer *layer = &report->layers[index];
	struct text name = TEXT_INIT, line = TEXT_INIT;

	add_mark(layer_mark(report, layer), style, ret);
	add_name(report, index, &name);
	layout_left(ret, text_string(&name), columns);
	text_add(ret, "  ");
	layout_left(ret, layer->kind, KIND_COLUMNS);
	text_add(ret, " ");
	add_limits(layer, &line);
	if (layer->detail[0] && strcmp(layer->detail, layer->kind) != 0) {
		text_add(&line, "%s", line.length ? "  ·  " : "");
		add_detail(layer, &line);
	}
	layout_wrap(ret, text_string(&line), 4 + columns + 2 + KIND_COLUMNS + 1, style->columns);
	text_add(ret, "\n");
	text_done(&name);
	text_done(&line);
}

/* Why not, right below the layer; the verdict tells it of the one it blames. */
static void add_why(const struct trim_report *report, uint32_t index,
		    const struct report_style *style, struct text *ret)
{
	const struct trim_layer *layer = &report->layers[index];
	const size_t indent = 4 + 2 * (size_t)depth_of(report, index) + 2;

	if (layer->why[0] && strcmp(layer->name, report->verdict.layer) != 0) {
		text_add(ret, "%*s", (int)indent, "");
		add_wrapped(layer->why, indent, style, ret);
	}
	if (layer->needs_root[0]) {
		text_add(ret, "%*sroot could also read ", (int)indent, "");
		add_wrapped(layer->needs_root, indent, style, ret);
	}
}

static void add_tree(const struct trim_report *report, const struct report_style *style,
		     struct text *ret)
{
	const size_t columns = name_columns(report);

	for (uint32_t i = 0; i < report->layer_count; i++) {
		add_layer(report, i, columns, style, ret);
		add_why(report, i, style, ret);
	}
}

/* --- what was seen ------------------------------------------------------------------------ */

static void add_label(const char *label, struct text *ret)
{
	text_add(ret, "  ");
	layout_left(ret, label, LABEL_COLUMNS);
	text_add(ret, " ");
}

static void add_senders(const struct trim_report *report, struct text *ret)
{
	const struct trim_active *active = &report->active;
	const bool option = active->mount_option == TRIM_YES, timer = active->timer == TRIM_YES;

	if (!option && !timer)
		text_add(ret, "%s", active->mount_option == TRIM_UNKNOWN ?
				    "who sends them is not known" : "nobody sends them");
	else
		text_add(ret, "sent by %s%s%s", option ? active->mount_word : "",
			 option && timer ? ", " : "", timer ? active->timer_word : "");
}

static void add_active(const struct trim_report *report, struct text *ret)
{
	const struct trim_active *active = &report->active;

	if (active->mount_option == TRIM_UNKNOWN && active->timer == TRIM_UNKNOWN)
		return;		/* a device, or nobody to tell */
	add_label("discards", ret);
	add_senders(report, ret);
	text_add(ret, "\n");
}

/* Of several looks only the last counts; what the layers show is not told again. */
static bool is_told(const struct trim_report *report, uint32_t index)
{
	const struct trim_evidence *evidence = &report->evidence[index];

	if (!evidence->text[0] || strcmp(evidence->code, "delivered") == 0 ||
	    strcmp(evidence->code, "counters-quiet") == 0)
		return false;
	for (uint32_t i = index + 1; i < report->evidence_count; i++)
		if (strcmp(report->evidence[i].code, evidence->code) == 0 &&
		    strcmp(report->evidence[i].layer, evidence->layer) == 0 &&
		    report->evidence[i].bytes == evidence->bytes)
			return false;
	return true;
}

static void add_evidence(const struct trim_report *report, const struct report_style *style,
			 struct text *ret)
{
	for (uint32_t i = 0; i < report->evidence_count; i++) {
		const struct trim_evidence *evidence = &report->evidence[i];

		if (!is_told(report, i))
			continue;
		add_mark(evidence->ok ? &mark_ok : evidence->error ? &mark_warning : &mark_note,
			 style, ret);
		layout_left(ret, evidence->code, LABEL_COLUMNS);
		text_add(ret, " ");
		add_wrapped(evidence->text, 4 + LABEL_COLUMNS + 1, style, ret);
	}
}

static void add_sizes(const struct trim_report *report, const struct report_style *style,
		      struct text *ret)
{
	struct text line = TEXT_INIT;
	char size[UNITS_TEXT_BYTES];

	if (report->size_count == 0)
		return;
	add_label("gone, by size", ret);
	for (uint32_t i = 0; i < report->size_count; i++)
		text_add(&line, "%s%s %" PRIu32 "/%" PRIu32, i ? "  " : "",
			 units_format_bytes(report->sizes[i].bytes, size),
			 report->sizes[i].gone_count, report->sizes[i].tried_count);
	layout_wrap(ret, text_string(&line), 2 + LABEL_COLUMNS + 1, style->columns);
	text_add(ret, "\n");
	text_done(&line);
}

static void add_notes(const struct trim_report *report, const struct report_style *style,
		      struct text *ret)
{
	for (uint32_t i = 0; i < report->note_count; i++) {
		const struct trim_note *note = &report->notes[i];

		add_mark(note->warning ? &mark_warning : &mark_note, style, ret);
		text_add(ret, "%s: ", note->layer[0] ? note->layer : report->spec);
		add_wrapped(note->text, 4, style, ret);
	}
}

/* --- the verdict -------------------------------------------------------------------------- */

static void add_verdict(const struct trim_verdict *verdict, const struct report_style *style,
			struct text *ret)
{
	const struct layout_mark *mark = verdict_mark(verdict);

	text_add(ret, "%s%s ", layout_tone(style, mark->tone), mark->symbol);
	add_verdict_word(verdict, ret);
	if (verdict->reason[0])
		text_add(ret, " (%s)", verdict->reason);
	text_add(ret, "%s: ", layout_end(style));
	add_wrapped(verdict->text, 2, style, ret);
}

/* Lines of their own, so that a command can be copied as it stands: never wrapped. */
static void add_remedy(const struct trim_verdict *verdict, struct text *ret)
{
	const char *line = verdict->remedy;

	while (*line) {
		const size_t length = strcspn(line, "\n");
		struct text raw = TEXT_INIT;

		text_add_bytes(&raw, line, length);
		text_add(ret, "  ");
		summary_add_printable(ret, text_string(&raw));
		text_add(ret, "\n");
		text_done(&raw);
		line += length;
		line += *line == '\n';
	}
}

static void trim_plain(const struct trim_report *report, struct text *ret);

void report_trim_text(const struct trim_report *report, const struct report_style *style,
		      struct text *ret)
{
	const size_t start = ret->length;

	if (style->plain) {
		trim_plain(report, ret);
		return;
	}
	add_tree(report, style, ret);
	text_add(ret, "\n");
	add_active(report, ret);
	add_sizes(report, style, ret);
	add_evidence(report, style, ret);
	add_notes(report, style, ret);
	text_add(ret, "\n");
	add_verdict(&report->verdict, style, ret);
	add_remedy(&report->verdict, ret);
	layout_finish(ret, start, style);
}

/* In a list nothing is tried: what is announced is the answer. */
static void add_announced(const struct trim_report *report, struct text *ret)
{
	text_add(ret, "%s: every layer takes discards; ", report->layers[0].kind);
	add_senders(report, ret);
	text_add(ret, "; tare trim %s proves it", report->spec);
}

void report_trim_line(const struct trim_report *report, const struct report_style *style,
		      struct text *ret)
{
	const struct trim_verdict *verdict = &report->verdict;
	const bool announced = strcmp(verdict->reason, "NOT_TRIED") == 0;
	const struct layout_mark *mark = announced ? &mark_ok : verdict_mark(verdict);
	const size_t start = ret->length;
	struct text name = TEXT_INIT, line = TEXT_INIT;

	text_add(ret, "%s%s%s ", layout_tone(style, mark->tone), mark->symbol, layout_end(style));
	summary_add_printable(&name, report->spec);
	layout_left(ret, text_string(&name), 20);
	text_add(ret, " ");
	if (announced) {
		add_announced(report, &line);
	} else {
		add_verdict_word(verdict, &line);
		text_add(&line, "%s%s%s: %s", verdict->reason[0] ? " (" : "", verdict->reason,
			 verdict->reason[0] ? ")" : "", verdict->text);
	}
	add_wrapped(text_string(&line), 4, style, ret);
	text_done(&name);
	text_done(&line);
	layout_finish(ret, start, style);
}

/* --- one fact per line -------------------------------------------------------------------- */

static void fact(struct text *ret, const char *what, const char *value)
{
	if (!value[0])
		return;
	text_add(ret, "%s: ", what);
	summary_add_printable(ret, value);
	text_add(ret, "\n");
}

static const char *answer_word(enum trim_answer answer)
{
	return answer == TRIM_YES ? "yes" : answer == TRIM_NO ? "no" : "unknown";
}

static void plain_layer(const struct trim_report *report, const struct trim_layer *layer,
			struct text *ret)
{
	struct text limits = TEXT_INIT;

	summary_add_printable(ret, layer->name);
	text_add(ret, " kind: %s\n", layer->kind);
	if (layer->parent != TRIM_TOP) {
		summary_add_printable(ret, layer->name);
		fact(ret, " lies below", report->layers[layer->parent].name);
	}
	summary_add_printable(ret, layer->name);
	text_add(ret, " takes discards: %s\n",
		 is_stopped(report, layer) ? "no" : answer_word(layer->capable));
	if (layer->why[0]) {
		summary_add_printable(ret, layer->name);
		fact(ret, " why", layer->why);
	}
	if (layer->is_block) {
		add_limits(layer, &limits);
		summary_add_printable(ret, layer->name);
		fact(ret, " limits", text_string(&limits));
	}
	if (layer->needs_root[0]) {
		summary_add_printable(ret, layer->name);
		fact(ret, " root could read", layer->needs_root);
	}
	text_done(&limits);
}

static void plain_active(const struct trim_active *active, struct text *ret)
{
	if (active->mount_option == TRIM_UNKNOWN && active->timer == TRIM_UNKNOWN)
		return;
	text_add(ret, "mount option: %s%s%s\n", answer_word(active->mount_option),
		 active->mount_word[0] ? ", " : "", active->mount_word);
	text_add(ret, "timer: %s%s%s\n", answer_word(active->timer),
		 active->timer_word[0] ? ", " : "", active->timer_word);
}

static void trim_plain(const struct trim_report *report, struct text *ret)
{
	const struct trim_verdict *verdict = &report->verdict;

	fact(ret, "target", report->spec);
	for (uint32_t i = 0; i < report->layer_count; i++)
		plain_layer(report, &report->layers[i], ret);
	plain_active(&report->active, ret);
	for (uint32_t i = 0; i < report->evidence_count; i++) {
		text_add(ret, "evidence ");
		fact(ret, report->evidence[i].code, report->evidence[i].text);
	}
	for (uint32_t i = 0; i < report->note_count; i++)
		fact(ret, report->notes[i].warning ? "warning" : "note", report->notes[i].text);
	fact(ret, "verdict", verdict->code);
	fact(ret, "layer", verdict->layer);
	fact(ret, "reason", verdict->reason);
	fact(ret, "because", verdict->text);
	fact(ret, "remedy", verdict->remedy);
}
