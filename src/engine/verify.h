/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * verify - which generation each block of a verified run holds. One 32-bit word per block,
 * in memory that is taken only where blocks are written. A block is claimed while a write to it
 * is in flight, so that the order of writes, and with it the content, is always known.
 *
 * Threads: all workers share one map; claims are atomic.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "engine/data.h"
#include "engine/engine.h"
#include "model/result.h"
#include "target/queue.h"

struct verify_map {
	_Atomic uint32_t *words;	/* generation, and VERIFY_CLAIMED; 0 = content not known */
	void *memory;			/* owned: where words lies */
	uint64_t offset_bytes;		/* of the range */
	uint64_t unit_count;
	uint32_t unit_bytes;		/* one checked block */
	bool foreign;			/* read-only: written by an earlier run of this seed */
	bool recalled;			/* read-only: written by an earlier run whose map this is */
};

#define VERIFY_CLAIMED 0x80000000u

/* What one reader found. */
struct verify_tally {
	uint64_t checked_count, failed_count;
	struct data_finding first;	/* of the lowest offset; verdict DATA_GOOD when none */
};

/* The largest block that divides all sizes, starts and strides; -EINVAL when under 512. */
int verify_unit(const struct workload *workload, const struct engine_range *range,
		uint32_t *ret_bytes, struct err *err);

int verify_map_init(struct verify_map *map, const struct engine_range *range, uint32_t unit_bytes,
		    struct err *err);
void verify_map_done(struct verify_map *map);

/* false when a block of it is claimed already: the request has to wait. */
bool verify_claim(struct verify_map *map, uint64_t offset_bytes, uint32_t length_bytes);
/* Fills a claimed request, each block with its next generation. */
void verify_fill(struct verify_map *map, const struct data *data, void *buffer,
		 uint64_t offset_bytes, uint32_t length_bytes);
/* Ends a claim. written: the blocks hold the next generation; else they are not known. */
void verify_release(struct verify_map *map, uint64_t offset_bytes, uint32_t length_bytes,
		    bool written);

/* The words of a read's blocks as it is submitted; snapshot has room for them. */
void verify_snapshot(const struct verify_map *map, uint64_t offset_bytes, uint32_t length_bytes,
		     uint32_t *snapshot);
/* Checks the blocks whose words are as they were: no write came between. */
void verify_check(const struct verify_map *map, const struct data *data, const void *buffer,
		  uint64_t offset_bytes, uint32_t length_bytes, const uint32_t *snapshot,
		  struct verify_tally *tally);

/* Reads back every block whose content is known. 0, or a negative errno when reading failed. */
struct verify_pass {
	struct queue *queue;
	void *pool;			/* depth_count buffers of stride_bytes */
	size_t stride_bytes;
	uint32_t depth_count, length_max_bytes;
	const struct clock *clock;
	const volatile sig_atomic_t *stop;
	struct op_result *ret;		/* what it read, and how long each took; latency is there */
};
int verify_read_back(const struct verify_map *map, const struct data *data,
		     const struct verify_pass *pass, struct verify_tally *tally, struct err *err);

void verify_tally_add(struct verify_tally *into, const struct verify_tally *from);
