/* SPDX-License-Identifier: MIT */
#pragma once

/* rules - the looks of audit_rules[], by what they look at, and what they share. */

#include "measure/audit.h"

/* Each fills a text of the finding, cut at its room. */
void say(struct finding *ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void advise(struct finding *ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Bytes of a measurement with those of its ramp, which is not recorded: at the same pace. */
double job_bytes(const struct measurement *m, enum op_kind kind);
uint64_t device_read_bytes(const struct audit_facts *facts);
uint64_t device_write_bytes(const struct audit_facts *facts);

/* Whether a workload of any measurement, or of the one looked at, is so. */
bool any_workload(const struct audit_facts *facts, bool (*is)(const struct workload *));

bool is_on_target(const struct audit_facts *facts, const struct measurement *m);

/* True of targets whose bytes travel to a device: not null, /dev/zero, the reference drive. */
bool is_device_path(const struct target_info *info);

/* rules_io.c: what was asked and whether it happened */
bool look_misaligned(const struct audit_facts *facts, struct finding *ret);
bool look_page_cache(const struct audit_facts *facts, struct finding *ret);
bool look_sparse(const struct audit_facts *facts, struct finding *ret);
bool look_unwritten(const struct audit_facts *facts, struct finding *ret);
bool look_depth(const struct audit_facts *facts, struct finding *ret);
bool look_punted(const struct audit_facts *facts, struct finding *ret);
bool look_generator(const struct audit_facts *facts, struct finding *ret);
bool look_replay(const struct audit_facts *facts, struct finding *ret);
bool look_rate(const struct audit_facts *facts, struct finding *ret);
bool look_verify(const struct audit_facts *facts, struct finding *ret);
bool look_errors(const struct audit_facts *facts, struct finding *ret);

/* rules_run.c: how the run went */
bool look_too_short(const struct audit_facts *facts, struct finding *ret);
bool look_not_level(const struct audit_facts *facts, struct finding *ret);
bool look_background(const struct audit_facts *facts, struct finding *ret);
bool look_steal(const struct audit_facts *facts, struct finding *ret);
bool look_temperature(const struct audit_facts *facts, struct finding *ret);
bool look_throttled(const struct audit_facts *facts, struct finding *ret);

/* rules_place.c: where it ran */
bool look_partition(const struct audit_facts *facts, struct finding *ret);
bool look_compression(const struct audit_facts *facts, struct finding *ret);
bool look_encryption(const struct audit_facts *facts, struct finding *ret);
bool look_cow(const struct audit_facts *facts, struct finding *ret);
bool look_memory(const struct audit_facts *facts, struct finding *ret);
bool look_small(const struct audit_facts *facts, struct finding *ret);
bool look_state(const struct audit_facts *facts, struct finding *ret);
bool look_cgroup(const struct audit_facts *facts, struct finding *ret);
bool look_governor(const struct audit_facts *facts, struct finding *ret);
bool look_virtual(const struct audit_facts *facts, struct finding *ret);
bool look_scheduler(const struct audit_facts *facts, struct finding *ret);
bool look_write_cache(const struct audit_facts *facts, struct finding *ret);
bool look_remote(const struct audit_facts *facts, struct finding *ret);
bool look_fuse(const struct audit_facts *facts, struct finding *ret);
