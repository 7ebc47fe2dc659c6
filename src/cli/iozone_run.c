/* SPDX-License-Identifier: MIT */
#include "cli/iozone_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "cli/version.h"
#include "foreign/iozone.h"
#include "measure/measure.h"
#include "report/iozone.h"
#include "state/ledger.h"
#include "state/state.h"
#include "stats/histogram.h"

/* The finding about a row that could not even begin: one for each. */
#define ROW_REFUSED "iozone-row"
/* As the audit has it. */
#define SHORT_NS (5 * SECOND_NS)

struct run {
	const struct invocation *inv;
	struct plan *plan;
	struct iozone_sheet *sheet;
	const volatile sig_atomic_t *stop;
	struct result total; /* of all slices */
	struct progress progress;
	struct measure_observer live; /* of progress; empty when there is nothing to show */
	bool begun;		      /* the banner is out */
	bool refused;		      /* the first error was a row's that could not begin */
	bool mismatch;		      /* data did not read back as it was written */
	uint32_t dropped;	      /* passes that an error ended: bit per pass */
	int exit_code;		      /* of stdout */

	/* The part of the plan that runs now: the cell of each of its measurements. */
	size_t *cells;
	size_t cell_count, done_count;
};

static void put(struct run *run, struct text *text)
{
	const int printed = run->inv->json ? EXIT_DONE : print_text(run->inv, text);

	if (printed != EXIT_DONE)
		run->exit_code = printed;
	text_done(text);
}

static void begin(struct run *run)
{
	const time_t now = time(NULL);
	struct text text = TEXT_INIT;
	struct tm local;
	char began[64];

	if (run->begun)
		return;
	run->begun = true;
	strftime(began, sizeof(began), "%a %b %e %H:%M:%S %Y", localtime_r(&now, &local));
	report_iozone_banner(run->sheet, TARE_VERSION, began, &text);
	put(run, &text);
}

static void on_target(void *ctx, const struct target_info *info)
{
	(void)info;
	begin(ctx);
}

static void on_begin(void *ctx, const char *name, size_t index, size_t count)
{
	struct run *run = ctx;

	(void)index;
	(void)count;
	if (run->live.begin && run->done_count < run->cell_count)
		run->live.begin(run->live.ctx, name,
				run->sheet->cells[run->cells[run->done_count]].phase,
				run->plan->phase_count);
}

static void on_progress(void *ctx, const struct engine_progress *progress)
{
	struct run *run = ctx;

	if (run->live.progress)
		run->live.progress(run->live.ctx, progress);
}

/* Requests took so long, without the pauses that were asked for between them. */
static uint64_t busy_ns(const struct measurement *m)
{
	uint64_t ret = 0;

	if (!m->workload.think_ns)
		return m->duration_ns;
	/* With a sync for each write the write's own time has it. */
	for (int kind = 0; kind < OP_KINDS - (m->workload.fsync_count == 1); kind++)
		ret += m->ops[kind].service ? m->ops[kind].service->sum_ns : 0;
	return ret;
}

static void fill_cell(struct iozone_cell *cell, const struct measurement *m)
{
	cell->count = m->ops[OP_READ].count + m->ops[OP_WRITE].count;
	cell->bytes = m->ops[OP_READ].bytes + m->ops[OP_WRITE].bytes;
	cell->start_ns = m->start_ns;
	cell->duration_ns = m->duration_ns;
	cell->busy_ns = cell->pauses_count ? m->duration_ns : busy_ns(m);
	cell->failed = m->ended_early || m->interrupted || m->verify_failed_count;
	cell->done = true;
}

static void on_end(void *ctx, const struct measurement *m)
{
	struct run *run = ctx;
	struct iozone_cell *cell;
	struct text text = TEXT_INIT;

	if (run->live.end)
		run->live.end(run->live.ctx, m);
	if (!m || run->done_count >= run->cell_count)
		return;
	cell = &run->sheet->cells[run->cells[run->done_count++]];
	fill_cell(cell, m);
	run->mismatch |= m->verify_failed_count > 0;
	if (!run->sheet->throughput || m->interrupted ||
	    cell->stream + 1 < run->sheet->rows[cell->row].stream_count)
		return;
	report_iozone_pass(run->sheet, cell->row, cell->pass, &text);
	put(run, &text);
}

