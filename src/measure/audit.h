/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * audit - everything that could make a number a lie. Each rule looks at facts gathered
 * before, during and after a measurement and adds a finding with a stable code. The rules are
 * a table; facts are plain data, so that each rule is tested by facts that provoke it and
 * facts that do not.
 *
 * A rule speaks of one measurement (its I/O, its CPU, its counters), of a target as a whole
 * (file system, stack) or of the run (machine, state): the latter are said once, however many
 * measurements.
 */

#include "base/err.h"
#include "model/result.h"
#include "target/target.h"

/* What the file system and what lies under it do to the data on its way. */
struct audit_place {
	bool compressing, encrypting, copy_on_write, memory_backed, remote, fuse;
	/* How it is known: "zstd:3 (mount option)", "dm-crypt, home". */
	char compression[48], encryption[48];
	char memory[32];			/* "tmpfs", "zram" */
	char cgroup_limit[192];		/* "io.max rbps=1048576 of /user.slice"; "" = no limit */
	uint64_t cache_bytes_guess;	/* a cache the tested range should exceed; 0 = none known */
	char cache_name[48];		/* whose it is: "the drive's own memory" */
	bool loop_buffered;		/* a loop device that reads its file through the page cache */
};

/* What was found by looking at the data before it is read. */
struct audit_samples {
	double hole_ratio;	/* share of the range in holes, unwritten extents; -1 = not known */
	double zero_ratio;	/* share of sampled blocks that are all zeros; -1 = not sampled */
	uint32_t zero_sample_count;
	uint32_t extent_count, extent_misaligned_count;	/* starts on the device off 4 KiB */
	bool shared_extents;		/* reflinked: a write there copies first */
	bool compressed_extents;	/* stored compressed */
	uint64_t allocated_bytes, file_bytes;	/* st_blocks x 512 and size; 0 = no file */
};

/* Gathered around one measurement; what is not known is as audit_facts_init leaves it. */
struct audit_facts {
	const struct target_info *info;
	const struct machine *machine;
	const struct result *result;		/* the measurements so far, state */
	const struct measurement *measurement;	/* NULL for rules about the target */
	const char *subject;		/* which target, where there are several; else NULL */
	bool run_told;			/* the rules about the run have spoken, for another target */
	struct audit_place place;
	struct audit_samples samples;

	struct device_counters before, after;	/* of the device, all users */
	bool have_counters;
	/* What this process asked of the block layer, ramp included. */
	uint64_t own_read_bytes, own_write_bytes;
	bool have_own;
	/* What others of its group moved on the same device, past the page cache. */
	uint64_t peer_read_bytes, peer_write_bytes;
	bool direct_refused;		/* O_DIRECT was asked for and not to be had */
	double ceiling_iops;		/* same workload on the null target; 0 = not measured */
	double temperature_limit_c;	/* where the drive slows itself down; NaN = not known */
	uint64_t cpu_throttle_count;	/* thermal throttling events of the CPUs meanwhile */
};

void audit_facts_init(struct audit_facts *facts);

/* Runs the rules about the measurement: findings carry its name. */
void audit_measurement(struct result *result, struct audit_facts *facts);
/* Runs the rules about a target, over all measurements of it there are, and those about the run. */
void audit_target(struct result *result, struct audit_facts *facts);

enum audit_scope { AUDIT_MEASUREMENT, AUDIT_TARGET, AUDIT_RUN };

/*
 * The rules, for `tare help findings`, the manual and the test that each is provoked. look
 * returns whether there is something to say, with text and remedy set and, where the case
 * is graver or lesser than usual, severity.
 */
struct audit_rule {
	const char *code;
	enum severity severity;		/* as a rule */
	enum audit_scope scope;
	const char *help;		/* one line, no full stop */
	bool (*look)(const struct audit_facts *facts, struct finding *ret);
};
extern const struct audit_rule audit_rules[];	/* code NULL ends */
