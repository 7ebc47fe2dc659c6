/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "report/json_tree.h"
#include "report/summary.h"
#include "report/trim.h"

static void put_answer(json_t *object, const char *key, enum trim_answer answer)
{
	json_put(object, key, answer == TRIM_UNKNOWN ? json_null() :
			      json_boolean(answer == TRIM_YES));
}

static json_t *layer_json(const struct trim_report *report, uint32_t index)
{
	const struct trim_layer *layer = &report->layers[index];
	json_t *ret = json_object(), *delivered;

	json_put_text(ret, "name", layer->name);
	json_put_text(ret, "kind", layer->kind);
	json_put_text_or_null(ret, "detail", layer->detail);
	json_put(ret, "parent", layer->parent == TRIM_TOP ? json_null() :
				json_integer(layer->parent));
	json_put_u64(ret, "start_bytes", layer->start_bytes);
	put_answer(ret, "capable", layer->capable);
	json_put_text_or_null(ret, "reason", layer->reason);
	json_put_text_or_null(ret, "why", layer->why);
	json_put_text_or_null(ret, "remedy", layer->remedy);
	json_put_text_or_null(ret, "needs_root", layer->needs_root);
	json_put_bool(ret, "is_block", layer->is_block);
	json_put_bool(ret, "is_virtual", layer->is_virtual);
	json_put_bool(ret, "rotational", layer->rotational);
	json_put_u64(ret, "granularity_bytes", layer->granularity_bytes);
	json_put_u64(ret, "max_bytes", layer->max_bytes);
	json_put_u64(ret, "max_hw_bytes", layer->max_hw_bytes);
	json_put_u64(ret, "alignment_bytes", layer->alignment_bytes);
	put_answer(ret, "promises_zeros", layer->zeroes);
	json_put_bool(ret, "promises_ones", layer->ones);
	json_put_bool(ret, "becomes_writes", layer->becomes_writes);
	if (!layer->have_delivered) {
		json_put(ret, "delivered", json_null());
		return ret;
	}
	delivered = json_object();
	json_put_u64(delivered, "count", layer->delivered_count);
	json_put_u64(delivered, "bytes", layer->delivered_bytes);
	json_put(ret, "delivered", delivered);
	return ret;
}

static json_t *evidence_json(const struct trim_evidence *evidence)
{
	json_t *ret = json_object();
	char name[24];

	json_put_text(ret, "rung", trim_rung_names[evidence->rung]);
	json_put_text(ret, "code", evidence->code);
	json_put_text_or_null(ret, "layer", evidence->layer);
	json_put_bool(ret, "ok", evidence->ok);
	json_put_text_or_null(ret, "errno", evidence->error ?
			      summary_errno_name(evidence->error, name) : "");
	json_put_u64(ret, "bytes", evidence->bytes);
	json_put_u64(ret, "after_ns", evidence->after_ns);
	json_put_text_or_null(ret, "content", evidence->content == CONTENT_NOT_READ ? "" :
			      trim_content_names[evidence->content]);
	json_put_text(ret, "text", evidence->text);
	return ret;
}

static json_t *size_json(const struct trim_size *size)
{
	json_t *ret = json_object();

	json_put_u64(ret, "bytes", size->bytes);
	json_put_u64(ret, "tried", size->tried_count);
	json_put_u64(ret, "gone", size->gone_count);
	json_put_u64(ret, "old", size->old_count);
	json_put_u64(ret, "other", size->other_count);
	return ret;
}

static json_t *note_json(const struct trim_note *note)
{
	json_t *ret = json_object();

	json_put_text(ret, "code", note->code);
	json_put_text_or_null(ret, "layer", note->layer);
	json_put_bool(ret, "warning", note->warning);
	json_put_text(ret, "text", note->text);
	return ret;
}

static json_t *active_json(const struct trim_active *active)
{
	json_t *ret = json_object();

	put_answer(ret, "mount_option", active->mount_option);
	json_put_text_or_null(ret, "mount_word", active->mount_word);
	put_answer(ret, "timer", active->timer);
	json_put_text_or_null(ret, "timer_word", active->timer_word);
	return ret;
}

static json_t *verdict_json(const struct trim_verdict *verdict)
{
	json_t *ret = json_object();

	json_put_text(ret, "code", verdict->code);
	json_put_text_or_null(ret, "layer", verdict->layer);
	json_put_text_or_null(ret, "reason", verdict->reason);
	json_put_text(ret, "text", verdict->text);
	json_put_text_or_null(ret, "remedy", verdict->remedy);
	json_put_bool(ret, "as_far_as_seen", verdict->as_far_as_seen);
	return ret;
}

static void put_lists(json_t *root, const struct trim_report *report)
{
	json_t *layers = json_array(), *evidence = json_array(), *sizes = json_array();
	json_t *notes = json_array();

	for (uint32_t i = 0; i < report->layer_count; i++)
		json_array_append_new(layers, layer_json(report, i));
	for (uint32_t i = 0; i < report->evidence_count; i++)
		json_array_append_new(evidence, evidence_json(&report->evidence[i]));
	for (uint32_t i = 0; i < report->size_count; i++)
		json_array_append_new(sizes, size_json(&report->sizes[i]));
	for (uint32_t i = 0; i < report->note_count; i++)
		json_array_append_new(notes, note_json(&report->notes[i]));
	json_put(root, "layers", layers);
	json_put(root, "evidence", evidence);
	json_put(root, "sizes", sizes);
	json_put(root, "notes", notes);
}

static json_t *trim_json(const struct trim_report *report, bool alone)
{
	json_t *root = json_object();

	if (alone)
		json_put(root, "schema", json_string(REPORT_TRIM_SCHEMA));
	json_put_text(root, "spec", report->spec);
	json_put_text(root, "path", report->path);
	json_put_text_or_null(root, "device", report->device);
	json_put(root, "verdict", verdict_json(&report->verdict));
	json_put_text(root, "rung", trim_rung_names[report->rung]);
	json_put(root, "active", active_json(&report->active));
	json_put_u64(root, "unit_bytes", report->unit_bytes);
	json_put_u64(root, "asked_bytes", report->asked_bytes);
	put_answer(root, "mapping_proven", report->mapping);
	put_answer(root, "space_freed", report->space_freed);
	json_put_bool(root, "guards_changed", report->guards_changed);
	json_put_bool(root, "aborted", report->aborted);
	json_put_bool(root, "interrupted", report->interrupted);
	put_lists(root, report);
	return root;
}

void report_trim_json(const struct trim_report *report, struct text *ret)
{
	json_t *root = trim_json(report, true);

	json_write(root, ret);
	json_decref(root);
}

void report_trim_list_begin(void **ret_list)
{
	*ret_list = json_array();
}

void report_trim_list_add(void *list, const struct trim_report *report)
{
	json_array_append_new(list, trim_json(report, false));
}

void report_trim_list_end(void *list, struct text *ret)
{
	json_t *root = json_object();

	json_put(root, "schema", json_string(REPORT_TRIM_SCHEMA));
	json_put(root, "trims", list);
	json_write(root, ret);
	json_decref(root);
}
