/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "report/layout.h"
#include "state/state.h"
#include "report/summary.h"

/* The names measure/ gives to what is no measurement. */
#define LAYOUT_NAME "layout"
#define IDLE_NAME "idle"

static void to_stderr(const struct progress *p, struct text *text)
{
	const struct report_style style = { .utf8 = p->utf8 };

	layout_finish(text, 0, &style);
	fputs(text_string(text), stderr);
	fflush(stderr);
	text_done(text);
}

static void clear_live(struct progress *p)
{
	if (p->live_shown)
		fputs("\r\033[K", stderr);
	p->live_shown = false;
}

static bool is_measurement(const struct progress *p)
{
	return strcmp(p->name, LAYOUT_NAME) != 0 && strcmp(p->name, IDLE_NAME) != 0;
}

static void add_phase(const struct progress *p, struct text *ret)
{
	if (strcmp(p->name, LAYOUT_NAME) == 0)
		text_add(ret, "writing the test file");
	else
		text_add(ret, "%zu/%zu %s", p->index + 1, p->count, p->name);
}

/* What writing phases amount to: a volume where one is given, a time where that ends them. */
struct writes {
	uint64_t bytes, ns;
	size_t phase_count;
	bool trims;
};

static void count_step(const struct step *step, const struct target_info *info, struct writes *ret)
{
	struct state_forecast forecast;

	if (!step_writes(step))
		return;
	state_forecast(info, step, &forecast);
	ret->phase_count++;
	ret->bytes += forecast.write_bytes;
	ret->trims |= forecast.discard_bytes > 0;
	if (step->kind == STEP_SETTLE)
		ret->ns += step->settle.round_ns * step->settle.round_count_max;
}

static struct writes count_writes(const struct plan *plan, uint32_t target_index,
				  const struct target_info *info)
{
	const uint64_t target_bytes = info->size_bytes;
	struct writes ret = { 0 };

	for (size_t i = 0; i < plan->phase_count; i++) {
		const struct workload *w = &plan->phases[i].workload;

		/* A step's target_index is 0: the plan's own. */
		if (plan->phases[i].target_index != target_index)
			continue;
		if (plan->phases[i].kind == PHASE_STEP)
			count_step(&plan->phases[i].step, info, &ret);
		if (plan->phases[i].kind != PHASE_MEASURE || !workload_writes(w))
			continue;
		ret.phase_count++;
		ret.trims |= workload_trims(w);
		if (w->io_size_bytes)
			ret.bytes += w->io_size_bytes;
		else if (w->runtime_ns)
			ret.ns += w->ramp_ns + w->runtime_ns;
		else
			ret.bytes += w->size.bytes ? w->size.bytes : target_bytes;
	}
	return ret;
}

static void add_volume(const struct writes *writes, struct text *ret)
{
	const bool some = writes->bytes || writes->ns;
	char text[UNITS_TEXT_BYTES];

	text_add(ret, "%s", !some ? "discards" : writes->trims ? "writes and discards " : "writes ");
	if (writes->bytes)
		text_add(ret, "up to %s", units_format_size((double)writes->bytes, text));
	if (writes->bytes && writes->ns)
		text_add(ret, ", and ");
	if (writes->ns)
		text_add(ret, "for %.3g s as much as it takes", (double)writes->ns / 1e9);
	text_add(ret, " in %zu phase%s", writes->phase_count, writes->phase_count == 1 ? "" : "s");
}

static bool has_kind(const struct plan *plan, enum phase_kind kind)
{
	for (size_t i = 0; i < plan->phase_count; i++)
		if (plan->phases[i].kind == kind)
			return true;
	return false;
}

static bool has_steps(const struct plan *plan)
{
	return has_kind(plan, PHASE_STEP);
}

static bool measures(const struct plan *plan)
{
	return has_kind(plan, PHASE_MEASURE);
}

void progress_summary(const struct plan *plan, uint32_t target_index,
		      const struct target_info *info, struct text *ret)
{
	const struct writes writes = count_writes(plan, target_index, info);
	const bool several = plan->target_count && plan->targets[target_index].file_count > 1;
	const bool unwritten = plan->target_count && plan->targets[target_index].unwritten;
	char text[UNITS_TEXT_BYTES];

	if (info->ours) {
		text_add(ret, "not destructive: in %s of its own, removed afterwards; ",
			 has_steps(plan) || several ? "files" : "a file");
		if (measures(plan) && !unwritten)
			text_add(ret, "writes %s once, %s%s", several ? "them" : "it",
				 units_format_size((double)info->size_bytes, text),
				 writes.phase_count ? ", then " : "");
		if (writes.phase_count)
			add_volume(&writes, ret);
		return;
	}
	if (!writes.phase_count) {
		text_add(ret, "not destructive: reads only");
		return;
	}
	if (info->kind == TARGET_NULL || info->kind == TARGET_SIM || info->kind == TARGET_CHAR) {
		text_add(ret, "not destructive: nothing is kept there; ");
	} else if (info->kind == TARGET_BLOCK) {
		text_add(ret, "DESTRUCTIVE: erases this device");
		if (info->consent[0])
			text_add(ret, ", allowed by %s", info->consent);
		text_add(ret, "; ");
	} else {
		text_add(ret, "DESTRUCTIVE: overwrites this file, named expendable; ");
	}
	add_volume(&writes, ret);
}

