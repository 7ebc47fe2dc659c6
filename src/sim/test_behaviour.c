/* SPDX-License-Identifier: MIT */

/* Content, discard, power and faults: what each parameter promises, one by one. */

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "sim/sim.h"
#include "sim/test_drive.h"

static uint64_t now_ns;

static struct sim *open_drive(const char *more)
{
	char spec[512];

	now_ns = 0;
	snprintf(spec, sizeof(spec), "page-greedy,capacity=16m,op=25%%,pages_per_block=64,"
		 "buffer=64k%s", more);
	return test_drive(spec);
}

static int submit(struct sim *sim, const struct sim_request *request)
{
	struct sim_result result;

	sim_submit(sim, now_ns, request, &result);
	now_ns = result.done_ns;
	return result.error;
}

static int write_tag(struct sim *sim, uint64_t offset, uint64_t length, uint64_t tag)
{
	return submit(sim, &(struct sim_request){ .kind = SIM_WRITE, .offset_bytes = offset,
						  .length_bytes = length, .tag = tag });
}

static int trim(struct sim *sim, uint64_t offset, uint64_t length)
{
	return submit(sim, &(struct sim_request){ .kind = SIM_TRIM, .offset_bytes = offset,
						  .length_bytes = length });
}

static uint64_t read_tag(struct sim *sim, uint64_t offset)
{
	uint64_t tags[8] = { 0 };

	CHECK_EQ(submit(sim, &(struct sim_request){ .kind = SIM_READ, .offset_bytes = offset,
		 .length_bytes = 512, .tags_ret = tags }), 0);
	return tags[0];
}

static void bytes_come_back_as_bytes(void)
{
	struct sim *sim = open_drive("");
	unsigned char out[16384], in[16384];
	struct sim_truth truth;

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (unsigned char)(i * 7 + i / 256);
	memset(out + 4096, 0, 4096);	/* kept as a tag of zeros */
	CHECK_EQ(submit(sim, &(struct sim_request){ .kind = SIM_WRITE, .offset_bytes = 1536,
		 .length_bytes = sizeof(out), .bytes = out }), 0);
	memset(in, 0xee, sizeof(in));
	CHECK_EQ(submit(sim, &(struct sim_request){ .kind = SIM_READ, .offset_bytes = 1536,
		 .length_bytes = sizeof(in), .bytes_ret = in }), 0);
	CHECK_EQ(memcmp(in, out, sizeof(in)), 0);
	sim_query(sim, 1536, &truth);
	CHECK_EQ(truth.tag, (int64_t)SIM_TAG_BYTES);
	sim_query(sim, 1536 + 4096, &truth);
	CHECK_EQ(truth.tag, SIM_TAG_ZEROS);
	/* Tags and bytes share a page by sector. */
	write_tag(sim, 2048, 512, 99);
	CHECK_EQ(read_tag(sim, 2048), 99);
	CHECK_EQ(read_tag(sim, 2560), (int64_t)SIM_TAG_BYTES);
	CHECK_EQ(submit(sim, &(struct sim_request){ .kind = SIM_READ, .offset_bytes = 1536,
		 .length_bytes = 1536, .bytes_ret = in }), 0);
	CHECK_EQ(memcmp(in, out, 512), 0);
	CHECK_EQ(in[512], 99);
	CHECK_EQ(memcmp(in + 1024, out + 1024, 512), 0);
	sim_free(sim);
}

static void what_was_never_written_reads_as_zeros(void)
{
	struct sim *sim = open_drive("");
	unsigned char in[4096];

	memset(in, 0xee, sizeof(in));
	CHECK_EQ(submit(sim, &(struct sim_request){ .kind = SIM_READ, .length_bytes = 4096,
		 .bytes_ret = in }), 0);
	for (size_t i = 0; i < sizeof(in); i++)
		CHECK_EQ(in[i], 0);
	sim_free(sim);
}

static void requests_outside_or_between_blocks_are_refused(void)
{
	struct sim *sim = open_drive("");

	CHECK_EQ(write_tag(sim, 16 * MIB, 4096, 1), -EINVAL);
	CHECK_EQ(write_tag(sim, 16 * MIB - 512, 1024, 1), -EINVAL);
	CHECK_EQ(write_tag(sim, 100, 512, 1), -EINVAL);
	CHECK_EQ(write_tag(sim, 0, 0, 1), -EINVAL);
	CHECK_EQ(write_tag(sim, UINT64_MAX - 511, 512, 1), -EINVAL);
	CHECK_EQ(write_tag(sim, 16 * MIB - 512, 512, 1), 0);
	sim_free(sim);
}

