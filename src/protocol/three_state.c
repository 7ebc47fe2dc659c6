/* SPDX-License-Identifier: MIT */

/*
 * three-state - clean, dirty, deleted, rested, trimmed: how much speed use costs, and how
 * much of it comes back by idle cleaning and how much by discarding.
 *
 *	clean	purged
 *	dirty	filled once in order, then random 4 KiB writes over all of it
 *	deleted	data are forgotten without a discard, the control: on a drive nothing needs to be
 *		done for that; in a directory the test file gives its blocks back to the file
 *		system, which is not mounted with discard
 *	idle	no I/O for a while
 *	again	random writes, where resting brought something back: the trim starts from dirty
 *	trimmed	all of it discarded, probed at once
 *	rested	and again after a pause, for drives that discard late
 *
 * Each state is probed by the same rounds of short cells, writes first. What was discarded or
 * never written says nothing when it is read, so reads go to a stretch that is written anew
 * where a discard or purge went before. That is no trim's merit: R is formed for writes only,
 * and the verdict speaks of the one, of those that lost, of which most is known.
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
#define PROBE_SHARE 0.0025 /* of the capacity, for each cell: 2.5 % written per state */
#define READ_SHARE 0.04	   /* the stretch that is read */
#define IDLE_NS (1800 * SECOND_NS)
#define DIRTY_NS (1800 * SECOND_NS)
#define REST_NS (60 * SECOND_NS)

/* Limits (protocols.md section 1; ours): what counts as lost, as back, as not back. */
#define DROP_MIN 0.05
#define BACK 0.80
#define NOT_BACK 0.20
#define SURE 0.50 /* the interval of what is back lies above, of what is not below */

enum state { CLEAN, DIRTY, DELETED, IDLE, AGAIN, TRIMMED, RESTED, STATES };
static const char *const state_names[STATES] = {
	"clean", "dirty", "deleted", "idle", "dirty again", "trimmed", "trimmed and rested",
};

static const struct metric {
	const char *name, *words;
	uint32_t rw;
	uint64_t block_bytes;
	uint32_t depth_count;
	bool writes;
} metrics[] = {
	/* writes first */
	{ "seq-write", "sequential write", RW_WRITE, 128 * KIB, 8, true },
	{ "rand-write", "random write", RW_RANDWRITE, 4 * KIB, 32, true },
	{ "seq-read", "sequential read", RW_READ, 128 * KIB, 8, false },
	{ "rand-read", "random read", RW_RANDREAD, 4 * KIB, 32, false },
};
#define METRICS ARRAY_COUNT(metrics)

struct three_state {
	struct kit *kit;
	bool erased; /* clean was made by the drive's own erase */
	struct samples rates[STATES][METRICS];
	struct samples p99[STATES][METRICS];
};

static int probe_cell(struct three_state *t, enum state state, size_t i, uint32_t round,
		      struct err *err)
{
	const struct metric *metric = &metrics[i];
	const uint64_t bytes = kit_share(t->kit, PROBE_SHARE, metric->block_bytes * 8);
	struct cell_plan plan = {
		.rw = metric->rw,
		.block_bytes = metric->block_bytes,
		.depth_count = metric->depth_count,
		.io_bytes = bytes,
		/* A write cache would hide what the flash does. */
		.flush = metric->writes,
	};
	struct protocol_cell cell;
	int r;

	snprintf(plan.name, sizeof(plan.name), "%s: %s %u", state_names[state], metric->name,
		 round + 1);
	/* Sequential writes of a round go to a stretch of their own, reads to what is written. */
	if (metric->rw == RW_WRITE) {
		plan.offset_bytes =
			t->kit->capacity_bytes / ROUNDS / (128 * KIB) * (128 * KIB) * round;
		plan.size_bytes = bytes + metric->block_bytes;
	} else if (!metric->writes) {
		plan.size_bytes = kit_share(t->kit, READ_SHARE, 128 * KIB);
	}
	r = kit_measure(t->kit, &plan, &cell, err);
	if (r < 0)
		return r;
	samples_add(&t->rates[state][i], cell.bytes_per_s);
	samples_add(&t->p99[state][i], (double)cell.latency_ns_p99);
	return 0;
}

static int probe_rounds(struct three_state *t, enum state state, bool writes, struct err *err)
{
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < METRICS; i++) {
			int r = metrics[i].writes == writes ? probe_cell(t, state, i, round, err)
							    : 0;

			if (r < 0)
				return r;
		}
	return 0;
}

