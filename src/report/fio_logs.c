/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
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
};

static void logs_done(struct logs *logs)
{
	for (size_t i = 0; i < logs->count; i++) {
		free(logs->items[i].name);
		text_done(&logs->items[i].lines);
	}
	free(logs->items);
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

static int check_average(const struct fio_job *job, struct err *err)
{
	if (!has_logs(job) || (job->log_avg_ms > 0 && job->log_avg_ms % 1000 == 0))
		return 0;
	err_set(err, -EOPNOTSUPP, "log_avg_msec=%llu: logs have whole seconds",
		(unsigned long long)job->log_avg_ms);
	err_hint(err, "give log_avg_msec=1000 or a multiple");
	return -EOPNOTSUPP;
}

int report_fio_log_names(const struct fio_labels *labels,
			 int (*look)(void *ctx, const char *name, struct err *err), void *ctx,
			 struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < labels->job_count; i++) {
		r = check_average(&labels->jobs[i], err);
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

static int log_point(struct logs *logs, const struct fio_job *job, enum log_kind kind,
		     const struct point *point, struct err *err)
{
	struct log *log = log_of(logs, job, kind);

	if (!log)
		return 0;
	text_add(&log->lines, "%llu, %.0f, %d, %llu", (unsigned long long)point->ms, point->value,
		 point->direction, (unsigned long long)point->block_bytes);
	if (job->log_offset)
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

static int log_window(struct logs *logs, const struct fio_job *job, uint64_t end_ns, int direction,
		      const struct window *w, struct err *err)
{
	struct point point = { .ms = end_ns / MILLISECOND_NS, .direction = direction };
	int r;

	if (w->count == 0 || w->length_ns == 0)
		return 0;
	point.value = fio_per_second(w->bytes, w->length_ns) / (double)KIB;
	r = log_point(logs, job, LOG_BW, &point, err);
	point.value = fio_per_second(w->count, w->length_ns);
	if (r == 0)
		r = log_point(logs, job, LOG_IOPS, &point, err);
	point.value = w->latency_ns / (double)w->count;
	if (r == 0)
		r = log_point(logs, job, LOG_LAT, &point, err);
	point.value = w->service_ns / (double)w->count;
	if (r == 0)
		r = log_point(logs, job, LOG_CLAT, &point, err);
	return r;
}

/* Whole seconds: what the measurement keeps anyway. */
static int log_seconds(struct logs *logs, const struct fio_job *job, const struct measurement *m,
		       struct err *err)
{
	const size_t step = job->log_avg_ms / 1000;
	int r = 0;

	r = check_average(job, err);
	if (r < 0 || !has_logs(job))
		return r;
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
			r = log_window(logs, job, start * SECOND_NS + window.length_ns, d, &window,
				       err);
		}
	}
	return r;
}

int report_fio_logs(const struct report_fio *report, const struct fio_log_writer *writer,
		    struct err *err)
{
	const struct result *result = report->result;
	struct logs logs = { .report = report, .writer = writer };
	int r = 0;

	logs.items = calloc(result->measurement_count * LOG_KINDS + 1, sizeof(*logs.items));
	if (!logs.items)
		return err_set(err, -ENOMEM, "no memory for the logs");
	for (size_t i = 0; r == 0 && i < result->measurement_count; i++) {
		for (int kind = 0; kind < LOG_KINDS; kind++)
			log_of(&logs, &report->labels->jobs[i], (enum log_kind)kind);
		r = log_seconds(&logs, &report->labels->jobs[i], &result->measurements[i], err);
	}
	for (size_t i = 0; r == 0 && i < logs.count; i++)
		r = flush(&logs, &logs.items[i], err);
	logs_done(&logs);
	return r;
}
