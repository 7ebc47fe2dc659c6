/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/defer.h"
#include "model/workload.h"

/* "rw=randread bs=8k": sets what the words say; the check's sentence, "" when possible. */
static const char *checked(const char *words)
{
	static char sentence[512];
	char copy[256], *rest = copy, *word;
	struct workload w;
	struct err err = { 0 };

	workload_init(&w);
	snprintf(copy, sizeof(copy), "%s", words);
	while ((word = strsep(&rest, " "))) {
		char *value = word;
		const char *name = strsep(&value, "=");

		CHECK_EQ(field_set(field_find(workload_fields, name), &w, value, &err), 0);
	}
	workload_check(&w, &err);
	snprintf(sentence, sizeof(sentence), "%s", err.text);
	return sentence;
}

static void impossible_combinations_are_named(void)
{
	static const struct {
		const char *words, *want;
	} cases[] = {
		{ "rw=randrw bs=4k iodepth=32 rate-iops=1k rate-process=poisson burst=4", "" },
		{ "rw=write bs=1000 direct=0", "" },
		{ "rw=write bs=1000", "bs=1000 is not a multiple of 512, which direct I/O needs; write a "
				      "multiple or direct=0" },
		{ "bssplit=4k/50:1000/50", "bssplit=1000 is not a multiple of 512, which direct I/O "
					   "needs; write a multiple or direct=0" },
		{ "bs=8k bssplit=4k/50:8k/50", "bs and bssplit exclude each other" },
		{ "bs=1m size=512k", "bs=1m is larger than size" },
		{ "offset=100", "offset=100 is not a multiple of 512, which direct I/O needs; write a "
				"multiple or direct=0" },
		{ "offset=50% size=60%", "offset and size together are more than 100 %" },
		{ "offset=50% size=50%", "" },
		{ "offset=100%", "offset=100% leaves nothing of the target" },
		{ "rw=read norandommap=1", "norandommap needs a random rw, not rw=read" },
		{ "rw=write random-distribution=zipf:1.2",
		  "random-distribution needs a random rw, not rw=write" },
		{ "rw=randread stride=8k", "stride needs a sequential rw, not rw=randread" },
		{ "rw=randread backwards=1", "backwards needs a sequential rw, not rw=randread" },
		{ "rw=write own-sequences=1", "own-sequences needs a sequential mix, not rw=write" },
		{ "rw=rw own-sequences=1", "" },
		{ "iodepth=4 iodepth-batch=8", "iodepth-batch=8 is more than iodepth=4" },
		{ "rw=read fsync=1", "fsync needs writes, rw=read has none" },
		{ "rw=randtrim sync=dsync", "sync needs writes, rw=randtrim has none" },
		{ "rw=write fsync=1 fdatasync=1", "fsync and fdatasync exclude each other" },
		{ "burst=4", "burst needs rate-iops" },
		{ "rate-process=poisson", "rate-process needs rate-iops" },
		{ "rate-iops=5 thinktime=1ms",
		  "thinktime and rate-iops exclude each other: a pause would break the schedule" },
		{ "thinktime-blocks=5", "thinktime-blocks needs thinktime" },
		{ "rw=write data=pattern", "data=pattern needs buffer-pattern" },
		{ "rw=write buffer-pattern=x data=zero", "buffer-pattern needs data=pattern, not data=zero" },
		{ "rw=write data=zero dedupe-percentage=5", "dedupe-percentage needs data=random, not data=zero" },
		{ "rw=trim verify=1", "verify needs reads or writes, not rw=trim" },
		{ "rw=randread do-verify=0", "do-verify=0 needs verify" },
		{ "rw=randtrimwrite rwmixtrim=10%", "rwmixtrim needs writes or a mix, not rw=randtrimwrite" },
		{ "ioengine=mmap", "ioengine=mmap goes through the page cache: it needs direct=0" },
		{ "rw=write ioengine=mmap direct=0 sync=dsync",
		  "sync has no effect on memory that is mapped; with ioengine=mmap use fsync" },
		{ "thinktime-spin=1ms", "thinktime-spin is part of thinktime, which is not given" },
		{ "thinktime=1ms thinktime-spin=2ms",
		  "thinktime-spin is part of thinktime, which is shorter" },
		{ "rw=randread verify=1 randseed=5", "" },
		{ "rw=randrw verify=1", "" },
		{ "rw=read bssplit=4k/50:8k/50 backwards=1",
		  "backwards takes one request size, not bssplit's 2" },
		{ "rw=read segments=8", "segments needs size, which it cuts into pieces" },
		{ "rw=read segments=8 size=50%", "" },
		{ "rw=read segments=8 size=1m segment-range=50% segment-seed=7", "" },
		{ "rw=read segment-range=50%",
		  "segment-range says where segments lie: name their number too" },
		{ "rw=read segment-seed=7",
		  "segment-seed says where segments lie: name their number too" },
		{ "rw=write rwmixread=70", "rwmixread needs a mix, not rw=write" },
		{ "rw=randread data=zero", "data needs writes, rw=randread has none" },
		{ "rw=randrw rwmixread=100 buffer-compress-percentage=50",
		  "buffer-compress-percentage needs writes, rw=randrw has none" },
		{ "rw=write rwmixtrim=100 fsync=1", "fsync needs writes, rw=write has none" },
		{ "rw=read rwmixtrim=5", "rwmixtrim needs writes, rw=read has none" },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		CHECK_STR(checked(cases[i].words), cases[i].want);
}

static void what_a_workload_does_follows_from_its_mix(void)
{
	static const struct {
		uint32_t rw, read_ppm, trim_ppm;
		bool reads, writes, trims, random;
	} cases[] = {
		{ RW_READ, 500000, 0, true, false, false, false },
		{ RW_WRITE, 500000, 0, false, true, false, false },
		{ RW_WRITE, 500000, 10, false, true, true, false },
		{ RW_TRIM, 500000, 0, false, true, true, false },
		{ RW_RANDREAD, 0, 0, true, false, false, true },
		{ RW_RANDTRIM, 0, 0, false, true, true, true },
		{ RW_READWRITE, 500000, 0, true, true, false, false },
		{ RW_RANDRW, 1000000, 0, true, false, false, true },
		{ RW_RANDRW, 0, 0, false, true, false, true },
		{ RW_RANDRW, 1000000, 1000000, true, false, false, true },
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct workload w;

		workload_init(&w);
		w.rw = cases[i].rw;
		w.read_ppm = cases[i].read_ppm;
		w.trim_ppm = cases[i].trim_ppm;
		CHECK_EQ(workload_reads(&w), cases[i].reads);
		CHECK_EQ(workload_writes(&w), cases[i].writes);
		CHECK_EQ(workload_trims(&w), cases[i].trims);
		CHECK_EQ(workload_is_random(&w), cases[i].random);
	}
}

static uint64_t bit(const char *name)
{
	return 1ull << (field_find(workload_fields, name) - workload_fields);
}

static void a_run_without_an_end_lasts_thirty_seconds(void)
{
	struct workload w;

	workload_init(&w);
	workload_settle(&w, bit("rw"));
	CHECK_EQ(w.runtime_ns, 30 * SECOND_NS);
	workload_init(&w);
	workload_settle(&w, bit("rw") | bit("io-size"));
	CHECK_EQ(w.runtime_ns, 0);
	workload_settle(&w, bit("runtime"));
	CHECK_EQ(w.runtime_ns, 0);
	workload_settle(&w, bit("for"));
	CHECK_EQ(w.runtime_ns, 0);
}

TESTS(TEST(impossible_combinations_are_named), TEST(what_a_workload_does_follows_from_its_mix),
      TEST(a_run_without_an_end_lasts_thirty_seconds))
