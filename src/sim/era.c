/* SPDX-License-Identifier: MIT */

/*
 * The recipes. Volumes are shares of the drive, as on the full-size original: an 8 GB span
 * of 160 GB is a twentieth. What an article leaves open is decided here, visibly.
 */

#include "sim/era.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/units.h"

#define DEPTH_MAX 32

struct host {
	struct sim *sim;
	struct random random;
	uint64_t capacity, now_ns;
	uint64_t slots[DEPTH_MAX];
};

static void host_open(struct host *h, const char *preset, const char *more, uint64_t seed)
{
	struct sim_config config;
	struct err err = { 0 };
	char spec[256];
	int r;

	snprintf(spec, sizeof(spec), "%s,content=off,seed=%llu%s", preset,
		 (unsigned long long)seed, more);
	r = sim_config_parse(&config, spec, &err);
	assert(r == 0);
	*h = (struct host){ .capacity = config.capacity_bytes };
	r = sim_new(&h->sim, &config, &err);
	assert(r == 0);
	(void)r;
	random_init(&h->random, seed * 7919 + 1);
}

/* Keeps depth requests in flight; the next goes out when the earliest is done. */
static void issue(struct host *h, uint32_t depth, enum sim_kind kind, struct sim_range range)
{
	const struct sim_request request = { .kind = kind, .offset_bytes = range.offset_bytes,
					     .length_bytes = range.length_bytes };
	struct sim_result result;
	uint32_t first = 0;

	for (uint32_t i = 1; i < depth; i++)
		first = h->slots[i] < h->slots[first] ? i : first;
	if (h->slots[first] > h->now_ns)
		h->now_ns = h->slots[first];
	sim_submit(h->sim, h->now_ns, &request, &result);
	assert(result.error == 0);
	h->slots[first] = result.done_ns;
}

/* Waits for what is in flight; the writes may still be in the drive's buffer. */
static uint64_t drain(struct host *h)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		h->now_ns = h->slots[i] > h->now_ns ? h->slots[i] : h->now_ns;
		h->slots[i] = 0;
	}
	return h->now_ns;
}

static void rest(struct host *h, uint64_t ns)
{
	const uint64_t quiet = sim_quiet_ns(h->sim);

	drain(h);
	h->now_ns = (quiet > h->now_ns ? quiet : h->now_ns) + ns;
	sim_idle(h->sim, h->now_ns);
}

static double sequential(struct host *h, enum sim_kind kind, uint32_t depth,
			 struct sim_range range)
{
	const uint64_t begin = drain(h), record = 128 * KIB;
	const uint64_t end = range.offset_bytes + range.length_bytes;

	for (uint64_t at = range.offset_bytes; at < end; at += record)
		issue(h, depth, kind,
		      (struct sim_range){ at, end - at < record ? end - at : record });
	return (double)range.length_bytes * SECOND_NS / (double)(drain(h) - begin);
}

/* Random 4 KiB writes at multiples of align in the first span bytes. */
static double random_writes(struct host *h, uint64_t span, uint64_t align, uint64_t bytes)
{
	const uint64_t begin = drain(h), places = (span - 4096) / align + 1;

	for (uint64_t done = 0; done < bytes; done += 4096)
		issue(h, 3, SIM_WRITE, (struct sim_range){
		      random_below(&h->random, places) * align, 4096 });
	return (double)bytes * SECOND_NS / (double)(drain(h) - begin);
}

static double finish(struct host *h, double rate)
{
	sim_free(h->sim);
	return rate;
}

/* --- Kingston M: sequential through the page cache, in files ---------------------------- */

/*
 * The page cache keeps 512 KiB of writes in flight and reads one window of 128 KiB after
 * the other: a request of 128 KiB on an empty drive, one for each extent of a file that is
 * spread over freed space.
 */
#define IOZONE_WRITE_DEPTH 4
#define IOZONE_READ_DEPTH 1
#define EXTENT_WRITE_DEPTH (512 * KIB / EXTENT)
#define EXTENT_READ_DEPTH (128 * KIB / EXTENT)
#define EXTENT (32 * KIB)

static uint64_t share(const struct host *h, uint64_t gigabytes)
{
	return h->capacity / 80 * gigabytes / EXTENT * EXTENT;
}

/*
 * The address space in extents, shuffled: what the file system gives out once files have
 * come and gone. The second set takes the first 64/80 of them, iozone's file the rest.
 */
