/* SPDX-License-Identifier: MIT */

/*
 * bench/sim-accuracy - what the reference drives give against what was published. Write
 * amplification against closed forms is printed by the test sim/wa.
 *	bench/sim-accuracy [SEEDS]
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "sim/era.h"

int main(int argc, char **argv)
{
	const int seeds = argc > 1 ? atoi(argv[1]) : 10;
	int missed = 0;

	if (seeds < 1 || seeds > 64) {
		fprintf(stderr, "sim-accuracy: between 1 and 64 seeds\n");
		return 2;
	}
	printf("%-24s %-36s %10s %10s %8s\n", "row", "recipe", "published", "drive", "");
	for (const struct era_row *row = era_rows; row->name; row++) {
		const double got = era_median(row, (uint32_t)seeds), want = row->published;
		const double scale = row->is_ratio ? 1 : (double)MIB;
		const bool met = fabs(got / want - 1) <= row->tolerance;

		if (want == 0) {
			printf("%-24s %-36s %10s %10.3f\n", row->name, row->what, "-", got / scale);
			continue;
		}
		missed += !met;
		printf("%-24s %-36s %10.3f %10.3f %+7.1f %%  %s\n", row->name, row->what,
		       want / scale, got / scale, 100 * (got / want - 1), met ? "" : "MISSED");
	}
	printf("rates in MiB/s, median of %d seeds; %d missed\n", seeds, missed);
	return missed > 0;
}
