/* SPDX-License-Identifier: MIT */

/* history - the drive's ledger around a session: what it says before, what is added after. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "measure/session.h"
#include "state/ledger.h"

/* A ledger takes a moment for each entry: more measurements than that are one entry together. */
#define ENTRIES_MAX 16

/* Two targets on one drive have one ledger: that of the first. */
static bool is_same_drive(const struct seat *seat, const struct seat *other)
{
	const struct target_info *a = &seat->target->info, *b = &other->target->info;

	return a->device[0] && strcmp(a->device, b->device) == 0;
}

static bool is_told_by_another(const struct seat *seat)
{
	for (const struct seat *other = seat->session->seats; other < seat; other++)
		if (is_same_drive(seat, other))
			return true;
	return false;
}

static bool is_of(const struct seat *seat, uint32_t target_index)
{
	return target_index == seat->index ||
	       is_same_drive(seat, &seat->session->seats[target_index]);
}

void history_begin(struct seat *seat)
{
	const char *directory = seat->session->options->ledger_directory;
	struct result *result = seat->session->result;
	struct ledger_entry now, others;
	struct err err = { 0 };
	int r;

	if (!directory || is_told_by_another(seat))
		return;
	r = ledger_open(&seat->ledger, *directory ? directory : NULL, &seat->target->info, &err);
	if (r < 0) {
		/* No drive, no ledger; one that cannot be read is told, and left as it is. */
		if (r != -ENODEV && seat->index == 0)
			snprintf(result->state_text, sizeof(result->state_text), "no ledger: %.200s",
				 err.text);
		return;
	}
	seat->has_ledger = true;
	ledger_now(seat->target, &now);
	r = ledger_catch_up(&seat->ledger, &now, &others) ?
		    ledger_add(&seat->ledger, &others, &err) : 0;
	/* The result's state is that of the plan's own target. */
	if (seat->index > 0)
		return;
	if (r < 0)
		snprintf(result->state_text, sizeof(result->state_text), "no ledger: %.200s", err.text);
	else if (seat->target->info.kind == TARGET_BLOCK)
		ledger_state(&seat->ledger, result->state, result->state_text,
			     sizeof(result->state_text));
}

/* Of a part of the drive its whole is only "used". */
static const char *state_of(const struct seat *seat, const char *name)
{
	const struct target_info *info = &seat->target->info;

	return info->kind == TARGET_BLOCK && !info->has_partition && *name ? name : "used";
}

static void add(struct seat *seat, struct ledger_entry *entry, const char *what, const char *state)
{
	struct err err;

	snprintf(entry->who, sizeof(entry->who), "tare %.32s, uid %u", seat->session->result->version,
		 (unsigned int)geteuid());
	snprintf(entry->what, sizeof(entry->what), "%s", what);
	snprintf(entry->state, sizeof(entry->state), "%s", state_of(seat, state));
	if (ledger_add(&seat->ledger, entry, &err) < 0)
		session_fail(seat->session, &err);
}

static void add_step(struct seat *seat, const struct ledger_entry *now,
		     const struct step_result *step)
{
	struct ledger_entry entry = *now;

	if (!step->written_bytes && !step->discard_asked_bytes && !step->state[0])
		return;
	snprintf(entry.text, sizeof(entry.text), "%.300s%s", step->text,
		 step->interrupted ? "; interrupted" : "");
	entry.written_bytes = step->written_bytes;
	entry.discard_bytes = step->discard_asked_bytes;
	entry.duration_ns = step->duration_ns;
	add(seat, &entry, step->name, step->interrupted ? "unknown" : step->state);
}

static void add_measurements(struct seat *seat, const struct ledger_entry *now, size_t from,
			     size_t to)
{
	const struct measurement *m = seat->session->result->measurements;
	const bool together = to - from > ENTRIES_MAX;
	struct ledger_entry entry = *now;
	size_t count = 0;

	for (size_t i = from; i < to; i++) {
		if (!is_of(seat, m[i].target_index) ||
		    !(m[i].ops[OP_WRITE].bytes + m[i].ops[OP_TRIM].bytes))
			continue;
		entry.written_bytes += m[i].ops[OP_WRITE].bytes;
		entry.discard_bytes += m[i].ops[OP_TRIM].bytes;
		entry.duration_ns += m[i].duration_ns;
		if (count++ == 0)
			snprintf(entry.text, sizeof(entry.text), "measured %.63s", m[i].name);
		if (together)
			continue;
		add(seat, &entry, "measure", "used");
		entry = *now;
		count = 0;
	}
	if (count > 1)
		snprintf(entry.text, sizeof(entry.text), "%zu measurements", count);
	if (count > 0)
		add(seat, &entry, "measure", "used");
}

static void add_layout(struct seat *seat, const struct ledger_entry *now)
{
	const struct session *s = seat->session;
	struct ledger_entry entry = *now;

	for (uint32_t i = 0; i < s->seat_count; i++)
		if (is_of(seat, i))
			entry.written_bytes += s->seats[i].layout_bytes;
	if (!entry.written_bytes)
		return;
	entry.duration_ns = s->result->layout_ns;
	snprintf(entry.text, sizeof(entry.text), "laid out");
	add(seat, &entry, "layout", "used");
}

/* Steps are the plan's own target's, and lie between the measurements. */
void history_end(struct seat *seat)
{
	const struct result *result = seat->session->result;
	struct ledger_entry now;
	size_t from = 0;

	if (!seat->has_ledger)
		return;
	ledger_now(seat->target, &now);
	add_layout(seat, &now);
	for (size_t i = 0; i < result->step_count && seat->index == 0; i++) {
		const size_t to = result->steps[i].before_measurement;

		add_measurements(seat, &now, from, to);
		add_step(seat, &now, &result->steps[i]);
		from = to;
	}
	add_measurements(seat, &now, from, result->measurement_count);
	ledger_done(&seat->ledger);
	seat->has_ledger = false;
}
