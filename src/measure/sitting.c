/* SPDX-License-Identifier: MIT */
#include "measure/sitting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "measure/session.h"
#include "state/state.h"

struct sitting {
	struct session session;
	struct measure_options options; /* a copy: session points here */
};

/* Past the page cache, as every measurement of a procedure will ask it. */
static struct workload opening(void)
{
	struct workload workload;

	workload_init(&workload);
	workload.direct = true;
	return workload;
}

static int open_session(struct sitting *sitting, const struct sitting_request *request,
			struct err *err)
{
	const struct workload first = opening();
	struct session *s = &sitting->session;
	struct seat *seat = s->seats;
	int r;

	seat->spec = request->target;
	seat->wants = (struct seat_wants){
		.first = &first,
		.writes = request->writes,
		.direct = true,
		.uses_file = true,
	};
	r = session_open(s, err);
	seat->wants.first = NULL;
	if (r < 0)
		return r;
	session_describe(s);
	if (!request->lay_out || seat->target->info.kind != TARGET_DIRECTORY)
		return 0;
	session_begin(s, "layout", 0);
	r = layout_run(seat, seat->target->info.size_bytes, err);
	session_end(s, NULL);
	return r;
}

int sitting_open(struct sitting **ret, const struct sitting_request *request, struct result *result,
		 struct err *err)
{
	struct sitting *sitting = calloc(1, sizeof(*sitting));
	int r;

	if (!sitting) {
		result_init(result);
		return err_errno(err, -ENOMEM, "%s", request->target);
	}
	sitting->options = *request->options;
	r = session_init(&sitting->session, 1, &sitting->options, result, err);
	if (r == 0)
		r = open_session(sitting, request, err);
	if (r < 0) {
		session_done(&sitting->session);
		free(sitting);
		return r;
	}
	*ret = sitting;
	return 0;
}

void sitting_close(struct sitting *sitting)
{
	struct session *s;

	if (!sitting)
		return;
	s = &sitting->session;
	s->result->interrupted |= session_stopped(s);
	if (s->result->measurement_count)
		session_audit(s);
	session_done(s);
	free(sitting);
}

const struct target_info *sitting_target(const struct sitting *sitting)
{
	return &sitting->session.seats->target->info;
}

uint64_t sitting_now_ns(const struct sitting *sitting)
{
	return clock_now_ns(&sitting->session.clock);
}

bool sitting_is_virtual(const struct sitting *sitting)
{
	return sitting->session.clock.virtual_ns != NULL;
}

static int stopped(const struct session *s, struct err *err)
{
	return session_stopped(s) ? err_set(err, -EINTR, "interrupted") : 0;
}

int sitting_measure(struct sitting *sitting, const struct workload *workload,
		    const struct measurement **ret, struct err *err)
{
	struct session *s = &sitting->session;
	const struct measurement *m;
	char name[64];
	int r;

	r = stopped(s, err);
	if (r < 0)
		return r;
	phase_name(s, workload, name);
	session_begin(s, name, s->result->measurement_count);
	r = phase_measure(s, &(struct member){ s->seats, workload, false }, 1, err);
	if (r < 0)
		return r;
	m = &s->result->measurements[s->result->measurement_count - 1];
	session_end(s, m);
	if (m->ended_early)
		return err_set(err, s->result->error_code, "%s", s->result->error_text);
	*ret = m;
	return stopped(s, err);
}

int sitting_step(struct sitting *sitting, const struct workload *workload, struct measurement *ret,
		 struct err *err)
{
	struct session *s = &sitting->session;
	const struct engine_options options = {
		.clock = &s->clock,
		.stop = s->options->stop,
		.progress = s->options->observer.progress,
		.progress_ctx = s->options->observer.ctx,
	};
	int r;

	measurement_init(ret);
	r = stopped(s, err);
	if (r == 0)
		r = open_mode_apply(s->seats, workload, err);
	if (workload_writes(workload))
		seat_forget_written(s->seats);
	if (r == 0)
		r = engine_run(workload, s->seats->target, &options, ret, err);
	if (r == 0 && ret->ended_early)
		r = err_set(err, ret->errno_count ? ret->errnos[0].code : -EIO, "%s",
			    ret->error_text);
	if (r == 0)
		r = stopped(s, err);
	return r < 0 ? err_wrap(err, "%s", workload->name) : 0;
}

int sitting_state(struct sitting *sitting, const struct step *step, const struct step_result **ret,
		  struct err *err)
{
	struct session *s = &sitting->session;
	int r;

	r = stopped(s, err);
	if (r < 0)
		return r;
	session_begin(s, step_rows[step->kind].name, s->result->step_count);
	r = session_step(s->seats, step, err);
	session_end(s, NULL);
	if (r < 0)
		return r;
	*ret = &s->result->steps[s->result->step_count - 1];
	return stopped(s, err);
}

uint64_t sitting_forecast_bytes(const struct sitting *sitting, const struct step *step)
{
	struct state_forecast forecast;

	state_forecast(sitting_target(sitting), step, &forecast);
	return forecast.write_bytes;
}

int sitting_idle(struct sitting *sitting, uint64_t idle_ns, struct err *err)
{
	session_idle(&sitting->session, idle_ns, 0);
	return stopped(&sitting->session, err);
}

bool sitting_has_erase(const struct sitting *sitting)
{
	return sitting->session.seats->target->purge != NULL;
}
