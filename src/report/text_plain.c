/* SPDX-License-Identifier: MIT */
#include "report/text.h"

#include <inttypes.h>

#include "base/units.h"

/* One fact per line, "what: value", no symbols, no table: for screen readers and grep. */

static void add_clean(struct text *ret, const char *before, const char *text)
{
	if (!text[0])
		return;
	text_add(ret, "%s", before);
	summary_add_printable(ret, text);
}

static void add_latency(const char *name, const char *what, const struct histogram *h,
			struct text *ret)
{
	char buffer[UNITS_TEXT_BYTES];

	text_add(ret, "%s %s mean: %s\n", name, what,
		 units_format_latency(histogram_mean_ns(h), buffer));
	for (size_t i = 0; i < SUMMARY_PERCENTILES; i++) {
		const struct summary_percentile *p = &summary_percentiles[i];

		text_add(ret, "%s %s %s: %s\n", name, what, p->label,
			 histogram_has_percentile(h, p->ppm) ? text_percentile(h, p->ppm, buffer) :
							       "too few samples");
	}
	text_add(ret, "%s %s max: %s\n", name, what,
		 units_format_latency((double)h->max_ns, buffer));
}

static void add_op(const struct measurement *m, enum op_kind kind, struct text *ret)
{
	const struct op_result *op = &m->ops[kind];
	struct text name = TEXT_INIT;
	char buffer[UNITS_TEXT_BYTES];

	text_add(&name, "%s %s", m->name, op_names[kind]);
	text_add(ret, "%s requests: %" PRIu64 "\n", text_string(&name), op->count);
	text_add(ret, "%s errors: %" PRIu64 "\n", text_string(&name), op->error_count);
	text_add(ret, "%s rate: %s\n", text_string(&name),
		 units_format_rate(summary_per_second(op->count, m->duration_ns), buffer));
	if (op->bytes)
		text_add(ret, "%s bandwidth: %s\n", text_string(&name),
			 units_format_rate_bytes(summary_per_second(op->bytes, m->duration_ns),
						 buffer));
	if (op->latency && op->count)
		add_latency(text_string(&name), "latency", op->latency, ret);
	if ((m->workload.rate_iops || m->replay.is_replay) && op->service && op->count &&
	    m->lateness && m->lateness->count)
		add_latency(text_string(&name), "service time", op->service, ret);
	text_done(&name);
}

static void add_open_loop(const struct measurement *m, struct text *ret)
{
	char text[UNITS_TEXT_BYTES];

	text_add(ret, "%s rate asked of each job: %s\n", m->name,
		 units_format_rate(workload_rate_per_s(&m->workload), text));
	text_add(ret, "%s longest wait for a place in the queue: %s\n", m->name,
		 units_format_latency((double)m->backlog_ns_max, text));
	text_add(ret, "%s arrivals never begun: %" PRIu64 "\n", m->name, m->unserved_count);
	if (m->lateness && m->lateness->count)
		add_latency(m->name, "lateness", m->lateness, ret);
}

static void add_replay(const struct measurement *m, struct text *ret)
{
	const struct replay_result *r = &m->replay;
	char text[UNITS_TEXT_BYTES];

	text_add(ret, "%s replayed: %" PRIu64 "\n", m->name, r->played_count);
	text_add(ret, "%s left out: %" PRIu64 "\n", m->name, r->skipped_count);
	text_add(ret, "%s cut at the end: %" PRIu64 "\n", m->name, r->clipped_count);
	text_add(ret, "%s wrapped at the end: %" PRIu64 "\n", m->name, r->wrapped_count);
	text_add(ret, "%s never begun: %" PRIu64 "\n", m->name, m->unserved_count);
	if (!m->lateness || !m->lateness->count)
		return;
	add_latency(m->name, "lateness", m->lateness, ret);
	text_add(ret, "%s lateness of the last: %s\n", m->name,
		 units_format_latency((double)r->last_late_ns, text));
	text_add(ret, "%s started within 50 us: %" PRIu64 "\n", m->name, r->punctual_count);
}

static void add_place(const struct result *result, const struct measurement *m, struct text *ret)
{
	const struct target_info *info = text_target_of(result, m);
	size_t count = 0;

	if (info) {
		text_add(ret, "%s target", m->name);
		add_clean(ret, ": ", info->spec);
		text_add(ret, "\n");
	}
	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *other = &result->measurements[i];

		if (other == m || other->group_index != m->group_index)
			continue;
		if (count++ == 0)
			text_add(ret, "%s at the same time: ", m->name);
		text_add(ret, "%s%s", count > 1 ? ", " : "", other->name);
	}
	if (count)
		text_add(ret, "\n");
}

