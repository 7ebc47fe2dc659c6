/* SPDX-License-Identifier: MIT */
#include "cli/runner.h"

#include <string.h>

#include "cli/progress.h"
#include "cli/record.h"
#include "cli/stop.h"
#include "cli/traces.h"
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

static void add_notes(const struct runner *runner, struct result *result)
{
	for (size_t i = 0; i < runner->note_count; i++) {
		struct finding *f = result_find(result, runner->note_code, SEVERITY_INFO, "");

		snprintf(f->text, sizeof(f->text), "%s", runner->notes[i]);
	}
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

/* The result is out already: stdout holds one document. */
static int recording_failed(const struct err *err)
{
	fprintf(stderr, "tare: the recording: %s\n", err->text);
	if (*err->hint)
		fprintf(stderr, "      %s\n", err->hint);
	return EXIT_INTERNAL;
}

/* The plan, with its traces, into a result that is printed. */
static int run_plan(const struct invocation *inv, const struct runner *runner,
		    struct measure_options *options, struct record_files *files)
{
	struct progress progress;
	struct result result;
	struct err err = { 0 };
	int r, exit_code;

	progress_init(&progress, inv, runner->plan);
	progress.header &= !runner->report || runner->is_own_report;
	options->observer = progress_observer(&progress);
	r = measure_plan(runner->plan, options, &result, &err);
	progress_done(&progress);
	if (r < 0) {
		exit_code = fail(inv, runner, &result, &err);
	} else {
		add_notes(runner, &result);
		exit_code = print_result(inv, runner, &result);
		if (runner->done)
			runner->done(runner->report_ctx, &result);
		if (inv->record[0] && record_write(files, options->recording, &result, &err) < 0)
			exit_code = recording_failed(&err);
		if (options->recording && options->recording->lost_count)
			fprintf(stderr, "tare: the recording lacks %llu requests: they could not be "
					"written in time\n",
				(unsigned long long)options->recording->lost_count);
	}
	if (inv->record[0])
		record_close(files, r == 0);
	result_done(&result);
	return exit_code;
}

/* Makes the files of a recording, before anything is opened. */
static int start_recording(const struct invocation *inv, struct measure_options *options,
			   struct record_files *files, struct err *err)
{
	int r;

	if (!inv->record[0])
		return 0;
	r = record_open(files, inv->record, err);
	if (r < 0 || options->recording)
		return r;
	r = recording_new(&options->recording, err);
	if (r < 0)
		record_close(files, false);
	return r;
}

int runner_run(const struct invocation *inv, const struct runner *runner)
{
	struct record_files files;
	struct traces own;
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
		.recording = runner->recording,
		.trace_open = traces_open,
		.trace_ctx = runner->traces ? runner->traces : &own,
	};
	int exit_code;

	state_reap(NULL);
	traces_init(&own);
	if (start_recording(inv, &options, &files, &err) < 0)
		exit_code = invocation_fail(inv, exit_of_refusal(err.code), &err);
	else
		exit_code = run_plan(inv, runner, &options, &files);
	if (!runner->recording)
		recording_free(options.recording);
	traces_done(&own);
	return exit_code;
}
