/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "measure/gather.h"
#include "measure/series.h"
#include "measure/session.h"

/* Below this share of a CPU the engine cannot be within 10 % of what a whole CPU does. */
#define CEILING_WORTH_CPU 0.8

static void read_temperature(struct session *s)
{
	const double celsius = gather_temperature_c("", s->target->info.device,
						    &s->temperature_limit_c);

	if (!(s->temperature_c_max >= celsius))
		s->temperature_c_max = celsius;
}

static void phase_progress(void *ctx, const struct engine_progress *progress)
{
	struct session *s = ctx;
	const struct measure_observer *observer = &s->options->observer;

	if (progress->elapsed_ns >= s->temperature_next_ns) {
		s->temperature_next_ns = progress->elapsed_ns + SECOND_NS;
		read_temperature(s);
	}
	if (observer->progress)
		observer->progress(observer->ctx, progress);
}

/* Looks at the data of the range, when it was not looked at already. */
static void sample(struct session *s, const struct workload *workload)
{
	const struct target_info *info = &s->target->info;
	struct engine_range range;

	if (engine_resolve(workload, info, &range, NULL) < 0 ||
	    (s->sampled_size_bytes == range.size_bytes &&
	     s->sampled_offset_bytes == range.offset_bytes))
		return;
	gather_extents(s->target, range.offset_bytes, range.size_bytes, &s->samples);
	/* Of our own file we know that it holds no zeros: we wrote it. */
	if (!info->ours && workload_reads(workload) &&
	    (info->kind == TARGET_FILE || info->kind == TARGET_BLOCK))
		gather_zeros(s->target, range.offset_bytes, range.size_bytes, &s->samples);
	s->sampled_offset_bytes = range.offset_bytes;
	s->sampled_size_bytes = range.size_bytes;
}

static void classify(struct measurement *m)
{
	struct series series;
	struct level level;

	series_init(&series, m);
	series_classify(&series, &level);
	snprintf(m->level, sizeof(m->level), "%s", level_name(level.kind));
	/* What lies between a step and where it settles belongs to neither side. */
	for (size_t i = 0; level.kind == LEVEL_STEPPED && i <= level.step_count &&
			   i < MEASUREMENT_SEGMENTS; i++) {
		const size_t start = i ? level.settles[i - 1] : 0;
		const size_t end = i < level.step_count ? level.steps[i] : series.count;

		m->segments[i].start_s = (double)start * series.interval_s;
		m->segments[i].length_s = (double)(end - start) * series.interval_s;
		m->segments[i].iops = level.means[i];
		m->segment_count = (uint32_t)i + 1;
	}
	series_done(&series);
}

/* Into the measurement and the facts: what the meters say happened between. */
static void account(struct measurement *m, const struct meters *before,
		    const struct meters *after, struct audit_facts *facts)
{
	facts->have_counters = before->have_device && after->have_device;
	facts->have_own = before->have_own && after->have_own;
	facts->before = before->device;
	facts->after = after->device;
	facts->own_read_bytes = after->own_read_bytes - before->own_read_bytes;
	facts->own_write_bytes = after->own_write_bytes - before->own_write_bytes;
	facts->cpu_throttle_count = after->cpu_throttle_count - before->cpu_throttle_count;
	if (!facts->have_counters)
		return;
	m->device_read_bytes = after->device.read_bytes - before->device.read_bytes;
	m->device_write_bytes = after->device.write_bytes - before->device.write_bytes;
	m->device_read_count = after->device.read_count - before->device.read_count;
	m->device_write_count = after->device.write_count - before->device.write_count;
}

/* The engine, with everything that is read around it. */
static int run_measured(struct session *s, struct measurement *m, struct audit_facts *facts,
			struct err *err)
{
	const struct engine_options options = {
		.clock = &s->clock,
		.stop = s->options->stop,
		.progress = phase_progress,
		.progress_ctx = s,
		.recording = s->options->recording,
	};
	const struct workload workload = m->workload;
	struct engine_job job = {
		.workload = &workload,
		.target = s->target,
		.ret = m,
		.measurement_index = (uint32_t)(m - s->result->measurements),
	};
	struct target *target = s->target;
	struct meters before, after;
	char name[sizeof(m->name)];
	double start_c;
	int r;

