/* SPDX-License-Identifier: MIT */
#include "base/check.h"

#include <stdlib.h>

#include "base/clock.h"
#include "measure/series.h"

static struct measurement of_seconds(const uint64_t *counts, size_t count)
{
	struct measurement m;

	measurement_init(&m);
	m.seconds = calloc(count, sizeof(*m.seconds));
	m.second_count = count;
	m.duration_ns = count * SECOND_NS;
	for (size_t i = 0; i < count; i++) {
		m.seconds[i].length_ns = SECOND_NS;
		m.seconds[i].ops[OP_READ].count = counts[i];
	}
	return m;
}

static struct measurement of_pulses(size_t count)
{
	struct measurement m;

	measurement_init(&m);
	m.pulses = calloc(count, sizeof(*m.pulses));
	m.pulse_count = count;
	m.pulse_ns = 50 * MILLISECOND_NS;
	m.duration_ns = count * m.pulse_ns;
	return m;
}

static enum level_kind kind_of(struct measurement *m)
{
	struct series series;
	struct level level;

	series_init(&series, m);
	series_classify(&series, &level);
	series_done(&series);
	measurement_done(m);
	return level.kind;
}

static void a_second_is_its_requests_of_all_kinds_over_its_length(void)
{
	const uint64_t counts[] = { 100, 100, 100 };
	struct measurement m = of_seconds(counts, 3);
	struct series series;

	m.seconds[0].ops[OP_WRITE].count = 50;
	m.seconds[0].ops[OP_SYNC].count = 7;	/* part of its write, not a request beside it */
	m.seconds[1].length_ns = SECOND_NS / 2;
	m.seconds[2].length_ns = SECOND_NS / 4;
	series_init(&series, &m);
	CHECK_EQ(series.count, 2);
	CHECK_NEAR(series.iops[0], 150, 1e-9);
	CHECK_NEAR(series.iops[1], 200, 1e-9);
	series_done(&series);
	measurement_done(&m);
	measurement_init(&m);
	series_init(&series, &m);
	CHECK_EQ(series.count, 0);
	series_done(&series);
}

static void pulses_are_grouped_to_about_fifty(void)
{
	static const struct {
		size_t pulses, want_count;
		double want_interval_s;
	} cases[] = { { 24, 24, 0.05 }, { 99, 99, 0.05 }, { 100, 50, 0.1 }, { 1200, 50, 1.2 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct measurement m = of_pulses(cases[i].pulses);
		struct series series;

		for (size_t k = 0; k < m.pulse_count; k++)
			m.pulses[k] = 10;
		series_init(&series, &m);
		CHECK_EQ(series.count, cases[i].want_count);
		CHECK_NEAR(series.interval_s, cases[i].want_interval_s, 1e-9);
		CHECK_NEAR(series.iops[0], 200, 1e-6);
		series_done(&series);
		measurement_done(&m);
	}
}

static void what_outlasts_its_pulses_is_taken_by_seconds(void)
{
	uint64_t counts[90];
	struct measurement m, pulses = of_pulses(1200);
	struct series series;

	for (size_t i = 0; i < 90; i++)
		counts[i] = 1000 + i % 3;
	m = of_seconds(counts, 90);
	m.pulses = pulses.pulses;
	m.pulse_count = pulses.pulse_count;
	m.pulse_ns = pulses.pulse_ns;
	series_init(&series, &m);
	CHECK_EQ(series.count, 90);
	CHECK_NEAR(series.interval_s, 1.0, 1e-9);
	series_done(&series);
	CHECK_EQ(kind_of(&m), LEVEL_LEVEL);
}

static void a_row_of_a_second_is_level_or_drifting(void)
{
	struct measurement flat = of_pulses(24), falling = of_pulses(24), brief = of_pulses(9);

	for (size_t k = 0; k < 24; k++) {
		flat.pulses[k] = (uint32_t)(100 + k % 3);
		falling.pulses[k] = (uint32_t)(200 - 4 * k);
	}
	CHECK_EQ(kind_of(&flat), LEVEL_LEVEL);
	CHECK_EQ(kind_of(&falling), LEVEL_DRIFTING);
	CHECK_EQ(kind_of(&brief), LEVEL_TOO_SHORT);
}

TESTS(TEST(a_second_is_its_requests_of_all_kinds_over_its_length),
      TEST(pulses_are_grouped_to_about_fifty), TEST(what_outlasts_its_pulses_is_taken_by_seconds),
      TEST(a_row_of_a_second_is_level_or_drifting))
