/* SPDX-License-Identifier: MIT */
#include "measure/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "measure/audit.h"
#include "measure/gather.h"
#include "measure/session.h"
#include "model/trace.h"
#include "state/state.h"

bool session_stopped(const struct session *s)
{
	return s->options->stop && *s->options->stop;
}

int session_fail(struct session *s, const struct err *err)
{
	struct result *result = s->result;

	if (result->error_code == 0) {
		result->error_code = err->code;
		snprintf(result->error_text, sizeof(result->error_text), "%s", err->text);
		snprintf(result->error_hint, sizeof(result->error_hint), "%s", err->hint);
	}
	return err->code;
}

static void describe_run(struct session *s)
{
	struct result *result = s->result;
	const time_t now = time(NULL);
	struct tm utc;

	snprintf(result->version, sizeof(result->version), "%s", TARE_VERSION);
	gmtime_r(&now, &utc);
	strftime(result->started_at, sizeof(result->started_at), "%Y-%m-%dT%H:%M:%SZ", &utc);
	snprintf(result->command, sizeof(result->command), "%s",
		 s->options->command ? s->options->command : "");
	gather_machine("", &result->machine);
}

static void init_clock(struct session *s)
{
	if (strncmp(s->spec, "sim:", 4) == 0)
		clock_init_virtual(&s->clock, &s->virtual_ns);
	else
		clock_init_real(&s->clock);
}

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

static int want_measurement(const struct workload *w, struct session_wants *ret, struct err *err)
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

static int gather_wants(const struct plan *plan, struct session_wants *ret, struct err *err)
{
	*ret = (struct session_wants){
		.first = plain_workload(),
		.writes = plan_writes(plan),
		.direct = true,
		.all_named = true,
	};
	bool steps = false;

	for (size_t i = 0; i < plan->phase_count; i++) {
		const struct phase *phase = &plan->phases[i];
		int r = 0;

		steps |= phase->kind == PHASE_STEP;

		if (phase->kind == PHASE_MEASURE)
			r = want_measurement(&phase->workload, ret, err);
		if (phase->kind == PHASE_STEP) {
			r = step_check(&phase->step, err);
			ret->uses_file |= step_uses_file(&phase->step);
		}
		if (r < 0)
			return r;
	}
	ret->all_named &= ret->measures;
	if (!ret->measures && !steps)
		return err_set(err, -EINVAL, "the plan neither measures nor changes a state");
	return 0;
}

/* The test file: as asked, else as the phases name it; in whole blocks of 4 KiB. */
static uint64_t test_file_bytes(const struct session *s, const struct session_wants *wants)
{
	uint64_t bytes = s->options->test_file_bytes;

	if (bytes == 0 && wants->all_named)
		bytes = wants->need_bytes;
	if (bytes == 0 && !wants->uses_file)
		bytes = 4 * KIB;
	return (bytes + 4 * KIB - 1) / (4 * KIB) * (4 * KIB);
}

int session_open(struct session *s, const struct session_wants *wants, struct err *err)
{
	const struct measure_options *options = s->options;
	const struct workload *first = wants->first;
	const struct target_request request = {
		.spec = s->spec,
		.writes = wants->writes,
		.buffered = !first->direct,
		.atime = !first->noatime,
		.sync_flags = open_mode_sync_flags(first->sync),
		.size_bytes = test_file_bytes(s, wants),
		.need_bytes = wants->need_bytes,
		.erase_serial = options->erase_serial,
		.expendable_path = options->expendable_path,
		.clock = &s->clock,
	};
	int r;

	init_clock(s);
	r = target_open(&s->target, &request, err);
	if (r < 0)
		return r;
	s->mode = open_mode_of(first);
	s->result->target = s->target->info;
	return 0;
}

void session_init(struct session *s, const char *spec, const struct measure_options *options,
		  struct result *result)
{
	*s = (struct session){
		.spec = spec,
		.options = options,
		.result = result,
		.claim_fd = -1,
		.samples = { .hole_ratio = -1, .zero_ratio = -1 },
		.temperature_limit_c = NAN,
		.temperature_c_max = NAN,
	};
	result_init(result);
	describe_run(s);
}

void session_done(struct session *s)
{
	history_end(s);
	state_close(s->state);
	s->state = NULL;
	target_close(s->target);
	s->target = NULL;
	if (s->claim_fd >= 0)
		close(s->claim_fd);
	s->claim_fd = -1;
}

/* Every phase is resolved before the first byte is written: impossible ones cost nothing. */
static int check_ranges(struct session *s, struct err *err)
{
	for (size_t i = 0; i < s->plan->phase_count; i++) {
		const struct phase *phase = &s->plan->phases[i];
		struct engine_range range;
		int r = 0;

		if (phase->kind == PHASE_STEP)
			r = state_step_possible(&s->target->info, &phase->step, err);
		if (r < 0)
			return r;
		if (phase->kind != PHASE_MEASURE)
			continue;
		r = engine_resolve(&phase->workload, &s->target->info, &range, err);
		if (r < 0)
			return err_wrap(err, "%s", phase->workload.name[0] ? phase->workload.name
									   : "workload");
	}
	return 0;
}

void session_begin(const struct session *s, const char *name, size_t index)
{
	const struct measure_observer *observer = &s->options->observer;

	if (observer->begin)
		observer->begin(observer->ctx, name, index, s->phase_count);
}

