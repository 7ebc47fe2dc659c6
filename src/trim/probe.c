/* SPDX-License-Identifier: MIT */
#include "trim/probe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "trim/probe_work.h"

bool probe_stopped(struct probe *p)
{
	if (p->options->stop && *p->options->stop)
		p->report->interrupted = true;
	return p->report->interrupted;
}

void probe_progress(struct probe *p, const char *doing, double done_ratio)
{
	if (p->options->progress)
		p->options->progress(p->options->progress_ctx, doing, done_ratio);
}

struct trim_evidence *probe_say(struct probe *p, enum trim_rung rung, const char *code, bool ok,
				const char *fmt, ...)
{
	struct trim_evidence *evidence = trim_report_add(p->report, rung, code, "");
	va_list args;

	evidence->ok = ok;
	va_start(args, fmt);
	vsnprintf(evidence->text, sizeof(evidence->text), fmt, args);
	va_end(args);
	return evidence;
}

int probe_failed(struct probe *p, enum trim_rung rung, const char *code, const struct err *err)
{
	struct trim_evidence *evidence = probe_say(p, rung, code, false, "%s%s%s", err->text,
						   err->hint[0] ? "; " : "", err->hint);

	evidence->error = err->code;
	return PROBE_END;
}

/*
 * The parts, in order. Those that look run whatever came before, as soon as something was freed:
 * a guard that changed is the one thing that must not be missed.
 */
static const struct part {
	const char *doing;
	int (*run)(struct probe *p, struct err *err);
	bool looks;
} parts[] = {
	{ "making room", probe_begin, false },
	{ "writing test data", probe_write_all, false },
	{ "reading the guards", probe_kept, false },
	{ "finding where it lies", probe_map, false },
	{ "proving that it lies there", probe_prove, false },
	{ "waiting for quiet counters", probe_watch, false },
	{ "one small discard", probe_first, false },
	{ "discarding", probe_rest, false },
	{ "reading back", probe_read_back, true },
	{ "reading the counters", probe_delivered, true },
	{ "looking at what is allocated", probe_space, true },
	{ "asking the drive itself", probe_ask, true },
	{ "checking the guards", probe_guards, true },
};

static int run_parts(struct probe *p, struct err *err)
{
	const size_t count = sizeof(parts) / sizeof(parts[0]);

	for (size_t i = 0; i < count; i++) {
		int r;

		if (parts[i].looks ? !p->freed : p->ended || probe_stopped(p))
			continue;
		probe_progress(p, parts[i].doing, (double)i / (double)count);
		r = parts[i].run(p, err);
		if (r < 0)
			return err_wrap(err, "%s", parts[i].doing);
		p->ended |= r == PROBE_END;
	}
	return 0;
}

static void raise_rung(struct trim_report *report)
{
	for (uint32_t i = 0; i < report->evidence_count; i++) {
		const struct trim_evidence *evidence = &report->evidence[i];

		if (evidence->ok && evidence->rung > report->rung)
			report->rung = evidence->rung;
	}
}

static void done(struct probe *p)
{
	if (p->queue)
		p->queue->ops->close(p->queue);
	place_done(&p->place);
	for (uint32_t i = 1; p->by_file && i < p->spread.count; i++)
		target_close(p->files[i]);
	target_close(p->target);
	free(p->extents.list);
	free(p->buffer);
	if (p->klog_fd >= 0)
		close(p->klog_fd);
}

static int draw_key(struct probe *p, struct err *err)
{
	uint64_t seed = p->options->seed;

	if (seed) {
		p->key.run[0] = random_splitmix(&seed);
		p->key.run[1] = random_splitmix(&seed);
		return 0;
	}
	if (getrandom(p->key.run, sizeof(p->key.run), 0) != (ssize_t)sizeof(p->key.run))
		return err_errno(err, -EIO, "random numbers");
	return 0;
}

int trim_probe(struct trim_report *report, const struct trim_probe_options *options,
	       struct err *err)
{
	struct probe p = {
		.report = report,
		.options = options,
		.clock = options->clock,
		.klog_fd = -ENOENT,
		.buffer = aligned_alloc(4096, PROBE_BUFFER_BYTES),
	};
	int r;

	if (!p.buffer)
		return err_errno(err, -ENOMEM, "probe");
	r = draw_key(&p, err);
	if (r == 0)
		r = run_parts(&p, err);
	raise_rung(report);
	done(&p);
	return r;
}