static int probe(struct three_state *t, enum state state, struct err *err)
{
	const bool is_bare = state == CLEAN || state == TRIMMED || state == RESTED;
	struct cell_plan plan = {
		.rw = RW_WRITE,
		.block_bytes = 128 * KIB,
		.depth_count = 8,
		.size_bytes = kit_share(t->kit, READ_SHARE, 128 * KIB),
	};
	int r = probe_rounds(t, state, true, err);

	snprintf(plan.name, sizeof(plan.name), "%s: write what is read", state_names[state]);
	if (r == 0 && is_bare)
		r = kit_step(t->kit, &plan, NULL, err);
	return r == 0 ? probe_rounds(t, state, false, err) : r;
}

static int random_writes(struct three_state *t, const char *name, double share, struct err *err)
{
	struct cell_plan plan = {
		.rw = RW_RANDWRITE,
		.block_bytes = 4 * KIB,
		.depth_count = 32,
		.io_bytes = kit_share(t->kit, share, 4 * KIB),
		.runtime_ns = DIRTY_NS,
		.repeat = true,
	};

	snprintf(plan.name, sizeof(plan.name), "%s", name);
	return kit_step(t->kit, &plan, NULL, err);
}

static bool is_directory(const struct kit *kit)
{
	return sitting_target(kit->sitting)->kind == TARGET_DIRECTORY;
}

static int make_clean(struct three_state *t, struct err *err)
{
	int r = kit_anchor(t->kit, err);

	if (r == 0)
		r = kit_purge(t->kit, &t->erased, err);
	return r == 0 ? probe(t, CLEAN, err) : r;
}

static int make_dirty(struct three_state *t, struct err *err)
{
	static const struct cell_plan fill = {
		.name = "fill",
		.rw = RW_WRITE,
		.block_bytes = 128 * KIB,
		.depth_count = 32,
	};
	static const struct cell_plan forget = {
		.name = "delete without a discard",
		.rw = RW_TRIM,
		.block_bytes = 64 * KIB,
		.depth_count = 1,
	};
	int r = kit_anchor(t->kit, err);

	if (r == 0)
		r = kit_step(t->kit, &fill, NULL, err);
	if (r == 0)
		r = random_writes(t, "dirty by random writes", 1, err);
	if (r == 0)
		r = probe(t, DIRTY, err);
	if (r == 0 && is_directory(t->kit))
		r = kit_step(t->kit, &forget, NULL, err);
	return r == 0 ? probe(t, DELETED, err) : r;
}

/* Whether resting brought back enough to hide what the trim does. */
static bool is_refreshed(const struct three_state *t)
{
	for (size_t i = 0; i < METRICS && metrics[i].writes; i++) {
		const struct estimate r = estimate_recovery(
			&t->rates[CLEAN][i], &t->rates[DELETED][i], &t->rates[IDLE][i]);

		if (r.known && r.value > NOT_BACK)
			return true;
	}
	return false;
}

/* After a rest that refreshed the drive, one of ours or a break. */
static int make_dirty_again(struct three_state *t, struct err *err)
{
	int r = random_writes(t, "dirty again by random writes", 0.25, err);

	return r == 0 ? probe(t, AGAIN, err) : r;
}

static int rest(struct three_state *t, struct err *err)
{
	const uint64_t idle_ns = t->kit->options->idle_ns;
	int r = kit_anchor(t->kit, err);

	/* What a break brought back must not be missing from what the pause brings. */
	if (r == 0 && kit_has_gap(t->kit))
		r = random_writes(t, "dirty again after a break", 0.25, err);
	if (r == 0)
		r = kit_idle(t->kit, "idle", idle_ns ? idle_ns : IDLE_NS, err);
	if (r == 0)
		r = probe(t, IDLE, err);
	/* A forecast does not know: it counts the most. */
	if (r < 0 || (!t->kit->forecasting && !is_refreshed(t)))
		return r;
	return make_dirty_again(t, err);
}

/* Not longer than the pause without a trim was: that is its control. */
static uint64_t rest_ns(const struct kit *kit)
{
	const uint64_t idle_ns = kit->options->idle_ns;

	return idle_ns && idle_ns < REST_NS ? idle_ns : REST_NS;
}

/* In a directory: what the test file holds is given back, and the file system told to trim. */
static int trim_directory(struct three_state *t, struct err *err)
{
	struct step step;
	bool erased;
	int r = kit_purge(t->kit, &erased, err);

	step_init(&step, STEP_TRIM);
	return r == 0 ? kit_state(t->kit, "trim of the file system", &step, NULL, err) : r;
}

