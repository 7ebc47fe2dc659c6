/* SPDX-License-Identifier: MIT */

/*
 * Times against hand calculation, to the nanosecond. The base drive: one die, pages of
 * 4 KiB, read 60 us, program 500 us, erase 2 ms; channel 4096 B in 10.24 us (400 MB/s).
 */

#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "sim/sim.h"
#include "sim/test_drive.h"

#define BASE "page-greedy,capacity=16m,op=25%,pages_per_block=64,read_time=60us," \
	     "program_time=500us,erase_time=2ms,channel=400MB,buffer=0,queue_depth=64"

static struct sim *open_drive(const char *more)
{
	char spec[512];

	snprintf(spec, sizeof(spec), "%s%s", BASE, more);
	return test_drive(spec);
}

static uint64_t submit(struct sim *sim, uint64_t now_ns, enum sim_kind kind,
		       struct sim_range range)
{
	const struct sim_request request = { .kind = kind, .offset_bytes = range.offset_bytes,
					     .length_bytes = range.length_bytes };
	struct sim_result result;

	sim_submit(sim, now_ns, &request, &result);
	CHECK_EQ(result.error, 0);
	return result.done_ns;
}

#define PAGE(i) ((struct sim_range){ (i) * 4096ull, 4096 })

static void one_write_is_transfer_and_program(void)
{
	struct sim *sim = open_drive("");

	CHECK_EQ(submit(sim, 1000, SIM_WRITE, PAGE(0)), 1000 + 10240 + 500000);
	sim_free(sim);
}

static void one_read_is_array_and_transfer(void)
{
	struct sim *sim = open_drive("");

	submit(sim, 0, SIM_WRITE, PAGE(0));
	CHECK_EQ(submit(sim, 1000000, SIM_READ, PAGE(0)), 1000000 + 60000 + 10240);
	CHECK_EQ(submit(sim, 2000000, SIM_READ, PAGE(1)), 2000000);	/* never written */
	sim_free(sim);
}

static void writes_to_one_die_queue_with_the_transfer_hidden(void)
{
	struct sim *sim = open_drive("");

	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(0)), 510240);
	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(1)), 1010240);
	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(2)), 1510240);
	sim_free(sim);
}

static void two_dies_on_a_channel_share_its_transfers(void)
{
	struct sim *sim = open_drive(",dies=2,pages_per_block=32");

	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(0)), 510240);
	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(1)), 520480);
	sim_free(sim);
}

static void two_channels_are_independent(void)
{
	struct sim *sim = open_drive(",channels=2,pages_per_block=32");

	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(0)), 510240);
	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(1)), 510240);
	sim_free(sim);
}

static void a_read_waits_as_its_priority_says(void)
{
	/* Three programs booked at 0 end at 510.24, 1010.24, 1510.24 us; the read comes at
	 * 600 us, when the second has 410.24 us to go. */
	static const struct {
		const char *more;
		uint64_t want_ns;
	} cases[] = {
		{ "", 1510240 + 70240 },
		{ ",read_priority=next", 1010240 + 70240 },
		{ ",read_priority=suspend", 600000 + 20000 + 70240 },
	};

	for (size_t i = 0; i < 3; i++) {
		struct sim *sim = open_drive(cases[i].more);

		for (uint64_t page = 0; page < 3; page++)
			submit(sim, 0, SIM_WRITE, PAGE(page));
		CHECK_EQ(submit(sim, 600000, SIM_READ, PAGE(0)), cases[i].want_ns);
		sim_free(sim);
	}
}

static void the_page_after_the_last_read_is_faster(void)
{
	struct sim *sim = open_drive(",read_next_time=20us");

	submit(sim, 0, SIM_WRITE, (struct sim_range){ 0, 16384 });
	CHECK_EQ(submit(sim, 10000000, SIM_READ, PAGE(0)), 10070240);
	CHECK_EQ(submit(sim, 20000000, SIM_READ, PAGE(1)), 20030240);
	CHECK_EQ(submit(sim, 30000000, SIM_READ, PAGE(3)), 30070240);
	sim_free(sim);
}

