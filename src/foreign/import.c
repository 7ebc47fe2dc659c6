/* SPDX-License-Identifier: MIT */
#include "foreign/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "base/text.h"
#include "base/units.h"
#include "foreign/import_parts.h"

#define FILE_MAX_BYTES (64 * MIB)	/* json+ of a large run is tens of megabytes */
#define CHUNK_BYTES 65536

typedef int import_fn(struct imported *ret, struct span text, struct err *err);

static bool holds(struct span text, const char *word)
{
	return span_behind(text, word).at;
}

static bool has_terse_line(struct span text)
{
	while (text.length) {
		if (import_is_terse(span_line(&text)))
			return true;
	}
	return false;
}

static bool has_iozone(struct span text)
{
	return holds(text, "Performance Test of File I/O") ||
	       holds(text, "Children see throughput for") || holds(text, "reclen ");
}

/* fio's text for people: "rand: (groupid=0, jobs=1): err= 0: pid=4711: Thu ..." */
static bool is_for_people(struct span text)
{
	return holds(text, "(groupid=") && holds(text, "err=");
}

/* BIFF 2: a BOF record of four or six bytes, version 2. */
static bool is_workbook(struct span text)
{
	return text.length > 6 && memcmp(text.at, "\x09\x00", 2) == 0 && text.at[3] == 0 &&
	       (text.at[2] == 4 || text.at[2] == 6);
}

/* What it is by name, when no figures are to be taken from it. */
static int refuse(struct span text, struct err *err)
{
	if (is_workbook(text)) {
		err_set(err, -EINVAL, "a workbook in iozone's binary form");
		return err_hint(err, "import what iozone printed in that run");
	}
	if (is_for_people(text)) {
		err_set(err, -EINVAL, "fio's text for people, whose units change with the figures");
		return err_hint(err, "run fio with --output-format=json, or terse, and import that");
	}
	if (span_trim(text).length == 0)
		return err_set(err, -EINVAL, "empty");
	err_set(err, -EINVAL, "no result that tare can tell");
	return err_hint(err, "fio: JSON or terse; iozone: what it prints; IOMeter: results.csv");
}

/* The readers in order of how sure their mark is. */
static import_fn *find_reader(struct span text)
{
	if (is_workbook(text))
		return NULL;
	if (holds(text, "'Target Type,"))
		return import_iometer;
	if (import_json_start(text).length)
		return import_fio_json;
	if (has_terse_line(text))
		return import_fio_terse;
	return has_iozone(text) ? import_iozone : NULL;
}

int import_parse(struct imported *ret, const char *name, const char *text, size_t length,
		 struct err *err)
{
	const struct span span = { text, length };
	struct imported imported = { .file = imported_copy(name, strlen(name)) };
	import_fn *reader = find_reader(span);
	int r = reader ? reader(&imported, span, err) : refuse(span, err);

	if (r == 0 && imported.row_count == 0 && imported.note_count == 0)
		r = err_set(err, -EINVAL, "%s's, but without any figures", imported.tool);
	if (r < 0) {
		imported_done(&imported);
		return err_wrap(err, "%s", name);
	}
	*ret = imported;
	return 0;
}

static int too_large(struct err *err)
{
	return err_set(err, -EFBIG, "larger than 64 MiB, which no result file is");
}

static int read_all(FILE *stream, struct text *ret, struct err *err)
{
	DEFER(defer_free) char *chunk = malloc(CHUNK_BYTES);
	struct stat st = { 0 };
	size_t length;

	if (!chunk)
		return err_set(err, -ENOMEM, "reading");
	if (fstat(fileno(stream), &st) == 0 && (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode)))
		return err_set(err, -EINVAL, "a %s, not a result file",
			       S_ISDIR(st.st_mode) ? "directory" : "device");
	if (S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size > FILE_MAX_BYTES)
		return too_large(err);
	while ((length = fread(chunk, 1, CHUNK_BYTES, stream)) > 0) {
		if (ret->length + length > FILE_MAX_BYTES)
			return too_large(err);
		text_add_bytes(ret, chunk, length);
	}
	return ferror(stream) ? err_errno(err, -errno, "reading") : 0;
}

int import_load(struct imported *ret, const char *path, struct err *err)
{
	const bool is_stdin = strcmp(path, "-") == 0;
	DEFER(defer_fclose) FILE *opened = is_stdin ? NULL : fopen(path, "re");
	struct text text = TEXT_INIT;
	int r;

	if (!is_stdin && !opened)
		return err_errno(err, -errno, "%s", path);
	r = read_all(is_stdin ? stdin : opened, &text, err);
	if (r < 0)
		err_wrap(err, "%s", path);
	else
		r = import_parse(ret, is_stdin ? "standard input" : path, text_string(&text),
				 text.length, err);
	text_done(&text);
	return r;
}
