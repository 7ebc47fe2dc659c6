/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/runner.h"
#include "measure/measure.h"

/* A device or file of somebody's is only read, unless the command line gives it up. */
static bool reads_only(const struct invocation *inv, const char *target)
{
	struct stat st;

	if (stat(target, &st) < 0 || S_ISDIR(st.st_mode))
		return false;
	return S_ISREG(st.st_mode) ? !inv->expendable[0] : !inv->erase_data;
}

static int check_size(const struct invocation *inv, const char *target, struct err *err)
{
	struct stat st;

	if (inv->test_file_bytes && (stat(target, &st) < 0 || !S_ISDIR(st.st_mode)))
		return err_set(err, -EINVAL,
			       "--size is for the test file in a directory, and %s is not one", target);
	return 0;
}

static int make_plan(struct invocation *inv, enum check_length length, struct plan *ret,
		     struct err *err)
{
	const char *target = inv->target[0] ? inv->target : ".";
	int r;

	r = check_size(inv, target, err);
	if (r < 0)
		return r;
	r = consent_settle(inv, target, true, err);
	if (r < 0)
		return r;
	return measure_check_plan(ret, target, length, reads_only(inv, target), err);
}

static int check_run(struct invocation *inv)
{
	const enum check_length length = inv->quick   ? CHECK_QUICK :
					 inv->is_long ? CHECK_LONG : CHECK_NORMAL;
	struct plan plan;
	struct err err = { 0 };
	int r, exit_code;

	r = make_plan(inv, length, &plan, &err);
	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	exit_code = runner_run(inv, &(struct runner){
		.plan = &plan,
		.test_file_bytes = inv->test_file_bytes,
		.layout_ns_max = measure_check_layout_ns(length),
	});
	plan_done(&plan);
	return exit_code;
}

const struct verb verb_check = {
	.name = "check",
	.summary = "measure the storage under a path in about a minute, with an audit",
	.description =
		"A directory (the current one by default) gets a test file without a name, written in "
		"full with incompressible data before anything is read, and gone afterwards whatever "
		"happens. A block device is only read, unless --erase-data allows its erasure; an "
		"existing file is only read, unless it is named --expendable.\n\n"
		"Nine rows: sequential 1 MiB at depth 8 and 1, random 4 KiB at depth 32 and 1, each "
		"read and written, and a 4 KiB write with fdatasync. Below them stands what could make "
		"a figure misleading, and what to do about it.",
	.positional = POSITIONAL_TARGET,
	.operands = "[PATH|DEVICE]",
	.tables = { check_fields, consent_fields },
	.examples = {
		{ "check", "the storage under the current directory" },
		{ "check --quick /mnt/data", "in about 15 seconds" },
		{ "check /dev/nvme0n1", "a whole drive, reads only" },
		{ "check --json . | jq '.measurements[].ops'", "for scripts" },
	},
	.run = check_run,
};
