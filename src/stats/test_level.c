/* SPDX-License-Identifier: MIT */
/*
 * The rates are those that the methods were chosen by: stationary AR(1) noise with a standard
 * deviation of 3 % of the mean, one sample a second. A rate may differ from its published value
 * by 3 standard errors of both simulations; false alarms may also be rarer.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/defer.h"
#include "base/random.h"
#include "stats/level.h"
#include "stats/series.h"
#include "stats/student.h"

#define TRIALS 1000
#define SAMPLES_MAX 600

static double samples[SAMPLES_MAX];

static void noise(struct random *r, size_t count, double correlation)
{
	double x = random_normal(r);

	for (size_t i = 0; i < count; i++) {
		samples[i] = 1000.0 * (1.0 + 0.03 * x);
		x = correlation * x + sqrt(1.0 - correlation * correlation) * random_normal(r);
	}
}

/* Three standard errors of a rate over ours and as many published trials. */
static double error3(double rate)
{
	return 3.0 * sqrt(2.0 * fmax(rate * (1.0 - rate), 0.001) / TRIALS);
}

static struct level classified(size_t count, double interval_s)
{
	struct level l;

	level_classify(samples, count, interval_s, &l);
	return l;
}

static void fill_with(size_t first, size_t end, double value)
{
	for (size_t i = first; i < end; i++)
		samples[i] = value;
}

/* Published tables of the t distribution. */
static void student_quantiles_are_those_of_the_tables(void)
{
	static const struct {
		double probability, freedom, want;
	} cases[] = {
		{ 0.05, 1, 12.706205 }, { 0.05, 2, 4.302653 },	{ 0.05, 10, 2.228139 },
		{ 0.05, 30, 2.042272 }, { 0.05, 1e6, 1.959966 }, { 0.001, 1, 636.619249 },
		{ 0.001, 5, 6.868827 }, { 0.01, 3, 5.840909 },	{ 0.5, 4, 0.740697 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_NEAR(student_two_sided(cases[i].probability, cases[i].freedom),
			   cases[i].want, cases[i].want * 1e-6);
}

static void tau_of_known_series(void)
{
	static const double alternating[] = { 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1 };
	struct random r;
	double mean_tau = 0.0;

	CHECK_NEAR(series_tau(alternating, 12), 1.0, 0.0);
	fill_with(0, 60, 0.1);
	CHECK_NEAR(series_tau(samples, 60), 1.0, 0.0);
	/* (1 + 0.8) / (1 - 0.8) = 9 in the long run. */
	random_init(&r, 3);
	for (int i = 0; i < 200; i++) {
		noise(&r, 600, 0.8);
		mean_tau += series_tau(samples, 600) / 200.0;
	}
	CHECK_NEAR(mean_tau, 9.0, 1.0);
}

static void false_steps_are_as_rare_as_published(void)
{
	static const struct {
		size_t count;
		double correlation, most;
	} cases[] = {
		{ 60, 0.0, 0.0 },  { 60, 0.5, 0.0005 },	 { 60, 0.8, 0.007 },  { 60, 0.95, 0.049 },
		{ 300, 0.0, 0.0 }, { 300, 0.5, 0.0005 }, { 300, 0.8, 0.007 }, { 300, 0.95, 0.049 },
	};

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		struct random r;
		int stepped = 0;

		random_init(&r, 10 + c);
		for (int i = 0; i < TRIALS; i++) {
			noise(&r, cases[c].count, cases[c].correlation);
			stepped += classified(cases[c].count, 1.0).kind == LEVEL_STEPPED;
		}
		CHECK((double)stepped / TRIALS <= cases[c].most + error3(cases[c].most));
	}
}

static void steps_of_ten_percent_are_found_where_they_are(void)
{
	static const struct {
		size_t count;
		double change, least;
	} cases[] = { { 60, 0.10, 0.80 }, { 300, 0.10, 0.90 }, { 300, 0.20, 0.99 } };

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		const size_t at = cases[c].count / 2;
		struct random r;
		int found = 0;

		random_init(&r, 20 + c);
		for (int i = 0; i < TRIALS; i++) {
			struct level l;

			noise(&r, cases[c].count, 0.0);
			for (size_t k = at; k < cases[c].count; k++)
				samples[k] *= 1.0 - cases[c].change;
			l = classified(cases[c].count, 1.0);
			found += l.kind == LEVEL_STEPPED && l.step_count == 1 &&
				 labs((long)l.steps[0] - (long)at) <= 2;
		}
		CHECK((double)found / TRIALS >= cases[c].least);
	}
}

