/* SPDX-License-Identifier: MIT */
/* read_iolog: a job whose requests were recorded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "foreign/fio_parts.h"

/* How it is read and played; the names of targets are not known yet. */
static void set_options(const struct fio_clone *clone, const char *file, struct workload *w)
{
	const struct fio_job_options *o = &clone->job->options;
	const bool exact = clone->b->request->exact, null = strcmp(o->ioengine, "null") == 0;

	snprintf(w->trace, sizeof(w->trace), "%s", file);
	replay_init(&w->replay);
	w->replay.timing = o->replay_no_stall ? TIMING_NONE : TIMING_RECORDED;
	w->replay.speed_ppm = o->replay_time_scale * (PPM / 100);
	w->replay.align_bytes = o->replay_align;
	w->replay.divide = o->replay_scale;
	w->replay.skip = o->replay_skip;
	/* Nothing can meet where nothing is kept. */
	w->replay.overlap = exact || null ? OVERLAP_ALLOW : OVERLAP_REFUSE;
	w->replay.wait_unit = exact ? WAIT_ABSOLUTE_MS : WAIT_GUESS;
}

static void add_place(struct fio_replay *replay, const char *path, const char *stream)
{
	struct fio_replay_place *place = replay->places;
	size_t i = 0;

	while (i < replay->place_count && strcmp(place[i].path, path) != 0)
		i++;
	if (i == replay->place_count) {
		place = reallocarray(place, i + 1, sizeof(*place));
		if (!place)
			abort();
		replay->places = place;
		replay->place_count++;
		place[i] = (struct fio_replay_place){ .path = strdup(path), .streams = TEXT_INIT };
		if (!place[i].path)
			abort();
	}
	text_add(&place[i].streams, "%s%s", place[i].streams.length ? "," : "", stream);
}

/* Where each recorded name goes; all that go nowhere are told of. */
static void find_places(struct fio_clone *clone, struct fio_replay *replay)
{
	const char *redirect = clone->job->options.replay_redirect;

	for (uint32_t i = 0; i < replay->trace->stream_count; i++) {
		const char *name = replay->trace->streams[i].name;
		struct text path = TEXT_INIT;

		if (redirect)
			add_place(replay, redirect, name);
		else if (fio_files_resolve(clone, name, &path))
			add_place(replay, text_string(&path), name);
		else
			fio_problem(clone->b, clone->job, "read_iolog",
				    "the log names '%.200s', which is no file of this job: "
				    "replay_redirect=, filename= or --map says where it goes",
				    name);
		text_done(&path);
	}
}

/* What of a job without a log would say what is done. */
static void note_unused(struct fio_clone *clone)
{
	static const char *const names[] = {
		"rw",	   "bs",   "bsrange",	 "bssplit", "blockalign", "size",   "io_size",
		"offset", "loops", "time_based", "nrfiles", "number_ios", "filesize",
	};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (fio_options_given(&clone->job->options, names[i]))
			fio_note(clone->b, clone->job, names[i],
				 "no effect: what is done is in the log, once");
}

static void note_waits(struct fio_clone *clone, const struct err *err)
{
	const bool hinted = *err->hint && strstr(err->hint, "wait-unit");

	fio_problem(clone->b, clone->job, "read_iolog", "%s%s", err->text,
		    hinted ? "; --exact reads them as fio does" : "");
}

