/* SPDX-License-Identifier: MIT */

/*
 * steady - the procedure of the SNIA Solid State Storage Performance Test Specification, as
 * published implementations of it do it: purge; precondition by writing everything twice in
 * order; then the test itself in rounds until the last five are steady in every tracking
 * variable, or 25 rounds are over. Four tests, each after a purge of its own:
 *
 *	IOPS		random, 7 mixes of reads and writes in 8 sizes
 *	throughput	sequential, 1 MiB and 128 KiB, reads and writes
 *	latency		random, 8, 4 and 0.5 KiB in 3 mixes, one request at a time
 *	saturation	4 KiB random writes without a pause, from purged until steady
 *
 * Whatever differs from the specification is listed in the result. "Not reached" is a result.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"
#include "stats/steady.h"

#define ROUNDS_MAX 25
#define CELL_NS (60 * SECOND_NS)
#define FILLS 2
#define SATURATION_ROUNDS_MAX 48 /* of as many minutes as 24 h have half hours */
#define SATURATION_FILLS 4.0

#define SEGMENTS 2048
#define SEGMENT_MIN_BYTES MIB /* the largest request */
#define CLIENT_AMOUNT_BYTES (8 * GIB)

/* Large to small, reads to writes: sizes inside, mixes outside. */
static const uint64_t iops_sizes[] = {
	1024 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, 512,
};
static const uint32_t iops_reads[] = { 100, 95, 65, 50, 35, 5, 0 };
static const uint64_t throughput_sizes[] = { 1024 * KIB, 128 * KIB };
static const uint32_t throughput_reads[] = { 100, 0 };
static const uint64_t latency_sizes[] = { 8 * KIB, 4 * KIB, 512 };
static const uint32_t latency_reads[] = { 100, 65, 0 };
static const uint64_t saturation_sizes[] = { 4 * KIB };
static const uint32_t saturation_reads[] = { 0 };

enum figure { FIGURE_IOPS, FIGURE_RATE, FIGURE_LATENCY };

#define CELLS_MAX 56
#define TRACKED_MAX 3

static const struct test {
	const char *name, *words;
	bool is_random, is_preconditioned;
	const uint64_t *sizes;
	const uint32_t *reads; /* percent */
	size_t size_count, read_count;
	uint32_t enterprise_depth, client_depth; /* all threads together */
	uint32_t rounds_max;
	enum figure figure;
	struct {
		uint64_t size;
		uint32_t reads;
	} tracked[TRACKED_MAX];
	size_t tracked_count;
} tests[] = {
	{ "iops",
	  "IOPS",
	  true,
	  true,
	  iops_sizes,
	  iops_reads,
	  ARRAY_COUNT(iops_sizes),
	  ARRAY_COUNT(iops_reads),
	  128,
	  32,
	  ROUNDS_MAX,
	  FIGURE_IOPS,
	  { { 4 * KIB, 0 }, { 64 * KIB, 65 }, { 1024 * KIB, 100 } },
	  3 },
	{ "throughput",
	  "throughput",
	  false,
	  true,
	  throughput_sizes,
	  throughput_reads,
	  2,
	  2,
	  32,
	  32,
	  ROUNDS_MAX,
	  FIGURE_RATE,
	  { { 1024 * KIB, 0 }, { 128 * KIB, 0 } },
	  2 },
	{ "latency",
	  "latency",
	  true,
	  true,
	  latency_sizes,
	  latency_reads,
	  3,
	  3,
	  1,
	  1,
	  ROUNDS_MAX,
	  FIGURE_LATENCY,
	  { { 4 * KIB, 0 } },
	  1 },
	{ "saturation",
	  "write saturation",
	  true,
	  false,
	  saturation_sizes,
	  saturation_reads,
	  1,
	  1,
	  128,
	  32,
	  SATURATION_ROUNDS_MAX,
	  FIGURE_IOPS,
	  { { 4 * KIB, 0 } },
	  1 },
};

/* What is written and read: an amount of a range, in segments; or all of the range. */
struct active {
	uint64_t range_bytes, amount_bytes;
	uint32_t segment_count; /* 0 = the range in one piece */
	uint64_t seed;
};

struct progress_of_test {
	struct kit *kit;
	const struct active *active;
	const struct test *test;
	size_t round_count, first_round; /* the window begins at first_round at the earliest */
	double cells[CELLS_MAX][SATURATION_ROUNDS_MAX];
	double tracked[TRACKED_MAX][SATURATION_ROUNDS_MAX];
	struct steady steady; /* of the worst variable */
	bool is_steady;
};