/* The data-sheet case: 55 s out of the cache, then 5 %/s down to what the flash can do. */
static void a_write_cliff_is_one_step_with_both_levels_right(void)
{
	struct level l;
	double rate = 410000.0;
	size_t n = 55;

	fill_with(0, n, rate);
	while ((rate *= 0.95) > 78000.0)
		samples[n++] = rate;
	fill_with(n, n + 120, 78000.0);
	l = classified(n + 120, 1.0);
	CHECK_EQ(l.kind, LEVEL_STEPPED);
	CHECK_EQ(l.step_count, 1);
	CHECK_EQ(l.steps[0], 55);
	CHECK_NEAR(l.means[0], 410000.0, 0.0);
	CHECK_NEAR(l.means[l.step_count], 78000.0, 780.0);
	CHECK(l.settles[0] >= 80 && l.settles[0] <= n);
}

/* USB enclosure: fast cache, a dip while it is emptied, then the flash. */
static void a_dip_between_two_levels_is_their_step(void)
{
	struct level l;

	fill_with(0, 60, 1880.0);
	fill_with(60, 65, 600.0);
	fill_with(65, 465, 1450.0);
	l = classified(465, 1.0);
	CHECK_EQ(l.kind, LEVEL_STEPPED);
	CHECK_EQ(l.steps[0], 60);
	CHECK_NEAR(l.means[0], 1880.0, 0.0);
	CHECK_NEAR(l.means[l.step_count], 1450.0, 15.0);
}

static void two_steps_give_three_levels(void)
{
	struct level l;

	fill_with(0, 23, 300.0);
	fill_with(23, 71, 200.0);
	fill_with(71, 120, 250.0);
	l = classified(120, 1.0);
	CHECK_EQ(l.step_count, 2);
	CHECK_EQ(l.steps[0], 23);
	CHECK_EQ(l.settles[0], 23);
	CHECK_EQ(l.steps[1], 71);
	CHECK_NEAR(l.means[0], 300.0, 0.0);
	CHECK_NEAR(l.means[1], 200.0, 0.0);
	CHECK_NEAR(l.means[2], 250.0, 0.0);
}

/* A row of a check: 6 s in samples of 100 ms. */
static void short_runs_of_short_samples_are_judged_too(void)
{
	struct random r;
	struct level l;
	int level = 0;

	random_init(&r, 30);
	for (int i = 0; i < TRIALS; i++) {
		noise(&r, 60, 0.5);
		level += classified(60, 0.1).kind == LEVEL_LEVEL;
	}
	CHECK(level >= 0.98 * TRIALS);

	noise(&r, 60, 0.0);
	for (size_t i = 30; i < 60; i++)
		samples[i] /= 4.0;
	l = classified(60, 0.1);
	CHECK_EQ(l.kind, LEVEL_STEPPED);
	CHECK_EQ(l.steps[0], 30);
	CHECK_EQ(classified(9, 0.1).kind, LEVEL_TOO_SHORT);
	CHECK_EQ(classified(10, 1.0).kind, LEVEL_LEVEL);
	CHECK_EQ(classified(0, 1.0).kind, LEVEL_TOO_SHORT);
}

