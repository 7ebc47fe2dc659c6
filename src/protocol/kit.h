/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * kit - what protocols are written with. Each call is one cell of the procedure: it is done,
 * recorded in the outcome and the checkpoint; or, when resuming, taken from the checkpoint;
 * or, in a forecast, only added up. A protocol does not know which: it is one function that
 * calls these in order and decides by what they return. In a forecast rates are those
 * assumed, so loops that wait for something must have a limit.
 *
 * All return 0 or a negative errno with its sentence.
 */

#include "measure/sitting.h"
#include "protocol/protocol.h"

struct kit {
	const struct protocol *protocol;
	const struct protocol_options *options;
	struct protocol_outcome *outcome;
	struct sitting *sitting; /* open, also in a forecast (then for reading only) */
	uint64_t capacity_bytes; /* of what may be used, from address 0 */
	uint64_t logical_block_bytes;
	bool forecasting, is_virtual;
	bool may_write;		       /* writes, or writes_if_allowed with consent */
	struct checkpoint *checkpoint; /* NULL when none is kept */
	uint64_t cell_index;
};

/* A cell to be run: one size, one kind, past the page cache. */
struct cell_plan {
	char name[64];
	uint32_t rw;	   /* enum workload_rw */
	uint32_t read_ppm; /* of a mix */
	uint64_t block_bytes;
	uint32_t depth_count;
	uint64_t offset_bytes; /* where the range begins: starts are congruent to it */
	uint64_t size_bytes;   /* of the range; 0 = the rest of the capacity */
	uint64_t align_bytes;  /* of starts, from offset; 0 = the block's */
	/* size_bytes in so many segments, spread over the first so many bytes; 0 = in one piece */
	uint32_t segment_count;
	uint64_t segment_range_bytes, segment_seed;
	uint64_t io_bytes;     /* 0 = one pass over the range, or runtime */
	uint64_t runtime_ns;   /* 0 = by bytes */
	uint64_t ramp_ns;
	bool repeat; /* random with repetition */
	bool flush;  /* with io_bytes: the time until all is on the medium counts;
		      * one more block is written after it */
	bool quiet;  /* one of very many: not told to the observer */
};

/* Measured, with its place in the result and its findings. */
int kit_measure(struct kit *kit, const struct cell_plan *plan, struct protocol_cell *ret,
		struct err *err);
/* The same request stream to change the state, or as one of very many. ret may be NULL. */
int kit_step(struct kit *kit, const struct cell_plan *plan, struct protocol_cell *ret,
	     struct err *err);
/* Any workload, for what a cell_plan cannot say (mixes of sizes, distributions). */
int kit_run(struct kit *kit, const struct workload *workload, bool in_result,
	    struct protocol_cell *ret, struct err *err);
/* Measured while the other runs beside it; the cell is of the first alone. */
int kit_run_beside(struct kit *kit, const struct workload *workload, const struct workload *other,
		   struct protocol_cell *ret, struct err *err);
struct workload kit_workload(const struct kit *kit, const struct cell_plan *plan);

int kit_idle(struct kit *kit, const char *name, uint64_t idle_ns, struct err *err);
/* A step of the state: a cell of what it wrote or discarded. ret may be NULL. */
int kit_state(struct kit *kit, const char *name, const struct step *step, struct protocol_cell *ret,
	      struct err *err);

/* By the drive's own erase or by a discard: as state/purge.h chooses. *ret_erased: by the drive
 * itself; else by discarding everything. May be NULL. */
int kit_purge(struct kit *kit, bool *ret_erased, struct err *err);

/* From here on the procedure makes its own state: a resume may begin here. */
int kit_anchor(struct kit *kit, struct err *err);

/*
 * Whether the next cell is the first after a resume: the drive rested before it, so a procedure
 * for which that matters makes its state again. To be asked right after an anchor.
 */
bool kit_has_gap(const struct kit *kit);

/*
 * After a gap in a directory, where the test file is a new one: writes so much of it, in order,
 * for a procedure that goes on with what it had written. Nothing to do anywhere else.
 */
int kit_refill(struct kit *kit, uint64_t size_bytes, struct err *err);

/* Whether the drive takes discards, as far as it says. */
bool kit_discards(const struct kit *kit);

/* -EOPNOTSUPP in a directory whose file system discards what is deleted: the control is lost. */
int kit_check_no_online_discard(const struct kit *kit, struct err *err);

/* Rounded down to whole blocks of so many bytes; never below one. */
uint64_t kit_share(const struct kit *kit, double share, uint64_t block_bytes);

void kit_verdict(struct kit *kit, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* low, high: NaN without an interval. */
void kit_evidence(struct kit *kit, const char *name, const char *unit, double value);
void kit_evidence_within(struct kit *kit, const char *name, const char *unit,
			 const double value_low_high[3]);
void kit_note(struct kit *kit, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