static void reads_after_discard_are_what_was_configured(void)
{
	static const struct {
		const char *reads;
		uint64_t want;
		enum sim_page_truth truth;
	} cases[] = {
		{ "zeros", SIM_TAG_ZEROS, SIM_PAGE_UNMAPPED },
		{ "ones", SIM_TAG_ONES, SIM_PAGE_UNMAPPED },
		{ "old", 42, SIM_PAGE_TRIMMED_OLD },
		{ "random", SIM_TAG_RANDOM, SIM_PAGE_UNMAPPED },
	};

	for (size_t i = 0; i < 4; i++) {
		struct sim_truth truth;
		struct sim *sim;
		char more[64];

		snprintf(more, sizeof(more), ",trim_reads=%s", cases[i].reads);
		sim = open_drive(more);
		write_tag(sim, 8192, 4096, 42);
		CHECK_EQ(trim(sim, 8192, 4096), 0);
		CHECK_EQ(read_tag(sim, 8192), (int64_t)cases[i].want);
		sim_query(sim, 8192, &truth);
		CHECK_EQ(truth.page, cases[i].truth);
		sim_free(sim);
	}
}

static void old_data_vanish_when_their_block_is_cleaned(void)
{
	struct sim *sim = open_drive(",trim_reads=old");

	for (uint64_t i = 0; i < 4096; i++)
		write_tag(sim, i * 4096, 4096, 1000 + i);
	trim(sim, 0, 4096 * 64);
	CHECK_EQ(read_tag(sim, 0), 1000);
	/* The block of the first 64 pages is the emptiest: it goes when space is needed. */
	for (uint64_t i = 0; i < 4096; i++)
		write_tag(sim, (64 + i % 1024) * 4096, 4096, 9);
	CHECK_EQ(read_tag(sim, 0), 0);
	sim_free(sim);
}

static void random_bytes_differ_from_read_to_read(void)
{
	struct sim *sim = open_drive(",trim_reads=random");
	unsigned char first[512], second[512];

	submit(sim, &(struct sim_request){ .kind = SIM_READ, .length_bytes = 512,
					   .bytes_ret = first });
	submit(sim, &(struct sim_request){ .kind = SIM_READ, .length_bytes = 512,
					   .bytes_ret = second });
	CHECK(memcmp(first, second, 512) != 0);
	sim_free(sim);
}

static void discard_is_cut_inward_and_short_ranges_ignored(void)
{
	struct sim *sim = open_drive(",trim_granularity=16k,trim_min=32k,state=filled");
	struct sim_stats stats;
	uint64_t end;

	trim(sim, 4096, 65536);		/* 16k .. 64k of it */
	CHECK_EQ(sim_query_range(sim, 0, &end), SIM_PAGE_MAPPED);
	CHECK_EQ(end, 16384);
	CHECK_EQ(sim_query_range(sim, 16384, &end), SIM_PAGE_UNMAPPED);
	CHECK_EQ(end, 65536);
	trim(sim, MIB, 16384);
	CHECK_EQ(sim_query_range(sim, MIB, &end), SIM_PAGE_MAPPED);
	CHECK_EQ(end, 16 * MIB);
	sim_stats(sim, &stats);
	CHECK_EQ(stats.trims_applied, 1);
	CHECK_EQ(stats.trims_ignored, 1);
	CHECK_EQ(stats.mapped_bytes, 16 * MIB - 49152);
	sim_free(sim);
}

static void a_drive_without_discard_says_so_and_a_liar_does_not(void)
{
	struct sim *sim = open_drive(",trim=none");

	write_tag(sim, 0, 4096, 5);
	CHECK_EQ(trim(sim, 0, 4096), -EOPNOTSUPP);
	CHECK_EQ(read_tag(sim, 0), 5);
	sim_free(sim);
	sim = open_drive(",trim=ignored");
	write_tag(sim, 0, 4096, 5);
	CHECK_EQ(trim(sim, 0, 4096), 0);
	CHECK_EQ(read_tag(sim, 0), 5);
	sim_free(sim);
}

static void a_late_discard_waits_and_never_eats_a_write(void)
{
	struct sim *sim = open_drive(",trim=delayed,trim_delay=10s,idle_after=60s");
	struct sim_truth truth;
	uint64_t end;

	for (uint64_t i = 0; i < 8; i++)
		write_tag(sim, i * 4096, 4096, 10 + i);
	trim(sim, 0, 4096 * 4);
	CHECK_EQ(read_tag(sim, 0), 10);
	CHECK_EQ(sim_query_range(sim, 0, &end), SIM_PAGE_TRIM_PENDING);
	CHECK_EQ(end, 4096 * 4);
	/* The write makes the range effective first, and stays. */
	write_tag(sim, 4096, 4096, 77);
	CHECK_EQ(read_tag(sim, 4096), 77);
	CHECK_EQ(read_tag(sim, 0), 0);
	trim(sim, 4096 * 6, 8192);
	now_ns += 11 * SECOND_NS;
	sim_idle(sim, now_ns);
	CHECK_EQ(read_tag(sim, 4096 * 6), 0);
	sim_query(sim, 4096 * 6, &truth);
	CHECK_EQ(truth.page, SIM_PAGE_UNMAPPED);
	CHECK_EQ(read_tag(sim, 4096), 77);
	sim_free(sim);
}

