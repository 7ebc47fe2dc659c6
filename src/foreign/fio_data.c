/* SPDX-License-Identifier: MIT */
/* What is written, how it is checked, and what the report says of it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/random.h"
#include "base/units.h"
#include "foreign/fio_parts.h"
#include "model/workload_values.h"

/* fio's start without randseed: any number will do, if it is the same each time. */
#define SEED_OF_REPEATS 0x0f10

static void set_seed(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	const uint64_t base = o->randseed ? o->randseed : SEED_OF_REPEATS;
	struct workload *w = clone->workload;

	/* What one job writes another may check. */
	if (w->verify)
		w->seed = random_mix(base) | 1;
	else if (o->randrepeat || o->randseed)
		w->seed = random_mix(base + clone->thread_number) | 1;
}

/* "text" loses its quotes; 0x and digits get a leading 0 to be whole bytes; 170 is 0xaa. */
static void set_pattern(struct fio_clone *clone, const char *name, const char *pattern)
{
	const size_t length = strlen(pattern);
	struct text text = TEXT_INIT;
	struct err err;
	char *end;

	if (length > 1 && pattern[0] == '"' && pattern[length - 1] == '"')
		text_add(&text, "%.*s", (int)length - 2, pattern + 1);
	else if (strncmp(pattern, "0x", 2) == 0)
		text_add(&text, "0x%s%s", length % 2 ? "0" : "", pattern + 2);
	else if (isdigit((unsigned char)*pattern) && strtoul(pattern, &end, 10) <= 255 && !*end)
		text_add(&text, "0x%02lx", strtoul(pattern, NULL, 10));
	else
		text_add(&text, "%s", pattern);
	if (workload_parse_pattern(clone->workload, text_string(&text), &err) < 0)
		fio_problem(clone->b, clone->job, name, "%s", err.text);
	text_done(&text);
}

static void set_content(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	struct workload *w = clone->workload;

	w->compress_ppm = (uint32_t)o->compress_percent * (PPM / 100);
	w->dedupe_ppm = (uint32_t)o->dedupe_percent * (PPM / 100);
	if (o->zero_buffers)
		w->data = DATA_ZERO;
	else if (o->buffer_pattern && !o->compress_percent)
		set_pattern(clone, "buffer_pattern", o->buffer_pattern);
	else if (o->buffer_pattern)
		fio_note(clone->b, clone->job, "buffer_pattern",
			 "the compressible share of a block is zeros");
	if (!o->zero_buffers && !o->buffer_pattern && !o->refill_buffers)
		fio_note_all(clone->b,
			     "each block written is new and cannot be compressed, where fio "
			     "repeats one buffer with small changes");
}

/* Has a job before this one written the same with verify? */
static bool written_before(const struct fio_clone *clone)
{
	const struct plan *plan = &clone->b->t->plan;

	for (size_t i = 0; i + 1 < plan->phase_count; i++) {
		const struct phase *phase = &plan->phases[i];

		if (phase->target_index == clone->target_index && phase->workload.verify &&
		    workload_writes(&phase->workload))
			return true;
	}
	return false;
}

static void set_verify(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	const char *kind = fio_verify_kinds[o->verify];
	struct workload *w = clone->workload;

	if (!clone->writes && !o->do_verify)
		return;
	if (!clone->writes && !written_before(clone)) {
		fio_problem(clone->b, clone->job, "verify",
			    "nothing in this run wrote what would be checked; write it with verify "
			    "first");
		return;
	}
	w->verify = true;
	if (clone->writes && (o->zero_buffers || o->buffer_pattern)) {
		w->data = DATA_RANDOM;
		w->pattern[0] = '\0';
		fio_note(clone->b, clone->job, o->zero_buffers ? "zero_buffers" : "buffer_pattern",
			 "verify has data of its own");
	}
	fio_note(clone->b, clone->job, "verify",
		 "%s: checked by tare's own header in each block: checksum, offset and generation",
		 kind);
	w->verify_back = o->do_verify;
	if (o->verify_only)
		fio_problem(clone->b, clone->job, "verify_only", "is not supported");
}

