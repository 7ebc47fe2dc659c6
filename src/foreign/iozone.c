/* SPDX-License-Identifier: MIT */
#include "foreign/iozone.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/units.h"

#define STRIDE_RECORDS 17
#define EXACT_SEED 1
/* 8 bytes of each 4 KiB, the rest zeros. */
#define SPARSE_PPM 998047
#define PHASES_MAX 32768

struct translation {
	const struct iozone_command *c;
	const struct iozone_setting *setting;
	struct plan *plan;
	struct iozone_sheet *sheet;
	uint32_t row;
	uint32_t targets[IOZONE_STREAMS]; /* of the row's streams */
	uint32_t looked_count; /* streams whose file was looked at, and said to be there */
	bool group_begun;      /* the row has a measurement already: rests come between */
};

/* Where a stream's file goes. */
struct home {
	char spec[4096];
	bool ours; /* a test file of tare's own in that directory */
};

static const char *file_of(const struct iozone_command *c, uint32_t stream)
{
	static _Thread_local char name[32];

	if (c->name_count)
		return c->names[stream];
	if (!iozone_is_throughput(c))
		return c->file ? c->file : "iozone.tmp";
	snprintf(name, sizeof(name), "iozone.DUMMY.%u", stream);
	return name;
}

static void directory_of(const char *path, char *ret, size_t ret_bytes)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		snprintf(ret, ret_bytes, ".");
	else
		snprintf(ret, ret_bytes, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static int directory_named(const struct iozone_command *c, const char *path, struct err *err)
{
	err_set(err, -EINVAL, "%s %.200s is a directory: the test file's name is wanted",
		c->name_count ? "-F" : "-f", path);
	return err_hint(err, "Name a file in it, as in %.120s/iozone.tmp; it need not exist", path);
}

static int find_home(const struct translation *t, uint32_t stream, struct home *ret,
		     struct err *err)
{
	const char *path = file_of(t->c, stream);
	const enum iozone_place place = t->setting->look(t->setting->look_ctx, path);
	const bool reads = !iozone_writes(t->c) || t->c->reads_only;

	if (strlen(path) >= sizeof(ret->spec))
		return err_set(err, -EINVAL, "%.40s...: the path is too long", path);
	snprintf(ret->spec, sizeof(ret->spec), "%s", path);
	ret->ours = false;
	if (place == IOZONE_DIRECTORY)
		return directory_named(t->c, path, err);
	if (place == IOZONE_LOST)
		return err_set(err, -EINVAL, "%.200s: there is no such directory", path);
	if (place == IOZONE_TARGET || place == IOZONE_EXPENDABLE || (place == IOZONE_FILE && reads))
		return 0;
	if (t->c->reads_only)
		return err_set(err, -EINVAL, "-+E reads an existing file, and there is no %.200s",
			       path);
	directory_of(path, ret->spec, sizeof(ret->spec));
	ret->ours = true;
	if (place == IOZONE_FILE && stream >= t->looked_count)
		iozone_sheet_note(
			t->sheet,
			"%s exists and is left alone: the test file is tare's own, "
			"without a name, beside it (--expendable=%s lets it be overwritten)",
			path, path);
	return 0;
}

/* Whether the row's first pass writes the file from front to back. */
static bool begins_by_writing(const struct iozone_command *c)
{
	return c->tests & 1;
}

/* What others made is opened once, however many rows go to it. */
static uint32_t target_of(struct plan *plan, const struct home *home)
{
	for (uint32_t i = 0; !home->ours && i < plan->target_count; i++) {
		if (!plan->targets[i].size_bytes && strcmp(plan->targets[i].spec, home->spec) == 0)
			return i;
	}
	return plan_add_target(plan, home->spec);
}

static int add_targets(struct translation *t, const struct iozone_row *row, struct err *err)
{
	for (uint32_t stream = 0; stream < row->stream_count; stream++) {
		struct home home;
		struct plan_target *target;
		int r;

		r = find_home(t, stream, &home, err);
		if (r < 0)
			return r;
		t->targets[stream] = target_of(t->plan, &home);
		if (!home.ours)
			continue;
		target = &t->plan->targets[t->targets[stream]];
		target->size_bytes = row->file_kb * KIB;
		target->unwritten = begins_by_writing(t->c);
	}
	if (row->stream_count > t->looked_count)
		t->looked_count = row->stream_count;
	return 0;
}

static void set_data(const struct translation *t, struct workload *w, uint32_t stream)
{
	const struct iozone_command *c = t->c;

	w->verify = (c->verify || c->diagnose) && !c->reads_only;
	/* One seed for a row: the data written is the data read back. */
	if (w->verify)
		w->seed = random_mix((uint64_t)t->row * IOZONE_STREAMS + stream + 1);
	if (!workload_writes(w))
		return;
	w->compress_ppm = c->zero_percent * (PPM / 100);
	if (c->dedupe) {
		w->dedupe_ppm = c->dedupe_percent * (PPM / 100);
		w->seed = c->dedupe_set + 1u;
		if (c->dedupe == IOZONE_DEDUPE_WITHIN)
			w->seed = random_mix(w->seed + stream);
	}
	if (t->setting->exact && !c->dedupe && !c->zero_percent && !w->verify) {
		w->compress_ppm = SPARSE_PPM;
		w->dedupe_ppm = PPM;
	}
}

static void set_pace(const struct iozone_command *c, uint64_t record_kb, uint32_t stream,
		     struct workload *w)
{
	w->rate_iops = c->rate;
	if (c->delay_ms) {
		w->think_ns = c->delay_ms * MILLISECOND_NS;
		w->think_count = 1;
	}
	if (c->burst_kb) {
		w->think_ns = c->burst_ms * MILLISECOND_NS;
		w->think_count = (uint32_t)(c->burst_kb / record_kb ? c->burst_kb / record_kb : 1);
	}
	if (c->bind)
		snprintf(w->cpus, sizeof(w->cpus), "%u", c->cpu_first + stream);
	w->start_delay_ns = (uint64_t)c->release_us * stream * MICROSECOND_NS;
}

static bool is_stdio(enum iozone_pass pass)
{
	return pass >= IOZONE_FWRITE && pass <= IOZONE_REFREAD;
}

static void set_how(const struct translation *t, enum iozone_pass pass, struct workload *w)
{
	const struct iozone_command *c = t->c;

	w->engine = c->mapped ? ENGINE_MMAP : c->depth ? ENGINE_AUTO : ENGINE_SYNC;
	w->depth_count = c->depth ? c->depth : 1;
	w->job_count = 1;
	w->noatime = !t->setting->exact;
	w->direct = (!t->setting->exact || c->direct) && !is_stdio(pass) && !c->mapped;
	if (workload_writes(w))
		w->sync = c->full_sync ? SYNC_SYNC : c->data_sync ? SYNC_DSYNC : SYNC_NONE;
	w->fsync_count = c->sync_each && workload_writes(w);
	w->end_fsync = workload_writes(w) && (!t->setting->exact || c->flush || c->close);
}

/* Which share of the streams of a mixed test reads. */
static bool stream_reads(const struct iozone_command *c, uint32_t stream, uint32_t stream_count)
{
	if (c->mix_readers)
		return stream < c->mix_readers;
	if (c->mix_percent)
		return stream < (stream_count * c->mix_percent + 50) / 100;
	return stream % 2 == 0;
}

static void set_order(const struct translation *t, enum iozone_pass pass, bool reads,
		      struct workload *w)
{
	const struct iozone_row *row = &t->sheet->rows[t->row];
	const bool sequential = t->c->sequential_mix;

	w->rw = iozone_passes[pass].writes ? RW_WRITE : RW_READ;
	switch (pass) {
	case IOZONE_RANDOM_READ:
	case IOZONE_RANDOM_WRITE:
		w->rw = pass == IOZONE_RANDOM_READ ? RW_RANDREAD : RW_RANDWRITE;
		break;
	case IOZONE_MIXED:
		w->rw = sequential ? reads ? RW_READ : RW_WRITE
			: reads	   ? RW_RANDREAD
				   : RW_RANDWRITE;
		break;
	case IOZONE_BACKWARD:
		w->backwards = true;
		break;
	case IOZONE_STRIDE:
		w->stride_bytes = t->sheet->stride_records * row->record_kb * KIB;
		w->stride_wraps = true;
		break;
	default:
		break;
	}
	if (t->setting->exact && workload_is_random(w))
		w->seed = EXACT_SEED;
}

static void add_rest(struct translation *t)
{
	if (t->c->rest_s && t->group_begun)
		plan_add(t->plan, PHASE_IDLE)->idle_ns = t->c->rest_s * SECOND_NS;
	t->group_begun = true;
}

static void add_cell(struct translation *t, enum iozone_pass pass, uint32_t stream)
{
	const struct iozone_row *row = &t->sheet->rows[t->row];
	const uint64_t record_bytes = row->record_kb * KIB, records = row->file_kb / row->record_kb;
	struct iozone_cell *cell = iozone_sheet_add_cell(t->sheet);
	struct phase *phase;
	struct workload *w;

	cell->row = t->row;
	cell->pass = pass;
	cell->stream = stream;
	cell->reads = pass == IOZONE_MIXED && stream_reads(t->c, stream, row->stream_count);
	if (stream == 0)
		add_rest(t);
	cell->pauses_count = t->c->delay_counts || t->c->burst_kb;
	cell->phase = t->plan->phase_count;
	phase = plan_add(t->plan, PHASE_MEASURE);
	phase->target_index = t->targets[stream];
	phase->together = stream > 0;
	/* What is read later has to be whole. */
	phase->ends_group = row->stream_count > 1 && !t->c->no_stonewall && pass != IOZONE_WRITE;
	w = &phase->workload;
	workload_init(w);
	snprintf(w->name, sizeof(w->name), "%s-%lluk-%lluk", iozone_passes[pass].name,
		 (unsigned long long)row->file_kb, (unsigned long long)row->record_kb);
	if (t->sheet->throughput)
		snprintf(w->name + strlen(w->name), sizeof(w->name) - strlen(w->name), "-%u.%u",
			 t->row, stream);
	w->block_bytes = record_bytes;
	w->io_size_bytes = records * record_bytes;
	w->size.bytes = pass == IOZONE_RECORD_REWRITE ? record_bytes : records * record_bytes;
	w->runtime_ns = 0;
	if (t->setting->filter)
		snprintf(w->filter, sizeof(w->filter), "%s", t->setting->filter);
	set_order(t, pass, cell->reads, w);
	set_how(t, pass, w);
	set_pace(t->c, row->record_kb, stream, w);
	set_data(t, w, stream);
}

static bool runs(const struct translation *t, enum iozone_pass pass)
{
	const struct iozone_pass_info *info = &iozone_passes[pass];

	if (!iozone_is_selected(t->sheet, pass) || (info->again && t->c->no_retest))
		return false;
	return t->sheet->throughput ? info->streams != NULL : iozone_has_column(t->sheet, pass);
}

static void add_passes(struct translation *t, uint32_t stream_count)
{
	for (int i = 0; i < IOZONE_PASSES; i++) {
		const enum iozone_pass pass =
			t->sheet->throughput ? iozone_stream_order[i] : (enum iozone_pass)i;

		if (pass == IOZONE_PASSES)
			break;
		for (uint32_t stream = 0; runs(t, pass) && stream < stream_count; stream++)
			add_cell(t, pass, stream);
	}
}

static int check_amount(const struct iozone_sheet *sheet, struct err *err)
{
	uint64_t streams = 0;

	for (size_t i = 0; i < sheet->row_count; i++) {
		const struct iozone_row *row = &sheet->rows[i];

		streams += row->stream_count;
		if (row->file_kb < row->record_kb)
			return err_set(
				err, -EINVAL,
				"-+k: a file of %llu kB for each of %u streams is less than a "
				"record of %llu kB",
				(unsigned long long)row->file_kb, row->stream_count,
				(unsigned long long)row->record_kb);
	}
	if (streams * IOZONE_PASSES > PHASES_MAX)
		return err_set(err, -EINVAL,
			       "that is more than %d measurements: ask for fewer sizes, records or "
			       "streams at once",
			       PHASES_MAX);
	return 0;
}

static void fill_sheet(const struct iozone_command *c, bool exact, struct iozone_sheet *sheet)
{
	struct text text = TEXT_INIT;

	sheet->throughput = iozone_is_throughput(c);
	sheet->four_columns = c->obsolete;
	sheet->extended = c->extended;
	sheet->vectored = c->tests >> 11 & 3;
	sheet->no_stdio = c->depth > 0 || c->mapped;
	sheet->historical_blanks = exact;
	sheet->no_retest = c->no_retest;
	sheet->threads = c->threads;
	sheet->per_stream = c->per_stream;
	sheet->excel = c->excel || c->book;
	sheet->invalid = (c->verify || c->diagnose) && !c->reads_only;
	sheet->stream_count_min =
		c->stream_min || c->stream_max ? c->stream_min + !c->stream_min : 0;
	sheet->stream_count_max = c->stream_max ? c->stream_max : sheet->stream_count_min;
	sheet->stride_records = c->stride_records ? c->stride_records : STRIDE_RECORDS;
	sheet->cache_kb = c->cache_kb ? c->cache_kb : 1024;
	sheet->cache_line_bytes = c->cache_line_bytes ? c->cache_line_bytes : 32;
	sheet->unit = c->ops		? IOZONE_OPS_PER_S
		      : c->microseconds ? IOZONE_US_PER_OP
					: IOZONE_KB_PER_S;
	sheet->selected = c->tests;
	text_add(&text, "iozone%s", text_string(&c->words));
	sheet->command = text_take(&text);
	text_add(&text, "%s", text_string(&c->option_lines));
	sheet->option_lines = text_take(&text);
}

static void note_parsed(const struct iozone_command *c, struct iozone_sheet *sheet)
{
	const char *at = text_string(&c->notes);

	while (*at) {
		const size_t length = strcspn(at, "\n");

		iozone_sheet_note(sheet, "%.*s", (int)length, at);
		at += length + 1;
	}
}

static void note_defaults(const struct iozone_command *c, struct iozone_sheet *sheet)
{
	if (c->mapped)
		iozone_sheet_note(sheet, "-B: what is mapped goes through the page cache");
	else if (!c->direct)
		iozone_sheet_note(
			sheet, "direct I/O, not the page cache%s (--exact for iozone's way)",
			c->depth || !(c->tests >> 6 & 3) ? "" : ", but for fwrite and fread");
	if (iozone_writes(c) && !c->flush)
		iozone_sheet_note(sheet,
				  "the flush behind each write pass is in its time, as with -e");
	if (iozone_writes(c) && !c->dedupe && !c->zero_percent)
		iozone_sheet_note(sheet,
				  "data cannot be compressed and no block repeats; iozone's is one "
				  "sparse block over and over");
	if (c->tests >> 2 & 1)
		iozone_sheet_note(sheet,
				  "random order: a new seed for each pass, kept in the result");
}

static void note_exact(const struct iozone_command *c, struct iozone_sheet *sheet)
{
	iozone_sheet_note(sheet, "exact: %s, %s, %s, one fixed random order",
			  c->direct ? "direct I/O" : "through the page cache",
			  c->flush || c->close ? "flush timed" : "no flush timed",
			  c->dedupe || c->zero_percent ? "data as asked"
						       : "sparse data that compress and repeat");
}

/* Not "null:", "sim:x25m-g1": those are no names of files. */
static bool is_relative(const char *spec)
{
	return spec[0] != '/' && spec[strcspn(spec, ":/")] != ':';
}

static void note_files(const struct iozone_command *c, const struct iozone_setting *setting,
		       const struct plan *plan, struct iozone_sheet *sheet)
{
	bool ours = false, relative = false;

	for (size_t i = 0; i < plan->target_count; i++) {
		ours |= plan->targets[i].size_bytes > 0;
		relative |= is_relative(plan->targets[i].spec);
	}
	if (relative && setting->directory)
		iozone_sheet_note(sheet, "names of files start at %s", setting->directory);
	if (ours)
		iozone_sheet_note(sheet,
				  "test files are tare's own, without a name, gone at the end%s",
				  c->keep ? ": -w keeps none" : "");
	if (ours && !begins_by_writing(c))
		iozone_sheet_note(sheet,
				  "without test 0 the file is written by tare, untimed, before "
				  "the tests");
}

static void note_how(const struct iozone_command *c, struct iozone_sheet *sheet)
{
	if (c->close)
		iozone_sheet_note(sheet,
				  "-c: the flush that closing may cause is timed as fsync; close "
				  "itself is not");
	if (c->depth)
		iozone_sheet_note(sheet, "-H, -k: %u requests in flight by io_uring, not POSIX AIO",
				  c->depth);
	if (c->tests >> 6 & 3 && !sheet->no_stdio)
		iozone_sheet_note(
			sheet, "fwrite and fread: the writes and reads of a record each, through "
			       "the page cache, that the C library makes of them");
	if (c->extended && c->tests >> 11 & 3)
		iozone_sheet_note(sheet, "pwritev and preadv: one vector, a record");
	if (sheet->throughput && begins_by_writing(c) && !c->no_stonewall)
		iozone_sheet_note(sheet,
				  "initial writers are not cut off by the first to finish: what is "
				  "read later has to be whole");
	if (c->dedupe == IOZONE_DEDUPE_ACROSS)
		iozone_sheet_note(
			sheet, "-+w: blocks that repeat across files repeat within each as well");
	if (c->reads_only && (c->verify || c->diagnose))
		iozone_sheet_note(sheet, "-V, -+d: what others wrote is not checked (-+E)");
	else if (c->verify)
		iozone_sheet_note(sheet,
				  "-V: every block is checked against its offset and generation "
				  "instead of one byte");
}

static int check_exact(const struct iozone_command *c, const struct iozone_setting *setting,
		       struct err *err)
{
	if (!setting->exact || !c->keep || c->reads_only ||
	    setting->look(setting->look_ctx, file_of(c, 0)) == IOZONE_EXPENDABLE)
		return 0;
	err_set(err, -EINVAL, "-w: tare leaves no file behind that it made");
	return err_hint(err,
			"Make the file yourself and name it with --expendable: it is written and "
			"stays");
}

int iozone_translate(const struct iozone_command *command, const struct iozone_setting *setting,
		     struct plan *ret, struct iozone_sheet *sheet, struct err *err)
{
	struct translation t = { .c = command, .setting = setting, .plan = ret, .sheet = sheet };
	int r;

	plan_init(ret);
	memset(sheet, 0, sizeof(*sheet));
	fill_sheet(command, setting->exact, sheet);
	if (setting->exact)
		note_exact(command, sheet);
	else
		note_defaults(command, sheet);
	iozone_rows(command, sheet);
	r = check_amount(sheet, err);
	if (r == 0)
		r = check_exact(command, setting, err);
	for (size_t i = 0; r == 0 && i < sheet->row_count; i++) {
		t.row = (uint32_t)i;
		r = add_targets(&t, &sheet->rows[i], err);
		if (r == 0)
			add_passes(&t, sheet->rows[i].stream_count);
	}
	if (r == 0 && sheet->cell_count == 0)
		r = err_set(err, -EINVAL, "none of the tests chosen with -i can run here: %s",
			    sheet->no_stdio ? "stdio (6, 7) knows neither -H, -k nor -B" :
					      "see -E, -t");
	if (r < 0)
		return r;
	snprintf(ret->target, sizeof(ret->target), "%s", ret->targets[0].spec);
	note_files(command, setting, ret, sheet);
	note_how(command, sheet);
	note_parsed(command, sheet);
	return 0;
}
