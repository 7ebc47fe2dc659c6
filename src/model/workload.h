/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * workload - what is asked: sizes, mix, addresses, depth, arrival, data. Plain data;
 * workload_fields declares each member once. Names are fio's where the meaning is.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/field.h"
#include "model/replay.h"

enum workload_rw {
	RW_READ,
	RW_WRITE,
	RW_TRIM,
	RW_RANDREAD,
	RW_RANDWRITE,
	RW_RANDTRIM,
	RW_READWRITE,	/* sequential mix, "rw" or "readwrite" */
	RW_RANDRW,
	RW_TRIMWRITE,	/* each block trimmed, then written */
	RW_RANDTRIMWRITE,
};

enum workload_engine { ENGINE_AUTO, ENGINE_IO_URING, ENGINE_LIBAIO, ENGINE_SYNC, ENGINE_MMAP };
enum workload_sync { SYNC_NONE, SYNC_DSYNC, SYNC_SYNC };	/* O_DSYNC, O_SYNC */
enum workload_arrival { ARRIVAL_FIXED, ARRIVAL_POISSON };	/* of an open loop */
enum workload_data { DATA_RANDOM, DATA_ZERO, DATA_PATTERN };

enum distribution_kind {
	DISTRIBUTION_UNIFORM,
	DISTRIBUTION_ZIPF,	/* parameter = theta, > 0, not 1 */
	DISTRIBUTION_PARETO,	/* parameter = h, in (0, 1) */
	DISTRIBUTION_NORMAL,	/* parameter = standard deviation in % of the range */
	DISTRIBUTION_ZONED,	/* zones below: share of accesses to share of the range */
};

#define WORKLOAD_BLOCK_MAX_BYTES (1u << 30)
#define WORKLOAD_ZONES 16
#define WORKLOAD_SIZES 16

struct distribution {
	enum distribution_kind kind;
	double parameter;
	uint32_t zone_count;
	struct {
		uint32_t access_ppm, range_ppm;
	} zones[WORKLOAD_ZONES];	/* sums are PPM each; hot/cold = two zones */
};

/* Request sizes with weights; count 0 = block_bytes alone. */
struct size_mix {
	uint32_t count;
	struct {
		uint64_t bytes;
		uint32_t ppm;		/* sum is PPM */
	} sizes[WORKLOAD_SIZES];
};

/*
 * Access lines, as IOMeter has them: for each burst one line is drawn by its weight and governs
 * its requests. Count 0 = none; else they say what rw, sizes and order would.
 */
#define WORKLOAD_LINES 100
struct access_lines {
	uint32_t count;
	struct access_line {
		uint32_t bytes, reply_bytes;	/* reply: the other direction, right after; 0 = none */
		uint32_t weight;		/* of all lines together 100 */
		uint32_t read_ppm, random_ppm;
		uint32_t delay_us;		/* before each burst */
		uint32_t burst_count;		/* 0 acts as 1 */
		uint32_t align_bytes;		/* of starts, from byte 0 of the target; 0: see engine/lines.h */
	} lines[WORKLOAD_LINES];
};

struct workload {
	char name[64];

	/* what */
	uint32_t rw;			/* enum workload_rw */
	uint32_t read_ppm;		/* share of reads in a mix */
	uint32_t trim_ppm;		/* share of trims among what is not read, in writes and mixes;
					 * the rest writes */
	uint64_t block_bytes;
	struct size_mix size_mix;
	struct size_mix write_mix;	/* of what a mix does not read; count 0 = the same */
	struct access_lines lines;
	uint64_t align_bytes;		/* of start offsets; 0 = larger of 4 KiB and physical block */

	/* where */
	struct amount offset;
	struct amount size;		/* of the range; zero = the target's rest */
	struct distribution distribution;
	bool repeat;			/* random with repetition ("norandommap") */
	uint32_t random_ppm;		/* share of random starts in a random workload */
	uint64_t stride_bytes;		/* sequential: from start to start; 0 = the block's length */
	bool stride_wraps;		/* each pass of strides begins a block after the one before */
	bool backwards;			/* sequential from the end */
	bool own_sequences;		/* sequential mix: what writes has a sequence of its own */
	uint32_t segment_count;		/* range cut in so many pieces spread over more; 0 = whole */
	struct amount segment_range;	/* what they are spread over, from offset; zero = the target's rest */
	uint64_t segment_seed;		/* where they lie; 0 = by seed */
	uint64_t piece_bytes;		/* range of pieces of this length with gaps between; 0 = whole */
	uint64_t piece_gap_bytes;

