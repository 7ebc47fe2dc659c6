/* SPDX-License-Identifier: MIT */
#include "foreign/fio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "foreign/fio_parts.h"

/* Where the option stands; the section's heading when it was not given. */
static struct place place_of(const struct fio_job_section *job, const char *option)
{
	const struct fio_assignment *given = NULL;
	struct place place;

	if (*option)
		given = fio_options_given(&job->options, option);
	if (!given)
		return job->section->place;
	place = given->place;
	if (given->value_column)
		place.column = given->value_column;
	return place;
}

void fio_problem(struct fio_builder *b, const struct fio_job_section *job, const char *option,
		 const char *format, ...)
{
	const struct place place = place_of(job, option);
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fio_remark(&b->t->problems, &place, "%s%s%s", option, *option ? ": " : "", text);
}

void fio_note(struct fio_builder *b, const struct fio_job_section *job, const char *option,
	      const char *format, ...)
{
	const struct place place = place_of(job, option);
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fio_remark(&b->t->remarks, &place, "%s%s%s", option, *option ? ": " : "", text);
}

void fio_note_all(struct fio_builder *b, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fio_remark(&b->t->remarks, NULL, "%s", text);
}

static void take_item(struct fio_builder *b, struct fio_job_options *options,
		      const struct fio_assignment *item)
{
	const struct fio_row *row = fio_row_find(item->name);
	struct place place = item->place;
	const char *nearest;
	struct err err;

	/* Beyond what is told the rest need not be known. */
	if (!row && b->unknown_count++ > FIO_REMARKS_MAX)
		return;
	if (!row) {
		nearest = fio_row_nearest(item->name);
		fio_remark(&b->t->problems, &place, "no option '%.64s'%s%s%s", item->name,
			   nearest ? "; did you mean '" : "", nearest ? nearest : "",
			   nearest ? "'?" : "");
		return;
	}
	if (item->value_column)
		place.column = item->value_column;
	if (fio_options_set(options, row, item, &b->t->remarks, &err) < 0)
		fio_remark(&b->t->problems, &place, "%s", err.text);
}

/* kb_base counts for the whole section, wherever it stands in it. False: something is wrong. */
static bool take_section(struct fio_builder *b, struct fio_job_options *options,
			 const struct fio_section *section)
{
	const size_t problems = b->t->problems.count;

	for (size_t i = 0; i < section->count; i++)
		if (strcmp(section->items[i].name, "kb_base") == 0)
			take_item(b, options, &section->items[i]);
	for (size_t i = 0; i < section->count; i++)
		take_item(b, options, &section->items[i]);
	return b->t->problems.count == problems;
}

static void keep_options(struct fio_options *kept, const struct fio_section *section)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct fio_assignment *item = &section->items[i];
		const struct fio_row *row = fio_row_find(item->name);

		fio_options_add(kept, row ? row->name : item->name,
				item->value ? item->value : "1");
	}
}

static struct fio_job_section *add_job(struct fio_builder *b, const struct fio_section *section,
				       const struct fio_job_options *inherited, bool flawed)
{
	struct fio_jobs *jobs = &b->jobs;
	struct fio_job_section *job = calloc(1, sizeof(*job));

	jobs->items = reallocarray(jobs->items, jobs->count + 1, sizeof(*jobs->items));
	if (!job || !jobs->items)
		abort();
	jobs->items[jobs->count++] = job;
	job->section = section;
	job->options = *inherited;
	/* What [global] says of the name is no name for all. */
	job->options.name = section->name;
	job->flawed = flawed;
	if (!take_section(b, &job->options, section))
		job->flawed = true;
	job->stonewall = job->options.stonewall || section->begins_file;
	return job;
}

static void note_taken(struct fio_builder *b, size_t row, const struct fio_assignment *given,
		       const char *file)
{
	if (strcmp(file, given->place.file) != 0 && fio_rows[row].class != FIO_NOTED)
		fio_remark(&b->t->remarks, &given->place,
			   "--%s%s%s counts for the jobs of %s that do not say it; fio would ignore it",
			   fio_rows[row].name, given->value ? "=" : "",
			   given->value ? given->value : "", file);
}

/*
 * Command-line options outside a job give way to what the file says. Where it says nothing they
 * count, which is what everybody expects, but not what fio does.
 */
static void note_command_line(struct fio_builder *b, const struct fio_job_options *defaults,
			    const struct fio_job_section *job)
{
	for (size_t i = 0; fio_rows[i].name; i++) {
		const struct fio_assignment *given = defaults->given[i];
		const struct fio_assignment *kept = job->options.given[i];

		if (!given)
			continue;
		if (kept == given) {
			note_taken(b, i, given, job->section->place.file);
			continue;
		}
		if (strcmp(kept->place.file, given->place.file) == 0)
			continue;
		fio_remark(&b->t->remarks, &kept->place,
			   "--%s%s%s has no effect on job '%.64s', which says %s%s%s",
			   fio_rows[i].name, given->value ? "=" : "",
			   given->value ? given->value : "", job->section->name, fio_rows[i].name,
			   kept->value ? "=" : "", kept->value ? kept->value : "");
	}
}

