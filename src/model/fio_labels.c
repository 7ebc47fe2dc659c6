/* SPDX-License-Identifier: MIT */
#include "model/fio_labels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more, zeroed; doubled whenever the count is a power of two. */
static void *grow(void *items, size_t count, size_t item_bytes)
{
	if ((count & (count - 1)) == 0)
		items = reallocarray(items, count ? 2 * count : 1, item_bytes);
	if (!items)
		abort();
	memset((char *)items + count * item_bytes, 0, item_bytes);
	return items;
}

static char *copy(const char *text)
{
	char *ret = strdup(text);

	if (!ret)
		abort();
	return ret;
}

static void options_done(struct fio_options *options)
{
	for (size_t i = 0; i < options->count; i++) {
		free(options->items[i].name);
		free(options->items[i].value);
	}
	free(options->items);
}

void fio_labels_done(struct fio_labels *labels)
{
	options_done(&labels->global);
	for (size_t i = 0; i < labels->job_count; i++) {
		struct fio_job *job = &labels->jobs[i];

		free(job->name);
		free(job->description);
		free(job->write_bw_log);
		free(job->write_iops_log);
		free(job->write_lat_log);
		free(job->write_iolog);
		free(job->iolog_name);
		free(job->steadystate_text);
		options_done(&job->options);
	}
	free(labels->jobs);
	for (size_t i = 0; i < labels->note_count; i++)
		free(labels->notes[i]);
	free(labels->notes);
	memset(labels, 0, sizeof(*labels));
}

struct fio_job *fio_labels_add(struct fio_labels *labels)
{
	labels->jobs = grow(labels->jobs, labels->job_count, sizeof(*labels->jobs));
	return &labels->jobs[labels->job_count++];
}

void fio_labels_note(struct fio_labels *labels, const char *format, ...)
{
	va_list args;
	char text[512];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	labels->notes = grow(labels->notes, labels->note_count, sizeof(*labels->notes));
	labels->notes[labels->note_count++] = copy(text);
}

void fio_options_add(struct fio_options *options, const char *name, const char *value)
{
	options->items = grow(options->items, options->count, sizeof(*options->items));
	options->items[options->count].name = copy(name);
	options->items[options->count++].value = copy(value);
}

const char *fio_options_get(const struct fio_options *options, const char *name)
{
	for (size_t i = options->count; i > 0; i--) {
		if (strcmp(options->items[i - 1].name, name) == 0)
			return options->items[i - 1].value;
	}
	return NULL;
}
