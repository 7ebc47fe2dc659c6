/* SPDX-License-Identifier: MIT */
#pragma once

/* worker_aside - what the loop calls beside its work: when, sleeping, and telling the tap. */

#include "engine/worker.h"

#define SPIN_NS (30 * MICROSECOND_NS)	/* waits that long beyond the margin of sleeps do sleep */
#define WAKE_EARLY_NS (30 * MICROSECOND_NS)	/* the margin to begin with: see worker_nap */
#define STOP_CHECK_NS (50 * MILLISECOND_NS)

static const uint8_t op_of_kind[] = {
	[IO_READ] = OP_READ,	 [IO_WRITE] = OP_WRITE,	    [IO_TRIM] = OP_TRIM,
	[IO_FSYNC] = OP_SYNC, [IO_FDATASYNC] = OP_SYNC,
};

/* When the next request of an open loop is meant to start; NEVER_NS when a trace has no more. */
static inline uint64_t due_ns(const struct worker *w)
{
	return w->is_replay ? w->player.due_ns : pace_peek(&w->pace);
}

/*
 * Sleeps until shortly before, at most STOP_CHECK_NS; the caller spins through the rest. Returns
 * at once where too little is left. Sleeps end later than asked, by what timer and scheduler of
 * this machine take: some 60 us bare, several hundred in a virtual machine. The margin
 * (wake_early_ns) follows them: up at once, and down by a 256th a sleep, so that one sleep in
 * hundreds is late and not each.
 */
void worker_nap(struct worker *w, uint64_t until_ns);

/* Into the tap. A write that is done with its sync is two requests that end together. */
void worker_tap(struct worker *w, const struct worker_slot *slot, const struct io_done *done,
		uint64_t end_ns);
