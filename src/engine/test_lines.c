/* SPDX-License-Identifier: MIT */
#include "engine/lines.h"

#include "base/check.h"
#include "base/units.h"

#define DRAWS 100000

static struct workload workload;
static struct lines lines;

static const struct engine_range range = {
	.offset_bytes = 3 * 512,
	.size_bytes = 64 * MIB,
	.align_bytes = 4096,
};

static void begin(const char *text)
{
	struct err err = { 0 };

	workload_init(&workload);
	CHECK_EQ(field_set(field_find(workload_fields, "access-lines"), &workload, text, &err), 0);
	lines_init(&lines, &workload, &range, 1);
}

/* Shares of lines and of reads within 4 sigma; alignment of random starts exact. */
static void lines_have_their_shares(void)
{
	uint64_t small = 0, reads_of_small = 0, jumps = 0, before = 0;

	begin("4k/70/60/100/0/1/8k/0:64k/30/100/0/0/1/0/0");
	for (int i = 0; i < DRAWS; i++) {
		struct lines_request request;

		lines_next(&lines, &request);
		CHECK(request.offset_bytes >= range.offset_bytes);
		CHECK(request.offset_bytes + request.length_bytes <=
		      range.offset_bytes + range.size_bytes);
		if (request.length_bytes == 4096) {
			small++;
			reads_of_small += request.kind == IO_READ;
			CHECK_EQ(request.offset_bytes % 8192, 0);
		} else {
			CHECK_EQ(request.length_bytes, 65536);
			CHECK(request.kind == IO_READ);
			/* Goes on where the last one ended, or at the first page of the range. */
			jumps += before && request.offset_bytes != before;
			CHECK(request.offset_bytes == before || request.offset_bytes == 4096 || !before);
		}
		before = request.offset_bytes + request.length_bytes;
	}
	CHECK_NEAR(small, 0.7 * DRAWS, 4 * 145);
	CHECK_NEAR(reads_of_small, 0.6 * (double)small, 4 * 130);
	CHECK(jumps < DRAWS / 1000);
}

static void a_burst_keeps_its_line_and_waits_before(void)
{
	uint64_t delays = 0;

	begin("4k/50/100/100/5ms/4:8k/50/0/100/0/10");
	for (int i = 0; i < 10000; i++) {
		const bool is_first = lines.burst_left == 0;
		const uint32_t current = lines.current;
		struct lines_request request;

		lines_next(&lines, &request);
		CHECK(is_first || lines.current == current);
		CHECK_EQ(request.delay_ns, is_first && lines.current == 0 ? 5000000 : 0);
		delays += request.delay_ns > 0;
	}
	/* Half of the bursts are of 4, half of 10: one in 14 requests begins one that waits. */
	CHECK_NEAR(delays, 10000.0 / 14, 100);
}

static void a_reply_goes_the_other_way(void)
{
	struct lines_request request, reply;

	begin("4k/100/100/0/0/1/0/512");
	lines_next(&lines, &request);
	lines_reply(&lines, request.line, request.kind, &reply);
	CHECK_EQ(request.kind, IO_READ);
	CHECK_EQ(reply.kind, IO_WRITE);
	CHECK_EQ(reply.length_bytes, 512);
	CHECK_EQ(reply.offset_bytes, request.offset_bytes + 4096);
}

static void what_is_no_line_is_said(void)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "4k/90/60/100", "the weights sum to 90, not to 100" },
		{ "4k/100/60", "a line is SIZE/WEIGHT/READ/RANDOM at least" },
		{ "4k/100/160/0", "reads 160 is not from 0 to 100" },
		{ "0/100/60/0", "size 0 is not from 1 to" },
		{ "4k/100/60/0/0/1/0/0/0", "a line has at most 8 numbers" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };

		workload_init(&workload);
		CHECK(field_set(field_find(workload_fields, "access-lines"), &workload,
				cases[i].text, &err) < 0);
		CHECK(strstr(err.text, cases[i].words) != NULL);
	}
}

TESTS(TEST(lines_have_their_shares), TEST(a_burst_keeps_its_line_and_waits_before),
      TEST(a_reply_goes_the_other_way), TEST(what_is_no_line_is_said))
