/* SPDX-License-Identifier: MIT */
#include "foreign/trace.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defer.h"
#include "foreign/trace_formats.h"

/* In the order they are tried: what is surer first. Add a format here. */
static const struct trace_format *const formats[] = {
	&trace_iolog,	  &trace_blktrace,   &trace_blkparse,   &trace_iometer,
	&trace_msr,	  &trace_alibaba,    &trace_tencent,    &trace_spc,
	&trace_fiu,	  &trace_iozone_wol, &trace_iozone_rol, &trace_csv,
	&trace_mqsim,	  &trace_disksim,    &trace_huaicheng,  &trace_iozone_x,
	&trace_iozone_y,  &trace_columns,    NULL,
};

const char *trace_format_name(size_t index)
{
	return index < ARRAY_COUNT(formats) - 1 ? formats[index]->name : NULL;
}

const char *trace_format_help(size_t index)
{
	return index < ARRAY_COUNT(formats) - 1 ? formats[index]->help : NULL;
}

/* --- for the readers ------------------------------------------------------------------------ */

void import_order(struct importer *im, uint64_t time_ns)
{
	im->report->unordered_count += im->file_record_count > 0 && time_ns < im->last_ns;
	im->last_ns = time_ns;
	im->file_record_count++;
}

const char *import_judge(const struct trace_record *record)
{
	if (record->op > TRACE_TRIM)
		return NULL;
	if (record->length_bytes == 0)
		return "a request of no bytes";
	if (record->op != TRACE_TRIM && record->length_bytes > TRACE_REQUEST_MAX_BYTES)
		return "a request of more than 1 GiB";
	if (record->offset_bytes > INT64_MAX || record->length_bytes > INT64_MAX ||
	    record->offset_bytes + record->length_bytes > INT64_MAX)
		return "an offset beyond any device";
	return NULL;
}

int import_add(struct importer *im, struct trace_record *record, const char *stream)
{
	int r = trace_stream(im->trace, stream, &record->stream, im->err);

	if (r == 0)
		r = trace_add(im->trace, record, im->err);
	return r;
}

static void keep_printable(char *to, size_t room, const char *from)
{
	size_t i = 0;

	for (; from[i] && i + 1 < room; i++)
		to[i] = isprint((unsigned char)from[i]) ? from[i] : '.';
	to[i] = '\0';
}

int import_bad(struct importer *im, const char *line, const char *why)
{
	struct trace_report *report = im->report;
	const char *name = trace_input_name(im->in), *base = strrchr(name, '/');

	if (report->bad_count < TRACE_BAD_SHOWN) {
		const size_t i = report->bad_count;

		report->bad[i].line = trace_input_line_number(im->in);
		report->bad[i].why = why;
		keep_printable(report->bad[i].file, sizeof(report->bad[i].file),
			       base ? base + 1 : name);
		keep_printable(report->bad[i].text, sizeof(report->bad[i].text), line);
	}
	report->bad_count++;
	return 0;
}

void import_note(struct importer *im, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vadd(&im->report->notes, format, args);
	va_end(args);
	text_add(&im->report->notes, "\n");
}

void trace_report_done(struct trace_report *report)
{
	text_done(&report->notes);
	memset(report, 0, sizeof(*report));
}

/* --- which format --------------------------------------------------------------------------- */

static void cut_lines(struct trace_sample *sample)
{
	char *save = NULL;

	memcpy(sample->text, sample->bytes, sample->count);
	sample->text[sample->count] = '\0';
	sample->line_count = 0;
	for (char *line = strtok_r(sample->text, "\n", &save);
	     line && sample->line_count < TRACE_SAMPLE_LINES; line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, "\r")] = '\0';
		if (line[strspn(line, " \t")] && line[0] != '#')
			sample->lines[sample->line_count++] = line;
	}
}

static int take_sample(struct trace_input *in, struct trace_sample *sample, struct err *err)
{
	const int r = trace_input_peek(in, sample->bytes, sizeof(sample->bytes), err);

	if (r < 0)
		return r;
	sample->count = (size_t)r;
	cut_lines(sample);
	return 0;
}

