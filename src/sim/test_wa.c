/* SPDX-License-Identifier: MIT */

/*
 * Write amplification against closed forms, each computed here from its formula, not from
 * the simulator. alpha = usable physical over logical pages = 1 + op. Sources: greedy with
 * finite blocks, Bux and Iliadis 2010; FIFO, Desnoyers 2012; d-choices, Van Houdt 2013;
 * discard, Frankie et al. 2012; random victim and hybrid log by counting.
 */

#include <stdlib.h>

#include "base/check.h"
#include "base/random.h"
#include "sim/sim.h"
#include "sim/test_drive.h"

/*
 * A drive of 2 GiB: 2048 blocks of 256 pages, sampling noise about 0.1 %. The formulas are
 * limits for many blocks, so the largest blocks get a drive of 4 GiB.
 */
static uint32_t unit_count = 1u << 19;
#define UNITS unit_count

static void write_random(struct sim *sim, struct random *random, uint64_t count)
{
	uint32_t units[1024];

	for (; count > 0; count -= count < 1024 ? count : 1024) {
		for (int i = 0; i < 1024; i++)
			units[i] = (uint32_t)random_below(random, UNITS);
		sim_write_units(sim, units, count < 1024 ? count : 1024);
	}
}

/* Uniform random writes: two fills to settle, then fills measured. */
static double measure(const char *spec, uint32_t fills)
{
	struct sim *sim = test_drive(spec);
	struct sim_stats stats;
	struct random random;
	const char *broken;

	random_init(&random, 99);
	write_random(sim, &random, 2ull * UNITS);
	sim_stats_mark(sim);
	write_random(sim, &random, (uint64_t)fills * UNITS);
	sim_stats_since(sim, &stats);
	CHECK(sim_consistent(sim, &broken));
	sim_free(sim);
	return stats.write_amplification;
}

/* Victims hold j valid pages with probability p, else j + 1. */
static double greedy_formula(double alpha, uint32_t b)
{
	double harmonic_b = 0;

	for (uint32_t k = 1; k <= b; k++)
		harmonic_b += 1.0 / k;
	for (uint32_t j = 0; j < b; j++) {
		double harmonic = 0, p;

		for (uint32_t k = 1; k <= j + 1; k++)
			harmonic += 1.0 / k;
		/* alpha / b (b - j - 1 + p) = H_b - H_(j+1) + p / (j + 1) */
		p = (harmonic_b - harmonic - alpha / b * (b - j - 1.0)) /
		    (alpha / b - 1.0 / (j + 1.0));
		if (p > 0 && p <= 1)
			return b / (b - j - 1 + p);
	}
	return 0;
}

/* x = exp(-alpha (1 - x)), A = 1 / (1 - x), for x < 1. */
static double fifo_formula(double alpha)
{
	double x = 0;

	for (int i = 0; i < 100000; i++)
		x = exp(-alpha * (1 - x));
	return 1 / (1 - x);
}

/* k (G_k - G_k+1) = r (1 - G_k^d), k = b .. 1, sum G_k = b / alpha. */
static double choices_sum(uint32_t b, double d, double r)
{
	double above = 0, sum = 0;

	for (uint32_t k = b; k >= 1; k--) {
		double low = above, high = 1;

		for (int i = 0; i < 60; i++) {
			const double g = (low + high) / 2;

			if (k * (g - above) < r * (1 - pow(g, d)))
				low = g;
			else
				high = g;
		}
		above = low;
		sum += low;
	}
	return sum;
}

/* A = r alpha / b per page of the block that is cleaned: r in units of its b pages. */
static double choices_formula(double alpha, uint32_t b, double d)
{
	double low = 0, high = 100.0 * b;

	for (int i = 0; i < 100; i++) {
		const double r = (low + high) / 2;

		if (choices_sum(b, d, r) < b / alpha)
			low = r;
		else
			high = r;
	}
	return low * alpha;
}