	/* how much, how long */
	uint64_t io_size_bytes;		/* ends after so much of all jobs; 0 = one pass, or the runtime */
	uint64_t io_count;		/* the same by requests; a trim and its write are one */
	uint64_t latency_ns_max;	/* a request that takes longer ends it with an error; 0 = none */
	uint64_t runtime_ns;		/* measured time; 0 = until io_size or one pass is done */
	uint64_t ramp_ns;		/* before measuring starts */
	uint64_t start_delay_ns;	/* nothing happens before, counted from the group's start */

	/* how */
	uint32_t engine;		/* enum workload_engine */
	uint32_t depth_count;
	uint32_t batch_count;		/* most submitted at once; 0 = policy of engine.h */
	uint32_t wait_count;		/* completions waited for at once; 0 = policy */
	uint32_t job_count;		/* workers doing the same, each with its own seed */
	bool direct;
	bool noatime;
	bool invalidate;		/* buffered: nothing of the file is cached to begin with */
	uint32_t sync;			/* enum workload_sync */
	uint32_t fsync_count;		/* fsync after so many writes; 0 = never */
	uint32_t fdatasync_count;
	bool end_fsync;			/* one fsync behind the last write, in the time measured */
	char cpus[64];			/* list to pin workers to, "0-1,3"; "" = not pinned */

	/* when */
	uint64_t rate_iops;		/* open loop, over all jobs' own queues each; 0 = closed loop */
	uint64_t rate_period_ns;	/* rate_iops counts per so long; 0 = per second */
	uint32_t arrival;		/* enum workload_arrival */
	uint64_t think_ns;		/* pause after think_count requests (closed loop) */
	uint32_t think_count;
	uint64_t think_spin_ns;		/* of a pause, the first part: spent computing, not asleep */
	uint32_t burst_count;		/* open loop: requests that arrive together; 0, 1 = singly */
	uint32_t flow_weight;		/* requests to those of the group's others of flow_id; 0 = free */
	uint32_t flow_id;
	uint64_t latency_target_ns;	/* the deepest queue is searched that answers in it; 0 = none */
	uint64_t latency_window_ns;	/* for which each depth is tried */
	uint32_t latency_ppm;		/* share of requests that must */
	bool latency_run;		/* goes on at the depth found, else it ends there */
	char steadystate[32];		/* ends when its rate has settled: model/settled.h; "" = not */
	uint64_t steady_window_ns;	/* whole seconds that must have; 0 = they are not looked at */
	uint64_t steady_ramp_ns;	/* of measuring, before the first of them */

	/* data */
	uint32_t data;			/* enum workload_data */
	uint32_t compress_ppm;		/* share of each block that is compressible */
	uint32_t dedupe_ppm;		/* share of blocks that repeat an earlier one */
	char pattern[128];		/* "0xdeadbeef" or "text" */
	bool verify;			/* checksum, offset and generation in each block, read back */
	bool verify_back;		/* verify: what was written is read back at the end */
	uint64_t seed;			/* 0 = a new one each run, recorded in the result */

	/*
	 * Not drawn but recorded: files with commas between, or a pattern. What the fields above
	 * say of kinds, sizes and range then describes it (trace_describe, model/trace.h).
	 */
	char trace[2048];
	struct replay replay;

	char filter[256];		/* filters over the target, e.g. "delay:read=1ms" */
};

extern const struct field workload_fields[];

void workload_init(struct workload *workload);

/*
 * What the fields that were given leave open (bit i of seen: row i of workload_fields):
 * 30 s when neither runtime nor io-size says when to end. For front ends; a workload made
 * by code says what it means.
 */
void workload_settle(struct workload *workload, field_bits seen);

bool workload_reads(const struct workload *workload);
bool workload_writes(const struct workload *workload);	/* writes or trims: changes data */
bool workload_stores(const struct workload *workload);	/* writes, in the narrow sense */
bool workload_trims(const struct workload *workload);
bool workload_trims_first(const struct workload *workload);	/* a block, before it is written */
double workload_rate_per_s(const struct workload *workload);	/* asked of each job; 0 = closed loop */
bool workload_is_random(const struct workload *workload);

/* Impossible combinations, each named in one sentence; needs no target. */
int workload_check(const struct workload *workload, struct err *err);
