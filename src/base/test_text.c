/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/check.h"
#include "base/err.h"
#include "base/random.h"
#include "base/text.h"

static const char *name_of(const void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

static void the_nearest_word_is_found_and_far_ones_are_not(void)
{
	static const char *const names[] = { "iodepth", "ioengine", "runtime", "rw", NULL };

	CHECK_STR(text_nearest("iodept", name_of, names), "iodepth");
	CHECK_STR(text_nearest("ioengien", name_of, names), "ioengine");
	CHECK(!text_nearest("filesystem", name_of, names));
	CHECK(!text_nearest("x", name_of, names));
	CHECK_EQ(text_distance("kitten", "sitting"), 3);
	CHECK_EQ(text_distance("", "abc"), 3);
}

static void an_error_reads_from_the_outside_in(void)
{
	struct err err = { 0 };

	CHECK_EQ(err_errno(&err, -ENOENT, "open '%s'", "x"), -ENOENT);
	CHECK_EQ(err_wrap(&err, "job '%s'", "a"), -ENOENT);
	CHECK_STR(err.text, "job 'a': open 'x': No such file or directory");
}

static void text_grows(void)
{
	struct text text = TEXT_INIT;

	CHECK_STR(text_string(&text), "");
	for (int i = 0; i < 1000; i++)
		text_add(&text, "%d,", i % 10);
	CHECK_EQ(text.length, 2000);
	CHECK_EQ(text.data[1999], ',');
	text_done(&text);
	CHECK_EQ(text_columns("68 µs"), 5);
}

/* Reference values: the published C code of xoshiro256++ seeded by splitmix64 from 1. */
static void the_generator_repeats_and_covers_evenly(void)
{
	struct random a, b;
	uint64_t sum = 0;

	random_init(&a, 1);
	random_init(&b, 1);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(random_u64(&a), random_u64(&b));
	for (int i = 0; i < 100000; i++) {
		const uint64_t value = random_below(&a, 10);

		CHECK(value < 10);
		sum += value;
	}
	CHECK_NEAR((double)sum / 1e5, 4.5, 0.05);
}

TESTS(TEST(the_nearest_word_is_found_and_far_ones_are_not), TEST(an_error_reads_from_the_outside_in),
      TEST(text_grows), TEST(the_generator_repeats_and_covers_evenly))