static void a_bad_discard_damages_its_neighbours(void)
{
	struct sim *sim = open_drive(",trim=damages");

	for (uint64_t i = 0; i < 8; i++)
		write_tag(sim, i * 4096, 4096, 10 + i);
	trim(sim, 4096 * 3, 4096);
	CHECK_EQ(read_tag(sim, 4096), 11);
	CHECK_EQ(read_tag(sim, 4096 * 2), 0);
	CHECK_EQ(read_tag(sim, 4096 * 4), 0);
	CHECK_EQ(read_tag(sim, 4096 * 5), 15);
	sim_free(sim);
}

static void many_ranges_are_one_command(void)
{
	struct sim *sim = open_drive(",state=filled,trim_ranges=3");
	const struct sim_range ranges[4] = {
		{ 0, 4096 }, { 16384, 8192 }, { MIB, MIB }, { 4 * MIB, 4096 }
	};
	struct sim_request request = { .kind = SIM_TRIM, .ranges = ranges, .range_count = 3 };
	struct sim_stats stats;

	CHECK_EQ(submit(sim, &request), 0);
	sim_stats(sim, &stats);
	CHECK_EQ(stats.mapped_bytes, 16 * MIB - 4096 - 8192 - MIB);
	request.range_count = 4;
	CHECK_EQ(submit(sim, &request), -EINVAL);
	sim_free(sim);
}

/* Sixteen pages fit the buffer of 64 KiB; a program takes 200 us. */
static void a_power_cut_takes_what_is_not_on_flash(void)
{
	struct sim *sim = open_drive("");

	for (uint64_t i = 0; i < 8; i++)
		write_tag(sim, i * 4096, 4096, 10 + i);
	submit(sim, &(struct sim_request){ .kind = SIM_FLUSH });
	for (uint64_t i = 0; i < 8; i++)
		write_tag(sim, i * 4096, 4096, 20 + i);
	write_tag(sim, 65536, 4096, 99);
	/* 500 us later two of the eight are programmed. */
	CHECK_EQ(sim_power_cut(sim, now_ns + 500000), 7 * 8);
	now_ns += 500000;
	CHECK_EQ(read_tag(sim, 0), 20);
	CHECK_EQ(read_tag(sim, 4096), 21);
	CHECK_EQ(read_tag(sim, 8192), 12);
	CHECK_EQ(read_tag(sim, 4096 * 7), 17);
	CHECK_EQ(read_tag(sim, 65536), 0);
	sim_free(sim);
}

static void a_protected_drive_loses_nothing(void)
{
	struct sim *sim = open_drive(",power_loss_protected=on,merge=4");

	write_tag(sim, 0, 4096, 1);
	write_tag(sim, 8192 + 512, 512, 2);
	CHECK_EQ(sim_power_cut(sim, now_ns), 0);
	CHECK_EQ(read_tag(sim, 0), 1);
	CHECK_EQ(read_tag(sim, 8192 + 512), 2);
	CHECK_EQ(read_tag(sim, 8192), 0);
	sim_free(sim);
}

static void a_flush_that_lies_loses_flushed_data(void)
{
	struct sim *sim = open_drive(",flush_honoured=off");

	write_tag(sim, 0, 4096, 1);
	submit(sim, &(struct sim_request){ .kind = SIM_FLUSH });
	CHECK_EQ(sim_power_cut(sim, now_ns), 8);
	CHECK_EQ(read_tag(sim, 0), 0);
	sim_free(sim);
}

static void a_torn_write_keeps_its_first_half(void)
{
	struct sim *sim = open_drive(",torn_writes=on");

	write_tag(sim, 0, 32768, 1);
	submit(sim, &(struct sim_request){ .kind = SIM_FLUSH });
	write_tag(sim, 0, 32768, 2);
	CHECK_EQ(sim_power_cut(sim, now_ns), 4 * 8);
	CHECK_EQ(read_tag(sim, 0), 2);
	CHECK_EQ(read_tag(sim, 12288), 2);
	CHECK_EQ(read_tag(sim, 16384), 1);
	CHECK_EQ(read_tag(sim, 28672), 1);
	sim_free(sim);
}

