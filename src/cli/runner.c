/* SPDX-License-Identifier: MIT */
#include "cli/runner.h"

#include <string.h>

#include "cli/progress.h"
#include "cli/stop.h"
#include "measure/measure.h"
#include "state/state.h"

static int print_result(const struct invocation *inv, const struct runner *runner,
			const struct result *result)
{
	struct report_style style;
	struct text text = TEXT_INIT;
	int printed, exit_code = exit_of_result(result);

	if (inv->json && !runner->is_own_report) {
		report_json(result, &text);
	} else if (runner->report) {
		runner->report(runner->report_ctx, result, &text);
	} else {
		invocation_style(inv, &style);
		style.full = runner->full;
		text_add(&text, "\n");
		report_text(result, &style, &text);
	}
	printed = print_text(inv, &text);
	text_done(&text);
	return printed != EXIT_DONE ? printed : exit_code;
}

/* Who reads another tool's documents gets one, also when nothing was run. */
static int fail(const struct invocation *inv, const struct runner *runner, struct result *result,
		const struct err *err)
{
	struct text text = TEXT_INIT;

	if (runner->report && !runner->is_own_report && !inv->json) {
		result->error_code = err->code;
		memcpy(result->error_text, err->text, sizeof(result->error_text));
		memcpy(result->error_hint, err->hint, sizeof(result->error_hint));
		runner->report(runner->report_ctx, result, &text);
		print_text(inv, &text);
		text_done(&text);
	}
	return invocation_fail(inv, exit_of_refusal(err->code), err);
}

int runner_run(const struct invocation *inv, const struct runner *runner)
{
	struct progress progress;
	struct result result;
	struct err err = { 0 };
	struct measure_options options = {
		.stop = stop_on_signals(),
		.erase_serial = inv->erase_serial[0] ? inv->erase_serial : NULL,
		.expendable_path = inv->expendable[0] ? inv->expendable : NULL,
		.test_file_bytes = runner->test_file_bytes,
		.layout_ns_max = runner->layout_ns_max,
		.command = inv->command,
		.ledger_directory = "",
		.phase_done = runner->phase_done,
		.phase_done_ctx = runner->phase_done_ctx,
	};
	int r, exit_code;

	state_reap(NULL);
	progress_init(&progress, inv, runner->plan);
	progress.header &= !runner->report || runner->is_own_report;
	options.observer = progress_observer(&progress);
	r = measure_plan(runner->plan, &options, &result, &err);
	progress_done(&progress);
	if (r < 0)
		exit_code = fail(inv, runner, &result, &err);
	else
		exit_code = print_result(inv, runner, &result);
	result_done(&result);
	return exit_code;
}
