/* SPDX-License-Identifier: MIT */
#include "base/check.h"
#include "base/defer.h"
#include "base/random.h"
#include "stats/steady.h"

#define SERIES 10000
#define ROUNDS 25

static void the_worked_examples_are_decided_exactly(void)
{
	static const struct {
		double rounds[5], range, slope;
		bool want;
	} cases[] = {
		/* Slopes by hand: (2 (y5 - y1) + (y4 - y2)) / 10 x 4 / mean. */
		{ { 100, 97.4, 95, 92.6, 90 }, 10 / 95.0, -9.92 / 95, false },
		{ { 100, 90, 100, 110, 100 }, 0.20, 0.08, true },
		{ { 100, 100, 100, 100, 100 }, 0, 0, true },
		{ { 95, 97.5, 100, 102.5, 105 }, 0.10, 0.10, true },	/* both at the line's limit */
		{ { 94.9, 97.45, 100, 102.55, 105.1 }, 0.102, 0.102, false },
		{ { 90, 110, 100, 110, 90 }, 0.20, 0, true },		/* at the range's limit */
		{ { 89.9, 110, 100.1, 110, 90 }, 0.201, 0.0008, false },
		{ { 100, 100, 100, 100, 121 }, 21 / 104.2, 4 * 4.2 / 104.2, false },
		{ { 0, 0, 0, 0, 0 }, 0, 0, false },
		{ { 100, 100, NAN, 100, 100 }, 0, 0, false },
		{ { 100, 100, INFINITY, 100, 100 }, 0, 0, false },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct steady got;

		steady_judge(cases[i].rounds, 5, &got);
		CHECK_EQ(got.is_steady, cases[i].want);
		CHECK_NEAR(got.range_ratio, cases[i].range, 1e-4);
		CHECK_NEAR(got.slope_ratio, cases[i].slope, 1e-4);
	}
}

static void four_rounds_are_not_enough_and_the_last_five_count(void)
{
	const double rounds[] = { 900, 500, 100, 101, 99, 100, 100 };
	struct steady got;

	steady_judge(rounds, 4, &got);
	CHECK(!got.is_steady);
	steady_judge(rounds, 6, &got);
	CHECK(!got.is_steady);
	steady_judge(rounds, 7, &got);
	CHECK(got.is_steady);
	CHECK_EQ(got.first_round, 2);
	CHECK_NEAR(got.mean, 100, 1e-9);
	CHECK_EQ(steady_first(rounds, 7), 6);
	CHECK_EQ(steady_first(rounds, 6), 6);	/* none */
}

static void every_variable_must_be_steady_and_the_worst_is_told(void)
{
	const double rounds[3][8] = {
		{ 100, 100, 100, 100, 100 },
		{ 50, 60, 70, 80, 90 },
		{ 100, 104, 100, 96, 100 },
	};
	struct steady worst;

	CHECK(!steady_judge_all(rounds[0], 3, 8, 5, &worst));
	CHECK_NEAR(worst.mean, 70, 1e-9);
	CHECK(steady_judge_all(rounds[2], 1, 8, 5, &worst));
	CHECK_NEAR(worst.range_ratio, 0.08, 1e-9);
	CHECK(!steady_judge_all(rounds[0], 0, 8, 5, NULL));
}

/* Rounds of a drive that changes by the share in each round, with noise of sd 1 %. */
static void draw(struct random *random, double change, double sd, double rounds[ROUNDS])
{
	double level = 10000;

	for (size_t i = 0; i < ROUNDS; i++) {
		rounds[i] = level * (1 + sd * random_normal(random));
		level *= 1 + change;
	}
}

/* Each series gets 21 windows to be found steady in; 15 to 40 % of drift over a window. */
static void drifting_series_are_called_steady_in_less_than_1_percent(void)
{
	size_t wrong = 0;

	for (uint64_t seed = 1; seed <= SERIES; seed++) {
		struct random random;
		double rounds[ROUNDS], change;

		random_init(&random, seed);
		change = 0.0375 + 0.0625 * random_unit(&random);
		if (seed % 2)
			change = -change;
		draw(&random, change, 0.01, rounds);
		wrong += steady_first(rounds, ROUNDS) < ROUNDS;
	}
	printf("# %zu of %d drifting series called steady\n", wrong, SERIES);
	CHECK(wrong < SERIES / 100);
}

/* Write cliffs: a fall from a plateau to a tenth within a few rounds, seen from inside it. */
static void a_falling_drive_is_not_steady_while_it_falls(void)
{
	size_t wrong = 0;

	for (uint64_t seed = 1; seed <= SERIES; seed++) {
		double rounds[ROUNDS];
		struct random random;
		struct steady got;

		random_init(&random, seed);
		for (size_t i = 0; i < ROUNDS; i++) {
			const double age = (double)i / (3 + 5 * random_unit(&random));

			rounds[i] = 1000 * (1 + 9 * exp(-age)) * (1 + 0.02 * random_normal(&random));
		}
		for (size_t end = STEADY_ROUNDS; end <= 8; end++) {
			steady_judge(rounds, end, &got);
			wrong += got.is_steady;
		}
	}
	CHECK(wrong < SERIES / 100);
}

static void level_series_are_found_steady(void)
{
	size_t found = 0;

	for (uint64_t seed = 1; seed <= SERIES; seed++) {
		struct random random;
		double rounds[ROUNDS];

		random_init(&random, seed);
		draw(&random, 0, 0.03, rounds);
		found += steady_first(rounds, ROUNDS) < ROUNDS;
	}
	CHECK(found > SERIES * 99 / 100);
}

TESTS(TEST(the_worked_examples_are_decided_exactly),
      TEST(four_rounds_are_not_enough_and_the_last_five_count),
      TEST(every_variable_must_be_steady_and_the_worst_is_told),
      TEST(drifting_series_are_called_steady_in_less_than_1_percent),
      TEST(a_falling_drive_is_not_steady_while_it_falls),
      TEST(level_series_are_found_steady))
