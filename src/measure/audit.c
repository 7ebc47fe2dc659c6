/* SPDX-License-Identifier: MIT */
#include "measure/audit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "measure/rules.h"

void audit_facts_init(struct audit_facts *facts)
{
	*facts = (struct audit_facts){
		.samples = { .hole_ratio = -1, .zero_ratio = -1 },
		.temperature_limit_c = NAN,
	};
}

void say(struct finding *ret, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(ret->text, sizeof(ret->text), fmt, args);
	va_end(args);
}

void advise(struct finding *ret, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(ret->remedy, sizeof(ret->remedy), fmt, args);
	va_end(args);
}

double job_bytes(const struct measurement *m, enum op_kind kind)
{
	const double measured_ns = (double)m->duration_ns;
	const double bytes = (double)m->ops[kind].bytes;

	if (m->duration_ns == 0)
		return bytes;
	return bytes * (measured_ns + (double)m->workload.ramp_ns) / measured_ns;
}

/* The kernel's counters can be set back by a device that went and came. */
static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

uint64_t device_read_bytes(const struct audit_facts *facts)
{
	return grown(facts->before.read_bytes, facts->after.read_bytes);
}

uint64_t device_write_bytes(const struct audit_facts *facts)
{
	return grown(facts->before.write_bytes, facts->after.write_bytes);
}

bool any_workload(const struct audit_facts *facts, bool (*is)(const struct workload *))
{
	if (facts->measurement)
		return is(&facts->measurement->workload);
	for (size_t i = 0; i < facts->result->measurement_count; i++) {
		const struct measurement *m = &facts->result->measurements[i];

		if (is_on_target(facts, m) && is(&m->workload))
			return true;
	}
	return false;
}

/* Targets in one place, such as two files in a directory, are told of together. */
bool is_on_target(const struct audit_facts *facts, const struct measurement *m)
{
	const struct result *result = facts->result;
	const struct target_info *info =
		m->target_index ? &result->more_targets[m->target_index - 1] : &result->target;

	return result->more_target_count == 0 || strcmp(info->path, facts->info->path) == 0;
}

bool is_device_path(const struct target_info *info)
{
	return info->kind == TARGET_DIRECTORY || info->kind == TARGET_FILE ||
	       info->kind == TARGET_BLOCK;
}

static bool is_in(const struct audit_rule *rule, enum audit_scope scope,
		  const struct audit_facts *facts)
{
	if (rule->scope == AUDIT_RUN)
		return scope == AUDIT_TARGET && !facts->run_told;
	return rule->scope == scope;
}

static void audit(struct result *result, const struct audit_facts *facts, enum audit_scope scope)
{
	for (const struct audit_rule *rule = audit_rules; rule->code; rule++) {
		struct finding said = { .severity = rule->severity };
		struct finding *kept;

		if (!is_in(rule, scope, facts) || !rule->look(facts, &said))
			continue;
		kept = result_find(result, rule->code, said.severity,
				   facts->measurement ? facts->measurement->name : "");
		if (facts->subject && rule->scope == AUDIT_TARGET)
			snprintf(kept->text, sizeof(kept->text), "%.64s: %.250s", facts->subject,
				 said.text);
		else
			memcpy(kept->text, said.text, sizeof(kept->text));
		memcpy(kept->remedy, said.remedy, sizeof(kept->remedy));
	}
}

void audit_measurement(struct result *result, struct audit_facts *facts)
{
	facts->result = result;
	audit(result, facts, AUDIT_MEASUREMENT);
}

void audit_target(struct result *result, struct audit_facts *facts)
{
	facts->result = result;
	facts->measurement = NULL;
	audit(result, facts, AUDIT_TARGET);
}