static void make_jobs(struct fio_builder *b)
{
	const struct fio_source *source = &b->words.source;
	DEFER(defer_free) struct fio_job_options *defaults = malloc(sizeof(*defaults));
	DEFER(defer_free) struct fio_job_options *inherited = malloc(sizeof(*inherited));
	const char *file = "";
	bool flawed_defaults, flawed = false;

	if (!defaults || !inherited)
		abort();
	fio_options_preset(defaults);
	flawed_defaults = !take_section(b, defaults, &b->words.defaults);
	keep_options(&b->t->labels.global, &b->words.defaults);
	for (size_t i = 0; i < source->section_count; i++) {
		const struct fio_section *section = &source->sections[i];

		if (i == 0 || strcmp(file, section->place.file) != 0) {
			*inherited = *defaults;
			flawed = flawed_defaults;
		}
		file = section->place.file;
		if (section->global) {
			flawed |= !take_section(b, inherited, section);
			keep_options(&b->t->labels.global, section);
		} else if (b->jobs.count == FIO_JOBS_MAX) {
			fio_remark(&b->t->problems, &section->place, "more than %d jobs",
				   FIO_JOBS_MAX);
			return;
		} else if (!section->skipped) {
			note_command_line(b, defaults, add_job(b, section, inherited, flawed));
		}
	}
	if (!b->jobs.count && !b->t->problems.count)
		fio_remark(&b->t->problems, NULL,
			   "no job: give a job file, or --name=JOB with its options");
}

static size_t find_job(const struct fio_builder *b, const char *name, size_t before)
{
	for (size_t i = before; i > 0; i--)
		if (strcmp(b->jobs.items[i - 1]->options.name, name) == 0)
			return i;
	return 0;
}

/* Whether the job must wait for the whole stage before it, since it names one of its jobs. */
static bool waits(struct fio_builder *b, size_t index)
{
	const struct fio_job_section *job = b->jobs.items[index];
	const char *name = job->options.wait_for;
	size_t named;

	if (!name || index == 0)
		return false;
	named = find_job(b, name, index);
	if (!named) {
		fio_problem(b, job, "wait_for", "no job '%.64s' above this one", name);
		return false;
	}
	if (b->jobs.items[named - 1]->stage != b->jobs.items[index - 1]->stage)
		return false;
	for (size_t i = index;
	     i > 0 && b->jobs.items[i - 1]->stage == b->jobs.items[index - 1]->stage; i--)
		if (i != named)
			fio_note(b, job, "wait_for",
				 "waits for all that runs beside '%.64s', and what follows waits "
				 "with it",
				 name);
	return true;
}

/* Stages follow each other; report groups are counted as fio counts them. */
static void set_stages(struct fio_builder *b)
{
	uint32_t stage = 0, group = 0;

	for (size_t i = 0; i < b->jobs.count; i++) {
		struct fio_job_section *job = b->jobs.items[i];

		if (i > 0 && (job->stonewall || job->options.new_group))
			group++;
		if (job->stonewall ? i > 0 : waits(b, i))
			stage++;
		job->stage = stage;
		job->group_id = group;
	}
}

/* One line for each option without effect, at the first place that has it. */
static void note_options(struct fio_builder *b)
{
	for (size_t i = 0; fio_rows[i].name; i++) {
		if (fio_rows[i].class != FIO_NOTED)
			continue;
		for (size_t j = 0; j < b->jobs.count; j++) {
			const struct fio_job_section *job = b->jobs.items[j];

			if (!job->options.given[i])
				continue;
			fio_note(b, job, fio_rows[i].name, "no effect: %s", fio_rows[i].text);
			break;
		}
	}
}

/* Whether an exit of this job is the end of all that runs beside it. */
static bool ends_group(struct fio_builder *b, const struct fio_job_section *job)
{
	if (!job->options.exitall && !fio_options_given(&job->options, "exit_what"))
		return false;
	if (job->options.exit_what == 2)
		fio_note(b, job, "exit_what",
			 "all that runs beside this job ends with it; what comes "
			 "after still runs");
	return true;
}

static void add_phase(struct fio_clone *clone, bool together)
{
	const struct fio_job_section *job = clone->job;
	struct fio_builder *b = clone->b;
	struct phase *phase = plan_add(&b->t->plan, PHASE_MEASURE);
	struct err err;

	clone->workload = &phase->workload;
	phase->together = together;
	phase->ends_group = ends_group(b, job);
	snprintf(phase->workload.name, sizeof(phase->workload.name), "%s", job->section->name);
	if (clone->replay) {
		fio_set_replay(clone);
	} else {
		fio_set_pattern(clone);
		fio_files_find(clone);
	}
	phase->target_index = clone->target_index;
	fio_set_amount(clone);
	fio_set_engine(clone);
	fio_set_pace(clone);
	fio_set_data(clone);
	fio_set_labels(clone);
	if (b->words.readonly && workload_writes(&phase->workload))
		fio_problem(b, job, "rw", "writes, and --readonly is given");
	if (!b->t->problems.count && workload_check(&phase->workload, &err) < 0)
		fio_problem(b, job, "", "%s", err.text);
}

