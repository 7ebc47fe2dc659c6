/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "report/json_tree.h"
#include "report/report.h"
#include "report/summary.h"

static json_t *histogram_json(const struct histogram *h)
{
	json_t *lows = json_array(), *counts = json_array(), *ret = json_object();

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->buckets[i])
			continue;
		json_array_append_new(lows, json_integer((json_int_t)histogram_bucket_low_ns(i)));
		json_array_append_new(counts, json_integer((json_int_t)h->buckets[i]));
	}
	json_put(ret, "low_ns", lows);
	json_put(ret, "count", counts);
	return ret;
}

static json_t *latency_json(const struct histogram *h)
{
	const char *supported = "";
	json_t *ret;

	if (!h || !h->count)
		return json_null();
	ret = json_object();
	json_put_u64(ret, "min", h->min_ns);
	json_put_real(ret, "mean", histogram_mean_ns(h));
	for (size_t i = 0; i < SUMMARY_PERCENTILES; i++) {
		const struct summary_percentile *p = &summary_percentiles[i];

		json_put_u64(ret, p->key, histogram_percentile_ns(h, p->ppm));
		if (histogram_has_percentile(h, p->ppm))
			supported = p->key;
	}
	json_put_u64(ret, "max", h->max_ns);
	json_put_text_or_null(ret, "supported_up_to", supported);
	json_put(ret, "histogram", histogram_json(h));
	return ret;
}

static json_t *op_json(const struct op_result *op, uint64_t duration_ns)
{
	json_t *ret = json_object();

	json_put_u64(ret, "count", op->count);
	json_put_u64(ret, "bytes", op->bytes);
	json_put_real(ret, "iops", summary_per_second(op->count, duration_ns));
	json_put_real(ret, "bytes_per_s", summary_per_second(op->bytes, duration_ns));
	json_put_u64(ret, "errors", op->error_count);
	json_put(ret, "latency_ns", latency_json(op->latency));
	json_put(ret, "service_ns", latency_json(op->service));
	return ret;
}

static json_t *ops_json(const struct measurement *m)
{
	json_t *ret = json_object();

	for (int kind = 0; kind < OP_KINDS; kind++)
		if (summary_has_op(m, (enum op_kind)kind))
			json_put(ret, op_names[kind], op_json(&m->ops[kind], m->duration_ns));
	return ret;
}

static json_t *second_json(const struct second *s)
{
	json_t *ret = json_object(), *ops = json_object();

	json_put_u64(ret, "start_ns", s->start_ns);
	json_put_u64(ret, "length_ns", s->length_ns);
	for (int kind = 0; kind < OP_KINDS; kind++) {
		json_t *op;

		if (!s->ops[kind].count && !s->ops[kind].error_count)
			continue;
		op = json_object();
		json_put_u64(op, "count", s->ops[kind].count);
		json_put_u64(op, "bytes", s->ops[kind].bytes);
		json_put_u64(op, "errors", s->ops[kind].error_count);
		json_put_u64(op, "p50_ns", s->ops[kind].latency_ns_p50);
		json_put_u64(op, "p99_ns", s->ops[kind].latency_ns_p99);
		json_put_u64(op, "max_ns", s->ops[kind].latency_ns_max);
		json_put(ops, op_names[kind], op);
	}
	json_put(ret, "ops", ops);
	return ret;
}

static json_t *seconds_json(const struct measurement *m)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < m->second_count; i++)
		json_array_append_new(ret, second_json(&m->seconds[i]));
	return ret;
}

/* Numbers in the base unit of their kind; what has a notation of its own as one writes it. */
static json_t *field_json(const struct field *field, const struct workload *workload)
{
	const void *member = (const char *)workload + field->offset;
	struct text text = TEXT_INIT;
	json_t *ret;

	switch (field->type) {
	case FIELD_BOOL:
		return json_boolean(*(const bool *)member);
	case FIELD_U32:
		return json_integer(*(const uint32_t *)member);
	case FIELD_U64:
		/* A seed needs all 64 bits; JSON readers have 53. */
		if (field->max > INT64_MAX)
			break;
		return json_integer((json_int_t)(*(const uint64_t *)member));
	case FIELD_AMOUNT: {
		const struct amount *amount = member;

		ret = json_object();
		json_put_u64(ret, "bytes", amount->bytes);
		json_put_u64(ret, "ppm", amount->ppm);
		return ret;
	}
	case FIELD_ENUM:
	case FIELD_TEXT:
	case FIELD_CUSTOM:
		break;
	}
	field_print(field, workload, &text);
	ret = json_string(text_string(&text));
	text_done(&text);
	return ret ? ret : json_null();
}

