/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "engine/data.h"
#include "measure/measure.h"
#include "measure/session.h"

#define CEILING_RUN_NS (100 * MILLISECOND_NS)
#define BLOCK_BYTES 4096u

static double run_on_null(const struct workload *workload, const struct clock *clock,
			  struct err *err)
{
	const struct target_request request = {
		.spec = "null:size=64g",
		.writes = workload_writes(workload),
		.clock = clock,
	};
	const struct engine_options options = { .clock = clock };
	struct target *target;
	struct measurement m;
	uint64_t count = 0;
	double iops = 0;

	if (target_open(&target, &request, err) < 0)
		return -1;
	measurement_init(&m);
	if (engine_run(workload, target, &options, &m, err) < 0)
		iops = -1;
	for (int kind = 0; kind < OP_KINDS; kind++)
		count += kind == OP_SYNC ? 0 : m.ops[kind].count;
	if (iops == 0 && m.duration_ns)
		iops = (double)count * 1e9 / (double)m.duration_ns;
	measurement_done(&m);
	target_close(target);
	return iops;
}

double ceiling_iops(const struct workload *workload, const struct clock *clock)
{
	struct workload closed = *workload;
	double iops;

	/* The same requests as fast as they go: no pace, no pauses, nothing but the null target. */
	closed.offset = (struct amount){ 0 };
	closed.size = (struct amount){ 0 };
	closed.io_size_bytes = 0;
	closed.runtime_ns = CEILING_RUN_NS;
	closed.ramp_ns = 0;
	closed.engine = ENGINE_AUTO;
	closed.rate_iops = 0;
	closed.burst_count = 0;
	closed.think_ns = 0;
	closed.think_count = 0;
	closed.fsync_count = 0;
	closed.fdatasync_count = 0;
	closed.verify = false;
	closed.filter[0] = '\0';
	iops = run_on_null(&closed, clock, NULL);
	return iops > 0 ? iops : 0;
}

/* The best of several batches: others on the machine only ever make it slower. */
#define BATCHES 20
#define BATCH_COUNT 2000

static double clock_cost_ns(const struct clock *clock)
{
	uint64_t best_ns = UINT64_MAX;

	for (int batch = 0; batch < BATCHES; batch++) {
		const uint64_t begin_ns = clock_now_ns(clock);
		uint64_t end_ns = begin_ns;

		for (int i = 0; i < BATCH_COUNT; i++)
			end_ns = clock_now_ns(clock);
		if (end_ns - begin_ns < best_ns)
			best_ns = end_ns - begin_ns;
	}
	return (double)best_ns / BATCH_COUNT;
}

/* What is done to one block of a pool, and the pool: 64 blocks, as many as a deep job has. */
#define POOL_BLOCKS 64

struct pool {
	unsigned char *blocks, *copy;
	const struct data *data;
	uint64_t wrong_count;
};

static void fill_block(struct pool *pool, uint32_t index)
{
	data_fill(pool->data, pool->blocks + index * BLOCK_BYTES, BLOCK_BYTES,
		  (uint64_t)index * BLOCK_BYTES, 1);
}

static void check_block(struct pool *pool, uint32_t index)
{
	pool->wrong_count += data_check(pool->data, pool->blocks + index * BLOCK_BYTES, BLOCK_BYTES,
					(uint64_t)index * BLOCK_BYTES, 1, 1, NULL) != DATA_GOOD;
}

static void copy_block(struct pool *pool, uint32_t index)
{
	memcpy(pool->copy + index * BLOCK_BYTES, pool->blocks + index * BLOCK_BYTES, BLOCK_BYTES);
	/* The copy must happen, though nobody reads it. */
	__asm__ volatile("" : : "r"(pool->copy) : "memory");
}

static double block_cost_ns(struct pool *pool, const struct clock *clock,
			    void (*work)(struct pool *, uint32_t))
{
	uint64_t best_ns = UINT64_MAX;

	for (int batch = 0; batch < BATCHES; batch++) {
		const uint64_t begin_ns = clock_now_ns(clock);
		uint64_t took_ns;

		for (uint32_t i = 0; i < BATCH_COUNT; i++)
			work(pool, i % POOL_BLOCKS);
		took_ns = clock_now_ns(clock) - begin_ns;
		best_ns = took_ns < best_ns ? took_ns : best_ns;
	}
	return (double)best_ns / BATCH_COUNT;
}

static int measure_data(struct ceiling *ret, const struct clock *clock, struct err *err)
{
	DEFER(defer_free) unsigned char *blocks = NULL;
	DEFER(defer_free) unsigned char *copy = NULL;
	struct workload workload;
	struct data data;
	struct pool pool;
	int r;

	workload_init(&workload);
	workload.verify = true;
	r = data_init(&data, &workload, BLOCK_BYTES, 1, err);
	if (r < 0)
		return r;
	blocks = aligned_alloc(BLOCK_BYTES, POOL_BLOCKS * BLOCK_BYTES);
	copy = aligned_alloc(BLOCK_BYTES, POOL_BLOCKS * BLOCK_BYTES);
	if (!blocks || !copy)
		return err_set(err, -ENOMEM, "buffers of %u blocks", POOL_BLOCKS);
	memset(blocks, 0, POOL_BLOCKS * BLOCK_BYTES);
	memset(copy, 0, POOL_BLOCKS * BLOCK_BYTES);
	pool = (struct pool){ blocks, copy, &data, 0 };
	ret->fill_ns_per_4k = block_cost_ns(&pool, clock, fill_block);
	ret->check_ns_per_4k = block_cost_ns(&pool, clock, check_block);
	ret->memcpy_ns_per_4k = block_cost_ns(&pool, clock, copy_block);
	if (pool.wrong_count)
		return err_set(err, -EIO, "data in memory read back wrong %llu times: this machine's "
			       "memory or CPU is not sound", (unsigned long long)pool.wrong_count);
	return 0;
}

int measure_ceiling(struct ceiling *ret, struct err *err)
{
	struct ceiling found = { 0 };
	struct workload workload;
	struct clock clock;
	int r;

	clock_init_real(&clock);
	found.clock_ns = clock_cost_ns(&clock);
	r = measure_data(&found, &clock, err);
	if (r < 0)
		return r;
	workload_init(&workload);
	workload.rw = RW_RANDREAD;
	workload.block_bytes = BLOCK_BYTES;
	workload.job_count = 1;
	workload.runtime_ns = CEILING_RUN_NS;
	workload.depth_count = 1;
	found.null_iops_q1 = run_on_null(&workload, &clock, err);
	workload.depth_count = 32;
	found.null_iops_q32 = found.null_iops_q1 < 0 ? -1 : run_on_null(&workload, &clock, err);
	if (found.null_iops_q32 < 0)
		return err ? err->code : -EIO;
	*ret = found;
	return 0;
}
