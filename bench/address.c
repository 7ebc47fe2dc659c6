/* SPDX-License-Identifier: MIT */
/* bench-address - CPU ns per offset, arrival and request choice, over 1 TiB of 4 KiB blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/units.h"
#include "engine/address.h"
#include "engine/mix.h"
#include "engine/pace.h"
#include "stats/histogram.h"

#define DRAW_COUNT 4000000u
#define ROUND_COUNT 5

static volatile uint64_t sink;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The least of a few rounds of the statement, per draw. */
#define BENCH(name, statement)                                                        \
	do {                                                                          \
		double least = 1e18;                                                  \
		for (int round = 0; round < ROUND_COUNT; round++) {                   \
			const double start_ns = cpu_ns();                             \
			uint64_t sum = 0;                                             \
			for (uint32_t i = 0; i < DRAW_COUNT; i++)                     \
				sum += (uint64_t)(statement);                                \
			sink += sum;                                                  \
			const double ns = (cpu_ns() - start_ns) / DRAW_COUNT;         \
			least = ns < least ? ns : least;                              \
		}                                                                     \
		printf("%-28s %6.2f ns\n", name, least);                              \
	} while (0)

static void bench_address(const char *name, const struct workload *workload, uint64_t blocks)
{
	const struct address_range range = {
		.size_bytes = blocks * 4096,
		.span_bytes = 2 * blocks * 4096,
		.align_bytes = 4096,
		.block_max_bytes = 4096,
	};
	static struct address address;

	if (address_init(&address, workload, &range, 0, 1, 1, NULL) < 0)
		abort();
	BENCH(name, address_next(&address, 4096));
}

static void bench_distribution(const char *name, enum distribution_kind kind, double parameter)
{
	struct workload workload;

	workload_init(&workload);
	workload.rw = RW_RANDREAD;
	workload.distribution.kind = kind;
	workload.distribution.parameter = parameter;
	bench_address(name, &workload, 1u << 28);
}

static void bench_addresses(void)
{
	struct workload workload;

	workload_init(&workload);
	workload.rw = RW_READ;
	bench_address("sequential", &workload, 1u << 28);
	workload.rw = RW_RANDREAD;
	workload.repeat = true;
	bench_address("random, repeat", &workload, 1u << 28);
	workload.repeat = false;
	bench_address("random, 2^28 blocks", &workload, 1u << 28);
	bench_address("random, 2^28 + 1 blocks", &workload, (1u << 28) + 1);
	workload.segment_count = 2048;
	bench_address("random, 2048 segments", &workload, 1u << 28);
	bench_distribution("zipf 1.2", DISTRIBUTION_ZIPF, 1.2);
	bench_distribution("pareto 0.2", DISTRIBUTION_PARETO, 0.2);
	bench_distribution("normal 10", DISTRIBUTION_NORMAL, 10.0);
}

static void bench_others(void)
{
	static struct histogram histogram;
	struct workload workload;
	struct random random;
	struct pace pace;
	struct mix mix;
	uint32_t bytes;

	workload_init(&workload);
	workload.rw = RW_RANDRW;
	workload.read_ppm = 700000;
	mix_init(&mix, &workload, 1);
	BENCH("mix 70/30", (uint64_t)mix_next(&mix, &bytes));

	pace_init(&pace, &(struct pace_rate){ 100000, 0, false, 1 }, 0, 1);
	BENCH("pace, fixed", pace_take(&pace));
	pace_init(&pace, &(struct pace_rate){ 100000, 0, true, 1 }, 0, 1);
	BENCH("pace, Poisson", pace_take(&pace));

	histogram_init(&histogram);
	random_init(&random, 1);
	BENCH("histogram", (histogram_add(&histogram, 80000 + (random_u64(&random) & 4095)), 1u));
}

int main(void)
{
	bench_addresses();
	bench_others();
	return 0;
}
