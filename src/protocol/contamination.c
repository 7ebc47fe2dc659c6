/* SPDX-License-Identifier: MIT */

/*
 * contamination - does a benchmark change the drive it measures? Probe twice, the plan under
 * suspicion, probe, a pause, probe. The drive is taken as it is: nothing is purged. The first
 * two probes are the control: what they differ by is the probe's own doing.
 *
 * A probe begins with random writes over a tenth of the drive, so that its spare area, of which
 * every state has some left for a while, hides nothing; then come rounds of short cells.
 *
 * The plan is the one given, or what IOMeter does to a new partition: a file that fills it is
 * written first, sequentially, and the test proper only reads.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"
#include "protocol/recovery.h"

#define ROUNDS 5
#define PROBE_SHARE 0.01
#define DRAIN_SHARE 0.10
#define IDLE_NS (1800 * SECOND_NS)
#define IOMETER_BLOCK_BYTES (64 * KIB)
#define IOMETER_NS (60 * SECOND_NS)

/* Limits (protocols.md section 4; ours). */
#define CHANGE_MIN 0.10
#define WRITTEN_CLEAN 0.01 /* of the capacity */
#define WRITTEN_FULL 0.90

enum when { CONTROL, BEFORE, AFTER, RESTED, TIMES };
static const char *const when_names[TIMES] = { "control", "before", "after", "after a pause" };

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

struct contamination {
	struct kit *kit;
	uint64_t plan_written_bytes;
	struct samples rates[TIMES][METRICS];
};

static int drain(struct contamination *c, enum when when, struct err *err)
{
	struct cell_plan plan = {
		.rw = RW_RANDWRITE,
		.block_bytes = 4 * KIB,
		.depth_count = 32,
		.io_bytes = kit_share(c->kit, DRAIN_SHARE, 4 * KIB),
		.repeat = true,
	};

	snprintf(plan.name, sizeof(plan.name), "%s: random writes", when_names[when]);
	return kit_step(c->kit, &plan, NULL, err);
}

static int probe(struct contamination *c, enum when when, struct err *err)
{
	int r = drain(c, when, err);

	if (r < 0)
		return r;
	for (uint32_t cell = 0; cell < ROUNDS * METRICS; cell++) {
		const struct metric *metric = &metrics[cell % METRICS];
		struct cell_plan plan = {
			.rw = metric->rw,
			.block_bytes = metric->block_bytes,
			.depth_count = metric->depth_count,
			.io_bytes = kit_share(c->kit, PROBE_SHARE, metric->block_bytes * 8),
			.flush = true,
			.repeat = metric->rw == RW_RANDWRITE,
		};
		struct protocol_cell done;

		snprintf(plan.name, sizeof(plan.name), "%s: %s %u", when_names[when], metric->name,
			 cell / (uint32_t)METRICS + 1);
		r = kit_measure(c->kit, &plan, &done, err);
		if (r < 0)
			return r;
		samples_add(&c->rates[when][cell % METRICS], done.bytes_per_s);
	}
	return 0;
}

static int run_iometer(struct contamination *c, struct err *err)
{
	const struct cell_plan fill = {
		.name = "IOMeter prepares its file",
		.rw = RW_WRITE,
		.block_bytes = IOMETER_BLOCK_BYTES,
		.depth_count = 1,
	};
	const struct cell_plan test = {
		.name = "IOMeter reads",
		.rw = RW_RANDREAD,
		.block_bytes = 4 * KIB,
		.depth_count = 1,
		.runtime_ns = IOMETER_NS,
		.io_bytes = c->kit->capacity_bytes / 100 / (4 * KIB) * (4 * KIB),
		.repeat = true,
	};
	int r = kit_step(c->kit, &fill, NULL, err);

	return r == 0 ? kit_measure(c->kit, &test, NULL, err) : r;
}

