/* SPDX-License-Identifier: MIT */

/* The published figures come out of the articles' procedures, each within its level. */

#include "base/check.h"

#include "protocol/seeds.h"

static void every_level_is_met(void)
{
	struct err err = { 0 };
	struct seeds seeds;

	CHECK_EQ(seeds_run(&seeds, 10, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(seeds.row_count, 22);
	for (size_t i = 0; i < seeds.row_count; i++) {
		const struct seed_row *row = &seeds.rows[i];

		if (!row->met)
			printf("# %s, %s: published %g, ours %g\n", row->drive, row->what,
			       row->published, row->median);
		CHECK(row->met);
		CHECK(row->range_low <= row->median && row->median <= row->range_high);
	}
	seeds_done(&seeds);
}

TESTS(TEST(every_level_is_met))
