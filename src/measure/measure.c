/* SPDX-License-Identifier: MIT */
#include "measure/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "measure/audit.h"
#include "measure/gather.h"
#include "measure/session.h"
#include "model/trace.h"
#include "state/state.h"

/* Where a workload's range ends, as far as it says so in bytes; 0 = with the target. */
static uint64_t named_end_bytes(const struct workload *w)
{
	return w->size.bytes ? w->offset.bytes + w->size.bytes : 0;
}

/* How the target is opened when nothing is measured. */
static const struct workload *plain_workload(void)
{
	static struct workload workload;

	workload_init(&workload);
	workload.direct = true;
	return &workload;
}

static int want_measurement(const struct workload *w, struct seat_wants *ret, struct err *err)
{
	const uint64_t end_bytes = named_end_bytes(w);
	int r = workload_check(w, err);

	if (r < 0)
		return err_wrap(err, "%s", w->name[0] ? w->name : "workload");
	if (!ret->measures)
		ret->first = w;
	ret->measures = ret->uses_file = true;
	ret->direct &= w->direct;
	ret->all_named &= end_bytes > 0;
	ret->need_bytes = end_bytes > ret->need_bytes ? end_bytes : ret->need_bytes;
	return 0;
}

/* Files and the file system's free space are beside the test file. */
static bool step_uses_file(const struct step *step)
{
	switch (step->kind) {
	case STEP_DIRTY:
		return step->dirty.by == DIRTY_RANDOM;
	case STEP_REST:
		return step->rest.until_recovered;
	case STEP_DELETE:
	case STEP_TRIM:
		return false;
	default:
		return true;
	}
}

static void begin_wants(struct session *s, const struct plan *plan)
{
	for (uint32_t i = 0; i < s->seat_count; i++) {
		struct seat *seat = &s->seats[i];

		seat->asked = plan->target_count ? &plan->targets[i] : NULL;
		seat->spec = i ? seat->asked->spec : plan->target;
		seat->wants = (struct seat_wants){
			.first = plain_workload(),
			.direct = true,
			.all_named = true,
		};
	}
}

/* Reads alone can be checked when what they read was written with verify, and last. */
static int want_verified(struct seat_wants *wants, const struct workload *w, struct err *err)
{
	if (workload_writes(w))
		wants->verified_next = w->verify;
	if (!w->verify || workload_writes(w) || w->seed || wants->verified)
		return 0;
	err_set(err, -EINVAL, "%s: verify of reads alone needs data that a measurement before it wrote "
		"with verify", w->name[0] ? w->name : "workload");
	return err_hint(err, "write with verify first, or give the randseed of the run that wrote");
}

/* A new group: what those before it have left behind. */
static void begin_group(struct session *s, const struct phase *phase)
{
	for (uint32_t i = 0; i < s->seat_count && !phase->together; i++)
		s->seats[i].wants.verified = s->seats[i].wants.verified_next;
}

static int want_phase(struct session *s, const struct phase *phase, struct err *err)
{
	struct seat_wants *own = &s->seats[0].wants, *wants;
	int r;

	begin_group(s, phase);
	if (phase->kind == PHASE_STEP) {
		own->verified_next &= !step_writes(&phase->step);
		own->uses_file |= step_uses_file(&phase->step);
		own->writes |= step_writes(&phase->step);
		return step_check(&phase->step, err);
	}
	if (phase->kind != PHASE_MEASURE)
		return 0;
	if (phase->target_index >= s->seat_count)
		return err_set(err, -EINVAL, "%s: the plan has no target %u, only %u of them",
			       phase->workload.name[0] ? phase->workload.name : "workload",
			       phase->target_index, s->seat_count);
	wants = &s->seats[phase->target_index].wants;
	r = want_measurement(&phase->workload, wants, err);
	wants->writes |= workload_writes(&phase->workload);
	return r == 0 ? want_verified(wants, &phase->workload, err) : r;
}

