/* SPDX-License-Identifier: MIT */

/*
 * alignment - what it costs to write where the drive's own unit of mapping does not begin, and
 * how large that unit is.
 *
 *	offsets	random 4 KiB writes whose starts are all congruent to k modulo 4096, k = 0, 512 ...
 *		3584, and writes with starts on any sector
 *	units	for m = 512 ... 32 KiB: writes of 2m at starts congruent to m, and to 0, modulo 4m.
 *		A unit of 2m makes the first touch two units in part and the second one in full;
 *		a smaller unit is met in full by both, a larger one in part by both. So the pair
 *		differs for the drive's unit, and for it alone.
 *
 * All into a part of the drive that was written once, in rounds of shuffled order.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"
#include "base/random.h"
#include "base/units.h"
#include "protocol/kit.h"
#include "protocol/recovery.h"

#define ROUNDS 3
#define OFFSETS 8 /* starts on sectors of 512 bytes in 4 KiB */
#define SECTOR 512
#define UNITS 7		/* 2m: 1 to 64 KiB */
#define PART_SHARE 0.25 /* written before: with so much free space nothing is cleaned */
#define PART_MAX (16 * GIB)
#define CELL_SHARE (1.0 / 64) /* of the part: twice the part in all, half of the drive */
#define CELL_NS (60 * SECOND_NS)

/* Limits (protocols.md section 3; ours). */
#define COSTS 1.1
#define COSTS_MUCH 2.0

static const uint32_t depths[] = { 1, 3, 32 };
#define DEPTHS ARRAY_COUNT(depths)

struct alignment {
	struct kit *kit;
	uint64_t part_bytes;
	struct samples offsets[DEPTHS][OFFSETS + 1]; /* the last: starts on any sector */
	struct samples units[UNITS][2];		     /* starts on 0, on m */
};

/* Every cell of a round by number. */
#define OFFSET_CELLS ((OFFSETS + 1) * DEPTHS)
#define CELLS (OFFSET_CELLS + 2 * UNITS)

static uint64_t cell_bytes(const struct alignment *a, uint64_t block_bytes)
{
	const uint64_t bytes = (uint64_t)((double)a->part_bytes * CELL_SHARE);

	return bytes < 16 * block_bytes ? 16 * block_bytes : bytes / block_bytes * block_bytes;
}

static struct samples *offset_cell(struct alignment *a, size_t cell, struct cell_plan *plan)
{
	const size_t depth = cell / (OFFSETS + 1), k = cell % (OFFSETS + 1);
	const bool is_mixed = k == OFFSETS;

	plan->block_bytes = 4 * KIB;
	plan->depth_count = depths[depth];
	plan->offset_bytes = is_mixed ? 0 : k * SECTOR;
	plan->align_bytes = is_mixed ? SECTOR : 4 * KIB;
	snprintf(plan->name, sizeof(plan->name),
		 is_mixed ? "4k on any sector, q%u" : "4k on %2$zu, q%1$u", depths[depth],
		 k * SECTOR);
	return &a->offsets[depth][k];
}

static struct samples *unit_cell(struct alignment *a, size_t cell, struct cell_plan *plan)
{
	const size_t unit = cell / 2;
	const uint64_t m = (uint64_t)SECTOR << unit;
	const bool is_off = cell % 2;

	plan->block_bytes = 2 * m;
	plan->depth_count = 3;
	plan->offset_bytes = is_off ? m : 0;
	plan->align_bytes = 4 * m;
	snprintf(plan->name, sizeof(plan->name), "%llu on %llu mod %llu",
		 (unsigned long long)(2 * m), (unsigned long long)plan->offset_bytes,
		 (unsigned long long)(4 * m));
	return &a->units[unit][is_off];
}

/* Whether the target can do it: starts and sizes in its logical blocks. */
static bool is_possible(const struct alignment *a, const struct cell_plan *plan)
{
	const uint64_t block = a->kit->logical_block_bytes;

	return plan->offset_bytes % block == 0 && plan->align_bytes % block == 0 &&
	       plan->block_bytes % block == 0;
}

