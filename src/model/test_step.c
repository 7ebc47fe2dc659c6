/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/defer.h"
#include "base/random.h"
#include "base/units.h"
#include "model/plan.h"

static struct step step;
static struct err err;

static int parse(const char *word)
{
	err.text[0] = '\0';
	return step_parse(word, &step, &err);
}

static void a_word_alone_is_a_step_of_presets(void)
{
	CHECK_EQ(parse("fill"), 0);
	CHECK_EQ(step.kind, STEP_FILL);
	CHECK_EQ(step.fill.times_ppm, 1000000);
	CHECK_EQ(step.fill.block_bytes, 128 * KIB);
	CHECK_EQ(step.fill.depth_count, 32);
	CHECK_EQ(parse("purge"), 0);
	CHECK_EQ(step.purge.method, PURGE_AUTO);
	CHECK_EQ(parse("settle"), 0);
	CHECK_EQ(step.settle.rw, RW_RANDWRITE);
	CHECK_EQ(step.settle.round_ns, 60 * SECOND_NS);
	CHECK_EQ(step.settle.round_count_max, 25);
}

static void a_value_alone_is_the_main_field(void)
{
	CHECK_EQ(parse("fill=1.5"), 0);
	CHECK_EQ(step.fill.times_ppm, 1500000);
	CHECK_EQ(parse("idle=90s"), 0);
	CHECK_EQ(step.rest.time_ns, 90 * SECOND_NS);
	CHECK_EQ(parse("dirty=techgage"), 0);
	CHECK_EQ(step.dirty.preset, DIRTY_TECHGAGE);
	CHECK_EQ(parse("purge=nvme-sanitize"), 0);
	CHECK_EQ(step.purge.method, PURGE_NVME_SANITIZE_BLOCK);
}

static void fields_are_set_by_name(void)
{
	CHECK_EQ(parse("dirty:by=random,amount=50%,bssplit=4k/60:64k/40,offset=1g,qd=4"), 0);
	CHECK_EQ(step.dirty.by, DIRTY_RANDOM);
	CHECK_EQ(step.dirty.amount.ppm, 500000);
	CHECK_EQ(step.dirty.size_mix.count, 2);
	CHECK_EQ(step.dirty.offset.bytes, GIB);
	CHECK_EQ(step.dirty.depth_count, 4);
	CHECK_EQ(parse("idle:until-recovered,limit=5m"), 0);
	CHECK(step.rest.until_recovered);
	CHECK_EQ(step.rest.limit_ns, 300 * SECOND_NS);
}

static void what_is_wrong_is_one_sentence(void)
{
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "fil", "no step 'fil'; did you mean 'fill'?" },
		{ "xyzzyxyzzy",
		  "no step 'xyzzyxyzzy'; there are purge, fill, dirty, delete, trim, settle, idle" },
		{ "fill:time=2", "fill: no field 'time'; did you mean 'times'?" },
		{ "fill=x", "fill: times: 'x' is no number such as 2 or 1.5" },
		{ "fill=-1", "fill: times: '-1' is no number such as 2 or 1.5" },
		{ "fill=0", "fill: times: 0 is not from 0.000001 to 1000" },
		{ "fill:bs", "fill: 'bs' needs a value, as in bs=..." },
		{ "fill:bs=4k,bs=8k", "fill: 'bs' is given twice" },
		{ "trim=4k", "trim takes no value alone; write trim:key=value" },
		{ "trim:bs=64k,every=4k", "trim: 'every' is less than 'bs'" },
		{ "idle", "idle: for how long? a time, as in idle=5s, or until-recovered" },
		{ "dirty:by=random,preset=mail", "dirty: 'preset' is for files, not by=random" },
		{ "dirty:from=/x,files=3",
		  "dirty: 'from' says which files; preset, files and amount say others" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CHECK(parse(cases[i].word) < 0);
		CHECK_STR(err.text, cases[i].want);
	}
}

static void what_is_printed_is_taken_back(void)
{
	static const char *const words[] = {
		"purge", "purge:method=zero", "fill:times=2.5,order=random,offset=10%,size=4g,bs=4k,seed=7",
		"dirty:preset=techgage,rounds=3,delete=50%", "delete", "trim:bs=64k,every=128k",
		"dirty:by=random,bssplit=4k/60:64k/40", "settle:rule=level,round=10s,rounds=40",
		"idle:time=30s,until-recovered=1",
	};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		struct text text = TEXT_INIT;

		CHECK_EQ(parse(words[i]), 0);
		step_print(&step, &text);
		CHECK_EQ(parse(text_string(&text)), 0);
		text_done(&text);
	}
	CHECK_EQ(parse(words[2]), 0);
	struct text text = TEXT_INIT;
	step_print(&step, &text);
	CHECK_STR(text_string(&text), words[2]);
	text_done(&text);
}

static void only_probes_and_writers_write(void)
{
	static const struct {
		const char *word;
		bool want;
	} cases[] = {
		{ "idle=5s", false }, { "idle:until-recovered", true }, { "settle:rw=randread", false },
		{ "settle", true },   { "trim", true },			{ "purge", true },
		{ "delete", true },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CHECK_EQ(parse(cases[i].word), 0);
		CHECK_EQ(step_writes(&step), cases[i].want);
	}
}

/* Words of known pieces put together at random: never a crash, and what is taken comes back. */
static void garbage_is_refused_or_taken_whole(void)
{
	static const char *const pieces[] = { "fill", "dirty", "idle", ":", "=", ",", "bs", "by", "files",
					      "4k", "1.5", "%", "seed", "-", "0", "99999999999999999999",
					      "\xff", "bssplit", "/", "trim", "every", "", " " };
	struct random random;

	random_init(&random, 4);
	for (int i = 0; i < 100000; i++) {
		char word[256] = "";
		struct step again;
		struct text text = TEXT_INIT;
		const uint64_t count = 1 + random_below(&random, 10);

		for (uint64_t k = 0; k < count; k++)
			strcat(word, pieces[random_below(&random, ARRAY_COUNT(pieces))]);
		if (parse(word) < 0) {
			CHECK(err.text[0] != '\0');
			continue;
		}
		step_print(&step, &text);
		CHECK_EQ(step_parse(text_string(&text), &again, &err), 0);
		CHECK(memcmp(&step, &again, sizeof(step)) == 0);
		text_done(&text);
	}
}

TESTS(TEST(a_word_alone_is_a_step_of_presets),
      TEST(a_value_alone_is_the_main_field),
      TEST(fields_are_set_by_name),
      TEST(what_is_wrong_is_one_sentence),
      TEST(what_is_printed_is_taken_back),
      TEST(only_probes_and_writers_write),
      TEST(garbage_is_refused_or_taken_whole))