static int gather_wants(struct session *s, const struct plan *plan, struct err *err)
{
	bool steps = false, measures = false;
	int r = 0;

	begin_wants(s, plan);
	for (size_t i = 0; r == 0 && i < plan->phase_count; i++) {
		steps |= plan->phases[i].kind == PHASE_STEP;
		r = want_phase(s, &plan->phases[i], err);
	}
	for (uint32_t i = 0; i < s->seat_count; i++) {
		s->seats[i].wants.all_named &= s->seats[i].wants.measures;
		measures |= s->seats[i].wants.measures;
	}
	if (r == 0 && !measures && !steps)
		return err_set(err, -EINVAL, "the plan neither measures nor changes a state");
	return r;
}

/* Every phase is resolved before the first byte is written: impossible ones cost nothing. */
static int check_range(struct session *s, const struct phase *phase, struct err *err)
{
	const struct target *own = s->seats[0].target;
	struct engine_range range;
	int r;

	if (phase->kind == PHASE_STEP && own->part_count)
		return err_set(err, -EOPNOTSUPP,
			       "%s: it works on one file or device, and %s is made of %u",
			       step_rows[phase->step.kind].name, own->info.spec, own->part_count);
	if (phase->kind == PHASE_STEP)
		return state_step_possible(&own->info, &phase->step, err);
	if (phase->kind != PHASE_MEASURE)
		return 0;
	r = engine_resolve(&phase->workload, &s->seats[phase->target_index].target->info, &range,
			   err);
	return r < 0 ? err_wrap(err, "%s", phase->workload.name[0] ? phase->workload.name
								   : "workload") : 0;
}

static int check_ranges(struct session *s, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->plan->phase_count; i++)
		r = check_range(s, &s->plan->phases[i], err);
	return r;
}

/* A drive that answers reads without its medium, because nothing was written to it. */
static bool is_blank(const struct seat *seat)
{
	const struct target_info *info = &seat->target->info;
	struct audit_samples samples = { .zero_ratio = -1 };

	if (info->kind == TARGET_SIM)
		return !strstr(info->path, ",state=") || strstr(info->path, ",state=fresh");
	/* A disk reads what was never written like anything else; and it must be seen whole. */
	if (info->kind != TARGET_BLOCK || !info->consent[0] || info->rotational)
		return false;
	gather_zeros(seat->target, 0, info->size_bytes, &samples);
	return samples.zero_ratio > 0.02;
}

/*
 * A directory's test file, unless the plan is about allocating it. A blank drive when it is
 * checked and may be written: its reads would mean nothing otherwise. Other plans may be about
 * what a blank drive does.
 */
static bool wants_layout(const struct seat *seat)
{
	if (!seat->wants.measures)
		return false;
	if (seat->target->info.kind == TARGET_DIRECTORY)
		return !seat->asked || !seat->asked->unwritten;
	return seat->session->options->layout_ns_max > 0 && is_blank(seat);
}

static int lay_out(struct session *s, struct err *err)
{
	bool begun = false;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->seat_count; i++) {
		if (!wants_layout(&s->seats[i]))
			continue;
		if (!begun)
			session_begin(s, "layout", 0);
		begun = true;
		r = layout_run(&s->seats[i], s->seats[i].wants.need_bytes, err);
	}
	if (begun)
		session_end(s, NULL);
	return r;
}

/* How many phases from the first on run together: they measure, one after another in the list. */
static uint32_t group_size(const struct plan *plan, size_t first)
{
	uint32_t count = 1;

	while (first + count < plan->phase_count &&
	       plan->phases[first + count].kind == PHASE_MEASURE &&
	       plan->phases[first + count].together)
		count++;
	return count;
}

static int run_group(struct session *s, size_t first, uint32_t count, struct err *err)
{
	DEFER(defer_free) struct member *members = calloc(count, sizeof(*members));
	char name[64];
	int r;

	if (!members)
		return err_set(err, -ENOMEM, "no memory for %u measurements", count);
	for (uint32_t i = 0; i < count; i++) {
		const struct phase *phase = &s->plan->phases[first + i];

		members[i] = (struct member){ &s->seats[phase->target_index], &phase->workload,
					      phase->ends_group };
	}
	phase_name(s, members[0].workload, name);
	if (count > 1)
		snprintf(name + strnlen(name, 40), sizeof(name) - 40, " and %u more", count - 1);
	session_begin(s, name, first);
	r = phase_measure(s, members, count, err);
	for (uint32_t i = 0; r == 0 && i < count; i++)
		session_end(s, &s->result->measurements[s->result->measurement_count - count + i]);
	return r;
}

