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

/* Whether there is something of that kind; what is joined is the gate's to judge, part by part. */
static bool is_kind(const char *spec, mode_t kind)
{
	struct stat st;

	return strncmp(spec, "join:", 5) == 0 ||
	       (stat(spec, &st) == 0 && (st.st_mode & S_IFMT) == kind);
}

static bool any_kind(const struct plan *plan, mode_t kind)
{
	bool any = is_kind(plan->target, kind);

	for (size_t i = 1; i < plan->target_count; i++)
		any |= is_kind(plan->targets[i].spec, kind);
	return any;
}

static int check_writes(const struct invocation *inv, bool writes, struct err *err)
{
	if (writes || (!inv->erase_data && !inv->expendable[0]))
		return 0;
	err_set(err, -EINVAL, "%s with a workload that only reads",
		inv->erase_data ? "--erase-data" : "--expendable");
	return err_hint(err, "leave it out, or write: --rw=randwrite");
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
	return check_writes(inv, writes, err);
}

int consent_settle_plan(struct invocation *inv, const struct plan *plan, struct err *err)
{
	if (plan->target_count < 2 && strncmp(plan->target, "join:", 5) != 0)
		return consent_settle(inv, plan->target, plan_writes(plan), err);
	if (inv->erase_data && !any_kind(plan, S_IFBLK))
		return err_set(err, -EINVAL,
			       "--erase-data is for block devices, and no target is one");
	if (inv->expendable[0] && !any_kind(plan, S_IFREG))
		return err_set(err, -EINVAL,
			       "--expendable is for existing files, and no target is one");
	if (inv->erase_data && !inv->erase_serial[0]) {
		err_set(err, -EINVAL, "--erase-data needs the serial numbers where there are several "
			"targets");
		return err_hint(err, "--erase-data=SERIAL,SERIAL; tare devices --json lists them");
	}
	return check_writes(inv, plan_writes(plan), err);
}

int consent_settle(struct invocation *inv, const char *spec, bool writes, struct err *err)
{
	struct target_info info;
	int r;

	r = check_use(inv, spec, writes, err);
	if (r < 0 || !inv->erase_data || inv->erase_serial[0])
		return r;
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
	static_assert(sizeof(inv->erase_serial) >= sizeof(info.erase_name), "copied whole");
	memcpy(inv->erase_serial, info.erase_name, sizeof(info.erase_name));
	return 0;
}
