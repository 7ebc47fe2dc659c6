/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * protocol - procedures made of measurements: each answers one question about a drive with a
 * verdict, the evidence for it, and every cell that was measured.
 *
 *	r = protocol_run(protocol_find("three-state"), &options, &outcome, &err);
 *	... outcome.verdict_code, outcome.verdict_text ...
 *	protocol_outcome_done(&outcome);
 *
 * With forecast set the same procedure is walked through without touching the target: the
 * outcome then holds what it would take, at most, at the speeds assumed for such a drive.
 *
 * Resume:	each finished cell is a line in the checkpoint, synced. A procedure marks the
 *		places from which it makes its own state (anchors); resume takes what was
 *		measured up to the last of them and goes on there. A drive in virtual time does
 *		not outlive the process: it is taken through everything again, to the same figures.
 * Ownership:	the outcome is the caller's, initialised by protocol_run in any case.
 */

#include "measure/measure.h"

struct protocol_options {
	const char *target;
	struct measure_options measure; /* stop, consent, observer, command; layout_ns_max unused */
	uint64_t size_bytes;	 /* of the test file, or of the part of a drive used; 0 = all */
	uint64_t idle_ns;	 /* pauses that are long; 0 = the protocol's own */
	uint32_t repeat_count;	 /* whole cycles; 0 = 1 */
	uint64_t cell_ns;	 /* of cells that end by time; 0 = the protocol's own */
	bool client;		 /* the client's parameters, not the enterprise's */
	uint32_t active_ppm;	 /* steady: active range, share of the capacity; 0 = all */
	uint64_t active_bytes;	 /* steady: really touched of it, in segments; 0 = client 8 GiB, else all */
	const struct plan *plan; /* under suspicion (contamination); NULL = IOMeter's fill */
	uint64_t seed;		 /* 0 = 1 */
	bool forecast;
	const char *checkpoint; /* path; NULL = none is kept */
	bool resume;
};

/* What one cell gave, of all kinds together; latencies are of discards only where nothing else was.
 */
struct protocol_cell {
	char name[64];
	uint64_t bytes, duration_ns;
	uint64_t written_bytes; /* of a step of the state; else by the workload's mix */
	double bytes_per_s, iops;
	uint64_t latency_ns_p50, latency_ns_p99, latency_ns_p999, latency_ns_max;
};

struct protocol_evidence {
	char name[64]; /* "random write, recovered by trim" */
	char unit[16]; /* "", "%", "B", "B/s", "/s", "s", "x" */
	double value;
	double low, high; /* 95 % interval; NaN where there is none */
};

struct protocol_outcome {
	char verdict_code[32];	/* stable: "trim-effective"; "" when there is none */
	char verdict_text[512]; /* one sentence without its full stop */
	struct protocol_evidence *evidence;
	size_t evidence_count;
	struct protocol_cell *cells;
	size_t cell_count;
	char (*notes)[256]; /* deviations, gaps, what the reader must know: sentences */
	size_t note_count;
	size_t resumed_count; /* cells that came from the checkpoint */
	uint64_t seed;
	uint64_t capacity_bytes; /* of what was worked on */

	/* What it takes at most (forecast), or what it took. */
	uint64_t total_ns, written_bytes, read_bytes;
	double assumed_sequential_bytes_per_s, assumed_random_bytes_per_s; /* forecast only */
	struct result result; /* the measurements of this run in full */
};

struct kit;

struct protocol {
	const char *name;
	const char *summary;	 /* one line, no full stop: the question it answers */
	const char *description; /* paragraphs: steps, verdicts, what it writes */
	bool writes;		 /* destroys what is on a device */
	bool writes_if_allowed;	 /* reads only where no consent was given */
	bool lays_out;		 /* reads a test file that has to be there */
	int (*run)(struct kit *kit, struct err *err);
};

/* NULL-terminated, in the order help lists them. Add a protocol here. */
extern const struct protocol *const protocols[];
const struct protocol *protocol_find(const char *name); /* NULL when there is none */
const char *protocol_nearest(const char *name);		/* NULL when none is near */

/*
 * 0 with a verdict or a forecast; -EINTR when interrupted and other negative errnos with
 * what there is of the outcome. Nothing of ours is left on the target.
 */
int protocol_run(const struct protocol *protocol, const struct protocol_options *options,
		 struct protocol_outcome *ret, struct err *err);
void protocol_outcome_done(struct protocol_outcome *outcome);