static int run_step(struct session *s, const struct step *step, size_t index, struct err *err)
{
	int r;

	session_begin(s, step_rows[step->kind].name, index);
	r = session_step(&s->seats[0], step, err);
	session_end(s, NULL);
	return r;
}

/* The phase, with those that run together with it: *ret_count of them. */
static int run_phase(struct session *s, size_t index, uint32_t *ret_count, struct err *err)
{
	const struct phase *phase = &s->plan->phases[index];

	*ret_count = 1;
	switch (phase->kind) {
	case PHASE_MEASURE:
		*ret_count = group_size(s->plan, index);
		return run_group(s, index, *ret_count, err);
	case PHASE_IDLE:
		session_idle(s, phase->idle_ns, index);
		return 0;
	case PHASE_STEP:
		return run_step(s, &phase->step, index, err);
	}
	return 0;
}

static int run_phases(struct session *s, struct err *err)
{
	struct result *result = s->result;
	uint32_t count;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->plan->phase_count; i += count) {
		if (session_stopped(s) || result->error_code || result->interrupted)
			break;
		r = run_phase(s, i, &count, err);
		for (uint32_t k = 0; r == 0 && k < count && s->options->phase_done; k++)
			s->options->phase_done(s->options->phase_done_ctx, i + k);
	}
	return r;
}

/* With the targets open. An error after the first byte was moved belongs into the result. */
static int run_open(struct session *s, struct err *err)
{
	struct result *result = s->result;
	int r;

	r = check_ranges(s, err);
	if (r < 0)
		return r;
	session_describe(s);
	r = lay_out(s, err);
	if (r == 0)
		r = run_phases(s, err);
	if (r < 0 && !result->measurement_count && !result->step_count && !result->layout_bytes)
		return r;
	if (r < 0)
		session_fail(s, err);
	result->interrupted |= session_stopped(s);
	if (result->measurement_count)
		session_audit(s);
	return 0;
}

int session_trace(const struct session *s, const struct workload *workload,
		  const struct trace **ret, struct err *err)
{
	const struct measure_options *options = s->options;
	const struct trace *trace;
	int r;

	*ret = NULL;
	if (!*workload->trace)
		return 0;
	if (!options->trace_open)
		return err_set(err, -EINVAL, "'%s': traces are not replayed here", workload->trace);
	r = options->trace_open(options->trace_ctx, workload, &trace, err);
	if (r == 0)
		r = trace_check(trace, workload, err);
	if (r < 0)
		return err_wrap(err, "%s", workload->trace);
	*ret = trace;
	return 0;
}

/* All of each trace is looked at before anything is opened. */
static int check_traces(const struct session *s, struct err *err)
{
	const struct trace *trace;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->plan->phase_count; i++) {
		if (s->plan->phases[i].kind == PHASE_MEASURE)
			r = session_trace(s, &s->plan->phases[i].workload, &trace, err);
	}
	return r;
}

int measure_plan(const struct plan *plan, const struct measure_options *options,
		 struct result *ret, struct err *err)
{
	const uint32_t seat_count = plan->target_count ? (uint32_t)plan->target_count : 1;
	struct session s;
	struct err own = { 0 };
	int r;

	err = err ? err : &own;
	r = session_init(&s, seat_count, options, ret, err);
	if (r == 0)
		r = gather_wants(&s, plan, err);
	if (r == 0) {
		s.plan = plan;
		s.phase_count = plan->phase_count;
		r = check_traces(&s, err);
	}
	if (r == 0)
		r = session_open(&s, err);
	if (r == 0)
		r = run_open(&s, err);
	session_done(&s);
	return r;
}
