/* SPDX-License-Identifier: MIT */
/*
 * bench-arrivals - does an open loop start its requests when it says? Runs the engine at 10 k,
 * 100 k and 300 k per second, fixed and Poisson, with a queue in between that notes when each
 * request really was started.
 *
 *	bench-arrivals TARGET [SECONDS] [DEPTH] [RATE]	TARGET as for `tare run`; it is only read
 *
 * Columns: error of the rate (intended arrivals), its limit (fixed 0.01 %; Poisson 3 standard
 * deviations of so many arrivals); coefficient of variation of the gaps really made (0 or 1);
 * Kolmogorov-Smirnov distance of the gaps to the exponential distribution and its p-value, for
 * the intended and the real starts (a real start can lie no closer to the one before than that
 * one's submission took, so that its distance grows with the rate); lateness of submission.
 * The first line is what this processor allows: a loop that does nothing but read the clock, and
 * how late arrivals would be that fall into its gaps (the host's, interrupts', other programs').
 * The second line of a row says where the time of those went that were 5 us late or more: in
 * submissions, in reaping, in yields, or elsewhere (the loop's own code, and what interrupted it);
 * and how long the thread was ready to run while another had its CPU. What it was neither in calls
 * nor waiting for, the host took.
 * Exit status 1 when a rate is beyond its limit or intended Poisson gaps are not exponential.
 */

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/pace.h"
#include "engine/queues.h"
#include "stats/histogram.h"

static uint64_t *stamps;
static size_t stamp_count, stamp_room;

/* What the pacing thread was in while it did not look at the clock. */
enum stretch_kind { STRETCH_SUBMIT, STRETCH_REAP, STRETCH_YIELD, STRETCH_OWN, STRETCH_KINDS };
static struct stretch {
	uint64_t begin_ns, end_ns;
	enum stretch_kind kind;
} *stretches;
static size_t stretch_count;
static const struct clock *stretch_clock;	/* NULL: not in a row */

static void note_stretch(enum stretch_kind kind, uint64_t begin_ns)
{
	const uint64_t end_ns = clock_now_ns(stretch_clock);

	if (end_ns - begin_ns > MICROSECOND_NS / 2 && stretch_count < stamp_room)
		stretches[stretch_count++] = (struct stretch){ begin_ns, end_ns, kind };
}

/* In place of the library's: the engine's own yields. */
int sched_yield(void)
{
	const uint64_t begin_ns = stretch_clock ? clock_now_ns(stretch_clock) : 0;
	const int r = (int)syscall(SYS_sched_yield);

	if (stretch_clock)
		note_stretch(STRETCH_YIELD, begin_ns);
	return r;
}

/* How long the calling thread has been ready to run without running. */
static uint64_t runnable_ns(void)
{
	unsigned long long ran_ns, waited_ns = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (f && fscanf(f, "%llu %llu", &ran_ns, &waited_ns) != 2)
		waited_ns = 0;
	if (f)
		fclose(f);
	return waited_ns;
}

static uint64_t waited_ns;	/* of a row, for other threads to leave the CPU */

struct noting {
	struct queue queue;
	struct queue *inner;
	const struct clock *clock;
	bool pushed;
};

static int noting_open(struct queue **ret, struct target *target,
		       const struct queue_options *options, struct err *err)
{
	struct noting *noting = calloc(1, sizeof(*noting));
	int r;

	if (!noting)
		return err_set(err, -ENOMEM, "no memory");
	r = queue_uring.open(&noting->inner, target, options, err);
	if (r < 0) {
		free(noting);
		return r;
	}
	noting->queue = (struct queue){ target->queue, target, noting->inner->facts };
	noting->clock = options->clock;
	waited_ns = runnable_ns();
	*ret = &noting->queue;
	return 0;
}

static void noting_close(struct queue *queue)
{
	struct noting *noting = (struct noting *)queue;

	waited_ns = runnable_ns() - waited_ns;
	queue_uring.close(noting->inner);
	free(noting);
}

