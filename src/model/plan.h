/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * plan - an ordered list of phases on one target. Every front end amounts to one.
 *
 * YAML:
 *	target: /mnt/data
 *	defaults: { bs: 4k, runtime: 10s }
 *	phases:
 *	  - measure: { name: read, rw: randread, iodepth: 32 }
 *	  - idle: 5s
 *	  - fill: { times: 2, bs: 128k }
 *	  - trim:
 *
 * With several targets, and measurements that run together:
 *	targets:
 *	  - /mnt/data
 *	  - { path: /mnt/log, name: log, size: 4g, files: 4, stripe: 64k, unwritten: 1 }
 *	phases:
 *	  - together:
 *	      - measure: { rw: randread, ends-group: 1 }
 *	      - measure: { on: log, rw: write, start-delay: 1s }
 *
 * Ownership: plan_init then plan_done; phases grow by plan_add.
 */

#include "model/step.h"
#include "model/workload.h"

enum phase_kind {
	PHASE_MEASURE,
	PHASE_IDLE,	/* nothing for idle_ns */
	PHASE_STEP,	/* of the state: purge, fill, dirty, ... (model/step.h) */
};

/*
 * What measurements are asked of. The plan's own target is targets[0] as soon as there is a
 * list (plan.target then stands for its spec, and may be put in its place); phases of a plan
 * without one all go to plan.target. Steps of the state work on the plan's own target.
 */
struct plan_target {
	char spec[4096];		/* "DIR", "FILE", "/dev/x", "null:...", "sim:...", "join:..." */
	char name[64];			/* for `on:`; "" = none; no two the same, none a number */
	uint64_t size_bytes;		/* of our test files together in a directory; 0 = sensible */
	uint32_t file_count;		/* test files in a directory that make up one range; 0, 1 = one */
	uint64_t stripe_bytes;		/* several files: so much of one, then of the next; 0 = one after the other */
	bool unwritten;			/* our test file is not laid out: the first writes allocate it */
};

struct phase {
	enum phase_kind kind;
	/* PHASE_MEASURE: */
	uint32_t target_index;		/* in plan.targets; 0 = the plan's own */
	bool together;			/* starts together with the measurement before it: one group */
	bool ends_group;		/* when it is done, the whole group ends */
	struct workload workload;	/* PHASE_MEASURE */
	uint64_t idle_ns;		/* PHASE_IDLE */
	struct step step;		/* PHASE_STEP */
};

struct plan {
	char target[4096];
	struct plan_target *targets;	/* owned; none = target alone, with presets */
	size_t target_count;
	struct phase *phases;
	size_t phase_count;
};

extern const struct field plan_target_fields[];

void plan_init(struct plan *plan);
void plan_done(struct plan *plan);
/* Its index; spec equal to an earlier one's is a target of its own all the same. */
uint32_t plan_add_target(struct plan *plan, const char *spec);
struct phase *plan_add(struct plan *plan, enum phase_kind kind);
struct step *plan_add_step(struct plan *plan, enum step_kind kind);	/* of its presets */

/* Whether any phase changes data: what consent and opening for writing depend on. */
bool plan_writes(const struct plan *plan);

/* Sentences start with "file:line:column: ". plan is initialised by the call; done on failure. */
int plan_load(struct plan *plan, const char *path, struct err *err);
int plan_parse(struct plan *plan, const char *name, const char *yaml, size_t length,
	       struct err *err);

/* YAML that plan_parse takes back to an equal plan; presets are left out. */
void plan_print(const struct plan *plan, struct text *ret);
