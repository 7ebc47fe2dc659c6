/* SPDX-License-Identifier: MIT */

/*
 * bench/sim - how fast the reference drive is, in CPU time of one core:
 *	bench/sim [1t]		the argument adds the terabyte drive (2.2 GiB, a minute or two)
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/random.h"
#include "sim/sim.h"

static double cpu_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6 +
	       (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec * 1e-6;
}

static struct sim *open_drive(const char *spec)
{
	struct sim_config config;
	struct err err = { 0 };
	struct sim *sim;

	if (sim_config_parse(&config, spec, &err) < 0 || sim_new(&sim, &config, &err) < 0) {
		fprintf(stderr, "%s: %s\n", spec, err.text);
		exit(1);
	}
	return sim;
}

static void write_units(struct sim *sim, struct random *random, uint64_t count)
{
	const uint64_t units = sim_configuration(sim)->capacity_bytes / 4096;
	uint32_t batch[1024];

	for (uint64_t done = 0; done < count; done += 1024) {
		for (int i = 0; i < 1024; i++)
			batch[i] = (uint32_t)random_below(random, units);
		sim_write_units(sim, batch, 1024);
	}
}

static void bench_mapping(const char *spec, double fills)
{
	struct random random;
	struct sim_stats stats;
	struct sim *sim;
	double t0 = cpu_s(), t1, t2;
	uint64_t units, count;

	random_init(&random, 1);
	sim = open_drive(spec);
	t1 = cpu_s();
	units = sim_configuration(sim)->capacity_bytes / 4096;
	count = (uint64_t)((double)units * fills);
	write_units(sim, &random, count);
	t2 = cpu_s();
	sim_stats(sim, &stats);
	printf("mapping   %-52s %6.1f M/s  WA %.3f  set up %.2f s, %.1f fills %.2f s, "
	       "%.2f B/page\n",
	       spec, (double)count / (t2 - t1) * 1e-6, stats.write_amplification, t1 - t0, fills,
	       t2 - t1, (double)sim_memory_bytes(sim) / (double)units);
	sim_free(sim);
}

/* Depth 32 in order of issue; addresses are drawn four ahead, as the engine can. */
static void bench_requests(const char *spec, double fills)
{
	struct sim_request request = { .kind = SIM_WRITE, .length_bytes = 4096 };
	uint64_t done[32] = { 0 }, ahead[4] = { 0 }, now = 0, units, count;
	struct sim_result result;
	struct sim_stats stats;
	struct random random;
	struct sim *sim = open_drive(spec);
	double t0, t1;

	random_init(&random, 1);
	units = sim_configuration(sim)->capacity_bytes / 4096;
	count = (uint64_t)((double)units * fills);
	t0 = cpu_s();
	for (uint64_t i = 0; i < count; i++) {
		request.offset_bytes = ahead[i % 4];
		request.tag = i + 1;
		ahead[i % 4] = random_below(&random, units) * 4096;
		sim_prefetch(sim, ahead[i % 4]);
		now = done[i % 32] > now ? done[i % 32] : now;
		sim_submit(sim, now, &request, &result);
		done[i % 32] = result.done_ns;
	}
	t1 = cpu_s();
	sim_stats(sim, &stats);
	printf("requests  %-52s %6.2f M/s  WA %.3f  (depth 32, random 4 KiB writes)\n", spec,
	       (double)count / (t1 - t0) * 1e-6, stats.write_amplification);
	sim_free(sim);
}

int main(int argc, char **argv)
{
	static const char *const timed = "page-greedy,op=12,channels=8,dies=8,pages_per_block=16,"
		"buffer=1m,state=steady,capacity=8g";
	char spec[256];

	bench_mapping("page-greedy,capacity=1g,op=12,state=steady", 8);
	bench_mapping("page-greedy,capacity=8g,op=12,state=steady", 4);
	bench_mapping("page-greedy,capacity=64g,op=12,state=steady", 1);
	if (argc > 1 && strcmp(argv[1], "1t") == 0)
		bench_mapping("page-greedy,capacity=1t,op=7,content=off,state=steady", 1);
	snprintf(spec, sizeof(spec), "%s,content=off", timed);
	bench_requests(spec, 2);
	bench_requests(timed, 2);
	printf("for scale: MQSim, the same job (random 4 KiB writes), 0.069 M requests per CPU "
	       "second, as recorded in docs/reference-drive.md; not run here\n");
	return 0;
}
