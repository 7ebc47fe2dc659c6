/* SPDX-License-Identifier: MIT */
/*
 * bench-replay - are recorded requests started when they should be? Replays a million Poisson
 * arrivals, in four fifths of each second, on the null target and prints how late they were
 * started, and what of that the machine alone accounts for: time in which loops that do nothing
 * but read the clock, one for each pacer, got no CPU all at once.
 *
 *	bench-replay [EVENTS [PER_SECOND [PACERS]]]		1000000 100000 1
 *
 * Each pacer needs a CPU of its own. On a machine that others use, `chrt -f 50 bench-replay` takes one,
 * except in the quiet fifths: without those the kernel takes it back for 50 ms of each second.
 *
 * Exit status 1 when fewer than 99.9 % were started within 50 us, or the last one was not.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "engine/engine.h"
#include "model/trace.h"
#include "stats/histogram.h"

#define BUSY_NS 800e6
#define WATCH_NS (4 * SECOND_NS)
#define GAPS_MAX 20000
#define WITHIN_NS REPLAY_PUNCTUAL_NS

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

/* --- what the machine alone does: threads that only read the clock --------------------------- */

struct gap {
	uint64_t from_ns, to_ns;
};

struct watcher {
	const struct clock *clock;
	uint32_t cpu;
	bool pinned;
	uint64_t end_ns;
	size_t count;
	struct gap gaps[GAPS_MAX];	/* longer than WITHIN_NS: in which it got no CPU */
	pthread_t thread;
};

static void *watch(void *arg)
{
	struct watcher *w = arg;
	uint64_t before_ns;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	if (w->pinned)
		sched_setaffinity(0, sizeof(set), &set);
	before_ns = clock_now_ns(w->clock);
	while (before_ns < w->end_ns && w->count < GAPS_MAX) {
		const uint64_t now_ns = clock_now_ns(w->clock);

		if (now_ns - before_ns > WITHIN_NS)
			w->gaps[w->count++] = (struct gap){ before_ns, now_ns };
		before_ns = now_ns;
	}
	return NULL;
}

/* What of the first's gaps lies in the second's. */
static void intersect(struct watcher *first, const struct watcher *second)
{
	struct gap both[GAPS_MAX];
	size_t count = 0;

	for (size_t i = 0, k = 0; i < first->count && k < second->count;) {
		const struct gap a = first->gaps[i], b = second->gaps[k];
		const struct gap c = { a.from_ns > b.from_ns ? a.from_ns : b.from_ns,
				       a.to_ns < b.to_ns ? a.to_ns : b.to_ns };

		if (c.to_ns > c.from_ns && count < GAPS_MAX)
			both[count++] = c;
		i += a.to_ns <= b.to_ns;
		k += b.to_ns < a.to_ns;
	}
	memcpy(first->gaps, both, count * sizeof(both[0]));
	first->count = count;
}

/* The share of moments from which on nobody has a CPU for more than WITHIN_NS. */
static double share_lost(uint32_t pacer_count, const struct clock *clock)
{
	struct watcher *watchers = calloc(pacer_count, sizeof(*watchers));
	const uint64_t end_ns = clock_now_ns(clock) + WATCH_NS;
	uint64_t lost_ns = 0;

	if (!watchers)
		abort();
	for (uint32_t i = 0; i < pacer_count; i++) {
		watchers[i] = (struct watcher){ .clock = clock, .cpu = i, .end_ns = end_ns,
						.pinned = pacer_count > 1 };
		if (pthread_create(&watchers[i].thread, NULL, watch, &watchers[i]) != 0)
			abort();
	}
	for (uint32_t i = 0; i < pacer_count; i++) {
		pthread_join(watchers[i].thread, NULL);
		if (i > 0)
			intersect(&watchers[0], &watchers[i]);
	}
	for (size_t i = 0; i < watchers[0].count; i++) {
		const uint64_t gap_ns = watchers[0].gaps[i].to_ns - watchers[0].gaps[i].from_ns;

		lost_ns += gap_ns > WITHIN_NS ? gap_ns - WITHIN_NS : 0;
	}
	free(watchers);
	return (double)lost_ns / (double)WATCH_NS;
}

static int report(const struct trace *trace, const struct measurement *m)
{
	const struct histogram *late = m->lateness;
	const double within = (double)m->replay.punctual_count / (double)late->count;

	printf("started   %llu of %llu requests\n", (unsigned long long)late->count,
	       (unsigned long long)trace->count);
	printf("late      p50 %.1f us, p99 %.1f us, p99.9 %.1f us, at most %.1f us\n",
	       (double)histogram_percentile_ns(late, 500000) / 1e3,
	       (double)histogram_percentile_ns(late, 990000) / 1e3,
	       (double)histogram_percentile_ns(late, 999000) / 1e3, (double)late->max_ns / 1e3);
	printf("within    %.4f %% of them within 50 us\n", 100 * within);
	printf("the last  %.1f us late, meant for %.6f s\n", (double)m->replay.last_late_ns / 1e3,
	       (double)trace->stats.duration_ns / 1e9);
	printf("lasted    %.6f s\n", (double)m->duration_ns / 1e9);
	return within < 0.999 || m->replay.last_late_ns > WITHIN_NS;
}

static int run(const struct trace *trace, uint32_t pacer_count, struct measurement *m,
	       struct err *err)
{
	struct clock clock;
	struct target *target;
	struct workload w;
	int r;

	workload_init(&w);
	strcpy(w.trace, "bench");
	w.depth_count = 64;
	w.job_count = pacer_count;
	if (pacer_count > 1)
		snprintf(w.cpus, sizeof(w.cpus), "0-%u", pacer_count - 1);
	clock_init_real(&clock);
	trace_describe(trace, &w);
	r = target_open(&target, &(struct target_request){ .spec = "null:" }, err);
	if (r < 0)
		return r;
	r = engine_run_group(&(struct engine_job){ .workload = &w, .target = target, .ret = m,
						   .trace = trace },
			     1, &(struct engine_options){ .clock = &clock }, err);
	target_close(target);
	return r;
}

int main(int argc, char **argv)
{
	const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	const double per_second = argc > 2 ? strtod(argv[2], NULL) : 100000;
	const uint32_t pacer_count = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
	struct trace *trace = NULL;
	struct measurement m;
	struct clock clock;
	struct err err = { 0 };
	int status = 2;

	clock_init_real(&clock);
	measurement_init(&m);
	printf("machine   %.4f %% of requests would be in time if starting them were all there is\n",
	       100 * (1 - share_lost(pacer_count, &clock)));
	if (make_trace(count, per_second, &trace, &err) < 0 || run(trace, pacer_count, &m, &err) < 0)
		fprintf(stderr, "bench-replay: %s\n", err.text);
	else
		status = report(trace, &m);
	measurement_done(&m);
	trace_free(trace);
	return status;
}
