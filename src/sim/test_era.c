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

		if (strncmp(row->name, drive, strlen(drive)) != 0)
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

TESTS(TEST(kingston_m_slows_down_by_files_and_recovers_by_trim),
      TEST(m225_is_four_times_slower_when_its_file_fills_it),
      TEST(c300_is_eight_times_slower_misaligned), TEST(x25m_g1_loses_a_third_and_g2_nothing),
      TEST(jmf602_is_always_bad))
