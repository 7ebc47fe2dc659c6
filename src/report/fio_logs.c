/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "model/recording.h"
#include "report/fio_stat.h"
#include "stats/packed.h"

#define PIECE_BYTES (64 * 1024)

enum log_kind { LOG_BW, LOG_IOPS, LOG_LAT, LOG_CLAT, LOG_SLAT, LOG_KINDS };
static const char *const log_names[LOG_KINDS] = { "bw", "iops", "lat", "clat", "slat" };

struct log {
	char *name;		/* owned */
	struct text lines;	/* not yet written */
	bool begun;
};

struct logs {
	const struct report_fio *report;
	const struct fio_log_writer *writer;
	struct log *items;	/* owned */
	size_t count;
	struct log **by_job;	/* owned: of measurement i and a kind, or NULL */
};

static const struct fio_job *job_at(const struct logs *logs, size_t index)
{
	return &logs->report->labels->jobs[index];
}

static void logs_done(struct logs *logs)
{
	for (size_t i = 0; i < logs->count; i++) {
		free(logs->items[i].name);
		text_done(&logs->items[i].lines);
	}
	free(logs->items);
	free(logs->by_job);
}

static const char *prefix_of(const struct fio_job *job, enum log_kind kind)
{
	switch (kind) {
	case LOG_BW:
		return job->write_bw_log;
	case LOG_IOPS:
		return job->write_iops_log;
	case LOG_LAT:
		return job->lat ? job->write_lat_log : NULL;
	case LOG_CLAT:
		return job->clat ? job->write_lat_log : NULL;
	case LOG_SLAT:
		return job->slat ? job->write_lat_log : NULL;
	case LOG_KINDS:
		break;
	}
	return NULL;
}

/* The name of a job's log; false where it writes none. */
static bool name_log(const struct fio_job *job, enum log_kind kind, struct text *ret)
{
	const char *prefix = prefix_of(job, kind);

	if (!prefix)
		return false;
	text_add(ret, "%s_%s", prefix, log_names[kind]);
	if (job->per_job_logs)
		text_add(ret, ".%u", job->thread_number);
	text_add(ret, ".log");
	return true;
}

static bool has_logs(const struct fio_job *job)
{
	return job->write_bw_log || job->write_iops_log || job->write_lat_log;
}

static bool needs_recording(const struct fio_job *job)
{
	return has_logs(job) && (job->log_avg_ms == 0 || job->log_avg_ms % 1000);
}

bool report_fio_logs_record(const struct fio_labels *labels)
{
	bool needed = false;

	for (size_t i = 0; i < labels->job_count; i++)
		needed |= needs_recording(&labels->jobs[i]);
	return needed;
}

int report_fio_log_names(const struct fio_labels *labels,
			 int (*look)(void *ctx, const char *name, struct err *err), void *ctx,
			 struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < labels->job_count; i++) {
		for (int kind = 0; r == 0 && kind < LOG_KINDS; kind++) {
			struct text name = TEXT_INIT;

			if (name_log(&labels->jobs[i], (enum log_kind)kind, &name))
				r = look(ctx, text_string(&name), err);
			text_done(&name);
		}
	}
	return r;
}

/* The log of that name, which several jobs may share; NULL where the job writes none. */
static struct log *log_of(struct logs *logs, const struct fio_job *job, enum log_kind kind)
{
	struct text name = TEXT_INIT;
	struct log *log = NULL;

	if (!name_log(job, kind, &name))
		return NULL;
	for (size_t i = 0; i < logs->count && !log; i++)
		log = strcmp(logs->items[i].name, text_string(&name)) == 0 ? &logs->items[i] : NULL;
	if (!log) {
		/* Room was made for all there can be: items do not move. */
		log = &logs->items[logs->count++];
		*log = (struct log){ .name = text_take(&name) };
	}
	text_done(&name);
	return log;
}

static int flush(struct logs *logs, struct log *log, struct err *err)
{
	const struct fio_log_writer *writer = logs->writer;
	int r = 0;

	if (!log->begun || log->lines.length)
		r = writer->write(writer->ctx, log->name, !log->begun, text_string(&log->lines),
				  log->lines.length, err);
	log->begun = true;
	text_done(&log->lines);
	return r;
}

struct point {
	uint64_t ms;
	double value;
	int direction;
	uint64_t block_bytes, offset_bytes;
};