/* In the order a reader should meet them: what voids a number first. */
const struct audit_rule audit_rules[] = {
	{ "verify-failed", SEVERITY_INVALID, AUDIT_MEASUREMENT,
	  "data read back differs from what was written", look_verify },
	{ "io-errors", SEVERITY_INVALID, AUDIT_MEASUREMENT,
	  "requests failed", look_errors },
	{ "memory-backed", SEVERITY_INVALID, AUDIT_TARGET,
	  "the data lies in memory, not on a drive", look_memory },
	{ "page-cache", SEVERITY_INVALID, AUDIT_MEASUREMENT,
	  "requests were served by the page cache", look_page_cache },
	{ "sparse", SEVERITY_INVALID, AUDIT_MEASUREMENT,
	  "reads of holes or unwritten extents never reach the drive", look_sparse },
	{ "unwritten", SEVERITY_INVALID, AUDIT_MEASUREMENT,
	  "reads of blocks that hold zeros may be answered without the medium", look_unwritten },
	{ "fs-compression", SEVERITY_INVALID, AUDIT_TARGET,
	  "the file system stores less than was written", look_compression },
	{ "rate-not-sustained", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "the open loop's rate was not reached, so its latency has no meaning", look_rate },
	{ "replay-late", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "recorded requests were not started at their times", look_replay },
	{ "generator-bound", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "tare or its CPU was the limit, not the drive", look_generator },
	{ "depth-not-reached", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "fewer requests were in flight than asked for", look_depth },
	{ "punted-to-kernel-threads", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "io_uring handed requests to kernel threads", look_punted },
	{ "not-level", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "the series drifts, steps or cycles: its mean is no steady figure", look_not_level },
	{ "background-io", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "others used the device meanwhile", look_background },
	{ "throttled", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "the drive or the CPUs slowed themselves down for their temperature", look_throttled },
	{ "temperature", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "the drive came near the temperature at which it slows down", look_temperature },
	{ "cpu-steal", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "the hypervisor took CPU time away", look_steal },
	{ "misaligned", SEVERITY_WARNING, AUDIT_MEASUREMENT,
	  "requests do not fit the device's physical blocks", look_misaligned },
	{ "misaligned", SEVERITY_WARNING, AUDIT_TARGET,
	  "the partition starts, or the test file lies, off the physical blocks", look_partition },
	{ "smaller-than-cache", SEVERITY_WARNING, AUDIT_TARGET,
	  "the range tested fits into a cache", look_small },
	{ "too-short", SEVERITY_INFO, AUDIT_RUN,
	  "too little time to tell level from drifting, or to meet a cache's end", look_too_short },
	{ "cgroup-limit", SEVERITY_WARNING, AUDIT_TARGET,
	  "a control group limits I/O to the device", look_cgroup },
	{ "remote-fs", SEVERITY_WARNING, AUDIT_TARGET,
	  "a network and a server are part of every figure", look_remote },
	{ "fuse-fs", SEVERITY_WARNING, AUDIT_TARGET,
	  "a process in user space serves the file system", look_fuse },
	{ "fs-cow", SEVERITY_WARNING, AUDIT_TARGET,
	  "overwriting allocates anew instead of writing in place", look_cow },
	{ "cpu-governor", SEVERITY_WARNING, AUDIT_RUN,
	  "the CPU frequency follows the load", look_governor },
	{ "fs-encryption", SEVERITY_INFO, AUDIT_TARGET,
	  "data is encrypted on its way", look_encryption },
	{ "virtual-device", SEVERITY_INFO, AUDIT_TARGET,
	  "a device of software is in the path", look_virtual },
	{ "io-scheduler", SEVERITY_INFO, AUDIT_TARGET,
	  "the kernel reorders requests before the drive sees them", look_scheduler },
	{ "write-cache", SEVERITY_INFO, AUDIT_TARGET,
	  "writes are acknowledged before they are durable", look_write_cache },
	{ "state-unknown", SEVERITY_INFO, AUDIT_RUN,
	  "what the drive went through before is not known", look_state },
	{ NULL, SEVERITY_INFO, AUDIT_TARGET, NULL, NULL },
};
