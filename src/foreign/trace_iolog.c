/* SPDX-License-Identifier: MIT */
/*
 * fio's iolog, versions 2 and 3. Names cannot contain blanks.
 *
 *	fio version 2 iolog		fio version 3 iolog
 *	NAME add|open|close		USEC NAME add|open|close
 *	NAME read|write|trim OFF LEN	USEC NAME read|write|trim OFF LEN
 *	NAME sync|datasync OFF LEN	USEC NAME sync|datasync OFF LEN
 *	NAME wait TIME DUMMY
 *
 * fio waits until so many ms after its start; its manual says so many us after the last wait.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "foreign/trace_formats.h"

#define HEADER "fio version "
#define WAIT_MAX_MS (24u * 3600 * 1000)	/* more is hardly "small" */

struct iolog {
	unsigned int version;
	uint32_t header_count;
	uint64_t wait_ns;		/* version 2: time of what follows */
	uint64_t base_ns;		/* clones in turn: where this one's times begin */
	uint64_t end_ns;		/* the latest of all */
	uint64_t ignored_waits;
};

static bool is_header(const char *line)
{
	return strncmp(line, HEADER, strlen(HEADER)) == 0;
}

/* 0: no header of a version that is read. */
static unsigned int version_of(const char *line)
{
	if (strcmp(line, HEADER "2 iolog") == 0)
		return 2;
	return strcmp(line, HEADER "3 iolog") == 0 ? 3 : 0;
}

static bool recognise(const struct trace_sample *sample)
{
	return sample->line_count > 0 && is_header(sample->lines[0]);
}

static int refuse(const struct trace_sample *sample, const char *file, struct err *err)
{
	if (version_of(sample->lines[0]))
		return 0;
	return err_set(err, -EINVAL, "%s:1: '%.40s': iolog versions 2 and 3 are read, no others",
		       file, sample->lines[0]);
}

/* What the waits look like, before their meaning is chosen. */
static int scan(struct importer *im)
{
	char *line, *fields[TRACE_FIELDS];
	uint64_t time;
	int r;

	while ((r = trace_input_line(im->in, &line, im->err)) > 0) {
		if (is_header(line) && version_of(line) == 3)
			return 0;
		if (split_fields(line, ' ', fields) != 4 || strcmp(fields[1], "wait") != 0 ||
		    !parse_whole(fields[2], &time))
			continue;
		if (im->wait_count == 0)
			im->wait_first = time;
		im->wait_falls |= im->wait_count > 0 && time < im->wait_last;
		im->wait_last = time;
		im->wait_count++;
	}
	return r;
}

/* Whether waits are absolute; asks where the values do not decide it. */
static int choose_wait(struct importer *im, bool *ret_absolute)
{
	const bool grows = im->wait_count == 1 || im->wait_last > im->wait_first;

	*ret_absolute = im->replay->wait_unit != WAIT_RELATIVE_US;
	if (im->wait_count == 0 || im->replay->wait_unit != WAIT_GUESS)
		return 0;
	if (!im->wait_falls && grows && im->wait_last <= WAIT_MAX_MS) {
		import_note(im, "waits are read as ms after the start, as fio does: they never fall, and "
				"the last is %llu",
			    (unsigned long long)im->wait_last);
		return 0;
	}
	err_set(im->err, -EINVAL,
			"%s: its %llu waits may be ms after the start, as fio does, or us after "
				  "the last wait, as its manual says",
		trace_input_name(im->in), (unsigned long long)im->wait_count);
	return err_hint(im->err, "--wait-unit=absolute-ms or --wait-unit=relative-us");
}

static const struct {
	const char *word;
	enum trace_op op;
} actions[] = {
	{ "read", TRACE_READ },	    { "write", TRACE_WRITE },	   { "trim", TRACE_TRIM },
	{ "sync", TRACE_FLUSH },    { "datasync", TRACE_FLUSH },   { NULL, TRACE_OTHER },
};

static bool is_file_action(const char *word)
{
	return strcmp(word, "add") == 0 || strcmp(word, "open") == 0 || strcmp(word, "close") == 0;
}

/* A line without its time; NULL, or what is wrong. */
static const char *take_action(struct importer *im, struct trace_record *record, char **fields,
			       size_t count)
{
	uint64_t offset, length;
	size_t i = 0;

	(void)im;
	while (actions[i].word && strcmp(actions[i].word, fields[1]) != 0)
		i++;
	if (!actions[i].word)
		return "an unknown action";
	if (count != 4)
		return "not the number of fields this action has";
	if (!parse_whole(fields[2], &offset) || !parse_whole(fields[3], &length))
		return "offset or length is no number";
	record->op = (uint8_t)actions[i].op;
	if (record->op == TRACE_FLUSH)
		return NULL;
	/* fio's are 32 bits long. */
	if (length > UINT32_MAX)
		return "a length of more than 32 bits";
	record->offset_bytes = offset;
	record->length_bytes = length;
	return import_judge(record);
}

