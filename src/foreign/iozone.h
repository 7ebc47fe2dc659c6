/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * iozone - the command line of iozone 3.508, and the plan it amounts to. Stricter than the
 * original, which guesses: an unknown suffix, test number or operand is a problem, and all
 * problems are told at once.
 *
 *	iozone_parse(&command, words, count)	words behind "iozone", borrowed
 *	iozone_translate(...)			plan and sheet: initialised, filled
 *	iozone_command_done(&command)
 *
 * Nothing is opened but the list of names of -+R.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/iozone.h"
#include "model/plan.h"

#define IOZONE_LIST 64
#define IOZONE_STREAMS 1024
#define IOZONE_PROBLEMS 16

enum iozone_dedupe {
	IOZONE_DEDUPE_ACROSS = 1,	/* -+w */
	IOZONE_DEDUPE_BOTH,		/* -+y */
	IOZONE_DEDUPE_WITHIN,		/* -+C */
};

struct iozone_command {
	bool help, version;		/* -h, -v: nothing else counts */

	/* the matrix; sizes in kB, 0 = not given */
	bool auto_sweep, obsolete, no_cross_over;	/* -a -A -z */
	uint64_t file_kb[IOZONE_LIST], record_kb[IOZONE_LIST];	/* -s -r */
	uint32_t file_count, record_count;
	uint64_t file_min_kb, file_max_kb, record_min_kb, record_max_kb;	/* -n -g -y -q */
	uint32_t multiplier;		/* -+x */

	/* the tests */
	uint32_t tests;			/* bit per -i; 0 = all */
	bool extended, no_retest;	/* -E -+n */
	uint32_t stride_records;	/* -j */
	bool sequential_mix;		/* -+B */
	uint32_t mix_percent, mix_readers;	/* -+p -+K */

	/* the files */
	const char *file;		/* -f */
	const char *names[IOZONE_STREAMS];	/* -F, -+R */
	uint32_t name_count;
	char *name_list;		/* owned: what -+R's names lie in */
	bool keep, reads_only;		/* -w -+E */

	/* the streams */
	uint32_t streams[IOZONE_LIST];	/* -t */
	uint32_t round_count;
	uint32_t stream_min, stream_max;	/* -l -u */
	bool threads, no_stonewall, per_stream, divide;	/* -T -x -C -+k */
	uint32_t release_us;		/* -d */

	/* how */
	bool direct, flush, close, full_sync, data_sync;	/* -I -e -c -o -+D */
	bool mapped, sync_each;		/* -B -G */
	uint32_t depth;			/* -H -k */
	uint32_t delay_ms;		/* -J */
	bool delay_counts;		/* -+J */
	uint64_t burst_kb;		/* -+b */
	uint32_t burst_ms;
	uint32_t rate;			/* -+O */
	uint32_t rest_s;		/* -+q */
	bool bind;			/* -P */
	uint32_t cpu_first;

	/* the data */
	bool verify, diagnose;		/* -V -+d */
	enum iozone_dedupe dedupe;
	uint32_t dedupe_percent, zero_percent;	/* -+w -+y -+C, -+a */
	uint32_t dedupe_set;		/* -+S */

	/* the output */
	bool ops, microseconds, excel;	/* -O -N -R */
	const char *book;		/* -b */
	uint32_t cache_kb, cache_line_bytes;	/* -S -L */

	struct text words;		/* as they were given, behind "iozone" */
	struct text option_lines;	/* as the banner shows them */
	struct text notes;		/* sentences, each with its newline */
	uint32_t problem_count;		/* may be more than are kept */
	int original_code;		/* iozone's own exit code for the first it had one for; 0 */
	char problems[IOZONE_PROBLEMS][320];
};

/* 0, or -EINVAL with the problems. To be given to iozone_command_done in both cases. */
int iozone_parse(struct iozone_command *ret, const char *const *words, size_t count);
void iozone_command_done(struct iozone_command *command);

void iozone_problem(struct iozone_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, where the original exits with a code of its own. */
void iozone_problem_as(struct iozone_command *command, int original_code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool iozone_is_throughput(const struct iozone_command *command);
bool iozone_is_auto(const struct iozone_command *command);
bool iozone_writes(const struct iozone_command *command);

/* iozone_sweep.c: the rows of the table, and the records of its sweep; rounds in throughput mode. */
void iozone_rows(const struct iozone_command *command, struct iozone_sheet *sheet);
/* Smallest file and largest record that the sweep would use, for the checks. */
uint64_t iozone_smallest_file_kb(const struct iozone_command *command);
uint64_t iozone_smallest_record_kb(const struct iozone_command *command);

/* What a path leads to, as the caller found by stat(). */
enum iozone_place {
	IOZONE_ABSENT,		/* nothing; its directory is there */
	IOZONE_FILE,
	IOZONE_EXPENDABLE,	/* a file that may be overwritten */
	IOZONE_DIRECTORY,
	IOZONE_TARGET,		/* a device, or a target of tare's ("sim:...") */
	IOZONE_LOST,		/* its directory is not there either */
};

struct iozone_setting {
	bool exact;		/* iozone's own caching, data and timing */
	const char *filter;	/* of all workloads (struct workload); NULL = none */
	const char *directory;	/* absolute: where relative names start; NULL = not told */
	enum iozone_place (*look)(void *ctx, const char *path);
	void *look_ctx;
};

/*
 * ret and sheet are initialised by the call and the caller's to give back in either case.
 * -EINVAL with a sentence for files that cannot be.
 */
int iozone_translate(const struct iozone_command *command, const struct iozone_setting *setting,
		     struct plan *ret, struct iozone_sheet *sheet, struct err *err);

/*
 * What is left to do of a row, as a plan of its own with that row's targets: cells that are
 * not done, but for passes in skip (bit per pass). Returns how many; their indices, in the
 * order of the measurements, in ret_cells, which has room for all of the sheet's. ret is
 * initialised by the call.
 */
size_t iozone_slice(const struct plan *plan, const struct iozone_sheet *sheet, uint32_t row,
		    uint32_t skip, struct plan *ret, size_t *ret_cells);
