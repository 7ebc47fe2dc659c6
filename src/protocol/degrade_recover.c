/* SPDX-License-Identifier: MIT */

/*
 * degrade-recover - the ladder of PCMark 8's consistency test: everything written twice; eight
 * bouts of random writes of random size, each longer than the one before; five as long as the
 * longest; five pauses. After each a probe: random 4 KiB, seven reads to three writes.
 *
 * The original plays back application traces there, which are not ours to ship.
 */

#include <math.h>
#include <stdio.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"
#include "protocol/recovery.h"

#define DEGRADE 8
#define STEADY 5
#define RECOVER 5
#define PROBES (DEGRADE + STEADY + RECOVER)
#define ROUNDS 3		 /* of a probe */
#define UNIT_NS (60 * SECOND_NS) /* the ladder's minute; --cell sets another */
#define FIRST_MINUTES 10
#define STEP_MINUTES 5
#define LONGEST_MINUTES (FIRST_MINUTES + (DEGRADE - 1) * STEP_MINUTES)
#define PAUSE_MINUTES 5
#define PROBE_SHARE 0.005

/* Limits (ours). */
#define DROP_MIN 0.10
#define BACK 0.80
#define PARTLY 0.20

struct ladder {
	struct kit *kit;
	struct samples first; /* before the first bout, after the fills */
	struct samples probes[PROBES];
};

static uint64_t minutes_ns(const struct ladder *l, uint64_t minutes)
{
	const uint64_t unit_ns = l->kit->options->cell_ns ? l->kit->options->cell_ns : UNIT_NS;

	return minutes * unit_ns;
}

/* Sizes of 4 KiB to 1 MiB, each power of two as often. */
static void mix_sizes(struct workload *w)
{
	uint32_t left = PPM;

	w->size_mix.count = 9;
	for (uint32_t i = 0; i < 9; i++) {
		w->size_mix.sizes[i].bytes = (4 * KIB) << i;
		w->size_mix.sizes[i].ppm = i < 8 ? PPM / 9 : left;
		left -= w->size_mix.sizes[i].ppm;
	}
}

static bool is_steady(uint32_t bout)
{
	return bout >= DEGRADE;
}

/* "degrade 3", "steady 1" of one of the bouts, or of its probe. */
static const char *name_bout(uint32_t bout, char name[40])
{
	snprintf(name, 40, is_steady(bout) ? "steady %u" : "degrade %u",
		 is_steady(bout) ? bout - DEGRADE + 1 : bout + 1);
	return name;
}

static int abuse(struct ladder *l, uint32_t bout, const char *words, struct err *err)
{
	struct cell_plan plan = {
		.rw = RW_RANDWRITE,
		.block_bytes = MIB,
		.align_bytes = 4 * KIB,
		.depth_count = 8,
		.runtime_ns = minutes_ns(l, is_steady(bout) ? LONGEST_MINUTES :
							      FIRST_MINUTES + bout * STEP_MINUTES),
		.repeat = true,
	};
	struct workload w;
	char name[40];

	snprintf(plan.name, sizeof(plan.name), "%s: %s", name_bout(bout, name), words);
	w = kit_workload(l->kit, &plan);
	mix_sizes(&w);
	return kit_run(l->kit, &w, false, NULL, err);
}

static int probe(struct ladder *l, const char *name, struct samples *into, struct err *err)
{
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct cell_plan plan = {
			.rw = RW_RANDRW,
			.read_ppm = 700000,
			.block_bytes = 4 * KIB,
			.depth_count = 4,
			.io_bytes = kit_share(l->kit, PROBE_SHARE, 64 * KIB),
			.repeat = true,
		};
		struct protocol_cell cell;
		int r;

		snprintf(plan.name, sizeof(plan.name), "%s: probe %u", name, round + 1);
		r = kit_measure(l->kit, &plan, &cell, err);
		if (r < 0)
			return r;
		samples_add(into, cell.bytes_per_s);
	}
	return 0;
}

static int prepare(struct ladder *l, struct err *err)
{
	int r = kit_anchor(l->kit, err);

	for (int fill = 0; r == 0 && fill < 2; fill++) {
		struct cell_plan plan = { .rw = RW_WRITE,
					  .block_bytes = 128 * KIB,
					  .depth_count = 32 };

		snprintf(plan.name, sizeof(plan.name), "fill %d", fill + 1);
		r = kit_step(l->kit, &plan, NULL, err);
	}
	return r == 0 ? probe(l, "filled 1", &l->first, err) : r;
}

/*
 * Each step is of a drive that has just been written. After a break it rested, so the bout
 * before is done once more: an hour of the ladder, not all of it.
 */
static int go_on(struct ladder *l, uint32_t next, struct err *err)
{
	int r = kit_anchor(l->kit, err);
	const bool has_gap = kit_has_gap(l->kit);

	if (r == 0)
		r = kit_refill(l->kit, l->kit->capacity_bytes, err);
	if (r < 0 || !has_gap || next == 0)
		return r;
	kit_note(l->kit, "after a break the last bout of random writes was done again");
	return abuse(l, next - 1, "random writes, again after a break", err);
}