static void a_buffer_acknowledges_until_it_is_full(void)
{
	struct sim *sim = open_drive(",buffer=32k");	/* eight pages */

	for (uint64_t page = 0; page < 8; page++)
		CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(page)), 0);
	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(8)), 510240);
	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(9)), 1010240);
	/* A flush waits for all ten. */
	CHECK_EQ(submit(sim, 0, SIM_FLUSH, PAGE(0)), 10240 + 10 * 500000);
	sim_free(sim);
}

static void a_buffered_page_is_read_from_the_buffer(void)
{
	struct sim *sim = open_drive(",buffer=32k");
	struct sim_stats stats;

	submit(sim, 0, SIM_WRITE, PAGE(5));
	CHECK_EQ(submit(sim, 100, SIM_READ, PAGE(5)), 100);
	CHECK_EQ(submit(sim, 510241, SIM_READ, PAGE(5)), 510241 + 70240);
	sim_stats(sim, &stats);
	CHECK_EQ(stats.buffer_hits, 1);
	sim_free(sim);
}

static void link_and_firmware_are_booked(void)
{
	/* 4096 B at 100 MB/s are 40.96 us; each command costs 5 us of link, 30 of firmware. */
	struct sim *sim = open_drive(",link=100MB,link_time=5us,link_duplex=off,cpu_write=30us,"
				     "cpu_read=7us,buffer=64k");

	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(0)), 5000 + 40960 + 30000);
	/* The link is free at 45.96 us, the firmware at 75.96 us. */
	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(1)), 5000 + 2 * 40960 + 30000);
	CHECK_EQ(submit(sim, 9000000, SIM_READ, PAGE(0)), 9000000 + 5000 + 7000 + 70240 + 40960);
	sim_free(sim);
}

static void the_queue_holds_so_many_and_no_more(void)
{
	struct sim *sim = open_drive(",queue_depth=2,channels=4,pages_per_block=16");

	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(0)), 510240);
	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(1)), 510240);
	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(2)), 2 * 510240);
	sim_free(sim);
}

static void pages_of_a_cell_differ(void)
{
	/* MLC, 40 %: 300 us and 700 us in turn. */
	struct sim *sim = open_drive(",cell_bits=2,program_spread=40%");

	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(0)), 310240);
	CHECK_EQ(submit(sim, 1000000, SIM_WRITE, PAGE(1)), 1710240);
	CHECK_EQ(submit(sim, 2000000, SIM_WRITE, PAGE(2)), 2310240);
	sim_free(sim);
}

static void part_of_a_unit_costs_a_read(void)
{
	struct sim *sim = open_drive("");
	struct sim_stats stats;

	submit(sim, 0, SIM_WRITE, (struct sim_range){ 0, 8192 });
	sim_stats_mark(sim);
	/* 512 bytes: read 70.24 us, transfer and program 510.24 us. */
	CHECK_EQ(submit(sim, 5000000, SIM_WRITE, (struct sim_range){ 512, 512 }),
		 5000000 + 70240 + 510240);
	/*
	 * 4 KiB across two units. Waiting for data books no die: the first program holds it
	 * until 570.24 us, the second read is there at 640.48, transfer and program follow.
	 */
	CHECK_EQ(submit(sim, 9000000, SIM_WRITE, (struct sim_range){ 2048, 4096 }),
		 9000000 + 70240 + 500000 + 70240 + 510240);
	sim_stats_since(sim, &stats);
	CHECK_EQ(stats.rmw_reads, 3);
	CHECK_EQ(stats.flash_programmed_bytes, 3 * 4096);
	sim_free(sim);
}

