/* SPDX-License-Identifier: MIT */

/*
 * worker_limits - how much one worker has to do: its share of an amount, of requests, of a pass,
 * or until its rate has settled.
 */

#include "engine/worker.h"

/* An amount in whole requests is a number of them. */
static void count_bytes(struct worker *w)
{
	if (w->left_bytes == WORK_UNLIMITED || !w->mix.constant ||
	    w->left_bytes % w->mix.length_bytes)
		return;
	if (w->left_bytes / w->mix.length_bytes < w->left_count)
		w->left_count = w->left_bytes / w->mix.length_bytes;
	w->left_bytes = WORK_UNLIMITED;
}

static uint64_t share_or_all(const struct worker *w, uint64_t amount, uint64_t granule)
{
	return amount ? worker_share(amount, w->index, w->work->workload->job_count, granule) :
			WORK_UNLIMITED;
}

/* Once an interval at most; the rule is about whole seconds. */
void worker_look_steady(struct worker *w)
{
	const struct workload *workload = w->work->workload;
	const size_t window = (size_t)(workload->steady_window_ns / SECOND_NS);
	const size_t ramp = (size_t)(workload->steady_ramp_ns / SECOND_NS);
	struct recorder *r = &w->recorder;
	struct settled settled;

	if (!window || w->is_steady || !r->measuring || r->second_count < ramp + window ||
	    r->second_count == w->steady_count)
		return;
	w->steady_count = r->second_count;
	for (size_t i = 0; i < window; i++) {
		const struct recorder_second *second = &r->seconds[r->second_count - window + i];

		w->steady_values[i] = 0;
		for (int op = 0; op < OP_SYNC; op++)
			w->steady_values[i] += (double)(w->steady.of_iops ? second->ops[op].count
									  : second->ops[op].bytes);
	}
	settled_judge(&w->steady, w->steady_values, window, &settled);
	w->is_steady = settled.attained;
	if (w->is_steady)
		w->left_count = 0;
}

void worker_begin_limits(struct worker *w)
{
	const struct workload *workload = w->work->workload;

	w->left_bytes = share_or_all(w, workload->io_size_bytes, workload->block_bytes);
	w->left_count = share_or_all(w, workload->io_count, 1);
	if (w->is_replay)
		return;
	if (!workload->io_size_bytes && !workload->io_count && w->work->end_ns == NEVER_NS) {
		w->left_count = address_pass_count(&w->address);
		if (w->left_count > 0)
			return;
		w->left_count = WORK_UNLIMITED;
		w->left_bytes = worker_share(w->work->range.size_bytes, w->index,
					     workload->job_count, workload->block_bytes);
	}
	count_bytes(w);
}