/* What the slice found, to what the others found; figures are in the cells by now. */
static void move_findings(struct result *into, struct result *from)
{
	for (size_t i = 0; i < from->finding_count; i++) {
		const struct finding *f = &from->findings[i];
		bool known = false;

		for (size_t k = 0; k < into->finding_count && !known && !*f->measurement; k++)
			known = strcmp(into->findings[k].code, f->code) == 0 &&
				strcmp(f->code, ROW_REFUSED) != 0;
		if (!known)
			*result_find(into, f->code, f->severity, f->measurement) = *f;
	}
}

/* The first error stands. */
static void take_error(struct result *into, const struct result *from)
{
	if (into->error_code || !from->error_code)
		return;
	into->error_code = from->error_code;
	memcpy(into->error_text, from->error_text, sizeof(into->error_text));
	memcpy(into->error_hint, from->error_hint, sizeof(into->error_hint));
}

static void move_measurements(struct result *into, struct result *from)
{
	const uint32_t groups =
		into->measurement_count
			? into->measurements[into->measurement_count - 1].group_index + 1
			: 0;

	for (size_t i = 0; i < from->measurement_count; i++) {
		struct measurement *m = result_add(into);

		measurement_done(m);
		*m = from->measurements[i];
		m->group_index += groups;
	}
	from->measurement_count = 0;
}

/* Targets of a row are those of the row with most of them: they differ in size alone. */
static void move_targets(struct result *into, struct result *from)
{
	struct target_info *more = into->more_targets;
	const size_t more_count = into->more_target_count;

	if (from->more_target_count <= more_count)
		return;
	into->more_targets = from->more_targets;
	into->more_target_count = from->more_target_count;
	from->more_targets = more;
	from->more_target_count = more_count;
}

/* The first to run anything is the frame of all; what was refused before it is kept. */
static void begin_total(struct result *total, struct result *from)
{
	struct result refused = *total;

	*total = *from;
	result_init(from);
	move_findings(total, &refused);
	take_error(total, &refused);
	result_done(&refused);
}

static void move_result(struct run *run, struct result *from)
{
	struct result *into = &run->total;
	const uint64_t layout_bytes = into->layout_bytes + from->layout_bytes;
	const uint64_t layout_ns = into->layout_ns + from->layout_ns;

	if (!*into->started_at) {
		begin_total(into, from);
		return;
	}
	move_findings(into, from);
	move_targets(into, from);
	if (run->inv->json)
		move_measurements(into, from);
	into->layout_bytes = layout_bytes;
	into->layout_ns = layout_ns;
	into->interrupted |= from->interrupted;
	take_error(into, from);
}

/* The pass that an error ended, and in throughput mode all of its streams. */
static void drop_failed(struct run *run)
{
	for (size_t i = 0; i < run->cell_count; i++) {
		const struct iozone_cell *cell = &run->sheet->cells[run->cells[i]];

		if (cell->done && cell->failed)
			run->dropped |= 1u << cell->pass;
	}
}

/* What could not even begin is a finding, and the row stays without figures. */
static void note_refusal(struct run *run, uint32_t row, const struct err *err)
{
	const struct iozone_row *at = &run->sheet->rows[row];
	struct finding *f;

	f = result_find(&run->total, ROW_REFUSED, SEVERITY_INVALID, "");
	snprintf(f->text, sizeof(f->text), "file %llu kB, record %llu kB: %.250s",
		 (unsigned long long)at->file_kb, (unsigned long long)at->record_kb, err->text);
	snprintf(f->remedy, sizeof(f->remedy), "%.255s", err->hint);
	if (run->total.error_code)
		return;
	run->refused = true;
	run->total.error_code = err->code;
	snprintf(run->total.error_text, sizeof(run->total.error_text), "%s", f->text);
	snprintf(run->total.error_hint, sizeof(run->total.error_hint), "%s", err->hint);
}

