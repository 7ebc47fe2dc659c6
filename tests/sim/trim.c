/* SPDX-License-Identifier: MIT */

/*
 * The probe of `tare trim` on reference drives with every behaviour a discard can have: what is
 * seen, what is concluded, and that no drive is called dangerous that is not.
 */

#include <errno.h>

#include "base/check.h"

#include "base/clock.h"
#include "base/defer.h"
#include "base/random.h"
#include "base/units.h"
#include "trim/judge.h"
#include "trim/probe.h"
#include "trim/walk.h"

#define DRIVE "sim:page-greedy,capacity=256m,pages_per_block=32,channels=4,dies=2,"

static struct trim_report report;
static const uint64_t sizes[] = { 4 * KIB, 64 * KIB, MIB, 4 * MIB };

static int probe(const char *drive, uint32_t size_count)
{
	struct trim_probe_options options = { .sizes = sizes, .size_count = size_count, .seed = 7 };
	struct err err = { 0 };
	struct clock clock;
	uint64_t now_ns = 0;
	int r;

	clock_init_virtual(&clock, &now_ns);
	options.clock = &clock;
	r = trim_walk("", drive, &report, &err);
	if (r == 0)
		r = trim_probe(&report, &options, &err);
	if (r < 0)
		printf("# %s: %s\n", drive, err.text);
	else
		trim_judge(&report);
	return r;
}

/* The last of that code. */
static const struct trim_evidence *find(const char *code)
{
	static const struct trim_evidence none;
	const struct trim_evidence *found = &none;

	for (uint32_t i = 0; i < report.evidence_count; i++)
		if (strcmp(report.evidence[i].code, code) == 0)
			found = &report.evidence[i];
	return found;
}

static uint32_t gone_of(uint64_t bytes)
{
	for (uint32_t i = 0; i < report.size_count; i++)
		if (report.sizes[i].bytes == bytes)
			return report.sizes[i].gone_count;
	return UINT32_MAX;
}

/* 6 of 4 KiB, 6 of 64 KiB, 3 of 1 MiB, 3 of 4 MiB. */
#define FREED (6 * 4 * KIB + 6 * 64 * KIB + 3 * MIB + 3 * 4 * MIB)