void fio_set_data(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;

	if (clone->writes)
		set_content(clone);
	/* Index 0 is none, 1 is null: fio's way of not checking. */
	if (o->verify > 1 && (clone->reads || clone->writes))
		set_verify(clone);
	set_seed(clone);
	if (o->pre_read)
		fio_problem(clone->b, clone->job, "pre_read",
			    "is not supported; invalidate=0 keeps what is "
			    "cached");
}

static char *copy_of(const char *text)
{
	char *ret = text ? strdup(text) : NULL;

	if (text && !ret)
		abort();
	return ret;
}

/* A log without a prefix has the job's name. */
static char *prefix_of(const struct fio_clone *clone, const char *prefix)
{
	return prefix && !*prefix ? copy_of(clone->job->options.name) : copy_of(prefix);
}

/* "iops:10.000000%", as fio prints it. */
static char *steady_text(const char *given)
{
	const char *colon = given ? strchr(given, ':') : NULL;
	struct text text = TEXT_INIT;

	if (!colon)
		return NULL;
	text_add(&text, "%.*s:%f%s", (int)(colon - given), given, strtod(colon + 1, NULL),
		 strchr(colon, '%') ? "%" : "");
	return text_take(&text);
}

static void add_options(const struct fio_clone *clone, struct fio_job *label)
{
	const struct fio_section *section = clone->job->section;

	for (size_t i = 0; i < section->count; i++) {
		const struct fio_row *row = fio_row_find(section->items[i].name);

		fio_options_add(&label->options, row ? row->name : section->items[i].name,
				section->items[i].value ? section->items[i].value : "1");
	}
}

static void set_iolog(struct fio_clone *clone, struct fio_job *label)
{
	const char *name = clone->job->options.write_iolog;

	if (!name)
		return;
	if (!*name)
		fio_problem(clone->b, clone->job, "write_iolog", "no name is given");
	if (clone->file_count > 1)
		fio_problem(clone->b, clone->job, "write_iolog",
			    "a job with several files is not supported; write a job for each");
	label->write_iolog = copy_of(name);
	label->iolog_name = copy_of(clone->file_name);
}

void fio_set_labels(struct fio_clone *clone)
{
	const struct fio_job_options *o = &clone->job->options;
	static const uint32_t unified[] = { 0, 1, 2, 0, 1, 2 }, unit_bases[] = { 0, 1, 8 };
	struct fio_job *label = fio_labels_add(&clone->b->t->labels);

	label->name = copy_of(o->name);
	label->description = copy_of(o->description);
	label->clone_index = clone->index;
	label->thread_number = clone->thread_number;
	label->group_id = clone->job->group_id;
	label->group_reporting = o->group_reporting;
	label->unified = unified[o->unified_rw];
	label->slat = !o->disable_slat;
	label->clat = !o->disable_clat;
	label->lat = !o->disable_lat;
	label->clat_percentiles = o->clat_percentiles;
	label->lat_percentiles = o->lat_percentiles;
	label->slat_percentiles = o->slat_percentiles;
	memcpy(label->percentiles, o->percentiles, sizeof(label->percentiles));
	label->percentile_count = o->percentile_count;
	label->continue_on_error = o->continue_on_error != 0 && o->continue_on_error != 6;
	label->kb_base = o->kb_base;
	label->unit_base = unit_bases[o->unit_base];
	label->write_bw_log = prefix_of(clone, o->write_bw_log);
	label->write_iops_log = prefix_of(clone, o->write_iops_log);
	label->write_lat_log = prefix_of(clone, o->write_lat_log);
	set_iolog(clone, label);
	label->log_avg_ms = o->log_avg_ms;
	label->per_job_logs = o->per_job_logs;
	label->log_offset = o->log_offset;
	label->steadystate = o->steadystate != NULL;
	label->steadystate_text = steady_text(o->steadystate);
	clone->b->t->labels.disk_util = o->disk_util;
	if (label->continue_on_error)
		fio_note(clone->b, clone->job, "continue_on_error", "an error ends the run");
	if (o->steadystate)
		fio_note(clone->b, clone->job, "steadystate",
			 "judged at the end; the job runs for all of its time");
	add_options(clone, label);
}
