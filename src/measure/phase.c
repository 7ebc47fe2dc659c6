/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/random.h"
#include "base/units.h"
#include "measure/gather.h"
#include "measure/series.h"
#include "measure/session.h"

/* Below this share of a CPU the engine cannot be within 10 % of what a whole CPU does. */
#define CEILING_WORTH_CPU 0.8
/* A shorter one is over before the ceiling's own run is: it says nothing about the engine. */
#define CEILING_WORTH_NS (100 * MILLISECOND_NS)

/* One measurement of those that run together. */
struct part {
	struct seat *seat;
	struct workload workload;	/* settled */
	struct target *view;		/* owned; NULL: the seat's target is open as it should be */
	struct audit_facts facts;
	size_t index;			/* in the result */
	bool is_first;			/* of its seat in the group: reads the meters for all */
	struct meters before, after;
	double temperature_c_start;
	double ceiling_iops;
};

struct parts {
	struct session *session;
	struct part *list;
	uint32_t count;
};

static struct measurement *measurement_of(const struct parts *parts, uint32_t i)
{
	return &parts->session->result->measurements[parts->list[i].index];
}

static struct target *target_of(const struct part *part)
{
	return part->view ? part->view : part->seat->target;
}

static void read_temperature(struct seat *seat)
{
	const double celsius = gather_temperature_c("", seat->target->info.device,
						    &seat->temperature_limit_c);

	if (!(seat->temperature_c_max >= celsius))
		seat->temperature_c_max = celsius;
}

static void read_temperatures(const struct parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++)
		if (parts->list[i].is_first)
			read_temperature(parts->list[i].seat);
}

static void phase_progress(void *ctx, const struct engine_progress *progress)
{
	const struct parts *parts = ctx;
	struct session *s = parts->session;
	const struct measure_observer *observer = &s->options->observer;

	if (progress->elapsed_ns >= s->temperature_next_ns) {
		s->temperature_next_ns = progress->elapsed_ns + SECOND_NS;
		read_temperatures(parts);
	}
	if (observer->progress)
		observer->progress(observer->ctx, progress);
}

/* Looks at the data of the range, when it was not looked at already. */
static void sample(struct seat *seat, const struct workload *workload)
{
	const struct target_info *info = &seat->target->info;
	struct engine_range range;

	if (engine_resolve(workload, info, &range, NULL) < 0 ||
	    (seat->sampled_size_bytes == range.size_bytes &&
	     seat->sampled_offset_bytes == range.offset_bytes))
		return;
	gather_extents(seat->target, range.offset_bytes, range.size_bytes, &seat->samples);
	/* Of our own file we know that it holds no zeros: we wrote it. */
	if (!info->ours && workload_reads(workload) &&
	    (info->kind == TARGET_FILE || info->kind == TARGET_BLOCK))
		gather_zeros(seat->target, range.offset_bytes, range.size_bytes, &seat->samples);
	seat->sampled_offset_bytes = range.offset_bytes;
	seat->sampled_size_bytes = range.size_bytes;
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
	m->device_read_merge_count =
		after->device.read_merge_count - before->device.read_merge_count;
	m->device_write_merge_count =
		after->device.write_merge_count - before->device.write_merge_count;
	m->device_read_ms = after->device.read_ms - before->device.read_ms;
	m->device_write_ms = after->device.write_ms - before->device.write_ms;
	m->device_busy_ms = after->device.busy_ms - before->device.busy_ms;
	m->device_queue_ms = after->device.queue_ms - before->device.queue_ms;
}

static void meters_before(const struct parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->list[i];
		struct target *target = part->seat->target;

		if (!part->is_first)
			continue;
		part->seat->temperature_c_max = NAN;
		read_temperature(part->seat);
		part->temperature_c_start = part->seat->temperature_c_max;
		if (target->truth_begin)
			target->truth_begin(target);
		gather_meters("", target, &part->before);
	}
}