static uint32_t *shuffled_extents(struct host *h, uint32_t *ret_count)
{
	const uint32_t count = (uint32_t)(h->capacity / EXTENT);
	uint32_t *extents = calloc(count, sizeof(*extents));

	if (!extents)
		abort();
	for (uint32_t i = 0; i < count; i++)
		extents[i] = i;
	for (uint32_t i = count; i > 1; i--) {
		const uint32_t j = (uint32_t)random_below(&h->random, i), kept = extents[i - 1];

		extents[i - 1] = extents[j];
		extents[j] = kept;
	}
	*ret_count = count;
	return extents;
}

static int by_address(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

struct iozone {
	double write, read;
};

static struct iozone iozone_on(struct host *h, const uint32_t *extents, uint32_t count)
{
	const double bytes = (double)count * EXTENT;
	struct iozone result;
	uint64_t begin = drain(h);

	for (uint32_t i = 0; i < count; i++)
		issue(h, EXTENT_WRITE_DEPTH, SIM_WRITE,
		      (struct sim_range){ extents[i] * EXTENT, EXTENT });
	result.write = bytes * SECOND_NS / (double)(drain(h) - begin);
	rest(h, 0);
	begin = drain(h);
	for (uint32_t i = 0; i < count; i++) {
		issue(h, EXTENT_READ_DEPTH, SIM_READ,
		      (struct sim_range){ extents[i] * EXTENT, EXTENT });
		if (i % EXTENT_READ_DEPTH == EXTENT_READ_DEPTH - 1)
			drain(h);
	}
	result.read = bytes * SECOND_NS / (double)(drain(h) - begin);
	return result;
}

static struct iozone m80_clean(uint64_t seed)
{
	struct iozone result;
	struct host h;

	host_open(&h, "m80", "", seed);
	result.write = sequential(&h, SIM_WRITE, IOZONE_WRITE_DEPTH,
				  (struct sim_range){ 0, share(&h, 16) });
	rest(&h, 0);
	result.read = sequential(&h, SIM_READ, IOZONE_READ_DEPTH,
				 (struct sim_range){ 0, share(&h, 16) });
	finish(&h, 0);
	return result;
}

/* 74 GB of files, deleted; 64 GB of files; no discard. Then iozone, perhaps after a trim. */
static struct iozone m80_dirty(uint64_t seed, bool trim)
{
	struct iozone result;
	uint32_t *extents, count, used;
	struct host h;

	host_open(&h, "m80", "", seed);
	sequential(&h, SIM_WRITE, IOZONE_WRITE_DEPTH, (struct sim_range){ 0, share(&h, 74) });
	extents = shuffled_extents(&h, &count);
	used = (uint32_t)(share(&h, 64) / EXTENT);
	for (uint32_t i = 0; i < used; i++)
		issue(&h, EXTENT_WRITE_DEPTH, SIM_WRITE,
		      (struct sim_range){ extents[i] * EXTENT, EXTENT });
	for (uint32_t i = used; trim && i < count; i++)
		issue(&h, 1, SIM_TRIM, (struct sim_range){ extents[i] * EXTENT, EXTENT });
	if (trim)
		rest(&h, 1800 * SECOND_NS);
	qsort(extents + used, count - used, sizeof(*extents), by_address);
	result = iozone_on(&h, extents + used, (uint32_t)(share(&h, 15) / EXTENT));
	free(extents);
	finish(&h, 0);
	return result;
}

static double m80_clean_write(uint64_t seed)
{
	return m80_clean(seed).write;
}

static double m80_clean_read(uint64_t seed)
{
	return m80_clean(seed).read;
}

static double m80_dirty_write(uint64_t seed)
{
	return m80_dirty(seed, false).write;
}

static double m80_dirty_read(uint64_t seed)
{
	return m80_dirty(seed, false).read;
}

static double m80_write_ratio(uint64_t seed)
{
	return m80_clean(seed).write / m80_dirty(seed, false).write;
}

static double m80_read_ratio(uint64_t seed)
{
	return m80_dirty(seed, false).read / m80_clean(seed).read;
}

/* A dirty drive written in order from end to end, so many times; the last pass counts. */
static double m80_pass(uint64_t seed, int passes)
{
	uint32_t *extents, count;
	struct host h;
	double rate = 0;

	host_open(&h, "m80", ",state=filled", seed);
	extents = shuffled_extents(&h, &count);
	for (uint32_t i = 0; i < count; i++)
		issue(&h, EXTENT_WRITE_DEPTH, SIM_WRITE,
		      (struct sim_range){ extents[i] * EXTENT, EXTENT });
	free(extents);
	for (int i = 0; i < passes; i++)
		rate = sequential(&h, SIM_WRITE, IOZONE_WRITE_DEPTH,
				  (struct sim_range){ 0, h.capacity });
	return finish(&h, rate);
}

static double m80_first_pass(uint64_t seed)
{
	return m80_pass(seed, 1);
}

static double m80_second_pass(uint64_t seed)
{
	return m80_pass(seed, 2);
}

static double m80_third_pass(uint64_t seed)
{
	return m80_pass(seed, 3);
}

static double m80_trimmed_ratio(uint64_t seed)
{
	return m80_dirty(seed, true).write / m80_clean(seed).write;
}

/* --- X25-M: random 4 KiB writes over 8 of 160 GB, 3 outstanding, 3 minutes -------------- */

/* 3 min at 40 MB/s: 7.3 GB, a 22nd of the drive. */
static double x25m_clean(const char *preset, uint64_t seed)
{
	struct host h;

	host_open(&h, preset, "", seed);
	return finish(&h, random_writes(&h, h.capacity / 20, 4096, h.capacity / 22));
}

/* Used: every address written once in order, then the same test a few times before. */
static void x25m_use(struct host *h, const char *preset, uint64_t seed)
{
	host_open(h, preset, ",state=filled", seed);
	for (int i = 0; i < 3; i++) {
		random_writes(h, h->capacity / 20, 4096, h->capacity / 22);
		rest(h, 60 * SECOND_NS);
	}
}

static double x25m_used(const char *preset, uint64_t seed)
{
	struct host h;

	x25m_use(&h, preset, seed);
	return finish(&h, random_writes(&h, h.capacity / 20, 4096, h.capacity / 22));
}

static double g1_clean(uint64_t seed)
{
	return x25m_clean("x25m-g1", seed);
}

static double g1_used(uint64_t seed)
{
	return x25m_used("x25m-g1", seed);
}

static double g1_rested(uint64_t seed)
{
	struct host h;

	x25m_use(&h, "x25m-g1", seed);
	rest(&h, 3600 * SECOND_NS);
	return finish(&h, random_writes(&h, h.capacity / 20, 4096, h.capacity / 22));
}

static double g1_erased(uint64_t seed)
{
	struct host h;

	x25m_use(&h, "x25m-g1", seed);
	issue(&h, 1, SIM_PURGE, (struct sim_range){ 0, 0 });
	return finish(&h, random_writes(&h, h.capacity / 20, 4096, h.capacity / 22));
}

static double g1_ratio(uint64_t seed)
{
	return g1_clean(seed) / g1_used(seed);
}

static double g2_clean(uint64_t seed)
{
	return x25m_clean("x25m-g2", seed);
}

static double g2_used(uint64_t seed)
{
	return x25m_used("x25m-g2", seed);
}

static double g2_ratio(uint64_t seed)
{
	return g2_clean(seed) / g2_used(seed);
}

/* --- M225, C300, JMF602 ---------------------------------------------------------------- */

static double m225_clean(uint64_t seed)
{
	struct host h;

	host_open(&h, "m225", "", seed);
	return finish(&h, random_writes(&h, h.capacity, 4096, h.capacity / 160));
}

/* IOMeter's file fills the drive and has been written at random before. */
static double m225_full(uint64_t seed)
{
	struct host h;

	host_open(&h, "m225", ",state=steady", seed);
	return finish(&h, random_writes(&h, h.capacity, 4096, h.capacity / 40));
}

static double m225_ratio(uint64_t seed)
{
	return m225_clean(seed) / m225_full(seed);
}

/* IOMeter's file fills the drive; a minute's writes fit into its spare. */
static double c300_as(uint64_t seed, uint64_t align, const char *more)
{
	struct host h;

	host_open(&h, "c300", more, seed);
	return finish(&h, random_writes(&h, h.capacity, align, h.capacity / 100));
}

static double c300(uint64_t seed, uint64_t align)
{
	return c300_as(seed, align, ",state=filled");
}

/* The same hardware, were its firmware not to wait for the reads. */
static double c300_background(uint64_t seed)
{
	static const char *const more = ",state=filled,rmw_blocking=off";

	return c300_as(seed, 4096, more) / c300_as(seed, 512, more);
}

static double c300_aligned(uint64_t seed)
{
	return c300(seed, 4096);
}

static double c300_misaligned(uint64_t seed)
{
	return c300(seed, 512);
}

static double c300_ratio(uint64_t seed)
{
	return c300_aligned(seed) / c300_misaligned(seed);
}

static double jmf602(uint64_t seed, const char *state)
{
	struct host h;

	host_open(&h, "jmf602", state, seed);
	return finish(&h, random_writes(&h, h.capacity, 4096, 200 * 4096));
}

static double jmf602_clean(uint64_t seed)
{
	return jmf602(seed, "");
}

static double jmf602_used(uint64_t seed)
{
	return jmf602(seed, ",state=filled");
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double era_median(const struct era_row *row, uint32_t seed_count)
{
	double rates[64];

	assert(seed_count > 0 && seed_count <= 64);
	for (uint32_t i = 0; i < seed_count; i++)
		rates[i] = row->run(i + 1);
	qsort(rates, seed_count, sizeof(*rates), by_value);
	return (rates[(seed_count - 1) / 2] + rates[seed_count / 2]) / 2;
}

#define RATE(name, what, mib, tolerance, run) \
	{ name, what, (mib) * (double)MIB, tolerance, false, run }
#define RATIO(name, what, ratio, tolerance, run) { name, what, ratio, tolerance, true, run }
#define MB (1e6 / (double)MIB)

const struct era_row era_rows[] = {
	RATE("m80 clean write", "iozone, 16 GB file", 86.55 * MB, 0.10, m80_clean_write),
	RATE("m80 clean read", "iozone", 229.70 * MB, 0.05, m80_clean_read),
	RATE("m80 dirty write", "after 74 + 64 GB of files", 23.33 * MB, 0.20, m80_dirty_write),
	RATE("m80 dirty read", "the same", 198.73 * MB, 0.20, m80_dirty_read),
	RATIO("m80 clean/dirty write", "", 3.71, 0.20, m80_write_ratio),
	RATIO("m80 dirty/clean read", "0.81 to 0.92", 0.865, 0.06, m80_read_ratio),
	RATIO("m80 trimmed/clean write", "free space trimmed, idle; >= 0.95", 1.0, 0.05,
	      m80_trimmed_ratio),
	RATE("m225 clean", "random 4 KiB, empty drive", 11.8, 0.10, m225_clean),
	RATE("m225 full", "random 4 KiB, file fills the drive", 2.5, 0.20, m225_full),
	RATIO("m225 clean/full", "", 4.72, 0.20, m225_ratio),
	RATE("c300 aligned", "random 4 KiB, starts on 4096", 129.2, 0.10, c300_aligned),
	RATE("c300 misaligned", "random 4 KiB, starts on 512", 16, 0.20, c300_misaligned),
	RATIO("c300 aligned/misaligned", "", 8.08, 0.20, c300_ratio),
	RATE("x25m-g1 clean", "random 4 KiB, 8 GB span, 3 min", 40.8, 0.10, g1_clean),
	RATE("x25m-g1 used", "filled and used before", 26.3, 0.20, g1_used),
	RATIO("x25m-g1 clean/used", "", 1.55, 0.20, g1_ratio),
	RATE("x25m-g2 clean", "random 4 KiB, 8 GB span, 3 min", 36.1, 0.10, g2_clean),
	RATE("x25m-g2 used", "filled and used before", 35.8, 0.20, g2_used),
	RATIO("x25m-g2 clean/used", "", 1.008, 0.05, g2_ratio),
	RATE("jmf602 clean", "random 4 KiB", 0.02, 0.25, jmf602_clean),
	RATE("jmf602 used", "random 4 KiB, filled", 0.02, 0.25, jmf602_used),
	/* No published figure: shown, and compared in shape by the tests. */
	RATE("m80 first pass", "fragmented, whole drive in order", 0, 0, m80_first_pass),
	RATE("m80 second pass", "the same again", 0, 0, m80_second_pass),
	RATE("m80 third pass", "the same again", 0, 0, m80_third_pass),
	RATE("x25m-g1 used and rested", "used, then an hour idle", 0, 0, g1_rested),
	RATE("x25m-g1 erased", "used, then secure erase", 0, 0, g1_erased),
	RATIO("c300 without blocking", "rmw_blocking=off", 0, 0, c300_background),
	{ 0 },
};
