/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio_options - every option a fio job may have: one row each in fio_rows, with its name, its
 * type, and whether tare does what it says. What is done lands in struct fio_options_of_job.
 *
 * Ownership: texts are borrowed from the source; the struct is plain data and copied to
 * inherit what [global] said.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foreign/fio_source.h"
#include "foreign/fio_value.h"
#include "model/workload.h"

enum fio_class {
	FIO_DONE,    /* honoured */
	FIO_NOTED,   /* has no effect here; text says why */
	FIO_REFUSED, /* text says what to do instead; the neutral value is no matter */
	FIO_FOREIGN, /* belongs to engines that tare has not: text names them */
	FIO_COMMAND, /* of the command line only */
};

enum fio_type {
	FIO_TEXT,   /* const char * */
	FIO_FLAG,   /* bool; bare, or 0 or 1 */
	FIO_BOOL,   /* bool; 0 or 1 */
	FIO_INT,    /* uint64_t */
	FIO_BYTES,  /* uint64_t */
	FIO_BYTES3, /* uint64_t[3]: read, write, trim */
	FIO_TIME_S, /* uint64_t ns; bare in seconds */
	FIO_TIME_MS,
	FIO_TIME_US,
	FIO_TIME3_US, /* uint64_t[3] */
	FIO_PERCENT,  /* uint64_t, 0 to 100 */
	FIO_PERCENT3,
	FIO_REAL,   /* double */
	FIO_AMOUNT, /* struct fio_amount */
	FIO_CHOICE, /* uint32_t, index into choices */
	FIO_CUSTOM, /* by parse */
};

#define FIO_ROWS_MAX 512

/* How sizes of one direction are drawn. */
struct fio_sizes {
	uint64_t bytes;			/* bs */
	uint64_t low_bytes, high_bytes; /* bsrange; 0 = none */
	struct size_mix split;		/* bssplit; count 0 = none */
};

struct fio_job_options {
	/* in the order of fio_rows */
	const char *name, *description, *wait_for;
	const char *filename, *directory, *filename_format;
	uint32_t rw; /* enum workload_rw */
	bool trimwrite;
	int64_t rw_number; /* behind the colon; 0 = none */
	struct fio_sizes sizes[FIO_DIRECTIONS];
	uint64_t align[FIO_DIRECTIONS];
	bool bs_unaligned;
	bool randrepeat, norandommap, allrandrepeat;
	uint64_t randseed;
	uint32_t rw_sequencer;
	const char *ioengine;
	uint64_t iodepth, iodepth_batch, iodepth_complete_min, iodepth_complete_max, iodepth_low;
	struct fio_amount size, io_size, offset, offset_increment;
	bool fill_device;
	uint64_t filesize[2]; /* range; equal when it is none */
	uint64_t offset_align, number_ios;
	struct distribution distribution;
	uint64_t percentage_random[FIO_DIRECTIONS];
	uint64_t nrfiles;
	uint32_t file_service;	     /* 0 roundrobin, 1 random, 2 sequential */
	uint64_t file_service_count; /* requests before the next file */
	uint32_t fallocate;
	uint64_t fsync, fdatasync;
	bool direct, overwrite;
	uint32_t sync; /* enum workload_sync */
	uint64_t loops, numjobs;
	uint64_t startdelay_ns[2]; /* range */
	uint64_t runtime_ns, ramp_ns;
	bool time_based, verify_only;
	uint32_t verify; /* index in fio_verify_kinds; 0 = none */
	bool do_verify, verify_fatal, experimental_verify;
	const char *verify_pattern;
	uint64_t verify_backlog;
	const char *read_iolog, *write_iolog, *replay_redirect;
	bool replay_no_stall;
	uint64_t replay_scale, replay_time_scale, replay_align;
	uint32_t replay_skip; /* a bit per enum trace_op */
	uint32_t zonemode; /* 0 none, 1 strided, 2 zbd */
	struct fio_amount zoneskip;
	uint64_t zonesize, zonerange;
	uint64_t rwmixread;
	uint64_t thinktime_ns, thinktime_spin_ns, thinktime_blocks;
	uint64_t rate[FIO_DIRECTIONS], rate_iops[FIO_DIRECTIONS];
	uint32_t rate_process; /* enum workload_arrival */
	uint64_t max_latency_ns[FIO_DIRECTIONS];
	uint64_t latency_target_ns, latency_window_ns;
	double latency_percentile;
	bool latency_run;
	bool invalidate;
	bool create_only, pre_read;
	const char *cpus_allowed, *numa_nodes;
	char cpus[64];	      /* of cpumask or cpus_allowed */
	uint32_t cpus_policy; /* 0 shared, 1 split */
	bool end_fsync, fsync_on_close, unlink;
	bool exitall, exitall_on_error;
	uint32_t exit_what; /* 0 group, 1 stonewall, 2 all */
	bool stonewall, new_group, group_reporting;
	const char *write_bw_log, *write_lat_log, *write_iops_log;
	bool per_job_logs, log_offset;
	uint64_t log_avg_ms;
	bool zero_buffers, refill_buffers;
	const char *buffer_pattern;
	uint64_t compress_percent, dedupe_percent;
	bool clat_percentiles, lat_percentiles, slat_percentiles;
	double percentiles[20];
	uint32_t percentile_count;
	bool disk_util, disable_lat, disable_clat, disable_slat;
	uint32_t unified_rw;
	uint32_t continue_on_error; /* 0 none */
	uint32_t kb_base, unit_base;
	int64_t flow;
	uint64_t flow_id;
	const char *steadystate;

	bool bsrange_given; /* beats bs, in any order */
	/* The last assignment of each row, NULL = none; index as in fio_rows. */
	const struct fio_assignment *given[FIO_ROWS_MAX];
};

struct fio_setting { /* one assignment being taken */
	const struct fio_row *row;
	struct fio_job_options *options;
	const char *value;
	struct fio_remarks *notes; /* for what is taken but odd */
	const struct place *place;
	struct err *err;
};

struct fio_row {
	const char *name;
	const char *alias; /* a second name, or NULL */
	enum fio_type type;
	enum fio_class class;
	size_t offset;
	const char *text;
	const char *const *choices; /* NULL-terminated */
	const char *neutral;	    /* FIO_REFUSED: the value that asks for nothing */
	uint64_t min, max;	    /* FIO_INT and sizes; max 0 = no limit */
	int (*parse)(struct fio_setting *setting);
};

/* name NULL ends. */
extern const struct fio_row fio_rows[];
const struct fio_row *fio_row_find(const char *name); /* by name or alias; NULL */
const char *fio_row_nearest(const char *name);	      /* NULL when none is near */

extern const char *const fio_verify_kinds[];
extern const char *const fio_engines[]; /* those that are taken; NULL ends */

/* Where the option was given, by the row's name; NULL when it was not. */
const struct fio_assignment *fio_options_given(const struct fio_job_options *options,
					       const char *name);

void fio_options_preset(struct fio_job_options *ret);

/* Sets what the assignment says. 0, or a sentence that names the option. */
int fio_options_set(struct fio_job_options *options, const struct fio_row *row,
		    const struct fio_assignment *item, struct fio_remarks *notes, struct err *err);
