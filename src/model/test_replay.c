/* SPDX-License-Identifier: MIT */
#include "model/replay.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "base/check.h"
#include "model/plan.h"
#include "model/sorter.h"
#include "model/trace.h"

static void what_is_printed_is_taken_back(void)
{
	static const char *const texts[] = {
		"",
		"speed=2",
		"speed=0.25;skip=read,flush",
		"timing=gaps;align=4k;divide=3;beyond=wrap;overlap=separate;streams=0",
		"format=table;wait-unit=relative-us;time-unit=ns;code=read=1;block=4k;columns=time,op,-",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct text printed = TEXT_INIT;
		struct replay replay;
		struct err err = { 0 };

		CHECK_EQ(replay_parse(&replay, texts[i], &err), 0);
		replay_print(&replay, &printed);
		CHECK_STR(text_string(&printed), texts[i]);
		text_done(&printed);
	}
}

static void mistakes_are_named(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "sped=2", "no option 'sped'; did you mean 'speed'?" },
		{ "speed", "'speed' is no NAME=VALUE" },
		{ "speed=0", "speed: '0' is no speed from 0.000001 to 1000000; 2 is twice as fast" },
		{ "skip=trm", "skip: 'trm' is none of read, write, trim, flush" },
		{ "speed=2;speed=3", "speed is given twice" },
		{ "divide=0", "divide: 0 is too small; it is at least 1" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct replay replay;
		struct err err = { 0 };

		CHECK(replay_parse(&replay, cases[i].text, &err) < 0);
		CHECK_STR(err.text, cases[i].want);
	}
}

static void a_plan_keeps_its_trace(void)
{
	static const char yaml[] = "target: \"null:\"\nphases:\n  - measure:\n      rw: randrw\n"
				   "      bs: 8k\n      runtime: 0\n      trace: a b,c.gz\n"
				   "      replay: speed=2;skip=trim,flush\n";
	struct text printed = TEXT_INIT;
	struct plan plan, again;
	struct err err = { 0 };

	CHECK_EQ(plan_parse(&plan, "p", yaml, strlen(yaml), &err), 0);
	CHECK_STR(plan.phases[0].workload.trace, "a b,c.gz");
	CHECK_EQ(plan.phases[0].workload.replay.speed_ppm, 2000000);
	CHECK_EQ(plan.phases[0].workload.replay.skip, 1u << TRACE_TRIM | 1u << TRACE_FLUSH);
	plan_print(&plan, &printed);
	CHECK_EQ(plan_parse(&again, "q", text_string(&printed), printed.length, &err), 0);
	CHECK(memcmp(&again.phases[0].workload, &plan.phases[0].workload,
		     sizeof(plan.phases[0].workload)) == 0);
	plan_done(&again);
	plan_done(&plan);
	text_done(&printed);
}

/* A trace ends with itself, not after 30 s. */
static void no_runtime_is_put_upon_a_trace(void)
{
	struct workload w;

	workload_init(&w);
	workload_settle(&w, 0);
	CHECK(w.runtime_ns > 0);
	workload_init(&w);
	strcpy(w.trace, "t");
	workload_settle(&w, 0);
	CHECK_EQ(w.runtime_ns, 0);
}

struct item {
	uint32_t number, spare;
	uint64_t key;
};

/* 200001 records in five kinds of order: more than memory holds, and stable. */
static void records_are_sorted_whatever_their_order(void)
{
	const uint32_t count = 200001;

	for (uint32_t kind = 0; kind < 5; kind++) {
		const struct item *item;
		struct sorter *sorter = NULL;
		struct cursor cursor;
		struct item before = { 0 };
		uint64_t total, n = 0, wrong = 0;
		int fd = -1;

		CHECK_EQ(sorter_new(&sorter, sizeof(*item), offsetof(struct item, key), NULL), 0);
		for (uint32_t i = 0; i < count; i++) {
			const uint64_t keys[] = { i, count - i, i % 7, (i * 2654435761u) % 1000, 3 };
			const struct item in = { .number = i, .key = keys[kind] };

			CHECK_EQ(sorter_add(sorter, &in, NULL), 0);
		}
		CHECK_EQ(sorter_finish(sorter, &fd, &total, NULL), 0);
		sorter_free(sorter);
		CHECK_EQ(total, count);
		CHECK_EQ(cursor_init(&cursor, fd, sizeof(*item), total, NULL), 0);
		for (; (item = cursor_next(&cursor)); before = *item, n++)
			wrong += n > 0 && (item->key < before.key ||
					   (item->key == before.key && item->number < before.number));
		CHECK_EQ(n, count);
		CHECK_EQ(wrong, 0);
		cursor_done(&cursor);
		close(fd);
	}
}

TESTS(TEST(what_is_printed_is_taken_back),
      TEST(mistakes_are_named),
      TEST(a_plan_keeps_its_trace),
      TEST(no_runtime_is_put_upon_a_trace),
      TEST(records_are_sorted_whatever_their_order))