static void formulas_give_the_published_values(void)
{
	CHECK_NEAR(greedy_formula(1.12, 256), 4.7629, 0.0001);
	CHECK_NEAR(greedy_formula(1.07, 64), 7.0099, 0.0001);
	CHECK_NEAR(greedy_formula(1.50, 1024), 1.7136, 0.0001);
	CHECK_NEAR(fifo_formula(1.07), 7.8172, 0.0001);
	CHECK_NEAR(fifo_formula(1.28), 2.4814, 0.0001);
	CHECK_NEAR(choices_formula(1.12, 256, 10), 4.8955, 0.001);
	CHECK_NEAR(choices_formula(1.50, 64, 5), 1.8059, 0.001);
}

static const double percents[] = { 7, 12, 20, 28, 50 };

static void check_policy(const char *gc, uint32_t b, double (*want)(double op, uint32_t b))
{
	for (size_t i = 0; i < 5; i++) {
		char spec[128];
		double got, wanted = want(percents[i] / 100, b);

		snprintf(spec, sizeof(spec), "page-greedy,capacity=%uk,content=off,state=steady,"
			 "op=%g,pages_per_block=%u,gc=%s", UNITS * 4, percents[i], b, gc);
		/* A random victim's valid count varies most: measured longer. */
		got = measure(spec, gc[0] == 'r' ? 6 : 4);
		printf("# %-10s b=%-4u op=%2g %%: formula %.4f, drive %.4f (%+.2f %%)\n", gc, b,
		       percents[i], wanted, got, 100 * (got / wanted - 1));
		CHECK_NEAR(got / wanted, 1, 0.005);
	}
}

static double want_greedy(double op, uint32_t b)
{
	return greedy_formula(1 + op, b);
}

static double want_fifo(double op, uint32_t b)
{
	(void)b;
	return fifo_formula(1 + op);
}

static double want_random(double op, uint32_t b)
{
	(void)b;
	return (1 + op) / op;
}

static double want_choices(double op, uint32_t b)
{
	return choices_formula(1 + op, b, 10);
}

static void greedy_meets_the_finite_block_formula(void)
{
	check_policy("greedy", 64, want_greedy);
	check_policy("greedy", 256, want_greedy);
	unit_count = 1u << 20;
	check_policy("greedy", 1024, want_greedy);
	unit_count = 1u << 19;
}

static void fifo_meets_the_lambert_formula(void)
{
	check_policy("fifo", 256, want_fifo);
}

static void random_victim_costs_alpha_over_op(void)
{
	unit_count = 1u << 20;
	check_policy("random", 256, want_random);
	unit_count = 1u << 19;
}

static void ten_choices_meet_van_houdt(void)
{
	check_policy("d-choices", 256, want_choices);
}

/*
 * Each request is a discard of a random page in use with probability q, else a uniform
 * write. Live fraction s = (1 - 2q) / (1 - q); spare is what is not live.
 */
static double measure_trim(const char *spec, double q)
{
	const uint32_t live = (uint32_t)((1 - 2 * q) / (1 - q) * UNITS);
	struct sim *sim = test_drive(spec);
	struct sim_request trim = { .kind = SIM_TRIM, .length_bytes = 4096 };
	uint32_t *used = malloc(UNITS * sizeof(*used)), *place = malloc(UNITS * sizeof(*place));
	uint32_t count = UNITS, unit;
	struct sim_result result;
	struct sim_stats stats;
	struct random random;

	random_init(&random, 5);
	for (uint32_t i = 0; i < UNITS; i++)
		used[i] = place[i] = i;
	for (uint64_t i = 0; i < 7ull * UNITS; i++) {
		if (i == 4ull * UNITS)
			sim_stats_mark(sim);
		/* At first discards only, down to the expected live fraction. */
		if (i < UNITS - live || (count > 0 && random_unit(&random) < q)) {
			const uint32_t at = (uint32_t)random_below(&random, count);

			unit = used[at];
			used[at] = used[--count];
			place[used[at]] = at;
			place[unit] = UINT32_MAX;
			trim.offset_bytes = unit * 4096ull;
			sim_submit(sim, 0, &trim, &result);
			continue;
		}
		unit = (uint32_t)random_below(&random, UNITS);
		if (place[unit] == UINT32_MAX) {
			place[unit] = count;
			used[count++] = unit;
		}
		sim_write_units(sim, &unit, 1);
	}
	sim_stats_since(sim, &stats);
	sim_free(sim);
	free(used);
	free(place);
	return stats.write_amplification;
}

