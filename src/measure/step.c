/* SPDX-License-Identifier: MIT */

/* step - a step of the state within a session, and what the result then says of the state. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "measure/session.h"
#include "state/state.h"

static int open_state(struct seat *seat, struct err *err)
{
	const struct session *s = seat->session;
	const struct state_options options = {
		.target = seat->target,
		.clock = &s->clock,
		.stop = s->options->stop,
		.progress = s->options->observer.progress,
		.progress_ctx = s->options->observer.ctx,
	};

	return seat->state ? 0 : state_open(&seat->state, &options, err);
}

/* Steps go past the page cache, whatever the measurements do. */
static int open_direct(struct seat *seat, struct err *err)
{
	struct workload workload;

	workload_init(&workload);
	workload.direct = true;
	return open_mode_apply(seat, &workload, err);
}

/* What a drive is called after the step; NULL = as before. */
static const char *state_after(const struct step *step, const struct step_result *done)
{
	switch (step->kind) {
	case STEP_PURGE:
		return done->reached ? "purged" : "unknown";
	case STEP_FILL:
		return "filled";
	case STEP_DIRTY:
		return "dirty";
	case STEP_DELETE:
		return "deleted";
	case STEP_TRIM:
		return "trimmed";
	case STEP_SETTLE:
		return done->reached ? "steady" : "unsettled";
	default:
		return NULL;
	}
}

/* The sentence is the list of what was done, as long as there is room; the newest is whole. */
static void describe_after(struct seat *seat, const struct step *step, struct step_result *done)
{
	struct result *result = seat->session->result;
	const char *name = state_after(step, done);
	struct text text = TEXT_INIT;

	if (name) {
		snprintf(done->state, sizeof(done->state), "%s", done->interrupted ? "unknown" : name);
		snprintf(result->state, sizeof(result->state), "%s", done->state);
	}
	for (size_t i = 0; i + 1 < result->step_count; i++)
		text_add(&text, "%s%s", i ? ", " : "after ", result->steps[i].name);
	text_add(&text, "%s%s: %s", result->step_count > 1 ? "; " : "", done->name, done->text);
	snprintf(result->state_text, sizeof(result->state_text), "%s", text_string(&text));
	text_done(&text);
}

/* Bytes that the step changed are no longer what was sampled. */
static void forget_samples(struct seat *seat)
{
	seat->sampled_size_bytes = 0;
	seat->range_bytes = 0;
	seat_forget_written(seat);
}

static bool did_nothing(const struct step_result *done)
{
	return !done->written_bytes && !done->discard_asked_bytes && !done->file_count &&
	       !done->file_deleted_count;
}

int session_step(struct seat *seat, const struct step *step, struct err *err)
{
	struct result *result = seat->session->result;
	struct step_result *done;
	int r;

	r = open_state(seat, err);
	if (r == 0)
		r = open_direct(seat, err);
	if (r < 0)
		return r;
	done = result_add_step(result);
	r = state_step(seat->state, step, done, err);
	if (step_writes(step))
		forget_samples(seat);
	if (r < 0 && did_nothing(done)) {
		result->step_count--;
		return r;
	}
	if (r < 0) {
		snprintf(done->text, sizeof(done->text), "%.319s", err ? err->text : "failed");
		done->reached = false;
		snprintf(done->state, sizeof(done->state), "unknown");
		snprintf(result->state, sizeof(result->state), "unknown");
	} else {
		describe_after(seat, step, done);
	}
	result->interrupted |= done->interrupted;
	return r;
}

/* Resting without a probe is the same on every target, also on one without a state. */
void session_note_idle(struct session *s, uint64_t start_ns)
{
	struct step_result *done = result_add_step(s->result);
	char time[UNITS_TEXT_BYTES];

	snprintf(done->name, sizeof(done->name), "idle");
	snprintf(done->method, sizeof(done->method), "time");
	done->start_ns = start_ns;
	done->duration_ns = clock_now_ns(&s->clock) - start_ns;
	done->reached = true;
	done->interrupted = session_stopped(s);
	snprintf(done->text, sizeof(done->text), "no I/O for %s",
		 units_format_latency((double)done->duration_ns, time));
}
