/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio - a result as fio 3.33 prints it, so that what reads fio's output reads tare's. Pure.
 *
 * Where tare knows better or not at all, fio's keys hold:
 *
 *	clat_ns		submission to completion ("service"); the percentiles are of it
 *	lat_ns		the same; of an open loop (rates) from the intended start
 *	slat_ns		N 0: tare reads the clock once a batch, so it is not measured
 *	stddev		from the histogram, within 1 % of the values
 *	percentile, bins	from tare's histogram: 1.6 % wide buckets
 *	bw_*, iops_*	samples of a second (fio: 500 ms); of a shorter rest when it is 500 ms long
 *	runtime		ms, but bw and iops are of the exact time
 *	short_ios, drop_ios	0: a short transfer is an error and ends the job
 *	error		errno of the first failure
 *	read		also what verify reads back after the writing
 *	sync.total_ios	fdatasyncs too
 *	eta		0
 *	"fio version"	"fio-3.33-compat tare VERSION"
 *
 * "job options" also holds rw, bs, iodepth, numjobs, ioengine, direct and size where the job
 * file left them to their presets, because readers look for them there. The one key that is
 * not fio's is "tare", last in the document: notes, and the result as report_json writes it,
 * without histograms and seconds.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "model/fio_labels.h"
#include "model/plan.h"
#include "model/result.h"

struct recording;	/* model/recording.h */

struct report_fio {
	const struct result *result;
	const struct fio_labels *labels;	/* job i is measurement i */
	uint64_t ended_unix_ms;			/* the time of day when it was done */
	int pid;				/* printed by the normal format */
	struct recording *recording;		/* for logs that need one; NULL */
};

/*
 * All formats of labels.outputs in fio's order: terse, JSON, normal. Where nothing was run, JSON
 * alone: a reader of it gets a document whatever happened.
 */
#define FIO_ANY_JSON (FIO_JSON | FIO_JSON_PLUS)
void report_fio(const struct report_fio *report, struct text *ret);

/*
 * What the normal format prints before a run: "name: (g=0): rw=read, bs=..., iodepth=1" of each
 * job section, the version, "Starting 4 threads".
 */
void report_fio_start(const struct plan *plan, const struct fio_labels *labels,
		      const char *version, struct text *ret);

/* One document with its newline; bins: as json+ has it. */
void report_fio_json(const struct report_fio *report, bool bins, struct text *ret);
/* For readers, laid out as fio's. */
void report_fio_normal(const struct report_fio *report, struct text *ret);
/* A line for each job or group, of labels.terse_version: 2 to 5. */
void report_fio_terse(const struct report_fio *report, struct text *ret);

/*
 * Log files PREFIX_bw.N.log, _iops, _lat, _clat, _slat (empty: not measured) with lines
 * "ms, value, direction, block size, priority": KiB/s, 1/s or ns; read 0, write 1, trim 2; N
 * counts clones from 1 over all jobs. Averages have block size 0 and end at the time they are
 * of; where nothing was done there is no line. Averages over whole seconds are the
 * measurements'; others, and logs of each request, are made from a recording.
 *
 * write gets whole files piece by piece: the first piece of a name makes the file, which is
 * empty where the piece is. 0 or a negative errno, which ends the writing.
 */
struct fio_log_writer {
	void *ctx;
	int (*write)(void *ctx, const char *name, bool first, const char *bytes, size_t length,
		     struct err *err);
};
/* Whether a log that is asked for needs a recording of the run. */
bool report_fio_logs_record(const struct fio_labels *labels);
/* The names of all that will be written, as long as look returns 0. */
int report_fio_log_names(const struct fio_labels *labels,
			 int (*look)(void *ctx, const char *name, struct err *err), void *ctx,
			 struct err *err);
int report_fio_logs(const struct report_fio *report, const struct fio_log_writer *writer,
		    struct err *err);
