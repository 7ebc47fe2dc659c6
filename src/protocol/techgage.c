/* SPDX-License-Identifier: MIT */

/*
 * techgage - the recipe of "TRIM for Linux": iozone's sequential write and read in 4 KiB
 * records, on a clean drive; after 74 GB of files, deleted, and 64 GB of other files on 80 GB;
 * and after a trim of all that is free.
 *
 * There is no file system here: files are pieces placed as one places them. The first set goes
 * in order onto the empty drive. Once it is deleted, the second takes pieces of 64 KiB all over,
 * in random order, and leaves holes of 16 KiB, a fifth of the drive: what is free, and what
 * iozone's file is made of, in order of address. How large the holes were on the article's
 * drive nobody wrote down. No discard goes to the drive before the trim.
 *
 * iozone goes through the page cache, and what the drive sees of it are the cache's requests:
 * 512 KiB of writes in flight, one window of 128 KiB of reads after the other, in requests of
 * 128 KiB where the file is in one piece and of a hole where it is not. The
 * "buffered" pass sends just these; past the page cache, so that it says what the drive does
 * and nothing of this machine's memory. The "direct" pass is one request of 128 KiB at a time.
 *
 * In a directory there is one, and the recipe is followed to the letter: real files (state/dirty,
 * its preset), a test file where iozone had its own, 4 KiB records through the page cache with
 * the flush counted, nothing cached before reads; the trim is fstrim's.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"
#include "protocol/recovery.h"

#define EXTENT_BYTES (16 * KIB)
#define GROUP 5 /* extents: a piece of the second set, and a hole */
#define GROUP_BYTES (GROUP * EXTENT_BYTES)
#define WINDOW_WRITE_BYTES (512 * KIB)
#define WINDOW_READ_BYTES (128 * KIB)
#define RECORD_BYTES (4 * KIB)
#define CYCLES 3 /* fewer give no interval worth having */
#define REST_NS (1800 * SECOND_NS)

/* Of the article's 80 GB. */
#define FIRST_SET (74.0 / 80)

/* Limits, as in three-state. */
#define DROP_MIN 0.05
#define BACK 0.80
#define NOT_BACK 0.20

enum state { CLEAN, DIRTY, TRIMMED, STATES };
static const char *const state_names[STATES] = { "clean", "dirty", "trimmed" };

enum pass { BUFFERED_WRITE, BUFFERED_READ, DIRECT_WRITE, DIRECT_READ, PASSES };
static const struct {
	const char *name;
	bool reads, direct;
} passes[PASSES] = {
	{ "buffered write", false, false },
	{ "buffered read", true, false },
	{ "direct write", false, true },
	{ "direct read", true, true },
};

struct techgage {
	struct kit *kit;
	bool in_directory;
	uint64_t groups_bytes; /* what the groups cover */
	struct samples rates[STATES][PASSES];
};

/* The holes: the last extent of each group. */
static void to_holes(const struct techgage *t, struct workload *w)
{
	w->offset.bytes = GROUP_BYTES - EXTENT_BYTES;
	w->size.bytes = t->groups_bytes - w->offset.bytes;
	w->align_bytes = EXTENT_BYTES;
	w->stride_bytes = GROUP_BYTES;
}

/* Over iozone's file: in one piece on the clean drive, a hole in each group else. */
static struct workload workload_of(const struct techgage *t, enum state state, enum pass pass)
{
	const uint64_t window = passes[pass].reads ? WINDOW_READ_BYTES : WINDOW_WRITE_BYTES;
	const uint64_t request = state == CLEAN ? WINDOW_READ_BYTES : EXTENT_BYTES;
	struct cell_plan plan = {
		.rw = passes[pass].reads ? RW_READ : RW_WRITE,
		.block_bytes = request,
		.depth_count = passes[pass].direct ? 1 : (uint32_t)(window / request),
		.size_bytes = t->groups_bytes / GROUP / WINDOW_READ_BYTES * WINDOW_READ_BYTES,
	};
	struct workload w;

	snprintf(plan.name, sizeof(plan.name), "%s: %s", state_names[state], passes[pass].name);
	w = kit_workload(t->kit, &plan);
	if (state != CLEAN)
		to_holes(t, &w);
	if (passes[pass].reads) {
		/* The next window is asked for when all of the last one is there. */
		w.batch_count = w.depth_count;
		w.wait_count = w.depth_count;
	}
	return w;
}

/* iozone's own calls, on a file; what was written is on the drive when the clock stops. */
static struct workload workload_of_file(const struct techgage *t, enum state state, enum pass pass)
{
	const bool reads = passes[pass].reads, direct = passes[pass].direct;
	const uint64_t block_bytes = direct ? WINDOW_READ_BYTES : RECORD_BYTES;
	const uint64_t size_bytes = kit_share(t->kit, 1, WINDOW_READ_BYTES);
	struct cell_plan plan = {
		.rw = reads ? RW_READ : RW_WRITE,
		.block_bytes = block_bytes,
		.depth_count = 1,
		.size_bytes = size_bytes,
		.io_bytes = reads ? 0 : size_bytes - block_bytes,
		.flush = !reads,
	};
	struct workload w;