static int take_header(struct importer *im, struct iolog *log, const char *line)
{
	log->version = version_of(line);
	if (!log->version)
		return err_set(im->err, -EINVAL,
				"%s:%llu: '%.40s': iolog versions 2 and 3 are read, no "
						 "others",
			       trace_input_name(im->in),
			       (unsigned long long)trace_input_line_number(im->in), line);
	log->header_count++;
	log->wait_ns = 0;
	if (im->replay->clones == CLONES_IN_TURN)
		log->base_ns = log->end_ns;
	im->file_record_count = 0;	/* times begin anew */
	return 0;
}

/* The time of a wait, or -1 with the line counted as bad. */
static bool take_wait(struct importer *im, struct iolog *log, const char *text, bool absolute)
{
	uint64_t time, ns;

	if (!parse_whole(text, &time) ||
	    __builtin_mul_overflow(time, absolute ? MILLISECOND_NS : MICROSECOND_NS, &ns) ||
	    ns > INT64_MAX / 2 || log->wait_ns > INT64_MAX / 2) {
		import_bad(im, text, "a wait that is no time");
		return false;
	}
	/* Until a time that has passed is no wait. */
	if (!absolute)
		log->wait_ns += ns;
	else if (ns > log->wait_ns)
		log->wait_ns = ns;
	return true;
}

static int take_io(struct importer *im, struct iolog *log, char **fields, size_t count, uint64_t ns)
{
	struct trace_record record = { 0 };
	const char *why = take_action(im, &record, fields, count);

	if (why)
		return import_bad(im, fields[1], why);
	import_order(im, ns);
	/* fio goes on at once where the time is smaller: its own line order holds. */
	if (ns < log->wait_ns)
		ns = log->wait_ns;
	log->wait_ns = ns;
	record.time_ns = log->base_ns + ns;
	if (record.time_ns > log->end_ns)
		log->end_ns = record.time_ns;
	return import_add(im, &record, fields[0]);
}

static int take_line(struct importer *im, struct iolog *log, char *line, bool absolute)
{
	char *all[TRACE_FIELDS], **fields = all;
	size_t count = split_fields(line, ' ', all);
	uint64_t us = 0, ns = log->wait_ns;

	if (log->version == 3 && count > 0) {
		if (!parse_whole(all[0], &us) || us > INT64_MAX / 4 / MICROSECOND_NS)
			return import_bad(im, all[0], "it does not begin with a time in us");
		ns = us * MICROSECOND_NS;
		fields++;
		count--;
	}
	if (count < 2)
		return import_bad(im, line, "too few fields");
	if (is_file_action(fields[1])) {
		/* Idempotent: which file of ours it will be is not known here. */
		return count == 2 ? 0 : import_bad(im, fields[1], "too many fields");
	}
	if (strcmp(fields[1], "wait") != 0)
		return take_io(im, log, fields, count, ns);
	if (count != 4)
		return import_bad(im, fields[1], "a wait has a name, a time and a dummy");
	if (log->version == 3) {
		log->ignored_waits++;
		return 0;
	}
	take_wait(im, log, fields[2], absolute);
	return 0;
}

static int read_iolog(struct importer *im)
{
	struct iolog log = { 0 };
	bool absolute;
	char *line;
	int r = choose_wait(im, &absolute);

	im->trace->from_start = true;
	while (r == 0 && (r = trace_input_line(im->in, &line, im->err)) > 0) {
		r = 0;
		if (!line[strspn(line, " \t")])
			continue;
		if (is_header(line)) {
			r = take_header(im, &log, line);
			continue;
		}
		im->report->line_count++;
		if (!log.version)
			r = import_bad(im, line, "no header 'fio version N iolog' before it");
		else
			r = take_line(im, &log, line, absolute);
	}
	if (log.header_count > 1)
		import_note(im, "%u headers: the logs of %u clones or runs, replayed %s", log.header_count,
			    log.header_count, im->replay->clones == CLONES_IN_TURN ?
						      "one after another" : "side by side");
	if (log.ignored_waits)
		import_note(im, "%llu waits mean nothing in version 3 and are left out",
			    (unsigned long long)log.ignored_waits);
	return r;
}

const struct trace_format trace_iolog = {
	.name = "iolog",
	.help = "fio's write_iolog, versions 2 and 3",
	.recognise = recognise,
	.refuse = refuse,
	.scan = scan,
	.read = read_iolog,
};
