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

/* Members that were run on the null target before, and what they did there. */
struct ceilings {
	struct ceilings *next;
	char *key;		/* of all workloads, in words */
	double iops[];		/* of each member */
};

static double iops_of(const struct measurement *m)
{
	uint64_t count = 0;

	for (int kind = 0; kind < OP_KINDS; kind++)
		count += kind == OP_SYNC ? 0 : m->ops[kind].count;
	return m->duration_ns ? (double)count * 1e9 / (double)m->duration_ns : 0;
}

/* All together: what each did. */
static int run_on_null(const struct workload *workloads, uint32_t count, const struct clock *clock,
		       double *ret, struct err *err)
{
	const struct target_request request = {
		.spec = "null:size=64g",
		.writes = true,
		.clock = clock,
	};
	DEFER(defer_free) struct measurement *m = calloc(count, sizeof(*m));
	DEFER(defer_free) struct engine_job *jobs = calloc(count, sizeof(*jobs));
	struct target *target = NULL;
	int r = m && jobs ? target_open(&target, &request, err) :
			    err_set(err, -ENOMEM, "no memory for %u measurements", count);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count; i++) {
		measurement_init(&m[i]);
		jobs[i] = (struct engine_job){
			.workload = &workloads[i],
			.target = target,
			.ret = &m[i],
		};
	}
	r = engine_run_group(jobs, count, &(struct engine_options){ .clock = clock }, err);
	for (uint32_t i = 0; i < count; i++) {
		ret[i] = iops_of(&m[i]);
		measurement_done(&m[i]);
	}
	target_close(target);
	return r;
}

/* The same requests as fast as they go: no pace, no pauses, nothing but the null target. */
static struct workload closed_workload(const struct workload *workload)
{
	struct workload closed = *workload;

	closed.name[0] = '\0';
	closed.seed = 0;
	closed.offset = (struct amount){ 0 };
	closed.size = (struct amount){ 0 };
	closed.io_size_bytes = 0;
	closed.runtime_ns = CEILING_RUN_NS;
	closed.ramp_ns = 0;
	closed.start_delay_ns = 0;
	closed.engine = ENGINE_AUTO;
	closed.rate_iops = 0;
	closed.burst_count = 0;
	closed.think_ns = 0;
	closed.think_count = 0;
	closed.fsync_count = 0;
	closed.fdatasync_count = 0;
	closed.verify = false;
	closed.filter[0] = '\0';
	return closed;
}

static void add_key(const struct workload *workload, struct text *ret)
{
	for (const struct field *field = workload_fields; field->name; field++) {
		if (field->input_only)
			continue;
		field_print(field, workload, ret);
		text_add(ret, ";");
	}
}

static const struct ceilings *find(const struct ceilings *known, const char *key)
{
	while (known && strcmp(known->key, key) != 0)
		known = known->next;
	return known;
}

static void keep(struct session *s, const char *key, const double *iops, uint32_t count)
{
	struct ceilings *made = malloc(sizeof(*made) + count * sizeof(made->iops[0]));

	if (made)
		made->key = strdup(key);
	if (!made || !made->key) {
		free(made);	/* it will be measured again */
		return;
	}
	memcpy(made->iops, iops, count * sizeof(*iops));
	made->next = s->ceilings;
	s->ceilings = made;
}

void ceiling_iops(struct session *s, const struct member *members, uint32_t count, double *ret)
{
	DEFER(defer_free) struct workload *closed = calloc(count, sizeof(*closed));
	struct text key = TEXT_INIT;
	const struct ceilings *known;

	memset(ret, 0, count * sizeof(*ret));
	if (!closed)
		return;
	for (uint32_t i = 0; i < count; i++) {
		closed[i] = closed_workload(members[i].workload);
		add_key(&closed[i], &key);
	}
	known = find(s->ceilings, text_string(&key));
	if (known) {
		memcpy(ret, known->iops, count * sizeof(*ret));
	} else if (run_on_null(closed, count, &s->clock, ret, NULL) == 0) {
		keep(s, text_string(&key), ret, count);
	} else {
		memset(ret, 0, count * sizeof(*ret));
	}
	text_done(&key);
}

void ceilings_done(struct ceilings *ceilings)
{
	while (ceilings) {
		struct ceilings *next = ceilings->next;

		free(ceilings->key);
		free(ceilings);
		ceilings = next;
	}
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
	r = run_on_null(&workload, 1, &clock, &found.null_iops_q1, err);
	workload.depth_count = 32;
	if (r == 0)
		r = run_on_null(&workload, 1, &clock, &found.null_iops_q32, err);
	if (r == 0)
		*ret = found;
	return r;
}