static json_t *workload_json(const struct workload *workload)
{
	json_t *ret = json_object();

	for (const struct field *field = workload_fields; field->name; field++) {
		char key[64];
		size_t i;

		if (field->input_only)
			continue;
		for (i = 0; field->name[i] && i + 1 < sizeof(key); i++)
			key[i] = field->name[i] == '-' ? '_' : field->name[i];
		key[i] = '\0';
		json_put(ret, key, field_json(field, workload));
	}
	return ret;
}

static json_t *segments_json(const struct measurement *m)
{
	json_t *ret = json_array();

	for (uint32_t i = 0; i < m->segment_count; i++) {
		json_t *segment = json_object();

		json_put_real(segment, "start_s", m->segments[i].start_s);
		json_put_real(segment, "length_s", m->segments[i].length_s);
		json_put_real(segment, "iops", m->segments[i].iops);
		json_array_append_new(ret, segment);
	}
	return ret;
}

static json_t *errors_json(const struct measurement *m)
{
	json_t *ret = json_array();
	char name[24];

	for (uint32_t i = 0; i < m->errno_count; i++) {
		json_t *error = json_object();

		json_put_text(error, "code", summary_errno_name(m->errnos[i].code, name));
		json_put_u64(error, "count", m->errnos[i].count);
		json_array_append_new(ret, error);
	}
	return ret;
}

static json_t *verify_json(const struct measurement *m)
{
	json_t *ret, *bad;

	if (!m->workload.verify && !m->verified_count)
		return json_null();
	ret = json_object();
	json_put_u64(ret, "blocks", m->verified_count);
	json_put_u64(ret, "bad_blocks", m->verify_failed_count);
	json_put_u64(ret, "requests", m->readback.count);
	json_put_u64(ret, "bytes", m->readback.bytes);
	json_put_u64(ret, "duration_ns", m->readback_ns);
	if (!m->verify_failed_count) {
		json_put(ret, "first_bad", json_null());
		return ret;
	}
	bad = json_object();
	json_put_u64(bad, "offset_bytes", m->verify_failure.offset_bytes);
	json_put_text(bad, "what", m->verify_failure.what);
	json_put_text(bad, "expected", m->verify_failure.expected);
	json_put_text(bad, "found", m->verify_failure.found);
	json_put(ret, "first_bad", bad);
	return ret;
}

static json_t *drive_json(const struct drive_truth *drive)
{
	json_t *ret;

	if (!drive)
		return json_null();
	ret = json_object();
	for (uint32_t i = 0; i < drive->row_count; i++)
		json_put_real(ret, drive->rows[i].name, drive->rows[i].value);
	return ret;
}

static void put_cpu(json_t *ret, const struct measurement *m)
{
	json_put_real(ret, "user_ns_per_io", summary_user_ns_per_io(m));
	json_put_real(ret, "cpu_ns_per_io", summary_cpu_ns_per_io(m));
	json_put_u64(ret, "user_ns", m->user_ns);
	json_put_u64(ret, "system_ns", m->system_ns);
	json_put_real(ret, "worker_cpu_max", m->worker_cpu_max);
	json_put_u64(ret, "voluntary_switch_count", m->voluntary_switch_count);
	json_put_u64(ret, "involuntary_switch_count", m->involuntary_switch_count);
	json_put_u64(ret, "major_fault_count", m->major_fault_count);
	json_put_u64(ret, "minor_fault_count", m->minor_fault_count);
	json_put_real(ret, "steal_ratio", m->steal_ratio);
}

static json_t *steps_json(const uint64_t counts[MEASUREMENT_STEPS])
{
	json_t *ret = json_array();

	for (size_t i = 0; i < MEASUREMENT_STEPS; i++)
		json_array_append_new(ret, json_integer((json_int_t)counts[i]));
	return ret;
}

