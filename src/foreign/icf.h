/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * icf - IOMeter's configuration files, read and written: the test, access specifications,
 * managers with their workers and targets. All historical versions: by date or by number, with
 * six numbers a line (before 1998.05.21) or eight, with or without sections.
 *
 * What a file asks for is iometer.h's to translate; nothing here runs.
 *
 * Ownership: icf_parse fills, icf_done frees; done accepts a zeroed one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/workload.h"

#define ICF_NAME_BYTES 128

enum icf_record { ICF_ALL, ICF_NO_TARGETS, ICF_NO_WORKERS, ICF_NO_MANAGERS, ICF_NONE };
enum icf_test {
	ICF_NORMAL,
	ICF_CYCLE_TARGETS,
	ICF_CYCLE_WORKERS,
	ICF_INCREMENT_TARGETS_PARALLEL,
	ICF_INCREMENT_TARGETS_SERIAL,
	ICF_CYCLE_WORKERS_AND_TARGETS,
	ICF_CYCLE_OUTSTANDING_IOS,
	ICF_CYCLE_OUTSTANDING_IOS_AND_TARGETS,
};
enum icf_assignment { ICF_ASSIGN_NONE, ICF_ASSIGN_ALL, ICF_ASSIGN_DISK, ICF_ASSIGN_NET };
extern const char *const icf_record_names[], *const icf_test_names[], *const icf_assignment_names[];

struct icf_cycle {
	uint32_t start, end, step;	/* end: queue depth only */
	bool exponential;
};

struct icf_spec {
	char name[ICF_NAME_BYTES];
	uint32_t assignment;		/* enum icf_assignment */
	uint32_t line;			/* of the file, for sentences */
	struct access_lines lines;	/* weights sum to 100 */
};

struct icf_name {
	char text[ICF_NAME_BYTES];
	uint32_t line;
};

struct icf_worker {
	char name[ICF_NAME_BYTES];
	char type[32];			/* "DISK"; "NETWORK,TCP" */
	uint32_t line;
	uint32_t outstanding_count;
	bool tests_connections, has_seed;
	uint32_t transactions_per_connection;
	uint64_t seed;
	uint64_t max_sectors, start_sector;	/* of 512 bytes; max 0 = all from start on */
	uint32_t pattern;		/* 0 repeating bytes, 1 pseudo-random, 2 full random */
	struct icf_name *specs;		/* owned, in the order they are run; "Idle" = nothing */
	size_t spec_count;
	struct icf_name *targets;	/* owned */
	size_t target_count;
};

struct icf_manager {
	uint32_t id;
	char name[ICF_NAME_BYTES], address[ICF_NAME_BYTES];
	struct icf_worker *workers;	/* owned */
	size_t worker_count;
};

#define ICF_WARNINGS 16

struct icf {
	char version[32];		/* as written; "" = the file has none */
	bool has_setup, has_managers;
	char description[256];
	uint32_t run_s, ramp_s;
	uint32_t record, test;		/* enum icf_record, icf_test */
	char disk_workers[24], net_workers[24];	/* as written: a number or NUMBER_OF_CPUS */
	struct icf_cycle workers, targets, depth;
	struct icf_spec *specs;		/* owned */
	size_t spec_count;
	struct icf_manager *managers;	/* owned */
	size_t manager_count;
	char warnings[ICF_WARNINGS][256];	/* sentences, with file and line */
	size_t warning_count;
};

/* -EINVAL with "file:line: sentence"; ret is done then. text need not end in a newline or NUL. */
int icf_parse(struct icf *ret, const char *file, const char *text, size_t length, struct err *err);
/* -EFBIG beyond 16 MiB: no such file was written by a person or by IOMeter. */
int icf_load(struct icf *ret, const char *path, struct err *err);
/* In the newest layout; icf_parse takes it back to the same. */
void icf_print(const struct icf *icf, struct text *ret);
void icf_done(struct icf *icf);

/* By name, without case; NULL. */
const struct icf_spec *icf_find_spec(const struct icf *icf, const char *name);

/* The specifications built into IOMeter, by their names ("4 KiB; 25% Read; 0% random"). */
extern const size_t icf_canned_count;
const char *icf_canned_name(size_t index, char room[ICF_NAME_BYTES]);
bool icf_canned(const char *name, struct icf_spec *ret);