static int log_point(struct logs *logs, size_t index, enum log_kind kind,
		     const struct point *point, struct err *err)
{
	struct log *log = logs->by_job[index * LOG_KINDS + kind];

	if (!log)
		return 0;
	text_add(&log->lines, "%llu, %.0f, %d, %llu", (unsigned long long)point->ms, point->value,
		 point->direction, (unsigned long long)point->block_bytes);
	if (job_at(logs, index)->log_offset)
		text_add(&log->lines, ", %llu", (unsigned long long)point->offset_bytes);
	text_add(&log->lines, ", 0\n");
	return log->lines.length < PIECE_BYTES ? 0 : flush(logs, log, err);
}

/* What was done in one direction from one time to another. */
struct window {
	uint64_t length_ns;
	uint64_t count, bytes;
	double latency_ns, service_ns;	/* sums */
};

static int log_window(struct logs *logs, size_t index, uint64_t end_ns, int direction,
		      const struct window *w, struct err *err)
{
	struct point point = { .ms = end_ns / MILLISECOND_NS, .direction = direction };
	int r;

	if (w->count == 0 || w->length_ns == 0)
		return 0;
	point.value = fio_per_second(w->bytes, w->length_ns) / (double)KIB;
	r = log_point(logs, index, LOG_BW, &point, err);
	point.value = fio_per_second(w->count, w->length_ns);
	if (r == 0)
		r = log_point(logs, index, LOG_IOPS, &point, err);
	point.value = w->latency_ns / (double)w->count;
	if (r == 0)
		r = log_point(logs, index, LOG_LAT, &point, err);
	point.value = w->service_ns / (double)w->count;
	if (r == 0)
		r = log_point(logs, index, LOG_CLAT, &point, err);
	return r;
}

/* Whole seconds: what the measurement keeps anyway. */
static int log_seconds(struct logs *logs, size_t index, struct err *err)
{
	const struct measurement *m = &logs->report->result->measurements[index];
	const struct fio_job *job = job_at(logs, index);
	const size_t step = job->log_avg_ms / 1000;
	int r = 0;

	if (!has_logs(job) || needs_recording(job))
		return 0;
	for (size_t start = 0; start < m->second_count; start += step) {
		for (int d = FIO_READ; r == 0 && d <= FIO_TRIM; d++) {
			struct window window = { 0 };

			for (size_t i = start; i < start + step && i < m->second_count; i++) {
				const struct second *s = &m->seconds[i];

				window.length_ns += s->length_ns;
				window.count += s->ops[d].count;
				window.bytes += s->ops[d].bytes;
				if (s->latency[d])
					window.latency_ns += (double)s->latency[d]->sum_ns;
			}
			window.service_ns = window.latency_ns;
			r = log_window(logs, index, start * SECOND_NS + window.length_ns, d, &window,
				       err);
		}
	}
	return r;
}

/* The windows being filled of each measurement. */
struct filling {
	uint64_t end_ns;		/* of its windows, since measuring began */
	struct window windows[FIO_TRIM + 1];
};

static int close_windows(struct logs *logs, size_t index, struct filling *filling, uint64_t end_ns,
			 struct err *err)
{
	const uint64_t window_ns = job_at(logs, index)->log_avg_ms * MILLISECOND_NS;
	int r = 0;

	for (int d = FIO_READ; r == 0 && d <= FIO_TRIM; d++) {
		struct window *window = &filling->windows[d];

		window->length_ns = end_ns - (filling->end_ns - window_ns);
		r = log_window(logs, index, end_ns, d, window, err);
		*window = (struct window){ 0 };
	}
	return r;
}

static int average(struct logs *logs, struct filling *filling, const struct recorded_io *io,
		   uint64_t done_ns, struct err *err)
{
	const uint64_t window_ns = job_at(logs, io->measurement_index)->log_avg_ms * MILLISECOND_NS;
	struct window *window = &filling->windows[io->op];
	int r = 0;

	if (filling->end_ns == 0)
		filling->end_ns = window_ns;
	if (done_ns > filling->end_ns) {
		r = close_windows(logs, io->measurement_index, filling, filling->end_ns, err);
		filling->end_ns = (done_ns + window_ns - 1) / window_ns * window_ns;
	}
	window->count++;
	window->bytes += io->length_bytes;
	window->latency_ns += (double)(io->done_ns - io->intended_ns);
	window->service_ns += (double)(io->done_ns - io->submit_ns);
	return r;
}