static int not_a_trace(const char *name, const struct trace_sample *sample, struct err *err)
{
	char shown[49];
	size_t n = 0;

	for (; n < sample->count && n + 1 < sizeof(shown); n++)
		shown[n] = isprint(sample->bytes[n]) ? (char)sample->bytes[n] : '.';
	shown[n] = '\0';
	if (n == 0)
		return err_set(err, -EINVAL, "%s: not a trace: it is empty", name);
	err_set(err, -EINVAL, "%s: not a trace of a known format; it begins with '%s' "
			      "(%02x %02x %02x %02x)",
		name, shown, sample->bytes[0], n > 1 ? sample->bytes[1] : 0,
		n > 2 ? sample->bytes[2] : 0, n > 3 ? sample->bytes[3] : 0);
	return err_hint(err, "--format=NAME says what it is; tare help replay lists the formats");
}

static int find_named(const char *name, const struct trace_format **ret, struct err *err)
{
	struct text names = TEXT_INIT;

	for (size_t i = 0; formats[i]; i++) {
		if (strcmp(formats[i]->name, name) == 0) {
			*ret = formats[i];
			return 0;
		}
	}
	for (size_t i = 0; formats[i]; i++)
		text_add(&names, "%s%s", i ? ", " : "", formats[i]->name);
	err_set(err, -EINVAL, "no format '%s'; there are %s", name, text_string(&names));
	text_done(&names);
	return -EINVAL;
}

static int find_format(struct trace_input *in, const struct replay *replay,
		       const struct trace_format **ret, struct err *err)
{
	const char *name = trace_input_name(in);
	struct trace_sample sample;
	int r;

	if (*replay->format)
		return find_named(replay->format, ret, err);
	r = take_sample(in, &sample, err);
	if (r < 0)
		return r;
	for (size_t i = 0; formats[i]; i++) {
		if (!formats[i]->recognise)
			continue;
		if (!formats[i]->recognise(&sample)) {
			cut_lines(&sample);	/* it may have cut them further */
			continue;
		}
		if (formats[i]->refuse) {
			cut_lines(&sample);
			r = formats[i]->refuse(&sample, name, err);
		}
		*ret = formats[i];
		return r;
	}
	return not_a_trace(name, &sample, err);
}

/* --- files ---------------------------------------------------------------------------------- */

struct files {
	char **paths;			/* owned, and so is each */
	size_t count;
};

static void files_done(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	free(files->paths);
}

static int files_add(struct files *files, const char *path, struct err *err)
{
	char **grown = reallocarray(files->paths, files->count + 1, sizeof(*grown));

	if (grown) {
		files->paths = grown;
		grown[files->count] = strdup(path);
	}
	if (!grown || !grown[files->count])
		return err_set(err, -ENOMEM, "no memory for the names of files");
	files->count++;
	return 0;
}

/* All that match, by name; BASE.blktrace.10 follows BASE.blktrace.9. */
static int files_add_matching(struct files *files, const char *pattern, struct err *err)
{
	glob_t found = { 0 };
	int r = glob(pattern, GLOB_ERR, NULL, &found) == 0 ? 0 : -ENOENT;

	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
		r = files_add(files, found.gl_pathv[i], err);
	globfree(&found);
	return r;
}

/* Parts of a blktrace, one per CPU. */
static int files_add_parts(struct files *files, const char *base, struct err *err)
{
	char path[4200];
	int r = 0;

	for (unsigned int cpu = 0; r == 0 && cpu < 8192; cpu++) {
		snprintf(path, sizeof(path), "%.4096s.blktrace.%u", base, cpu);
		if (access(path, F_OK) == 0)
			r = files_add(files, path, err);
	}
	return r;
}

/* A name as it stands, a base of blktrace parts, or a pattern. */
static int files_add_word(struct files *files, const char *word, struct err *err)
{
	const size_t before = files->count;
	int r;

	if (access(word, F_OK) == 0)
		return files_add(files, word, err);
	r = files_add_parts(files, word, err);
	if (r == 0 && files->count == before && strpbrk(word, "*?["))
		r = files_add_matching(files, word, err);
	if (r == 0 && files->count > before)
		return 0;
	if (r < 0 && r != -ENOENT)
		return r;
	return err_set(err, -ENOENT, "'%s': no such file, nor '%s.blktrace.0'", word, word);
}

static int files_list(struct files *ret, const char *words, struct err *err)
{
	DEFER(defer_free) char *copy = strdup(words);
	char *save = NULL;
	int r = copy ? 0 : err_set(err, -ENOMEM, "no memory for the names of files");

	/* A name may have commas itself. */
	if (access(words, F_OK) == 0)
		return files_add(ret, words, err);
	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; r == 0 && word;
	     word = strtok_r(NULL, ",", &save))
		r = files_add_word(ret, word, err);
	if (r == 0 && ret->count == 0)
		r = err_set(err, -EINVAL, "no trace is named");
	return r;
}