static void noting_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct noting *noting = (struct noting *)queue;
	const uint64_t now_ns = clock_now_ns(noting->clock);

	for (uint32_t i = 0; i < count && stamp_count < stamp_room; i++)
		stamps[stamp_count++] = now_ns;
	noting->pushed = true;
	queue_uring.push(noting->inner, ios, count);
}

static int noting_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
		       uint32_t max_count, uint64_t deadline_ns)
{
	struct noting *noting = (struct noting *)queue;
	const uint64_t begin_ns = clock_now_ns(noting->clock);
	const int r = queue_uring.reap(noting->inner, done, min_count, max_count, deadline_ns);

	note_stretch(noting->pushed ? STRETCH_SUBMIT : STRETCH_REAP, begin_ns);
	noting->pushed = false;
	return r;
}

static const struct queue_ops noting_ops = {
	.name = "noting",
	.help = "io_uring, noting when requests start",
	.open = noting_open,
	.close = noting_close,
	.push = noting_push,
	.reap = noting_reap,
};

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Distance of the gaps between times to the exponential distribution of this mean. */
static double ks_distance(const uint64_t *times, size_t count, double mean_ns)
{
	const size_t n = count - 1;
	double *gaps = malloc(n * sizeof(*gaps)), distance = 0;

	for (size_t i = 0; i < n; i++)
		gaps[i] = (double)(times[i + 1] - times[i]);
	qsort(gaps, n, sizeof(*gaps), compare_doubles);
	for (size_t i = 0; i < n; i++) {
		const double want = 1 - exp(-gaps[i] / mean_ns);

		distance = fmax(distance, fmax(want - (double)i / (double)n,
					       (double)(i + 1) / (double)n - want));
	}
	free(gaps);
	return distance;
}

/* The asymptotic distribution, with Stephens' correction for finite n (1970). */
static double ks_p_value(double distance, size_t n)
{
	const double root = sqrt((double)n);
	const double t = distance * (root + 0.12 + 0.11 / root);
	double sum = 0;

	if (t < 0.2)
		return 1;	/* the series below does not converge; the value is 1 to 12 digits */
	for (int k = 1; k <= 100; k++)
		sum += (k % 2 ? 2 : -2) * exp(-2 * t * t * k * k);
	return sum < 0 ? 0 : sum > 1 ? 1 : sum;
}

static double gap_cv(const uint64_t *times, size_t count)
{
	const double n = (double)(count - 1);
	const double mean = (double)(times[count - 1] - times[0]) / n;
	double sum = 0;

	for (size_t i = 0; i + 1 < count; i++) {
		const double off = (double)(times[i + 1] - times[i]) - mean;

		sum += off * off;
	}
	return sqrt(sum / n) / mean;
}

struct plan_row {
	uint64_t rate_iops;
	uint32_t arrival;
};

/* The schedule that the engine followed: its seed and start are in the result. */
static uint64_t *intended(const struct measurement *m, size_t count)
{
	uint64_t *times = malloc(count * sizeof(*times));
	struct pace pace;

	pace_init(&pace,
		  &(struct pace_rate){ m->workload.rate_iops, 0,
				       m->workload.arrival == ARRIVAL_POISSON, 0 },
		  m->start_ns, random_mix(m->seed + 0x9000u));
	for (size_t i = 0; times && i < count; i++)
		times[i] = pace_take(&pace);
	return times;
}

