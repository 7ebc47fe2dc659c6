/* SPDX-License-Identifier: MIT */
#include "report/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"

void text_add_size(struct text *ret, uint64_t bytes)
{
	static const struct {
		uint64_t unit;
		const char *name;
	} units[] = { { TIB, "TiB" }, { GIB, "GiB" }, { MIB, "MiB" }, { KIB, "KiB" } };
	char buffer[UNITS_TEXT_BYTES];

	for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
		if (bytes < units[i].unit)
			continue;
		if (bytes % units[i].unit == 0 && bytes / units[i].unit < 10000)
			text_add(ret, "%" PRIu64 " %s", bytes / units[i].unit, units[i].name);
		else
			text_add(ret, "%s", units_format_size((double)bytes, buffer));
		return;
	}
	text_add(ret, "%" PRIu64 " B", bytes);
}

const char *text_percentile(const struct histogram *h, uint32_t ppm, char *buffer)
{
	if (!h || !histogram_has_percentile(h, ppm))
		return "–";
	return units_format_latency((double)histogram_percentile_ns(h, ppm), buffer);
}

static void add_shape(const struct workload *w, struct text *ret)
{
	static const char *const names[] = {
		[RW_READ] = "sequential read",	   [RW_WRITE] = "sequential write",
		[RW_TRIM] = "sequential trim",	   [RW_RANDREAD] = "random read",
		[RW_RANDWRITE] = "random write",   [RW_RANDTRIM] = "random trim",
		[RW_READWRITE] = "sequential mix", [RW_RANDRW] = "random mix",
		[RW_TRIMWRITE] = "sequential trim and write",
		[RW_RANDTRIMWRITE] = "random trim and write",
	};
	char share[UNITS_TEXT_BYTES];

	text_add(ret, "%s", names[w->rw]);
	if (w->rw == RW_READWRITE || w->rw == RW_RANDRW)
		text_add(ret, " (%s reads)", units_format_ppm(w->read_ppm, share));
}

static void add_asked(const struct workload *w, struct text *ret)
{
	add_shape(w, ret);
	text_add(ret, " ");
	if (w->size_mix.count)
		text_add(ret, "of %" PRIu32 " sizes", w->size_mix.count);
	else
		text_add_size(ret, w->block_bytes);
}

void report_workload_text(const struct workload *w, struct text *ret)
{
	if (w->lines.count)
		text_add(ret, "%" PRIu32 " access line%s", w->lines.count,
			 w->lines.count > 1 ? "s" : "");
	else
		add_asked(w, ret);
	text_add(ret, " Q%" PRIu32, w->depth_count);
	if (w->job_count > 1)
		text_add(ret, " × %" PRIu32 " %s", w->job_count, *w->trace ? "pacers" : "jobs");
	if (w->fdatasync_count)
		text_add(ret, " + fdatasync");
	if (w->fsync_count)
		text_add(ret, " + fsync");
	if (w->sync)
		text_add(ret, w->sync == SYNC_DSYNC ? " O_DSYNC" : " O_SYNC");
	if (!w->direct)
		text_add(ret, " buffered");
}

static void add_stack(const struct target_info *info, struct text *ret)
{
	if (info->filesystem[0])
		summary_add_printable(ret, info->filesystem);
	for (uint32_t i = 0; i < info->layer_count && i < TARGET_LAYERS; i++) {
		const struct target_layer *layer = &info->layers[i];

		/* A device is its own first layer, and named already. */
		if (i > 0 || info->filesystem[0]) {
			text_add(ret, " on ");
			summary_add_printable(ret, layer->name);
		}
		if (!layer->kind[0] || strcmp(layer->kind, "disk") == 0 ||
		    strcmp(layer->kind, "partition") == 0)
			continue;
		text_add(ret, " (");
		summary_add_printable(ret, layer->kind);
		if (layer->detail[0]) {
			text_add(ret, " ");
			summary_add_printable(ret, layer->detail);
		}
		text_add(ret, ")");
	}
	if (!info->layer_count && info->device[0] && info->filesystem[0]) {
		text_add(ret, " on ");
		summary_add_printable(ret, info->device);
	}
}