/*
 * The drive's ledger has the first row as of any run and one entry for all others, written
 * at the end: an entry waits for its own flush. Rounds of streams are few and may be on
 * several drives.
 */
static bool is_noted_later(const struct run *run, uint32_t row)
{
	return row > 0 && !run->sheet->throughput;
}

static void sum_up_later_rows(const struct run *run, struct ledger_entry *entry)
{
	size_t count = 0;

	for (size_t i = 0; i < run->sheet->cell_count; i++) {
		const struct iozone_cell *cell = &run->sheet->cells[i];

		if (!cell->done || !is_noted_later(run, cell->row))
			continue;
		count++;
		entry->duration_ns += cell->duration_ns;
		entry->written_bytes += iozone_passes[cell->pass].writes ? cell->bytes : 0;
	}
	snprintf(entry->text, sizeof(entry->text), "%zu measurements of an iozone table", count);
}

static void note_in_ledger(const struct run *run)
{
	const char *spec = run->plan->targets[0].spec;
	/* Of a directory the least file will do: it tells on which drive it lies. */
	const struct target_request request = { .spec = spec, .size_bytes = 4 * KIB };
	struct ledger_entry entry;
	struct ledger ledger;
	struct target *target;

	if (strncmp(spec, "sim:", 4) == 0 || strncmp(spec, "null", 4) == 0 ||
	    target_open(&target, &request, NULL) < 0)
		return;
	if (ledger_open(&ledger, NULL, &target->info, NULL) == 0) {
		ledger_now(target, &entry);
		sum_up_later_rows(run, &entry);
		snprintf(entry.who, sizeof(entry.who), "tare %s, uid %u", TARE_VERSION,
			 (unsigned int)geteuid());
		snprintf(entry.what, sizeof(entry.what), "measure");
		snprintf(entry.state, sizeof(entry.state), "used");
		if (entry.written_bytes)
			(void)ledger_add(&ledger, &entry, NULL);
		ledger_done(&ledger);
	}
	target_close(target);
}

static struct measure_options options_of(struct run *run, uint32_t row)
{
	const struct invocation *inv = run->inv;

	return (struct measure_options){
		.stop = run->stop,
		.erase_serial = inv->erase_serial[0] ? inv->erase_serial : NULL,
		.expendable_path = inv->expendable[0] ? inv->expendable : NULL,
		.command = inv->command,
		.ledger_directory = is_noted_later(run, row) ? NULL : "",
		.observer = { .ctx = run,
			      .target = on_target,
			      .begin = on_begin,
			      .progress = on_progress,
			      .end = on_end },
	};
}

/* Once more as long as an error ended a column and others are left. */
static int run_row(struct run *run, uint32_t row, struct err *err)
{
	const struct measure_options options = options_of(run, row);
	int r = 0;

	while (r == 0 && !*run->stop) {
		const uint32_t dropped = run->dropped;
		struct result result;
		struct plan slice;

		run->done_count = 0;
		run->cell_count =
			iozone_slice(run->plan, run->sheet, row, dropped, &slice, run->cells);
		if (run->cell_count) {
			r = measure_plan(&slice, &options, &result, err);
			drop_failed(run);
			if (r == 0)
				move_result(run, &result);
			result_done(&result);
		}
		plan_done(&slice);
		if (run->cell_count == 0 || run->dropped == dropped)
			break;
	}
	return r;
}

static void print_row(struct run *run, uint32_t row)
{
	struct text text = TEXT_INIT;

	if (run->sheet->throughput || !run->begun)
		return;
	report_iozone_row(run->sheet, row, &text);
	put(run, &text);
}

static void print_round(struct run *run, uint32_t row)
{
	struct text text = TEXT_INIT;

	if (!run->sheet->throughput)
		return;
	begin(run);
	report_iozone_round(run->sheet, row, &text);
	put(run, &text);
}

/* A size that does not fit, a record the device does not take: others may. */
static bool is_of_one_row(int code)
{
	return code == -EINVAL || code == -ENOSPC || code == -EFBIG;
}

