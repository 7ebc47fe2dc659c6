/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * worker - one job: draws requests, keeps the queue filled, records what comes back. The
 * loop allocates nothing, takes no lock and touches no string.
 *
 * Life cycle:	init -> run (real time) or { step } (virtual time) -> close -> done
 * Threads:	init by anyone; open, run, step and close by the worker's own thread; the rest is
 *		read after it has ended. struct work is shared: read-only but for the atomics.
 */

#include <signal.h>
#include <stdatomic.h>

#include "engine/address.h"
#include "engine/data.h"
#include "engine/engine.h"
#include "engine/flow.h"
#include "engine/lines.h"
#include "engine/mix.h"
#include "engine/pace.h"
#include "engine/player.h"
#include "engine/recorder.h"
#include "engine/search.h"
#include "engine/tap.h"
#include "engine/verify.h"
#include "model/settled.h"

#define WORK_UNLIMITED UINT64_MAX

struct worker;

/* One job of a group: what its workers share. */
struct work {
	struct group *group;			/* it runs in; see run.h */
	struct worker *workers;			/* of the group's, job_count of them */
	const struct workload *workload;
	struct target *target;
	const struct queue_ops *ops;
	const struct clock *clock;
	const volatile sig_atomic_t *stop;	/* may be NULL */
	_Atomic bool aborted;			/* a request failed, or the group ended: all end */
	_Atomic uint32_t running_count;		/* workers that are not finished */
	bool ends_group;
	struct flow *flow;			/* of the group; NULL = free */
	struct engine_range range;
	uint32_t depth_count;
	uint32_t batch_count, wait_count;
	bool batch_grows;			/* see engine.h: not given by the user */
	uint64_t seed;
	struct data data;
	bool fills;				/* each write gets fresh content */
	struct verify_map map;			/* words NULL when not verifying */
	struct engine_memory **memory;		/* borrowed; NULL when none is kept */
	const struct trace *trace;		/* replayed in place of draws; NULL */
	struct player_share share;		/* of it, by all workers */
	struct taps *taps;			/* one for each worker; NULL when nothing is recorded */
	uint32_t measurement_index;		/* in the recording */
	uint64_t begin_ns, start_ns;		/* of ramp and of measuring */
	uint64_t end_ns;			/* NEVER_NS: not by time */
	uint64_t *cpus;				/* owned: pinning list */
	size_t cpu_count;
	uint64_t seen_count, seen_bytes;	/* when progress was looked at last */
};

struct worker_slot {
	uint64_t submit_ns;
	uint64_t intended_ns;
	uint64_t offset_bytes;
	uint64_t sync_ns;		/* submission of the sync that ends this write; 0 = none */
	uint32_t length_bytes;
	uint8_t kind;			/* enum io_kind it was drawn as */
};

/* A transaction of access lines: a request, and its reply where it has one. */
struct line_slot {
	const struct access_line *line;
	uint64_t begin_ns;		/* submission of the first */
	bool is_reply;
};

struct worker {
	struct work *work;
	uint32_t index;

	/* the loop's own */
	struct queue *queue;
	uint32_t depth_count, free_count;
	uint32_t batch_count, wait_count;
	uint32_t inline_streak;		/* batches running that were done on submission */
	uint32_t *free_tags;		/* a stack */
	struct worker_slot *slots;	/* by tag */
	struct io *ios;			/* being pushed */
	struct io_done *dones;
	uint64_t *offsets;		/* of a batch, the plain loop's */
	char *pool;
	size_t pool_bytes, stride_bytes;
	struct mix mix;
	struct lines lines;		/* in place of mix and address, where the workload has some */
	struct line_slot *line_slots;	/* by tag; NULL without lines */
	uint32_t *reply_tags;		/* requests done, their replies to be pushed */
	uint32_t reply_tag_count;
	struct address address;
	struct address *write_address;	/* owned: of a mix whose writes have their own; NULL */
	struct pace pace;
	struct player player;
	bool is_replay;			/* player, not mix, address and pace, says what comes next */
	bool one_by_one;		/* the next one's pause begins with a completion */
	struct tap *tap;		/* NULL when nothing is recorded */
	bool open_loop, draining, finished, ended, starved;
	uint64_t left_count;		/* requests still to start: one pass */
	uint64_t left_bytes;		/* the same by bytes: io_size */
	uint64_t write_count;		/* makes written content unique */
	uint64_t think_until_ns;
	uint64_t wake_early_ns;		/* margin of sleeps: see worker.c */
	uint32_t think_left;
	uint32_t unsynced_count, sync_every;
	uint8_t sync_kind;		/* enum io_kind */
	bool end_synced;		/* the fsync behind the last write was begun */
	bool sync_each;			/* a write is done when its sync is */
	bool writes_trimmed;		/* each block is trimmed, then written */
	uint64_t latency_ns_max;	/* what takes longer ends the job; UINT64_MAX = none */
	uint64_t no_yield_until_ns;	/* yields were dear lately: see worker.c */
	uint32_t yield_debt;
	uint64_t spin_until_ns;		/* of a pause, the part that costs CPU time */
	uint32_t *sync_tags;		/* done by half: writes to be synced, trims to be written */
	uint32_t sync_tag_count;
	struct flow_part flow;
	struct search search;		/* of a depth that answers in time */
	struct settled_rule steady;	/* ends the job, where its workload says so */
	double *steady_values;		/* owned: of its window's seconds; NULL without a rule */
	size_t steady_count;		/* seconds that were there when it was looked at last */
	bool is_steady;
	bool is_ahead;			/* of its flow: nothing starts before others have */
	bool is_held;			/* held waits: a block of it is being written */
	struct io drawn;		/* the next request, drawn ahead for queue_ops.expect */
	bool is_drawn;
	const struct access_line *drawn_line;
	struct io held;
	uint32_t *snapshots;		/* verified reads: words by tag */
	uint32_t snapshot_units;

