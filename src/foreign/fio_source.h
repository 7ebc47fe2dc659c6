/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio_source - the text of job files and command lines: sections of assignments, each with its
 * place, after includes, ${ENVIRONMENT} and $keywords. What the assignments mean is not known
 * here (fio_table.h).
 *
 * Ownership: fio_source_done gives everything back; texts are borrowed from it until then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "foreign/place.h"

#define FIO_FILE_BYTES_MAX (4u << 20)
#define FIO_INCLUDE_DEPTH 16
#define FIO_LINES_MAX 200000

enum fio_thing {
	FIO_NOTHING,
	FIO_FILE,
	FIO_DIRECTORY,
	FIO_DEVICE,	  /* a block device */
	FIO_ZONED_DEVICE, /* one whose zones must be written in order */
	FIO_CHAR_DEVICE,
	FIO_OTHER,
};

/* What a job file asks about the machine it is read on. */
struct fio_world {
	void *ctx;
	/* The whole file; "-" is standard input. -EFBIG beyond bytes_max. */
	int (*read)(void *ctx, const char *path, size_t bytes_max, struct text *ret,
		    struct err *err);
	const char *(*environment)(void *ctx, const char *name);
	/* Without opening it; *ret_bytes is 0 where the size cannot be known. */
	enum fio_thing (*look)(void *ctx, const char *path, uint64_t *ret_bytes);
	/* The CPUs of a NUMA node as "0-3,8"; -ENOENT where there is no such node. */
	int (*node_cpus)(void *ctx, uint32_t node, char *list, size_t list_bytes);
	uint64_t page_bytes, memory_mb, cpu_count;
};
void fio_world_real(struct fio_world *ret);

struct fio_assignment {
	char *name;	    /* owned; "include" never */
	char *value;	    /* owned; NULL for a bare name */
	bool computed;	    /* held a keyword: arithmetic without parentheses */
	struct place place; /* of the name; file borrowed from the source */
	uint32_t value_column;
};

struct fio_section {
	char *name;	  /* owned */
	bool global;	  /* defaults for what stands below it in its file */
	bool begins_file; /* the first job of a file behind another */
	bool skipped;	  /* --section names others */
	struct place place;
	struct fio_assignment *items; /* owned */
	size_t count;
};

/* Sentences, in the order they were met; one said twice is kept once. */
struct fio_remarks {
	char **texts; /* owned */
	size_t count;
};
#define FIO_REMARKS_MAX 200
void fio_remark(struct fio_remarks *remarks, const struct place *place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void fio_remarks_done(struct fio_remarks *remarks);

struct fio_source {
	const struct fio_world *world;
	struct fio_section *sections; /* owned */
	size_t section_count;
	char **files; /* owned names of files */
	size_t file_count;
	uint32_t line_count;
	struct fio_remarks *problems, *notes; /* borrowed */
};

void fio_source_done(struct fio_source *source);
struct fio_section *fio_source_add(struct fio_source *source, const char *name,
				   const struct place *place);
void fio_source_assign(struct fio_source *source, struct fio_section *section,
		       const struct fio_assignment *item, const char *name, const char *value);

/* Appends a job file's sections; what is wrong becomes problems. */
void fio_source_read(struct fio_source *source, const char *path);
