/* SPDX-License-Identifier: MIT */

/* alignment finds the unit the drive maps by. */

#include "scenario.h"

#include "base/units.h"

#define PLAIN "sim:page-greedy,capacity=256m,op=7%,channels=4,dies=2,content=off"

static void the_unit_is_found(void)
{
	static const struct {
		const char *drive, *code;
		uint64_t unit_bytes;
	} cases[] = {
		{ PLAIN, "costs-much", 4 * KIB },
		{ PLAIN ",seed=2,page=8k,mapping_unit=8k", "large-unit", 8 * KIB },
		{ PLAIN ",seed=3,page=16k,mapping_unit=16k,pages_per_block=32", "large-unit",
		  16 * KIB },
		{ PLAIN ",seed=4,page=32k,mapping_unit=32k,pages_per_block=16", "large-unit",
		  32 * KIB },
		{ PLAIN ",seed=5,page=16k,mapping_unit=4k,pages_per_block=32", "costs-much",
		  4 * KIB },
		{ PLAIN ",seed=6,page=16k,mapping_unit=8k,pages_per_block=32", "large-unit",
		  8 * KIB },
		{ "sim:c300,capacity=256m,content=off,seed=7", "costs-much", 4 * KIB },
		{ "sim:m225,capacity=512m,content=off,seed=8", "large-unit", 32 * KIB },
		{ PLAIN ",seed=9,mapping_unit=512,page=4k", "indifferent", 0 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CHECK_EQ(
			scenario_run(&(struct scenario){ "alignment", cases[i].drive, NULL, 0, 0 }),
			0);
		printf("# %s\n#\t%s: %s %s\n", cases[i].drive, outcome.verdict_code,
		       outcome.verdict_text, scenario_err.text);
		CHECK_STR(outcome.verdict_code, cases[i].code);
		CHECK_EQ(scenario_value("unit"), cases[i].unit_bytes);
		protocol_outcome_done(&outcome);
	}
}

TESTS(TEST(the_unit_is_found))
