/* SPDX-License-Identifier: MIT */
#include "cli/words.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "model/utf8.h"

static bool is_spec(const char *word)
{
	return strcmp(word, "null") == 0 || strncmp(word, "null:", 5) == 0 ||
	       strncmp(word, "sim:", 4) == 0 || strncmp(word, "join:", 5) == 0;
}

enum word_kind words_kind(const char *word)
{
	struct stat st;

	if (is_spec(word))
		return WORD_SPEC;
	if (stat(word, &st) < 0)
		return WORD_NOTHING;
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return WORD_DIRECTORY;
	case S_IFREG:
		return WORD_FILE;
	case S_IFBLK:
		return WORD_BLOCK;
	case S_IFCHR:
		return WORD_CHAR;
	default:
		return WORD_OTHER;
	}
}

bool words_is_plan_name(const char *word)
{
	const char *dot = strrchr(word, '.');

	return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* /dev or below, but for /dev/shm, which is a file system like others. */
static bool is_below_dev(const char *word)
{
	char path[PATH_MAX];

	if (!realpath(word, path))
		snprintf(path, sizeof(path), "%s", word);
	if (strncmp(path, "/dev/shm", 8) == 0 && (!path[8] || path[8] == '/'))
		return false;
	return strcmp(path, "/dev") == 0 || strncmp(path, "/dev/", 5) == 0;
}

static int missing_target(const char *word, struct err *err)
{
	if (stat(word, &(struct stat){ 0 }) < 0 && errno != ENOENT && errno != ENOTDIR)
		return err_errno(err, -errno, "%s", word);
	if (strstr(word, "${"))
		return err_set(err, -ENOENT, "%s: the shell left ${…} as it is (single quotes?)", word);
	if (is_below_dev(word))
		return err_set(err, -ENOENT, "%s: no such device; nothing is ever created below /dev",
			       word);
	if (strchr(word, ':'))
		return err_set(err, -ENOENT, "%s: no such file, directory or device; one target per "
					     "run, without ':'", word);
	return err_set(err, -ENOENT, "%s: no such file, directory or device", word);
}

int words_check_target(const char *word, struct err *err)
{
	if (!utf8_is_valid(word))
		return err_set(err, -EINVAL, "the target's path is not UTF-8, which results are");
	switch (words_kind(word)) {
	case WORD_NOTHING:
		return missing_target(word, err);
	case WORD_DIRECTORY:
		if (is_below_dev(word))
			return err_set(err, -EISDIR,
				       "%s is a directory of device nodes; name the device itself "
				       "(an unset variable behind it?)",
				       word);
		return 0;
	case WORD_OTHER:
		return err_set(err, -EINVAL, "%s: neither a file, a directory nor a device", word);
	default:
		return 0;
	}
}

static const struct {
	const char *bytes, *name;
} dashes[] = {
	{ "\xe2\x80\x90", "a typographic hyphen (U+2010)" },
	{ "\xe2\x80\x91", "a typographic hyphen (U+2011)" },
	{ "\xe2\x80\x92", "a typographic dash (U+2012)" },
	{ "\xe2\x80\x93", "a typographic dash (U+2013)" },
	{ "\xe2\x80\x94", "a typographic dash (U+2014)" },
	{ "\xe2\x80\x95", "a typographic dash (U+2015)" },
	{ "\xe2\x88\x92", "a minus sign (U+2212)" },
};

const char *words_typographic_dash(const char *word)
{
	word += strspn(word, "-");
	for (size_t i = 0; i < ARRAY_COUNT(dashes); i++) {
		if (strncmp(word, dashes[i].bytes, 3) == 0)
			return dashes[i].name;
	}
	return NULL;
}

const char *words_behind_dashes(const char *word)
{
	for (;;) {
		word += strspn(word, "-");
		if (!words_typographic_dash(word))
			return word;
		word += 3;
	}
}

static const struct {
	const char *name, *advice;
} fio_advice[] = {
	{ "time-based", "runs last their runtime anyway; leave it out" },
	{ "group-reporting", "jobs are always reported together; leave it out" },
	{ "thread", "workers are always threads; leave it out" },
	{ "randrepeat", "each run has a new seed; --randseed=N repeats one" },
	{ "refill-buffers", "each write has new data anyway; leave it out" },
	{ "bsrange", "not supported; name the sizes, as in --bssplit=4k/50:64k/50" },
	{ "rate", "bytes per second are not supported; use --rate-iops" },
	{ "output-format", "use --json" },
	{ "eta", "use --progress" },
	{ "stonewall", "phases of a plan follow each other; leave it out" },
	{ "startdelay", "an idle phase of a plan waits" },
	{ "overwrite", "a test file is always laid out before it is read; leave it out" },
	{ "allow-mounted-write", "nothing mounted is ever written" },
	{ "force", "there is none; --erase-data=SERIAL names the device it is about" },
	{ "keep", "the test file has no name and is always removed" },
};

const char *words_fio_advice(const char *name)
{
	char hyphens[64];
	size_t length = strlen(name);

	if (length >= sizeof(hyphens))
		return NULL;
	for (size_t i = 0; i <= length; i++)
		hyphens[i] = name[i];
	for (char *c = hyphens; *c; c++) {
		if (*c == '_')
			*c = '-';
	}
	for (size_t i = 0; i < ARRAY_COUNT(fio_advice); i++) {
		if (strcmp(hyphens, fio_advice[i].name) == 0)
			return fio_advice[i].advice;
	}
	return NULL;
}
