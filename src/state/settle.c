/* SPDX-License-Identifier: MIT */

/* settle - a workload in rounds until its speed is steady by a rule, or the limit. */

#include <errno.h>
#include <stdlib.h>

#include "state/work.h"
#include "stats/level.h"
#include "stats/steady.h"

/* Rounds so far, and the seconds of the last of them. */
struct rounds {
	double *iops;			/* round_count_max of them */
	size_t count;
	double *seconds;
	size_t second_count, second_room;
	size_t starts[STEADY_ROUNDS];	/* of the last rounds in seconds, a ring by count */
	struct steady steady;
	struct level level;
	bool reached;
};

static int resolve(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_settle *settle = &work->step->settle;

	return work_resolve(work, &settle->offset, &settle->size, err);
}

static double iops_of(const struct measurement *m)
{
	uint64_t count = 0;

	for (int kind = 0; kind < OP_KINDS; kind++)
		count += m->ops[kind].count;
	return m->duration_ns ? (double)count * 1e9 / (double)m->duration_ns : 0;
}

static int add_seconds(struct rounds *r, const struct measurement *m, struct err *err)
{
	r->starts[r->count % STEADY_ROUNDS] = r->second_count;
	if (r->second_count + m->second_count > r->second_room) {
		const size_t room = 2 * (r->second_count + m->second_count);
		double *grown = reallocarray(r->seconds, room, sizeof(*grown));

		if (!grown)
			return err_set(err, -ENOMEM, "no memory for %zu seconds", room);
		r->seconds = grown;
		r->second_room = room;
	}
	for (size_t i = 0; i < m->second_count; i++) {
		const struct second *s = &m->seconds[i];
		uint64_t count = 0;

		/* A part of a second says little about its rate. */
		if (s->length_ns < SECOND_NS / 2 && m->second_count > 1)
			continue;
		for (int kind = 0; kind < OP_KINDS; kind++)
			count += s->ops[kind].count;
		r->seconds[r->second_count++] = (double)count * 1e9 / (double)s->length_ns;
	}
	return 0;
}

static bool judge(const struct step_settle *settle, struct rounds *r)
{
	size_t first;

	steady_judge(r->iops, r->count, &r->steady);
	if (settle->rule == SETTLE_SNIA)
		return r->steady.is_steady;
	if (r->count < STEADY_ROUNDS)
		return false;
	first = r->starts[r->count % STEADY_ROUNDS];
	level_classify(r->seconds + first, r->second_count - first, 1, &r->level);
	return r->level.kind == LEVEL_LEVEL;
}

static int one_round(struct work *work, struct rounds *r, struct err *err)
{
	struct measurement m;
	int result = work_run(work, &m, err);

	if (result < 0)
		return result;
	result = add_seconds(r, &m, err);
	if (result == 0 && !m.interrupted)
		r->iops[r->count++] = iops_of(&m);
	measurement_done(&m);
	/* Each round draws anew; the same draws again would be another workload. */
	work->workload.seed = random_mix(work->workload.seed) | 1;
	return result;
}

static void tell(struct work *work, const struct rounds *r)
{
	const struct step_settle *settle = &work->step->settle;
	const struct steady *s = &r->steady;
	char rate[UNITS_TEXT_BYTES];

	work->ret->reached = r->reached;
	work_figure(work, "rounds", (double)r->count);
	work_figure(work, "iops_mean", s->mean);
	work_figure(work, "range_ratio", s->range_ratio);
	work_figure(work, "slope_ratio", s->slope_ratio);
	work_figure(work, "first_round_iops", r->count ? r->iops[0] : 0);
	units_format_rate(s->mean, rate);
	if (r->reached)
		work_say(work, "steady after %zu rounds at %s: range %.1f %%, slope %+.1f %% of the mean",
			 r->count, rate, s->range_ratio * 100, s->slope_ratio * 100);
	else if (r->count < STEADY_ROUNDS)
		work_say(work, "steady state not reached: only %zu rounds were done", r->count);
	else if (settle->rule == SETTLE_LEVEL)
		work_say(work, "steady state not reached in %zu rounds: the last five are %s", r->count,
			 level_name(r->level.kind));
	else
		work_say(work,
			 "steady state not reached in %zu rounds: range %.1f %% (20 %% would do), slope "
			 "%+.1f %% (10 %% would do) of the mean",
			 r->count, s->range_ratio * 100, s->slope_ratio * 100);
}

static int settle_down(void *ctx, struct err *err)
{
	struct work *work = ctx;
	const struct step_settle *settle = &work->step->settle;
	struct rounds r = { .iops = calloc(settle->round_count_max, sizeof(double)) };
	int result = 0;

	if (!r.iops)
		return err_set(err, -ENOMEM, "no memory for %u rounds", settle->round_count_max);
	work_method(work, "%s", settle->rule == SETTLE_SNIA ? "SNIA rule" : "level");
	work_workload(work, (enum workload_rw)settle->rw, settle->block_bytes, settle->depth_count,
		      settle->seed);
	work->workload.repeat = true;
	work->workload.runtime_ns = settle->round_ns;
	while (result == 0 && !r.reached && r.count < settle->round_count_max &&
	       !work_stopped(work)) {
		result = one_round(work, &r, err);
		r.reached = result == 0 && judge(settle, &r);
	}
	if (result == 0)
		tell(work, &r);
	free(r.seconds);
	free(r.iops);
	return result;
}

const struct action settle_actions[] = {
	{ "find the range", resolve, NULL },
	{ "work until it is steady", settle_down, NULL },
	{ NULL, NULL, NULL },
};