/*
 * The published rates know no steps: a drift of 5 % and more is now and then taken for one, so
 * their "level" lies between ours and ours with the stepped ones.
 */
static void drift_is_told_at_the_published_rates(void)
{
	static const struct {
		double drift, level;
	} cases[] = { { 0.0, 1.0 }, { 0.05, 1.0 }, { 0.08, 0.95 }, { 0.10, 0.78 }, { 0.12, 0.42 } };

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		/* And with 0.9 % false cycles. */
		const double tolerance = error3(cases[c].level) + 0.009;
		double shares[LEVEL_TOO_SHORT + 1] = { 0 };
		struct random r;

		random_init(&r, 40 + c);
		for (int i = 0; i < TRIALS; i++) {
			noise(&r, 60, 0.5);
			for (size_t k = 0; k < 60; k++)
				samples[k] *= 1.0 + cases[c].drift * ((double)k / 59.0 - 0.5);
			shares[classified(60, 1.0).kind] += 1.0 / TRIALS;
		}
		CHECK(shares[LEVEL_LEVEL] <= cases[c].level + tolerance);
		CHECK(shares[LEVEL_LEVEL] + shares[LEVEL_STEPPED] >= cases[c].level - tolerance);
		CHECK(shares[LEVEL_STEPPED] <= 0.16);
	}
}

/* Slow at first and level after: the start is cut, not called a drift. */
static void a_start_that_ends_is_no_drift(void)
{
	struct random r;
	struct level l;

	random_init(&r, 90);
	noise(&r, 60, 0.0);
	for (size_t i = 0; i < 60; i++)
		samples[i] *= 1.0 - 0.6 * exp(-(double)i / 5.0);
	l = classified(60, 1.0);
	CHECK_EQ(l.kind, LEVEL_LEVEL);
	CHECK(l.cut_count >= 10 && l.cut_count <= 30);
	CHECK(!l.unsettled);
	CHECK_NEAR(l.means[0], 1000.0, 10.0);
}

static void cycles_are_found_with_their_period_and_noise_is_none(void)
{
	static const double correlations[] = { 0.0, 0.5, 0.8, 0.95 };
	static const struct {
		size_t period;
		double found;
	} cases[] = { { 3, 1.0 }, { 7, 0.91 }, { 10, 0.66 }, { 15, 0.25 } };

	for (size_t c = 0; c < ARRAY_COUNT(correlations); c++) {
		struct random r;
		int cyclic = 0;

		random_init(&r, 50 + c);
		for (int i = 0; i < TRIALS; i++) {
			noise(&r, 60, correlations[c]);
			cyclic += classified(60, 1.0).kind == LEVEL_CYCLIC;
		}
		CHECK((double)cyclic / TRIALS <= 0.009 + error3(0.009));
	}
	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		struct random r;
		int found = 0;

		random_init(&r, 60 + c);
		for (int i = 0; i < TRIALS; i++) {
			struct level l;

			noise(&r, 60, 0.0);
			for (size_t k = 0; k < 60; k += cases[c].period)
				samples[k] *= 0.9;
			l = classified(60, 1.0);
			found += l.kind == LEVEL_CYCLIC && l.period_count % cases[c].period == 0;
		}
		CHECK_NEAR((double)found / TRIALS, cases[c].found, error3(cases[c].found));
	}
}

static void the_interval_covers_the_mean_as_published(void)
{
	static const struct {
		size_t count;
		double correlation, covered;
	} cases[] = { { 300, 0.0, 0.95 }, { 300, 0.5, 0.95 }, { 600, 0.8, 0.95 } };

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		struct random r;
		int given = 0, covered = 0;

		random_init(&r, 70 + c);
		for (int i = 0; i < TRIALS; i++) {
			struct level l;

			noise(&r, cases[c].count, cases[c].correlation);
			l = classified(cases[c].count, 1.0);
			if (l.half_width_ratio == 0.0)
				continue;
			given++;
			covered += fabs(l.means[l.step_count] - 1000.0) <=
				   l.half_width_ratio * l.means[l.step_count];
		}
		CHECK(given >= 0.99 * TRIALS);
		CHECK_NEAR((double)covered / given, cases[c].covered, error3(cases[c].covered));
	}
}

