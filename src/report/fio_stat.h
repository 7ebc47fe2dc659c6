/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio_stat - what fio's formats print in common: one entry per job, or per group where
 * group_reporting asks for it. Of a group, histograms, counts and CPU time are added,
 * runtime is the longest, rates of samples are added (least to least, most to most).
 *
 * Life cycle:	fio_stat_init -> fio_stat_done
 * Ownership:	borrows the report's result and labels; all else is its own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/fio.h"
#include "stats/histogram.h"

#define FIO_VERSION "fio-3.33-compat tare %s"	/* of result.version */

/* The first three are OP_READ, OP_WRITE, OP_TRIM; mixed is all of them together. */
enum { FIO_READ, FIO_WRITE, FIO_TRIM, FIO_MIXED, FIO_DIRECTIONS };
extern const char *const fio_direction_names[FIO_DIRECTIONS];

enum { FIO_UNIFIED_NONE, FIO_UNIFIED_MIXED, FIO_UNIFIED_BOTH };	/* fio_job.unified */

/* Depths 1, 2, 4, 8, 16, 32, >=64; batches up to 0, 4, 8, 16, 32, 64, and more. */
#define FIO_DEPTH_STEPS MEASUREMENT_STEPS

struct fio_samples {
	double min, max, mean, squares;		/* squares: sum of squared distances from the mean */
	uint64_t count;
};
double fio_samples_stddev(const struct fio_samples *samples);

struct fio_direction {
	uint64_t count, bytes, error_count;
	uint64_t runtime_ns;			/* the longest; 0 where nothing was done */
	struct histogram *clat, *lat;		/* owned; NULL where nothing was done */
	struct fio_samples bw, iops;		/* KiB/s, 1/s */
	double group_percent;			/* its bw samples' mean in the group's rate */
};

struct fio_entry {
	const struct fio_job *job;		/* the first */
	const struct measurement *first;
	uint32_t job_count;
	struct fio_direction directions[FIO_DIRECTIONS];
	uint64_t sync_count;
	struct histogram *sync;			/* owned; NULL */
	uint64_t runtime_ns;			/* sum */
	uint64_t elapsed_ns;			/* the longest, with its ramp */
	uint64_t user_ns, system_ns;
	uint64_t switch_count, major_fault_count, minor_fault_count;
	uint64_t depth_counts[FIO_DEPTH_STEPS], push_counts[FIO_DEPTH_STEPS];
	uint64_t reap_counts[FIO_DEPTH_STEPS];
	uint64_t error_count;
	int error;				/* errno of the first failure; 0 */
};

/* What the jobs of one reporting group did together in one direction. */
struct fio_group {
	uint64_t bytes;
	uint64_t runtime_min_ns, runtime_max_ns;
	double bw_min, bw_max;			/* B/s of its entries */
};

/* What the kernel counted for one device while jobs ran on it. */
struct fio_disk {
	const char *name;
	uint64_t read_count, write_count, read_merge_count, write_merge_count;
	uint64_t read_ms, write_ms, queue_ms, busy_ms;
	uint64_t elapsed_ns;			/* of what ran on it */
	double util_percent;
};

struct fio_stat {
	const struct report_fio *report;
	struct fio_entry *entries;		/* owned */
	size_t entry_count;
	struct fio_disk *disks;			/* owned; none where not asked for */
	size_t disk_count;
};

void fio_stat_init(struct fio_stat *stat, const struct report_fio *report);
void fio_stat_done(struct fio_stat *stat);

/* The sum of a group over its entries; all zero where nothing went that way. */
void fio_stat_group(const struct fio_stat *stat, uint32_t group_id, int direction,
		    struct fio_group *ret);

uint64_t fio_ms(uint64_t ns);		/* rounded; never 0 for what took some time */
double fio_percent(uint64_t part, uint64_t whole);		/* 0 of nothing */
double fio_per_second(uint64_t amount, uint64_t runtime_ns);	/* 0 for no time */
double fio_stddev_ns(const struct histogram *h);		/* of a sample; 0 below two */
uint64_t fio_bucket_ns(const struct histogram *h, uint32_t bucket);	/* what stands for it */

const char *fio_rw_name(uint32_t rw);		/* of enum workload_rw: "randread" */
const char *fio_engine_name(const char *engine);	/* of measurement.engine: "sync" is "psync" */

/* The percentiles to print, rising, in percent: the job's list or fio's 17. */
size_t fio_percentiles(const struct fio_job *job, const double **ret);
uint64_t fio_percentile_ns(const struct histogram *h, double percent);

/* fio's steps of latency. Shares in percent of all requests, by completion latency. */
#define FIO_NS_STEPS 10		/* up to 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 ns */
#define FIO_US_STEPS 10
#define FIO_MS_STEPS 12		/* ..., 2000, and above */
struct fio_latency_shares {
	double ns[FIO_NS_STEPS], us[FIO_US_STEPS], ms[FIO_MS_STEPS];
};
extern const uint32_t fio_latency_steps[FIO_MS_STEPS - 1];
/* What is not nothing is shown as something: a share below least as least. */
double fio_visible(double percent, double least);

/* counts in percent of their sum; all 0 where that is. */
void fio_shares(const uint64_t counts[FIO_DEPTH_STEPS], double ret[FIO_DEPTH_STEPS]);
void fio_latency_shares(const struct fio_entry *entry, struct fio_latency_shares *ret);

/*
 * fio_steady.c: the job's criterion (steadystate_text, "iops_slope:0.300000%") over the last whole
 * seconds of the run, as many as steadystate-duration says; init then done.
 */
struct fio_steady {
	bool of_iops, of_slope, percent;
	bool attained;
	double criterion;		/* in percent of the mean, or as it is */
	double deviation_max, slope;	/* of IOPS or B/s; slope per second */
	double iops_mean, bw_mean;
	double *iops, *bw;		/* owned; B/s */
	size_t count;
};
void fio_steady_init(struct fio_steady *steady, const struct fio_stat *stat,
		     const struct fio_entry *entry);
void fio_steady_done(struct fio_steady *steady);
