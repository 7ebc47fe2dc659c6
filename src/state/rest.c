/* SPDX-License-Identifier: MIT */

/* rest - no I/O for a time, or until the drive writes as fast as it comes to. */

#include <math.h>
#include <string.h>

#include "state/work.h"

#define PROBES_ALIKE 3		/* so many probes within */
#define ALIKE_RATIO 0.05	/* of their mean, the newest not rising, are the end */

static int wait_time(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const uint64_t now_ns = clock_now_ns(work->state->clock);

	(void)err;
	work_method(work, "%s", work->step->rest.until_recovered ? "until recovered" : "time");
	clock_sleep_until(work->state->clock, now_ns + work->step->rest.time_ns,
			  work->state->options.stop);
	return 0;
}

/* A thousandth of the target, 4 to 64 MiB, always the same: it disturbs the least and alike. */
static void prepare_probe(struct work *work)
{
	const uint64_t whole = work->state->target->info.size_bytes;
	uint64_t bytes = whole / 1000;

	bytes = bytes < 4 * MIB ? 4 * MIB : bytes > 64 * MIB ? 64 * MIB : bytes;
	if (bytes > whole)
		bytes = whole;
	work->span = (struct span){ 0, bytes - bytes % (128 * KIB) };
	work_workload(work, RW_WRITE, 128 * KIB, 8, 1);
	work->workload.io_size_bytes = work->span.size_bytes;
}

static int probe(struct work *work, double *ret, struct err *err)
{
	struct measurement m;
	const int r = work_run(work, &m, err);

	if (r < 0)
		return r;
	*ret = m.duration_ns ? (double)m.ops[OP_WRITE].bytes * 1e9 / (double)m.duration_ns : 0;
	measurement_done(&m);
	return 0;
}

static bool is_done(const double last[PROBES_ALIKE], size_t count)
{
	double min = INFINITY, max = 0, sum = 0;

	if (count < PROBES_ALIKE)
		return false;
	for (size_t i = 0; i < PROBES_ALIKE; i++) {
		min = fmin(min, last[i]);
		max = fmax(max, last[i]);
		sum += last[i];
	}
	return max - min <= ALIKE_RATIO * sum / PROBES_ALIKE;
}

static void tell(struct work *work, double first, double last, size_t count)
{
	char from[UNITS_TEXT_BYTES], to[UNITS_TEXT_BYTES];

	work_figure(work, "probes", (double)count);
	work_figure(work, "first_bytes_per_s", first);
	work_figure(work, "last_bytes_per_s", last);
	units_format_rate_bytes(first, from);
	units_format_rate_bytes(last, to);
	if (work->ret->reached)
		work_say(work, "write speed went from %s to %s and rises no more", from, to);
	else
		work_say(work, "write speed went from %s to %s and was still changing at the limit", from,
			 to);
}

static int wait_recovery(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_rest *rest = &work->step->rest;
	const uint64_t end_ns = clock_now_ns(work->state->clock) + rest->limit_ns;
	double first = 0, last[PROBES_ALIKE] = { 0 };
	size_t count = 0;

	if (!rest->until_recovered) {
		char time[UNITS_TEXT_BYTES];

		work_say(work, "no I/O for %s", units_format_time_ns(rest->time_ns, time));
		return 0;
	}
	prepare_probe(work);
	for (;;) {
		double rate;
		int r = probe(work, &rate, err);

		if (r < 0)
			return r;
		if (count == 0)
			first = rate;
		memmove(last, last + 1, sizeof(last) - sizeof(last[0]));
		last[PROBES_ALIKE - 1] = rate;
		count++;
		work->ret->reached = is_done(last, count);
		if (work->ret->reached || work_stopped(work) ||
		    clock_now_ns(work->state->clock) + rest->interval_ns > end_ns)
			break;
		clock_sleep_until(work->state->clock,
				  clock_now_ns(work->state->clock) + rest->interval_ns,
				  work->state->options.stop);
	}
	tell(work, first, last[PROBES_ALIKE - 1], count);
	return 0;
}

const struct action rest_actions[] = {
	{ "wait", wait_time, NULL },
	{ "wait until it is as fast as it becomes", wait_recovery, NULL },
	{ NULL, NULL, NULL },
};