static void faults_are_counted_and_seen(void)
{
	struct sim *sim = open_drive(",lost_write=10%,corrupt=10%,write_error=10%,spike=10%,"
				     "spike_time=50ms");
	uint64_t errors = 0, wrong = 0, old = 0;
	struct sim_stats stats;

	for (uint64_t i = 0; i < 4096; i++)
		errors += write_tag(sim, i * 4096, 4096, 1000 + i) == -EIO;
	for (uint64_t i = 0; i < 4096; i++) {
		const uint64_t tag = read_tag(sim, i * 4096);

		old += tag == 0;
		wrong += tag == ((1000 + i) ^ SIM_TAG_CORRUPT_BIT);
	}
	sim_stats(sim, &stats);
	CHECK_EQ(stats.errors, errors);
	CHECK_EQ(stats.corrupted, wrong);
	CHECK_EQ(stats.lost_writes, old - errors);
	/* A tenth each, of what the fault before left: within five deviations. */
	CHECK_NEAR(errors, 410, 96);
	CHECK_NEAR(stats.lost_writes, 369, 91);
	CHECK_NEAR(wrong, 332, 87);
	CHECK_NEAR(stats.spikes, 819, 136);
	sim_free(sim);
}

static void unreadable_pages_stay_so_until_rewritten(void)
{
	struct sim *sim = open_drive(",read_error=5%,state=filled");
	uint64_t bad = UINT64_MAX, count = 0;

	for (uint64_t i = 0; i < 4096; i++) {
		const struct sim_request request = { .kind = SIM_READ, .offset_bytes = i * 4096,
						     .length_bytes = 4096 };

		if (submit(sim, &request) == -EIO) {
			CHECK_EQ(submit(sim, &request), -EIO);
			bad = i;
			count++;
		}
	}
	CHECK_NEAR(count, 205, 70);
	CHECK_EQ(write_tag(sim, bad * 4096, 4096, 3), 0);
	CHECK_EQ(read_tag(sim, bad * 4096), 3);
	sim_free(sim);
}

static void purge_forgets_everything(void)
{
	struct sim *sim = open_drive(",state=filled");
	struct sim_stats stats;

	write_tag(sim, 0, 4096, 5);
	CHECK_EQ(submit(sim, &(struct sim_request){ .kind = SIM_PURGE }), 0);
	CHECK_EQ(read_tag(sim, 0), 0);
	sim_stats(sim, &stats);
	CHECK_EQ(stats.mapped_bytes, 0);
	CHECK_EQ(stats.free_bytes, stats.raw_bytes);
	CHECK_EQ(stats.erase_count_max, 1);
	sim_free(sim);
}

static void zeroes_are_written_without_the_link(void)
{
	struct sim *sim = open_drive(",link=1MB");
	const uint64_t before = now_ns;

	write_tag(sim, 0, 8192, 5);
	CHECK_EQ(now_ns - before, 8192000);
	submit(sim, &(struct sim_request){ .kind = SIM_WRITE_ZEROES, .length_bytes = 4096 });
	CHECK_EQ(now_ns - before, 8192000);
	CHECK_EQ(read_tag(sim, 0), 0);
	CHECK_EQ(read_tag(sim, 4096), 5);
	sim_free(sim);
}

static void wear_is_levelled(void)
{
	static const char *const more[] = { ",state=filled,content=off",
					    ",state=filled,content=off,wear_spread=20" };
	uint64_t spread[2];

	for (int i = 0; i < 2; i++) {
		struct sim *sim = open_drive(more[i]);
		struct sim_stats stats;

		/* All writes go to a sixteenth of the drive. */
		for (uint64_t j = 0; j < 400000; j++)
			write_tag(sim, j % 256 * 4096, 4096, 1);
		sim_stats(sim, &stats);
		spread[i] = stats.erase_count_max - stats.erase_count_min;
		sim_free(sim);
	}
	printf("# erase counts apart: %" PRIu64 ", levelled %" PRIu64 "\n", spread[0], spread[1]);
	CHECK(spread[0] > 200);
	CHECK(spread[1] < 80);
}

TESTS(TEST(bytes_come_back_as_bytes), TEST(what_was_never_written_reads_as_zeros),
      TEST(requests_outside_or_between_blocks_are_refused),
      TEST(reads_after_discard_are_what_was_configured),
      TEST(old_data_vanish_when_their_block_is_cleaned),
      TEST(random_bytes_differ_from_read_to_read),
      TEST(discard_is_cut_inward_and_short_ranges_ignored),
      TEST(a_drive_without_discard_says_so_and_a_liar_does_not),
      TEST(a_late_discard_waits_and_never_eats_a_write),
      TEST(a_bad_discard_damages_its_neighbours), TEST(many_ranges_are_one_command),
      TEST(a_power_cut_takes_what_is_not_on_flash), TEST(a_protected_drive_loses_nothing),
      TEST(a_flush_that_lies_loses_flushed_data), TEST(a_torn_write_keeps_its_first_half),
      TEST(faults_are_counted_and_seen), TEST(unreadable_pages_stay_so_until_rewritten),
      TEST(purge_forgets_everything), TEST(zeroes_are_written_without_the_link),
      TEST(wear_is_levelled))