/* Of the lateness beyond late_ns, shares by stretch; the rest passed outside of such calls. */
static void attribute(const uint64_t *times, uint64_t late_ns, double shares[STRETCH_KINDS])
{
	double total_ns = 1;
	size_t first = 0;

	for (size_t i = 0; i < stamp_count; i++) {
		if (stamps[i] - times[i] < late_ns)
			continue;
		total_ns += (double)(stamps[i] - times[i]);
		while (first < stretch_count && stretches[first].end_ns <= times[i])
			first++;
		for (size_t k = first; k < stretch_count && stretches[k].begin_ns < stamps[i]; k++) {
			const struct stretch *s = &stretches[k];
			const uint64_t begin_ns = s->begin_ns > times[i] ? s->begin_ns : times[i];
			const uint64_t end_ns = s->end_ns < stamps[i] ? s->end_ns : stamps[i];

			shares[s->kind] += end_ns > begin_ns ? (double)(end_ns - begin_ns) : 0;
		}
	}
	shares[STRETCH_OWN] = total_ns;
	for (int kind = 0; kind < STRETCH_OWN; kind++) {
		shares[STRETCH_OWN] -= shares[kind];
		shares[kind] /= total_ns;
	}
	shares[STRETCH_OWN] /= total_ns;
}

static bool report(const struct measurement *m)
{
	const struct workload *w = &m->workload;
	const bool poisson = w->arrival == ARRIVAL_POISSON;
	const double seconds = (double)w->runtime_ns / 1e9;
	const double want = (double)w->rate_iops * seconds;
	const double error = (double)m->lateness->count / want - 1;
	const double limit = poisson ? 3 / sqrt(want) : 1e-4;
	uint64_t *times = intended(m, stamp_count);
	double p_intended = 1, shares[STRETCH_KINDS] = { 0 };
	bool good;

	printf("%7llu %-7s %+8.4f %% (%6.4f) cv %4.2f", (unsigned long long)w->rate_iops,
	       poisson ? "poisson" : "fixed", error * 100, limit * 100, gap_cv(stamps, stamp_count));
	if (poisson) {
		const double mean_ns = 1e9 / (double)w->rate_iops;
		const double d_intended = ks_distance(times, stamp_count, mean_ns);
		const double d_real = ks_distance(stamps, stamp_count, mean_ns);

		p_intended = ks_p_value(d_intended, stamp_count - 1);
		printf("  KS %.4f (p %.2f) real %.4f", d_intended, p_intended, d_real);
	} else {
		printf("  %-31s", "");
	}
	for (size_t i = 0; i < stamp_count; i++) {
		if (stamps[i] < times[i]) {
			printf("  arrival %zu started before its time\n", i);
			free(times);
			return false;
		}
	}
	attribute(times, 5 * MICROSECOND_NS, shares);
	good = fabs(error) <= limit && p_intended > 0.001;
	printf("  late p50 %6.1f p99 %7.1f us  unserved %llu  cpu %3.0f %%  %s\n",
	       (double)histogram_percentile_ns(m->lateness, 500000) / 1e3,
	       (double)histogram_percentile_ns(m->lateness, 990000) / 1e3,
	       (unsigned long long)m->unserved_count, m->worker_cpu_max * 100,
	       good ? "ok" : "BEYOND ITS LIMIT");
	printf("        of what is 5 us late: in submissions %.0f %%, reaping %.0f %%, yields %.0f %%, "
	       "elsewhere %.0f %%; waited %.1f ms for the CPU\n", shares[STRETCH_SUBMIT] * 100, shares[STRETCH_REAP] * 100,
	       shares[STRETCH_YIELD] * 100, shares[STRETCH_OWN] * 100, (double)waited_ns / 1e6);
	free(times);
	return good;
}

static int run_row(struct target *target, const struct clock *clock, const struct plan_row *row,
		   const struct workload *base)
{
	struct workload w = *base;
	struct measurement m;
	struct err err = { 0 };
	bool good = false;
	int r;

	w.rate_iops = row->rate_iops;
	w.arrival = row->arrival;
	stamp_count = stretch_count = 0;
	stretch_clock = clock;
	measurement_init(&m);
	r = engine_run(&w, target, &(struct engine_options){ .clock = clock }, &m, &err);
	stretch_clock = NULL;
	if (r < 0)
		fprintf(stderr, "bench-arrivals: %s\n", err.text);
	else if (m.ended_early)
		fprintf(stderr, "bench-arrivals: %s\n", m.error_text);
	else
		good = report(&m);
	measurement_done(&m);
	return good ? 0 : 1;
}