/* Of access lines: a request and its reply; null without lines. */
static json_t *transactions_json(const struct measurement *m)
{
	json_t *ret;

	if (!m->workload.lines.count)
		return json_null();
	ret = json_object();
	json_put_u64(ret, "count", m->transaction_count);
	json_put_u64(ret, "total_ns", m->transaction_ns);
	json_put_u64(ret, "max_ns", m->transaction_ns_max);
	return ret;
}

static void put_queue(json_t *ret, const struct measurement *m)
{
	json_put_text(ret, "engine", m->engine);
	json_put_text(ret, "queue_mode", m->queue_mode);
	json_put_u64(ret, "batch_count", m->batch_count);
	json_put_u64(ret, "wait_count", m->wait_count);
	json_put_real(ret, "depth_mean", m->depth_mean);
	json_put_u64(ret, "depth_max", m->depth_max);
	if (m->depth_found)
		json_put_u64(ret, "depth_found", m->depth_found);
	if (*m->workload.steadystate)
		json_put_bool(ret, "steady", m->steady);
	json_put(ret, "depth_steps", steps_json(m->depth_counts));
	json_put(ret, "batch_steps", steps_json(m->push_counts));
	json_put(ret, "reap_steps", steps_json(m->reap_counts));
	json_put_u64(ret, "punted_count", m->punted_count);
}

static void put_device(json_t *ret, const struct measurement *m)
{
	json_t *device = json_object(), *temperature = json_object();

	json_put_u64(device, "read_count", m->device_read_count);
	json_put_u64(device, "read_bytes", m->device_read_bytes);
	json_put_u64(device, "write_count", m->device_write_count);
	json_put_u64(device, "write_bytes", m->device_write_bytes);
	json_put_u64(device, "read_merges", m->device_read_merge_count);
	json_put_u64(device, "write_merges", m->device_write_merge_count);
	json_put_u64(device, "read_ms", m->device_read_ms);
	json_put_u64(device, "write_ms", m->device_write_ms);
	json_put_u64(device, "busy_ms", m->device_busy_ms);
	json_put_u64(device, "queue_ms", m->device_queue_ms);
	json_put(ret, "device_counters", device);
	json_put_real(temperature, "start", m->temperature_c_start);
	json_put_real(temperature, "max", m->temperature_c_max);
	json_put(ret, "temperature_c", temperature);
	json_put(ret, "drive", drive_json(m->drive));
}

static json_t *replay_json(const struct replay_result *replay)
{
	json_t *ret;

	if (!replay->is_replay)
		return json_null();
	ret = json_object();
	json_put_u64(ret, "played_count", replay->played_count);
	json_put_u64(ret, "skipped_count", replay->skipped_count);
	json_put_u64(ret, "clipped_count", replay->clipped_count);
	json_put_u64(ret, "wrapped_count", replay->wrapped_count);
	json_put_u64(ret, "last_late_ns", replay->last_late_ns);
	json_put_u64(ret, "within_50us_count", replay->punctual_count);
	return ret;
}

static json_t *measurement_json(const struct measurement *m)
{
	json_t *ret = json_object();
	struct text seed = TEXT_INIT;

	text_add(&seed, "%llu", (unsigned long long)m->seed);
	json_put_text(ret, "name", m->name);
	json_put_u64(ret, "group", m->group_index);
	json_put_u64(ret, "target", m->target_index);
	json_put(ret, "workload", workload_json(&m->workload));
	json_put_text(ret, "seed", text_string(&seed));
	text_done(&seed);
	json_put_u64(ret, "start_ns", m->start_ns);
	json_put_u64(ret, "duration_ns", m->duration_ns);
	json_put_bool(ret, "interrupted", m->interrupted);
	json_put_text_or_null(ret, "error", m->ended_early ? m->error_text : "");
	json_put_text(ret, "level", m->level);
	json_put(ret, "segments", segments_json(m));
	json_put(ret, "ops", ops_json(m));
	json_put(ret, "errors", errors_json(m));
	json_put(ret, "lateness_ns", latency_json(m->lateness));
	json_put_u64(ret, "backlog_ns_max", m->backlog_ns_max);
	json_put_u64(ret, "unserved_count", m->unserved_count);
	json_put(ret, "replay", replay_json(&m->replay));
	json_put(ret, "transactions", transactions_json(m));
	put_queue(ret, m);
	put_cpu(ret, m);
	json_put(ret, "verify", verify_json(m));
	put_device(ret, m);
	json_put(ret, "seconds", seconds_json(m));
	return ret;
}

