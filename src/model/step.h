/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * step - what a drive is put through between measurements: the nouns of the state. Plain data,
 * declared once in the field tables of step_rows; state/ does them.
 *
 * In a plan a step is a phase ("- fill: { times: 2 }"); on the command line a word
 * ("fill:times=2"). Both spellings have a short one: the value of the row's main field alone
 * ("- fill: 2", "fill=2"), or nothing ("- trim:", "trim").
 */

#include "model/field.h"
#include "model/workload.h"

enum step_kind {
	STEP_PURGE,
	STEP_FILL,
	STEP_DIRTY,
	STEP_DELETE,	/* what earlier dirtying left, without a discard */
	STEP_TRIM,
	STEP_SETTLE,
	STEP_REST,	/* no I/O; "idle" in a plan, which also knows "idle: 5s" */
	STEP_KINDS,
};

enum purge_method {
	PURGE_AUTO,		/* what leaves least behind and is safe here: see state/purge.h */
	PURGE_DISCARD,		/* BLKDISCARD of the whole; hole punching of a file */
	PURGE_ZERO,		/* BLKZEROOUT; zero range of a file */
	PURGE_NVME_FORMAT,	/* user data erase */
	PURGE_NVME_FORMAT_CRYPTO,
	PURGE_NVME_SANITIZE_BLOCK,
	PURGE_NVME_SANITIZE_CRYPTO,
	PURGE_ATA_ERASE,
	PURGE_ATA_ERASE_ENHANCED,
	PURGE_ATA_SANITIZE_BLOCK,
	PURGE_ATA_SANITIZE_CRYPTO,
	PURGE_SIM,		/* the reference drive's own */
	PURGE_METHODS,
};
extern const char *const purge_method_names[];	/* as written; NULL-terminated */

struct step_purge {
	uint32_t method;		/* enum purge_method */
};

struct step_fill {
	uint32_t order;			/* enum fill_order */
	struct amount offset, size;	/* of the range; zero = the target's rest */
	uint64_t times_ppm;		/* of the range's length: 2000000 = twice */
	uint64_t block_bytes;
	uint32_t depth_count;
	uint64_t seed;			/* 0 = the runner's */
};
enum fill_order { FILL_SEQUENTIAL, FILL_RANDOM };

enum dirty_by { DIRTY_FILES, DIRTY_RANDOM, DIRTY_AGING };
enum dirty_preset {
	DIRTY_NO_PRESET,
	DIRTY_TECHGAGE,		/* 43,000 files in 92.5 %, deleted; 149,982 in 80 %, deleted; twice */
	DIRTY_OFFICE,
	DIRTY_MAIL,
	DIRTY_BROWSER_CACHE,
	DIRTY_PHOTOS,
};

struct step_dirty {
	uint32_t by;			/* enum dirty_by */

	/* by files, in a directory; on a bare drive as a file system would place them */
	uint32_t preset;		/* enum dirty_preset */
	char from[4096];		/* a tree to copy in place of making one; "" */
	uint64_t file_count;		/* 0 = as the preset says, scaled */
	uint64_t spread_ppm;		/* sigma of the log-normal sizes: 1000000 = 1 */
	uint32_t per_directory_count;	/* files in a directory */
	uint32_t deep_count;		/* levels of directories */
	uint32_t round_count;		/* make, delete: how often; 0 = as the preset says */
	uint32_t delete_ppm;		/* share of files deleted after each round */
	uint32_t thread_count;		/* 0 = as many as do best: see state/tree.h */

	/* by random writes */
	struct amount offset, size;	/* range; on a bare drive the files' as well */
	uint64_t block_bytes;
	struct size_mix size_mix;	/* count 0 = block_bytes alone */
	uint32_t depth_count;

	/* by aging */
	uint32_t level_ppm;		/* how full the file system becomes */
	uint64_t churn_ppm;		/* written then, of what was filled: 1000000 = once over */

	/*
	 * Written in all: random, of the range; files, of the free space. Zero = the range once;
	 * files: 25 % or as the preset says.
	 */
	struct amount amount;
	uint64_t seed;
};

struct step_trim {
	struct amount offset, size;	/* zero = everything that is free */
	uint64_t piece_bytes;		/* of one request; 0 = as large as may be */
	uint64_t every_bytes;		/* from start to start; 0 = piece_bytes: without gaps */
};

enum settle_rule { SETTLE_SNIA, SETTLE_LEVEL };
struct step_settle {
	uint32_t rule;			/* enum settle_rule */
	uint32_t rw;			/* enum workload_rw: what is done until it is steady */
	uint64_t block_bytes;
	uint32_t depth_count;
	struct amount offset, size;
	uint64_t round_ns;
	uint32_t round_count_max;	/* then "not reached" */
	uint64_t seed;
};

struct step_rest {
	uint64_t time_ns;		/* 0 = only until recovered */
	bool until_recovered;		/* or until write speed no longer rises, probed each interval */
	uint64_t limit_ns;		/* of waiting for that */
	uint64_t interval_ns;
};

struct step {
	enum step_kind kind;
	union {
		struct step_purge purge;
		struct step_fill fill;
		struct step_dirty dirty;
		struct step_trim trim;
		struct step_settle settle;
		struct step_rest rest;
	};
};

struct step_row {
	const char *name;		/* "fill" */
	const char *help;		/* one line, no full stop */
	const struct field *fields;	/* over struct step */
	const char *main_field;		/* what a value alone sets; NULL = none */
};
extern const struct step_row step_rows[STEP_KINDS];

/* Whether it changes data; resting does only when it probes, settling unless it reads. */
bool step_writes(const struct step *step);

/* Presets of the kind. */
void step_init(struct step *step, enum step_kind kind);

/* Impossible combinations, each named in one sentence; needs no target. */
int step_check(const struct step *step, struct err *err);

/* "fill:times=2,bs=128k", "fill=2", "trim". Sentences name the step; *ret untouched on failure. */
int step_parse(const char *word, struct step *ret, struct err *err);
/* step_parse takes it back, unless a path has a comma in it; presets are left out. */
void step_print(const struct step *step, struct text *ret);
