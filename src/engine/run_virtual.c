/* SPDX-License-Identifier: MIT */
#include "engine/run.h"

#include <errno.h>

/*
 * One thread steps all workers: always to the earliest time at which any of them has
 * something to do, in order of job and index within it. So requests reach the targets in
 * order of time and the run is a function of its seeds.
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

static void step_all(struct group *group)
{
	uint32_t finished_before = 0;

	for (;;) {
		uint32_t finished;
		bool held;
		uint64_t next_ns =
			step_each(group->workers, group->worker_count, &finished, &held);

		/* What held one, or what it ran for, may have ended in a later one's step, now. */
		if (held || finished != finished_before)
			next_ns = step_each(group->workers, group->worker_count, &finished, &held);
		finished_before = finished;
		if (finished == group->worker_count)
			return;
		if (next_ns != NEVER_NS)
			clock_sleep_until(group->clock, next_ns, NULL);
	}
}

int run_virtual(struct group *group, const struct engine_options *options, struct err *err)
{
	const uint32_t count = group->worker_count;
	int r = 0;

	(void)options;	/* nobody waits long enough to want progress */
	for (uint32_t i = 0; r == 0 && i < count; i++) {
		struct worker *w = &group->workers[i];

		r = worker_open(w);
		if (r == 0 && !w->queue->ops->next_ns)
			r = err_set(&w->err, -EINVAL, "%s has no virtual time", w->queue->ops->name);
		if (r < 0 && err)
			*err = w->err;
	}
	if (r == 0) {
		group_set_times(group, clock_now_ns(group->clock));
		for (uint32_t i = 0; i < count; i++)
			worker_begin(&group->workers[i]);
		step_all(group);
	}
	for (uint32_t i = 0; i < count; i++)
		worker_close(&group->workers[i]);
	return r;
}