static int run_plan(struct contamination *c, struct err *err)
{
	const struct plan *plan = c->kit->options->plan;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->phase_count; i++) {
		struct workload workload = plan->phases[i].workload;

		if (plan->phases[i].kind == PHASE_IDLE) {
			r = kit_idle(c->kit, "the plan rests", plan->phases[i].idle_ns, err);
			continue;
		}
		if (plan->phases[i].kind != PHASE_MEASURE)
			return err_set(err, -EOPNOTSUPP,
				       "contamination: phase %zu of the plan is no "
				       "measurement",
				       i + 1);
		if (!workload.name[0])
			snprintf(workload.name, sizeof(workload.name), "the plan, phase %zu",
				 i + 1);
		r = kit_run(c->kit, &workload, true, NULL, err);
	}
	return r;
}

/*
 * The plan and the probe after it, without an anchor inside: a pause between would be a pause of
 * the plan. Broken off there, the plan runs again on a drive it has partly run on.
 */
static int run_suspect(struct contamination *c, struct err *err)
{
	uint64_t before_bytes;
	int r = kit_anchor(c->kit, err);

	before_bytes = c->kit->outcome->written_bytes;
	if (r == 0 && kit_has_gap(c->kit))
		kit_note(c->kit, "there was a break before the plan, or in it: then it ran in part before");
	if (r == 0)
		r = c->kit->options->plan ? run_plan(c, err) : run_iometer(c, err);
	c->plan_written_bytes = c->kit->outcome->written_bytes - before_bytes;
	return r == 0 ? probe(c, AFTER, err) : r;
}

/* A probe that writes a tenth of the drive first may begin after a break. */
static int probe_anchored(struct contamination *c, enum when when, struct err *err)
{
	const int r = kit_anchor(c->kit, err);

	return r == 0 ? probe(c, when, err) : r;
}

static int rest(struct contamination *c, struct err *err)
{
	const uint64_t idle_ns = c->kit->options->idle_ns;
	int r = kit_anchor(c->kit, err);

	if (r == 0 && kit_has_gap(c->kit))
		kit_note(c->kit, "there was a break before the pause: it was longer than asked");
	if (r == 0)
		r = kit_idle(c->kit, "idle", idle_ns ? idle_ns : IDLE_NS, err);
	return r == 0 ? probe(c, RESTED, err) : r;
}

/* --- what it means --------------------------------------------------------------------- */

static void add_evidence(const struct contamination *c, size_t i, const struct estimate *drop,
			 const struct estimate *rested)
{
	char name[64];

	for (int when = 0; when < TIMES; when++) {
		snprintf(name, sizeof(name), "%s, %s", metrics[i].words, when_names[when]);
		kit_evidence(c->kit, name, "B/s", samples_mean(&c->rates[when][i]));
	}
	snprintf(name, sizeof(name), "%s: change", metrics[i].words);
	if (drop->known)
		kit_evidence_within(c->kit, name, "%",
				    (const double[3]){ -100 * drop->value, -100 * drop->high,
						       -100 * drop->low });
	snprintf(name, sizeof(name), "%s: change after a pause", metrics[i].words);
	if (rested->known)
		kit_evidence_within(c->kit, name, "%",
				    (const double[3]){ -100 * rested->value, -100 * rested->high,
						       -100 * rested->low });
}

/* Sure to be beyond the limit in either direction. */
static bool is_change(const struct estimate *drop)
{
	return drop->known && ((drop->low > 0 && drop->value >= CHANGE_MIN) ||
			       (drop->high < 0 && drop->value <= -CHANGE_MIN));
}

static void judge_change(const struct contamination *c, size_t i, const struct estimate *drop,
			 const struct estimate *rested)
{
	char written[UNITS_TEXT_BYTES];

	units_format_size((double)c->plan_written_bytes, written);
	if (drop->value > 0)
		kit_verdict(c->kit, "changes-the-drive",
			    "It writes %s and changes the drive: %s %.0f %% "
			    "slower, %.0f %% after a pause",
			    written, metrics[i].words, 100 * drop->value, 100 * rested->value);
	else
		kit_verdict(c->kit, "heals-the-drive",
			    "It writes %s and heals the drive: %s %.0f %% "
			    "faster",
			    written, metrics[i].words, -100 * drop->value);
}