static void read_truth(struct target *target, struct measurement *m)
{
	if (!target->truth_end)
		return;
	m->drive = calloc(1, sizeof(*m->drive));
	if (m->drive)
		target->truth_end(target, m->drive);
}

/* Read once for each seat; the others of that seat have the same. */
static void meters_after(const struct parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->list[i];

		if (!part->is_first)
			continue;
		gather_meters("", part->seat->target, &part->after);
		read_temperature(part->seat);
		read_truth(part->seat->target, measurement_of(parts, i));
		for (uint32_t k = i + 1; k < parts->count; k++) {
			struct part *other = &parts->list[k];

			if (other->seat != part->seat)
				continue;
			other->before = part->before;
			other->after = part->after;
			other->temperature_c_start = part->temperature_c_start;
			read_truth(part->seat->target, measurement_of(parts, k));
		}
	}
}

/* What was read around the engine, into the measurement and the facts. */
static void note(const struct parts *parts, uint32_t i)
{
	struct part *part = &parts->list[i];
	struct measurement *m = measurement_of(parts, i);

	m->workload = part->workload;
	m->temperature_c_start = part->temperature_c_start;
	m->temperature_c_max = part->seat->temperature_c_max;
	part->facts.temperature_limit_c = part->seat->temperature_limit_c;
	account(m, &part->before, &part->after, &part->facts);
	if (m->duration_ns && !parts->session->clock.virtual_ns)
		m->steal_ratio = (double)(part->after.steal_ns - part->before.steal_ns) /
				 (double)(m->duration_ns + m->workload.ramp_ns);
}

