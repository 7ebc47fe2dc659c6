/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * result - what a plan produced, with everything that could make it a lie. Plain data that
 * report/ and store/ read; no pointer into anything live.
 *
 * Ownership: x_init then x_done; done accepts a zeroed struct.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/target_info.h"
#include "model/workload.h"

struct histogram;		/* stats/histogram.h */
struct histogram_packed;	/* stats/packed.h */

enum op_kind { OP_READ, OP_WRITE, OP_TRIM, OP_SYNC, OP_KINDS };
extern const char *const op_names[OP_KINDS];	/* "read", "write", "trim", "sync" */

#define MEASUREMENT_ERRNOS 16
#define MEASUREMENT_SEGMENTS 16
#define MEASUREMENT_STEPS 7

struct op_result {
	uint64_t count;			/* completed without error */
	uint64_t bytes;
	uint64_t error_count;
	struct histogram *latency;	/* owned; NULL when count is 0 */
	struct histogram *service;	/* owned; may be latency itself, where both are the same */
};

/* One second (or the last part of one) of all jobs together. */
struct second {
	uint64_t start_ns;		/* since measuring began */
	uint64_t length_ns;
	struct {
		uint64_t count, bytes, error_count;
		uint64_t latency_ns_p50, latency_ns_p99, latency_ns_max;
	} ops[OP_KINDS];
	struct histogram_packed *latency[OP_KINDS];	/* owned, one free() each; NULL where nothing happened */
};

/* The first block that did not read back as it was written. */
struct verify_failure {
	uint64_t offset_bytes;
	char what[24];			/* "flipped", "stale", "misplaced", "torn", "unwritten" */
	char expected[96], found[96];
};

/* How a trace was replayed. When each request was started, against when it was meant to: lateness. */
struct replay_result {
	bool is_replay;			/* there was a trace; else all is 0 */
	uint64_t played_count;		/* requests started */
	uint64_t skipped_count;		/* left out: asked for, or of a kind that is not replayed */
	uint64_t clipped_count, wrapped_count;	/* past the target's end: cut or dropped, moved */
	uint64_t last_late_ns;		/* how late the last one was started */
};

/* What one measuring phase gave: the engine fills most, measure/ adds name, level and ceilings. */
struct measurement {
	char name[64];			/* "rand-read-4k-q32" */
	uint32_t group_index;		/* measurements of one number ran together */
	uint32_t target_index;		/* 0 = result.target, n = result.more_targets[n - 1] */
	struct workload workload;	/* as asked */
	uint64_t seed;			/* the one used */
	uint64_t start_ns;		/* the clock when measuring began */
	uint64_t duration_ns;		/* measured, without ramp */
	bool interrupted;		/* *stop was raised */
	bool ended_early;		/* an error ended it; error_text says */
	char error_text[512];
	struct op_result ops[OP_KINDS];
	struct second *seconds;		/* owned */
	size_t second_count;
	/* Requests done (syncs apart) in each 50 ms of the first minute: short rows have no more. */
	uint32_t *pulses;		/* owned */
	size_t pulse_count;
	uint64_t pulse_ns;
	struct {
		int code;		/* negative errno */
		uint64_t count;
	} errnos[MEASUREMENT_ERRNOS];
	uint32_t errno_count;
	struct histogram *lateness;	/* open loop: submission - intended start; NULL otherwise */
	uint64_t backlog_ns_max;	/* open loop: the longest an arrival waited for a slot */
	uint64_t unserved_count;	/* open loop: arrivals never submitted, the backlog being too long */
	struct replay_result replay;
	/* Of access lines: a request with its reply; their times added up, and the longest. */
	uint64_t transaction_count, transaction_ns, transaction_ns_max;
	double depth_mean;		/* requests in flight, over submissions; what was really reached */
	uint32_t depth_max;
	uint32_t depth_found;		/* by latency-target; 0 = not searched, or not found */
	bool steady;			/* it ended because its rate had settled: steadystate */
	uint64_t depth_counts[MEASUREMENT_STEPS];	/* requests by depth: 1, 2-3, 4-7, .. 64 and more */
	/* Batches submitted and reaped by size: 0 (none), 1-4, 5-8, 9-16, 17-32, 33-64, more. */
	uint64_t push_counts[MEASUREMENT_STEPS], reap_counts[MEASUREMENT_STEPS];
	uint64_t user_ns, system_ns;	/* CPU of the workers, without kernel helpers */
	uint64_t voluntary_switch_count, involuntary_switch_count;
	uint64_t major_fault_count, minor_fault_count;
	double worker_cpu_max;		/* busiest worker: CPU time / duration, 0..1 */
	char queue_mode[96];
	char engine[16];		/* name of the queue really used */
	uint32_t batch_count, wait_count;	/* policy used */
	uint64_t punted_count;		/* requests seen handed to kernel worker threads */
	uint64_t verified_count, verify_failed_count;	/* blocks read back, blocks that were wrong */
	struct verify_failure verify_failure;
	struct op_result readback;	/* of what was written, after the measuring; not in ops */
	uint64_t readback_ns;		/* how long that took */