static int trim(struct three_state *t, struct err *err)
{
	/* In many pieces: a drive that forgets some must show it. */
	const struct cell_plan plan = {
		.name = "discard everything",
		.rw = RW_TRIM,
		.block_bytes = kit_share(t->kit, 1.0 / 256, 64 * KIB),
		.depth_count = 1,
	};
	int r;

	if (!kit_discards(t->kit))
		return 0;
	r = kit_anchor(t->kit, err);
	if (r == 0 && kit_has_gap(t->kit))
		r = make_dirty_again(t, err);
	if (r < 0)
		return r;
	r = is_directory(t->kit) ? trim_directory(t, err) : kit_step(t->kit, &plan, NULL, err);
	if (r == 0)
		r = probe(t, TRIMMED, err);
	if (r == 0)
		r = kit_idle(t->kit, "rest after the discard", rest_ns(t->kit), err);
	return r == 0 ? probe(t, RESTED, err) : r;
}

/* --- what it means --------------------------------------------------------------------- */

struct finding_of_metric {
	size_t metric;
	struct estimate drop, idle, trim, trim_at_once;
};

/* The state in which the discard found the drive. */
static const struct samples *before_trim(const struct three_state *t, size_t i)
{
	if (t->rates[AGAIN][i].count)
		return &t->rates[AGAIN][i];
	return t->rates[IDLE][i].count ? &t->rates[IDLE][i] : &t->rates[DELETED][i];
}

static struct finding_of_metric judge_metric(const struct three_state *t, size_t i)
{
	const struct samples *clean = &t->rates[CLEAN][i], *deleted = &t->rates[DELETED][i];

	return (struct finding_of_metric){
		.metric = i,
		.drop = estimate_drop(clean, deleted),
		.idle = estimate_recovery(clean, deleted, &t->rates[IDLE][i]),
		.trim = estimate_recovery(clean, before_trim(t, i), &t->rates[RESTED][i]),
		.trim_at_once = estimate_recovery(clean, before_trim(t, i), &t->rates[TRIMMED][i]),
	};
}

static bool is_lost(const struct estimate *drop)
{
	return drop->known && drop->low > 0 && drop->value >= DROP_MIN;
}

static bool is_back(const struct estimate *r)
{
	return r->known && r->value >= BACK && r->low > SURE;
}

static bool is_not_back(const struct estimate *r)
{
	return r->known && r->value < NOT_BACK && r->high < SURE;
}

static bool is_partly_back(const struct estimate *r)
{
	return r->known && r->low > 0 && r->high < BACK && !is_not_back(r);
}

static void add_percent(struct kit *kit, const char *words, const char *what,
			const struct estimate *e)
{
	char name[64];

	if (!e->known)
		return;
	snprintf(name, sizeof(name), "%s: %s", words, what);
	kit_evidence_within(kit, name, "%",
			    (const double[3]){ 100 * e->value, 100 * e->low, 100 * e->high });
}

static void add_evidence(const struct three_state *t, const struct finding_of_metric *f)
{
	const char *words = metrics[f->metric].words;
	char name[64];

	for (int state = 0; state < STATES; state++) {
		if (!t->rates[state][f->metric].count)
			continue;
		snprintf(name, sizeof(name), "%s, %s", words, state_names[state]);
		kit_evidence(t->kit, name, "B/s", samples_mean(&t->rates[state][f->metric]));
		snprintf(name, sizeof(name), "%s, %s, p99", words, state_names[state]);
		kit_evidence(t->kit, name, "ns", samples_mean(&t->p99[state][f->metric]));
	}
	add_percent(t->kit, words, "lost by use", &f->drop);
	if (!metrics[f->metric].writes || !is_lost(&f->drop))
		return;
	add_percent(t->kit, words, "back by idle time", &f->idle);
	add_percent(t->kit, words, "back by trim at once", &f->trim_at_once);
	add_percent(t->kit, words, "back by trim and a pause", &f->trim);
}

static void nothing_lost(const struct three_state *t)
{
	double widest = 0;

	for (size_t i = 0; i < METRICS && metrics[i].writes; i++) {
		const struct estimate drop = judge_metric(t, i).drop;

		widest = fmax(widest, drop.high);
	}
	if (!t->erased)
		kit_verdict(t->kit, "cannot-tell",
			    "Nothing was lost, but clean was made by a "
			    "discard: a drive that ignores discards was never clean");
	else if (widest > 4 * DROP_MIN)
		kit_verdict(t->kit, "cannot-tell",
			    "The probes scatter too much: a loss of up to "
			    "%.0f %% would not have shown",
			    100 * widest);
	else
		kit_verdict(t->kit, "nothing-to-recover",
			    "Nothing was lost by use, so there is nothing to bring back");
}

