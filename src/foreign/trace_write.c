/* SPDX-License-Identifier: MIT */
#include "foreign/trace_write.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "model/result.h"

struct line {
	uint64_t time_ns, late_ns, latency_ns;
	uint64_t offset_bytes, length_bytes;
	const char *op, *target;
	uint8_t flags;
	uint32_t job_index;
	int32_t result;
};

/* Blanks end a name there. */
static void put_name(FILE *file, const char *name, char marks)
{
	for (; *name; name++)
		fputc(*name == ' ' || *name == '\t' || *name == '\n' || *name == marks ? '_' : *name,
		      file);
}

static void put_file_line(FILE *file, uint64_t time_us, const char *name, const char *action)
{
	fprintf(file, "%" PRIu64 " ", time_us);
	put_name(file, name, '\0');
	fprintf(file, " %s\n", action);
}

static bool is_first_of_its_name(const struct trace_output *o, size_t i)
{
	if (!o->names[i])
		return false;
	for (size_t k = 0; k < i; k++)
		if (o->names[k] && strcmp(o->names[k], o->names[i]) == 0)
			return false;
	return true;
}

static void put_files(const struct trace_output *o, uint64_t time_us, const char *action)
{
	for (size_t i = 0; o->iolog && i < o->name_count; i++)
		if (is_first_of_its_name(o, i))
			put_file_line(o->iolog, time_us, o->names[i], action);
}

static void put_heads(const struct trace_output *o)
{
	if (o->iolog)
		fprintf(o->iolog, "fio version 3 iolog\n");
	put_files(o, 0, "add");
	put_files(o, 0, "open");
	if (o->table)
		fprintf(o->table,
			"# tare recording 1\n# %s\n"
		"time_ns,op,target,offset_bytes,length_bytes,latency_ns,late_ns,job,flags,result\n",
			o->about ? o->about : "");
}

static void put_line(const struct trace_output *o, const struct line *l)
{
	if (o->iolog) {
		fprintf(o->iolog, "%llu ", l->time_ns / MICROSECOND_NS);
		put_name(o->iolog, l->target, '\0');
		fprintf(o->iolog, " %s %" PRIu64 " %" PRIu64 "\n", l->op, l->offset_bytes,
			l->length_bytes);
	}
	if (!o->table)
		return;
	fprintf(o->table, "%" PRIu64 ",%s,", l->time_ns, l->op);
	put_name(o->table, l->target, ',');
	fprintf(o->table, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%u,%" PRId32 "\n",
		l->offset_bytes, l->length_bytes, l->latency_ns, l->late_ns, l->job_index, l->flags,
		l->result);
}

static int settle(const struct trace_output *o, uint64_t end_ns, struct err *err)
{
	FILE *const files[] = { o->iolog, o->table };

	put_files(o, end_ns / MICROSECOND_NS, "close");
	for (size_t i = 0; i < 2; i++)
		if (files[i] && (fflush(files[i]) == EOF || ferror(files[i])))
			return err_errno(err, errno ? -errno : -EIO, "writing the recording");
	return 0;
}

int trace_write_recording(const struct recording *recording, const struct trace_output *o,
			  struct err *err)
{
	static const char *const words[OP_KINDS] = { "read", "write", "trim", "sync" };
	const struct recorded_io *io;
	struct recording_cursor sorted;
	uint64_t zero_ns = UINT64_MAX, end_ns = 0;
	int r = recording_sort(recording, RECORDED_BY_SUBMIT, &sorted, err);

	if (r < 0)
		return r;
	put_heads(o);
	while ((io = cursor_next(&sorted.cursor))) {
		assert(io->measurement_index < o->name_count && io->op < OP_KINDS);
		if (!o->names[io->measurement_index])
			continue;
		if (zero_ns == UINT64_MAX)
			zero_ns = io->submit_ns;
		end_ns = io->submit_ns - zero_ns;
		put_line(o, &(struct line){
				    .time_ns = end_ns,
				    .late_ns = io->submit_ns - io->intended_ns,
				    .latency_ns = io->done_ns - io->submit_ns,
				    .offset_bytes = io->offset_bytes,
				    .length_bytes = io->length_bytes,
				    .op = words[io->op],
				    .target = o->names[io->measurement_index],
				    .job_index = io->job_index,
				    .result = io->result,
			    });
	}
	if (sorted.cursor.code < 0)
		r = err_errno(err, sorted.cursor.code, "reading what was recorded");
	recording_cursor_done(&sorted);
	return r < 0 ? r : settle(o, end_ns, err);
}

int trace_write(const struct trace *trace, const struct trace_output *o, struct err *err)
{
	static const char *const words[TRACE_OPS] = { "read", "write", "trim", "sync", NULL, NULL };
	const struct trace_record *record;
	struct cursor cursor;
	uint64_t end_ns = 0;
	int r = trace_cursor(trace, &cursor, err);

	if (r < 0)
		return r;
	put_heads(o);
	while ((record = cursor_next(&cursor))) {
		if (!words[record->op])
			continue;
		end_ns = record->time_ns - trace->zero_ns;
		put_line(o, &(struct line){
				    .time_ns = end_ns,
				    .latency_ns = record->latency_ns,
				    .offset_bytes = record->offset_bytes,
				    .length_bytes = record->length_bytes,
				    .op = words[record->op],
				    .target = trace->streams[record->stream].name,
				    .flags = record->flags,
			    });
	}
	if (cursor.code < 0)
		r = err_errno(err, cursor.code, "reading the trace");
	cursor_done(&cursor);
	return r < 0 ? r : settle(o, end_ns, err);
}
