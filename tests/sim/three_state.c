/* SPDX-License-Identifier: MIT */

/* three-state on drives whose TRIM, cleaning and cache are known. */

#include "scenario.h"

#define ON(drive, want)                                                                            \
	{                                                                                          \
		"three-state", "sim:" drive, want, 0, 0                                            \
	}

/* A drive that does nothing on its own: what comes back comes by trim. */
#define PLAIN "page-greedy,capacity=256m,op=7%,pages_per_block=64,channels=4,dies=2,content=off"

static void trim_honoured(void)
{
	static const struct scenario scenarios[] = {
		ON(PLAIN, "trim-effective"),
		ON(PLAIN ",seed=2,page=8k,mapping_unit=8k,pages_per_block=32,erase_time=750us",
		   "trim-effective"),
		ON(PLAIN ",seed=3,page=16k,mapping_unit=16k,pages_per_block=16,erase_time=375us",
		   "trim-effective"),
		ON(PLAIN ",seed=4,gc=fifo", "trim-effective"),
		ON(PLAIN ",seed=5,page=16k,pages_per_block=16,erase_time=375us", "trim-effective"),
		ON(PLAIN ",seed=6,op=12%,program_spread=30%", "trim-effective"),
		ON(PLAIN ",seed=7,buffer=1m", "trim-effective"),
		ON(PLAIN ",seed=8,gc=d-choices", "trim-effective"),
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

static void trim_ignored(void)
{
	static const struct scenario scenarios[] = {
		ON(PLAIN ",trim=ignored", "trim-none"),
		ON(PLAIN ",trim=ignored,seed=2,page=8k,mapping_unit=8k,pages_per_block=32,erase_"
			 "time=750us",
		   "trim-none"),
		ON(PLAIN ",trim=ignored,seed=3,page=16k,mapping_unit=16k,pages_per_block=16,erase_"
			 "time=375us",
		   "trim-none"),
		ON(PLAIN ",trim=ignored,seed=4,gc=fifo", "trim-none"),
		ON(PLAIN ",trim=ignored,seed=5,page=16k,pages_per_block=16,erase_time=375us",
		   "trim-none"),
		ON(PLAIN ",trim=ignored,seed=6,op=12%,program_spread=30%", "trim-none"),
		ON(PLAIN ",trim=none,seed=7", "trim-none"),
		ON(PLAIN ",trim=none,seed=8,gc=d-choices", "trim-none"),
		ON("x25m-g1,capacity=256m,content=off", "trim-none"),
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

static void trim_honoured_in_part(void)
{
	static const struct scenario scenarios[] = {
		ON(PLAIN ",trim_drop=60%", "trim-partial"),
		ON(PLAIN ",trim_drop=70%,seed=2", "trim-partial"),
		ON(PLAIN ",trim_drop=60%,seed=3,page=8k,mapping_unit=8k,pages_per_block=32,erase_"
			 "time=750us",
		   "trim-partial"),
		ON(PLAIN ",trim_drop=80%,seed=4", "trim-partial"),
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

static void trim_delayed(void)
{
	static const struct scenario scenarios[] = {
		ON(PLAIN ",trim=delayed,trim_delay=30s", "trim-effective"),
		ON(PLAIN ",trim=delayed,trim_delay=50s,seed=2", "trim-effective"),
		ON(PLAIN ",trim=delayed,trim_delay=30s,seed=3,page=16k,mapping_unit=16k,pages_per_"
			 "block=16,erase_time=375us",
		   "trim-effective"),
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

static void idle_time_recovers(void)
{
	static const struct scenario scenarios[] = {
		ON("m80,capacity=256m,content=off", "idle-recovers"),
		ON("m80,capacity=256m,content=off,seed=2,trim=ignored", "idle-recovers"),
		ON(PLAIN ",gc_idle=90%,idle_after=1s,seed=3", "idle-recovers"),
		ON(PLAIN ",gc_idle=90%,idle_after=1s,seed=4,trim=none", "idle-recovers"),
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

static void nothing_is_lost(void)
{
	static const struct scenario scenarios[] = {
		/* The link is slower than the flash at its worst. */
		ON(PLAIN ",link=10MB,program_time=20us,erase_time=50us", "nothing-to-recover"),
		ON(PLAIN ",link=10MB,program_time=20us,erase_time=50us,trim=none,seed=2",
		   "nothing-to-recover"),
	};

	scenarios_hold(scenarios, ARRAY_COUNT(scenarios));
}

TESTS(TEST(trim_honoured), TEST(trim_ignored), TEST(trim_honoured_in_part), TEST(trim_delayed),
      TEST(idle_time_recovers), TEST(nothing_is_lost))