/* As fio: the bandwidth of a request is its bytes over its time, and its IOPS is 1. */
static int log_request(struct logs *logs, const struct recorded_io *io, uint64_t done_ns,
		       struct err *err)
{
	const uint64_t service_ns = io->done_ns > io->submit_ns ? io->done_ns - io->submit_ns : 1;
	struct point point = {
		.ms = done_ns / MILLISECOND_NS,
		.direction = io->op,
		.block_bytes = io->length_bytes,
		.offset_bytes = io->offset_bytes,
	};
	const double values[LOG_SLAT] = {
		[LOG_BW] = fio_per_second(io->length_bytes, service_ns) / (double)KIB,
		[LOG_IOPS] = 1,
		[LOG_LAT] = (double)(io->done_ns - io->intended_ns),
		[LOG_CLAT] = (double)service_ns,
	};
	int r = 0;

	for (int kind = 0; r == 0 && kind < LOG_SLAT; kind++) {
		point.value = values[kind];
		r = log_point(logs, io->measurement_index, (enum log_kind)kind, &point, err);
	}
	return r;
}

static int log_recorded(struct logs *logs, struct filling *fillings, const struct recorded_io *io,
			struct err *err)
{
	const struct result *result = logs->report->result;
	const struct fio_job *job;
	uint64_t start_ns;

	if (io->measurement_index >= result->measurement_count || io->op > OP_TRIM || io->result < 0)
		return 0;
	job = job_at(logs, io->measurement_index);
	start_ns = result->measurements[io->measurement_index].start_ns;
	if (!needs_recording(job) || io->intended_ns < start_ns)
		return 0;
	if (job->log_avg_ms == 0)
		return log_request(logs, io, io->done_ns - start_ns, err);
	return average(logs, &fillings[io->measurement_index], io, io->done_ns - start_ns, err);
}

/* What the last windows of each measurement hold. */
static int close_all(struct logs *logs, struct filling *fillings, struct err *err)
{
	const struct result *result = logs->report->result;
	int r = 0;

	for (size_t i = 0; r == 0 && i < result->measurement_count; i++) {
		const uint64_t whole_ns = result->measurements[i].duration_ns;
		const uint64_t window_ns = job_at(logs, i)->log_avg_ms * MILLISECOND_NS;
		uint64_t end_ns = fillings[i].end_ns;

		if (end_ns == 0)
			continue;
		if (whole_ns < end_ns && whole_ns > end_ns - window_ns)
			end_ns = whole_ns;
		r = close_windows(logs, i, &fillings[i], end_ns, err);
	}
	return r;
}

static int log_recording(struct logs *logs, struct err *err)
{
	const struct report_fio *report = logs->report;
	struct recording_cursor cursor;
	const struct recorded_io *io;
	struct filling *fillings;
	int r;

	if (!report->recording || !report_fio_logs_record(report->labels))
		return 0;
	r = recording_sort(report->recording, RECORDED_BY_DONE, &cursor, err);
	if (r < 0)
		return r;
	fillings = calloc(report->result->measurement_count + 1, sizeof(*fillings));
	if (!fillings)
		abort();
	while (r == 0 && (io = cursor_next(&cursor.cursor)))
		r = log_recorded(logs, fillings, io, err);
	if (r == 0)
		r = close_all(logs, fillings, err);
	free(fillings);
	recording_cursor_done(&cursor);
	return r;
}

int report_fio_logs(const struct report_fio *report, const struct fio_log_writer *writer,
		    struct err *err)
{
	const struct result *result = report->result;
	struct logs logs = { .report = report, .writer = writer };
	int r = 0;

	logs.items = calloc(result->measurement_count * LOG_KINDS + 1, sizeof(*logs.items));
	logs.by_job = calloc(result->measurement_count * LOG_KINDS + 1, sizeof(*logs.by_job));
	if (!logs.items || !logs.by_job)
		abort();
	for (size_t i = 0; r == 0 && i < result->measurement_count; i++) {
		for (int kind = 0; kind < LOG_KINDS; kind++)
			logs.by_job[i * LOG_KINDS + (size_t)kind] =
				log_of(&logs, &report->labels->jobs[i], (enum log_kind)kind);
		r = log_seconds(&logs, i, err);
	}
	if (r == 0)
		r = log_recording(&logs, err);
	for (size_t i = 0; r == 0 && i < logs.count; i++)
		r = flush(&logs, &logs.items[i], err);
	logs_done(&logs);
	return r;
}
