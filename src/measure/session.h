/* SPDX-License-Identifier: MIT */
#pragma once

/* session - what the parts of measure_plan and of a sitting share while they run: a seat for
 * each target, and what all have in common. */

#include "measure/audit.h"
#include "measure/measure.h"
#include "state/ledger.h"

/* How the target's descriptor is open: phases of one plan may differ in it. */
struct open_mode {
	bool direct, noatime;
	uint32_t sync;		/* enum workload_sync */
};

struct state;	/* state/state.h */

/* What the measurements of one target together want of it. */
struct seat_wants {
	const struct workload *first;	/* how the target is opened to begin with */
	bool writes;
	bool direct;			/* none goes through the page cache */
	bool measures;			/* there is a phase that measures */
	bool uses_file;			/* a directory's test file is measured or stepped on */
	bool all_named;			/* each phase's range ends at a given byte */
	uint64_t need_bytes;		/* the furthest of them */
	bool verified;			/* while gathering: the groups so far end with verified writes */
	bool verified_next;		/* the same with the group that is looked at */
};

/* One target of the session, open. Most sessions have one. */
struct seat {
	struct session *session;
	uint32_t index;
	const char *spec;
	const struct plan_target *asked;	/* NULL where the plan has no list of targets */
	struct seat_wants wants;
	struct target *target;
	struct state *state;		/* NULL before the first step */
	bool has_ledger;
	struct ledger ledger;
	struct open_mode mode;
	uint64_t range_bytes;		/* phases that name none stay below; 0 = the whole target */
	uint64_t layout_bytes;		/* of the test file, written */
	int *claim_fds;			/* keep the claims while the target's descriptors are others */
	struct engine_memory *memory;	/* of what was written with verify last */
	struct audit_place place;
	struct audit_samples samples;	/* of the range below */
	uint64_t sampled_offset_bytes, sampled_size_bytes;	/* size 0 = none */
	double temperature_limit_c, temperature_c_max;
};

struct ceilings;	/* ceiling.c */

struct session {
	const struct plan *plan;	/* NULL in a sitting */
	size_t phase_count;		/* of the plan; 0 in a sitting, where nobody knows it */
	const struct measure_options *options;
	struct result *result;
	struct seat *seats;		/* seats[0] is the plan's own target */
	uint32_t seat_count;
	uint32_t group_count;		/* of measurements, so far */
	struct clock clock;
	uint64_t virtual_ns;		/* the clock of the reference drives */
	uint64_t temperature_next_ns;	/* read once a second */
	struct ceilings *ceilings;	/* those known already */
};

/*
 * session.c: the life of a session. init initialises the result too and makes the seats, whose
 * spec, asked and wants the caller fills; open opens all targets through the gate, or none;
 * done closes them, and takes a session that is not open.
 */
int session_init(struct session *s, uint32_t seat_count, const struct measure_options *options,
		 struct result *result, struct err *err);
int session_open(struct session *s, struct err *err);
void session_describe(struct session *s);	/* tells observer and result of the targets */
void session_idle(struct session *s, uint64_t idle_ns, size_t index);
void session_audit(struct session *s);		/* the findings about the targets */
void session_done(struct session *s);

/* The content is not known any more: something else was written. */
void seat_forget_written(struct seat *seat);

/* Where the result describes the seat's target. */
struct target_info *seat_info(const struct seat *seat);

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
int open_mode_apply(struct seat *seat, const struct workload *workload, struct err *err);
void open_mode_close_claims(struct seat *seat);
/*
 * A view of the target that is open as the workload wants it, for those that run together and
 * differ; *ret NULL where the seat's own is open like that. Closed by open_mode_close.
 */
int open_mode_view(const struct seat *seat, const struct workload *workload, struct target **ret,
		   struct err *err);
void open_mode_close(struct target *view);

/*
 * layout.c: writes our test file in full, sequentially, and flushes it. need_bytes are
 * written however long it takes; what layout_ns_max leaves unwritten beyond is cut off (of
 * the reference drive: left out by the phases, see range_bytes).
 * 0, also when stopped; a negative errno with the sentence.
 */
int layout_run(struct seat *seat, uint64_t need_bytes, struct err *err);

/*
 * phase.c: measurements that run together into the result, with their findings. 0, also when an
 * error of I/O ended one (then session_fail was called); a negative errno when nothing was
 * measured. They are the result's last, in the order given.
 */
struct member {
	struct seat *seat;
	const struct workload *workload;
	bool ends_group;
};
int phase_measure(struct session *s, const struct member *members, uint32_t count,
		  struct err *err);

/*
 * step.c: a step of the state into the result, with what the state is called then. A negative
 * errno when it failed; what it did until then is in the result all the same.
 */
int session_step(struct seat *seat, const struct step *step, struct err *err);
/* The same for a plain idling that has just ended. */
void session_note_idle(struct session *s, uint64_t start_ns);

/*
 * history.c: the drive's ledger. begin adds what others wrote and says what state the drive is
 * in; end adds what the session wrote, before the target is closed.
 */
void history_begin(struct seat *seat);
void history_end(struct seat *seat);

/* Its own name, or "rand-read-4k-q32"; with "-2" and so on where that is taken. */
void phase_name(const struct session *s, const struct workload *workload, char ret[64]);

/*
 * ceiling.c: what the engine does with the same requests on the null target, all members
 * together; 0 = not known. Known ones are kept in s->ceilings, freed by ceilings_done.
 */
void ceiling_iops(struct session *s, const struct member *members, uint32_t count, double *ret);
void ceilings_done(struct ceilings *ceilings);
