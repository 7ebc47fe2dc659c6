/* SPDX-License-Identifier: MIT */
#include "measure/session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "measure/gather.h"
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

struct target_info *seat_info(const struct seat *seat)
{
	struct result *result = seat->session->result;

	return seat->index ? &result->more_targets[seat->index - 1] : &result->target;
}

int session_init(struct session *s, uint32_t seat_count, const struct measure_options *options,
		 struct result *result, struct err *err)
{
	*s = (struct session){ .options = options, .result = result, .seat_count = seat_count };
	result_init(result);
	describe_run(s);
	s->seats = calloc(seat_count, sizeof(*s->seats));
	if (seat_count > 1)
		result->more_targets = calloc(seat_count - 1, sizeof(*result->more_targets));
	if (!s->seats || (seat_count > 1 && !result->more_targets)) {
		s->seat_count = 0;
		return err_set(err, -ENOMEM, "no memory for %u targets", seat_count);
	}
	result->more_target_count = seat_count - 1;
	for (uint32_t i = 0; i < seat_count; i++)
		s->seats[i] = (struct seat){
			.session = s,
			.index = i,
			.samples = { .hole_ratio = -1, .zero_ratio = -1 },
			.temperature_limit_c = NAN,
			.temperature_c_max = NAN,
		};
	return 0;
}

static bool is_sim(const struct seat *seat)
{
	return strncmp(seat->spec, "sim:", 4) == 0;
}

/* The reference drive lives in virtual time, everything else in ours: never both at once. */
static int init_clock(struct session *s, struct err *err)
{
	for (uint32_t i = 1; i < s->seat_count; i++)
		if (is_sim(&s->seats[i]) != is_sim(&s->seats[0]))
			return err_set(err, -EINVAL,
				       "%s and %s in one plan: the reference drive has a time of its "
				       "own, so that either all targets are 'sim:' or none",
				       s->seats[0].spec, s->seats[i].spec);
	if (is_sim(&s->seats[0]))
		clock_init_virtual(&s->clock, &s->virtual_ns);
	else
		clock_init_real(&s->clock);
	return 0;
}

/* The test files: as asked, else as the phases name them; in whole blocks of 4 KiB. */
static uint64_t test_file_bytes(const struct seat *seat)
{
	uint64_t bytes = seat->session->options->test_file_bytes;

	if (seat->asked && seat->asked->size_bytes)
		bytes = seat->asked->size_bytes;
	if (bytes == 0 && seat->wants.all_named)
		bytes = seat->wants.need_bytes;
	if (bytes == 0 && !seat->wants.uses_file)
		bytes = 4 * KIB;
	return (bytes + 4 * KIB - 1) / (4 * KIB) * (4 * KIB);
}

static int seat_open(struct seat *seat, struct err *err)
{
	const struct measure_options *options = seat->session->options;
	const struct workload *first = seat->wants.first;
	const struct target_request request = {
		.spec = seat->spec,
		.writes = seat->wants.writes,
		.buffered = !first->direct,
		.atime = !first->noatime,
		.sync_flags = open_mode_sync_flags(first->sync),
		.size_bytes = test_file_bytes(seat),
		.need_bytes = seat->wants.need_bytes,
		.file_count = seat->asked ? seat->asked->file_count : 0,
		.stripe_bytes = seat->asked ? seat->asked->stripe_bytes : 0,
		.erase_serial = options->erase_serial,
		.expendable_path = options->expendable_path,
		.clock = &seat->session->clock,
	};
	int r = target_open(&seat->target, &request, err);

	if (r < 0)
		return r;
	seat->mode = open_mode_of(first);
	*seat_info(seat) = seat->target->info;
	return 0;
}

static bool on_same_file_system(const struct target *a, const struct target *b)
{
	struct stat x, y;

	return a->fd >= 0 && b->fd >= 0 && fstat(a->fd, &x) == 0 && fstat(b->fd, &y) == 0 &&
	       x.st_dev == y.st_dev;
}