void session_end(const struct session *s, const struct measurement *m)
{
	const struct measure_observer *observer = &s->options->observer;

	if (observer->end)
		observer->end(observer->ctx, m);
}

/*
 * What the drive has been through, where that is known: the reference drive says so in its
 * configuration, which is its path; the null target and /dev/zero have no state to speak of.
 */
static void describe_state(struct session *s)
{
	const struct target_info *info = &s->target->info;
	struct result *result = s->result;
	const char *state = strstr(info->path, ",state=");

	if (info->kind == TARGET_SIM) {
		state = state ? state + strlen(",state=") : "fresh";
		snprintf(result->state, sizeof(result->state), "%.*s",
			 (int)strcspn(state, ","), state);
		snprintf(result->state_text, sizeof(result->state_text),
			 "the reference drive was made in this state");
	} else if (info->kind == TARGET_NULL || info->kind == TARGET_CHAR) {
		snprintf(result->state, sizeof(result->state), "stateless");
	}
}

/* A drive that answers reads without its medium, because nothing was written to it. */
static bool is_blank(const struct session *s)
{
	const struct target_info *info = &s->target->info;
	struct audit_samples samples = { .zero_ratio = -1 };

	if (info->kind == TARGET_SIM)
		return strcmp(s->result->state, "fresh") == 0;
	/* A disk reads what was never written like anything else; and it must be seen whole. */
	if (info->kind != TARGET_BLOCK || !info->consent[0] || info->rotational)
		return false;
	gather_zeros(s->target, 0, info->size_bytes, &samples);
	return samples.zero_ratio > 0.02;
}

/*
 * A directory's test file always. A blank drive when it is checked and may be written: its
 * reads would mean nothing otherwise. Other plans may be about what a blank drive does.
 */
static bool wants_layout(const struct session *s)
{
	if (s->target->info.kind == TARGET_DIRECTORY)
		return true;
	return s->options->layout_ns_max > 0 && is_blank(s);
}

static int lay_out(struct session *s, const struct session_wants *wants, struct err *err)
{
	int r;

	if (!wants->measures || !wants_layout(s))
		return 0;
	session_begin(s, "layout", 0);
	r = layout_run(s, wants->need_bytes, err);
	session_end(s, NULL);
	return r;
}

void session_idle(struct session *s, uint64_t idle_ns, size_t index)
{
	const uint64_t start_ns = clock_now_ns(&s->clock);

	session_begin(s, "idle", index);
	clock_sleep_until(&s->clock, start_ns + idle_ns, s->options->stop);
	session_note_idle(s, start_ns);
	session_end(s, NULL);
}

static int run_measurement(struct session *s, const struct workload *workload, size_t index,
			   struct err *err)
{
	char name[64];
	int r;

	phase_name(s, workload, name);
	session_begin(s, name, index);
	r = phase_measure(s, workload, err);
	if (r == 0)
		session_end(s, &s->result->measurements[s->result->measurement_count - 1]);
	return r;
}

static int run_step(struct session *s, const struct step *step, size_t index, struct err *err)
{
	int r;

	session_begin(s, step_rows[step->kind].name, index);
	r = session_step(s, step, err);
	session_end(s, NULL);
	return r;
}

static int run_phases(struct session *s, struct err *err)
{
	struct result *result = s->result;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->plan->phase_count; i++) {
		const struct phase *phase = &s->plan->phases[i];

		if (session_stopped(s) || result->error_code || result->interrupted)
			break;
		switch (phase->kind) {
		case PHASE_MEASURE:
			r = run_measurement(s, &phase->workload, i, err);
			break;
		case PHASE_IDLE:
			session_idle(s, phase->idle_ns, i);
			break;
		case PHASE_STEP:
			r = run_step(s, &phase->step, i, err);
			break;
		}
		if (r == 0 && s->options->phase_done)
			s->options->phase_done(s->options->phase_done_ctx, i);
	}
	return r;
}

void session_audit(struct session *s)
{
	struct audit_facts facts;

	audit_facts_init(&facts);
	/* Of our own file as it is now: what the file system made of what was written. */
	if (s->target->info.ours && s->target->fd >= 0)
		gather_extents(s->target, 0, s->target->info.size_bytes, &s->samples);
	facts.info = &s->result->target;
	facts.machine = &s->result->machine;
	facts.place = s->place;
	facts.samples = s->samples;
	audit_target(s->result, &facts);
}

void session_describe(struct session *s, bool direct)
{
	const struct measure_observer *observer = &s->options->observer;

	if (observer->target)
		observer->target(observer->ctx, &s->target->info);
	describe_state(s);
	history_begin(s);
	gather_place("", s->target, direct, &s->place);
}

/* With the target open. An error after the first byte was moved belongs into the result. */
static int run_open(struct session *s, const struct session_wants *wants, struct err *err)
{
	struct result *result = s->result;
	int r;

	r = check_ranges(s, err);
	if (r < 0)
		return r;
	session_describe(s, wants->direct);
	r = lay_out(s, wants, err);
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
	struct session s;
	struct err own = { 0 };
	struct session_wants wants;
	int r;

	err = err ? err : &own;
	session_init(&s, plan->target, options, ret);
	s.plan = plan;
	s.phase_count = plan->phase_count;
	r = gather_wants(plan, &wants, err);
	if (r == 0)
		r = check_traces(&s, err);
	if (r < 0)
		return r;
	r = session_open(&s, &wants, err);
	if (r == 0)
		r = run_open(&s, &wants, err);
	session_done(&s);
	return r;
}
