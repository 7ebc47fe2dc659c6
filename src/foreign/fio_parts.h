/* SPDX-License-Identifier: MIT */
#pragma once

/* fio_parts - what the files of the fio front end share, from words to a plan. */

#include "foreign/fio.h"
#include "foreign/fio_options.h"

#define FIO_JOBS_MAX 4096

/* The command line: its own options done, job files read, the rest as sections. */
struct fio_words {
	struct fio_source source;
	struct fio_section defaults; /* job options before any --name */
	char **only;		     /* --section; borrowed strings, owned list */
	uint32_t only_count;
	bool readonly;
};
void fio_words_read(const struct fio_request *request, struct fio_translation *t,
		    struct fio_words *ret);
void fio_words_done(struct fio_words *words);

/* A section that is a job, with all it inherits. */
struct fio_job_section {
	struct fio_job_options options;
	const struct fio_section *section;
	bool stonewall; /* waits for what is before it */
	bool flawed;	/* an option of it, or one it inherits, is wrong */
	uint32_t stage; /* jobs of one stage run together */
	uint32_t group_id;
};

struct fio_jobs {
	struct fio_job_section **items; /* owned */
	size_t count;
};

/* One file or device, and who uses it. */
struct fio_place {
	char *key; /* owned: all file names of the job, in their order */
	uint32_t target_index;
};

struct fio_builder {
	const struct fio_request *request;
	struct fio_translation *t;
	struct fio_words words;
	struct fio_jobs jobs;
	struct fio_place *places; /* owned */
	size_t place_count;
	uint32_t thread_count;
	uint32_t unknown_count; /* options of no known name */
	uint32_t unread_count;	/* jobs with a log that is not looked at now */
};

/* A problem or note of a job, at the place of the option by its row's name ("" = the section). */
void fio_problem(struct fio_builder *b, const struct fio_job_section *job, const char *option,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));
void fio_note(struct fio_builder *b, const struct fio_job_section *job, const char *option,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Without a place: a point on which all of tare differs. */
void fio_note_all(struct fio_builder *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The log that a clone replays, and the places its recorded names stand for. */
struct fio_replay {
	char *file;		   /* owned */
	const struct trace *trace; /* borrowed */
	struct fio_replay_place {
		char *path;	     /* owned */
		struct text streams; /* all names that go there, comma between */
	} *places;		     /* owned */
	size_t place_count;
};

/* One clone of a job on its way into the plan. */
struct fio_clone {
	struct fio_builder *b;
	const struct fio_job_section *job;
	uint32_t index;		   /* 0 .. numjobs - 1 */
	uint32_t thread_number;	   /* from 1 */
	bool reads, writes, trims; /* directions it has */
	uint64_t block_min_bytes, block_max_bytes;
	/* where: by fio_files_find */
	uint32_t target_index;
	uint64_t target_bytes; /* 0 = not known */
	bool ours;	       /* an unnamed test file */
	bool shared;	       /* an earlier job named the same */
	uint64_t file_count;
	char file_name[4096]; /* the first of them, as fio would call it */
	uint64_t offset_bytes, range_bytes; /* range 0 = the rest, not known */
	const struct fio_replay *replay;    /* NULL = its requests are drawn */
	size_t replay_index;		    /* of the place */
	struct workload *workload;
};

/* Each fills its part of clone->workload; what cannot be is a problem. */
void fio_set_pattern(struct fio_clone *clone); /* rw, sizes, addresses */
void fio_files_find(struct fio_clone *clone);  /* target, offset, size */
void fio_set_amount(struct fio_clone *clone);  /* how much, how long */
void fio_set_engine(struct fio_clone *clone);  /* engine, depth, durability, CPUs */
void fio_set_pace(struct fio_clone *clone);
void fio_set_data(struct fio_clone *clone); /* data and verify */
void fio_set_labels(struct fio_clone *clone);

/* read_iolog: false with a problem, or where the log is not looked at. */
bool fio_replay_find(struct fio_clone *clone, struct fio_replay *ret);
void fio_replay_done(struct fio_replay *replay);
void fio_set_replay(struct fio_clone *clone); /* what the log says, in place of pattern and files */

/* Of "a:b:c" the index-th, counted round; '\:' is a colon in a name. */
void fio_pick_name(const char *list, uint32_t index, struct text *ret);
/* The path that a recorded name stands for: of a map, or of the job's own files; false: none. */
bool fio_files_resolve(const struct fio_clone *clone, const char *name, struct text *ret);
/* The target at such a path, of which the log uses as much as the workload's size. */
void fio_files_use(struct fio_clone *clone, const char *path);
