/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * filter - a queue that wraps a queue and does something to what passes: the common part of
 * filter_delay, filter_error and filter_corrupt. They are for people who want to see how their
 * stack bears a slow or a bad drive, and for tests of what judges drives.
 *
 * A chain "a:...;b:..." is in the order a request meets them. Real and virtual time.
 */

#include <stdbool.h>

#include "base/random.h"
#include "target/queue.h"

struct filter_kind;

/* What every filter's own struct begins with. */
struct filter {
	struct queue queue;		/* ops points to the copy below */
	struct queue_ops ops;		/* the filter's, synchronous and timed as the inner */
	const struct filter_kind *kind;
	struct queue *inner;		/* owned */
	const struct clock *clock;
	uint32_t depth_count, length_max_bytes;
	uint32_t inner_count;		/* in flight in the inner queue */

	/* Completions of our own making: a ring of the depth's size. */
	struct io_done *ready;
	uint32_t ready_first, ready_count;
};

struct filter_kind {
	const char *name;
	const char *help;		/* its keys, one line */
	size_t options_bytes;
	size_t filter_bytes;		/* of the struct that begins with struct filter */
	/* Fills options (zeroed) from what follows the colon. */
	int (*parse)(const char *text, void *options, struct err *err);
	/* Completes a zeroed filter whose common part is set; close undoes. */
	int (*setup)(struct filter *filter, const void *options, struct err *err);
	void (*done)(struct filter *filter);	/* of the filter's own; NULL when nothing */
	void (*push)(struct queue *queue, const struct io *ios, uint32_t count);
	int (*reap)(struct queue *queue, struct io_done *done, uint32_t min_count,
		    uint32_t max_count, uint64_t deadline_ns);
	uint64_t (*next_ns)(struct queue *queue);
};

extern const struct filter_kind filter_delay, filter_error, filter_corrupt;
extern const struct filter_kind *const filter_kinds[];	/* NULL-terminated, as help lists them */

/* For push and reap of the kinds. */
void filter_pass(struct filter *filter, const struct io *io);	/* on to the inner queue */
void filter_complete(struct filter *filter, uint32_t tag, int32_t result);
/*
 * Own completions first, then the inner queue's; never waits for what cannot come. Counts
 * what left the inner queue.
 */
int filter_reap(struct queue *queue, struct io_done *done, uint32_t min_count, uint32_t max_count,
		uint64_t deadline_ns);
uint64_t filter_next_ns(struct queue *queue);

/*
 * Which requests a filter picks: after the first after_count that could be, each every-th, or
 * one in every at random when a seed is given; only those that cover at_bytes when given.
 */
struct filter_pick {
	uint64_t after_count, every_count, seed, at_bytes;
	bool has_at, has_seed;
	uint64_t seen_count;
	struct random random;
};

void filter_pick_init(struct filter_pick *pick);
bool filter_pick_next(struct filter_pick *pick, const struct io *io);
