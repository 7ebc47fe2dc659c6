/* SPDX-License-Identifier: MIT */
/*
 * bench-replay - are recorded requests started when they should be? Replays a million Poisson
 * arrivals, in four fifths of each second, on the null target and prints how late they were
 * started, and what of that the machine alone accounts for: time in which a loop that does nothing
 * but read the clock got no CPU.
 *
 *	bench-replay [EVENTS [PER_SECOND]]		1000000 100000
 *
 * It needs a CPU of its own. On a machine that others use, `chrt -f 50 bench-replay` takes one,
 * except in the quiet fifths: without those the kernel takes it back for 50 ms of each second.
 *
 * Exit status 1 when fewer than 99.9 % were started within 50 us, or the last one was not.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "engine/engine.h"
#include "model/trace.h"
#include "stats/histogram.h"

#define BUSY_NS 800e6
#define WITHIN_NS (50 * MICROSECOND_NS)

static int make_trace(uint64_t count, double per_second, struct trace **ret, struct err *err)
{
	struct trace_record record = { .length_bytes = 4096 };
	struct random random;
	double at_ns = 0;
	int r = trace_new(ret, err);

	random_init(&random, 1);
	if (r == 0)
		r = trace_stream(*ret, "bench", &record.stream, err);
	for (uint64_t i = 0; r == 0 && i < count; i++) {
		at_ns += random_exponential(&random) * 1e9 / per_second;
		if (fmod(at_ns, 1e9) > BUSY_NS)
			at_ns = ceil(at_ns / 1e9) * 1e9;
		record.time_ns = (uint64_t)at_ns;
		record.offset_bytes = random_below(&random, 1u << 18) * 4096;
		r = trace_add(*ret, &record, err);
	}
	return r == 0 ? trace_finish(*ret, err) : r;
}

/* Share of time, in ppm, that gaps longer than limit take from a loop that only reads the clock. */
static void watch(const struct clock *clock, uint64_t for_ns, uint64_t limit_ns, double *ret_ppm,
		  uint64_t *ret_max_ns)
{
	const uint64_t begin_ns = clock_now_ns(clock);
	uint64_t before_ns = begin_ns, lost_ns = 0;

	*ret_max_ns = 0;
	while (before_ns < begin_ns + for_ns) {
		const uint64_t now_ns = clock_now_ns(clock), gap_ns = now_ns - before_ns;

		if (gap_ns > limit_ns)
			lost_ns += gap_ns;
		if (gap_ns > *ret_max_ns)
			*ret_max_ns = gap_ns;
		before_ns = now_ns;
	}
	*ret_ppm = 1e6 * (double)lost_ns / (double)(before_ns - begin_ns);
}

/* The share of a histogram at or below a value, by halving. */
static double share_within(const struct histogram *h, uint64_t limit_ns)
{
	uint32_t low = 0, high = PPM;

	while (high - low > 1) {
		const uint32_t middle = (low + high) / 2;

		if (histogram_percentile_ns(h, middle) <= limit_ns)
			low = middle;
		else
			high = middle;
	}
	return h->max_ns <= limit_ns ? 1 : (double)low / PPM;
}

static int report(const struct trace *trace, const struct measurement *m)
{
	const struct histogram *late = m->lateness;
	const double within = share_within(late, WITHIN_NS);

	printf("started   %llu of %llu requests\n", (unsigned long long)late->count,
	       (unsigned long long)trace->count);
	printf("late      p50 %.1f us, p99 %.1f us, p99.9 %.1f us, at most %.1f us\n",
	       (double)histogram_percentile_ns(late, 500000) / 1e3,
	       (double)histogram_percentile_ns(late, 990000) / 1e3,
	       (double)histogram_percentile_ns(late, 999000) / 1e3, (double)late->max_ns / 1e3);
	printf("within    %.4f %% of them within 50 us\n", 100 * within);
	printf("the last  %.1f us late, meant for %.6f s\n", (double)m->replay.last_late_ns / 1e3,
	       (double)trace->stats.duration_ns / 1e9);
	return within < 0.999 || m->replay.last_late_ns > WITHIN_NS;
}

static int run(const struct trace *trace, const struct clock *clock, struct measurement *m,
	       struct err *err)
{
	struct target *target;
	struct workload w;
	int r;

	workload_init(&w);
	strcpy(w.trace, "bench");
	w.depth_count = 64;
	trace_describe(trace, &w);
	r = target_open(&target, &(struct target_request){ .spec = "null:" }, err);
	if (r < 0)
		return r;
	r = engine_run_group(&(struct engine_job){ .workload = &w, .target = target, .ret = m,
						   .trace = trace },
			     1, &(struct engine_options){ .clock = clock }, err);
	target_close(target);
	return r;
}

int main(int argc, char **argv)
{
	const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	const double per_second = argc > 2 ? strtod(argv[2], NULL) : 100000;
	struct trace *trace = NULL;
	struct measurement m;
	struct clock clock;
	struct err err = { 0 };
	double lost_ppm;
	uint64_t gap_max_ns;
	int status = 2;

	clock_init_real(&clock);
	measurement_init(&m);
	watch(&clock, 800 * MILLISECOND_NS, WITHIN_NS, &lost_ppm, &gap_max_ns);
	printf("machine   %.4f %% of the time lost in gaps of more than 50 us, the longest %.1f us\n",
	       lost_ppm / 1e4, (double)gap_max_ns / 1e3);
	if (make_trace(count, per_second, &trace, &err) < 0 || run(trace, &clock, &m, &err) < 0)
		fprintf(stderr, "bench-replay: %s\n", err.text);
	else
		status = report(trace, &m);
	measurement_done(&m);
	trace_free(trace);
	return status;
}
