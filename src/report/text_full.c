/* SPDX-License-Identifier: MIT */
#include "report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"

#define LABEL_COLUMNS 10
#define CELL_COLUMNS 9
#define SPARK_MAX 60
#define DRIVE_NAME_COLUMNS 22
#define DRIVE_VALUE_COLUMNS 10

static void add_label(struct text *ret, const char *label)
{
	text_add(ret, "  ");
	layout_left(ret, label, LABEL_COLUMNS);
}

static void add_latency_heading(const struct report_style *style, struct text *ret)
{
	text_add(ret, "%s", layout_tone(style, TONE_QUIET));
	add_label(ret, "");
	layout_right(ret, "mean", CELL_COLUMNS);
	for (size_t i = 0; i < SUMMARY_PERCENTILES; i++)
		layout_right(ret, summary_percentiles[i].label, CELL_COLUMNS);
	layout_right(ret, "max", CELL_COLUMNS);
	text_add(ret, "%s\n", layout_end(style));
}

static void add_latency(const char *label, const struct histogram *h, struct text *ret)
{
	char buffer[UNITS_TEXT_BYTES];

	add_label(ret, label);
	layout_right(ret, units_format_latency(histogram_mean_ns(h), buffer), CELL_COLUMNS);
	for (size_t i = 0; i < SUMMARY_PERCENTILES; i++)
		layout_right(ret, text_percentile(h, summary_percentiles[i].ppm, buffer),
			     CELL_COLUMNS);
	layout_right(ret, units_format_latency((double)h->max_ns, buffer), CELL_COLUMNS);
	text_add(ret, "\n");
}

static void add_op(const struct measurement *m, enum op_kind kind,
		   const struct report_style *style, struct text *ret)
{
	const struct op_result *op = &m->ops[kind];
	char buffer[UNITS_TEXT_BYTES];

	text_add(ret, "  %s", layout_tone(style, TONE_STRONG));
	layout_left(ret, op_names[kind], LABEL_COLUMNS);
	layout_right(ret, units_format_rate(summary_per_second(op->count, m->duration_ns), buffer),
		     CELL_COLUMNS);
	if (op->bytes)
		layout_right(ret, units_format_rate_bytes(summary_per_second(op->bytes,
									     m->duration_ns),
							  buffer), CELL_COLUMNS + 3);
	text_add(ret, "%s   %" PRIu64 " request%s", layout_end(style), op->count,
		 op->count == 1 ? "" : "s");
	if (op->error_count)
		text_add(ret, ", %s%" PRIu64 " failed%s", layout_tone(style, TONE_BAD),
			 op->error_count, layout_end(style));
	text_add(ret, "\n");
	if (op->latency && op->count)
		add_latency("  latency", op->latency, ret);
	/* The same figures twice say nothing: closed loops count both from the submission. */
	if ((m->workload.rate_iops || m->replay.is_replay) && op->service && op->count &&
	    m->lateness && m->lateness->count)
		add_latency("  service", op->service, ret);
}