/* Each test file found room for itself; together they may need more than there is. */
static int check_room(const struct session *s, struct err *err)
{
	for (uint32_t i = 0; i < s->seat_count; i++) {
		const struct target_info *info = &s->seats[i].target->info;
		char want[UNITS_TEXT_BYTES], have[UNITS_TEXT_BYTES];
		uint64_t bytes = 0;
		uint32_t count = 0;

		for (uint32_t k = 0; k < s->seat_count; k++) {
			const struct target_info *other = &s->seats[k].target->info;

			if (!other->ours || !on_same_file_system(s->seats[i].target, s->seats[k].target))
				continue;
			bytes += other->size_bytes;
			count++;
		}
		if (count < 2 || bytes <= info->free_bytes)
			continue;
		err_set(err, -ENOSPC, "no room in %s for the test files of %u targets: %s in all, and "
			"%s are free", info->spec, count, units_format_size((double)bytes, want),
			units_format_size((double)info->free_bytes, have));
		return err_hint(err, "say how large each may be (size), or free some space");
	}
	return 0;
}

int session_open(struct session *s, struct err *err)
{
	int r = init_clock(s, err);

	for (uint32_t i = 0; r == 0 && i < s->seat_count; i++)
		r = seat_open(&s->seats[i], err);
	return r == 0 && s->seat_count > 1 ? check_room(s, err) : r;
}

void seat_forget_written(struct seat *seat)
{
	engine_memory_free(seat->memory);
	seat->memory = NULL;
}

static void seat_done(struct seat *seat)
{
	seat_forget_written(seat);
	state_close(seat->state);
	open_mode_close_claims(seat);
	target_close(seat->target);
	*seat = (struct seat){ .session = seat->session };
}

void session_done(struct session *s)
{
	for (uint32_t i = 0; i < s->seat_count; i++)
		history_end(&s->seats[i]);	/* of all while all are open */
	for (uint32_t i = 0; i < s->seat_count; i++)
		seat_done(&s->seats[i]);
	free(s->seats);
	s->seats = NULL;
	s->seat_count = 0;
	ceilings_done(s->ceilings);
	s->ceilings = NULL;
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
	const struct target_info *info = &s->result->target;
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

void session_idle(struct session *s, uint64_t idle_ns, size_t index)
{
	const uint64_t start_ns = clock_now_ns(&s->clock);

	session_begin(s, "idle", index);
	clock_sleep_until(&s->clock, start_ns + idle_ns, s->options->stop);
	session_note_idle(s, start_ns);
	session_end(s, NULL);
}

/* Targets in one place are told of once: their file system and drive are the same. */
static bool is_repeated(const struct seat *seat)
{
	for (const struct seat *other = seat->session->seats; other < seat; other++)
		if (strcmp(seat_info(other)->path, seat_info(seat)->path) == 0 &&
		    seat_info(seat)->path[0])
			return true;
	return false;
}

/* Nobody laid it out, and the writes may have ended early: what they left out is no loss. */
static void cut_to_written(const struct seat *seat, struct audit_samples *samples)
{
	const struct result *result = seat->session->result;
	uint64_t written_bytes = seat->layout_bytes;

	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *m = &result->measurements[i];

		if (m->target_index == seat->index)
			written_bytes += m->ops[OP_WRITE].bytes;
	}
	if (samples->file_bytes > written_bytes)
		samples->file_bytes = written_bytes;
}

static void seat_audit(struct seat *seat)
{
	struct session *s = seat->session;
	struct audit_facts facts;

	audit_facts_init(&facts);
	/* Of our own file as it is now: what the file system made of what was written. */
	if (seat->target->info.ours && seat->target->fd >= 0)
		gather_extents(seat->target, 0, seat->target->info.size_bytes, &seat->samples);
	facts.info = seat_info(seat);
	facts.machine = &s->result->machine;
	facts.place = seat->place;
	facts.samples = seat->samples;
	if (seat->asked && seat->asked->unwritten)
		cut_to_written(seat, &facts.samples);
	facts.subject = s->seat_count > 1 ? seat->spec : NULL;
	facts.run_told = seat->index > 0;
	audit_target(s->result, &facts);
}

void session_audit(struct session *s)
{
	for (uint32_t i = 0; i < s->seat_count; i++)
		if (!is_repeated(&s->seats[i]))
			seat_audit(&s->seats[i]);
}

void session_describe(struct session *s)
{
	const struct measure_observer *observer = &s->options->observer;

	for (uint32_t i = 0; i < s->seat_count && observer->target; i++)
		observer->target(observer->ctx, &s->seats[i].target->info);
	describe_state(s);
	for (uint32_t i = 0; i < s->seat_count; i++) {
		struct seat *seat = &s->seats[i];

		history_begin(seat);
		gather_place("", seat->target, seat->wants.direct, &seat->place);
	}
}