	/* what came out */
	struct recorder recorder;
	struct recorder_mailbox *mailbox;	/* owned; NULL when nobody looks */
	struct verify_tally tally;
	/* By number, 0 to the depth: one block, owned by the first. One addition a batch each. */
	uint64_t *flying_counts;	/* requests, by how many were in flight with them */
	uint64_t *push_counts, *reap_counts;	/* batches, by their size */
	uint32_t batch_max;
	uint64_t backlog_ns_max, unserved_count;
	uint64_t last_late_ns;		/* of the last request that was started */
	uint64_t last_number;		/* of a replay: which that was, from 1; 0 = none */
	uint64_t punctual_count;	/* started within REPLAY_PUNCTUAL_NS */
	uint64_t user_ns, system_ns, voluntary_switch_count, involuntary_switch_count;
	uint64_t major_fault_count, minor_fault_count;
	uint64_t transaction_count, transaction_ns, transaction_ns_max;
	uint64_t punted_count;
	bool interrupted;
	char queue_mode[96];
	bool failed;			/* the first failure of this worker */
	struct worker_slot failed_slot;
	bool failed_in_sync;
	int failed_code;		/* negative errno */
	uint64_t failed_latency_ns;	/* it took longer than it may; 0 = it failed */
	struct err err;			/* of open */
};

/* Whether requests start when they are meant to, whatever came back. */
bool work_is_open_loop(const struct work *work);

int worker_init(struct worker *w, struct work *work, uint32_t index, bool has_reader,
		struct err *err);
void worker_done(struct worker *w);

/* Makes the calling thread the worker's: pinned, with exact timers. Fills w->err on failure. */
int worker_settle(struct worker *w);

/* On the worker's own thread. open fills w->err on failure; close keeps the queue's facts. */
int worker_open(struct worker *w);
void worker_close(struct worker *w);
/* begin_ns, start_ns and end_ns of work are known: from here on the loop may run. */
void worker_begin(struct worker *w);

/* Real time: until the end. */
void worker_run(struct worker *w);

/*
 * Virtual time: does all that can be done now; returns when there is more, NEVER_NS when
 * w->finished.
 */
uint64_t worker_step(struct worker *w);

/* What was counted of batches so far belongs to the ramp. */
void worker_forget_batches(struct worker *w);

/* Share of an amount split evenly over jobs; the first take the rest. */
/* The open loop's schedule, from work.begin_ns on. */
void worker_begin_pace(struct worker *w);
uint64_t worker_share(uint64_t amount, uint32_t index, uint32_t count, uint64_t granule);

/* What is left to do when measuring begins: left_count and left_bytes. */
void worker_begin_limits(struct worker *w);

/* Ends the job when its rate has settled, where it is to. */
void worker_look_steady(struct worker *w);

/* Fills what a write carries. */
void worker_content(struct worker *w, struct io *io);

/* usage.c: CPU time, switches and page faults of the calling thread since worker_usage_begin. */
void worker_usage_begin(struct worker *w);
void worker_usage_end(struct worker *w);
/* Requests handed to kernel threads; after the recorder's end, before the queue's. */
void worker_count_punted(struct worker *w);