static int climb(struct ladder *l, struct err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < DEGRADE + STEADY; i++) {
		char name[40];

		r = go_on(l, i, err);
		if (r == 0)
			r = abuse(l, i, "random writes", err);
		if (r == 0)
			r = probe(l, name_bout(i, name), &l->probes[i], err);
	}
	return r;
}

/* Without an anchor inside: a break would be another pause. */
static int recover(struct ladder *l, struct err *err)
{
	int r = go_on(l, DEGRADE + STEADY, err);

	for (uint32_t i = 0; r == 0 && i < RECOVER; i++) {
		char name[40];

		snprintf(name, sizeof(name), "recover %u: idle", i + 1);
		r = kit_idle(l->kit, name, minutes_ns(l, PAUSE_MINUTES), err);
		snprintf(name, sizeof(name), "recover %u", i + 1);
		if (r == 0)
			r = probe(l, name, &l->probes[DEGRADE + STEADY + i], err);
	}
	return r;
}

/* --- what it means --------------------------------------------------------------------- */

static void add_evidence(const struct ladder *l)
{
	char name[40];

	kit_evidence(l->kit, "filled", "B/s", samples_mean(&l->first));
	for (uint32_t i = 0; i < PROBES; i++) {
		if (i < DEGRADE + STEADY)
			name_bout(i, name);
		else
			snprintf(name, sizeof(name), "recover %u", i - DEGRADE - STEADY + 1);
		kit_evidence(l->kit, name, "B/s", samples_mean(&l->probes[i]));
	}
}

static void judge(const struct ladder *l)
{
	struct samples steady = { 0 };
	struct estimate drop, back = { 0 };
	uint32_t pauses = 0;

	add_evidence(l);
	for (uint32_t i = 0; i < STEADY; i++)
		for (size_t k = 0; k < l->probes[DEGRADE + i].count; k++)
			samples_add(&steady, l->probes[DEGRADE + i].values[k]);
	drop = estimate_drop(&l->first, &steady);
	kit_evidence_within(l->kit, "lost when steady", "%",
			    (const double[3]){ 100 * drop.value, 100 * drop.low, 100 * drop.high });
	if (!drop.known || drop.low <= 0 || drop.value < DROP_MIN) {
		kit_verdict(l->kit, "no-degradation", "Abuse costs no speed");
		return;
	}
	while (pauses < RECOVER && !(back.known && back.value >= BACK))
		back = estimate_recovery(&l->first, &steady,
					 &l->probes[DEGRADE + STEADY + pauses++]);
	if (back.known)
		kit_evidence_within(
			l->kit, "back by idle time", "%",
			(const double[3]){ 100 * back.value, 100 * back.low, 100 * back.high });
	if (back.known && back.value >= BACK)
		kit_verdict(l->kit, "recovers",
			    "Abuse costs %.0f %%; %u pause%s of 5 min bring%s back "
			    "%.0f %%",
			    100 * drop.value, pauses, pauses == 1 ? "" : "s",
			    pauses == 1 ? "s" : "", 100 * back.value);
	else if (back.known && back.low > 0 && back.value >= PARTLY)
		kit_verdict(l->kit, "recovers-in-part",
			    "Abuse costs %.0f %%; 25 min without I/O bring back "
			    "%.0f %%",
			    100 * drop.value, 100 * back.value);
	else
		kit_verdict(l->kit, "does-not-recover",
			    "Abuse costs %.0f %%, and 25 min without I/O bring "
			    "nothing back",
			    100 * drop.value);
}

static int run_ladder(struct kit *kit, struct err *err)
{
	struct ladder l = { .kit = kit };
	int r = prepare(&l, err);

	if (r == 0)
		r = climb(&l, err);
	if (r == 0)
		r = recover(&l, err);
	if (r < 0 || kit->forecasting)
		return r;
	judge(&l);
	kit_note(kit,
		 "the probe is random 4 KiB, 7 reads to 3 writes, where PCMark plays back traces");
	if (kit->options->cell_ns)
		kit_note(kit, "the ladder's minute was %.3g s",
			 (double)kit->options->cell_ns / 1e9);
	return 0;
}

const struct protocol protocol_degrade_recover = {
	.name = "degrade-recover",
	.summary = "speed under growing abuse, and after pauses",
	.description =
		"Everything written twice; random writes of 4 KiB to 1 MiB for 10, 15 ... 45 min, "
		"then five "
		"times 45 min; five pauses of 5 min. After each a probe of random 4 KiB, 7 reads "
		"to 3 "
		"writes. --cell sets how long the ladder's minute is. It writes for more than "
		"seven "
		"hours.\n\n"
		"Verdicts: no-degradation, recovers (80 %), recovers-in-part, does-not-recover.",
	.writes = true,
	.run = run_ladder,
};
