/* SPDX-License-Identifier: MIT */
#include "foreign/fio_source.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"

static void *grow(void *items, size_t count, size_t item_bytes)
{
	/* Doubled whenever the count is a power of two. */
	if (count && (count & (count - 1)))
		return items;
	items = reallocarray(items, count ? 2 * count : 1, item_bytes);
	if (!items)
		abort();
	return items;
}

static char *copy(const char *text)
{
	char *ret = strdup(text);

	if (!ret)
		abort();
	return ret;
}

void fio_remark(struct fio_remarks *remarks, const struct place *place, const char *format, ...)
{
	char text[512];
	struct err err;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (place) {
		place_error(place, -EINVAL, &err, "%s", text);
		snprintf(text, sizeof(text), "%s", err.text);
	}
	for (size_t i = 0; i < remarks->count; i++)
		if (strcmp(remarks->texts[i], text) == 0)
			return;
	if (remarks->count == FIO_REMARKS_MAX)
		return;
	remarks->texts = grow(remarks->texts, remarks->count, sizeof(*remarks->texts));
	remarks->texts[remarks->count++] = copy(text);
}

void fio_remarks_done(struct fio_remarks *remarks)
{
	for (size_t i = 0; i < remarks->count; i++)
		free(remarks->texts[i]);
	free(remarks->texts);
	*remarks = (struct fio_remarks){ 0 };
}

void fio_source_done(struct fio_source *source)
{
	for (size_t i = 0; i < source->section_count; i++) {
		struct fio_section *section = &source->sections[i];

		for (size_t j = 0; j < section->count; j++) {
			free(section->items[j].name);
			free(section->items[j].value);
		}
		free(section->items);
		free(section->name);
	}
	free(source->sections);
	for (size_t i = 0; i < source->file_count; i++)
		free(source->files[i]);
	free(source->files);
	source->sections = NULL;
	source->files = NULL;
	source->section_count = source->file_count = 0;
}

struct fio_section *fio_source_add(struct fio_source *source, const char *name,
				   const struct place *place)
{
	struct fio_section *section;

	source->sections = grow(source->sections, source->section_count, sizeof(*source->sections));
	section = &source->sections[source->section_count++];
	*section = (struct fio_section){
		.name = copy(name),
		.global = strncmp(name, "global", strlen("global")) == 0,
		.place = *place,
	};
	return section;
}

/* Replaces ${NAME} by what the environment holds: a path with a hole in it is another path. */
static int expand_environment(const struct fio_source *source, const struct place *place,
			      const char *value, struct text *ret)
{
	const char *dollar;

	while ((dollar = strstr(value, "${"))) {
		const char *end = strchr(dollar, '}'), *found;
		char name[128];

		if (!end || (size_t)(end - dollar - 2) >= sizeof(name)) {
			fio_remark(source->problems, place, "'%.64s': a '${' without its '}'",
				   dollar);
			return -EINVAL;
		}
		memcpy(name, dollar + 2, (size_t)(end - dollar - 2));
		name[end - dollar - 2] = '\0';
		found = source->world->environment(source->world->ctx, name);
		if (!found || !*found) {
			fio_remark(source->problems, place,
				   "${%s} is %s in the environment; fio would leave a hole", name,
				   found ? "empty" : "not set");
			return -EINVAL;
		}
		text_add_bytes(ret, value, (size_t)(dollar - value));
		text_add(ret, "%s", found);
		value = end + 1;
	}
	text_add(ret, "%s", value);
	return 0;
}

/* $pagesize and its like; true when there was one. */
static bool expand_keywords(const struct fio_world *world, const char *value, struct text *ret)
{
	const struct {
		const char *name;
		uint64_t value;
	} keywords[] = {
		{ "$pagesize", world->page_bytes },
		{ "$mb_memory", world->memory_mb },
		{ "$ncpus", world->cpu_count },
	};
	bool any = false;

	while (*value) {
		size_t i = 0, length = 1;

		while (i < ARRAY_COUNT(keywords) &&
		       strncmp(value, keywords[i].name, strlen(keywords[i].name)) != 0)
			i++;
		if (i < ARRAY_COUNT(keywords)) {
			length = strlen(keywords[i].name);
			text_add(ret, "%llu", (unsigned long long)keywords[i].value);
			any = true;
		} else {
			text_add_bytes(ret, value, 1);
		}
		value += length;
	}
	return any;
}

void fio_source_assign(struct fio_source *source, struct fio_section *section,
		       const struct fio_assignment *item, const char *name, const char *value)
{
	struct text environment = TEXT_INIT, whole = TEXT_INIT;
	struct fio_assignment *added;
	struct place place = item->place;

	section->items = grow(section->items, section->count, sizeof(*section->items));
	added = &section->items[section->count];
	*added = *item;
	if (value) {
		place.column = item->value_column;
		if (expand_environment(source, &place, value, &environment) < 0) {
			text_done(&environment);
			return;
		}
		added->computed = expand_keywords(source->world, text_string(&environment), &whole);
		added->value = text_take(&whole);
		text_done(&environment);
	}
	added->name = copy(name);
	section->count++;
}

/* A file being read; the section may be that of the file that includes it. */
struct reading {
	struct fio_source *source;
	const struct reading *outer; /* of the file that includes this one; NULL */
	const char *path;
	size_t section; /* index + 1; 0 = none yet */
	uint32_t depth; /* of includes; sections stand at 0 only */
};

static void read_text(struct reading *reading, char *text, size_t length);

static const char *keep_file(struct fio_source *source, const char *path)
{
	source->files = grow(source->files, source->file_count, sizeof(*source->files));
	source->files[source->file_count] = copy(path);
	return source->files[source->file_count++];
}

