/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * audit - everything that could make a number a lie. Each rule looks at facts gathered
 * before, during and after a measurement and adds a finding with a stable code. The rules are
 * a table; facts are plain data, so that each rule is tested by facts that provoke it and
 * facts that do not.
 */

#include "base/err.h"
#include "model/result.h"
#include "target/target.h"

/* Gathered around one measurement; what is not known is as audit_facts_init leaves it. */
struct audit_facts {
	const struct target_info *info;
	const struct workload *workload;
	const struct measurement *measurement;
	const struct machine *machine;
	struct device_counters before, after;
	bool have_counters;
	double hole_ratio;		/* share of sampled blocks that are holes or unwritten; -1 = not sampled */
	double zero_ratio;		/* share of sampled blocks that read as zeros; -1 */
	uint64_t allocated_bytes, file_bytes;	/* st_blocks x 512 and size, after the run; 0 = no file */
	uint32_t extent_misaligned_count, extent_count;	/* FIEMAP: extents not on 4 KiB on the device */
	bool compressing, encrypting, copy_on_write, memory_backed, remote, fuse;	/* of the file system */
	char cgroup_limit[128];		/* text of an io.max / io.latency line for the device; "" */
	double ceiling_iops;		/* null target at this depth; 0 = not measured */
	double cache_bytes_guess;	/* device cache a test file should exceed; 0 = not known */
	bool throttled;			/* thermal flag or temperature at its limit */
	const char *state;		/* result.state */
};

void audit_facts_init(struct audit_facts *facts);

/* Facts of the place (file system, cgroup, samples), before and after. Best effort: never fails. */
void audit_gather_target(struct audit_facts *facts, const struct target *target);
void audit_gather_machine(struct machine *ret);

/* Runs the rules; findings about one measurement carry its name. */
void audit_measurement(struct result *result, const struct audit_facts *facts);
void audit_target(struct result *result, const struct audit_facts *facts);

/* The rules, for `tare help findings`, the manual and the test that each is provoked. */
struct audit_rule {
	const char *code;
	enum severity severity;
	const char *help;
};
extern const struct audit_rule audit_rules[];	/* code NULL ends */