static bool is_possible(const struct kit *kit, uint64_t size)
{
	return size % kit->logical_block_bytes == 0;
}

static double figure_of(const struct test *test, const struct protocol_cell *cell)
{
	switch (test->figure) {
	case FIGURE_RATE:
		return cell->bytes_per_s;
	case FIGURE_LATENCY:
		return cell->iops > 0 ? 1e9 / cell->iops : 0; /* one at a time: the mean */
	default:
		return cell->iops;
	}
}

static uint32_t rw_of(const struct test *test, uint32_t reads)
{
	if (reads == 100)
		return test->is_random ? RW_RANDREAD : RW_READ;
	if (reads == 0)
		return test->is_random ? RW_RANDWRITE : RW_WRITE;
	return test->is_random ? RW_RANDRW : RW_READWRITE;
}

static int run_cell(struct progress_of_test *p, size_t mix, size_t size, struct err *err)
{
	const struct test *t = p->test;
	const size_t index = mix * t->size_count + size;
	const uint64_t cell_ns = p->kit->options->cell_ns;
	struct cell_plan plan = {
		.rw = rw_of(t, t->reads[mix]),
		.read_ppm = t->reads[mix] * (PPM / 100),
		.block_bytes = t->sizes[size],
		.depth_count = p->kit->options->client ? t->client_depth : t->enterprise_depth,
		.runtime_ns = cell_ns ? cell_ns : CELL_NS,
		.repeat = t->is_random,
		.size_bytes = p->active->amount_bytes,
		.segment_count = p->active->segment_count,
		.segment_range_bytes = p->active->segment_count ? p->active->range_bytes : 0,
		.segment_seed = p->active->segment_count ? p->active->seed : 0,
	};
	struct protocol_cell cell;
	int r;

	if (!is_possible(p->kit, plan.block_bytes))
		return 0;
	snprintf(plan.name, sizeof(plan.name), "%s round %zu: %u/%u %llu", t->name,
		 p->round_count + 1, t->reads[mix], 100 - t->reads[mix],
		 (unsigned long long)plan.block_bytes);
	r = kit_measure(p->kit, &plan, &cell, err);
	if (r < 0)
		return r;
	p->cells[index][p->round_count] = figure_of(t, &cell);
	for (size_t v = 0; v < t->tracked_count; v++)
		if (t->tracked[v].size == t->sizes[size] && t->tracked[v].reads == t->reads[mix])
			p->tracked[v][p->round_count] = figure_of(t, &cell);
	return 0;
}

static int run_round(struct progress_of_test *p, struct err *err)
{
	const struct test *t = p->test;
	int r = kit_anchor(p->kit, err);

	/* Rounds from before a gap do not count for the window: the drive rested there. */
	if (kit_has_gap(p->kit))
		p->first_round = p->round_count;
	if (r == 0)
		r = kit_refill(p->kit, p->active->range_bytes, err);
	for (size_t mix = 0; mix < t->read_count; mix++)
		for (size_t size = 0; r == 0 && size < t->size_count; size++)
			r = run_cell(p, mix, size, err);
	if (r < 0)
		return r;
	p->round_count++;
	p->is_steady = p->round_count - p->first_round >= STEADY_ROUNDS &&
		       steady_judge_all(p->tracked[0], t->tracked_count, SATURATION_ROUNDS_MAX,
					p->round_count, &p->steady);
	return 0;
}

static int precondition(struct progress_of_test *p, struct err *err)
{
	int r = kit_anchor(p->kit, err);

	if (r == 0)
		r = kit_purge(p->kit, NULL, err);
	for (int fill = 0; r == 0 && p->test->is_preconditioned && fill < FILLS; fill++) {
		struct cell_plan plan = {
			.rw = RW_WRITE,
			.block_bytes = 128 * KIB,
			.depth_count = 32,
			.size_bytes = p->active->range_bytes,
		};

		snprintf(plan.name, sizeof(plan.name), "%s: fill %d", p->test->name, fill + 1);
		r = kit_step(p->kit, &plan, NULL, err);
	}
	return r;
}

