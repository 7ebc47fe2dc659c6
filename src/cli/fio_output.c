/* SPDX-License-Identifier: MIT */
#include "cli/fio_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/defer.h"
#include "cli/runner.h"
#include "cli/version.h"
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

/* A log's file as it is, nothing cut off yet; fd is the caller's to close in any case. */
static int open_log(const char *name, int flags, int *fd, struct err *err)
{
	struct stat st;

	*fd = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK | flags, 0644);
	if (*fd < 0 || fstat(*fd, &st) < 0)
		return err_errno(err, -errno, "log '%s'", name);
	if (!S_ISREG(st.st_mode) || !holds_log(*fd))
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
static int try_log(void *ctx, const char *name, struct err *err)
{
	DEFER(defer_close) int fd = -1;
	const char *slash = strrchr(name, '/');
	char directory[PATH_MAX] = ".";

	(void)ctx;
	if (access(name, F_OK) == 0)
		return open_log(name, 0, &fd, err);
	if (slash)
		snprintf(directory, sizeof(directory), "%.*s", (int)(slash - name) + 1, name);
	return access(directory, W_OK | X_OK) == 0 ? 0 : err_errno(err, -errno, "log '%s'", name);
}

static uint64_t now_unix_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void print(void *ctx, const struct result *result, struct text *ret)
{
	struct output *output = ctx;
	const struct report_fio report = {
		.result = result,
		.labels = output->labels,
		.ended_unix_ms = now_unix_ms(),
		.pid = getpid(),
		.recording = output->recording,
	};
	const struct fio_log_writer writer = { .write = write_log };

	report_fio(&report, ret);
	report_fio_logs(&report, &writer, &output->err);
}

int fio_output_run(const struct invocation *inv, const struct plan *plan,
		   const struct fio_labels *labels)
{
	struct output output = { .inv = inv, .labels = labels };
	struct text text = TEXT_INIT;
	int exit_code = EXIT_DONE;

	if (report_fio_log_names(labels, try_log, NULL, &output.err) < 0)
		return invocation_fail(inv, EXIT_USAGE, &output.err);
	if (!inv->json && labels->outputs & FIO_NORMAL) {
		report_fio_start(plan, labels, TARE_VERSION, &text);
		exit_code = print_text(inv, &text);
		text_done(&text);
	}
	if (report_fio_logs_record(labels) && recording_new(&output.recording, &output.err) < 0)
		return invocation_fail(inv, EXIT_INTERNAL, &output.err);
	if (exit_code == EXIT_DONE)
		exit_code = runner_run(inv, &(struct runner){ .plan = plan, .full = true,
							      .report = print,
							      .report_ctx = &output,
							      .note_code = "fio-note",
							      .notes = labels->notes,
							      /* fio's own document has them already */
							      .note_count = inv->json ? labels->note_count : 0,
							      .recording = output.recording });
	if (output.recording && output.recording->lost_count)
		fprintf(stderr, "note: %llu requests are missing from the logs: they came faster than "
				"they could be written down\n",
			(unsigned long long)output.recording->lost_count);
	recording_free(output.recording);
	if (output.err.code < 0 && exit_code == EXIT_DONE)
		exit_code = invocation_fail(inv, EXIT_IO, &output.err);
	return exit_code;
}
