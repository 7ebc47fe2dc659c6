/* SPDX-License-Identifier: MIT */
#include "foreign/fio_value.h"

#include <errno.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/defer.h"

static void sizes_are_fios(void)
{
	static const struct {
		const char *text;
		uint32_t kb_base;
		uint64_t want;
	} cases[] = {
		{ "4096", 1024, 4096 },	    { "4096b", 1024, 4096 },	   { "4k", 1024, 4096 },
		{ "4K", 1024, 4096 },	    { "6kb", 1024, 6144 },	   { "6ki", 1024, 6144 },
		{ "6KiB", 1024, 6000 },	    { "4k", 1000, 4000 },	   { "4ki", 1000, 4000 },
		{ "4KiB", 1000, 4096 },	    { "100MiB", 1024, 100000000 }, { "1m", 1024, 1048576 },
		{ "2g", 1024, 2147483648 }, { "1t", 1024, 1099511627776 }, { "0x1000", 1024, 4096 },
		{ "0x10k", 1024, 16384 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t bytes = 0;

		CHECK_EQ(fio_parse_bytes(cases[i].text, cases[i].kb_base, &bytes, NULL, NULL), 0);
		CHECK_EQ(bytes, cases[i].want);
	}
}

static void what_fio_passes_over_is_refused(void)
{
	static const char *const bad[] = { "",	  "k",	 "4kx", "1.5m",	 "1s",
					   "4 k", "-4k", "0x",	"4kibb", "99999999999p" };

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		uint64_t bytes = 7;

		CHECK(fio_parse_bytes(bad[i], 1024, &bytes, NULL, NULL) < 0);
		CHECK_EQ(bytes, 7);
	}
}

static void a_size_nobody_means_is_odd(void)
{
	uint64_t bytes;
	bool odd;

	CHECK_EQ(fio_parse_bytes("4KiB", 1024, &bytes, &odd, NULL), 0);
	CHECK(odd);
	CHECK_EQ(fio_parse_bytes("512KiB", 1024, &bytes, &odd, NULL), 0);
	CHECK(!odd); /* 512000 = 1000 x 512 */
	CHECK_EQ(fio_parse_bytes("4k", 1024, &bytes, &odd, NULL), 0);
	CHECK(!odd);
}

static void times_take_their_bare_unit(void)
{
	static const struct {
		const char *text;
		uint64_t bare_ns, want_ns;
	} cases[] = {
		{ "90", SECOND_NS, 90 * SECOND_NS },
		{ "90s", SECOND_NS, 90 * SECOND_NS },
		{ "1m", SECOND_NS, 60 * SECOND_NS },
		{ "500ms", SECOND_NS, 500 * MILLISECOND_NS },
		{ "1h", SECOND_NS, 3600 * SECOND_NS },
		{ "2d", SECOND_NS, 172800 * SECOND_NS },
		{ "10", MICROSECOND_NS, 10000 },
		{ "10usec", SECOND_NS, 10000 },
		{ "3msec", SECOND_NS, 3 * MILLISECOND_NS },
	};
	static const char *const bad[] = { "2min", "2hours", "1m30s", "5sec", "", "s", "1.5s" };

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t ns = 0;

		CHECK_EQ(fio_parse_time_ns(cases[i].text, cases[i].bare_ns, &ns, NULL), 0);
		CHECK_EQ(ns, cases[i].want_ns);
	}
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		uint64_t ns = 7;

		CHECK_EQ(fio_parse_time_ns(bad[i], SECOND_NS, &ns, NULL), -EINVAL);
		CHECK_EQ(ns, 7);
	}
}

static void arithmetic_has_its_order(void)
{
	static const struct {
		const char *text;
		uint64_t want;
	} cases[] = {
		{ "8*4096", 32768 }, { "(2+3)*4", 20 }, { "2+3*4", 14 },
		{ "7/2", 3 },	     { "7%4", 3 },	{ "2^10", 1024 },
		{ "10-2-3", 5 },     { "(4k)", 4096 },	{ "2 * (1m + 1k)", 2099200 },
		{ "-1+2", 1 },
	};
	static const char *const bad[] = { "1+",  "(1", "1)", "1/0",  "5%0",
					   "1-2", "x",	"",   "2^99", "1 2" };

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t value = 0;

		CHECK_EQ(fio_evaluate(cases[i].text, 1024, &value, NULL), 0);
		CHECK_EQ(value, cases[i].want);
	}
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		uint64_t value = 7;

		CHECK(fio_evaluate(bad[i], 1024, &value, NULL) < 0);
		CHECK_EQ(value, 7);
	}
}

static void amounts_are_bytes_shares_or_zones(void)
{
	struct fio_amount amount;

	CHECK_EQ(fio_parse_amount("25%", 1024, &amount, NULL), 0);
	CHECK(amount.set && amount.percent == 25 && amount.bytes == 0);
	CHECK_EQ(fio_parse_amount("8z", 1024, &amount, NULL), 0);
	CHECK(amount.zones == 8);
	CHECK_EQ(fio_parse_amount("1g", 1024, &amount, NULL), 0);
	CHECK_EQ(amount.bytes, 1073741824);
	CHECK_EQ(fio_parse_amount("101%", 1024, &amount, NULL), -ERANGE);
	CHECK_EQ(fio_parse_amount("1k%", 1024, &amount, NULL), -EINVAL);
	CHECK_EQ(fio_parse_amount("%", 1024, &amount, NULL), -EINVAL);
}

static void directions_are_cut_at_commas(void)
{
	char three[] = "4k,8k,", four[] = "1,2,3,4";
	const char *parts[FIO_DIRECTIONS];

	CHECK_EQ(fio_split_directions(three, parts), 3);
	CHECK_STR(parts[0], "4k");
	CHECK_STR(parts[1], "8k");
	CHECK_STR(parts[2], "");
	CHECK_EQ(fio_split_directions(four, parts), 0);
}

TESTS(TEST(sizes_are_fios), TEST(what_fio_passes_over_is_refused), TEST(a_size_nobody_means_is_odd),
      TEST(times_take_their_bare_unit), TEST(arithmetic_has_its_order),
      TEST(amounts_are_bytes_shares_or_zones), TEST(directions_are_cut_at_commas))