static void verdict_of_trim(struct kit *kit, const struct finding_of_metric *f, const char *lost)
{
	if (is_back(&f->trim))
		kit_verdict(kit, "trim-effective",
			    "%s; trim brings back %.0f %%%s, idle time %.0f %%", lost,
			    100 * f->trim.value, is_back(&f->trim_at_once) ? "" : " after a pause",
			    100 * f->idle.value);
	else if (is_not_back(&f->trim))
		kit_verdict(kit, "trim-none",
			    "%s; neither trim (%.0f %%) nor idle time (%.0f %%) "
			    "brings it back",
			    lost, 100 * f->trim.value, 100 * f->idle.value);
	else if (is_partly_back(&f->trim))
		kit_verdict(kit, "trim-partial",
			    "%s; trim brings back only %.0f %% (%.0f to %.0f %%)", lost,
			    100 * f->trim.value, 100 * f->trim.low, 100 * f->trim.high);
	else if (f->trim.known && isfinite(f->trim.low) && isfinite(f->trim.high))
		kit_verdict(kit, "cannot-tell",
			    "%s; what trim brings back lies between %.0f and "
			    "%.0f %%",
			    lost, 100 * f->trim.low, 100 * f->trim.high);
	else
		kit_verdict(kit, "cannot-tell",
			    "%s; what trim brings back of it could not be told", lost);
}

static void judge_told(const struct three_state *t, const struct finding_of_metric *f)
{
	char lost[96];

	snprintf(lost, sizeof(lost), "Use costs %.0f %% of %s speed", 100 * f->drop.value,
		 metrics[f->metric].words);
	if (is_back(&f->idle))
		kit_verdict(t->kit, "idle-recovers", "%s; idle time brings back %.0f %%", lost,
			    100 * f->idle.value);
	else if (!kit_discards(t->kit))
		kit_verdict(t->kit, "trim-none",
			    "%s; idle time brings back %.0f %%, and the drive "
			    "takes no discards",
			    lost, 100 * f->idle.value);
	else
		verdict_of_trim(t->kit, f, lost);
}

/* Of the interval that the verdict rests on. */
static double width(const struct finding_of_metric *f)
{
	const struct estimate *e = f->trim.known ? &f->trim : &f->idle;

	return e->known ? e->high - e->low : HUGE_VAL;
}

static void judge(const struct three_state *t)
{
	struct finding_of_metric told = { .metric = METRICS };

	for (size_t i = 0; i < METRICS; i++) {
		const struct finding_of_metric f = judge_metric(t, i);

		add_evidence(t, &f);
		if (metrics[i].writes && is_lost(&f.drop) &&
		    (told.metric == METRICS || width(&f) < width(&told)))
			told = f;
	}
	if (told.metric == METRICS)
		nothing_lost(t);
	else
		judge_told(t, &told);
	if (!t->erased)
		kit_note(t->kit, "purge: by discard, not by an erase of the drive's own");
	kit_note(t->kit, "intervals are over %zu probes in each state%s", t->rates[CLEAN][0].count,
		 t->kit->options->repeat_count > 1 ? "" : " of one cycle (--repeat for more)");
}

/* The control is that nothing is discarded: a file system that does by itself spoils it. */
static int check_kind(const struct kit *kit, struct err *err)
{
	const struct target_info *info = sitting_target(kit->sitting);

	if (info->kind == TARGET_BLOCK || info->kind == TARGET_SIM)
		return 0;
	if (info->kind != TARGET_DIRECTORY) {
		err_set(err, -EOPNOTSUPP,
			"three-state: what a hole in %s does to the drive is the file "
			"system's choice",
			info->spec);
		return err_hint(err, "name a directory, or the device with --erase-data");
	}
	return kit_check_no_online_discard(kit, err);
}

static int run_three_state(struct kit *kit, struct err *err)
{
	const uint32_t cycles = kit->options->repeat_count ? kit->options->repeat_count : 1;
	struct three_state t = { .kit = kit };
	int r = check_kind(kit, err);

	for (uint32_t cycle = 0; r == 0 && cycle < cycles; cycle++) {
		r = make_clean(&t, err);
		if (r == 0)
			r = make_dirty(&t, err);
		if (r == 0)
			r = rest(&t, err);
		if (r == 0)
			r = trim(&t, err);
	}
	if (r == 0 && !kit->forecasting)
		judge(&t);
	return r;
}

const struct protocol protocol_three_state = {
	.name = "three-state",
	.summary = "what use costs, and how much comes back by idle time and by trim",
	.description =
		"Purge, fill, random writes over everything, the data forgotten without a discard, "
		"30 min without I/O (--idle), everything discarded, a minute's pause. In each "
		"state "
		"the same five rounds of short probes. R = (after - dirty) / (clean - dirty).\n\n"
		"Verdicts: trim-effective, trim-partial, trim-none, idle-recovers, "
		"nothing-to-recover, cannot-tell.",
	.writes = true,
	.run = run_three_state,
};
