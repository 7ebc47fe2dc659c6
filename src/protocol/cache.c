/* SPDX-License-Identifier: MIT */

/*
 * cache - speed against bytes written: the plateaus of a sequential write over the whole
 * drive, and how much of the first comes back after pauses of rising length.
 *
 * Sampled by bytes, not by time: each sample is the same share of the drive, so that a small
 * cache at high speed has as many as a large one.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"
#include "stats/level.h"

#define SAMPLES 1000
#define BLOCK_BYTES MIB
#define STEP_MIN 1.2   /* a plateau is so many times faster than the next */
#define FAST_SHARE 0.5 /* of the way from the last plateau to the first */

#define LONGEST_NS (300 * SECOND_NS) /* --idle sets another */

/* Pauses, in parts of the longest: 10, 30, 100 and 300 s. */
static const uint64_t pause_parts[] = { 30, 10, 3, 1 };
#define PAUSES ARRAY_COUNT(pause_parts)

struct cache {
	struct kit *kit;
	uint64_t sample_bytes, block_bytes;
	size_t sample_count;
	double *rates; /* bytes per second */
	struct level level;
	size_t cache_count;  /* samples at the first speed; 0 = there is no first */
	size_t head_segment; /* of level.means: the speed of the cache */
};

static int write_sample(struct cache *c, const char *name, size_t at, double *ret_rate,
			struct err *err)
{
	struct cell_plan plan = {
		.rw = RW_WRITE,
		.block_bytes = c->block_bytes,
		.depth_count = 8,
		.offset_bytes = at * c->sample_bytes,
		.size_bytes = c->sample_bytes,
		.quiet = true,
	};
	struct protocol_cell cell;
	int r;

	snprintf(plan.name, sizeof(plan.name), "%s %zu", name, at + 1);
	r = kit_step(c->kit, &plan, &cell, err);
	if (r == 0)
		*ret_rate = cell.bytes_per_s;
	return r;
}

/* No anchor inside: a pause would empty the cache. So a break begins this anew. */
static int write_all(struct cache *c, struct err *err)
{
	int r = kit_anchor(c->kit, err);

	if (r == 0)
		r = kit_purge(c->kit, NULL, err);
	for (size_t i = 0; r == 0 && i < c->sample_count; i++)
		r = write_sample(c, "write", i, &c->rates[i], err);
	return r;
}

/* The first plateau that is clearly faster than what follows it, whatever came before. */
static void find_cache(struct cache *c)
{
	level_classify(c->rates, c->sample_count, 1.0, &c->level);
	for (size_t i = 0; c->level.kind == LEVEL_STEPPED && i < c->level.step_count; i++)
		if (c->level.means[i] >= STEP_MIN * c->level.means[i + 1]) {
			c->cache_count = c->level.steps[i];
			c->head_segment = i;
			return;
		}
}

static double last_rate(const struct cache *c)
{
	return c->level.means[c->level.step_count];
}

static uint64_t pause_ns(const struct cache *c, size_t pause)
{
	const uint64_t idle_ns = c->kit->options->idle_ns;

	return (idle_ns ? idle_ns : LONGEST_NS) / pause_parts[pause];
}

/* So many samples are written after a pause at most: what the cache held, and some. */
static size_t most_samples(const struct cache *c)
{
	const size_t most = c->cache_count + c->cache_count / 8 + 2;

	return most < c->sample_count ? most : c->sample_count;
}

/* In a break the cache came back: it is used up again, so that the pause alone counts. */
static int use_up(struct cache *c, struct err *err)
{
	int r = kit_anchor(c->kit, err);
	double rate;

	if (r < 0 || !kit_has_gap(c->kit))
		return r;
	kit_note(c->kit, "after a break the cache was used up again before the pause");
	r = kit_refill(c->kit, c->kit->capacity_bytes, err);
	for (size_t i = 0; r == 0 && i < most_samples(c); i++)
		r = write_sample(c, "write after a break", i, &rate, err);
	return r;
}

