/* SPDX-License-Identifier: MIT */
#pragma once

/* work - what the parts of state/ share while a step runs. */

#include "base/clock.h"
#include "base/random.h"
#include "base/units.h"
#include "state/action.h"
#include "state/state.h"

struct tree;
struct extents;

struct state {
	struct state_options options;
	struct target *target;
	const struct clock *clock;
	uint64_t seed_count;		/* seeds handed out */
	struct tree *tree;		/* the private directory; NULL = none yet */
	struct extents *extents;	/* "files" on a bare drive; NULL = none yet */
};

/* A part of the target. */
struct span {
	uint64_t offset_bytes, size_bytes;
};

struct work {
	struct state *state;
	const struct step *step;
	struct step_result *ret;
	struct span span;		/* the step's range, once resolved */
	struct workload workload;	/* what is done to it */
	uint32_t method;		/* purge: enum purge_method, chosen */
	struct samples *samples;	/* purge */
	void *own;			/* of a step's own */
};

bool work_stopped(const struct work *work);
/* A seed for one thing: the step's own, or the state's next. */
uint64_t work_seed(struct work *work, uint64_t asked);
/* Figures of the step's result; more than there is room for are a mistake of ours. */
void work_figure(struct work *work, const char *name, double value);
void work_say(struct work *work, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void work_method(struct work *work, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- io.c: the target's bytes -------------------------------------------------------- */

/* offset and size against the target's size; size 0 = the rest. -EFBIG when it does not fit. */
int work_resolve(struct work *work, const struct amount *offset, const struct amount *size,
		 struct err *err);

/*
 * A workload of ours: one job, direct, incompressible, over the work's span. seed as the step
 * names it.
 */
void work_workload(struct work *work, enum workload_rw rw, uint64_t block_bytes,
		   uint32_t depth_count, uint64_t seed);

/*
 * Does work->workload; bytes go into the result. *ret (may be NULL) is the caller's to give
 * back when 0 is returned. A failed request is an error here.
 */
int work_run(struct work *work, struct measurement *ret, struct err *err);

/* Until what was written is on the drive. */
int work_flush(struct work *work, struct err *err);

/* Discards the span in one piece after another; adds to discard_asked_bytes. */
int work_discard(struct work *work, const struct span *span, struct err *err);

/* Writes zeros without data on the wire where the target can. */
int work_zero(struct work *work, const struct span *span, struct err *err);

/* Reads one block of the target (offset and length multiples of its logical block). */
int work_read(struct work *work, uint64_t offset_bytes, void *buffer, uint32_t length_bytes,
	      struct err *err);

/* Discards as the kernel counts them, or the reference drive. */
struct discard_meter {
	bool known;
	uint64_t bytes;
};
void discard_meter_begin(struct work *work, struct discard_meter *ret);
/* Waits until the counters rest for half a second (10 s at most), then notes what was sent since begin. */
void discard_meter_end(struct work *work, const struct discard_meter *before);

/* --- samples.c: a look at what a target holds, before and after ---------------------- */

#define SAMPLES 256
#define SAMPLE_BYTES 4096

struct samples {
	uint32_t count;
	struct sample {
		uint64_t offset_bytes;
		uint64_t hash;
		bool blank;		/* all zeros or all ones */
	} items[SAMPLES];
};

/* Spread over the whole target, at places drawn from the seed. */
int samples_take(struct work *work, uint64_t seed, struct samples *ret, struct err *err);
struct samples_change {
	uint32_t held;		/* were not blank before */
	uint32_t blank;		/* of those: are now */
	uint32_t unchanged;	/* of those: are as before */
	uint32_t blank_total;	/* of all, now */
};
void samples_compare(const struct samples *before, const struct samples *after,
		     struct samples_change *ret);

/* --- the steps ----------------------------------------------------------------------- */

extern const struct action purge_actions[], fill_actions[], dirty_random_actions[],
	dirty_extents_actions[], dirty_files_actions[], age_actions[], delete_actions[],
	trim_actions[], settle_actions[], rest_actions[];