/* The engine, with everything that is read around it. */
static int run_measured(const struct parts *parts, const struct member *members, struct err *err)
{
	struct session *s = parts->session;
	const struct engine_options options = {
		.clock = &s->clock,
		.stop = s->options->stop,
		.progress = phase_progress,
		.progress_ctx = (void *)(uintptr_t)parts,
		.recording = s->options->recording,
	};
	DEFER(defer_free) struct engine_job *jobs = calloc(parts->count, sizeof(*jobs));
	int r;

	if (!jobs)
		return err_set(err, -ENOMEM, "no memory for %u measurements", parts->count);
	for (uint32_t i = 0; i < parts->count; i++)
		jobs[i] = (struct engine_job){
			.workload = &parts->list[i].workload,
			.target = target_of(&parts->list[i]),
			.ret = measurement_of(parts, i),
			.ends_group = members[i].ends_group,
			.memory = &parts->list[i].seat->memory,
			.measurement_index = (uint32_t)parts->list[i].index,
		};
	for (uint32_t i = 0; i < parts->count; i++) {
		r = session_trace(s, &parts->list[i].workload, &jobs[i].trace, err);
		if (r < 0)
			return r;
	}
	s->temperature_next_ns = 0;
	meters_before(parts);
	r = engine_run_group(jobs, parts->count, &options, err);
	if (r < 0)
		return r;
	meters_after(parts);
	for (uint32_t i = 0; i < parts->count; i++)
		note(parts, i);
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

/* How many are called so, or so with a number: with a thousand, trying them all takes long. */
static unsigned count_alike(const struct session *s, const char *base)
{
	const size_t length = strlen(base);
	unsigned count = 0;

	for (size_t i = 0; i < s->result->measurement_count; i++) {
		const char *name = s->result->measurements[i].name;

		count += strncmp(name, base, length) == 0 &&
			 (!name[length] || name[length] == '-');
	}
	return count;
}

void phase_name(const struct session *s, const struct workload *w, char ret[64])
{
	static const char *const rw[] = { "seq-read",	"seq-write",   "seq-trim",
					  "rand-read",	"rand-write",  "rand-trim",
					  "seq-mixed",	"rand-mixed",  "seq-trim-write",
					  "rand-trim-write" };
	char size[UNITS_TEXT_BYTES], base[52];

	assert(w->rw < sizeof(rw) / sizeof(rw[0]));
	if (w->name[0])
		snprintf(base, sizeof(base), "%.51s", w->name);
	else if (*w->trace)
		snprintf(base, sizeof(base), "replay");
	else if (w->lines.count)
		snprintf(base, sizeof(base), "lines-q%u", w->depth_count);
	else
		snprintf(base, sizeof(base), "%s-%s-q%u", rw[w->rw],
			 w->size_mix.count ? "mix" : units_format_bytes(w->block_bytes, size),
			 w->depth_count);
	snprintf(ret, 64, "%s", base);
	if (!is_taken(s, ret))
		return;
	for (unsigned n = count_alike(s, base) + 1; is_taken(s, ret); n++)
		snprintf(ret, 64, "%s-%u", base, n);
}

/*
 * The phase's workload, within what was laid out where it names no range of its own. Under
 * a virtual clock nothing is left to chance: the same plan gives the same result.
 */
static struct workload settle(const struct seat *seat, const struct workload *asked)
{
	const struct session *s = seat->session;
	struct workload workload = *asked;

	/* Reads that verify have the seed of what they read. */
	if (s->clock.virtual_ns && workload.seed == 0 &&
	    (workload_writes(asked) || !asked->verify))
		workload.seed = random_mix(s->result->measurement_count + 1);

	if (seat->range_bytes && !asked->size.bytes && !asked->size.ppm && !asked->offset.bytes &&
	    !asked->offset.ppm)
		workload.size.bytes = seat->range_bytes;
	return workload;
}

/* One into the result, open as it should be, its data looked at. */
static int part_begin(const struct parts *parts, uint32_t i, const struct member *member,
		      struct err *err)
{
	struct part *part = &parts->list[i];
	struct session *s = parts->session;
	struct measurement *m;
	char name[64];
	int r;

	part->seat = member->seat;
	part->workload = settle(member->seat, member->workload);
	part->is_first = true;
	for (uint32_t k = 0; k < i; k++)
		part->is_first &= parts->list[k].seat != part->seat;
	r = part->is_first ? open_mode_apply(part->seat, &part->workload, err) :
			     open_mode_view(part->seat, &part->workload, &part->view, err);
	if (r < 0)
		return r;
	sample(part->seat, &part->workload);
	audit_facts_init(&part->facts);
	part->facts.samples = part->seat->samples;
	part->facts.direct_refused = part->workload.direct && part->seat->target->fd >= 0 &&
				     !target_of(part)->info.direct;
	phase_name(s, &part->workload, name);
	part->index = s->result->measurement_count;
	m = result_add(s->result);
	m->workload = part->workload;
	m->group_index = s->group_count;
	m->target_index = part->seat->index;
	memcpy(m->name, name, sizeof(m->name));
	return 0;
}

static bool is_near_ceiling(const struct measurement *m)
{
	return m->worker_cpu_max >= CEILING_WORTH_CPU && m->duration_ns >= CEILING_WORTH_NS;
}

static void find_ceilings(const struct parts *parts, const struct member *members)
{
	struct session *s = parts->session;
	DEFER(defer_free) double *iops = calloc(parts->count, sizeof(*iops));
	bool worth = false, whole = !session_stopped(s);

	for (uint32_t i = 0; i < parts->count; i++) {
		worth |= is_near_ceiling(measurement_of(parts, i));
		whole &= !measurement_of(parts, i)->ended_early;
		/* A trace waits for its times with the CPU busy: no sign of a limit. */
		whole &= !measurement_of(parts, i)->replay.is_replay;
	}
	if (!worth || !whole || !iops)
		return;
	ceiling_iops(s, members, parts->count, iops);
	for (uint32_t i = 0; i < parts->count; i++)
		if (is_near_ceiling(measurement_of(parts, i)))
			s->result->ceiling_iops = parts->list[i].facts.ceiling_iops = iops[i];
}

static bool is_same_device(const struct seat *a, const struct seat *b)
{
	const struct target_info *x = &a->target->info, *y = &b->target->info;

	return x->device_major == y->device_major && x->device_minor == y->device_minor;
}

/* What the others, past the page cache, moved on the same device meanwhile. */
static void count_peers(const struct parts *parts, uint32_t i)
{
	struct part *part = &parts->list[i];

	for (uint32_t k = 0; k < parts->count; k++) {
		const struct part *other = &parts->list[k];
		const struct measurement *m = measurement_of(parts, k);

		if (k == i || !is_same_device(part->seat, other->seat) ||
		    !other->workload.direct || other->facts.direct_refused)
			continue;
		part->facts.peer_read_bytes += m->ops[OP_READ].bytes;
		part->facts.peer_write_bytes += m->ops[OP_WRITE].bytes;
	}
}

/* What was written by others than one that verifies is not known any more. */
static void forget_written(const struct parts *parts, uint32_t i)
{
	struct seat *seat = parts->list[i].seat;
	uint32_t writer_count = 0;
	bool verified = true;

	for (uint32_t k = 0; k < parts->count; k++) {
		const struct workload *w = &parts->list[k].workload;

		if (parts->list[k].seat != seat || !workload_writes(w))
			continue;
		writer_count++;
		verified &= w->verify;
	}
	if (writer_count == 0 || (writer_count == 1 && verified))
		return;
	seat_forget_written(seat);
}

static void part_audit(const struct parts *parts, uint32_t i)
{
	struct part *part = &parts->list[i];
	struct session *s = parts->session;
	struct measurement *m = measurement_of(parts, i);

	count_peers(parts, i);
	part->facts.info = seat_info(part->seat);
	part->facts.machine = &s->result->machine;
	part->facts.measurement = m;
	part->facts.place = part->seat->place;
	audit_measurement(s->result, &part->facts);
	/* What was written is no longer what was sampled. */
	if (workload_writes(&part->workload))
		part->seat->sampled_size_bytes = 0;
	if (part->is_first)
		forget_written(parts, i);
	if (m->ended_early)
		fail_of(s, m);
	s->result->interrupted |= m->interrupted;
}

static void forget(const struct parts *parts, size_t measurement_count)
{
	struct result *result = parts->session->result;

	while (result->measurement_count > measurement_count)
		measurement_done(&result->measurements[--result->measurement_count]);
}

static int measure_parts(const struct parts *parts, const struct member *members, struct err *err)
{
	struct session *s = parts->session;
	const size_t before_count = s->result->measurement_count;
	char name[64] = "";
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < parts->count; i++)
		r = part_begin(parts, i, &members[i], err);
	if (r == 0) {
		memcpy(name, measurement_of(parts, 0)->name, sizeof(name));
		r = run_measured(parts, members, err);
	}
	if (r < 0) {
		forget(parts, before_count);
		if (*name && parts->count > 1)
			return err_wrap(err, "%s and %u more", name, parts->count - 1);
		return *name ? err_wrap(err, "%s", name) : r;
	}
	s->group_count++;
	for (uint32_t i = 0; i < parts->count; i++)
		classify(measurement_of(parts, i));
	find_ceilings(parts, members);
	for (uint32_t i = 0; i < parts->count; i++)
		part_audit(parts, i);
	return 0;
}

int phase_measure(struct session *s, const struct member *members, uint32_t count,
		  struct err *err)
{
	DEFER(defer_free) struct part *list = calloc(count, sizeof(*list));
	const struct parts parts = { s, list, count };
	int r;

	assert(count > 0);
	if (!list)
		return err_set(err, -ENOMEM, "no memory for %u measurements", count);
	r = measure_parts(&parts, members, err);
	for (uint32_t i = 0; i < count; i++)
		open_mode_close(list[i].view);
	return r;
}
