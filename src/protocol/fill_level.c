/* SPDX-License-Identifier: MIT */

/*
 * fill-level - speed against how full the drive is, on the way up and down again. At each level
 * the rest is discarded, a pause, then what is there is overwritten: random writes over a
 * twentieth of the drive first, so that the spare area hides nothing, then rounds of short
 * cells. At 0 % nothing is there, so a twentieth is.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"
#include "protocol/recovery.h"

#define ROUNDS 3
#define PROBE_SHARE 0.005
#define DRAIN_SHARE 0.05
#define FLOOR_SHARE 0.05
#define IDLE_NS (900 * SECOND_NS)
#define CHANGE_MIN 0.10

static const uint32_t levels[] = { 0, 25, 50, 75, 90, 95 };
#define LEVELS ARRAY_COUNT(levels)

enum way { UP, DOWN, WAYS };
static const char *const way_names[WAYS] = { "up", "down" };

static const struct metric {
	const char *name, *words;
	uint32_t rw;
	uint64_t block_bytes;
	uint32_t depth_count;
} metrics[] = {
	{ "seq-write", "sequential write", RW_WRITE, 128 * KIB, 8 },
	{ "rand-write", "random write", RW_RANDWRITE, 4 * KIB, 32 },
};
#define METRICS ARRAY_COUNT(metrics)

struct fill_level {
	struct kit *kit;
	uint64_t filled_bytes;
	struct samples rates[WAYS][LEVELS][METRICS];
};

static uint64_t level_bytes(const struct fill_level *f, size_t level)
{
	const uint64_t floor = kit_share(f->kit, FLOOR_SHARE, 128 * KIB);
	const uint64_t bytes = kit_share(f->kit, levels[level] / 100.0, 128 * KIB);

	return bytes < floor ? floor : bytes;
}

/* Writes what is missing, or discards what is too much and all that is free beyond. */
static int go_to(struct fill_level *f, enum way way, size_t level, struct err *err)
{
	const uint64_t bytes = level_bytes(f, level);
	struct cell_plan fill = {
		.rw = RW_WRITE,
		.block_bytes = 128 * KIB,
		.depth_count = 32,
		.offset_bytes = f->filled_bytes,
		.size_bytes = bytes - f->filled_bytes,
	};
	struct cell_plan trim = {
		.rw = RW_TRIM,
		.block_bytes = 128 * KIB,
		.depth_count = 1,
		.offset_bytes = bytes,
	};
	int r = 0;

	snprintf(fill.name, sizeof(fill.name), "%s: fill to %u %%", way_names[way], levels[level]);
	snprintf(trim.name, sizeof(trim.name), "%s: discard above %u %%", way_names[way],
		 levels[level]);
	if (bytes > f->filled_bytes)
		r = kit_step(f->kit, &fill, NULL, err);
	if (r == 0)
		r = kit_step(f->kit, &trim, NULL, err);
	f->filled_bytes = bytes;
	return r;
}

static int drain(struct fill_level *f, enum way way, size_t level, struct err *err)
{
	struct cell_plan plan = {
		.rw = RW_RANDWRITE,
		.block_bytes = 4 * KIB,
		.depth_count = 32,
		.size_bytes = f->filled_bytes,
		.io_bytes = kit_share(f->kit, DRAIN_SHARE, 4 * KIB),
		.repeat = true,
	};

	snprintf(plan.name, sizeof(plan.name), "%s %u %%: random writes", way_names[way],
		 levels[level]);
	return kit_step(f->kit, &plan, NULL, err);
}

static int probe(struct fill_level *f, enum way way, size_t level, struct err *err)
{
	int r = drain(f, way, level, err);

	for (uint32_t cell = 0; r == 0 && cell < ROUNDS * METRICS; cell++) {
		const struct metric *metric = &metrics[cell % METRICS];
		struct cell_plan plan = {
			.rw = metric->rw,
			.block_bytes = metric->block_bytes,
			.depth_count = metric->depth_count,
			.size_bytes = f->filled_bytes,
			.io_bytes = kit_share(f->kit, PROBE_SHARE, metric->block_bytes * 8),
			.repeat = metric->rw == RW_RANDWRITE,
			.flush = true,
		};
		struct protocol_cell done;

		snprintf(plan.name, sizeof(plan.name), "%s %u %%: %s %u", way_names[way],
			 levels[level], metric->name, cell / (uint32_t)METRICS + 1);
		r = kit_measure(f->kit, &plan, &done, err);
		if (r == 0)
			samples_add(&f->rates[way][level][cell % METRICS], done.bytes_per_s);
	}
	return r;
}

