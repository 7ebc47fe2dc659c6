/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "serve/live.h"

static struct live *open_drive(const char *spec)
{
	struct live *live = NULL;
	struct err err = { 0 };

	CHECK_EQ(live_open(&live, spec, &err), 0);
	return live;
}

static struct live_answer write_at(struct live *live, uint64_t offset, uint64_t length,
				   const void *bytes)
{
	struct live_answer answer;

	live_submit(live, &(struct sim_request){ .kind = SIM_WRITE, .offset_bytes = offset,
						 .length_bytes = length, .bytes = bytes }, &answer);
	return answer;
}

static struct live_answer read_at(struct live *live, uint64_t offset, uint64_t length, void *ret)
{
	struct live_answer answer;

	live_submit(live, &(struct sim_request){ .kind = SIM_READ, .offset_bytes = offset,
						 .length_bytes = length, .bytes_ret = ret }, &answer);
	return answer;
}

static void any_bytes_can_be_written_and_read(void)
{
	struct live *live = open_drive("page-greedy,capacity=16m");
	unsigned char want[8192], got[8192];

	memset(want, 0xaa, sizeof(want));
	CHECK_EQ(write_at(live, 0, sizeof(want), want).error, 0);
	/* Within one block; across blocks; an end on a block; single bytes at the edges. */
	static const uint64_t ranges[][2] = {
		{ 100, 50 }, { 500, 1000 }, { 1900, 148 }, { 511, 1 }, { 512, 1 }, { 4095, 2 },
	};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		memset(want + ranges[i][0], (int)i + 1, ranges[i][1]);
		CHECK_EQ(write_at(live, ranges[i][0], ranges[i][1], want + ranges[i][0]).error, 0);
	}
	CHECK_EQ(read_at(live, 0, sizeof(got), got).error, 0);
	CHECK(memcmp(want, got, sizeof(want)) == 0);
	CHECK_EQ(read_at(live, 77, 3001, got).error, 0);
	CHECK(memcmp(want + 77, got, 3001) == 0);
	live_close(live);
}

static void an_answer_is_due_when_the_drive_is_done(void)
{
	struct live *live = open_drive("page-greedy,capacity=16m,buffer=0,program_time=10s");
	const uint64_t before_ns = clock_gettime_ns();
	static const unsigned char bytes[4096];
	struct live_answer answer = write_at(live, 0, sizeof(bytes), bytes);
	const uint64_t after_ns = clock_gettime_ns();

	CHECK(answer.due_ns >= before_ns + 10 * SECOND_NS);
	CHECK(answer.due_ns <= after_ns + 10 * SECOND_NS);
	live_deduct(live, 3 * SECOND_NS);
	answer = write_at(live, 4096, sizeof(bytes), bytes);	/* behind the first: 20 s */
	CHECK(answer.due_ns >= before_ns + 17 * SECOND_NS);
	CHECK(answer.due_ns <= after_ns + 17 * SECOND_NS);
	live_close(live);
}

static void errors_of_the_drive_come_through(void)
{
	struct live *live = open_drive("page-greedy,capacity=16m,trim=none");
	struct live_answer answer;
	unsigned char byte;

	live_submit(live, &(struct sim_request){ .kind = SIM_TRIM, .length_bytes = 4096 }, &answer);
	CHECK_EQ(answer.error, -EOPNOTSUPP);
	CHECK_EQ(read_at(live, 16 * MIB, 1, &byte).error, -EINVAL);
	CHECK_EQ(write_at(live, 16 * MIB, 1, &byte).error, -EINVAL);
	live_close(live);
}

static void a_drive_without_content_is_not_served(void)
{
	struct live *live = NULL;
	struct err err = { 0 };

	CHECK_EQ(live_open(&live, "page-greedy,content=off", &err), -EINVAL);
	CHECK(strstr(err.text, "content"));
	CHECK(!live);
}

static json_t *parse(struct text *text)
{
	json_t *json = json_loads(text_string(text), 0, NULL);

	CHECK(json);
	text_done(text);
	return json;
}