	r = session_trace(s, &workload, &job.trace, err);
	if (r < 0)
		return r;
	memcpy(name, m->name, sizeof(name));
	s->temperature_next_ns = 0;
	s->temperature_c_max = NAN;
	read_temperature(s);
	start_c = s->temperature_c_max;
	if (target->truth_begin)
		target->truth_begin(target);
	gather_meters("", target, &before);
	r = engine_run_group(&job, 1, &options, err);
	gather_meters("", target, &after);
	if (r < 0)
		return r;
	if (target->truth_end) {
		m->drive = calloc(1, sizeof(*m->drive));
		if (m->drive)
			target->truth_end(target, m->drive);
	}
	read_temperature(s);
	memcpy(m->name, name, sizeof(name));
	m->workload = workload;
	m->temperature_c_start = start_c;
	m->temperature_c_max = s->temperature_c_max;
	facts->temperature_limit_c = s->temperature_limit_c;
	account(m, &before, &after, facts);
	if (m->duration_ns && !s->clock.virtual_ns)
		m->steal_ratio = (double)(after.steal_ns - before.steal_ns) /
				 (double)(m->duration_ns + workload.ramp_ns);
	return 0;
}

/* What ended the measurement before its time ends the plan, in one sentence. */
static void fail_of(struct session *s, const struct measurement *m)
{
	const int code = m->errno_count ? m->errnos[0].code : -EIO;
	struct err err = { 0 };

	err_set(&err, code, "%s: %s", m->name, m->error_text);
	if (code == -ENODEV || code == -ENXIO || code == -ENOMEDIUM)
		err_hint(&err, "the device is gone: look at the kernel log (dmesg) and the cable");
	session_fail(s, &err);
}

/* Whether the result has a measurement of that name. */
static bool is_taken(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->result->measurement_count; i++)
		if (strcmp(s->result->measurements[i].name, name) == 0)
			return true;
	return false;
}

void phase_name(const struct session *s, const struct workload *w, char ret[64])
{
	static const char *const rw[] = { "seq-read",	"seq-write",	"seq-trim",  "rand-read",
					  "rand-write", "rand-trim",	"seq-mixed", "rand-mixed" };
	char size[UNITS_TEXT_BYTES], base[52];

	assert(w->rw < sizeof(rw) / sizeof(rw[0]));
	if (w->name[0])
		snprintf(base, sizeof(base), "%.51s", w->name);
	else if (*w->trace)
		snprintf(base, sizeof(base), "replay");
	else
		snprintf(base, sizeof(base), "%s-%s-q%u", rw[w->rw],
			 w->size_mix.count ? "mix" : units_format_bytes(w->block_bytes, size),
			 w->depth_count);
	snprintf(ret, 64, "%s", base);
	for (unsigned n = 2; is_taken(s, ret); n++)
		snprintf(ret, 64, "%s-%u", base, n);
}

/*
 * The phase's workload, within what was laid out where it names no range of its own. Under
 * a virtual clock nothing is left to chance: the same plan gives the same result.
 */
static struct workload settle(const struct session *s, const struct workload *asked)
{
	struct workload workload = *asked;

	if (s->clock.virtual_ns && workload.seed == 0)
		workload.seed = random_mix(s->result->measurement_count + 1);

	if (s->range_bytes && !asked->size.bytes && !asked->size.ppm && !asked->offset.bytes &&
	    !asked->offset.ppm)
		workload.size.bytes = s->range_bytes;
	return workload;
}

int phase_measure(struct session *s, const struct workload *asked, struct err *err)
{
	const struct workload settled = settle(s, asked), *workload = &settled;
	struct audit_facts facts;
	struct measurement *m;
	char name[64];
	int r;

	r = open_mode_apply(s, workload, err);
	if (r < 0)
		return r;
	sample(s, workload);
	audit_facts_init(&facts);
	phase_name(s, workload, name);
	m = result_add(s->result);
	m->workload = *workload;
	memcpy(m->name, name, sizeof(m->name));
	r = run_measured(s, m, &facts, err);
	if (r < 0) {
		measurement_done(m);
		s->result->measurement_count--;
		return err_wrap(err, "%s", name);
	}
	classify(m);
	/* A trace waits for its times with the CPU busy: no sign of a limit. */
	if (m->worker_cpu_max >= CEILING_WORTH_CPU && !session_stopped(s) && !m->ended_early &&
	    !m->replay.is_replay) {
		facts.ceiling_iops = ceiling_iops(workload, &s->clock);
		s->result->ceiling_iops = facts.ceiling_iops;
	}
	facts.info = &s->result->target;
	facts.machine = &s->result->machine;
	facts.measurement = m;
	facts.place = s->place;
	facts.samples = s->samples;
	facts.direct_refused = workload->direct && s->target->fd >= 0 && !s->target->info.direct;
	audit_measurement(s->result, &facts);
	/* What was written is no longer what was sampled. */
	if (workload_writes(workload))
		s->sampled_size_bytes = 0;
	if (m->ended_early)
		fail_of(s, m);
	s->result->interrupted |= m->interrupted;
	return 0;
}
