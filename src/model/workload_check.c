/* SPDX-License-Identifier: MIT */
/* Which combinations of fields make no sense, whatever the target. */
#include <errno.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "model/workload.h"

/* As the user wrote an enumerated field: "randread". */
static const char *word(const char *name, uint32_t value)
{
	return field_find(workload_fields, name)->choices[value];
}

static int needs(const struct workload *w, const char *name, const char *what, struct err *err)
{
	return err_set(err, -EINVAL, "%s needs %s, not rw=%s", name, what, word("rw", w->rw));
}

static int needs_writes(const struct workload *w, const char *name, struct err *err)
{
	return err_set(err, -EINVAL, "%s needs writes, rw=%s has none", name, word("rw", w->rw));
}

/* Direct I/O wants multiples of the logical block, of which 512 is the smallest. */
static int check_direct(const struct workload *w, const char *name, uint64_t bytes,
			struct err *err)
{
	char text[UNITS_TEXT_BYTES];

	if (!w->direct || bytes % 512 == 0)
		return 0;
	return err_set(err, -EINVAL,
		       "%s=%s is not a multiple of 512, which direct I/O needs; write a multiple or "
		       "direct=0",
		       name, units_format_bytes(bytes, text));
}

static int check_size(const struct workload *w, const char *name, uint64_t bytes, struct err *err)
{
	char text[UNITS_TEXT_BYTES];

	units_format_bytes(bytes, text);
	if (w->verify && bytes % 512)
		return err_set(err, -EINVAL, "verify needs %s in multiples of 512, not %s", name,
			       text);
	if (w->size.bytes && bytes > w->size.bytes)
		return err_set(err, -EINVAL, "%s=%s is larger than size", name, text);
	return check_direct(w, name, bytes, err);
}

static int check_sizes(const struct workload *w, struct err *err)
{
	int r = 0;

	if (*w->trace)
		return 0;	/* its own: check_trace */
	if (w->size_mix.count && w->block_bytes != 4096)
		return err_set(err, -EINVAL, "bs and bssplit exclude each other");
	if (!w->size_mix.count)
		r = check_size(w, "bs", w->block_bytes, err);
	for (uint32_t i = 0; r == 0 && i < w->size_mix.count; i++)
		r = check_size(w, "bssplit", w->size_mix.sizes[i].bytes, err);
	for (uint32_t i = 0; r == 0 && i < w->write_mix.count; i++)
		r = check_size(w, "bssplit-write", w->write_mix.sizes[i].bytes, err);
	if (r == 0)
		r = check_direct(w, "blockalign", w->align_bytes, err);
	if (r == 0)
		r = check_direct(w, "offset", w->offset.bytes, err);
	if (r == 0)
		r = check_direct(w, "stride", w->stride_bytes, err);
	return r;
}

static int check_order(const struct workload *w, struct err *err)
{
	const bool random = workload_is_random(w);

	if (!random && w->distribution.kind != DISTRIBUTION_UNIFORM)
		return needs(w, "random-distribution", "a random rw", err);
	if (!random && w->repeat)
		return needs(w, "norandommap", "a random rw", err);
	if (!random && w->random_ppm != PPM)
		return needs(w, "percentage-random", "a random rw", err);
	if (random && w->stride_bytes)
		return needs(w, "stride", "a sequential rw", err);
	if (w->own_sequences && w->rw != RW_READWRITE)
		return needs(w, "own-sequences", "a sequential mix", err);
	if (random && w->backwards)
		return needs(w, "backwards", "a sequential rw", err);
	if (w->backwards && w->write_mix.count)
		return err_set(err, -EINVAL, "backwards takes one request size for reads and writes");
	if (w->backwards && w->size_mix.count > 1)
		return err_set(err, -EINVAL, "backwards takes one request size, not bssplit's %u",
			       w->size_mix.count);
	return 0;
}

