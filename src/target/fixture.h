/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fixture - for tests: a machine of tests/fixtures/machines unpacked below a directory of its
 * own (the format is told in the README there). Asserts: a broken fixture is our mistake.
 */

#include <assert.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fixture_root[64];

static inline void fixture_make_parents(const char *path)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(part, 0700);
		*slash = '/';
	}
}

/* Text with \xHH turned into bytes. */
static inline void fixture_write(const char *path, const char *text, const char *mode)
{
	FILE *file;

	fixture_make_parents(path);
	file = fopen(path, mode);
	assert(file);
	for (; *text; text++) {
		unsigned int byte;

		if (sscanf(text, "\\x%2x", &byte) == 1) {
			fputc((int)byte, file);
			text += 3;
		} else {
			fputc(*text, file);
		}
	}
	fputc('\n', file);
	fclose(file);
}

static inline void fixture_link(const char *to, const char *path)
{
	int r;

	fixture_make_parents(path);
	r = symlink(to, path);
	assert(r == 0);
}

/* What the kernel makes of each block device. */
static inline void fixture_device(const char *directory, const char *number)
{
	char path[PATH_MAX], to[PATH_MAX];

	snprintf(to, sizeof(to), "../../%s", directory + strlen("sys/"));
	snprintf(path, sizeof(path), "%s/sys/class/block/%s", fixture_root,
		 strrchr(directory, '/') + 1);
	fixture_link(to, path);
	snprintf(path, sizeof(path), "%s/sys/dev/block/%s", fixture_root, number);
	fixture_link(to, path);
}

static inline void fixture_line(char *line, char section[PATH_MAX], char open_path[PATH_MAX])
{
	char path[2200];
	char *value;

	if (line[0] == '\t') {
		fixture_write(open_path, line + 1, "a");
		return;
	}
	if (line[0] == '[') {
		snprintf(section, PATH_MAX, "%.*s", (int)strlen(line) - 2, line + 1);
		return;
	}
	if ((value = strstr(line, " -> "))) {
		*value = '\0';
		snprintf(path, sizeof(path), "%s/%.1500s/%.500s", fixture_root, section, line);
		fixture_link(value + 4, path);
	} else if ((value = strstr(line, " ="))) {
		*value = '\0';
		value += value[2] == ' ' ? 3 : 2;
		snprintf(path, sizeof(path), "%s/%.1500s/%.500s", fixture_root, section, line);
		fixture_write(path, value, "w");
		if (strcmp(line, "dev") == 0)
			fixture_device(section, value);
	} else {
		snprintf(path, sizeof(path), "%s/%.1500s/%.500s", fixture_root, section, line);
		fixture_make_parents(path);
		path[strlen(path) - 1] = '\0';	/* the ':' of a file, the '/' of a directory */
		if (line[strlen(line) - 1] == '/')
			mkdir(path, 0700);
		else
			snprintf(open_path, PATH_MAX, "%s", path);
	}
}

/* The root to give to the functions under test, until fixture_done. */
static inline const char *fixture_unpack(const char *machine)
{
	const char *source = getenv("TARE_SOURCE_ROOT");
	char path[PATH_MAX], line[1024], section[PATH_MAX] = "", open_path[PATH_MAX] = "";
	const char *made;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/fixtures/machines/%s.txt", source ? source : ".",
		 machine);
	file = fopen(path, "re");
	if (!file) {
		perror(path);
		abort();
	}
	snprintf(fixture_root, sizeof(fixture_root), "/tmp/tare-fixture-XXXXXX");
	made = mkdtemp(fixture_root);
	assert(made);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && line[0] != '#')
			fixture_line(line, section, open_path);
	}
	fclose(file);
	return fixture_root;
}

static inline int fixture_remove_one(const char *path, const struct stat *st, int type,
				     struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void fixture_done(void)
{
	assert(strncmp(fixture_root, "/tmp/tare-fixture-", 18) == 0);
	nftw(fixture_root, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
