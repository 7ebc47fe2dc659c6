/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio_fixture - for tests: a machine of two disks, a few files and a small environment, and a
 * command line's translation in it. A word "@TEXT" is a job file whose text follows the '@'.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "foreign/fio.h"

static const struct {
	const char *path;
	enum fio_thing thing;
	uint64_t bytes;
} fixture_things[] = {
	{ "/dev", FIO_DIRECTORY, 0 },
	{ "/dev/", FIO_DIRECTORY, 0 },
	{ "/dev/sda", FIO_DEVICE, 64 * GIB },
	{ "/dev/sdb", FIO_DEVICE, 10 * GIB },
	{ "/dev/sdz", FIO_ZONED_DEVICE, 10 * GIB },
	{ "/dev/null", FIO_CHAR_DEVICE, 0 },
	{ "/mnt", FIO_DIRECTORY, 0 },
	{ "/mnt/64k", FIO_FILE, 64 * KIB },
	{ "/mnt/1m", FIO_FILE, MIB },
	{ "/mnt/j.0.0", FIO_FILE, 4096 },
};

static const struct {
	const char *path, *text;
} fixture_includes[] = {
	{ "common.inc", "direct=1\niodepth=8\n" },
	{ "nested.inc", "include common.inc\nbs=16k\n" },
	{ "loop.inc", "include loop.inc\n" },
	{ "section.inc", "[no]\n" },
};

static const char *const *fixture_words; /* of the command line being translated */

static int fixture_read(void *ctx, const char *path, size_t bytes_max, struct text *ret,
			struct err *err)
{
	bool given = false;

	(void)ctx;
	/* A text that holds a '/' has no files beside it. */
	for (size_t i = 0; fixture_words && fixture_words[i]; i++)
		given |= strcmp(fixture_words[i], path) == 0;
	if (*path == '@' && given) {
		if (strlen(path) - 1 > bytes_max)
			return err_set(err, -EFBIG, "too big");
		text_add(ret, "%s", path + 1);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_COUNT(fixture_includes); i++) {
		if (strcmp(fixture_includes[i].path, path) == 0) {
			text_add(ret, "%s", fixture_includes[i].text);
			return 0;
		}
	}
	return err_set(err, -ENOENT, "%s: no such job file", path);
}

static const char *fixture_environment(void *ctx, const char *name)
{
	(void)ctx;
	if (strcmp(name, "DISK") == 0)
		return "sda";
	return strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static enum fio_thing fixture_look(void *ctx, const char *path, uint64_t *ret_bytes)
{
	(void)ctx;
	*ret_bytes = 0;
	if (*path == '@')
		return FIO_FILE;
	for (size_t i = 0; i < ARRAY_COUNT(fixture_things); i++) {
		if (strcmp(fixture_things[i].path, path) == 0) {
			*ret_bytes = fixture_things[i].bytes;
			return fixture_things[i].thing;
		}
	}
	return FIO_NOTHING;
}

static int fixture_node(void *ctx, uint32_t node, char *list, size_t list_bytes)
{
	(void)ctx;
	if (node > 1)
		return -ENOENT;
	snprintf(list, list_bytes, node ? "2-3" : "0-1");
	return 0;
}

static const struct fio_world fixture_world = {
	.read = fixture_read,
	.environment = fixture_environment,
	.look = fixture_look,
	.node_cpus = fixture_node,
	.page_bytes = 4096,
	.memory_mb = 8000,
	.cpu_count = 4,
};

/* Of the words up to NULL; gives back with fio_translation_done. */
static inline int fixture_translate(struct fio_translation *ret, const char *const *words)
{
	struct fio_request request = { .words = words, .world = &fixture_world };

	fixture_words = words;
	while (words[request.word_count])
		request.word_count++;
	return fio_translate(&request, ret);
}
#define TRANSLATE(ret, ...) fixture_translate(ret, (const char *const[]){ __VA_ARGS__, NULL })

/* Whether one of the sentences is exactly so; prints them when not. */
static inline bool fixture_says(char *const *texts, size_t count, const char *sentence)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(texts[i], sentence) == 0)
			return true;
	for (size_t i = 0; i < count; i++)
		printf("# said: %s\n", texts[i]);
	return false;
}
#define CHECK_NOTE(t, sentence)                                                                    \
	CHECK(fixture_says((t)->labels.notes, (t)->labels.note_count, sentence))
#define CHECK_PROBLEM(t, sentence)                                                                 \
	CHECK(fixture_says((t)->problems.texts, (t)->problems.count, sentence))
