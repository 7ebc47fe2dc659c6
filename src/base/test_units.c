/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"

static void sizes_follow_the_field(void)
{
	static const struct {
		const char *text;
		uint64_t want;
	} cases[] = {
		{ "0", 0 },	     { "4096", 4096 },	    { "4k", 4096 },
		{ "4K", 4096 },	     { "4KiB", 4096 },	    { "4kB", 4000 },
		{ "1.5g", 1610612736 }, { "2TB", 2000000000000 }, { "8m", 8388608 },
		{ "512b", 512 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t got = 1;

		CHECK_EQ(units_parse_bytes(cases[i].text, &got, NULL), 0);
		CHECK_EQ(got, cases[i].want);
	}
}

static void a_wrong_size_is_an_error_and_changes_nothing(void)
{
	static const char *const cases[] = {
		"", "k", "4q", "-1", "4 k", "1.k", "1..5k", "0x10", "4kk", "+4", "1e3", "nan", "4k ",
	};
	uint64_t got = 7;
	struct err err;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_EQ(units_parse_bytes(cases[i], &got, NULL), -EINVAL);
	CHECK_EQ(units_parse_bytes("99999999999999999999", &got, NULL), -ERANGE);
	CHECK_EQ(units_parse_bytes("8192p", &got, NULL), -ERANGE);
	CHECK_EQ(units_parse_bytes("16777216.5p", &got, NULL), -ERANGE);
	CHECK_EQ(got, 7);
	units_parse_bytes("4q", &got, &err);
	CHECK_STR(err.text, "'4q' is not a size; write bytes as 4096, 4k, 4KiB (1024) or 4kB (1000), "
			    "with k, m, g, t or p");
}

static void times_need_a_known_unit(void)
{
	uint64_t ns = 0;

	CHECK_EQ(units_parse_time_ns("90", &ns, NULL), 0);
	CHECK_EQ(ns, 90 * SECOND_NS);
	CHECK_EQ(units_parse_time_ns("500ms", &ns, NULL), 0);
	CHECK_EQ(ns, 500000000);
	CHECK_EQ(units_parse_time_ns("1h", &ns, NULL), 0);
	CHECK_EQ(ns, 3600 * SECOND_NS);
	CHECK_EQ(units_parse_time_ns("2hours", &ns, NULL), -EINVAL);
	CHECK_EQ(units_parse_time_ns("1m30s", &ns, NULL), -EINVAL);
}

static void shares_stay_within_a_hundred_percent(void)
{
	uint32_t ppm = 0;

	CHECK_EQ(units_parse_ppm("70", &ppm, NULL), 0);
	CHECK_EQ(ppm, 700000);
	CHECK_EQ(units_parse_ppm("0.1%", &ppm, NULL), 0);
	CHECK_EQ(ppm, 1000);
	CHECK_EQ(units_parse_ppm("101", &ppm, NULL), -ERANGE);
}

static void three_digits_and_the_next_unit_when_they_round_up(void)
{
	char text[UNITS_TEXT_BYTES];

	CHECK_STR(units_format_rate_bytes(6.912e9, text), "6.91 GB/s");
	CHECK_STR(units_format_rate_bytes(999.96e6, text), "1.00 GB/s");
	CHECK_STR(units_format_rate(14230, text), "14.2 k/s");
	CHECK_STR(units_format_rate(0, text), "0 /s");
	CHECK_STR(units_format_latency(68000, text), "68.0 µs");
	CHECK_STR(units_format_latency(812.3, text), "812 ns");
	CHECK_STR(units_format_size(8.0 * (double)GIB, text), "8.00 GiB");
	CHECK_STR(units_format_bytes(4096, text), "4k");
	CHECK_STR(units_format_bytes(4097, text), "4097");
	CHECK_STR(units_format_time_ns(90 * SECOND_NS, text), "90s");
	CHECK_STR(units_format_ppm(1000, text), "0.1%");
}

TESTS(TEST(sizes_follow_the_field), TEST(a_wrong_size_is_an_error_and_changes_nothing),
      TEST(times_need_a_known_unit), TEST(shares_stay_within_a_hundred_percent),
      TEST(three_digits_and_the_next_unit_when_they_round_up))
