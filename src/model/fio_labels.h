/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio_labels - what a fio job file says that no workload can hold, and that its reader expects
 * back in the output: names, groups, options as written. foreign/fio fills it beside the plan;
 * report/fio_* prints results by it. Plain data.
 *
 * One entry per measuring phase of the plan, in its order: a clone of a job (numjobs) is a
 * measurement of its own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fio_option {
	char *name, *value;		/* owned; aliases resolved; value "1" for a flag */
};

struct fio_options {
	struct fio_option *items;	/* owned */
	size_t count;
};

struct fio_job {
	char *name;			/* owned; of the section */
	char *description;		/* owned; NULL */
	uint32_t clone_index;		/* 0 .. numjobs - 1 */
	uint32_t thread_number;		/* over all jobs, from 1: numbers the log files */
	uint32_t group_id;		/* reporting group */
	bool group_reporting;		/* all clones and jobs of the group in one entry */
	uint32_t unified;		/* unified_rw_reporting: 0 none, 1 mixed, 2 both */
	bool slat, clat, lat;		/* not disabled */
	bool clat_percentiles, lat_percentiles, slat_percentiles;
	double percentiles[20];		/* ascending; count 0 = fio's list */
	uint32_t percentile_count;
	bool continue_on_error;
	uint32_t kb_base, unit_base;	/* 1024 or 1000; 0, 1 (bits) or 8 */
	char *write_bw_log, *write_iops_log, *write_lat_log;	/* owned prefixes; NULL = none */
	char *write_iolog;		/* owned; the file that takes its requests; NULL = none */
	char *iolog_name;		/* owned; what its target is called there */
	uint64_t log_avg_ms;
	bool per_job_logs;
	bool log_offset;
	bool steadystate;
	char *steadystate_text;		/* owned; "iops:10.000000%" */
	struct fio_options options;	/* of its own section, as written */
};

enum fio_output { FIO_NORMAL = 1, FIO_JSON = 2, FIO_JSON_PLUS = 4, FIO_TERSE = 8 };

struct fio_labels {
	struct fio_options global;	/* "global options" */
	struct fio_job *jobs;		/* owned */
	size_t job_count;
	uint32_t outputs;		/* of enum fio_output */
	uint32_t terse_version;		/* 2 to 5; 3 */
	bool disk_util;
	char **notes;			/* owned sentences: what is not done literally, what has no effect */
	size_t note_count;
};

void fio_labels_done(struct fio_labels *labels);	/* accepts a zeroed one */
struct fio_job *fio_labels_add(struct fio_labels *labels);	/* zeroed */
void fio_labels_note(struct fio_labels *labels, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void fio_options_add(struct fio_options *options, const char *name, const char *value);
const char *fio_options_get(const struct fio_options *options, const char *name);	/* the last; NULL */