static void a_misaligned_stream_is_merged_in_the_buffer(void)
{
	struct sim *sim = open_drive(",buffer=64k,merge=4,state=filled");
	struct sim_stats stats;

	for (uint64_t i = 0; i < 100; i++)
		submit(sim, i * 1000000, SIM_WRITE, (struct sim_range){ i * 4096 + 512, 4096 });
	sim_stats(sim, &stats);
	CHECK_EQ(stats.merged_writes, 99);
	CHECK_EQ(stats.rmw_reads, 0);
	CHECK_EQ(stats.flash_programmed_bytes, 99 * 4096);
	/* The two ends are read and completed by a flush. */
	submit(sim, 200000000, SIM_FLUSH, PAGE(0));
	sim_stats(sim, &stats);
	CHECK_EQ(stats.rmw_reads, 2);
	CHECK_EQ(stats.flash_programmed_bytes, 101 * 4096);
	sim_free(sim);
}

static void a_block_map_copies_the_block(void)
{
	/* Blocks of 64 pages, filled. Page 10 of block 3: ten copies before it, then the
	 * write; the 53 behind it when block 4 needs the place (one block open). */
	struct sim *sim = open_drive(",mapping=block,open_blocks=1,state=filled,gc_burst=on");
	struct sim_stats stats;

	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(3 * 64 + 10)), 10 * (60000 + 500000) + 500000);
	sim_stats(sim, &stats);
	CHECK_EQ(stats.gc_copied_bytes, 10 * 4096);
	submit(sim, 100000000, SIM_WRITE, PAGE(4 * 64));
	sim_stats(sim, &stats);
	CHECK_EQ(stats.gc_copied_bytes, 63 * 4096);
	CHECK_EQ(stats.erases, 1);
	CHECK_EQ(stats.flash_programmed_bytes, 65 * 4096);
	sim_free(sim);
}

static void a_cache_miss_of_the_map_costs_a_read(void)
{
	/* 4096 units are four translation pages; half are held. */
	struct sim *sim = open_drive(",map_cache=50%,state=filled");
	struct sim_stats stats;

	CHECK_EQ(submit(sim, 0, SIM_READ, PAGE(0)), 2 * 70240);
	CHECK_EQ(submit(sim, 1000000, SIM_READ, PAGE(1)), 1000000 + 70240);
	CHECK_EQ(submit(sim, 2000000, SIM_READ, PAGE(1024)), 2000000 + 2 * 70240);
	CHECK_EQ(submit(sim, 3000000, SIM_READ, PAGE(2048)), 3000000 + 2 * 70240);
	sim_stats(sim, &stats);
	CHECK_EQ(stats.map_misses, 3);
	sim_free(sim);
}

static void the_slc_cache_is_fast_until_it_is_full(void)
{
	/* MLC blocks of 64 pages hold 32 in SLC mode; 2 % of 4096 units: three blocks. */
	struct sim *sim = open_drive(",cell_bits=2,slc=static,slc_size=2%,slc_read_time=20us,"
				     "slc_program_time=100us,idle_after=1s");
	struct sim_stats stats;
	uint64_t now = 0;

	for (uint64_t i = 0; i < 96; i++) {
		CHECK_EQ(submit(sim, now, SIM_WRITE, PAGE(i)), now + 110240);
		now += 110240;
	}
	CHECK_EQ(submit(sim, now, SIM_WRITE, PAGE(96)), now + 510240);
	CHECK_EQ(submit(sim, now + 510240, SIM_READ, PAGE(0)), now + 510240 + 30240);
	sim_stats(sim, &stats);
	CHECK_EQ(stats.slc_used_bytes, 96 * 4096);
	/* A quiet minute folds it away. */
	now += 60 * SECOND_NS;
	CHECK_EQ(submit(sim, now, SIM_READ, PAGE(0)), now + 70240);
	CHECK_EQ(submit(sim, now + 1000000, SIM_WRITE, PAGE(97)), now + 1000000 + 110240);
	sim_stats(sim, &stats);
	CHECK_EQ(stats.fold_copied_bytes, 96 * 4096);
	sim_free(sim);
}