static void discarded_space_is_spare(void)
{
	static const struct {
		const char *gc;
		double op, q;
	} cases[] = {
		{ "greedy", 12, 0.1 }, { "greedy", 12, 0.2 }, { "greedy", 12, 0.3 },
		{ "greedy", 28, 0.1 }, { "greedy", 28, 0.3 }, { "fifo", 12, 0.1 },
		{ "fifo", 12, 0.3 },
	};

	for (size_t i = 0; i < 7; i++) {
		const double q = cases[i].q, s = (1 - 2 * q) / (1 - q);
		const double alpha = (1 + cases[i].op / 100) / s;
		const bool greedy = cases[i].gc[0] == 'g';
		double got, want = greedy ? greedy_formula(alpha, 256) : fifo_formula(alpha);
		char spec[128];

		snprintf(spec, sizeof(spec), "page-greedy,capacity=%uk,content=off,state=steady,"
			 "op=%g,gc=%s", UNITS * 4, cases[i].op, cases[i].gc);
		got = measure_trim(spec, q);
		printf("# %-6s op=%2g %% trim q=%.1f: formula %.4f, drive %.4f (%+.2f %%)\n",
		       cases[i].gc, cases[i].op, q, want, got, 100 * (got / want - 1));
		CHECK_NEAR(got / want, 1, 0.005);
	}
}

/* A fraction f of the pages gets a share h of the writes. */
static double measure_skew(const char *spec, double f, double h)
{
	struct sim *sim = test_drive(spec);
	const uint32_t hot = (uint32_t)(f * UNITS);
	struct sim_stats stats;
	struct random random;
	uint32_t units[1024];

	random_init(&random, 17);
	for (uint64_t done = 0; done < 14ull * UNITS; done += 1024) {
		for (int i = 0; i < 1024; i++)
			units[i] = (uint32_t)(random_unit(&random) < h ?
				random_below(&random, hot) :
				hot + random_below(&random, UNITS - hot));
		if (done == 10ull * UNITS)
			sim_stats_mark(sim);
		sim_write_units(sim, units, 1024);
	}
	sim_stats_since(sim, &stats);
	sim_free(sim);
	return stats.write_amplification;
}

/* A = h / (1 - e^-(h/f alpha/A)) + (1-h) / (1 - e^-((1-h)/(1-f) alpha/A)). */
static double skew_formula(double alpha, double f, double h)
{
	double low = 1, high = 100;

	for (int i = 0; i < 200; i++) {
		const double a = (low + high) / 2;
		const double next = h / (1 - exp(-h / f * alpha / a)) +
				    (1 - h) / (1 - exp(-(1 - h) / (1 - f) * alpha / a));

		if (a < next)
			low = a;
		else
			high = a;
	}
	return low;
}

static void skewed_writes_in_one_log(void)
{
	static const struct {
		double op, f, h;
	} cases[] = {
		{ 12, .2, .8 }, { 28, .2, .8 }, { 12, .1, .9 }, { 28, .1, .9 }, { 12, .05, .95 },
	};

	CHECK_NEAR(skew_formula(1.12, .2, .8), 5.2042, 0.0002);
	for (size_t i = 0; i < 5; i++) {
		const double want = skew_formula(1 + cases[i].op / 100, cases[i].f, cases[i].h);
		double got;
		char spec[128];

		snprintf(spec, sizeof(spec), "page-greedy,capacity=%uk,content=off,state=steady,"
			 "op=%g,gc=fifo", UNITS * 4, cases[i].op);
		got = measure_skew(spec, cases[i].f, cases[i].h);
		printf("# fifo op=%2g %% %g/%g: formula %.4f, drive %.4f (%+.2f %%)\n",
		       cases[i].op, cases[i].f, cases[i].h, want, got, 100 * (got / want - 1));
		CHECK_NEAR(got / want, 1, 0.005);
	}
}

