/* SPDX-License-Identifier: MIT */

/*
 * The map in bulk leaves exactly what it leaves one write at a time. One at a time is the way
 * of timed requests, so the second drive gets the same addresses as requests.
 */

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/defer.h"
#include "base/random.h"
#include "sim/drive.h"
#include "sim/test_drive.h"

#define BATCH 700	/* more than the longest block here, and no multiple of anything */

static struct sim *open_drive(const char *more)
{
	char spec[256];

	snprintf(spec, sizeof(spec), "page-greedy,capacity=16m,content=off%s", more);
	return test_drive(spec);
}

static void submit(struct sim *sim, enum sim_kind kind, uint32_t unit, uint64_t units)
{
	const uint64_t now_ns = (sim->last_submit_ps + 999) / 1000;
	struct sim_result result;

	sim_submit(sim, now_ns, &(struct sim_request){ .kind = kind, .length_bytes = units * 4096,
		   .offset_bytes = unit * 4096ull }, &result);
	CHECK_EQ(result.error, 0);
}

/* A third of the writes goes to a few units, so that rows contain one more than once. */
static uint32_t draw(struct random *random, uint32_t units)
{
	return (uint32_t)random_below(random, random_below(random, 3) ? units : 40);
}

static bool same_map(const struct map *a, const struct map *b)
{
	return memcmp(a->l2p, b->l2p, a->units * sizeof(*a->l2p)) == 0 &&
	       memcmp(a->p2l, b->p2l, a->slots * sizeof(*a->p2l)) == 0 &&
	       memcmp(a->live, b->live, (a->slots + 63ull) / 64 * 8) == 0 &&
	       memcmp(a->valid, b->valid, a->blocks * sizeof(*a->valid)) == 0 &&
	       memcmp(a->filled, b->filled, a->blocks * sizeof(*a->filled)) == 0 &&
	       memcmp(a->erases, b->erases, a->blocks * sizeof(*a->erases)) == 0 &&
	       a->mapped == b->mapped && a->host_units == b->host_units &&
	       a->copied_units == b->copied_units && a->placed_units == b->placed_units;
}

static void bulk_leaves_what_single_writes_leave(void)
{
	static const char *const drives[] = {
		",op=12", ",op=7,pages_per_block=64", ",op=12,pages_per_block=50",
		",op=28,pages_per_block=200,gc=fifo", ",op=25,pages_per_block=512",
		",op=20,pages_per_block=33,gc=d-choices", ",op=25,pages_per_block=96,gc=random",
		",op=12,pages_per_block=64,gc=cost-benefit", ",op=12,trim_reads=old",
		",op=15,streams=separate", ",op=15,streams=hot-cold",
		",op=12,gc_interleave=on", ",op=12,wear_spread=4", ",op=12,state=steady",
		",op=20,pages_per_block=72,slc=dynamic,slc_size=20%,cell_bits=3",
	};
	uint32_t units[BATCH];

	for (size_t i = 0; i < ARRAY_COUNT(drives); i++) {
		struct sim *bulk = open_drive(drives[i]), *single = open_drive(drives[i]);
		struct random random;
		const char *broken;

		random_init(&random, i);
		for (int round = 0; round < 60; round++) {
			const uint32_t count = 1 + (uint32_t)random_below(&random, BATCH);

			for (uint32_t k = 0; k < count; k++) {
				units[k] = draw(&random, bulk->map.units);
				submit(single, SIM_WRITE, units[k], 1);
			}
			sim_write_units(bulk, units, count);
			submit(single, SIM_TRIM, units[0], 1);
			submit(bulk, SIM_TRIM, units[0], 1);
		}
		if (!same_map(&bulk->map, &single->map))
			printf("# differs: %s\n", drives[i]);
		CHECK(same_map(&bulk->map, &single->map));
		CHECK(single->map.erase_total > 20);
		CHECK(sim_consistent(bulk, &broken));
		sim_free(bulk);
		sim_free(single);
	}
}

TESTS(TEST(bulk_leaves_what_single_writes_leave))
