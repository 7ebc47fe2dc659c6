/* SPDX-License-Identifier: MIT */
#include "cli/fio_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/defer.h"
#include "cli/runner.h"
#include "cli/version.h"
#include "foreign/trace_write.h"
#include "model/recording.h"
#include "report/fio.h"

struct output {
	const struct invocation *inv;
	const struct fio_labels *labels;
	struct recording *recording;	/* for the logs; NULL */
	struct err err;		/* of the logs; code 0 = none */
};

/* What is there begins like a line of a log, or holds nothing. */
static bool holds_log(int fd)
{
	char head[64] = "";
	const ssize_t length = pread(fd, head, sizeof(head) - 1, 0);
	unsigned long long ms, value;
	unsigned direction;

	return length == 0 ||
	       (length > 0 && sscanf(head, "%llu, %llu, %u, ", &ms, &value, &direction) == 3 &&
		direction <= 2);
}

static bool holds_iolog(int fd)
{
	static const char header[] = "fio version 3 iolog\n";
	char head[sizeof(header) - 1];
	const ssize_t length = pread(fd, head, sizeof(head), 0);

	return length == 0 || (length == sizeof(head) && memcmp(head, header, sizeof(head)) == 0);
}

/* A log's file as it is, nothing cut off yet; fd is the caller's to close in any case. */
static int open_log(const char *name, int flags, int *fd, struct err *err)
{
	bool (*const holds)(int) = flags & O_APPEND ? holds_iolog : holds_log;

	struct stat st;

	*fd = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK | flags, 0644);
	if (*fd < 0 || fstat(*fd, &st) < 0)
		return err_errno(err, -errno, "log '%s'", name);
	if (!S_ISREG(st.st_mode) || !holds(*fd))
		return err_set(err, -EEXIST,
			       "log '%s': what is there is no log and is not overwritten", name);
	return 0;
}

static int write_log(void *ctx, const char *name, bool first, const char *bytes, size_t length,
		     struct err *err)
{
	DEFER(defer_close) int fd = -1;
	size_t done = 0;
	int r = open_log(name, O_CREAT, &fd, err);

	(void)ctx;
	if (r < 0)
		return r;
	if ((first && ftruncate(fd, 0) < 0) || lseek(fd, 0, SEEK_END) < 0)
		return err_errno(err, -errno, "log '%s'", name);
	while (done < length) {
		const ssize_t now = write(fd, bytes + done, length - done);

		if (now < 0 && errno != EINTR)
			return err_errno(err, -errno, "log '%s'", name);
		done += now > 0 ? (size_t)now : 0;
	}
	return 0;
}

/* Better now than after an hour's run. */
static int try_file(const char *name, int flags, struct err *err)
{
	DEFER(defer_close) int fd = -1;
	const char *slash = strrchr(name, '/');
	char directory[PATH_MAX] = ".";

	if (access(name, F_OK) == 0)
		return open_log(name, flags, &fd, err);
	if (slash)
		snprintf(directory, sizeof(directory), "%.*s", (int)(slash - name) + 1, name);
	return access(directory, W_OK | X_OK) == 0 ? 0 : err_errno(err, -errno, "log '%s'", name);
}

static int try_log(void *ctx, const char *name, struct err *err)
{
	(void)ctx;
	return try_file(name, 0, err);
}

static int try_iologs(const struct fio_labels *labels, bool *ret_any, struct err *err)
{
	int r = 0;

	*ret_any = false;
	for (size_t i = 0; r == 0 && i < labels->job_count; i++) {
		if (!labels->jobs[i].write_iolog)
			continue;
		*ret_any = true;
		r = try_file(labels->jobs[i].write_iolog, O_APPEND, err);
	}
	return r;
}

/* A job's requests behind what is in its log already: one header more, one stream more. */
static int write_iolog(const struct output *output, const struct result *result, size_t index,
		       struct err *err)
{
	const struct fio_job *job = &output->labels->jobs[index];
	DEFER(defer_free) const char **names = calloc(result->measurement_count, sizeof(char *));
	DEFER(defer_fclose) FILE *file = NULL;
	DEFER(defer_close) int fd = -1;
	int r = open_log(job->write_iolog, O_CREAT | O_APPEND, &fd, err);

	if (r < 0)
		return r;
	file = names ? fdopen(fd, "a") : NULL;
	if (!file)
		return err_set(err, -ENOMEM, "no memory to write '%s'", job->write_iolog);
	fd = -1;
	names[index] = job->iolog_name;
	r = trace_write_recording(output->recording,
				  &(struct trace_output){
					  .iolog = file,
					  .names = names,
					  .name_count = result->measurement_count,
				  },
				  err);
	return r < 0 ? err_wrap(err, "%s", job->write_iolog) : 0;
}

static int write_iologs(const struct output *output, const struct result *result, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < output->labels->job_count && i < result->measurement_count;
	     i++)
		if (output->labels->jobs[i].write_iolog)
			r = write_iolog(output, result, i, err);
	return r;
}

static uint64_t now_unix_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct report_fio report_of(const struct output *output, const struct result *result)
{
	return (struct report_fio){
		.result = result,
		.labels = output->labels,
		.ended_unix_ms = now_unix_ms(),
		.pid = getpid(),
		.recording = output->recording,
	};
}

static void print(void *ctx, const struct result *result, struct text *ret)
{
	const struct report_fio report = report_of(ctx, result);

	report_fio(&report, ret);
}

static void write_files(void *ctx, const struct result *result)
{
	struct output *output = ctx;
	const struct report_fio report = report_of(output, result);
	const struct fio_log_writer writer = { .write = write_log };

	/*
	 * As fio does: its formats have but a number, or nothing where a job did not run at all. This
	 * is the one place on standard error that says what failed.
	 */
	if (*result->error_text && !output->inv->json)
		fprintf(stderr, "tare: %s\n", result->error_text);
	if (report_fio_logs(&report, &writer, &output->err) == 0)
		write_iologs(output, result, &output->err);
}

int fio_output_run(const struct invocation *inv, const struct fio_job_run *what)
{
	const struct fio_labels *labels = what->labels;
	struct output output = { .inv = inv, .labels = labels };
	struct text text = TEXT_INIT;
	int exit_code = EXIT_DONE;
	bool records;

	if (report_fio_log_names(labels, try_log, NULL, &output.err) < 0 ||
	    try_iologs(labels, &records, &output.err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &output.err);
	records |= report_fio_logs_record(labels);
	if (!inv->json && labels->outputs & FIO_NORMAL) {
		report_fio_start(what->plan, labels, TARE_VERSION, &text);
		exit_code = print_text(inv, &text);
		text_done(&text);
	}
	if (records && recording_new(&output.recording, &output.err) < 0)
		return invocation_fail(inv, EXIT_INTERNAL, &output.err);
	if (exit_code == EXIT_DONE)
		exit_code = runner_run(inv, &(struct runner){ .plan = what->plan, .full = true,
							      .report = print,
							      .report_ctx = &output,
							      .done = write_files,
							      .note_code = "fio-note",
							      .notes = labels->notes,
							      /* fio's own document has them already */
							      .note_count = inv->json ? labels->note_count : 0,
							      .recording = output.recording,
							      .traces = what->traces });
	if (output.recording && output.recording->lost_count)
		fprintf(stderr, "note: %llu requests are missing from the logs: they came faster than "
				"they could be written down\n",
			(unsigned long long)output.recording->lost_count);
	recording_free(output.recording);
	if (output.err.code < 0 && exit_code == EXIT_DONE)
		exit_code = invocation_fail(inv, EXIT_IO, &output.err);
	return exit_code;
}
