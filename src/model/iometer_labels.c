/* SPDX-License-Identifier: MIT */
#include "model/iometer_labels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void iometer_labels_done(struct iometer_labels *labels)
{
	for (size_t i = 0; i < labels->note_count; i++)
		free(labels->notes[i]);
	free(labels->notes);
	free(labels->cells);
	free(labels->tests);
	free(labels->specs);
	memset(labels, 0, sizeof(*labels));
}

static void *grow(void *items, size_t count, size_t item_bytes)
{
	items = reallocarray(items, count + 1, item_bytes);
	if (!items)
		abort();
	memset((char *)items + count * item_bytes, 0, item_bytes);
	return items;
}

struct iometer_cell *iometer_labels_cell(struct iometer_labels *labels)
{
	labels->cells = grow(labels->cells, labels->cell_count, sizeof(*labels->cells));
	return &labels->cells[labels->cell_count++];
}

struct iometer_test *iometer_labels_test(struct iometer_labels *labels)
{
	labels->tests = grow(labels->tests, labels->test_count, sizeof(*labels->tests));
	return &labels->tests[labels->test_count++];
}

struct iometer_spec_label *iometer_labels_spec(struct iometer_labels *labels)
{
	labels->specs = grow(labels->specs, labels->spec_count, sizeof(*labels->specs));
	return &labels->specs[labels->spec_count++];
}

void iometer_labels_note(struct iometer_labels *labels, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (size_t i = 0; i < labels->note_count; i++) {
		if (strcmp(labels->notes[i], text) == 0)
			return;
	}
	labels->notes = grow(labels->notes, labels->note_count, sizeof(*labels->notes));
	labels->notes[labels->note_count] = strdup(text);
	if (!labels->notes[labels->note_count++])
		abort();
}
