/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/runner.h"
#include "state/keep.h"

/* --- the checkpoint: the plan of what is still to be done ------------------------------ */

struct checkpoint {
	const struct plan *plan;
	char path[PATH_MAX];		/* "" = none is kept */
};

static bool is_sim(const char *target)
{
	return strncmp(target, "sim:", 4) == 0;
}

/* What comes from phase first on, put in the old one's place whole or not at all. */
static int checkpoint_write(const struct checkpoint *c, size_t first)
{
	struct plan rest = *c->plan;
	struct text text = TEXT_INIT;
	char fresh[PATH_MAX + 8];
	int r = 0;

	rest.phases += first;
	rest.phase_count -= first;
	snprintf(fresh, sizeof(fresh), "%s.new", c->path);
	plan_print(&rest, &text);
	errno = EIO;		/* a short write sets none */
	DEFER(defer_close) int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text_string(&text), text.length) != (ssize_t)text.length ||
	    fsync(fd) < 0 || rename(fresh, c->path) < 0) {
		r = -errno;
		unlink(fresh);
	}
	if (r == 0)
		r = paths_sync_parent(c->path);
	text_done(&text);
	return r;
}

static void on_phase_done(void *ctx, size_t index)
{
	const struct checkpoint *c = ctx;

	if (!c->path[0])
		return;
	if (index + 1 == c->plan->phase_count)
		unlink(c->path);
	else
		(void)checkpoint_write(c, index + 1);
}

/* --- the plan -------------------------------------------------------------------------- */

static char *trimmed(char *text)
{
	char *end;

	text += strspn(text, " \t\n");
	end = text + strlen(text);
	while (end > text && strchr(" \t\n", end[-1]))
		*--end = '\0';
	return text;
}

/* "purge; fill=2; trim" */
static int plan_of_steps(const struct invocation *inv, struct plan *ret, struct err *err)
{
	char steps[sizeof(inv->steps)], *save = NULL;
	int r = 0;

	memcpy(steps, inv->steps, sizeof(steps));
	plan_init(ret);
	memcpy(ret->target, inv->target, sizeof(ret->target));
	for (char *word = strtok_r(steps, ";", &save); r == 0 && word;
	     word = strtok_r(NULL, ";", &save)) {
		struct step step;

		word = trimmed(word);
		if (!*word)
			continue;
		r = step_parse(word, &step, err);
		if (r == 0)
			plan_add(ret, PHASE_STEP)->step = step;
	}
	if (r == 0 && !ret->phase_count) {
		err_set(err, -EINVAL, "which steps?");
		r = err_hint(err, "--steps='purge; fill=2', or --resume what was broken off");
	}
	if (r < 0)
		plan_done(ret);
	return r;
}

static int plan_of_checkpoint(const struct invocation *inv, const char *path, struct plan *ret,
			      struct err *err)
{
	if (inv->steps[0])
		return err_set(err, -EINVAL, "--resume goes on with the steps there were; leave out "
					     "--steps");
	if (is_sim(inv->target))
		return err_set(err, -EINVAL, "%s does not outlive a run: there is nothing to resume",
			       inv->target);
	if (access(path, F_OK) < 0)
		return err_set(err, -EINVAL, "nothing was broken off on %s", inv->target);
	if (plan_load(ret, path, err) < 0) {
		err_wrap(err, "the checkpoint cannot be read");
		return err_hint(err, "leave --resume out and name the steps to begin anew");
	}
	/* The same place, by the name it has today. */
	memcpy(ret->target, inv->target, sizeof(ret->target));
	return 0;
}

static int make_plan(struct invocation *inv, struct checkpoint *checkpoint, struct plan *ret,
		     struct err *err)
{
	int r = 0;

	if (!inv->target[0]) {
		err_set(err, -EINVAL, "which target?");
		return err_hint(err, "tare precondition --steps=... DIR|FILE|DEVICE");
	}
	if (!is_sim(inv->target))
		r = keep_path("precondition", inv->target, ".yaml", checkpoint->path, err);
	if (r == 0)
		r = inv->resume ? plan_of_checkpoint(inv, checkpoint->path, ret, err) :
					plan_of_steps(inv, ret, err);
	if (r < 0)
		return r;
	r = consent_settle(inv, ret->target, plan_writes(ret), err);
	checkpoint->plan = ret;
	if (r == 0 && checkpoint->path[0]) {
		r = checkpoint_write(checkpoint, 0);
		if (r < 0)
			err_errno(err, r, "the checkpoint %s", checkpoint->path);
	}
	if (r < 0)
		plan_done(ret);
	return r;
}

static int run_precondition(struct invocation *inv)
{
	struct checkpoint checkpoint = { .plan = NULL };
	struct plan plan;
	struct err err = { 0 };
	int r, exit_code;

	r = make_plan(inv, &checkpoint, &plan, &err);
	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	exit_code = runner_run(inv, &(struct runner){ .plan = &plan,
						      .phase_done = on_phase_done,
						      .phase_done_ctx = &checkpoint });
	/* Refused: nothing was begun that could go on; what was broken off before stays. */
	if (checkpoint.path[0] && !inv->resume && (exit_code == EXIT_USAGE || exit_code == EXIT_REFUSED))
		unlink(checkpoint.path);
	plan_done(&plan);
	return exit_code;
}

static const struct field precondition_fields[] = {
	{ .name = "steps", .type = FIELD_TEXT, .offset = offsetof(struct invocation, steps),
	  .room = sizeof(((struct invocation *)NULL)->steps), .metavar = "STEPS",
	  .group = "State", .help = "what to do, as in \"purge; fill=2; dirty:by=random,amount=50%\"; "
				    "tare help steps lists them" },
	{ .name = "resume", .type = FIELD_BOOL, .offset = offsetof(struct invocation, resume),
	  .group = "State", .help = "go on with what was broken off on this target" },
	{ .name = NULL },
};

const struct verb verb_precondition = {
	.name = "precondition",
	.summary = "put a drive into a known state: purge, fill, dirty, trim, settle",
	.description =
		"Does the steps one after the other and says what each did: bytes, files, discards, "
		"time, and whether what was to be reached was. The same steps can stand in a plan for "
		"tare run, between measurements.\n\n"
		"Consent is as for tare run. In a directory, files are made in a directory of tare's "
		"own, which is removed at the end, whatever happens; after a SIGKILL by the next start "
		"of tare.\n\n"
		"After each step a checkpoint is written. --resume goes on after the last step that was "
		"done whole; one that was under way is begun again.",
	.positional = POSITIONAL_TARGET,
	.operands = "TARGET",
	.tables = { precondition_fields, consent_fields },
	.examples = {
		{ "precondition --steps='purge; fill=2' --erase-data=SERIAL /dev/nvme1n1",
		  "as for a random-write test" },
		{ "precondition --steps='dirty=techgage; trim' /mnt/data",
		  "through the file system, then trimmed" },
		{ "precondition --steps='fill; settle:rule=snia,round=10s' sim:sata-mlc-2012",
		  "on the reference drive" },
	},
	.run = run_precondition,
};