/* A longer pause before it changes nothing: it has one of its own, and writes after that. */
static int run_level(struct fill_level *f, enum way way, size_t level, struct err *err)
{
	const uint64_t idle_ns = f->kit->options->idle_ns ? f->kit->options->idle_ns : IDLE_NS;
	char name[40];
	int r = kit_anchor(f->kit, err);

	if (r == 0)
		r = kit_refill(f->kit, f->filled_bytes, err);
	if (r == 0)
		r = go_to(f, way, level, err);

	snprintf(name, sizeof(name), "%s %u %%: idle", way_names[way], levels[level]);
	if (r == 0)
		r = kit_idle(f->kit, name, idle_ns, err);
	return r == 0 ? probe(f, way, level, err) : r;
}

/* --- what it means --------------------------------------------------------------------- */

/* Surely slower than empty, and by more than matters. */
static bool is_slower(const struct fill_level *f, size_t level, size_t metric)
{
	const struct estimate drop =
		estimate_drop(&f->rates[UP][0][metric], &f->rates[UP][level][metric]);

	return drop.known && drop.low > 0 && drop.value >= CHANGE_MIN;
}

/* The first level from which on all are slower; LEVELS when there is none. */
static size_t slower_from(const struct fill_level *f, size_t metric)
{
	size_t from = LEVELS;

	for (size_t level = LEVELS; level-- > 1 && is_slower(f, level, metric);)
		from = level;
	return from;
}

/* Levels at which the way down differs from the way up. */
static bool has_hysteresis(const struct fill_level *f, size_t metric)
{
	for (size_t level = 0; level + 1 < LEVELS; level++) {
		const struct estimate drop =
			estimate_drop(&f->rates[UP][level][metric], &f->rates[DOWN][level][metric]);

		if (drop.known && ((drop.low > 0 && drop.value >= CHANGE_MIN) ||
				   (drop.high < 0 && drop.value <= -CHANGE_MIN)))
			return true;
	}
	return false;
}

static void add_evidence(const struct fill_level *f)
{
	char name[64];

	for (size_t i = 0; i < METRICS; i++)
		for (int way = 0; way < WAYS; way++)
			for (size_t level = 0; level < LEVELS; level++) {
				if (!f->rates[way][level][i].count)
					continue;
				snprintf(name, sizeof(name), "%s, %u %% full, %s", metrics[i].words,
					 levels[level], way_names[way]);
				kit_evidence(f->kit, name, "B/s",
					     samples_mean(&f->rates[way][level][i]));
			}
}

static void judge(const struct fill_level *f)
{
	size_t first = LEVELS, metric = 0;
	bool hysteresis = false;
	double drop;

	add_evidence(f);
	for (size_t i = 0; i < METRICS; i++) {
		const size_t from = slower_from(f, i);

		hysteresis |= has_hysteresis(f, i);
		if (from < first) {
			first = from;
			metric = i;
		}
	}
	if (first == LEVELS) {
		kit_verdict(f->kit, hysteresis ? "hysteresis" : "indifferent",
			    hysteresis ? "No slower when fuller, but after having been full it is "
					 "not as before"
				       : "How full it is makes no difference");
		return;
	}
	drop = estimate_drop(&f->rates[UP][0][metric], &f->rates[UP][LEVELS - 1][metric]).value;
	kit_evidence(f->kit, "slower from", "%", levels[first]);
	kit_verdict(f->kit, "slower-when-full",
		    "Slower from %u %% full: %s loses %.0f %% at 95 %%%s", levels[first],
		    metrics[metric].words, 100 * drop,
		    hysteresis ? "; emptied again it is not as before" : "");
}

static int run_fill_level(struct kit *kit, struct err *err)
{
	struct fill_level f = { .kit = kit };
	int r;

	if (!kit_discards(kit))
		return err_set(err, -EOPNOTSUPP,
			       "fill-level: %s takes no discards, so it is never less "
			       "full than it was",
			       sitting_target(kit->sitting)->spec);
	r = kit_anchor(kit, err);
	if (r == 0)
		r = kit_purge(kit, NULL, err);
	for (size_t level = 0; r == 0 && level < LEVELS; level++)
		r = run_level(&f, UP, level, err);
	for (size_t level = LEVELS - 1; r == 0 && level-- > 0;)
		r = run_level(&f, DOWN, level, err);
	if (r == 0 && !kit->forecasting)
		judge(&f);
	return r;
}

const struct protocol protocol_fill_level = {
	.name = "fill-level",
	.summary = "speed at 0, 25, 50, 75, 90 and 95 % full, and down again",
	.description = "Purge; at each level the rest discarded, 15 min without I/O (--idle), "
		       "random writes over "
		       "a twentieth of the drive within what is there, three rounds of short write "
		       "probes.\n\n"
		       "Verdicts: indifferent, slower-when-full (10 % and more, from a level on), "
		       "hysteresis.",
	.writes = true,
	.run = run_fill_level,
};