/* Label and sentence, wrapped below itself. */
static void add_line(struct text *ret, const struct report_style *style, const char *label,
		     const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void add_line(struct text *ret, const struct report_style *style, const char *label,
		     const char *fmt, ...)
{
	struct text raw = TEXT_INIT;
	va_list args;

	va_start(args, fmt);
	text_vadd(&raw, fmt, args);
	va_end(args);
	add_label(ret, label);
	layout_wrap(ret, text_string(&raw), 2 + LABEL_COLUMNS, style->columns);
	text_add(ret, "\n");
	text_done(&raw);
}

static void add_arrival(const struct measurement *m, const struct report_style *style,
			struct text *ret)
{
	const uint32_t job_count = m->workload.job_count ? m->workload.job_count : 1;
	const double asked = workload_rate_per_s(&m->workload) * job_count;
	const double served = summary_per_second(summary_request_count(m), m->duration_ns);
	char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

	if (!m->workload.rate_iops)
		return;
	units_format_rate(asked, a);
	add_line(ret, style, "arrival", "%s %s, served %s", a,
		 m->workload.arrival == ARRIVAL_POISSON ? "Poisson" : "at fixed intervals",
		 units_format_rate(served, b));
	if (m->backlog_ns_max)
		add_line(ret, style, "", "an arrival waited up to %s for a place in the queue",
			 units_format_latency((double)m->backlog_ns_max, b));
	if (m->unserved_count)
		add_line(ret, style, "", "%" PRIu64 " arrivals were never begun", m->unserved_count);
	if (m->lateness && m->lateness->count)
		add_line(ret, style, "submitted", "late by p50 %s, p99 %s, at most %s",
			 text_percentile(m->lateness, 500000, a),
			 text_percentile(m->lateness, 990000, b),
			 units_format_latency((double)m->lateness->max_ns, c));
}

static void add_replay(const struct measurement *m, const struct report_style *style,
		       struct text *ret)
{
	static const char *const words[] = { "at recorded times", "with recorded pauses",
					     "as fast as the depth allows" };
	const struct replay_result *r = &m->replay;
	struct text line = TEXT_INIT;
	char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES], c[UNITS_TEXT_BYTES];

	if (!r->is_replay)
		return;
	text_add(&line, "%" PRIu64 " requests %s", r->played_count, words[m->workload.replay.timing]);
	if (r->skipped_count)
		text_add(&line, ", %" PRIu64 " left out", r->skipped_count);
	if (r->clipped_count)
		text_add(&line, ", %" PRIu64 " cut at the target's end", r->clipped_count);
	if (r->wrapped_count)
		text_add(&line, ", %" PRIu64 " wrapped at the target's end", r->wrapped_count);
	if (m->unserved_count)
		text_add(&line, ", %" PRIu64 " never begun", m->unserved_count);
	add_line(ret, style, "replay", "%s", text_string(&line));
	text_done(&line);
	if (!m->lateness || !m->lateness->count)
		return;
	add_line(ret, style, "started", "late by p50 %s, p99 %s, p99.9 %s",
		 text_percentile(m->lateness, 500000, a), text_percentile(m->lateness, 990000, b),
		 text_percentile(m->lateness, 999000, c));
	add_line(ret, style, "", "at most %s; the last one by %s; %.5g %% within %s",
		 units_format_latency((double)m->lateness->max_ns, a),
		 units_format_latency((double)r->last_late_ns, b),
		 (double)(r->punctual_count * 10000 / m->lateness->count) / 100,	/* down */
		 units_format_latency(REPLAY_PUNCTUAL_NS, c));
}

static void add_queue(const struct measurement *m, const struct report_style *style,
		      struct text *ret)
{
	char share[UNITS_TEXT_BYTES], target[UNITS_TEXT_BYTES];
	struct text depth = TEXT_INIT;

	add_line(ret, style, "queue", "%s", m->queue_mode[0] ? m->queue_mode : m->engine);
	text_add(&depth, "%.1f on average, %" PRIu32 " at most, %" PRIu32 " asked", m->depth_mean,
		 m->depth_max, m->workload.depth_count);
	if (m->workload.job_count > 1)
		text_add(&depth, " of each of %" PRIu32 " %s", m->workload.job_count,
			 m->replay.is_replay ? "pacers" : "jobs");
	if (m->batch_count)
		text_add(&depth, "; batches of %" PRIu32 ", waits for %" PRIu32, m->batch_count,
			 m->wait_count);
	add_line(ret, style, "depth", "%s", text_string(&depth));
	text_done(&depth);
	if (m->depth_found)
		add_line(ret, style, "found", "depth %" PRIu32 " is the deepest with %s within %s",
			 m->depth_found, units_format_ppm(m->workload.latency_ppm, share),
			 units_format_latency((double)m->workload.latency_target_ns, target));
	if (*m->workload.steadystate)
		add_line(ret, style, "steady", "%s over %s: %s", m->workload.steadystate,
			 units_format_time_ns(m->workload.steady_window_ns, target),
			 m->steady ? "attained" : "not attained");
}

