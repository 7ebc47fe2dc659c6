/* SPDX-License-Identifier: MIT */
#pragma once

/* session - what the parts of measure_plan and of a sitting share while they run. */

#include "measure/audit.h"
#include "measure/measure.h"
#include "state/ledger.h"

/* How the target's descriptor is open: phases of one plan may differ in it. */
struct open_mode {
	bool direct, noatime;
	uint32_t sync;		/* enum workload_sync */
};

struct state;	/* state/state.h */

struct session {
	const char *spec;		/* of the target */
	const struct plan *plan;	/* NULL in a sitting */
	size_t phase_count;		/* of the plan; 0 in a sitting, where nobody knows it */
	const struct measure_options *options;
	struct result *result;
	struct target *target;
	struct state *state;		/* NULL before the first step */
	bool has_ledger;
	struct ledger ledger;
	struct clock clock;
	uint64_t virtual_ns;		/* the clock of the reference drive */
	struct open_mode mode;
	uint64_t range_bytes;		/* phases that name none stay below; 0 = the whole target */
	int claim_fd;			/* keeps the claim while target->fd is another; -1 */
	struct audit_place place;
	struct audit_samples samples;	/* of the range below */
	uint64_t sampled_offset_bytes, sampled_size_bytes;	/* size 0 = none */
	double temperature_limit_c, temperature_c_max;
	uint64_t temperature_next_ns;	/* read once a second */
};

/* What the measurements together want of the target. */
struct session_wants {
	const struct workload *first;	/* how the target is opened to begin with */
	bool writes;
	bool direct;			/* none goes through the page cache */
	bool measures;			/* there is a phase that measures */
	bool uses_file;			/* a directory's test file is measured or stepped on */
	bool all_named;			/* each phase's range ends at a given byte */
	uint64_t need_bytes;		/* the furthest of them */
};

/*
 * measure.c: the life of a session. init initialises the result too; open opens the target
 * through the gate; done closes it, and takes a session that is not open.
 */
void session_init(struct session *s, const char *spec, const struct measure_options *options,
		  struct result *result);
int session_open(struct session *s, const struct session_wants *wants, struct err *err);
void session_describe(struct session *s, bool direct);	/* tells observer and result of it */
void session_idle(struct session *s, uint64_t idle_ns, size_t index);
void session_audit(struct session *s);			/* the findings about the target */
void session_done(struct session *s);

/* To the observer: something begins, and ends (m NULL: nothing that was measured). */
void session_begin(const struct session *s, const char *name, size_t index);
void session_end(const struct session *s, const struct measurement *m);

/* measure.c: the trace of a workload, checked against it; NULL where it has none. */
int session_trace(const struct session *s, const struct workload *workload,
		  const struct trace **ret, struct err *err);

/* Whether *stop was raised. */
bool session_stopped(const struct session *s);

/* Notes what ended the plan early; the first one stands. Returns the code. */
int session_fail(struct session *s, const struct err *err);

/* open_mode.c: lets the target's descriptor be open as the workload wants it. */
struct open_mode open_mode_of(const struct workload *workload);
int open_mode_sync_flags(uint32_t sync);	/* O_DSYNC, O_SYNC or 0 */
int open_mode_apply(struct session *s, const struct workload *workload, struct err *err);

/*
 * layout.c: writes our test file in full, sequentially, and flushes it. need_bytes are
 * written however long it takes; what layout_ns_max leaves unwritten beyond is cut off (of
 * the reference drive: left out by the phases, see range_bytes).
 * 0, also when stopped; a negative errno with the sentence.
 */
int layout_run(struct session *s, uint64_t need_bytes, struct err *err);

/*
 * phase.c: one measurement into the result, with its findings. 0, also when an error of
 * I/O ended it (then session_fail was called); a negative errno when nothing was measured.
 */
int phase_measure(struct session *s, const struct workload *workload, struct err *err);

/*
 * step.c: a step of the state into the result, with what the state is called then. A negative
 * errno when it failed; what it did until then is in the result all the same.
 */
int session_step(struct session *s, const struct step *step, struct err *err);
/* The same for a plain idling that has just ended. */
void session_note_idle(struct session *s, uint64_t start_ns);

/*
 * history.c: the drive's ledger. begin adds what others wrote and says what state the drive is
 * in; end adds what the session wrote, before the target is closed.
 */
void history_begin(struct session *s);
void history_end(struct session *s);

/* Its own name, or "rand-read-4k-q32"; with "-2" and so on where that is taken. */
void phase_name(const struct session *s, const struct workload *workload, char ret[64]);

/* ceiling.c: what the engine does with the same requests on the null target; 0 = not known. */
double ceiling_iops(const struct workload *workload, const struct clock *clock);