	/* added by measure/ */
	char level[16];			/* level_name(): level, drifting, stepped, cyclic, too short */
	struct measurement_segment {
		double start_s, length_s, iops;
	} segments[MEASUREMENT_SEGMENTS];	/* where stepped */
	uint32_t segment_count;
	uint64_t device_read_bytes, device_write_bytes;	/* kernel's counters for the device, all users */
	uint64_t device_read_count, device_write_count;
	uint64_t device_read_merge_count, device_write_merge_count;
	uint64_t device_read_ms, device_write_ms;	/* of all its requests together */
	uint64_t device_busy_ms, device_queue_ms;	/* some in flight; weighted by how many */
	double steal_ratio;		/* CPU time taken by the hypervisor / elapsed */
	double temperature_c_start, temperature_c_max;	/* NaN where not readable */
	struct drive_truth *drive;	/* owned; reference drive only, else NULL */
};

/* What the reference drive knows of itself, over one measurement: name = value, in order. */
#define DRIVE_TRUTH_ROWS 48
struct drive_truth {
	uint32_t row_count;
	struct {
		char name[40];		/* "write_amplification" */
		double value;
	} rows[DRIVE_TRUTH_ROWS];
};

/* 0 where there is no such row. */
double drive_truth_value(const struct drive_truth *truth, const char *name);

/* What a step of the state did (model/step.h), in a result between the measurements. */
#define STEP_FIGURES 16
struct step_result {
	char name[24];			/* "fill" */
	char asked[256];		/* as step_print writes it */
	char method[48];		/* "discard", "sequential 128k", ... */
	char text[320];			/* one sentence for the reader, without its full stop */
	char state[32];			/* what the drive is called after it; "" = as before */
	size_t before_measurement;	/* it came before this measurement's index */
	uint64_t start_ns, duration_ns;
	uint64_t written_bytes, read_bytes;
	uint64_t discard_asked_bytes;	/* by us */
	uint64_t discard_sent_bytes;	/* by the kernel's counters (of the drive: what it took) */
	bool have_sent;			/* the former is known */
	uint64_t file_count, file_deleted_count;
	bool reached;			/* what was to be reached was; true where nothing was */
	bool interrupted;
	uint32_t figure_count;
	struct {
		char name[40];		/* "extents_per_file" */
		double value;
	} figures[STEP_FIGURES];
};

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_INVALID };
extern const char *const severity_names[];	/* "info", "warning", "invalid" */

struct finding {
	char code[32];			/* stable: "misaligned" */
	enum severity severity;
	char measurement[64];		/* which one it is about; "" = all */
	char text[320];			/* one sentence with its full stop left out */
	char remedy[320];
};

/* The machine, as far as numbers depend on it. Strings "" where not known. */
struct machine {
	char kernel[96], cpu_model[96], governor[32], hostname[64], virtualisation[32];
	uint32_t cpu_count;
	uint64_t memory_bytes;
};

struct result {
	char version[32];
	char started_at[32];		/* ISO 8601, UTC */
	char command[1024];		/* the command line, for the reader */
	bool interrupted;
	char error_text[512], error_hint[256];	/* of what ended it early; "" when it ran through */
	int error_code;			/* negative errno; 0 */
	struct machine machine;
	struct target_info target;
	struct target_info *more_targets;	/* owned; of plans with several */
	size_t more_target_count;
	char state[32];			/* "unknown", "laid-out", … */
	char state_text[256];		/* one sentence */
	uint64_t layout_bytes;		/* written by tare before measuring */
	uint64_t layout_ns;
	struct measurement *measurements;
	size_t measurement_count;
	struct step_result *steps;
	size_t step_count;
	struct finding *findings;
	size_t finding_count;
	double ceiling_iops;		/* what this machine's engine does on the null target at this depth; 0 = not measured */
};

void measurement_init(struct measurement *m);
void measurement_done(struct measurement *m);
void result_init(struct result *result);
void result_done(struct result *result);
struct measurement *result_add(struct result *result);	/* initialised */
struct step_result *result_add_step(struct result *result);	/* zeroed */
struct finding *result_find(struct result *result, const char *code, enum severity severity,
			    const char *measurement);	/* adds; text and remedy are the caller's to fill */