/* Share of the time from which it is more than so long to the end of a gap. */
static double share_late(const uint64_t *gaps, size_t count, uint64_t late_ns, uint64_t total_ns)
{
	double sum_ns = 0;

	for (size_t i = 0; i < count; i++)
		sum_ns += gaps[i] > late_ns ? (double)(gaps[i] - late_ns) : 0;
	return sum_ns / (double)total_ns;
}

static double late_us_at(const uint64_t *gaps, size_t count, double share, uint64_t total_ns)
{
	uint64_t low_ns = 0, high_ns = SECOND_NS;

	while (high_ns - low_ns > 100) {
		const uint64_t middle_ns = (low_ns + high_ns) / 2;

		if (share_late(gaps, count, middle_ns, total_ns) > share)
			low_ns = middle_ns;
		else
			high_ns = middle_ns;
	}
	return (double)high_ns / 1e3;
}

/* Gaps below a microsecond are the loop's own and interrupts that no one could avoid. */
static void spin(const struct clock *clock, uint64_t total_ns)
{
	const uint64_t begin_ns = clock_now_ns(clock);
	uint64_t last_ns = begin_ns;
	size_t count = 0;

	while (last_ns - begin_ns < total_ns && count < stamp_room) {
		const uint64_t now_ns = clock_now_ns(clock);

		if (now_ns - last_ns > MICROSECOND_NS)
			stamps[count++] = now_ns - last_ns;
		last_ns = now_ns;
	}
	total_ns = last_ns - begin_ns;
	printf("a loop that only reads the clock: late p99 %.1f p99.9 %.1f us; more than "
	       "5 us late in %.2f %% of the time, 50 us in %.2f %%\n",
	       late_us_at(stamps, count, 0.01, total_ns),
	       late_us_at(stamps, count, 0.001, total_ns),
	       share_late(stamps, count, 5000, total_ns) * 100,
	       share_late(stamps, count, 50000, total_ns) * 100);
}

int main(int argc, char **argv)
{
	static const struct plan_row rows[] = {
		{ 10000, ARRIVAL_FIXED },   { 10000, ARRIVAL_POISSON },
		{ 40000, ARRIVAL_FIXED },   { 40000, ARRIVAL_POISSON },
		{ 100000, ARRIVAL_FIXED },  { 100000, ARRIVAL_POISSON },
		{ 300000, ARRIVAL_FIXED },  { 300000, ARRIVAL_POISSON },
	};
	const unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 3;
	const uint64_t only_iops = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	struct workload base;
	struct target *target;
	struct clock clock;
	struct err err = { 0 };
	int failed = 0;

	if (argc < 2 || seconds == 0) {
		fprintf(stderr, "usage: bench-arrivals TARGET [SECONDS] [DEPTH] [RATE]\n");
		return 2;
	}
	clock_init_real(&clock);
	if (target_open(&target, &(struct target_request){ .spec = argv[1], .clock = &clock },
			&err) < 0) {
		fprintf(stderr, "bench-arrivals: %s\n", err.text);
		return 2;
	}
	target->queue = &noting_ops;
	workload_init(&base);
	base.rw = RW_RANDREAD;
	base.repeat = true;
	base.depth_count = argc > 3 ? (uint32_t)atoi(argv[3]) : 64;
	base.runtime_ns = seconds * SECOND_NS;
	stamp_room = 400000u * seconds;
	stamps = malloc(stamp_room * sizeof(*stamps));
	stretches = malloc(stamp_room * sizeof(*stretches));
	if (!stretches) {
		free(stamps);
		stamps = NULL;
	}
	if (stamps)
		spin(&clock, base.runtime_ns);
	for (size_t i = 0; stamps && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!only_iops || rows[i].rate_iops == only_iops)
			failed |= run_row(target, &clock, &rows[i], &base);
	free(stretches);
	free(stamps);
	target_close(target);
	return failed;
}
