/* SPDX-License-Identifier: MIT */
#pragma once

/* session - what the parts of measure_plan share while a plan runs. */

#include "measure/audit.h"
#include "measure/measure.h"

/* How the target's descriptor is open: phases of one plan may differ in it. */
struct open_mode {
	bool direct, noatime;
	uint32_t sync;		/* enum workload_sync */
};

struct session {
	const struct plan *plan;
	const struct measure_options *options;
	struct result *result;
	struct target *target;
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

/* Its own name, or "rand-read-4k-q32"; with "-2" and so on where that is taken. */
void phase_name(const struct session *s, const struct workload *workload, char ret[64]);

/* ceiling.c: what the engine does with the same requests on the null target; 0 = not known. */
double ceiling_iops(const struct workload *workload, const struct clock *clock);