static void every_behaviour_is_seen_as_it_is(void)
{
	static const struct {
		const char *settings;
		enum trim_content content;
		uint64_t gone_bytes;
		const char *verdict;
	} cases[] = {
		{ "trim_reads=zeros,trim_reported=zeros", CONTENT_ZEROS, FREED, "works" },
		{ "trim_reads=ones,trim_reported=drat", CONTENT_ONES, FREED, "works" },
		{ "trim_reads=random,trim_reported=none", CONTENT_OTHER, 0, "cannot-tell" },
		{ "trim_reads=old,trim_reported=none", CONTENT_OLD, 0, "sent-unproven" },
		{ "trim=ignored,trim_reported=zeros", CONTENT_OLD, 0, "ignored" },
		{ "trim=ignored,trim_reported=none", CONTENT_OLD, 0, "sent-unproven" },
		{ "trim=delayed,trim_delay=3s,trim_reported=zeros", CONTENT_ZEROS, FREED, "works" },
		{ "trim_granularity=512,trim_min=1m,trim_reported=none", CONTENT_ZEROS,
		  3 * MIB + 3 * 4 * MIB, "partial" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char drive[256];

		snprintf(drive, sizeof(drive), DRIVE "%s", cases[i].settings);
		CHECK_EQ(probe(drive, 4), 0);
		printf("# %-16s %s\n#\t%s\n", report.verdict.code, cases[i].settings,
		       report.verdict.text);
		CHECK_EQ(report.asked_bytes, FREED);
		CHECK_EQ(report.layers[0].delivered_bytes, FREED);
		CHECK_EQ(find("read-back")->content, cases[i].content);
		CHECK_EQ(find("read-back")->bytes, cases[i].gone_bytes);
		CHECK(find("guards")->ok && !report.guards_changed);
		CHECK_STR(report.verdict.code, cases[i].verdict);
	}
}

static void a_late_discard_is_waited_for(void)
{
	CHECK_EQ(probe(DRIVE "trim=delayed,trim_delay=3s,trim_reported=zeros", 4), 0);
	CHECK(find("read-back")->after_ns >= 3 * SECOND_NS);
	CHECK(find("read-back")->after_ns < 6 * SECOND_NS);
	CHECK_EQ(report.evidence_count > 0 && find("read-back")->ok, true);
}

static void the_smallest_size_with_an_effect_is_found(void)
{
	CHECK_EQ(probe(DRIVE "trim_granularity=512,trim_min=1m,trim_reported=none", 4), 0);
	CHECK_EQ(gone_of(4 * KIB), 0);
	CHECK_EQ(gone_of(64 * KIB), 0);
	CHECK_EQ(gone_of(MIB), 3);
	CHECK_EQ(gone_of(4 * MIB), 3);
}

static void a_drive_without_discard_is_told_so(void)
{
	CHECK_EQ(probe(DRIVE "trim=none", 4), 0);
	CHECK_EQ(find("discard")->error, -EOPNOTSUPP);
	CHECK_EQ(report.layers[0].capable, TRIM_NO);
	CHECK(find("guards")->ok);
	CHECK_STR(report.verdict.code, "blocked");
}

static void a_damaged_neighbour_is_dangerous(void)
{
	CHECK_EQ(probe(DRIVE "trim=damages,trim_reported=zeros", 4), 0);
	CHECK(report.guards_changed);
	CHECK(!find("guards")->ok);
	printf("# %s\n", report.guards_text);
	CHECK(strstr(report.guards_text, "holds zeros") != NULL);
	CHECK_STR(report.verdict.code, "dangerous");
	CHECK_EQ(trim_exit_code(&report, false), 7);
}

/* Guards that never came back say nothing of the discard. */
static void a_drive_that_keeps_nothing_is_not_dangerous(void)
{
	CHECK_EQ(probe(DRIVE "content=off", 4), 0);
	CHECK(!report.guards_changed);
	CHECK(!find("guards-written")->ok);
	CHECK_STR(report.verdict.code, "cannot-tell");
	CHECK_STR(report.verdict.reason, "NOT_KEPT");
}

/*
 * Drives of all kinds and seeds: of every five one damages its neighbours, and only those are
 * told. One that lets old data be read until it is cleaned away shows no damage before that, and
 * is none of them.
 */
static void no_other_drive_is_called_dangerous(void)
{
	static const char *const harmless[] = {
		"trim_reads=zeros,trim_reported=zeros",
		"trim_reads=ones,trim_reported=drat",
		"trim_reads=random,trim_reported=none",
		"trim_reads=old,trim_reported=none",
		"trim=ignored",
		"trim=none",
		"trim=delayed,trim_delay=2s",
		"trim=delayed,trim_delay=1h",
		"trim_min=64k",
		"trim_min=1m",
		"trim_drop=30%",
		"mapping_unit=32k,page=32k,trim_granularity=32k,trim_reads=old",
		"mapping_unit=16k,page=16k,trim_granularity=512",
		"trim_granularity=16m",
		"buffer=1m,merge=8",
		"state=filled",
		"read_error=0.1%",
		"spike=10%,spike_time=2s",
	};
	static const char *const harmful[] = {
		"trim=damages",
		"trim=damages,trim_reads=random",
		"trim=damages,trim_reads=ones",
		"trim=damages,mapping_unit=16k,page=16k",
		"trim=damages,trim_granularity=512,buffer=1m",
	};
	uint32_t drives = 0, false_alarms = 0, damaging = 0, missed = 0;
	struct random random;

	random_init(&random, 2026);
	for (uint32_t i = 0; i < 250; i++) {
		const bool harms = i % 5 == 4;
		const char *settings =
			harms ? harmful[random_below(&random, ARRAY_COUNT(harmful))]
			      : harmless[random_below(&random, ARRAY_COUNT(harmless))];
		char drive[300];

		snprintf(drive, sizeof(drive),
			 "sim:page-greedy,capacity=64m,pages_per_block=32,"
			 "channels=2,dies=2,seed=%u,%s",
			 i + 1, settings);
		CHECK_EQ(probe(drive, 3), 0);
		drives++;
		damaging += harms;
		if (report.guards_changed != harms) {
			printf("# %s: %s\n", drive, report.guards_text);
			false_alarms += !harms;
			missed += harms;
		}
		CHECK_EQ(strcmp(report.verdict.code, "dangerous") == 0, report.guards_changed);
	}
	printf("# %u drives, %u damage neighbours: %u false alarms, %u missed\n", drives, damaging,
	       false_alarms, missed);
	CHECK_EQ(false_alarms, 0);
	CHECK_EQ(missed, 0);
}

TESTS(TEST(every_behaviour_is_seen_as_it_is), TEST(a_late_discard_is_waited_for),
      TEST(the_smallest_size_with_an_effect_is_found), TEST(a_drive_without_discard_is_told_so),
      TEST(a_damaged_neighbour_is_dangerous), TEST(a_drive_that_keeps_nothing_is_not_dangerous), TEST(no_other_drive_is_called_dangerous))