static int run_cell(struct alignment *a, size_t cell, uint32_t round, struct err *err)
{
	struct cell_plan plan = { .rw = RW_RANDWRITE, .repeat = true, .runtime_ns = CELL_NS };
	struct samples *samples = cell < OFFSET_CELLS ? offset_cell(a, cell, &plan)
						      : unit_cell(a, cell - OFFSET_CELLS, &plan);
	struct protocol_cell done;
	const size_t length = strlen(plan.name);
	int r;

	if (!is_possible(a, &plan))
		return 0;
	snprintf(plan.name + length, sizeof(plan.name) - length, " %u", round + 1);
	plan.io_bytes = cell_bytes(a, plan.block_bytes);
	plan.size_bytes = (a->part_bytes - plan.offset_bytes) / plan.block_bytes * plan.block_bytes;
	r = kit_anchor(a->kit, err);
	if (r == 0)
		r = kit_refill(a->kit, a->part_bytes, err);
	if (r == 0)
		r = kit_measure(a->kit, &plan, &done, err);
	if (r == 0)
		samples_add(samples, done.iops);
	return r;
}

static int run_round(struct alignment *a, uint32_t round, struct err *err)
{
	struct random random;
	size_t order[CELLS];
	int r = 0;

	random_init(&random, a->kit->outcome->seed + round);
	for (size_t i = 0; i < CELLS; i++) {
		const size_t j = (size_t)random_below(&random, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (size_t i = 0; r == 0 && i < CELLS; i++)
		r = run_cell(a, order[i], round, err);
	return r;
}

/* A purged drive with a part of it written: on a file the drive's state is what it is. */
static int prepare(struct alignment *a, struct err *err)
{
	const enum target_kind kind = sitting_target(a->kit->sitting)->kind;
	const struct cell_plan fill = {
		.name = "fill",
		.rw = RW_WRITE,
		.block_bytes = 128 * KIB,
		.depth_count = 8,
		.size_bytes = a->part_bytes,
	};
	int r = kit_anchor(a->kit, err);

	if (r == 0 && (kind == TARGET_SIM || (kind == TARGET_BLOCK && kit_discards(a->kit))))
		r = kit_purge(a->kit, NULL, err);
	else if (r == 0)
		kit_note(a->kit, "the drive's state before is not known: it could not be purged");
	return r == 0 ? kit_step(a->kit, &fill, NULL, err) : r;
}

/* --- what it means --------------------------------------------------------------------- */

/* How many times slower off than on, from IOPS; 0 when not measured. */
static double cost(const struct samples *on, const struct samples *off)
{
	return on->count && off->count ? samples_mean(on) / samples_mean(off) : 0;
}

/* The rounds agree that off is slower: chance in a few short cells is no unit. */
static bool is_sure(const struct samples *on, const struct samples *off)
{
	const struct estimate drop = estimate_drop(on, off);

	return drop.known && drop.low > 0;
}

/*
 * The boundary that costs most is the unit's; a larger one that costs half as much extra is
 * preferred (two units, of mapping and of pages), less is noise or what follows from the first.
 */
static uint64_t find_unit(const struct alignment *a)
{
	double costs[UNITS], most = 0;
	uint64_t unit = 0;

	for (size_t i = 0; i < UNITS; i++) {
		char name[64];

		costs[i] = cost(&a->units[i][0], &a->units[i][1]);
		if (costs[i] == 0)
			continue;
		most = fmax(most, costs[i]);
		snprintf(name, sizeof(name), "across a boundary of %llu, cost",
			 (unsigned long long)(2 * SECTOR) << i);
		kit_evidence(a->kit, name, "x", costs[i]);
	}
	for (size_t i = 0; i < UNITS; i++)
		if (costs[i] >= COSTS && costs[i] - 1 >= (most - 1) / 2 &&
		    is_sure(&a->units[i][0], &a->units[i][1]))
			unit = (2ull * SECTOR) << i;
	return unit;
}

/* The worst depth's cost of a start off 4 KiB, all k alike; 0 when there is none for sure. */
static double find_cost(const struct alignment *a)
{
	double worst = 0;

	for (size_t d = 0; d < DEPTHS; d++) {
		const double mixed = cost(&a->offsets[d][0], &a->offsets[d][OFFSETS]);
		struct samples off = { 0 };
		char name[64];

		for (size_t k = 1; k < OFFSETS; k++)
			for (size_t i = 0; i < a->offsets[d][k].count; i++)
				samples_add(&off, a->offsets[d][k].values[i]);
		if (!off.count)
			continue;
		snprintf(name, sizeof(name), "4k on 4096, depth %u", depths[d]);
		kit_evidence(a->kit, name, "/s", samples_mean(&a->offsets[d][0]));
		snprintf(name, sizeof(name), "4k off 4096, depth %u, cost", depths[d]);
		kit_evidence(a->kit, name, "x", cost(&a->offsets[d][0], &off));
		snprintf(name, sizeof(name), "4k on any sector, depth %u, cost", depths[d]);
		kit_evidence(a->kit, name, "x", mixed);
		if (is_sure(&a->offsets[d][0], &off))
			worst = fmax(worst, cost(&a->offsets[d][0], &off));
	}
	return worst;
}

static void add_partition(const struct alignment *a, uint64_t unit, char *text, size_t text_bytes)
{
	const struct target_info *info = sitting_target(a->kit->sitting);

	if (!info->has_partition || !unit)
		return;
	kit_evidence(a->kit, "partition starts at", "B", (double)info->partition_start_bytes);
	if (info->partition_start_bytes % unit == 0)
		snprintf(text, text_bytes, "; the partition starts on it");
	else
		snprintf(text, text_bytes, "; the partition starts %llu bytes off it",
			 (unsigned long long)(info->partition_start_bytes % unit));
}

static void judge(const struct alignment *a)
{
	const double f = find_cost(a);
	const uint64_t unit = find_unit(a);
	char size[UNITS_TEXT_BYTES], partition[96] = "";

	units_format_bytes(unit, size);
	kit_evidence(a->kit, "unit", "B", (double)unit);
	add_partition(a, unit, partition, sizeof(partition));
	if (!unit && f < COSTS)
		kit_verdict(a->kit, "indifferent", "Where a write starts makes no difference");
	else if (!unit)
		kit_verdict(
			a->kit, f >= COSTS_MUCH ? "costs-much" : "costs",
			"4 KiB writes off 4096 are %.1f times slower; no unit up to 64 KiB shows",
			f);
	else if (unit > 4 * KIB)
		kit_verdict(a->kit, "large-unit",
			    "The drive's unit seems to be %s: smaller writes "
			    "cost as much as a whole one%s",
			    size, partition);
	else
		kit_verdict(
			a->kit,
			f >= COSTS_MUCH ? "costs-much"
			: f >= COSTS	? "costs"
					: "indifferent",
			"4 KiB writes off 4096 are %.1f times slower; the drive's unit seems to be "
			"%s%s",
			f, size, partition);
}

static int run_alignment(struct kit *kit, struct err *err)
{
	struct alignment a = { .kit = kit, .part_bytes = kit_share(kit, PART_SHARE, 128 * KIB) };
	int r;

	if (a.part_bytes > PART_MAX)
		a.part_bytes = PART_MAX;
	if (kit->logical_block_bytes > SECTOR)
		kit_note(kit, "logical blocks of %llu bytes: starts between them cannot be asked",
			 (unsigned long long)kit->logical_block_bytes);
	r = prepare(&a, err);
	for (uint32_t round = 0; r == 0 && round < ROUNDS; round++)
		r = run_round(&a, round, err);
	if (r == 0 && !kit->forecasting)
		judge(&a);
	return r;
}

const struct protocol protocol_alignment = {
	.name = "alignment",
	.summary = "what a write off the drive's unit costs, and how large the unit is",
	.description =
		"Random 4 KiB writes at starts of 0, 512 ... 3584 modulo 4096 and on any sector, "
		"at "
		"depths 1, 3 and 32; then pairs of writes on and across boundaries of 1 to 64 KiB. "
		"Three rounds in shuffled order, in a quarter of the drive (16 GiB at most), which "
		"is "
		"purged and written first.\n\n"
		"Verdicts: indifferent (below 1.1 times), costs, costs-much (2 times and more), "
		"large-unit (above 4 KiB).",
	.writes = true,
	.run = run_alignment,
};
