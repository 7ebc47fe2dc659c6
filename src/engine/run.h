/* SPDX-License-Identifier: MIT */
#pragma once

/* run - the two ways to drive a group: threads in real time, one thread in virtual time. */

#include "engine/worker.h"

struct group {
	struct flow *flows;		/* owned; one per id at most per job */
	size_t flow_count;
	const struct clock *clock;
	struct work *works;		/* one per job */
	size_t work_count;
	struct worker *workers;		/* of all jobs, job after job */
	uint32_t worker_count;
};

/* Each job's times, counted from the group's start. */
void group_set_times(struct group *group, uint64_t begin_ns);

/* The last worker of the job is finished. Called by that worker's thread. */
void group_job_ended(struct work *work);

/* 0, or why a worker could not open its queue: then nothing was run. */
int run_threads(struct group *group, const struct engine_options *options, struct err *err);
int run_virtual(struct group *group, const struct engine_options *options, struct err *err);