static void the_start_is_cut_and_a_flat_run_loses_little(void)
{
	static const struct {
		double time_constant_s, cut_s, error;
	} cases[] = { { 0.0, 7, -0.0001 }, { 1.0, 11, -0.0002 }, { 3.0, 14, -0.0008 },
		      { 6.0, 19, -0.0023 } };

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		struct random r;
		double cut = 0.0, error = 0.0;

		random_init(&r, 80 + c);
		for (int i = 0; i < TRIALS; i++) {
			struct level l;

			noise(&r, 60, 0.5);
			for (size_t k = 0; k < 60 && cases[c].time_constant_s > 0.0; k++)
				samples[k] *= 1.0 - 0.4 * exp(-(double)k / cases[c].time_constant_s);
			l = classified(60, 1.0);
			cut += (double)l.cut_count / TRIALS;
			error += (l.means[l.step_count] / 1000.0 - 1.0) / TRIALS;
		}
		/* The published cuts are whole seconds; their sd is about 9 s. */
		CHECK_NEAR(cut, cases[c].cut_s, 0.5 + 3.0 * 9.0 * sqrt(2.0 / TRIALS));
		CHECK_NEAR(error, cases[c].error, 0.0015);
	}
}

static void a_constant_series_is_level_and_zero_is_a_number(void)
{
	struct level l;

	fill_with(0, 60, 0.1);
	l = classified(60, 1.0);
	CHECK_EQ(l.kind, LEVEL_LEVEL);
	CHECK_NEAR(l.means[0], 0.1, 1e-15);
	CHECK_NEAR(l.half_width_ratio, 0.0, 1e-9);
	CHECK_NEAR(l.effective_count, 60.0, 0.0);
	fill_with(0, 60, 0.0);
	l = classified(60, 1.0);
	CHECK_EQ(l.kind, LEVEL_LEVEL);
	CHECK_NEAR(l.range_ratio, 0.0, 0.0);
	/* A drive that stops answering. */
	fill_with(0, 30, 500.0);
	l = classified(60, 1.0);
	CHECK_EQ(l.kind, LEVEL_STEPPED);
	CHECK_EQ(l.steps[0], 30);
	CHECK_NEAR(l.means[1], 0.0, 0.0);
}

static void a_start_that_does_not_end_is_said(void)
{
	struct level l;

	for (size_t i = 0; i < 60; i++)
		samples[i] = 1000.0 + 4.0 * (double)i;
	l = classified(60, 1.0);
	CHECK(l.unsettled);
	CHECK_EQ(l.cut_count, 30);
	CHECK_STR(level_name(LEVEL_CYCLIC), "cyclic");
	CHECK_STR(level_name(LEVEL_TOO_SHORT), "too short");
}

TESTS(
	TEST(student_quantiles_are_those_of_the_tables),
	TEST(tau_of_known_series),
	TEST(false_steps_are_as_rare_as_published),
	TEST(steps_of_ten_percent_are_found_where_they_are),
	TEST(a_write_cliff_is_one_step_with_both_levels_right),
	TEST(a_dip_between_two_levels_is_their_step),
	TEST(two_steps_give_three_levels),
	TEST(short_runs_of_short_samples_are_judged_too),
	TEST(drift_is_told_at_the_published_rates),
	TEST(a_start_that_ends_is_no_drift),
	TEST(cycles_are_found_with_their_period_and_noise_is_none),
	TEST(the_interval_covers_the_mean_as_published),
	TEST(the_start_is_cut_and_a_flat_run_loses_little),
	TEST(a_constant_series_is_level_and_zero_is_a_number),
	TEST(a_start_that_does_not_end_is_said),
)