static void credits_run_out(void)
{
	/* 100 per second, bursts of 1000, 50 saved: the 52nd write waits for the rate. */
	struct sim *sim = open_drive(",rate=100,burst=1000,credits=50,buffer=1m");
	uint64_t done = 0;

	for (uint64_t i = 0; i < 50; i++)
		done = submit(sim, 0, SIM_WRITE, PAGE(i));
	CHECK_EQ(done, 49 * 1000000);
	for (uint64_t i = 0; i < 10; i++)
		done = submit(sim, 0, SIM_WRITE, PAGE(i));
	/* The 60th: 60 requests need 0.6 s of allowance, of which 0.5 + one were saved. */
	CHECK_EQ(done, 90000000);
	sim_free(sim);
}

static void a_hot_drive_slows_down_and_recovers(void)
{
	/* 25 C + 500 mW * 8 C/W = 29 C idle; 1 mJ a page, 510 us each: 1.96 W + 0.5 W give
	 * 44.7 C. Throttles at 40 C to twice the time, until it is below 37 C. */
	struct sim *sim = open_drive(",throttle_at=40000,throttle=200%,idle_power=500,"
				     "program_energy=1000000,heat_resistance=8000,heat_time=10s");
	uint64_t now = 0, first, later = 0, cool;
	struct sim_stats stats;

	first = submit(sim, 0, SIM_WRITE, PAGE(0));
	for (uint64_t i = 0; i < 60000 && now < 20 * SECOND_NS; i++) {
		const uint64_t done = submit(sim, now, SIM_WRITE, PAGE(i % 64));

		later = done - now > later ? done - now : later;
		now = done;
	}
	CHECK_EQ(first, 510240);
	CHECK(later >= 1010240);
	sim_stats(sim, &stats);
	CHECK(stats.throttled_ns > 0);
	now += 120 * SECOND_NS;
	cool = submit(sim, now, SIM_WRITE, PAGE(0));
	sim_stats(sim, &stats);
	CHECK_NEAR(stats.temperature_mc, 29000, 2);
	CHECK(cool - now <= 510240 + 2000000);
	sim_free(sim);
}

static void sleep_costs_the_wake_up(void)
{
	struct sim *sim = open_drive(",standby_after=10s,wake_time=50ms");

	CHECK_EQ(submit(sim, 0, SIM_WRITE, PAGE(0)), 510240);
	CHECK_EQ(submit(sim, 9 * SECOND_NS, SIM_WRITE, PAGE(0)), 9 * SECOND_NS + 510240);
	CHECK_EQ(submit(sim, 30 * SECOND_NS, SIM_WRITE, PAGE(0)), 30 * SECOND_NS + 50510240);
	sim_free(sim);
}

TESTS(TEST(one_write_is_transfer_and_program), TEST(one_read_is_array_and_transfer),
      TEST(writes_to_one_die_queue_with_the_transfer_hidden),
      TEST(two_dies_on_a_channel_share_its_transfers), TEST(two_channels_are_independent),
      TEST(a_read_waits_as_its_priority_says), TEST(the_page_after_the_last_read_is_faster),
      TEST(a_buffer_acknowledges_until_it_is_full), TEST(a_buffered_page_is_read_from_the_buffer),
      TEST(link_and_firmware_are_booked), TEST(the_queue_holds_so_many_and_no_more),
      TEST(pages_of_a_cell_differ), TEST(part_of_a_unit_costs_a_read),
      TEST(a_misaligned_stream_is_merged_in_the_buffer), TEST(a_block_map_copies_the_block),
      TEST(a_cache_miss_of_the_map_costs_a_read), TEST(the_slc_cache_is_fast_until_it_is_full),
      TEST(credits_run_out), TEST(a_hot_drive_slows_down_and_recovers),
      TEST(sleep_costs_the_wake_up))
