/* SPDX-License-Identifier: MIT */

/* The era's published figures, median of ten seeds each, within the stated tolerance. */

#include "base/check.h"
#include "base/units.h"
#include "sim/era.h"

#define SEEDS 10

static void check_rows(const char *drive)
{
	for (const struct era_row *row = era_rows; row->name; row++) {
		double got;

		if (strncmp(row->name, drive, strlen(drive)) != 0 || row->published == 0)
			continue;
		got = era_median(row, SEEDS);
		printf("# %-24s published %8.3f, drive %8.3f (%+.1f %%)\n", row->name,
		       row->published / (row->is_ratio ? 1 : (double)MIB),
		       got / (row->is_ratio ? 1 : (double)MIB), 100 * (got / row->published - 1));
		CHECK_NEAR(got / row->published, 1, row->tolerance);
	}
}

static void kingston_m_slows_down_by_files_and_recovers_by_trim(void)
{
	check_rows("m80");
}

static void m225_is_four_times_slower_when_its_file_fills_it(void)
{
	check_rows("m225");
}

static void c300_is_eight_times_slower_misaligned(void)
{
	check_rows("c300");
}

static void x25m_g1_loses_a_third_and_g2_nothing(void)
{
	check_rows("x25m");
}

static void jmf602_is_always_bad(void)
{
	check_rows("jmf602");
}

static double rate_of(const char *name)
{
	for (const struct era_row *row = era_rows; row->name; row++) {
		if (strcmp(row->name, name) == 0)
			return row->run(1);
	}
	return 0;
}

/* The article: nothing the host does short of an erase brings a G1 back. */
static void only_an_erase_brings_a_g1_back(void)
{
	const double clean = rate_of("x25m-g1 clean"), used = rate_of("x25m-g1 used");
	const double rested = rate_of("x25m-g1 used and rested");
	const double erased = rate_of("x25m-g1 erased");

	CHECK(used < 0.8 * clean);
	CHECK_NEAR(rested / used, 1, 0.1);
	CHECK_NEAR(erased / clean, 1, 0.01);
}

/* A pass in order over all addresses helps the next one, on a fragmented drive. */
static void a_sequential_pass_heals_sequential_writes(void)
{
	const double first = rate_of("m80 first pass"), second = rate_of("m80 second pass");

	CHECK(second > 1.2 * first);
}

/* Sub-unit starts cost little where the firmware does not wait for the reads. */
static void misalignment_costs_less_when_reads_do_not_block(void)
{
	const double blocking = rate_of("c300 aligned/misaligned");
	const double background = rate_of("c300 without blocking");

	CHECK(blocking > 2);
	CHECK(background < blocking / 2);
}

TESTS(TEST(only_an_erase_brings_a_g1_back), TEST(a_sequential_pass_heals_sequential_writes),
      TEST(misalignment_costs_less_when_reads_do_not_block),
      TEST(kingston_m_slows_down_by_files_and_recovers_by_trim),
      TEST(m225_is_four_times_slower_when_its_file_fills_it),
      TEST(c300_is_eight_times_slower_misaligned), TEST(x25m_g1_loses_a_third_and_g2_nothing),
      TEST(jmf602_is_always_bad))