/* Separation must help: below one log for all, above the best split of the spare. */
static void hot_and_cold_apart_cost_less(void)
{
	static const double ops[] = { 0.12, 0.28 }, best[] = { 3.306, 1.852 };
	const double mixed[] = { skew_formula(1.12, .2, .8), skew_formula(1.28, .2, .8) };

	for (size_t i = 0; i < 2; i++) {
		char spec[128];
		double got;

		snprintf(spec, sizeof(spec), "page-greedy,capacity=%uk,content=off,state=steady,"
			 "op=%g,streams=hot-cold", UNITS * 4, ops[i] * 100);
		got = measure_skew(spec, .2, .8);
		printf("# hot/cold apart op=%g %%: %.3f, between %.3f and %.3f\n", ops[i] * 100,
		       got, best[i], mixed[i]);
		CHECK(got > best[i] && got < mixed[i]);
	}
}

/* A = 1 + B / (1 + lambda B), blocks of B pages, a log of lambda of the capacity. */
static void hybrid_log_meets_its_formula(void)
{
	static const struct {
		uint32_t b;
		double log_percent;
	} cases[] = { { 64, 3.5 }, { 64, 7 }, { 64, 14 }, { 128, 3.5 }, { 128, 7 }, { 512, 3.5 } };

	for (size_t i = 0; i < 6; i++) {
		const double b = cases[i].b, lambda = cases[i].log_percent / 100;
		const double want = 1 + b / (1 + lambda * b);
		double got;
		char spec[128];

		unit_count = cases[i].b > 128 ? 1u << 20 : 1u << 19;
		snprintf(spec, sizeof(spec), "page-greedy,capacity=%uk,content=off,state=filled,"
			 "mapping=hybrid,pages_per_block=%u,log=%g", UNITS * 4, cases[i].b,
			 cases[i].log_percent);
		got = measure(spec, 1);
		printf("# hybrid b=%-3u log=%g %%: formula %.3f, drive %.3f (%+.2f %%)\n",
		       cases[i].b, cases[i].log_percent, want, got, 100 * (got / want - 1));
		CHECK_NEAR(got / want, 1, 0.03);
	}
}

/* The dealt state is the settled one: no warm-up changes it. */
static void steady_state_is_steady_from_the_first_write(void)
{
	struct sim *sim = test_drive("page-greedy,capacity=4g,content=off,state=steady,op=12");
	struct sim_stats stats;
	struct random random;

	random_init(&random, 3);
	write_random(sim, &random, UNITS / 4);
	sim_stats(sim, &stats);
	CHECK_NEAR(stats.write_amplification / 4.7629, 1, 0.005);
	sim_free(sim);
}

/* The way of a benchmark: 8 GiB of requests, 32 at a time, on a steady drive of 1 GiB. */
static void requests_give_the_same_amplification(void)
{
	struct sim *sim = test_drive("page-greedy,capacity=1g,op=12,pages_per_block=256,"
				     "state=steady");
	struct sim_request request = { .kind = SIM_WRITE, .length_bytes = 4096 };
	uint64_t done[32] = { 0 }, now = 0;
	struct sim_result result;
	struct sim_stats stats;
	struct random random;

	random_init(&random, 8);
	for (uint64_t i = 0; i < 8 * 262144; i++) {
		now = done[i % 32] > now ? done[i % 32] : now;
		request.offset_bytes = random_below(&random, 262144) * 4096;
		request.tag = i + 1;
		sim_submit(sim, now, &request, &result);
		done[i % 32] = result.done_ns;
	}
	sim_stats(sim, &stats);
	printf("# 8 GiB of requests: %.4f\n", stats.write_amplification);
	CHECK_NEAR(stats.write_amplification / 4.763, 1, 0.005);
	sim_free(sim);
}

TESTS(TEST(formulas_give_the_published_values), TEST(greedy_meets_the_finite_block_formula),
      TEST(fifo_meets_the_lambert_formula), TEST(random_victim_costs_alpha_over_op),
      TEST(ten_choices_meet_van_houdt), TEST(discarded_space_is_spare),
      TEST(skewed_writes_in_one_log), TEST(hot_and_cold_apart_cost_less),
      TEST(hybrid_log_meets_its_formula), TEST(requests_give_the_same_amplification),
      TEST(steady_state_is_steady_from_the_first_write))
