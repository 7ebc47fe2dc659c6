/* SPDX-License-Identifier: MIT */
#include "cli/consent.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/stop.h"
#include "target/target.h"

#define SERIAL_TYPED 4

/* A volume over several drives has a name of its own, and info->serial is one drive's. */
static bool named_by_serial(const struct target_info *info)
{
	return info->serial[0] && strcmp(info->erase_name, info->serial) == 0;
}

const char *consent_word(const struct target_info *info)
{
	const size_t length = strlen(info->serial);

	if (!named_by_serial(info))
		return info->erase_name;
	return length > SERIAL_TYPED ? info->serial + length - SERIAL_TYPED : info->serial;
}

/* The drive behind the spec, by an opening that can only read. */
static int look(const char *spec, struct target_info *ret, struct err *err)
{
	const struct target_request request = { .spec = spec };
	struct target *target;
	int r = target_open(&target, &request, err);

	if (r < 0)
		return r;
	*ret = target->info;
	target_close(target);
	return 0;
}

/*
 * Waits for the terminal. Signals are let in by the wait alone: a Ctrl-C between looking at the
 * flag and waiting would otherwise be slept through. False once the flag is up.
 */
static bool wait_for_line(const volatile sig_atomic_t *stop)
{
	struct pollfd terminal = { .fd = STDIN_FILENO, .events = POLLIN };
	sigset_t held, before;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigprocmask(SIG_BLOCK, &held, &before);
	while (!*stop && ppoll(&terminal, 1, NULL, &before) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return !*stop;
}

/* One line from the terminal, without its newline; -EINTR on Ctrl-C, -EINVAL at its end. */
static int read_line(const volatile sig_atomic_t *stop, char *line, size_t line_bytes,
		     struct err *err)
{
	if (!wait_for_line(stop))
		return err_set(err, -EINTR, "nothing was typed; nothing was opened for writing");
	errno = 0;
	if (!fgets(line, (int)line_bytes, stdin))
		return err_set(err, errno == EINTR ? -EINTR : -EINVAL,
			       "nothing was typed; nothing was opened for writing");
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

static int ask(const struct target_info *info, struct err *err)
{
	const char *word = consent_word(info);
	struct report_style style = { .utf8 = true, .columns = 80 };
	struct text text = TEXT_INIT;
	const volatile sig_atomic_t *stop = stop_on_signals();
	char line[128];
	int r;

	report_target_text(info, &style, &text);
	fputs(text_string(&text), stderr);
	text_done(&text);
	if (named_by_serial(info))
		fprintf(stderr, "This erases it. Type the last %zu characters of the serial number %s: ",
			strlen(word), info->serial);
	else
		fprintf(stderr, "This erases it. It has no serial number; type its name, %s: ", word);
	fflush(stderr);
	r = read_line(stop, line, sizeof(line), err);
	if (r < 0) {
		fputs("\n", stderr);
		return r;
	}
	if (strcmp(line, word) != 0)
		return err_set(err, -EPERM, "'%s' is not %s; nothing was opened for writing", line,
			       word);
	return 0;
}

/* What is joined is the gate's to judge, part by part. */
static bool is_kind(const char *spec, mode_t kind)
{
	struct stat st;

	return strncmp(spec, "join:", 5) == 0 ||
	       (stat(spec, &st) == 0 && (st.st_mode & S_IFMT) == kind);
}

/* Nothing is accepted and then ignored. */
static int check_use(const struct invocation *inv, const char *spec, bool writes, struct err *err)
{
	if (inv->erase_data && !is_kind(spec, S_IFBLK))
		return err_set(err, -EINVAL,
			       "--erase-data is for block devices, and %s is not one", spec);
	if (inv->expendable[0] && !is_kind(spec, S_IFREG))
		return err_set(err, -EINVAL, "--expendable is for existing files, and %s is not one",
			       spec);
	if (!writes && (inv->erase_data || inv->expendable[0])) {
		err_set(err, -EINVAL, "%s with a workload that only reads",
			inv->erase_data ? "--erase-data" : "--expendable");
		return err_hint(err, "leave it out, or write: --rw=randwrite");
	}
	return 0;
}

/* Asks for the device on the terminal and adds its name to the list. */
static int settle_device(struct invocation *inv, const char *spec, struct err *err)
{
	const size_t length = strlen(inv->erase_serial);
	struct target_info info;
	int r;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		err_set(err, -EINVAL, "--erase-data needs the serial number where no terminal can ask");
		return err_hint(err, "--erase-data=SERIAL; tare devices --json lists them");
	}
	r = look(spec, &info, err);
	if (r < 0)
		return r;
	r = ask(&info, err);
	if (r < 0)
		return r;
	if (length + sizeof(info.erase_name) + 1 >= sizeof(inv->erase_serial))
		return err_set(err, -ERANGE, "more devices than one consent can name; run them apart");
	snprintf(inv->erase_serial + length, sizeof(inv->erase_serial) - length, "%s%s",
		 length ? "," : "", info.erase_name);
	return 0;
}

int consent_settle(struct invocation *inv, const char *spec, bool writes, struct err *err)
{
	int r = check_use(inv, spec, writes, err);

	if (r < 0 || !inv->erase_data || inv->erase_serial[0])
		return r;
	return settle_device(inv, spec, err);
}

/* The same path may be several targets of one plan: it is one device all the same. */
static bool is_written(const struct plan *plan, const char *spec)
{
	for (size_t i = 0; i < plan->phase_count; i++) {
		const struct phase *phase = &plan->phases[i];

		if (phase->kind == PHASE_MEASURE && workload_writes(&phase->workload) &&
		    strcmp(plan->targets[phase->target_index].spec, spec) == 0)
			return true;
		if (phase->kind == PHASE_STEP && step_writes(&phase->step) &&
		    strcmp(plan->targets[0].spec, spec) == 0)
			return true;
	}
	return false;
}

static bool is_first(const struct plan *plan, uint32_t target)
{
	for (uint32_t i = 0; i < target; i++)
		if (strcmp(plan->targets[i].spec, plan->targets[target].spec) == 0)
			return false;
	return true;
}

int consent_settle_plan(struct invocation *inv, const struct plan *plan, struct err *err)
{
	const mode_t wanted = inv->erase_data ? S_IFBLK : S_IFREG;
	const bool listed = inv->erase_serial[0];
	bool has_use = false;
	int r = 0;

	if (!plan->target_count)
		return consent_settle(inv, plan->target, plan_writes(plan), err);
	if (!inv->erase_data && !inv->expendable[0])
		return 0;
	for (uint32_t i = 0; r == 0 && i < plan->target_count; i++) {
		const char *spec = plan->targets[i].spec;

		if (!is_first(plan, i) || !is_kind(spec, wanted) || !is_written(plan, spec))
			continue;
		has_use = true;
		if (inv->erase_data && !listed)
			r = settle_device(inv, spec, err);
	}
	/* What is no device and is not written needs no consent: the sentence is check_use's. */
	return r < 0 || has_use ? r : check_use(inv, plan->targets[0].spec, plan_writes(plan), err);
}