	snprintf(plan.name, sizeof(plan.name), "%s: %s", state_names[state], passes[pass].name);
	w = kit_workload(t->kit, &plan);
	w.direct = direct;
	w.engine = ENGINE_SYNC;
	return w;
}

static int run_pass(struct techgage *t, enum state state, enum pass pass, struct err *err)
{
	const struct workload w = t->in_directory ? workload_of_file(t, state, pass) :
						    workload_of(t, state, pass);
	struct protocol_cell cell;
	int r = kit_run(t->kit, &w, true, &cell, err);

	if (r == 0)
		samples_add(&t->rates[state][pass], cell.bytes_per_s);
	return r;
}

/* iozone writes, then reads, then the direct pass does the same again. */
static int run_passes(struct techgage *t, enum state state, struct err *err)
{
	int r = 0;

	for (int pass = 0; r == 0 && pass < PASSES; pass++)
		r = run_pass(t, state, (enum pass)pass, err);
	return r;
}

static int first_set(struct techgage *t, struct err *err)
{
	const struct cell_plan plan = {
		.name = "first set of files",
		.rw = RW_WRITE,
		.block_bytes = 128 * KIB,
		.depth_count = WINDOW_WRITE_BYTES / (128 * KIB),
		.size_bytes = kit_share(t->kit, FIRST_SET, 128 * KIB),
	};

	return kit_step(t->kit, &plan, NULL, err);
}

static int second_set(struct techgage *t, struct err *err)
{
	const struct cell_plan plan = {
		.name = "second set of files",
		.rw = RW_RANDWRITE,
		.block_bytes = GROUP_BYTES - EXTENT_BYTES,
		.depth_count = WINDOW_WRITE_BYTES / (GROUP_BYTES - EXTENT_BYTES),
		.size_bytes = t->groups_bytes,
		.align_bytes = GROUP_BYTES,
	};

	return kit_step(t->kit, &plan, NULL, err);
}

/* Of the whole, or of what a directory's file system has free and our test file held. */
static int purge(struct techgage *t, struct err *err)
{
	struct step trim;
	int r = kit_purge(t->kit, NULL, err);

	step_init(&trim, STEP_TRIM);
	if (r == 0 && t->in_directory && kit_discards(t->kit))
		r = kit_state(t->kit, "trim of the file system", &trim, NULL, err);
	return r;
}

/* Both sets, made and deleted, twice: as the article did, in scale. */
static int both_sets(struct techgage *t, struct err *err)
{
	struct step step;
	int r;

	if (!t->in_directory) {
		r = first_set(t, err);
		return r == 0 ? second_set(t, err) : r;
	}
	step_init(&step, STEP_DIRTY);
	step.dirty.preset = DIRTY_TECHGAGE;
	/* The files' space beside ours; the same in each cycle. */
	step.dirty.seed = t->kit->outcome->seed;
	return kit_state(t->kit, "two sets of files, twice", &step, NULL, err);
}

static int make_clean(struct techgage *t, struct err *err)
{
	int r = kit_anchor(t->kit, err);

	if (r == 0)
		r = purge(t, err);
	return r == 0 ? run_passes(t, CLEAN, err) : r;
}

static int make_dirty(struct techgage *t, struct err *err)
{
	int r = kit_anchor(t->kit, err);

	if (r == 0)
		r = purge(t, err);
	if (r == 0)
		r = both_sets(t, err);
	return r == 0 ? run_passes(t, DIRTY, err) : r;
}

/* iozone's file is deleted: the holes are what is free. */
static int trim_holes(struct techgage *t, struct err *err)
{
	const struct cell_plan plan = {
		.name = "trim of what is free",
		.rw = RW_TRIM,
		.block_bytes = EXTENT_BYTES,
		.depth_count = 1,
	};
	struct workload w = kit_workload(t->kit, &plan);

	to_holes(t, &w);
	return kit_run(t->kit, &w, false, NULL, err);
}

static int make_trimmed(struct techgage *t, struct err *err)
{
	int r;

	if (!kit_discards(t->kit))
		return 0;
	r = t->in_directory ? purge(t, err) : trim_holes(t, err);
	if (r == 0)
		r = kit_idle(t->kit, "rest",
			     t->kit->options->idle_ns ? t->kit->options->idle_ns : REST_NS, err);
	return r == 0 ? run_passes(t, TRIMMED, err) : r;
}

/* --- what it means --------------------------------------------------------------------- */

static void add_evidence(const struct techgage *t)
{
	char name[64];

	for (int pass = 0; pass < PASSES; pass++)
		for (int state = 0; state < STATES; state++) {
			if (!t->rates[state][pass].count)
				continue;
			snprintf(name, sizeof(name), "%s, %s", passes[pass].name,
				 state_names[state]);
			kit_evidence(t->kit, name, "B/s", samples_mean(&t->rates[state][pass]));
		}
}