/* One phase, or one for each target of what it replays. */
static void add_clone(struct fio_builder *b, const struct fio_job_section *job, uint32_t index,
		      bool together)
{
	const struct fio_clone fresh = {
		.b = b,
		.job = job,
		.index = index,
		.thread_number = ++b->thread_count,
	};
	struct fio_clone clone = fresh;
	struct fio_replay replay;

	if (!job->options.read_iolog) {
		add_phase(&clone, together);
		return;
	}
	if (fio_replay_find(&clone, &replay)) {
		for (size_t i = 0; i < replay.place_count; i++) {
			clone = fresh;
			clone.replay = &replay;
			clone.replay_index = i;
			add_phase(&clone, together || i > 0);
		}
	}
	fio_replay_done(&replay);
}

static void make_plan(struct fio_builder *b)
{
	uint64_t clones = 0;
	size_t last = 0;

	for (size_t i = 0; i < b->jobs.count; i++)
		clones += b->jobs.items[i]->options.numjobs;
	if (clones > FIO_JOBS_MAX) {
		fio_remark(&b->t->problems, NULL, "%llu jobs with all their clones; at most %d",
			   (unsigned long long)clones, FIO_JOBS_MAX);
		return;
	}
	for (size_t i = 0; i < b->jobs.count; i++) {
		const struct fio_job_section *job = b->jobs.items[i];
		const size_t problems = b->t->problems.count;

		/* What would follow from a wrong option is no news. */
		if (job->flawed)
			continue;
		if (job->options.create_only) {
			fio_note(b, job, "create_only",
				 "nothing to do: a file of tare's is laid out by "
				 "the run that uses it");
			continue;
		}
		for (uint32_t k = 0; k < job->options.numjobs; k++) {
			const bool first =
				!b->t->plan.phase_count || job->stage != b->jobs.items[last]->stage;

			add_clone(b, job, k, !first);
			last = i;
			/* What is wrong with one clone is wrong with all. */
			if (b->t->problems.count > problems)
				break;
		}
	}
	if (!b->t->plan.phase_count && !b->t->problems.count && !b->unread_count)
		fio_remark(&b->t->problems, NULL, "no job is left that does I/O");
}

static void show_commands(struct fio_builder *b)
{
	struct text *text = &b->t->commands;

	text_add(text, "fio");
	for (size_t i = 0; i < b->words.source.section_count; i++) {
		const struct fio_section *section = &b->words.source.sections[i];

		if (section->skipped)
			continue;
		text_add(text, " --name=%s", section->global ? "global" : section->name);
		for (size_t j = 0; j < section->count; j++) {
			const struct fio_assignment *item = &section->items[j];

			text_add(text, " --%s%s%s", item->name, item->value ? "=" : "",
				 item->value ? item->value : "");
		}
	}
	text_add(text, "\n");
}

static void builder_done(struct fio_builder *b)
{
	for (size_t i = 0; i < b->jobs.count; i++)
		free(b->jobs.items[i]);
	free(b->jobs.items);
	for (size_t i = 0; i < b->place_count; i++)
		free(b->places[i].key);
	free(b->places);
	fio_words_done(&b->words);
}

/* fio's kind of output, if none was asked for. */
static void settle_labels(struct fio_translation *t)
{
	if (!t->labels.outputs)
		t->labels.outputs = FIO_NORMAL;
	for (size_t i = 0; i < t->remarks.count; i++)
		fio_labels_note(&t->labels, "%s", t->remarks.texts[i]);
}

int fio_translate(const struct fio_request *request, struct fio_translation *ret)
{
	struct fio_builder b = { .request = request, .t = ret };

	memset(ret, 0, sizeof(*ret));
	plan_init(&ret->plan);
	ret->labels.terse_version = 3;
	ret->topic = "";
	fio_words_read(request, ret, &b.words);
	if (ret->action == FIO_RUN || ret->action == FIO_PARSE_ONLY || ret->action == FIO_SHOWCMD) {
		make_jobs(&b);
		set_stages(&b);
		note_options(&b);
		if (ret->action == FIO_SHOWCMD)
			show_commands(&b);
		make_plan(&b);
	}
	settle_labels(ret);
	builder_done(&b);
	return ret->problems.count ? -EINVAL : 0;
}

void fio_translation_done(struct fio_translation *translation)
{
	plan_done(&translation->plan);
	fio_labels_done(&translation->labels);
	fio_remarks_done(&translation->problems);
	fio_remarks_done(&translation->remarks);
	text_done(&translation->commands);
}
