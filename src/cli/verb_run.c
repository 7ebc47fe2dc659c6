/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/consent.h"
#include "cli/runner.h"

static int make_plan(struct invocation *inv, struct plan *ret, struct err *err)
{
	int r = invocation_plan(inv, ret, err);

	if (r < 0)
		return r;
	r = consent_settle_plan(inv, ret, err);
	if (r < 0)
		plan_done(ret);
	return r;
}

static int run_run(struct invocation *inv)
{
	struct plan plan;
	struct err err = { 0 };
	int r, exit_code;

	r = make_plan(inv, &plan, &err);
	if (r < 0)
		return invocation_fail(inv, exit_of_refusal(r), &err);
	exit_code = runner_run(inv, &(struct runner){ .plan = &plan, .full = true });
	plan_done(&plan);
	return exit_code;
}

const struct verb verb_run = {
	.name = "run",
	.summary = "run one workload from flags, or a plan from a YAML file",
	.description =
		"The flags are fio's where they mean the same. A directory gets a test file of --size "
		"without a name, written in full before anything is read. An existing file or a device "
		"is only read unless --expendable or --erase-data allows more; nothing is created, "
		"extended or truncated.\n\n"
		"With --rate-iops requests start on schedule, whether or not earlier ones are done, and "
		"latency counts from the moment each was meant to start; the service time stands "
		"beside it.",
	.positional = POSITIONAL_PLAN_TARGET,
	.operands = "[PLAN.yaml] [TARGET]",
	.tables = { run_fields, consent_fields },
	.takes_workload = true,
	.examples = {
		{ "run --rw=randread --bs=4k --iodepth=32 --runtime=30s .", "in the current directory" },
		{ "run --rw=randwrite --rate-iops=1000 --runtime=1m /mnt/data",
		  "latency at a given load" },
		{ "run plan.yaml /mnt/data", "several phases" },
		{ "run --rw=randrw --rwmixread=70 --print-plan . > plan.yaml",
		  "the plan a command line amounts to" },
	},
	.run = run_run,
};