static void add_cpu(const struct measurement *m, const struct report_style *style,
		    struct text *ret)
{
	char user[UNITS_TEXT_BYTES], all[UNITS_TEXT_BYTES];

	if (!summary_request_count(m))
		return;
	add_line(ret, style, "cpu",
		 "%s per request, %s in user space; busiest worker %.0f %%",
		 units_format_latency(summary_cpu_ns_per_io(m), all),
		 units_format_latency(summary_user_ns_per_io(m), user), 100 * m->worker_cpu_max);
}

static void add_device(const struct measurement *m, const struct report_style *style,
		       struct text *ret)
{
	char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];

	if (m->device_read_count || m->device_write_count)
		add_line(ret, style, "device",
			 "the kernel counted %" PRIu64 " reads, %s, and %" PRIu64 " writes, %s",
			 m->device_read_count, units_format_size((double)m->device_read_bytes, a),
			 m->device_write_count,
			 units_format_size((double)m->device_write_bytes, b));
	if (!isnan(m->temperature_c_max))
		add_line(ret, style, "warmth", "%.0f °C at the start, %.0f °C at most",
			 m->temperature_c_start, m->temperature_c_max);
}

static void add_verify(const struct measurement *m, const struct report_style *style,
		       struct text *ret)
{
	if (!m->workload.verify)
		return;
	if (!m->verify_failed_count) {
		add_line(ret, style, "verify", "%s✓%s %" PRIu64 " blocks read back as they were "
			 "written", layout_tone(style, TONE_GOOD), layout_end(style),
			 m->verified_count);
		return;
	}
	add_line(ret, style, "verify", "%s✗%s %" PRIu64 " of %" PRIu64 " blocks wrong; the first, at "
		 "offset %" PRIu64 ", is %s", layout_tone(style, TONE_BAD), layout_end(style),
		 m->verify_failed_count, m->verified_count, m->verify_failure.offset_bytes,
		 m->verify_failure.what);
	add_line(ret, style, "", "expected %s", m->verify_failure.expected);
	add_line(ret, style, "", "found %s", m->verify_failure.found);
}

static double second_rate(const struct second *s)
{
	uint64_t count = 0;

	for (int kind = OP_READ; kind <= OP_TRIM; kind++)
		count += s->ops[kind].count;
	return summary_per_second(count, s->length_ns);
}

/* Up to SPARK_MAX columns, each the mean of equally many seconds. */
static void add_series(const struct measurement *m, const struct report_style *style,
		       struct text *ret)
{
	const size_t per_column = (m->second_count + SPARK_MAX - 1) / SPARK_MAX;
	double values[SPARK_MAX] = { 0 };
	size_t columns = 0;

	if (!style->bars || !style->utf8 || m->second_count < 2)
		return;
	for (size_t i = 0; i < m->second_count; i += per_column, columns++) {
		size_t j;

		for (j = i; j < m->second_count && j < i + per_column; j++)
			values[columns] += second_rate(&m->seconds[j]);
		values[columns] /= (double)(j - i);
	}
	add_label(ret, "over time");
	text_add(ret, "%s", layout_tone(style, TONE_BAR));
	layout_sparkline(ret, values, columns);
	text_add(ret, "%s\n", layout_end(style));
}

static void add_level(const struct measurement *m, const struct report_style *style,
		      struct text *ret)
{
	struct text line = TEXT_INIT;
	char buffer[UNITS_TEXT_BYTES];

