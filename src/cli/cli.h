/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * cli - argv to what is to be done. A verb is a row of data and one function; its options
 * are field tables (model/field.h) over struct invocation, so that parser, help, completion
 * and manual are loops over the same rows.
 *
 * A verb's file:
 *
 *	static int check_run(struct invocation *inv) { ... return exit_of_result(&result); }
 *	const struct verb verb_check = { .name = "check", ..., .run = check_run };
 *
 * and one line in verbs[] (verbs.c). Results go to stdout, all else to stderr; errors go
 * through invocation_fail. Only main() exits.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/exit.h"
#include "model/field.h"
#include "model/plan.h"
#include "model/workload.h"
#include "report/report.h"

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
enum progress_mode { PROGRESS_AUTO, PROGRESS_PLAIN, PROGRESS_NONE };

enum positional {
	POSITIONAL_NONE,
	POSITIONAL_TARGET,	/* into target; [PATH|DEVICE] */
	POSITIONAL_PLAN_TARGET,	/* [PLAN.yaml] [TARGET], into plan_path and target */
	POSITIONAL_TOPIC,	/* one word, into topic */
	POSITIONAL_WORDS,	/* a few words that the verb judges, into words */
	/*
	 * Another tool's command line: options of the verb's own tables are taken wherever they
	 * stand, everything else goes as it is into foreign_words.
	 */
	POSITIONAL_FOREIGN,
};

#define INVOCATION_WORDS 3
#define FOREIGN_WORDS 1024
#define FOREIGN_MAPS 64

struct verb;

/* The parsed command line. Plain data; nothing to free. */
struct invocation {
	const struct verb *verb;
	char command[1024];		/* as it was typed, for the result */

	/* every verb */
	bool json;			/* one document on stdout, also on error */
	uint32_t color;			/* enum color_mode */
	uint32_t progress;		/* enum progress_mode */
	bool plain;			/* one fact per line */
	bool help;

	/* check, run */
	bool erase_data;		/* given; then erase_serial, or "" = ask on the terminal */
	char erase_serial[1024];	/* one, or several with commas */
	char expendable[4096];		/* an existing file that may be overwritten; "" */
	char target[4096];		/* "" when not given */

	/* check */
	bool quick, is_long;
	uint64_t test_file_bytes;	/* 0 = sensible */

	/* run */
	bool print_plan;		/* done by main: a verb never sees it set */
	char plan_path[4096];		/* "" when the workload comes from flags */
	struct workload workload;
	field_bits workload_seen;	/* rows of workload_fields that were given */

	/* run, replay: a new file for what each request did; "" */
	char record[4096];

	/* replay, whose options are in workload; 0 = its own depth */
	uint32_t replay_depth_count;

	/* record */
	uint64_t record_ns;

	/* precondition */
	char steps[2048];

	/* help, completion */
	char topic[64];

	/* sim */
	char words[INVOCATION_WORDS][4096];
	uint32_t word_count;
	bool loop;
	bool log;
	char lba[64];			/* "0-99"; "" when not given */

	/* fio, iozone, ...; borrowed from argv */
	const char *foreign_words[FOREIGN_WORDS];	/* print_plan is for these verbs to heed */
	uint32_t foreign_count;
	bool foreign_exact;		/* the other tool's own way, not tare's defaults */
	struct {			/* --map NAME=PATH, as given */
		const char *words[FOREIGN_MAPS];
		uint32_t count;
	} foreign_maps;

	/* protocol; size is test_file_bytes */
	bool forecast, resume;
	uint64_t idle_ns;		/* 0 = the protocol's own */
	uint32_t cycle_count;
	uint64_t protocol_seed, cell_ns;
	bool client;
	uint32_t active_ppm;
	uint64_t active_bytes;

	/* iometer; size is test_file_bytes, time and depth those of workload */
	char spec_name[128], results_path[4096];
	uint64_t time_ns, ramp_time_ns;
	bool has_ramp;
	uint32_t depth;
	bool list_specs;

	/* trim */
	bool deep, all_mounts, watch;
	uint32_t accept;		/* 1 = partial */
};

struct example {
	const char *command;	/* without "tare " */
	const char *help;
};

#define VERB_TABLES 4
#define VERB_EXAMPLES 6

struct verb {
	const char *name;	/* "" = tare without a verb */
	const char *summary;	/* one line, no full stop */
	const char *description;/* paragraphs for `tare help VERB` and the manual; NULL */
	enum positional positional;
	const char *operands;	/* "[PATH|DEVICE]", for usage; NULL */
	const struct field *tables[VERB_TABLES];	/* over struct invocation; NULL ends */
	bool takes_workload;				/* and workload_fields */
	/* POSITIONAL_TOPIC, and the first of POSITIONAL_WORDS: what may follow; NULL = any */
	const char *const *topics;
	struct example examples[VERB_EXAMPLES];		/* three at least; command NULL ends */
	int (*run)(struct invocation *inv);		/* returns an enum exit_code */
};

/* NULL-terminated, in the order help lists them. */
extern const struct verb *const verbs[];
const struct verb *verb_find(const char *name);	/* NULL when there is none */

/* Option tables over struct invocation, to be named in verb.tables. */
extern const struct field common_fields[];	/* every verb has them; not to be named */
extern const struct field consent_fields[];	/* --erase-data, --expendable */
extern const struct field erase_fields[];	/* --erase-data alone */
extern const struct field check_fields[];	/* --quick, --long, --size */
extern const struct field foreign_fields[];	/* --exact, --print-plan */
extern const struct field run_fields[];		/* --filename, --print-plan */

/* What is wrong with a command line, all of it. */
#define PROBLEMS 32
struct problems {
	size_t count;		/* may be more than are kept */
	char texts[PROBLEMS][512];
};

/*
 * 0, or -EINVAL with the problems. Looks at the file system only by stat(): nothing is
 * opened. ret is valid in both cases (json, verb as far as known).
 */
int args_parse(struct invocation *ret, int argc, const char *const *argv,
	       struct problems *problems);

/* Prints the problems (stderr, or one JSON document on stdout) and returns EXIT_USAGE. */
int args_fail(const struct invocation *inv, const struct problems *problems);

/*
 * The plan of a `run`: the file's, or one phase from the flags; checked. A target on the
 * command line goes before the file's. plan_done is the caller's when it is 0.
 */
int invocation_plan(const struct invocation *inv, struct plan *ret, struct err *err);

/* How stdout wants its text: colour, width, character set. */
void invocation_style(const struct invocation *inv, struct report_style *ret);

/*
 * "tare: SENTENCE" and the hint on stderr, or { "error": { "code", "message", "hint" } } on
 * stdout with --json. Returns exit_code.
 */
int invocation_fail(const struct invocation *inv, int exit_code, const struct err *err);

/* Results on stdout, flushed: EXIT_DONE, or EXIT_INTERNAL when stdout cannot take them. */
int print_text(const struct invocation *inv, const struct text *text);

/* A plan as YAML: what a command line in another tool's language amounts to. */
int print_plan(const struct invocation *inv, const struct plan *plan);

/* As print_text, of what is text by nature: "help", "plan", "script"; a document with --json. */
int print_words(const struct invocation *inv, const char *kind, const struct text *words);