static json_t *filesystem_json(const struct target_info *info)
{
	json_t *ret;

	if (!info->filesystem[0])
		return json_null();
	ret = json_object();
	json_put_text(ret, "type", info->filesystem);
	json_put_text(ret, "mount_point", info->mount_point);
	json_put_text(ret, "mount_source", info->mount_source);
	json_put_text(ret, "mount_options", info->mount_options);
	json_put_u64(ret, "free_bytes", info->free_bytes);
	json_put_u64(ret, "total_bytes", info->total_bytes);
	return ret;
}

static json_t *layers_json(const struct target_info *info)
{
	json_t *ret = json_array();

	for (uint32_t i = 0; i < info->layer_count && i < TARGET_LAYERS; i++) {
		json_t *layer = json_object();

		json_put_text(layer, "name", info->layers[i].name);
		json_put_text(layer, "kind", info->layers[i].kind);
		json_put_text_or_null(layer, "detail", info->layers[i].detail);
		json_array_append_new(ret, layer);
	}
	return ret;
}

static void put_drive_facts(json_t *ret, const struct target_info *info)
{
	json_put_text_or_null(ret, "model", info->model);
	json_put_text_or_null(ret, "serial", info->serial);
	json_put_text_or_null(ret, "firmware", info->firmware);
	json_put_text_or_null(ret, "transport", info->transport);
	json_put_u64(ret, "size_bytes", info->size_bytes);
	json_put_u64(ret, "logical_block_bytes", info->logical_block_bytes);
	json_put_u64(ret, "physical_block_bytes", info->physical_block_bytes);
	json_put_u64(ret, "memory_align_bytes", info->memory_align_bytes);
	json_put_u64(ret, "offset_align_bytes", info->offset_align_bytes);
	json_put_u64(ret, "discard_granularity_bytes", info->discard_granularity_bytes);
	json_put_u64(ret, "discard_max_bytes", info->discard_max_bytes);
	json_put_bool(ret, "rotational", info->rotational);
	json_put_bool(ret, "removable", info->removable);
	json_put_bool(ret, "read_only", info->read_only);
	json_put_bool(ret, "direct", info->direct);
	json_put_text_or_null(ret, "scheduler", info->scheduler);
	json_put_text_or_null(ret, "write_cache", info->write_cache);
	if (info->has_partition)
		json_put_u64(ret, "partition_start_bytes", info->partition_start_bytes);
	else
		json_put(ret, "partition_start_bytes", json_null());
}

json_t *report_target_json(const struct target_info *info)
{
	json_t *ret = json_object();

	json_put_text(ret, "spec", info->spec);
	json_put_text(ret, "kind", target_kind_name(info->kind));
	json_put_text(ret, "path", info->path);
	json_put_text_or_null(ret, "device", info->device);
	json_put_u64(ret, "device_major", info->device_major);
	json_put_u64(ret, "device_minor", info->device_minor);
	put_drive_facts(ret, info);
	json_put(ret, "filesystem", filesystem_json(info));
	json_put_bool(ret, "ours", info->ours);
	json_put(ret, "layers", layers_json(info));
	json_put_text_or_null(ret, "erase_name", info->erase_name);
	json_put_text_or_null(ret, "consent", info->consent);
	return ret;
}

json_t *report_machine_json(const struct machine *machine)
{
	json_t *ret = json_object();

	json_put_text_or_null(ret, "hostname", machine->hostname);
	json_put_text_or_null(ret, "kernel", machine->kernel);
	json_put_text_or_null(ret, "cpu_model", machine->cpu_model);
	json_put_u64(ret, "cpu_count", machine->cpu_count);
	json_put_u64(ret, "memory_bytes", machine->memory_bytes);
	json_put_text_or_null(ret, "governor", machine->governor);
	json_put_text_or_null(ret, "virtualisation", machine->virtualisation);
	return ret;
}