static void add_measurement(const struct result *result, const struct measurement *m,
			    struct text *ret)
{
	char a[UNITS_TEXT_BYTES];
	struct text shape = TEXT_INIT;

	report_workload_text(&m->workload, &shape);
	text_add(ret, "%s workload: %s\n", m->name, text_string(&shape));
	text_done(&shape);
	add_place(result, m, ret);
	text_add(ret, "%s duration: %s\n", m->name,
		 units_format_latency((double)m->duration_ns, a));
	for (int kind = 0; kind < OP_KINDS; kind++)
		if (summary_has_op(m, (enum op_kind)kind))
			add_op(m, (enum op_kind)kind, ret);
	if (m->workload.rate_iops)
		add_open_loop(m, ret);
	if (m->replay.is_replay)
		add_replay(m, ret);
	if (m->level[0])
		text_add(ret, "%s level: %s\n", m->name, m->level);
	text_add(ret, "%s depth: %.1f\n", m->name, m->depth_mean);
	text_add(ret, "%s engine: %s\n", m->name, m->engine);
	text_add(ret, "%s cpu per request: %s\n", m->name,
		 units_format_latency(summary_cpu_ns_per_io(m), a));
	if (m->workload.verify)
		text_add(ret, "%s verified: %" PRIu64 " blocks, %" PRIu64 " wrong\n", m->name,
			 m->verified_count, m->verify_failed_count);
	if (m->verify_failed_count)
		text_add(ret, "%s first wrong block: offset %" PRIu64 ", %s, expected %s, found %s\n",
			 m->name, m->verify_failure.offset_bytes, m->verify_failure.what,
			 m->verify_failure.expected, m->verify_failure.found);
	text_add(ret, "%s seed: %" PRIu64 "\n", m->name, m->seed);
}

void text_plain(const struct result *result, struct text *ret)
{
	text_steps_plain(result, ret);
	for (size_t i = 0; i < result->measurement_count; i++)
		add_measurement(result, &result->measurements[i], ret);
	for (size_t i = 0; i < result->finding_count; i++) {
		const struct finding *f = &result->findings[i];

		text_add(ret, "finding %s, %s", f->code, severity_names[f->severity]);
		add_clean(ret, ", in ", f->measurement);
		add_clean(ret, ": ", f->text);
		add_clean(ret, "; remedy: ", f->remedy);
		text_add(ret, "\n");
	}
	if (result->error_text[0]) {
		add_clean(ret, "stopped: ", result->error_text);
		add_clean(ret, "; remedy: ", result->error_hint);
		text_add(ret, "\n");
	}
	if (result->interrupted)
		text_add(ret, "interrupted: yes, these are the figures so far\n");
}

static void add_fact(struct text *ret, const char *what, const char *value)
{
	if (!value[0])
		return;
	add_clean(ret, what, value);
	text_add(ret, "\n");
}

static void add_size(struct text *ret, const char *what, uint64_t bytes)
{
	if (!bytes)
		return;
	text_add(ret, "%s", what);
	text_add_size(ret, bytes);
	text_add(ret, "\n");
}

void text_plain_target(const struct target_info *info, struct text *ret)
{
	add_fact(ret, "target: ", info->spec);
	add_fact(ret, "kind: ", target_kind_name(info->kind));
	add_size(ret, "size: ", info->size_bytes);
	add_fact(ret, "file system: ", info->filesystem);
	add_size(ret, "free: ", info->filesystem[0] ? info->free_bytes : 0);
	for (uint32_t i = 0; i < info->layer_count && i < TARGET_LAYERS; i++) {
		add_clean(ret, "layer: ", info->layers[i].name);
		add_clean(ret, ", ", info->layers[i].kind);
		add_clean(ret, ", ", info->layers[i].detail);
		text_add(ret, "\n");
	}
	add_fact(ret, "model: ", info->model);
	add_fact(ret, "serial: ", info->serial);
	add_fact(ret, "firmware: ", info->firmware);
	add_fact(ret, "transport: ", info->transport);
	add_fact(ret, "scheduler: ", info->scheduler);
	add_fact(ret, "write cache: ", info->write_cache);
	add_fact(ret, "may be erased: ", info->consent);
}
