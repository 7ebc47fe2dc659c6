/* SPDX-License-Identifier: MIT */
#include "model/trim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const trim_rung_names[] = { "none", "capability", "sent", "effect", "behaviour" };
const char *const trim_content_names[] = { "not read", "zeros", "ones", "old data", "other data" };

struct trim_evidence *trim_report_add(struct trim_report *report, enum trim_rung rung,
				      const char *code, const char *layer)
{
	struct trim_evidence *evidence;

	if (report->evidence_count < TRIM_EVIDENCE)
		report->evidence_count++;
	evidence = &report->evidence[report->evidence_count - 1];
	memset(evidence, 0, sizeof(*evidence));
	evidence->rung = rung;
	snprintf(evidence->code, sizeof(evidence->code), "%s", code);
	snprintf(evidence->layer, sizeof(evidence->layer), "%s", layer);
	return evidence;
}

struct trim_layer *trim_report_layer(struct trim_report *report, const char *name)
{
	for (uint32_t i = 0; i < report->layer_count; i++) {
		if (strcmp(report->layers[i].name, name) == 0)
			return &report->layers[i];
	}
	return NULL;
}

static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_@%+=:,./-";

	return *word && strspn(word, plain) == strlen(word);
}

const char *trim_quote(const char *word, char ret[TRIM_QUOTED_BYTES])
{
	size_t at = 0;

	if (is_plain(word)) {
		snprintf(ret, TRIM_QUOTED_BYTES, "%s", word);
		return ret;
	}
	ret[at++] = '\'';
	/* A quote ends the quotes, stands there behind a backslash, and begins them again. */
	for (; *word && at + 6 < TRIM_QUOTED_BYTES; word++) {
		if (*word == '\'') {
			memcpy(ret + at, "'\\''", 4);
			at += 4;
		} else {
			ret[at++] = *word;
		}
	}
	ret[at++] = '\'';
	ret[at] = '\0';
	return ret;
}

__attribute__((format(printf, 4, 0)))
static void fill_note(struct trim_note *note, const char *code, const char *layer,
		      const char *fmt, va_list args)
{
	snprintf(note->code, sizeof(note->code), "%s", code);
	snprintf(note->layer, sizeof(note->layer), "%s", layer);
	vsnprintf(note->text, sizeof(note->text), fmt, args);
}

/* NULL when all are taken. */
static struct trim_note *new_note(struct trim_report *report)
{
	struct trim_note *note;

	if (report->note_count == TRIM_NOTES)
		return NULL;
	note = &report->notes[report->note_count++];
	memset(note, 0, sizeof(*note));
	return note;
}

void trim_report_note(struct trim_report *report, const char *code, const char *layer,
		      const char *fmt, ...)
{
	struct trim_note *note = new_note(report);
	va_list args;

	if (!note)
		return;
	va_start(args, fmt);
	fill_note(note, code, layer, fmt, args);
	va_end(args);
}

void trim_report_warn(struct trim_report *report, const char *code, const char *layer,
		      const char *fmt, ...)
{
	struct trim_note *note = new_note(report);
	va_list args;

	if (!note)
		return;
	note->warning = true;
	va_start(args, fmt);
	fill_note(note, code, layer, fmt, args);
	va_end(args);
}