static void on_target(void *ctx, const struct target_info *info)
{
	struct progress *p = ctx;
	struct text text = TEXT_INIT;

	if (p->header) {
		report_target_text(info, &p->style, &text);
		fputs(text_string(&text), stdout);
		fflush(stdout);
		text_done(&text);
	}
	if (p->how == PROGRESS_SILENT)
		return;
	summary_add_printable(&text, info->spec);
	text_add(&text, ": ");
	progress_summary(p->plan, p->target_count++, info, &text);
	text_add(&text, "\n");
	to_stderr(p, &text);
}

/* Cut to the terminal's width: a line that wraps cannot be cleared. */
static void show_live(struct progress *p, struct text *line)
{
	size_t columns = 0, i;

	for (i = 0; i < line->length; i++) {
		columns += ((unsigned char)line->data[i] & 0xc0) != 0x80;
		if (columns >= p->columns)
			break;
	}
	if (line->data && i < line->length) {
		line->data[i] = '\0';
		line->length = i;
	}
	fputs("\r\033[K", stderr);
	p->live_shown = true;
	to_stderr(p, line);
}

static void on_begin(void *ctx, const char *name, size_t index, size_t count)
{
	struct progress *p = ctx;
	struct text text = TEXT_INIT;

	snprintf(p->name, sizeof(p->name), "%s", name);
	p->index = index;
	p->count = count;
	/* On lines a measurement is told when it is done; what has no figures, before. */
	if (p->how == PROGRESS_SILENT || (p->how == PROGRESS_LINES && is_measurement(p)))
		return;
	add_phase(p, &text);
	if (p->how == PROGRESS_LIVE) {
		show_live(p, &text);
		return;
	}
	text_add(&text, "\n");
	to_stderr(p, &text);
}

static void add_left(const struct engine_progress *e, struct text *ret)
{
	if (e->total_ns > e->elapsed_ns)
		text_add(ret, "  %.0f s left", (double)(e->total_ns - e->elapsed_ns) / 1e9);
	else if (e->total_bytes > e->done_bytes && e->bytes_per_s > 0)
		text_add(ret, "  %.0f %%, %.0f s left",
			 100.0 * (double)e->done_bytes / (double)e->total_bytes,
			 (double)(e->total_bytes - e->done_bytes) / e->bytes_per_s);
}

static void on_progress(void *ctx, const struct engine_progress *e)
{
	struct progress *p = ctx;
	struct text line = TEXT_INIT;
	char text[UNITS_TEXT_BYTES];

	if (p->how != PROGRESS_LIVE)
		return;
	add_phase(p, &line);
	if (e->ramping)
		text_add(&line, "  warming up");
	text_add(&line, "  %s", units_format_rate(e->iops, text));
	text_add(&line, "  %s", units_format_rate_bytes(e->bytes_per_s, text));
	if (e->latency_ns_p99)
		text_add(&line, "  p99 %s", units_format_latency((double)e->latency_ns_p99, text));
	add_left(e, &line);
	show_live(p, &line);
}

static void add_figures(const struct measurement *m, struct text *ret)
{
	const char *separator = "";
	char text[UNITS_TEXT_BYTES];

	for (int kind = OP_READ; kind <= OP_TRIM; kind++) {
		const struct op_result *op = &m->ops[kind];

		if (!op->count)
			continue;
		text_add(ret, "%s %s %s", separator, op_names[kind],
			 units_format_rate(summary_per_second(op->count, m->duration_ns), text));
		text_add(ret, ", %s", units_format_rate_bytes(summary_per_second(op->bytes,
										 m->duration_ns),
							      text));
		text_add(ret, ", p99 %s",
			 units_format_latency((double)histogram_percentile_ns(op->latency, 990000),
					      text));
		separator = ";";
	}
	if (m->ended_early)
		text_add(ret, "%s ended by an error", separator);
	else if (m->interrupted)
		text_add(ret, "%s interrupted", separator);
}

static void on_end(void *ctx, const struct measurement *m)
{
	struct progress *p = ctx;
	struct text line = TEXT_INIT;

	clear_live(p);
	if (p->how != PROGRESS_LINES || !m)
		return;
	/* Of several that ran together each is told; they began as one. */
	snprintf(p->name, sizeof(p->name), "%s", m->name);
	add_phase(p, &line);
	p->index++;
	text_add(&line, ":");
	add_figures(m, &line);
	text_add(&line, "\n");
	to_stderr(p, &line);
}

void progress_init(struct progress *p, const struct invocation *inv, const struct plan *plan)
{
	const bool terminal = isatty(STDERR_FILENO);
	struct winsize size;

	memset(p, 0, sizeof(*p));
	p->plan = plan;
	p->header = !inv->json;
	invocation_style(inv, &p->style);
	p->utf8 = p->style.utf8;
	p->how = inv->progress == PROGRESS_NONE			 ? PROGRESS_SILENT :
		 inv->progress == PROGRESS_AUTO && terminal ? PROGRESS_LIVE : PROGRESS_LINES;
	p->columns = 80;
	if (terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		p->columns = size.ws_col;
}

void progress_done(struct progress *p)
{
	clear_live(p);
}

struct measure_observer progress_observer(struct progress *p)
{
	return (struct measure_observer){ .ctx = p,
					  .target = on_target,
					  .begin = on_begin,
					  .progress = on_progress,
					  .end = on_end };
}