	if (!m->level[0])
		return;
	text_add(&line, "%s", m->level);
	for (uint32_t i = 0; i < m->segment_count; i++)
		text_add(&line, "%s %s for %.0f s", i ? "," : ":",
			 units_format_rate(m->segments[i].iops, buffer), m->segments[i].length_s);
	add_line(ret, style, "level", "%s", text_string(&line));
	text_done(&line);
}

static void add_errors(const struct measurement *m, const struct report_style *style,
		       struct text *ret)
{
	char name[24];

	for (uint32_t i = 0; i < m->errno_count; i++) {
		const char *words = strerrordesc_np(-m->errnos[i].code);

		add_line(ret, style, i ? "" : "errors", "%" PRIu64 " × %s (%s)",
			 m->errnos[i].count, summary_errno_name(m->errnos[i].code, name),
			 words ? words : "no such errno");
	}
}

/* A count by the unit its name ends in: "erases 1,240" needs none, "flash_read_bytes" 8.1 GiB. */
static const char *drive_value(const char *name, double value, char *buffer)
{
	const size_t length = strlen(name);

	if (length > 6 && strcmp(name + length - 6, "_bytes") == 0)
		return units_format_size(value, buffer);
	if (length > 3 && strcmp(name + length - 3, "_ns") == 0)
		return units_format_latency(value, buffer);
	if (length > 3 && strcmp(name + length - 3, "_mc") == 0)
		snprintf(buffer, UNITS_TEXT_BYTES, "%.1f °C", value / 1e3);
	else
		snprintf(buffer, UNITS_TEXT_BYTES, "%.*f", value == floor(value) ? 0 : 3, value);
	return buffer;
}

/* What is not zero, two in a line; the result holds all of it. */
static void add_drive(const struct measurement *m, struct text *ret)
{
	char buffer[UNITS_TEXT_BYTES];
	uint32_t count = 0;

	for (uint32_t i = 0; m->drive && i < m->drive->row_count; i++) {
		const char *name = m->drive->rows[i].name;
		const double value = m->drive->rows[i].value;

		if (value == 0)
			continue;
		if (count % 2 == 0)
			add_label(ret, count ? "" : "drive");
		layout_left(ret, name, DRIVE_NAME_COLUMNS);
		layout_right(ret, drive_value(name, value, buffer), DRIVE_VALUE_COLUMNS);
		text_add(ret, "%s", count++ % 2 ? "\n" : "   ");
	}
	if (count % 2)
		text_add(ret, "\n");
}

static void add_target(const struct result *result, const struct measurement *m,
		       const struct report_style *style, struct text *ret)
{
	const struct target_info *info = text_target_of(result, m);
	struct text spec = TEXT_INIT;

	if (!info)
		return;
	summary_add_printable(&spec, info->spec);
	add_line(ret, style, "target", "%s", text_string(&spec));
	text_done(&spec);
}

void text_full(const struct result *result, const struct measurement *m,
	       const struct report_style *style, struct text *ret)
{
	struct text shape = TEXT_INIT;
	char time[UNITS_TEXT_BYTES];

	report_workload_text(&m->workload, &shape);
	text_add(ret, "%s%s%s  %s for %s\n", layout_tone(style, TONE_STRONG), m->name,
		 layout_end(style), text_string(&shape),
		 units_format_latency((double)m->duration_ns, time));
	text_done(&shape);
	add_target(result, m, style, ret);
	add_latency_heading(style, ret);
	for (int kind = 0; kind < OP_KINDS; kind++)
		if (summary_has_op(m, (enum op_kind)kind))
			add_op(m, (enum op_kind)kind, style, ret);
	add_arrival(m, style, ret);
	add_replay(m, style, ret);
	add_series(m, style, ret);
	add_level(m, style, ret);
	add_queue(m, style, ret);
	add_cpu(m, style, ret);
	add_device(m, style, ret);
	add_verify(m, style, ret);
	add_errors(m, style, ret);
	add_drive(m, ret);
	add_label(ret, "seed");
	text_add(ret, "%" PRIu64 "\n", m->seed);
}