/* --- reading -------------------------------------------------------------------------------- */

static int read_all(struct importer *im, struct trace_input **inputs, size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && im->format->scan && i < count; i++) {
		im->in = inputs[i];
		r = im->format->scan(im);
		if (r == 0)
			r = trace_input_rewind(im->in, im->err);
	}
	for (size_t i = 0; r == 0 && i < count; i++) {
		im->in = inputs[i];
		im->last_ns = im->file_record_count = 0;
		r = im->format->read(im);
	}
	if (r == 0 && im->format->finish)
		r = im->format->finish(im);
	return r;
}

static int too_many_bad(const struct importer *im)
{
	const struct trace_report *report = im->report;

	err_set(im->err, -EINVAL,
			"%s: %llu of %llu lines make no sense as %s; the first is line %llu: "
				  "%s: '%s'",
		report->bad[0].file, (unsigned long long)report->bad_count,
		(unsigned long long)report->line_count, im->format->name,
		(unsigned long long)report->bad[0].line, report->bad[0].why, report->bad[0].text);
	return -EINVAL;
}

static int import(struct importer *im, struct trace_input **inputs, size_t count)
{
	const struct trace_report *report = im->report;
	int r = read_all(im, inputs, count);

	sorter_free(im->events);
	if (r < 0)
		return r;
	if (report->bad_count * 100 > report->line_count)
		return too_many_bad(im);
	r = trace_finish(im->trace, im->err);
	if (r == 0 && im->trace->count == 0)
		r = err_set(im->err, -EINVAL, "%s: a trace without requests",
			    trace_input_name(im->in));
	return r;
}

static int import_inputs(struct trace **ret, struct trace_input **inputs, size_t count,
			 struct importer *im)
{
	int r = trace_new(&im->trace, im->err);

	if (r < 0)
		return r;
	im->report->format = im->format->name;
	r = import(im, inputs, count);
	if (r < 0) {
		trace_free(im->trace);
		return r;
	}
	*ret = im->trace;
	return 0;
}

/* One format for all: what is merged must count time in one way. */
static int open_all(const struct files *files, struct trace_input **inputs, struct importer *im)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct trace_format *format = NULL;
		int r = trace_input_open(&inputs[i], files->paths[i], im->err);

		if (r == 0)
			r = find_format(inputs[i], im->replay, &format, im->err);
		if (r < 0)
			return r;
		if (im->format && im->format != format)
			return err_set(im->err, -EINVAL,
					"'%s' is %s and '%s' is %s; files that are "
							 "merged are of one format",
				       files->paths[0], im->format->name, files->paths[i],
				       format->name);
		im->format = format;
	}
	return 0;
}

int trace_import(struct trace **ret, const char *words, const struct replay *replay,
		 struct trace_report *report, struct err *err)
{
	struct importer im = { .replay = replay, .report = report, .err = err };
	struct trace_input **inputs = NULL;
	struct files files = { 0 };
	struct err own = { 0 };
	int r;

	im.err = err ? err : &own;
	memset(report, 0, sizeof(*report));
	r = files_list(&files, words, im.err);
	if (r == 0) {
		inputs = calloc(files.count, sizeof(struct trace_input *));
		r = inputs ? open_all(&files, inputs, &im) :
			     err_set(im.err, -ENOMEM, "no memory for %zu files", files.count);
	}
	if (r == 0)
		r = import_inputs(ret, inputs, files.count, &im);
	for (size_t i = 0; inputs && i < files.count; i++)
		trace_input_close(inputs[i]);
	free(inputs);
	files_done(&files);
	return r;
}

int trace_import_memory(struct trace **ret, const char *name, const void *data, size_t bytes,
			const struct replay *replay, struct trace_report *report, struct err *err)
{
	struct importer im = { .replay = replay, .report = report };
	struct trace_input *in = NULL;
	struct err own = { 0 };
	int r;

	im.err = err ? err : &own;
	memset(report, 0, sizeof(*report));
	r = trace_input_memory(&in, name, data, bytes, im.err);
	if (r == 0)
		r = find_format(in, replay, &im.format, im.err);
	if (r == 0)
		r = import_inputs(ret, &in, 1, &im);
	trace_input_close(in);
	return r;
}