static json_int_t number(json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);

	CHECK(json_is_integer(value));
	return json_integer_value(value);
}

static void the_counters_are_json(void)
{
	struct live *live = open_drive("page-greedy,capacity=16m");
	static const unsigned char bytes[16384];
	struct text text = TEXT_INIT;
	json_t *stat;

	write_at(live, 0, sizeof(bytes), bytes);
	live_stat_text(live, NULL, &text);
	stat = parse(&text);
	CHECK_EQ(number(stat, "capacity_bytes"), 16 * MIB);
	CHECK_EQ(number(stat, "host_written_bytes"), 16384);
	CHECK_EQ(number(stat, "mapped_bytes"), 16384);
	CHECK_STR(json_string_value(json_object_get(stat, "spec")), "page-greedy,capacity=16m");
	CHECK(!json_object_get(stat, "late_ns_max"));
	json_decref(stat);
	live_close(live);
}

/* Every other 4 KiB of 32 MiB is mapped: 8192 ranges, more than one text holds. */
static void a_long_map_comes_in_parts_that_join(void)
{
	struct live *live = open_drive("page-greedy,capacity=32m,buffer=32m");
	static const unsigned char bytes[4096];
	json_int_t next = 0, expected = 0;
	size_t parts = 0;

	for (uint64_t offset = 0; offset < 32 * MIB; offset += 8192)
		write_at(live, offset, sizeof(bytes), bytes);
	do {
		struct text text = TEXT_INIT;
		json_t *map, *range;
		size_t i;

		live_map_text(live, (uint64_t)next, UINT64_MAX, &text);
		CHECK(text.length < 65536);
		map = parse(&text);
		CHECK_EQ(number(map, "last"), 65535);
		json_array_foreach(json_object_get(map, "ranges"), i, range) {
			const bool mapped = expected / 8 % 2 == 0;

			CHECK_EQ(number(range, "first"), expected);
			CHECK_EQ(number(range, "last"), expected + 7);
			CHECK_STR(json_string_value(json_object_get(range, "state")),
				  mapped ? "mapped" : "unmapped");
			expected += 8;
		}
		next = json_integer_value(json_object_get(map, "next"));
		CHECK(next == 0 || next == expected);
		json_decref(map);
		parts++;
	} while (next);
	CHECK_EQ(expected, 65536);
	CHECK(parts > 1);
	live_close(live);
}

static void the_log_keeps_the_latest_operations(void)
{
	struct live *live = open_drive("page-greedy,capacity=16m");
	unsigned char bytes[512];
	struct text text = TEXT_INIT;
	uint64_t first = 0, offset = 0, length = 0;
	struct live_answer answer;
	char kind[16];

	for (int i = 0; i < 9000; i++)
		answer = read_at(live, 1024, 512, bytes);
	CHECK_EQ(answer.number, 9000);
	live_log_text(live, 0, &text);
	CHECK_EQ(sscanf(text_string(&text), "%" SCNu64 " %15s %" SCNu64 " %" SCNu64, &first, kind,
			&offset, &length), 4);
	CHECK_EQ(first, 9000 - 8192 + 1);
	CHECK_STR(kind, "read");
	CHECK_EQ(offset, 1024);
	CHECK_EQ(length, 512);
	CHECK(text.length < 65536);
	text_done(&text);
	live_log_text(live, 9000, &text);
	CHECK(strncmp(text_string(&text), "9000 read ", 10) == 0);
	text_done(&text);
	live_log_text(live, 9001, &text);
	CHECK_EQ(text.length, 0);
	text_done(&text);
	live_close(live);
}

TESTS(
	TEST(any_bytes_can_be_written_and_read),
	TEST(an_answer_is_due_when_the_drive_is_done),
	TEST(errors_of_the_drive_come_through),
	TEST(a_drive_without_content_is_not_served),
	TEST(the_counters_are_json),
	TEST(a_long_map_comes_in_parts_that_join),
	TEST(the_log_keeps_the_latest_operations),
)
