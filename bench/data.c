/* SPDX-License-Identifier: MIT */
/*
 * bench-data - what data costs: CPU ns per 4 KiB block, least of 15 rounds, every variant this
 * machine runs; memset, memcpy and a checksum of the whole content beside it. Over 512 KiB
 * (in the second-level cache, as at a depth of 128) and over one block (in the first).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "engine/data.h"

#define BLOCK_BYTES 4096u
#define BLOCK_COUNT_MAX 128u
#define ROUND_COUNT 15
#define DRAW_COUNT 8192u

static uint8_t *blocks;
static uint8_t *copy;
static struct data data;
static uint64_t block_count;
static volatile uint64_t sink;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void run_fill(uint8_t *block, uint64_t index)
{
	data_fill(&data, block, BLOCK_BYTES, index * BLOCK_BYTES, 1);
}

static void run_check(uint8_t *block, uint64_t index)
{
	if (data_check(&data, block, BLOCK_BYTES, index * BLOCK_BYTES, 1, 1, NULL) != DATA_GOOD)
		abort();
}

static void run_memcpy(uint8_t *block, uint64_t index)
{
	memcpy(copy + index * BLOCK_BYTES, block, BLOCK_BYTES);
}

static void run_memset(uint8_t *block, uint64_t index)
{
	memset(block, (int)index, BLOCK_BYTES);
}

static void run_xxh3(uint8_t *block, uint64_t index)
{
	sink += XXH3_64bits(block, BLOCK_BYTES) + index;
}

static double least_ns(void (*run)(uint8_t *block, uint64_t index))
{
	double least = 1e18;

	for (int round = 0; round < ROUND_COUNT; round++) {
		const double start_ns = cpu_ns();

		for (uint64_t i = 0; i < DRAW_COUNT; i++) {
			const uint64_t index = i & (block_count - 1);

			run(blocks + index * BLOCK_BYTES, index);
		}
		const double ns = (cpu_ns() - start_ns) / DRAW_COUNT;

		least = ns < least ? ns : least;
	}
	return least;
}

static void print_ns(const char *name, double ns)
{
	printf("%-28s %7.1f ns  %6.1f GB/s\n", name, ns, BLOCK_BYTES / ns);
}

static void bench_kernel(const struct data_kernel *kernel)
{
	char name[64];
	double fill_ns, check_ns;
	struct workload workload;

	workload_init(&workload);
	if (data_init(&data, &workload, BLOCK_BYTES, 1, NULL) < 0)
		abort();
	data.kernel = kernel;
	snprintf(name, sizeof(name), "%s fill, not verified", kernel->name);
	print_ns(name, least_ns(run_fill));

	data.verify = true;
	fill_ns = least_ns(run_fill);
	check_ns = least_ns(run_check);
	snprintf(name, sizeof(name), "%s fill, verified", kernel->name);
	print_ns(name, fill_ns);
	snprintf(name, sizeof(name), "%s check", kernel->name);
	print_ns(name, check_ns);
	snprintf(name, sizeof(name), "%s fill + check", kernel->name);
	print_ns(name, fill_ns + check_ns);
}

static void bench_all(uint64_t count)
{
	block_count = count;
	printf("%llu KiB:\n", (unsigned long long)count * BLOCK_BYTES / 1024);
	print_ns("memset", least_ns(run_memset));
	print_ns("memcpy", least_ns(run_memcpy));
	print_ns("XXH3 of the library", least_ns(run_xxh3));
	for (const struct data_kernel *const *kernel = data_kernels(); *kernel; kernel++)
		bench_kernel(*kernel);
}

int main(void)
{
	/* One huge page each, as the engine's buffers. */
	blocks = aligned_alloc(2u << 20, 2u << 20);
	copy = aligned_alloc(2u << 20, 2u << 20);
	if (!blocks || !copy)
		return 1;
	memset(blocks, 1, (size_t)BLOCK_BYTES * BLOCK_COUNT_MAX);
	memset(copy, 1, (size_t)BLOCK_BYTES * BLOCK_COUNT_MAX);

	bench_all(BLOCK_COUNT_MAX);
	bench_all(1);
	return 0;
}