static void add_fact(struct text *ret, const char *label, const char *value)
{
	if (!value[0])
		return;
	text_add(ret, "%s", label);
	summary_add_printable(ret, value);
}

static void add_file_facts(const struct target_info *info, struct text *ret)
{
	if (info->total_bytes) {
		text_add_size(ret, info->free_bytes);
		text_add(ret, " free · ");
	}
	if (info->ours) {
		text_add(ret, "test file ");
		text_add_size(ret, info->size_bytes);
		text_add(ret, ", removed afterwards · ");
	} else {
		text_add(ret, "existing file of ");
		text_add_size(ret, info->size_bytes);
		text_add(ret, " · ");
	}
	text_add(ret, "through the file system");
}

static void add_device_facts(const struct target_info *info, struct text *ret)
{
	text_add_size(ret, info->size_bytes);
	if (info->logical_block_bytes)
		text_add(ret, " · sectors %" PRIu32 "/%" PRIu32 " B", info->logical_block_bytes,
			 info->physical_block_bytes);
	add_fact(ret, " · scheduler ", info->scheduler);
	add_fact(ret, " · cache ", info->write_cache);
	if (info->consent[0])
		add_fact(ret, " · may be erased: ", info->consent);
	else if (info->kind == TARGET_BLOCK)
		text_add(ret, " · opened read-only");
}

void report_target_text(const struct target_info *info, const struct report_style *style,
			struct text *ret)
{
	const size_t start = ret->length;
	struct text line = TEXT_INIT;

	if (style->plain) {
		text_plain_target(info, ret);
		layout_finish(ret, start, style);
		return;
	}
	text_add(ret, "%s", layout_tone(style, TONE_STRONG));
	summary_add_printable(ret, info->spec[0] ? info->spec : info->path);
	text_add(ret, "%s ", layout_end(style));
	add_stack(info, &line);
	add_fact(&line, " · ", info->model);
	add_fact(&line, " fw ", info->firmware);
	add_fact(&line, " · ", info->transport);
	layout_wrap(ret, text_string(&line), 0, style->columns);
	text_add(ret, "\n");
	text_done(&line);

	if (info->kind == TARGET_DIRECTORY || info->kind == TARGET_FILE)
		add_file_facts(info, &line);
	else if (info->kind == TARGET_NULL)
		text_add(&line, "completes every request at once: measures tare itself");
	else
		add_device_facts(info, &line);
	layout_wrap(ret, text_string(&line), 0, style->columns);
	text_add(ret, "\n");
	text_done(&line);
	layout_finish(ret, start, style);
}

int text_severity_of(const struct result *result, const struct measurement *m)
{
	int worst = m->ended_early ? SEVERITY_INVALID : -1;

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct finding *f = &result->findings[i];

		if (strcmp(f->measurement, m->name) == 0 && (int)f->severity > worst)
			worst = (int)f->severity;
	}
	return worst;
}

/* The table compares rows of one target that ran one after the other. */
static bool fits_table(const struct result *result)
{
	for (size_t i = 0; i < result->measurement_count; i++)
		if (text_group_count(result, i) > 1)
			return false;
	return result->measurement_count > 1 && result->more_target_count == 0;
}

void report_text(const struct result *result, const struct report_style *style, struct text *ret)
{
	const size_t start = ret->length;
	const bool table = !style->full && fits_table(result);

	if (style->plain) {
		text_plain(result, ret);
		layout_finish(ret, start, style);
		return;
	}
	text_steps(result, style, ret);
	if (ret->length > start && result->measurement_count)
		text_add(ret, "\n");
	if (table)
		text_table(result, style, ret);
	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *m = &result->measurements[i];

		if (table && text_table_shows(m))
			continue;
		if (i > 0 || table)
			text_add(ret, "\n");
		text_group(result, i, style, ret);
		text_full(result, m, style, ret);
	}
	if (ret->length > start)
		text_add(ret, "\n");
	text_findings(result, style, ret);
	layout_finish(ret, start, style);
}