/* Overwrites from the start until it is slow again: how many samples were fast. */
static int refill(struct cache *c, size_t pause, struct err *err)
{
	const double pause_s = (double)pause_ns(c, pause) / (double)SECOND_NS;
	const double fast = c->level.means[c->head_segment];
	const double limit = last_rate(c) + FAST_SHARE * (fast - last_rate(c));
	size_t count = 0;
	char name[40];
	int r = use_up(c, err);

	snprintf(name, sizeof(name), "idle %.3g s", pause_s);
	if (r == 0)
		r = kit_idle(c->kit, name, pause_ns(c, pause), err);
	snprintf(name, sizeof(name), "write after %.3g s", pause_s);
	for (size_t i = 0; r == 0 && i < most_samples(c); i++) {
		double rate;

		r = write_sample(c, name, i, &rate, err);
		if (r == 0 && rate < limit)
			break;
		count++;
	}
	snprintf(name, sizeof(name), "at full speed after %.3g s", pause_s);
	if (r == 0 && !c->kit->forecasting)
		kit_evidence(c->kit, name, "B", (double)(count * c->sample_bytes));
	return r;
}

static int refill_all(struct cache *c, struct err *err)
{
	int r = 0;

	/* A forecast counts the most: as if all of the drive were cache. */
	if (c->kit->forecasting)
		c->cache_count = c->sample_count;
	for (size_t i = 0; r == 0 && c->cache_count && i < PAUSES; i++)
		r = refill(c, i, err);
	return r;
}

static void add_phases(const struct cache *c)
{
	const struct level *l = &c->level;

	for (size_t i = 0; l->kind == LEVEL_STEPPED && i <= l->step_count; i++) {
		const size_t first = i ? l->settles[i - 1] : 0;
		const size_t end = i < l->step_count ? l->steps[i] : c->sample_count;
		char name[64];

		snprintf(name, sizeof(name), "plateau %zu, speed", i + 1);
		kit_evidence(c->kit, name, "B/s", l->means[i]);
		snprintf(name, sizeof(name), "plateau %zu, bytes", i + 1);
		kit_evidence(c->kit, name, "B", (double)((end - first) * c->sample_bytes));
	}
}

static void judge(const struct cache *c)
{
	const double cache_bytes = (double)(c->cache_count * c->sample_bytes);
	char fast[UNITS_TEXT_BYTES], slow[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES];

	add_phases(c);
	if (c->cache_count) {
		kit_evidence_within(c->kit, "cache", "B",
				    (const double[3]){ cache_bytes,
						       cache_bytes - (double)c->sample_bytes,
						       cache_bytes + (double)c->sample_bytes });
		kit_verdict(c->kit, "cache-found", "%s for %s, then %s",
			    units_format_rate_bytes(c->level.means[c->head_segment], fast),
			    units_format_size(cache_bytes, size),
			    units_format_rate_bytes(last_rate(c), slow));
		return;
	}
	if (c->level.kind == LEVEL_DRIFTING)
		kit_verdict(c->kit, "drifting", "Speed changes over the drive, but in no steps");
	else
		kit_verdict(c->kit, "no-cache", "No cache seen: %s over the whole drive",
			    units_format_rate_bytes(c->level.means[0], fast));
}

static int run_open(struct cache *c, struct err *err)
{
	int r = write_all(c, err);

	if (r < 0)
		return r;
	if (!c->kit->forecasting)
		find_cache(c);
	r = refill_all(c, err);
	if (r == 0 && !c->kit->forecasting) {
		judge(c);
		kit_note(c->kit,
			 "a step in speed may also be heat: the temperature is not watched");
	}
	return r;
}

static int run_cache(struct kit *kit, struct err *err)
{
	struct cache c = { .kit = kit, .block_bytes = BLOCK_BYTES };
	DEFER(defer_free) double *rates = NULL;

	while (c.block_bytes * SAMPLES > kit->capacity_bytes && c.block_bytes > 16 * KIB)
		c.block_bytes /= 2;
	c.sample_bytes = kit_share(kit, 1.0 / SAMPLES, c.block_bytes);
	c.sample_count = (size_t)(kit->capacity_bytes / c.sample_bytes);
	rates = calloc(c.sample_count, sizeof(*rates));
	if (!rates)
		return err_errno(err, -ENOMEM, "cache");
	c.rates = rates;
	return run_open(&c, err);
}

const struct protocol protocol_cache = {
	.name = "cache",
	.summary = "size and speed of the write cache, and how fast it comes back",
	.description =
		"Purge, then sequential writes over the whole drive in a thousand samples of equal "
		"bytes; plateaus by change points. Then pauses of 10, 30, 100 and 300 s (--idle sets "
		"the longest, the others in proportion), and after each "
		"writes until they are slow again.\n\n"
		"Verdicts: cache-found, no-cache, drifting.",
	.writes = true,
	.run = run_cache,
};