/* Lines say what is asked and where; what else would say it is refused. */
static int check_lines(const struct workload *w, struct err *err)
{
	const struct {
		bool given;
		const char *name;
	} others[] = {
		{ w->size_mix.count > 0, "bssplit" },
		{ w->verify, "verify" },
		{ w->trim_ppm > 0, "rwmixtrim" },
		{ w->rate_iops > 0, "rate-iops" },
		{ w->think_ns > 0, "thinktime" },
		{ w->stride_bytes > 0, "stride" },
		{ w->backwards, "backwards" },
		{ w->segment_count > 0, "segments" },
		{ w->fsync_count > 0, "fsync" },
		{ w->fdatasync_count > 0, "fdatasync" },
		{ w->distribution.kind != DISTRIBUTION_UNIFORM, "random-distribution" },
	};

	if (!w->lines.count)
		return 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i].given)
			return err_set(err, -EINVAL, "access-lines and %s exclude each other",
				       others[i].name);
	}
	if (!w->runtime_ns && !w->io_size_bytes)
		return err_set(err, -EINVAL, "access-lines need a runtime or an io-size: there is no pass");
	for (uint32_t i = 0; i < w->lines.count; i++) {
		const struct access_line *line = &w->lines.lines[i];
		int r = check_direct(w, "access-lines: size", line->bytes, err);

		if (r == 0)
			r = check_direct(w, "access-lines: align", line->align_bytes, err);
		if (r == 0)
			r = check_direct(w, "access-lines: reply", line->reply_bytes, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_range(const struct workload *w, struct err *err)
{
	if (w->segment_count && !w->size.bytes && !w->size.ppm)
		return err_set(err, -EINVAL, "segments needs size, which it cuts into pieces");
	if (!w->segment_count && (w->segment_range.bytes || w->segment_range.ppm || w->segment_seed))
		return err_set(err, -EINVAL, "%s says where segments lie: name their number too",
			       w->segment_seed ? "segment-seed" : "segment-range");
	if (w->piece_gap_bytes && !w->piece_bytes)
		return err_set(err, -EINVAL, "piece-gap needs piece, which it stands behind");
	if (w->piece_bytes && w->segment_count)
		return err_set(err, -EINVAL, "piece and segments exclude each other");
	if (w->offset.ppm == PPM)
		return err_set(err, -EINVAL, "offset=100%% leaves nothing of the target");
	if ((uint64_t)w->offset.ppm + w->size.ppm > PPM)
		return err_set(err, -EINVAL, "offset and size together are more than 100 %%");
	return 0;
}

static int check_queue(const struct workload *w, struct err *err)
{
	if (w->batch_count > w->depth_count)
		return err_set(err, -EINVAL, "iodepth-batch=%u is more than iodepth=%u",
			       w->batch_count, w->depth_count);
	if (w->wait_count > w->depth_count)
		return err_set(err, -EINVAL, "iodepth-batch-complete-min=%u is more than iodepth=%u",
			       w->wait_count, w->depth_count);
	if (w->engine == ENGINE_MMAP && w->direct)
		return err_set(err, -EINVAL,
			       "ioengine=mmap goes through the page cache: it needs direct=0");
	if (w->engine == ENGINE_MMAP && w->sync)
		return err_set(err, -EINVAL,
			       "sync has no effect on memory that is mapped; with ioengine=mmap use "
			       "fsync");
	if (w->fsync_count && w->fdatasync_count)
		return err_set(err, -EINVAL, "fsync and fdatasync exclude each other");
	return 0;
}

static int check_steady(const struct workload *w, struct err *err)
{
	if (!*w->steadystate != !w->steady_window_ns || (!*w->steadystate && w->steady_ramp_ns))
		return err_set(err, -EINVAL, "%s",
			       *w->steadystate ? "steadystate needs steadystate-duration" :
						 "steadystate-duration and -ramp-time need steadystate");
	if (w->steady_window_ns % SECOND_NS || w->steady_window_ns == SECOND_NS ||
	    w->steady_ramp_ns % SECOND_NS)
		return err_set(err, -EINVAL,
			       "steadystate-duration and -ramp-time are whole seconds, and the "
			       "duration at least two");
	if (*w->steadystate && w->job_count > 1)
		return err_set(err, -EINVAL, "steadystate looks at one job: leave out numjobs");
	return 0;
}

static int check_time(const struct workload *w, struct err *err)
{
	if (!w->rate_iops && w->arrival != ARRIVAL_FIXED)
		return err_set(err, -EINVAL, "rate-process needs rate-iops");
	if (!w->rate_iops && w->burst_count > 1)
		return err_set(err, -EINVAL, "burst needs rate-iops");
	if (!w->rate_iops && w->rate_period_ns)
		return err_set(err, -EINVAL, "rate-period needs rate-iops");
	if (!w->flow_weight && w->flow_id)
		return err_set(err, -EINVAL, "flow-id needs flow");
	if (w->latency_target_ns && (w->rate_iops || w->lines.count))
		return err_set(err, -EINVAL,
			       "latency-target searches the depth of a closed loop: leave out %s",
			       w->rate_iops ? "rate-iops" : "access-lines");
	if (!w->latency_target_ns && (w->latency_run || w->latency_ppm != PPM))
		return err_set(err, -EINVAL, "%s needs latency-target",
			       w->latency_run ? "latency-run" : "latency-percentile");
	if (w->rate_iops && w->think_ns)
		return err_set(err, -EINVAL,
			       "thinktime and rate-iops exclude each other: a pause would break the "
			       "schedule");
	if (!w->think_ns && w->think_count > 1)
		return err_set(err, -EINVAL, "thinktime-blocks needs thinktime");
	if (w->think_spin_ns > w->think_ns)
		return err_set(err, -EINVAL, "thinktime-spin is part of thinktime, which is %s",
			       w->think_ns ? "shorter" : "not given");
	return 0;
}

static int check_mix(const struct workload *w, struct err *err)
{
	const bool is_mix = w->rw == RW_READWRITE || w->rw == RW_RANDRW;

	if (!is_mix && w->read_ppm != PPM / 2)
		return needs(w, "rwmixread", "a mix", err);
	if (w->trim_ppm && workload_trims_first(w))
		return needs(w, "rwmixtrim", "writes or a mix", err);
	if (!is_mix && w->write_mix.count)
		return needs(w, "bssplit-write", "a mix", err);
	if (w->trim_ppm && (w->rw == RW_TRIM || w->rw == RW_RANDTRIM || !workload_writes(w)))
		return needs_writes(w, "rwmixtrim", err);
	return 0;
}

/* What says how data is written, where none is: it would have no effect. */
static int check_stores(const struct workload *w, struct err *err)
{
	const struct {
		const char *name;
		bool given;
	} rows[] = {
		{ "sync", w->sync != SYNC_NONE },
		{ "fsync", w->fsync_count > 0 },
		{ "fdatasync", w->fdatasync_count > 0 },
		{ "end-fsync", w->end_fsync },
		{ "data", w->data != DATA_RANDOM },
		{ "buffer-compress-percentage", w->compress_ppm > 0 },
		{ "dedupe-percentage", w->dedupe_ppm > 0 },
	};
	const bool only_trims = w->rw == RW_TRIM || w->rw == RW_RANDTRIM || w->trim_ppm == PPM;

	if (workload_writes(w) && !only_trims)
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (rows[i].given)
			return needs_writes(w, rows[i].name, err);
	}
	return 0;
}

static int check_data(const struct workload *w, struct err *err)
{
	const char *data = word("data", w->data);

	if (w->data == DATA_PATTERN && !*w->pattern)
		return err_set(err, -EINVAL, "data=pattern needs buffer-pattern");
	if (*w->pattern && w->data != DATA_PATTERN)
		return err_set(err, -EINVAL, "buffer-pattern needs data=pattern, not data=%s", data);
	if (w->data != DATA_RANDOM && (w->compress_ppm || w->dedupe_ppm))
		return err_set(err, -EINVAL, "%s needs data=random, not data=%s",
			       w->compress_ppm ? "buffer-compress-percentage" : "dedupe-percentage",
			       data);
	return 0;
}

static int check_verify(const struct workload *w, struct err *err)
{
	if (!w->verify && !w->verify_back)
		return err_set(err, -EINVAL, "do-verify=0 needs verify");
	if (!w->verify)
		return 0;
	if (w->data != DATA_RANDOM)
		return err_set(err, -EINVAL,
			       "verify needs data=random, not data=%s: its header makes each block "
			       "differ",
			       word("data", w->data));
	if (w->dedupe_ppm)
		return err_set(err, -EINVAL,
			       "verify and dedupe-percentage exclude each other: each verified block "
			       "is unique");
	if (w->rw == RW_TRIM || w->rw == RW_RANDTRIM)
		return needs(w, "verify", "reads or writes", err);
	return 0;
}

/* What draws requests or says when they start has no effect on what was recorded. */
static int check_trace(const struct workload *w, struct err *err)
{
	const struct {
		const char *name;
		bool given;
	} rows[] = {
		{ "bssplit", w->size_mix.count > 0 },
		{ "norandommap", w->repeat },
		{ "random-distribution", w->distribution.kind != DISTRIBUTION_UNIFORM },
		{ "percentage-random", w->random_ppm != PPM },
		{ "segments", w->segment_count > 0 },
		{ "stride", w->stride_bytes > 0 },
		{ "backwards", w->backwards },
		{ "io-size", w->io_size_bytes > 0 },
		{ "ramp-time", w->ramp_ns > 0 },
		{ "fsync", w->fsync_count > 0 },
		{ "fdatasync", w->fdatasync_count > 0 },
		{ "rate-iops", w->rate_iops > 0 },
		{ "thinktime", w->think_ns > 0 },
		{ "verify", w->verify },
		{ "access-lines", w->lines.count > 0 },
		{ "end-fsync", w->end_fsync },
		{ "steadystate", *w->steadystate != '\0' },
	};
	const uint64_t granule_bytes = w->replay.align_bytes ? w->replay.align_bytes : w->align_bytes;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (rows[i].given)
			return err_set(err, -EINVAL, "%s has no effect on a trace, whose requests are "
						     "as they were recorded",
				       rows[i].name);
	}
	if (w->job_count > 1 && w->replay.timing == TIMING_GAPS)
		return err_set(err, -EINVAL, "%u pacers have no use with timing=gaps, where each request "
					     "waits for the one before",
			       w->job_count);
	if (w->job_count > 1 && w->io_count)
		return err_set(err, -EINVAL, "io-count is of one pacer, not of %u", w->job_count);
	if (!w->direct || granule_bytes % 512 == 0)
		return 0;
	err_set(err, -EINVAL, "the trace has requests that are no multiples of 512, which direct I/O "
			      "needs");
	return err_hint(err, "align=512 rounds them, or direct=0");
}

static int check_replay(const struct workload *w, struct err *err)
{
	struct text options = TEXT_INIT;
	int r = 0;

	if (*w->trace)
		return check_trace(w, err);
	replay_print(&w->replay, &options);
	if (options.length)
		r = err_set(err, -EINVAL, "replay=%s needs a trace", text_string(&options));
	text_done(&options);
	return r;
}

int workload_check(const struct workload *workload, struct err *err)
{
	int (*const checks[])(const struct workload *, struct err *) = {
		check_lines, check_sizes, check_order, check_range, check_queue, check_time, check_steady,
		check_mix,   check_data,  check_stores, check_verify, check_replay,
	};

	for (size_t i = 0; i < ARRAY_COUNT(checks); i++) {
		const int r = checks[i](workload, err);

		if (r < 0)
			return r;
	}
	return 0;
}