static void judge_written(const struct contamination *c, double widest)
{
	const double share = (double)c->plan_written_bytes / (double)c->kit->capacity_bytes;
	char written[UNITS_TEXT_BYTES];

	units_format_size((double)c->plan_written_bytes, written);
	if (widest > 2 * CHANGE_MIN)
		kit_verdict(c->kit, "cannot-tell",
			    "The probes scatter too much: a change of %.0f %% would "
			    "not have shown",
			    100 * widest);
	else if (share >= WRITTEN_FULL)
		kit_verdict(c->kit, "fills-the-drive",
			    "It writes %s, all there is, without a change in "
			    "speed",
			    written);
	else if (share > WRITTEN_CLEAN)
		kit_verdict(c->kit, "writes", "It writes %s, without a change in speed", written);
	else
		kit_verdict(c->kit, "clean", "It leaves the drive as it was");
}

/* What the probe did by itself is no merit or fault of the plan. */
static bool is_own_doing(const struct contamination *c, size_t i, const struct estimate *drop)
{
	const struct estimate own = estimate_drop(&c->rates[CONTROL][i], &c->rates[BEFORE][i]);

	return own.known && own.value * drop->value > 0 && fabs(own.value) > fabs(drop->value) / 2;
}

static void judge(const struct contamination *c)
{
	struct estimate worst = { 0 }, worst_rested = { 0 };
	size_t worst_metric = METRICS;
	double widest = 0;
	bool own_doing = false;

	for (size_t i = 0; i < METRICS; i++) {
		const struct estimate drop =
			estimate_drop(&c->rates[BEFORE][i], &c->rates[AFTER][i]);
		const struct estimate rested =
			estimate_drop(&c->rates[BEFORE][i], &c->rates[RESTED][i]);

		add_evidence(c, i, &drop, &rested);
		widest = fmax(widest, fmax(fabs(drop.low), fabs(drop.high)));
		own_doing |= is_change(&drop) && is_own_doing(c, i, &drop);
		if (is_change(&drop) && !is_own_doing(c, i, &drop) &&
		    (worst_metric == METRICS || fabs(drop.value) > fabs(worst.value))) {
			worst_metric = i;
			worst = drop;
			worst_rested = rested;
		}
	}
	kit_evidence(c->kit, "written by the plan", "B", (double)c->plan_written_bytes);
	if (worst_metric < METRICS)
		judge_change(c, worst_metric, &worst, &worst_rested);
	else if (own_doing)
		kit_verdict(c->kit, "cannot-tell",
			    "The drive was not steady: the probes alone change its "
			    "speed as much");
	else
		judge_written(c, widest);
}

static int run_contamination(struct kit *kit, struct err *err)
{
	struct contamination c = { .kit = kit };
	int r = probe_anchored(&c, CONTROL, err);

	if (r == 0)
		r = probe_anchored(&c, BEFORE, err);
	if (r == 0)
		r = run_suspect(&c, err);
	if (r == 0)
		r = rest(&c, err);
	if (r == 0 && !kit->forecasting)
		judge(&c);
	return r;
}

const struct protocol protocol_contamination = {
	.name = "contamination",
	.summary = "whether a test changes the drive it measures",
	.description = "Random writes over a tenth of the drive and five rounds of short write "
		       "probes, twice; "
		       "the plan; the same again; 30 min without I/O (--idle); the same again. The "
		       "drive is "
		       "taken as it is. The plan is that of --plan; without one it is what IOMeter "
		       "does to a new partition: it fills it with its file, then "
		       "reads.\n\n"
		       "Verdicts: changes-the-drive, heals-the-drive (10 % and more), "
		       "fills-the-drive, writes "
		       "(more than 1 % of it), clean, cannot-tell.",
	.writes = true,
	.lays_out = true,
	.run = run_contamination,
};