/* What the first row alone is not to blame for is of all: nothing was printed, nothing run. */
static int run_rows(struct run *run, struct err *err)
{
	for (uint32_t row = 0; row < run->sheet->row_count && !*run->stop; row++) {
		int r;

		print_round(run, row);
		r = run_row(run, row, err);
		if (r < 0 && row == 0 && (!is_of_one_row(r) || run->sheet->row_count == 1))
			return r;
		if (r < 0) {
			begin(run);
			note_refusal(run, row, err);
		}
		print_row(run, row);
		if (run->exit_code != EXIT_DONE)
			break;
	}
	return 0;
}

/* Each row's own finding speaks of that row alone. */
static void count_short(struct run *run)
{
	const struct iozone_sheet *sheet = run->sheet;
	size_t count = 0, done_count = 0;

	for (size_t i = 0; i < sheet->cell_count; i++) {
		done_count += sheet->cells[i].done;
		count += sheet->cells[i].done && sheet->cells[i].duration_ns < SHORT_NS;
	}
	for (size_t i = 0; i < run->total.finding_count; i++) {
		struct finding *f = &run->total.findings[i];

		if (strcmp(f->code, "too-short") == 0 && sheet->row_count > 1)
			snprintf(f->text, sizeof(f->text),
				 "%zu of %zu measurements lasted less than 5 s: what takes a drive "
				 "longer (its cache's end, cleaning) is not in them",
				 count, done_count);
	}
}

/* The sheet's sentences, for whoever reads the result. */
static void add_notes(struct run *run)
{
	for (size_t i = 0; i < run->sheet->note_count; i++) {
		struct finding *f = result_find(&run->total, "iozone-note", SEVERITY_INFO, "");

		snprintf(f->text, sizeof(f->text), "%s", run->sheet->notes[i]);
	}
	if (run->sheet->invalid)
		snprintf(result_find(&run->total, "iozone-invalid", SEVERITY_INVALID, "")->text,
			 320, "INVALID FOR PERFORMANCE: every block was checked");
}

static int print_end(struct run *run)
{
	struct text text = TEXT_INIT;
	int exit_code = exit_of_result(&run->total);

	if (run->mismatch && exit_code == EXIT_DONE)
		exit_code = EXIT_VERDICT;
	if (run->refused && exit_code == EXIT_IO)
		exit_code = EXIT_REFUSED;
	count_short(run);
	add_notes(run);
	run->sheet->interrupted = run->total.interrupted;
	if (run->inv->json) {
		report_json(&run->total, &text);
	} else {
		report_iozone_end(run->sheet, &text);
		report_iozone_findings(&run->total, &text);
	}
	run->exit_code = print_text(run->inv, &text);
	text_done(&text);
	return run->exit_code != EXIT_DONE ? run->exit_code : exit_code;
}

static void init_progress(struct run *run)
{
	const uint32_t how = run->inv->progress;

	progress_init(&run->progress, run->inv, run->plan);
	if (how == PROGRESS_PLAIN || (how == PROGRESS_AUTO && isatty(STDERR_FILENO)))
		run->live = progress_observer(&run->progress);
}

int iozone_run(const struct invocation *inv, struct plan *plan, struct iozone_sheet *sheet)
{
	struct run run = { .inv = inv, .plan = plan, .sheet = sheet, .stop = stop_on_signals() };
	struct err err = { 0 };
	int r, exit_code;

	run.cells = calloc(sheet->cell_count + 1, sizeof(*run.cells));
	if (!run.cells) {
		err_set(&err, -ENOMEM, "%zu measurements", sheet->cell_count);
		return invocation_fail(inv, EXIT_INTERNAL, &err);
	}
	result_init(&run.total);
	state_reap(NULL);
	init_progress(&run);
	r = run_rows(&run, &err);
	note_in_ledger(&run);
	progress_done(&run.progress);
	if (r < 0)
		exit_code = invocation_fail(inv, exit_of_refusal(r), &err);
	else
		exit_code = print_end(&run);
	result_done(&run.total);
	free(run.cells);
	return exit_code;
}