/* Saturation also ends when so much was written that more would show nothing new. */
static bool is_full_enough(const struct progress_of_test *p, uint64_t before_bytes)
{
	return !p->test->is_preconditioned &&
	       (double)(p->kit->outcome->written_bytes - before_bytes) >=
		       SATURATION_FILLS * (double)p->kit->capacity_bytes;
}

static int run_test(struct progress_of_test *p, struct err *err)
{
	const uint64_t before_bytes = p->kit->outcome->written_bytes;
	int r = precondition(p, err);

	while (r == 0 && p->round_count < p->test->rounds_max && !p->is_steady &&
	       !is_full_enough(p, before_bytes))
		r = run_round(p, err);
	return r;
}

/* --- what it means --------------------------------------------------------------------- */

static double window_mean(const double *rounds, size_t count)
{
	const size_t window = count < STEADY_ROUNDS ? count : STEADY_ROUNDS;
	double sum = 0;

	for (size_t i = count - window; i < count; i++)
		sum += rounds[i];
	return window ? sum / (double)window : 0;
}

static void add_evidence(const struct progress_of_test *p)
{
	static const char *const units[] = {
		[FIGURE_IOPS] = "/s",
		[FIGURE_RATE] = "B/s",
		[FIGURE_LATENCY] = "ns",
	};
	const struct test *t = p->test;
	char name[64], size[UNITS_TEXT_BYTES];

	snprintf(name, sizeof(name), "%s: rounds", t->name);
	kit_evidence(p->kit, name, "", (double)p->round_count);
	snprintf(name, sizeof(name), "%s: range of the window", t->name);
	kit_evidence(p->kit, name, "%", 100 * p->steady.range_ratio);
	snprintf(name, sizeof(name), "%s: slope of the window", t->name);
	kit_evidence(p->kit, name, "%", 100 * p->steady.slope_ratio);
	for (size_t mix = 0; mix < t->read_count; mix++)
		for (size_t i = 0; i < t->size_count; i++) {
			if (!is_possible(p->kit, t->sizes[i]))
				continue;
			snprintf(name, sizeof(name), "%s: %u/%u %s", t->name, t->reads[mix],
				 100 - t->reads[mix], units_format_bytes(t->sizes[i], size));
			kit_evidence(
				p->kit, name, units[t->figure],
				window_mean(p->cells[mix * t->size_count + i], p->round_count));
		}
}

static void add_deviations(struct kit *kit, const struct active *active)
{
	const struct target_info *info = sitting_target(kit->sitting);
	const uint64_t cell_ns = kit->options->cell_ns;

	kit_note(kit, "runs the procedure of the SNIA SSS PTS as published implementations do it; "
		      "nobody has certified it. Deviations:");
	if (info->kind != TARGET_BLOCK)
		kit_note(kit, "the target is a %s, not a block device",
			 target_kind_name(info->kind));
	if (!sitting_has_erase(kit->sitting))
		kit_note(kit, "purge: discard of everything, not an erase of the drive's own");
	if (cell_ns && cell_ns != CELL_NS)
		kit_note(kit, "cells of %.3g s, not a minute", (double)cell_ns / 1e9);
	if (kit->logical_block_bytes > 512)
		kit_note(kit, "512-byte cells left out: the logical block has %llu bytes",
			 (unsigned long long)kit->logical_block_bytes);
	if (kit->options->size_bytes && kit->capacity_bytes < info->size_bytes)
		kit_note(kit, "the capacity is the first %llu bytes only",
			 (unsigned long long)kit->capacity_bytes);
	if (active->segment_count && active->segment_count < SEGMENTS)
		kit_note(kit, "%u segments, not %u: of no less than a mebibyte each",
			 active->segment_count, SEGMENTS);
	if (kit->options->client && active->amount_bytes != CLIENT_AMOUNT_BYTES &&
	    active->amount_bytes != 2 * CLIENT_AMOUNT_BYTES)
		kit_note(kit, "client: an active amount of %llu bytes, not of 8 or 16 GiB",
			 (unsigned long long)active->amount_bytes);
	if (kit->options->client)
		kit_note(kit, "client: one active range and amount; the specification wants 100 %% and "
			      "75 %%, 8 and 16 GiB (--active-range, --active-amount)");
	kit_note(kit, "the drive's write cache is as found: %s",
		 info->write_cache[0] ? info->write_cache : "not known");
	kit_note(kit, "one thread with all requests, not several with a share each");
}