static json_t *step_json(const struct step_result *step)
{
	json_t *ret = json_object(), *figures = json_object();

	json_put_text(ret, "name", step->name);
	json_put_text_or_null(ret, "asked", step->asked);
	json_put_text_or_null(ret, "method", step->method);
	json_put_text(ret, "text", step->text);
	json_put_text_or_null(ret, "state", step->state);
	json_put_u64(ret, "before_measurement", step->before_measurement);
	json_put_u64(ret, "start_ns", step->start_ns);
	json_put_u64(ret, "duration_ns", step->duration_ns);
	json_put_u64(ret, "written_bytes", step->written_bytes);
	json_put_u64(ret, "read_bytes", step->read_bytes);
	json_put_u64(ret, "discard_asked_bytes", step->discard_asked_bytes);
	json_put(ret, "discard_sent_bytes",
		 step->have_sent ? json_integer((json_int_t)step->discard_sent_bytes) : json_null());
	json_put_u64(ret, "files", step->file_count);
	json_put_u64(ret, "files_deleted", step->file_deleted_count);
	json_put_bool(ret, "reached", step->reached);
	json_put_bool(ret, "interrupted", step->interrupted);
	for (uint32_t i = 0; i < step->figure_count; i++)
		json_put_real(figures, step->figures[i].name, step->figures[i].value);
	json_put(ret, "figures", figures);
	return ret;
}

static json_t *state_json(const struct result *result)
{
	json_t *steps = json_array();

	json_t *ret = json_object();

	json_put_text(ret, "name", result->state);
	json_put_text(ret, "text", result->state_text);
	json_put_u64(ret, "layout_bytes", result->layout_bytes);
	json_put_u64(ret, "layout_ns", result->layout_ns);
	for (size_t i = 0; i < result->step_count; i++)
		json_array_append_new(steps, step_json(&result->steps[i]));
	json_put(ret, "steps", steps);
	return ret;
}

static json_t *findings_json(const struct result *result)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct finding *f = &result->findings[i];
		json_t *finding = json_object();

		json_put_text(finding, "code", f->code);
		json_put_text(finding, "severity", severity_names[f->severity]);
		json_put_text_or_null(finding, "measurement", f->measurement);
		json_put_text(finding, "text", f->text);
		json_put_text_or_null(finding, "remedy", f->remedy);
		json_array_append_new(ret, finding);
	}
	return ret;
}

static json_t *error_json(const struct result *result)
{
	const bool no_space = result->error_code == -ENOSPC || result->error_code == -EDQUOT;
	struct err err = { .code = result->error_code };

	static_assert(sizeof(err.text) == sizeof(result->error_text) &&
		      sizeof(err.hint) == sizeof(result->error_hint), "copied whole");
	if (!result->error_text[0])
		return json_null();
	memcpy(err.text, result->error_text, sizeof(err.text));
	memcpy(err.hint, result->error_hint, sizeof(err.hint));
	return report_error_object(no_space ? "space" : "io", &err);
}

static json_t *measurements_json(const struct result *result)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < result->measurement_count; i++)
		json_array_append_new(ret, measurement_json(&result->measurements[i]));
	return ret;
}

/* As measurements count them: the plan's own first. */
static json_t *targets_json(const struct result *result)
{
	json_t *ret = json_array();

	json_array_append_new(ret, report_target_json(&result->target));
	for (size_t i = 0; i < result->more_target_count; i++)
		json_array_append_new(ret, report_target_json(&result->more_targets[i]));
	return ret;
}

json_t *report_result_json(const struct result *result)
{
	json_t *root = json_object();

	json_put(root, "schema", json_string(REPORT_SCHEMA));
	json_put_text(root, "version", result->version);
	json_put_text(root, "started_at", result->started_at);
	json_put_text(root, "command", result->command);
	json_put_bool(root, "interrupted", result->interrupted);
	json_put(root, "error", error_json(result));
	json_put(root, "machine", report_machine_json(&result->machine));
	json_put_real(root, "ceiling_iops", result->ceiling_iops > 0 ? result->ceiling_iops : NAN);
	json_put(root, "target", report_target_json(&result->target));
	json_put(root, "targets", targets_json(result));
	json_put(root, "state", state_json(result));
	json_put(root, "measurements", measurements_json(result));
	json_put(root, "findings", findings_json(result));
	return root;
}

void report_json(const struct result *result, struct text *ret)
{
	json_t *root = report_result_json(result);

	json_write(root, ret);
	json_decref(root);
}