static int read_file(struct reading *reading, struct err *err)
{
	const struct fio_world *world = reading->source->world;
	struct text text = TEXT_INIT;
	int r = world->read(world->ctx, reading->path, FIO_FILE_BYTES_MAX, &text, err);

	if (r == 0 && text.length)
		read_text(reading, text.data, text.length);
	text_done(&text);
	return r;
}

/* A file that includes itself, by others or not, would never end. */
static bool is_open(const struct reading *reading, const char *path)
{
	for (; reading; reading = reading->outer)
		if (strcmp(reading->path, path) == 0)
			return true;
	return false;
}

/* In the working directory, then beside the file that includes it. */
static void read_include(struct reading *reading, const char *name, const struct place *place)
{
	struct fio_source *source = reading->source;
	const char *slash = strrchr(reading->path, '/');
	struct reading inner = *reading;
	char beside[4096];
	struct err err;
	int r;

	if (reading->depth == FIO_INCLUDE_DEPTH) {
		fio_remark(source->problems, place, "include: more than %d files deep",
			   FIO_INCLUDE_DEPTH);
		return;
	}
	if (is_open(reading, name)) {
		fio_remark(source->problems, place, "include: %.200s includes itself", name);
		return;
	}
	inner.depth++;
	inner.outer = reading;
	inner.path = keep_file(source, name);
	r = read_file(&inner, &err);
	if (r == -ENOENT && slash && *name != '/') {
		snprintf(beside, sizeof(beside), "%.*s/%s", (int)(slash - reading->path),
			 reading->path, name);
		inner.path = keep_file(source, beside);
		r = read_file(&inner, &err);
	}
	if (r < 0)
		fio_remark(source->problems, place, "include: %s", err.text);
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* fio ends a line at any ; or #. Said where it was hardly meant: right behind a value. */
static void cut_comment(const struct reading *reading, char *line, const struct place *place)
{
	const size_t at = strcspn(line, ";#");
	struct place here = *place;

	if (!line[at])
		return;
	here.column = (uint32_t)at + 1;
	if (at && !isspace((unsigned char)line[at - 1]) && line[at - 1] != ']') {
		const char mark = line[at];
		char *rest = trim(line + at + 1);

		if (*rest)
			fio_remark(reading->source->notes, &here,
				   "text after %c is a comment to fio and ignored: %.200s%s", mark,
				   rest, mark == ';' ? " - use : to separate files" : "");
	}
	line[at] = '\0';
}

static void read_heading(struct reading *reading, char *line, const struct place *place)
{
	struct fio_source *source = reading->source;
	char *end = strchr(line, ']');

	if (reading->depth) {
		fio_remark(source->problems, place,
			   "a section in an included file, which holds options only");
		return;
	}
	if (!end || end == line + 1) {
		fio_remark(source->problems, place, "a section is written [name]");
		return;
	}
	if (*trim(end + 1)) {
		fio_remark(source->problems, place, "text after ']': %.64s", trim(end + 1));
		return;
	}
	*end = '\0';
	fio_source_add(source, line + 1, place);
	reading->section = source->section_count;
}

/* name=value, name, or include FILE. */
static void read_option(struct reading *reading, char *line, const struct place *place,
			const char *start)
{
	struct fio_source *source = reading->source;
	struct fio_assignment item = { .place = *place };
	char *value = strchr(line, '='), *name = line;
	bool blank = false;

	if (value) {
		*value++ = '\0';
		blank = isspace((unsigned char)*value);
		while (isspace((unsigned char)*value))
			value++;
		item.value_column = (uint32_t)(value - start) + 1;
		name = trim(name);
	}
	if (!value && strncmp(name, "include", 7) == 0 && isspace((unsigned char)name[7])) {
		read_include(reading, trim(name + 8), place);
		return;
	}
	if (value && strcmp(name, "include") == 0) {
		read_include(reading, value, place);
		return;
	}
	if (!reading->section) {
		fio_remark(source->problems, place, "%.64s: an option before the first [section]",
			   name);
		return;
	}
	if (value && blank)
		fio_remark(source->notes, place,
			   "%.64s= %.64s: the blank after = is dropped; fio keeps it "
			   "and reads another value or none",
			   name, value);
	fio_source_assign(source, &source->sections[reading->section - 1], &item, name, value);
}

static void read_line(struct reading *reading, char *line, uint32_t number)
{
	struct place place = { reading->path, number, 1 };
	char *start = line;

	cut_comment(reading, line, &place);
	line = trim(line);
	if (!*line)
		return;
	place.column = (uint32_t)(line - start) + 1;
	if (*line == '[')
		read_heading(reading, line, &place);
	else
		read_option(reading, line, &place, start);
}

static void read_text(struct reading *reading, char *text, size_t length)
{
	struct fio_source *source = reading->source;
	uint32_t number = 0;
	char *line, *rest = text;

	if (memchr(text, '\0', length)) {
		fio_remark(source->problems, &(struct place){ reading->path, 0, 0 },
			   "not a text: it holds zero bytes");
		return;
	}
	if (strncmp(rest, "\xef\xbb\xbf", 3) == 0)
		rest += 3;
	while ((line = strsep(&rest, "\n"))) {
		if (++source->line_count > FIO_LINES_MAX) {
			fio_remark(source->problems, &(struct place){ reading->path, number, 1 },
				   "more than %d lines with what it includes", FIO_LINES_MAX);
			return;
		}
		read_line(reading, line, ++number);
	}
}

void fio_source_read(struct fio_source *source, const char *path)
{
	struct reading reading = { .source = source, .path = keep_file(source, path) };
	struct err err;

	if (read_file(&reading, &err) < 0)
		fio_remark(source->problems, NULL, "%s", err.text);
}
