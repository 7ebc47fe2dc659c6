/* SPDX-License-Identifier: MIT */

/*
 * The same bytes and times on every compiler, with and without sanitizers: each preset after
 * a fixed workload, each cleaning policy after a fixed number of writes, and each figure of
 * the era for its first seed, as one number that was the same wherever it was taken. The
 * long tests hold the same drives against formulas and published figures, in one build only.
 *
 * A change of a model, a preset or the list of counters changes numbers here: the lines
 * printed are the new ones.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/defer.h"
#include "base/random.h"
#include "sim/era.h"
#include "sim/sim.h"
#include "sim/test_drive.h"

#define REQUESTS 2000

struct golden {
	const char *name;
	uint64_t number;
};

static uint64_t mix(uint64_t hash, uint64_t number)
{
	return random_mix(hash ^ number) + number;
}

static void check(const struct golden *golden, uint64_t number)
{
	if (number != golden->number)
		printf("# { \"%s\", 0x%016" PRIx64 " },\n", golden->name, number);
	CHECK(number == golden->number);
}

static uint64_t mix_counters(uint64_t hash, const struct sim *sim)
{
	struct sim_stats stats;

	sim_stats(sim, &stats);
	for (const struct sim_stat_field *f = sim_stat_fields; f->name; f++) {
		uint64_t value;

		memcpy(&value, (const char *)&stats + f->offset, sizeof(value));
		hash = mix(hash, value);
	}
	return hash;
}

/* Half writes, the rest reads, discards and flushes; up to 32 at a time, now and then a rest. */
static uint64_t work(struct sim *sim)
{
	const uint64_t grain = sim_configuration(sim)->logical_block_bytes;
	const uint64_t blocks = sim_configuration(sim)->capacity_bytes / grain;
	static const enum sim_kind kinds[] = {
		SIM_WRITE, SIM_WRITE, SIM_WRITE, SIM_WRITE, SIM_READ, SIM_READ, SIM_TRIM, SIM_FLUSH,
	};
	uint64_t done[32] = { 0 }, tags[256] = { 0 }, now = 0, hash = 0;
	struct random random;

	random_init(&random, 1);
	for (uint64_t i = 0; i < REQUESTS; i++) {
		const uint64_t count = 1 + random_below(&random, random_below(&random, 2) ? 256 : 8);
		const struct sim_request request = {
			.kind = kinds[random_below(&random, ARRAY_COUNT(kinds))], .tag = i + 1,
			.offset_bytes = random_below(&random, blocks - count) * grain,
			.length_bytes = count * grain, .tags_ret = tags,
		};
		struct sim_result result;

		now = done[i % 32] > now ? done[i % 32] : now;
		if (i % 500 == 499)
			now = sim_quiet_ns(sim) + 2000000000;
		sim_submit(sim, now, &request, &result);
		done[i % 32] = result.done_ns;
		hash = mix(mix(hash, result.done_ns), (uint64_t)(int64_t)result.error);
		for (uint64_t k = 0; request.kind == SIM_READ && k < count; k++)
			hash = mix(hash, tags[k]);
	}
	return mix(hash, sim_power_cut(sim, now));
}

static uint64_t preset_number(const char *name)
{
	struct sim *sim;
	struct sim_truth truth;
	uint64_t hash;
	char spec[128];

	snprintf(spec, sizeof(spec), "%s,capacity=256m,state=steady", name);
	sim = test_drive(spec);
	hash = mix_counters(work(sim), sim);
	for (uint64_t at = 0; at < sim_configuration(sim)->capacity_bytes; at += 4096) {
		sim_query(sim, at, &truth);
		hash = mix(mix(hash, truth.tag), truth.page);
	}
	sim_free(sim);
	return hash;
}

static void presets_do_the_same_everywhere(void)
{
	static const struct golden goldens[] = {
		{ "m80", 0x4939171e1b8102e9 },
		{ "x25m-g1", 0x68e0ed06aae2c8fd },
		{ "x25m-g2", 0xe15da6377a542870 },
		{ "m225", 0xdca4d82f6d96f3ae },
		{ "c300", 0xf7ebe3b25f78c9be },
		{ "jmf602", 0x04d396567b89ecea },
		{ "nvme-tlc", 0xbec87d1aa6f0a048 },
		{ "nvme-qlc", 0x12b277c793e710aa },
		{ "nvme-dramless", 0x297a59d6708d6162 },
		{ "sata-tlc", 0x5fef108f91a2b32a },
		{ "enterprise", 0x7b1b8c0c343e64bc },
		{ "cloud", 0xe66c3b439309384b },
		{ "page-greedy", 0xbb3ded4b7625a341 },
		{ "page-fifo", 0xb135a922ccd84203 },
		{ "hybrid-log", 0x339ae86b9608a170 },
		{ "liar-trim", 0xb233113f2a80b4d5 },
		{ "bad-trim", 0xa97cdd0dbb670319 },
		{ "lost-write", 0xbb3ded4b7625a341 },
		{ "bit-rot", 0xbb3ded4b7625a341 },
	};
	size_t count = 0;

	for (; sim_presets[count].name; count++) {
		CHECK(count < ARRAY_COUNT(goldens));
		CHECK(strcmp(sim_presets[count].name, goldens[count].name) == 0);
		check(&goldens[count], preset_number(sim_presets[count].name));
	}
	CHECK_EQ(count, ARRAY_COUNT(goldens));
}

