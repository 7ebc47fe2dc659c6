/* SPDX-License-Identifier: MIT */

/* history - the drive's ledger around a session: what it says before, what is added after. */

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "measure/session.h"
#include "state/ledger.h"

void history_begin(struct session *s)
{
	const char *directory = s->options->ledger_directory;
	struct result *result = s->result;
	struct ledger_entry now, others;
	struct err err = { 0 };
	int r;

	if (!directory)
		return;
	r = ledger_open(&s->ledger, *directory ? directory : NULL, &s->target->info, &err);
	if (r < 0) {
		/* No drive, no ledger; one that cannot be read is told, and left as it is. */
		if (r != -ENODEV)
			snprintf(result->state_text, sizeof(result->state_text), "no ledger: %.200s",
				 err.text);
		return;
	}
	s->has_ledger = true;
	ledger_now(s->target, &now);
	if (ledger_catch_up(&s->ledger, &now, &others) && ledger_add(&s->ledger, &others, &err) < 0)
		snprintf(result->state_text, sizeof(result->state_text), "no ledger: %.200s", err.text);
	else if (s->target->info.kind == TARGET_BLOCK)
		ledger_state(&s->ledger, result->state, result->state_text,
			     sizeof(result->state_text));
}

/* Of a part of the drive its whole is only "used". */
static const char *state_of(const struct session *s, const char *name)
{
	const struct target_info *info = &s->target->info;

	return info->kind == TARGET_BLOCK && !info->has_partition && *name ? name : "used";
}

static void add(struct session *s, struct ledger_entry *entry, const char *what, const char *state)
{
	struct err err;

	snprintf(entry->who, sizeof(entry->who), "tare %.32s, uid %u", s->result->version,
		 (unsigned int)geteuid());
	snprintf(entry->what, sizeof(entry->what), "%s", what);
	snprintf(entry->state, sizeof(entry->state), "%s", state_of(s, state));
	if (ledger_add(&s->ledger, entry, &err) < 0)
		session_fail(s, &err);
}

static void add_step(struct session *s, const struct ledger_entry *now,
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
	add(s, &entry, step->name, step->interrupted ? "unknown" : step->state);
}

static void add_measurement(struct session *s, const struct ledger_entry *now,
			    const struct measurement *m)
{
	struct ledger_entry entry = *now;

	entry.written_bytes = m->ops[OP_WRITE].bytes;
	entry.discard_bytes = m->ops[OP_TRIM].bytes;
	entry.duration_ns = m->duration_ns;
	if (!entry.written_bytes && !entry.discard_bytes)
		return;
	snprintf(entry.text, sizeof(entry.text), "measured %.63s", m->name);
	add(s, &entry, "measure", "used");
}

static void add_layout(struct session *s, const struct ledger_entry *now)
{
	struct ledger_entry entry = *now;

	entry.written_bytes = s->result->layout_bytes;
	entry.duration_ns = s->result->layout_ns;
	snprintf(entry.text, sizeof(entry.text), "laid out");
	add(s, &entry, "layout", "used");
}

void history_end(struct session *s)
{
	const struct result *result = s->result;
	struct ledger_entry now;
	size_t next = 0;

	if (!s->has_ledger)
		return;
	ledger_now(s->target, &now);
	if (result->layout_bytes)
		add_layout(s, &now);
	for (size_t i = 0; i <= result->measurement_count; i++) {
		while (next < result->step_count && result->steps[next].before_measurement <= i)
			add_step(s, &now, &result->steps[next++]);
		if (i < result->measurement_count)
			add_measurement(s, &now, &result->measurements[i]);
	}
	ledger_done(&s->ledger);
	s->has_ledger = false;
}