bool fio_replay_find(struct fio_clone *clone, struct fio_replay *ret)
{
	const struct fio_request *request = clone->b->request;
	const size_t problems = clone->b->t->problems.count;
	struct workload w;
	struct err err = { 0 };
	struct text file = TEXT_INIT;

	fio_pick_name(clone->job->options.read_iolog, clone->index, &file);
	*ret = (struct fio_replay){ .file = text_take(&file) };
	workload_init(&w);
	set_options(clone, ret->file, &w);
	if (strlen(ret->file) >= sizeof(w.trace) || strchr(ret->file, ',') || !*ret->file)
		fio_problem(clone->b, clone->job, "read_iolog",
			    *ret->file ? "a name that is longer than %zu bytes or has a comma is "
					 "not supported"
				       : "no name is given (of at most %zu bytes)",
			    sizeof(w.trace) - 1);
	if (clone->b->t->problems.count > problems)
		return false;
	if (clone->b->t->action != FIO_RUN) {
		clone->b->unread_count++;
		return false;
	}
	if (!request->trace_open) {
		fio_problem(clone->b, clone->job, "read_iolog", "logs are not replayed here");
		return false;
	}
	if (request->trace_open(request->trace_ctx, &w, &ret->trace, &err) < 0) {
		note_waits(clone, &err);
		return false;
	}
	note_unused(clone);
	if (w.replay.align_bytes)
		fio_note(clone->b, clone->job, "replay_align",
			 "ends go up to a multiple as starts go down, where fio moves the starts "
			 "alone");
	find_places(clone, ret);
	if (ret->place_count > 1)
		fio_note(clone->b, clone->job, "read_iolog",
			 "its requests go to %zu targets, each an entry of its own",
			 ret->place_count);
	return clone->b->t->problems.count == problems;
}

void fio_replay_done(struct fio_replay *replay)
{
	for (size_t i = 0; i < replay->place_count; i++) {
		free(replay->places[i].path);
		text_done(&replay->places[i].streams);
	}
	free(replay->places);
	free(replay->file);
}

/* What it would change is known before anything is opened. */
static void note_changes(struct fio_clone *clone)
{
	const struct trace_stats *stats = &clone->replay->trace->stats;
	const uint32_t skip = clone->workload->replay.skip;
	const bool writes = !(skip >> TRACE_WRITE & 1) && stats->counts[TRACE_WRITE];
	const bool trims = !(skip >> TRACE_TRIM & 1) && stats->counts[TRACE_TRIM];
	char written[UNITS_TEXT_BYTES], trimmed[UNITS_TEXT_BYTES];
	struct text text = TEXT_INIT;

	if (writes)
		text_add(&text, "%" PRIu64 " write%s (%s)", stats->counts[TRACE_WRITE],
			 stats->counts[TRACE_WRITE] == 1 ? "" : "s",
			 units_format_size((double)stats->bytes[TRACE_WRITE], written));
	if (trims)
		text_add(&text, "%s%" PRIu64 " discard%s (%s), which fio 3.33 leaves out",
			 writes ? " and " : "", stats->counts[TRACE_TRIM],
			 stats->counts[TRACE_TRIM] == 1 ? "" : "s",
			 units_format_size((double)stats->bytes[TRACE_TRIM], trimmed));
	if (text.length)
		fio_note(clone->b, clone->job, "read_iolog", "contains %s", text_string(&text));
	text_done(&text);
}

void fio_set_replay(struct fio_clone *clone)
{
	const struct fio_replay_place *place = &clone->replay->places[clone->replay_index];
	const struct trace *trace = clone->replay->trace;
	struct workload *w = clone->workload;
	struct err err = { 0 };

	set_options(clone, clone->replay->file, w);
	if (place->streams.length >= sizeof(w->replay.streams)) {
		fio_problem(clone->b, clone->job, "read_iolog",
			    "the recorded names for one target are longer than %zu bytes together",
			    sizeof(w->replay.streams) - 1);
		return;
	}
	/* All of them need no names. */
	if (clone->replay->place_count > 1)
		strcpy(w->replay.streams, text_string(&place->streams));
	/* An order without times, or one at a single time, is played as fast as the depth allows. */
	if (!trace->stats.timed || !trace->stats.duration_ns)
		w->replay.timing = TIMING_NONE;
	trace_describe(trace, w);
	clone->reads = workload_reads(w);
	clone->writes = workload_stores(w);
	clone->trims = workload_trims(w);
	clone->block_min_bytes = clone->block_max_bytes = w->block_bytes;
	note_changes(clone);
	if (trace_check(trace, w, &err) < 0)
		fio_problem(clone->b, clone->job, "read_iolog", "%s%s", err.text,
			    strstr(err.hint, "overlap") ? "; --exact lets them meet, as fio does, and "
							  "tare replay --overlap=separate parts them"
							: "");
	else
		fio_files_use(clone, place->path);
}
