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
 * Ownership: plan_init then plan_done; phases grow by plan_add.
 */

#include "model/step.h"
#include "model/workload.h"

enum phase_kind {
	PHASE_MEASURE,
	PHASE_IDLE,	/* nothing for idle_ns */
	PHASE_STEP,	/* of the state: purge, fill, dirty, ... (model/step.h) */
};

struct phase {
	enum phase_kind kind;
	struct workload workload;	/* PHASE_MEASURE */
	uint64_t idle_ns;		/* PHASE_IDLE */
	struct step step;		/* PHASE_STEP */
};

struct plan {
	char target[4096];
	struct phase *phases;
	size_t phase_count;
};

void plan_init(struct plan *plan);
void plan_done(struct plan *plan);
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
