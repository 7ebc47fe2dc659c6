/* SPDX-License-Identifier: MIT */
#include "engine/run.h"

#include <errno.h>

/*
 * One thread steps all jobs: always to the earliest time at which any of them has
 * something to do, jobs in order of their index within it. So requests reach the target in
 * order of time and the run is a function of its seed.
 */
static uint64_t step_each(struct worker *workers, uint32_t count, uint32_t *ret_finished,
			  bool *ret_held)
{
	uint64_t next_ns = NEVER_NS;

	*ret_finished = 0;
	*ret_held = false;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t wants_ns = worker_step(&workers[i]);

		*ret_finished += workers[i].finished;
		*ret_held |= workers[i].is_held;
		if (wants_ns < next_ns)
			next_ns = wants_ns;
	}
	return next_ns;
}

static void step_all(struct work *work, struct worker *workers, uint32_t count)
{
	for (;;) {
		uint32_t finished;
		bool held;
		uint64_t next_ns = step_each(workers, count, &finished, &held);

		/* What held one may have ended in a later one's step, at this very time. */
		if (held)
			next_ns = step_each(workers, count, &finished, &held);
		if (finished == count)
			return;
		if (next_ns != NEVER_NS)
			clock_sleep_until(work->clock, next_ns, NULL);
	}
}

int run_virtual(struct work *work, struct worker *workers, const struct engine_options *options,
		struct err *err)
{
	const uint32_t count = work->workload->job_count;
	int r = 0;

	(void)options;	/* nobody waits long enough to want progress */
	for (uint32_t i = 0; r == 0 && i < count; i++) {
		r = worker_open(&workers[i]);
		if (r == 0 && !workers[i].queue->ops->next_ns)
			r = err_set(&workers[i].err, -EINVAL, "%s has no virtual time",
				    workers[i].queue->ops->name);
		if (r < 0 && err)
			*err = workers[i].err;
	}
	if (r == 0) {
		for (uint32_t i = 0; i < count; i++)
			worker_begin(&workers[i]);
		step_all(work, workers, count);
	}
	for (uint32_t i = 0; i < count; i++)
		worker_close(&workers[i]);
	return r;
}