/* Steady only if all four are; the text names the first that is not. */
static void judge(const struct progress_of_test *all)
{
	const size_t last = ARRAY_COUNT(tests) - 1;
	char rate[UNITS_TEXT_BYTES];

	for (size_t i = 0; i <= last; i++)
		add_evidence(&all[i]);
	for (size_t i = 0; i <= last; i++) {
		if (all[i].is_steady)
			continue;
		kit_verdict(all[i].kit, "not-steady",
			    "Steady state not reached: %s after %zu rounds "
			    "(range %.0f %%, slope %.0f %%)",
			    all[i].test->words, all[i].round_count, 100 * all[i].steady.range_ratio,
			    100 * all[i].steady.slope_ratio);
		return;
	}
	kit_verdict(all[0].kit, "steady", "Steady after %zu rounds: %s of 4 KiB random writes",
		    all[0].round_count,
		    units_format_rate(all[0].steady.mean > 0
					      ? window_mean(all[0].tracked[0], all[0].round_count)
					      : 0,
				      rate));
}

/* Half of the range at most is in segments: they must not touch. */
static struct active active_of(const struct kit *kit)
{
	const struct protocol_options *o = kit->options;
	const double share = o->active_ppm ? (double)o->active_ppm / PPM : 1;
	struct active active = {
		.range_bytes = kit_share(kit, share, MIB),
		.seed = kit->outcome->seed,
	};
	uint64_t segment_bytes;

	active.amount_bytes = o->active_bytes ? o->active_bytes
			      : o->client     ? CLIENT_AMOUNT_BYTES
					      : active.range_bytes;
	if (active.amount_bytes >= active.range_bytes && !o->client) {
		active.amount_bytes = active.range_bytes;
		return active;
	}
	if (active.amount_bytes > active.range_bytes / 2)
		active.amount_bytes = active.range_bytes / 2;
	active.segment_count = SEGMENTS;
	if (active.amount_bytes / SEGMENT_MIN_BYTES < SEGMENTS)
		active.segment_count = (uint32_t)(active.amount_bytes / SEGMENT_MIN_BYTES);
	segment_bytes = active.amount_bytes / active.segment_count;
	active.amount_bytes = segment_bytes / MIB * MIB * active.segment_count;
	return active;
}

static void tell_active(struct kit *kit, const struct active *active)
{
	kit_evidence(kit, "active range", "B", (double)active->range_bytes);
	kit_evidence(kit, "active amount", "B", (double)active->amount_bytes);
	kit_evidence(kit, "segments", "", active->segment_count ? active->segment_count : 1);
}

static int check_active(const struct kit *kit, const struct active *active, struct err *err)
{
	const uint64_t asked = kit->options->active_bytes;
	char have[UNITS_TEXT_BYTES], want[UNITS_TEXT_BYTES];

	if (!active->segment_count || asked <= active->range_bytes / 2)
		return 0;
	return err_set(err, -EINVAL,
		       "steady: an active amount of %s in segments that do not touch needs twice the "
		       "room; the active range has %s",
		       units_format_bytes(asked, want),
		       units_format_bytes(active->range_bytes, have));
}

static int run_steady(struct kit *kit, struct err *err)
{
	const struct active active = active_of(kit);
	struct progress_of_test *all = calloc(ARRAY_COUNT(tests), sizeof(*all));
	int r = all ? check_active(kit, &active, err) : err_errno(err, -ENOMEM, "steady");

	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(tests); i++) {
		all[i].kit = kit;
		all[i].active = &active;
		all[i].test = &tests[i];
		r = run_test(&all[i], err);
	}
	if (r == 0 && !kit->forecasting) {
		tell_active(kit, &active);
		judge(all);
		add_deviations(kit, &active);
	}
	free(all);
	return r;
}

const struct protocol protocol_steady = {
	.name = "steady",
	.summary = "the SNIA PTS: IOPS matrix, throughput, latency, write saturation",
	.description =
		"For each of four tests: purge, everything written twice in order (not for "
		"saturation), "
		"rounds of one minute a cell (--cell) until the last five are steady: range at "
		"most "
		"20 % and fitted slope at most 10 % of the mean, in every tracking variable. 25 "
		"rounds "
		"at most; saturation until four drive fills. --client takes the client's "
		"depths, and touches 8 GiB only, in 2048 segments of the active range "
		"(--active-range, --active-amount).\n\n"
		"Verdicts: steady, not-steady. What differs from the specification is listed.",
	.writes = true,
	.run = run_steady,
};