static uint64_t policy_number(const char *more)
{
	struct sim *sim;
	struct random random;
	uint32_t units[1000];
	uint64_t hash;
	char spec[128];

	snprintf(spec, sizeof(spec), "page-greedy,capacity=64m,content=off%s", more);
	sim = test_drive(spec);
	random_init(&random, 99);
	for (int round = 0; round < 60; round++) {
		for (size_t i = 0; i < ARRAY_COUNT(units); i++)
			units[i] = (uint32_t)random_below(&random, 16384);
		sim_write_units(sim, units, ARRAY_COUNT(units));
	}
	hash = mix_counters(0, sim);
	sim_free(sim);
	return hash;
}

static void policies_clean_the_same_everywhere(void)
{
	static const struct golden goldens[] = {
		{ ",op=7", 0xebc0e9537a72d015 },
		{ ",op=12,state=steady", 0xdeda5eb07bafc5f3 },
		{ ",op=12,gc=fifo", 0xd4f4e50c3fd0678c },
		{ ",op=12,gc=d-choices", 0x436454506605a680 },
		{ ",op=12,gc=random", 0x2db1626127aa06bf },
		{ ",op=12,gc=cost-benefit", 0x7980f4da58ba7df5 },
		{ ",op=12,streams=separate", 0xdb813fda551aaf52 },
		{ ",op=12,streams=hot-cold", 0xacd037b217bd55c3 },
		{ ",op=12,gc_interleave=on", 0x28ff61c86514f9b3 },
		{ ",op=28,wear_spread=8", 0x2ed576fea8c6a5f5 },
		{ ",mapping=hybrid,pages_per_block=64,log=7%,state=filled", 0x79a15962c9509cc2 },
	};

	for (size_t i = 0; i < ARRAY_COUNT(goldens); i++)
		check(&goldens[i], policy_number(goldens[i].name));
}

/* Rates and ratios to six digits behind the point: what is divided is whole. */
static void the_era_is_the_same_everywhere(void)
{
	static const struct golden goldens[] = {
		{ "m80 clean write", 0x000052d09422b541 },
		{ "m80 clean read", 0x0000cf19467ffc2e },
		{ "m80 dirty write", 0x000016e78ed4a739 },
		{ "m80 dirty read", 0x0000bba34cf50eaa },
		{ "m80 clean/dirty write", 0x0000000000372ba3 },
		{ "m80 dirty/clean read", 0x00000000000dd32f },
		{ "m80 trimmed/clean write", 0x00000000000f42ad },
		{ "m225 clean", 0x00000b40fb485fda },
		{ "m225 full", 0x0000026607fdf5e2 },
		{ "m225 clean/full", 0x00000000004797ca },
		{ "c300 aligned", 0x00007c2ad9078298 },
		{ "c300 misaligned", 0x00000e2a28366fc1 },
		{ "c300 aligned/misaligned", 0x000000000085c224 },
		{ "x25m-g1 clean", 0x0000280e67e590e6 },
		{ "x25m-g1 used", 0x000017f8bd2c4cf6 },
		{ "x25m-g1 clean/used", 0x0000000000197f4a },
		{ "x25m-g2 clean", 0x00002324cbdf092b },
		{ "x25m-g2 used", 0x00002324cbdf092b },
		{ "x25m-g2 clean/used", 0x00000000000f4240 },
		{ "jmf602 clean", 0x00000004cbd1ec95 },
		{ "jmf602 used", 0x000000046de3fead },
		{ "m80 first pass", 0x00000a5a40f5d69f },
		{ "m80 second pass", 0x00001107e584a6c5 },
		{ "m80 third pass", 0x000018a6832583af },
		{ "x25m-g1 used and rested", 0x000017f8bd2c4cf6 },
		{ "x25m-g1 erased", 0x0000280e67e590e6 },
		{ "c300 without blocking", 0x0000000000109789 },
	};
	size_t count = 0;

	for (; era_rows[count].name; count++) {
		CHECK(count < ARRAY_COUNT(goldens));
		CHECK(strcmp(era_rows[count].name, goldens[count].name) == 0);
		check(&goldens[count], (uint64_t)llround(era_rows[count].run(1) * 1e6));
	}
	CHECK_EQ(count, ARRAY_COUNT(goldens));
}

TESTS(TEST(presets_do_the_same_everywhere), TEST(policies_clean_the_same_everywhere),
      TEST(the_era_is_the_same_everywhere))