static void judge(const struct techgage *t)
{
	const struct samples *clean = &t->rates[CLEAN][BUFFERED_WRITE];
	const struct samples *dirty = &t->rates[DIRTY][BUFFERED_WRITE];
	const struct samples *trimmed = &t->rates[TRIMMED][BUFFERED_WRITE];
	const struct estimate drop = estimate_drop(clean, dirty);
	const struct estimate back = estimate_recovery(clean, dirty, trimmed);
	const double ratio = samples_mean(clean) / samples_mean(dirty);

	add_evidence(t);
	kit_evidence(t->kit, "clean over dirty, buffered write", "x", ratio);
	if (back.known)
		kit_evidence_within(
			t->kit, "back by trim", "%",
			(const double[3]){ 100 * back.value, 100 * back.low, 100 * back.high });
	if (!drop.known)
		kit_verdict(t->kit, "cannot-tell",
			    "One cycle: %.2f times slower when dirty; --repeat 3 for a "
			    "verdict",
			    ratio);
	else if (drop.low <= 0 || drop.value < DROP_MIN)
		kit_verdict(t->kit, "nothing-to-recover", "Files cost no write speed");
	else if (!kit_discards(t->kit))
		kit_verdict(t->kit, "trim-none",
			    "Files make writes %.2f times slower, and the drive takes "
			    "no discards",
			    ratio);
	else if (!back.known)
		kit_verdict(t->kit, "cannot-tell",
			    "Files make writes %.2f times slower; the "
			    "cycles scatter too much to say what trim brings back",
			    ratio);
	else if (back.value >= BACK)
		kit_verdict(t->kit, "trim-effective",
			    "Files make writes %.2f times slower; trim brings "
			    "back %.0f %%",
			    ratio, 100 * back.value);
	else if (back.value > NOT_BACK)
		kit_verdict(t->kit, "trim-partial",
			    "Files make writes %.2f times slower; trim brings back "
			    "only %.0f %%",
			    ratio, 100 * back.value);
	else
		kit_verdict(t->kit, "trim-none",
			    "Files make writes %.2f times slower, and trim brings back "
			    "nothing (%.0f %%)",
			    ratio, 100 * back.value);
}

static int check_kind(const struct kit *kit, struct err *err)
{
	const struct target_info *info = sitting_target(kit->sitting);

	if (info->kind == TARGET_DIRECTORY)
		return kit_check_no_online_discard(kit, err);
	if (info->kind == TARGET_BLOCK || info->kind == TARGET_SIM)
		return 0;
	err_set(err, -EOPNOTSUPP, "techgage: files are dirtied around %s, not in it", info->spec);
	return err_hint(err, "name a directory, or the device with --erase-data");
}

static void note_what_it_is(struct techgage *t)
{
	if (t->in_directory) {
		kit_note(t->kit, "buffered passes go through the page cache as iozone's do: nothing is "
				 "cached before, and the flush counts");
		return;
	}
	kit_note(t->kit, "files are pieces placed as a file system would, holes of 16 KiB between "
			 "them: there is none here");
	kit_note(t->kit, "\"buffered\" sends the page cache's requests, past the page cache: the "
			 "drive's share of iozone's figure, not this machine's memory");
}

static int run_techgage(struct kit *kit, struct err *err)
{
	const uint32_t cycles = kit->options->repeat_count ? kit->options->repeat_count : CYCLES;
	struct techgage t = { .kit = kit };
	int r = check_kind(kit, err);

	t.in_directory = r == 0 && sitting_target(kit->sitting)->kind == TARGET_DIRECTORY;
	t.groups_bytes = kit->capacity_bytes / GROUP_BYTES * GROUP_BYTES;
	for (uint32_t cycle = 0; r == 0 && cycle < cycles; cycle++) {
		r = make_clean(&t, err);
		if (r == 0)
			r = make_dirty(&t, err);
		if (r == 0)
			r = make_trimmed(&t, err);
	}
	if (r < 0 || kit->forecasting)
		return r;
	judge(&t);
	note_what_it_is(&t);
	return 0;
}

const struct protocol protocol_techgage = {
	.name = "techgage",
	.summary = "iozone's line clean, after 138 GB of files on 80 GB, and after trim",
	.description = "iozone -i0 -i1 in 4 KiB records, as the page cache hands it to the drive, "
		       "and a direct "
		       "pass: on a purged drive; after files of 92.5 % of it, deleted, and others "
		       "of 80 %; after "
		       "a trim of what is free and 30 min without I/O (--idle). Three cycles "
		       "(--repeat). In a directory with real files and a test file of --size, and "
		       "through the page cache.\n\n"
		       "Verdicts: trim-effective, trim-partial, trim-none, nothing-to-recover, "
		       "cannot-tell.",
	.writes = true,
	.run = run_techgage,
};
