/* SPDX-License-Identifier: MIT */
/*
 * The Linux kernel's block traces: blktrace's binary files, one per CPU, and blkparse's text.
 *
 * What was issued to the driver (D) is replayed, or what was queued (Q) where nothing else is
 * there; never both, since each request has both. Sectors are 512 bytes whatever the device.
 */
#include <errno.h>
#include <linux/blktrace_api.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "foreign/trace_formats.h"
#include "foreign/trace_pair.h"

#define SECTOR_BYTES 512u

/* An event of any file, kept until all are in order. */
static int keep_event(struct importer *im, struct trace_record *event, const char *device,
		      bool queued)
{
	int r = 0;

	if (!im->events)
		r = sorter_new(&im->events, sizeof(*event), offsetof(struct trace_record, time_ns),
			       im->err);
	if (r == 0)
		r = trace_stream(im->trace, device, &event->stream, im->err);
	if (r < 0)
		return r;
	event->spare = queued;
	return sorter_add(im->events, event, im->err);
}

static int pair_all(struct importer *im, int fd, uint64_t count)
{
	const struct trace_record *event;
	struct pairing *pairing;
	struct cursor cursor;
	int r = pairing_new(&pairing, im->trace, im->err);

	if (r < 0)
		return r;
	r = cursor_init(&cursor, fd, sizeof(*event), count, im->err);
	while (r == 0 && (event = cursor_next(&cursor))) {
		/* Where there are issues, what was queued does not count. */
		if (im->issued_count == 0 || !event->spare)
			r = pairing_add(pairing, event, im->err);
	}
	if (r == 0 && cursor.code < 0)
		r = err_errno(im->err, cursor.code, "reading events back");
	if (r == 0)
		r = pairing_finish(pairing, im->err);
	cursor_done(&cursor);
	pairing_free(pairing);
	return r;
}

static int finish(struct importer *im)
{
	uint64_t count = 0;
	int fd = -1, r;

	if (!im->events)
		return 0;		/* the caller finds it empty */
	r = sorter_finish(im->events, &fd, &count, im->err);
	if (r < 0)
		return r;
	r = pair_all(im, fd, count);
	close(fd);
	import_note(im, im->issued_count ? "events D, what was issued to the driver, are replayed" :
					"events Q, what was queued, are replayed: there are no D");
	if (im->report->lost_count)
		import_note(im, "the recorder lost %llu events: this is not all that happened",
			    (unsigned long long)im->report->lost_count);
	return r;
}

/* Counts and keeps what was queued, issued or completed. */
static int take_event(struct importer *im, struct trace_record *event, const char *device,
		      char action)
{
	const char *why;

	if (action == 'C')
		event->op = PAIR_COMPLETE;
	why = action == 'C' ? NULL : import_judge(event);
	if (why)
		return import_bad(im, device, why);
	import_order(im, event->time_ns);
	im->issued_count += action == 'D';
	im->queued_count += action == 'Q';
	return keep_event(im, event, device, action == 'Q');
}

/* --- blkparse ------------------------------------------------------------------------------- */

/* "8,16" */
static bool is_device(const char *text)
{
	const size_t major = strspn(text, "0123456789");
	size_t minor;

	if (major == 0 || text[major] != ',')
		return false;
	minor = strspn(text + major + 1, "0123456789");
	return minor > 0 && strchr(" \t", text[major + 1 + minor]) != NULL;
}

/* "CPU0 (8,0):", "Total (sda):": the events are over. */
static bool is_summary(const char *line)
{
	return strncmp(line, "CPU", 3) == 0 || strncmp(line, "Total", 5) == 0;
}

static bool blkparse_recognise(const struct trace_sample *sample)
{
	for (size_t i = 0; i < sample->line_count; i++) {
		const char *line = sample->lines[i] + strspn(sample->lines[i], " \t");

		if (!is_device(line))
			return i > 0 && is_summary(line);
	}
	return sample->line_count > 0;
}

/* "FWFS": a flush in front, what it is, then flags. */
static void read_rwbs(const char *rwbs, struct trace_record *record)
{
	static const struct {
		char letter;
		uint8_t flag;
	} flags[] = {
		{ 'F', TRACE_FUA },	 { 'A', TRACE_READ_AHEAD },
		{ 'S', TRACE_SYNC },	 { 'M', TRACE_METADATA },
	};

	if (*rwbs == 'F' && rwbs[1]) {
		record->flags |= TRACE_PREFLUSH;
		rwbs++;
	}
	switch (*rwbs) {
	case 'R':
		record->op = TRACE_READ;
		break;
	case 'W':
		record->op = TRACE_WRITE;
		break;
	case 'D':
		record->op = TRACE_TRIM;
		break;
	case 'F':
		record->op = TRACE_FLUSH;
		break;
	default:
		record->op = TRACE_OTHER;
	}
	for (const char *c = *rwbs ? rwbs + 1 : rwbs; *c; c++)
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			if (*c == flags[i].letter)
				record->flags |= flags[i].flag;
}

/* "sector + sectors"; false: no sector stands there. */
static bool read_extent(char **fields, size_t count, struct trace_record *record, const char **why)
{
	uint64_t sector, sectors;

	*why = NULL;
	if (count < 10 || strcmp(fields[8], "+") != 0)
		return false;
	if (!parse_whole(fields[7], &sector) || !parse_whole(fields[9], &sectors) ||
	    sector > INT64_MAX / SECTOR_BYTES || sectors > INT64_MAX / SECTOR_BYTES) {
		*why = "sector or length is no number";
		return false;
	}
	record->offset_bytes = sector * SECTOR_BYTES;
	record->length_bytes = sectors * SECTOR_BYTES;
	return true;
}

/* A flush has no place, or none of any length. */
static void settle_flush(struct trace_record *record)
{
	if (record->length_bytes == 0 && (record->flags & TRACE_PREFLUSH))
		record->op = TRACE_FLUSH;
	if (record->op == TRACE_FLUSH)
		record->offset_bytes = record->length_bytes = 0;
}

static int blkparse_line(struct importer *im, char *line)
{
	struct trace_record record = { 0 };
	char *fields[TRACE_FIELDS];
	const char *why;
	const size_t count = split_fields(line, ' ', fields);
	char action;

	if (count >= 6 && strcmp(fields[5], "m") == 0) {
		for (size_t i = 6; i < count; i++)
			im->report->lost_count += strstr(fields[i], "lost") != NULL;
		return 0;
	}
	if (count < 6 || !parse_scaled(fields[3], 9, &record.time_ns))
		return import_bad(im, line, "no device, CPU, number, time, process, action");
	action = fields[5][0];
	if (fields[5][1] || !strchr("QDC", action))
		return 0;		/* G, M, F, S, B, A, X, P, U, T: not a request of its own */
	if (count < 7)
		return import_bad(im, line, "no RWBS");
	read_rwbs(fields[6], &record);
	if (!read_extent(fields, count, &record, &why)) {
		if (why)
			return import_bad(im, fields[7], why);
		/* What passes commands through has their bytes in place of a sector. */
		if (!(record.flags & TRACE_PREFLUSH) && record.op != TRACE_FLUSH)
			record.op = TRACE_OTHER;
	}
	settle_flush(&record);
	/* "8,16" as others write it: lists of names have commas between. */
	*strchr(fields[0], ',') = ':';
	/* A pass-through is counted where it was issued or queued, its end is nothing to us. */
	if (action == 'C' && record.op == TRACE_OTHER)
		return 0;
	return take_event(im, &record, fields[0], action);
}

static int blkparse_read(struct importer *im)
{
	char *line;
	int r;

	im->trace->from_start = true;
	while ((r = trace_input_line(im->in, &line, im->err)) > 0) {
		const char *at = line + strspn(line, " \t");

		if (!*at)
			continue;
		if (is_summary(at))
			return 0;
		im->report->line_count++;
		if (!is_device(at)) {
			import_bad(im, line, "it does not begin with a device's numbers");
			continue;
		}
		r = blkparse_line(im, line);
		if (r < 0)
			return r;
	}
	return r;
}

const struct trace_format trace_blkparse = {
	.name = "blkparse",
	.help = "text of blkparse in its default layout",
	.recognise = blkparse_recognise,
	.read = blkparse_read,
	.finish = finish,
};

/* --- blktrace ------------------------------------------------------------------------------- */

#define CATEGORY(bit) ((uint32_t)(bit) << BLK_TC_SHIFT)

static bool magic_of(uint32_t magic, bool *ret_swapped, unsigned int *ret_version)
{
	*ret_swapped = (__builtin_bswap32(magic) & 0xffffff00u) == BLK_IO_TRACE_MAGIC;
	if (*ret_swapped)
		magic = __builtin_bswap32(magic);
	*ret_version = magic & 0xffu;
	return (magic & 0xffffff00u) == BLK_IO_TRACE_MAGIC;
}

static bool blktrace_recognise(const struct trace_sample *sample)
{
	unsigned int version;
	uint32_t magic;
	bool swapped;

	if (sample->count < sizeof(magic))
		return false;
	memcpy(&magic, sample->bytes, sizeof(magic));
	return magic_of(magic, &swapped, &version);
}

static void swap(struct blk_io_trace *t)
{
	t->magic = __builtin_bswap32(t->magic);
	t->sequence = __builtin_bswap32(t->sequence);
	t->time = __builtin_bswap64(t->time);
	t->sector = __builtin_bswap64(t->sector);
	t->bytes = __builtin_bswap32(t->bytes);
	t->action = __builtin_bswap32(t->action);
	t->pid = __builtin_bswap32(t->pid);
	t->device = __builtin_bswap32(t->device);
	t->cpu = __builtin_bswap32(t->cpu);
	t->error = __builtin_bswap16(t->error);
	t->pdu_len = __builtin_bswap16(t->pdu_len);
}

static void read_categories(uint32_t action, struct trace_record *record)
{
	static const struct {
		uint32_t category;
		uint8_t flag;
	} flags[] = {
		{ BLK_TC_FUA, TRACE_FUA },	 { BLK_TC_AHEAD, TRACE_READ_AHEAD },
		{ BLK_TC_SYNC, TRACE_SYNC },	 { BLK_TC_META, TRACE_METADATA },
		{ BLK_TC_FLUSH, TRACE_PREFLUSH },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (action & CATEGORY(flags[i].category))
			record->flags |= flags[i].flag;
	if (action & CATEGORY(BLK_TC_PC))
		record->op = TRACE_OTHER;
	else if (action & CATEGORY(BLK_TC_DISCARD))
		record->op = TRACE_TRIM;
	else if (action & CATEGORY(BLK_TC_WRITE))
		record->op = TRACE_WRITE;
	else if (action & CATEGORY(BLK_TC_READ))
		record->op = TRACE_READ;
	else
		record->op = TRACE_OTHER;
}

static int blktrace_event(struct importer *im, const struct blk_io_trace *t)
{
	struct trace_record record = { .time_ns = t->time };
	char device[32], action;

	switch (t->action & 0xffu) {
	case __BLK_TA_QUEUE:
		action = 'Q';
		break;
	case __BLK_TA_ISSUE:
		action = 'D';
		break;
	case __BLK_TA_COMPLETE:
		action = 'C';
		break;
	default:
		return 0;
	}
	read_categories(t->action, &record);
	if (action == 'C' && record.op == TRACE_OTHER && !(record.flags & TRACE_PREFLUSH))
		return 0;
	if (t->sector > INT64_MAX / SECTOR_BYTES && t->bytes > 0)
		return import_bad(im, "", "a sector beyond any device");
	record.offset_bytes = t->bytes ? t->sector * SECTOR_BYTES : 0;
	record.length_bytes = t->bytes;
	settle_flush(&record);
	if (record.op == TRACE_OTHER)
		record.offset_bytes = record.length_bytes = 0;
	/* The kernel's own numbers: 12 bits of major, 20 of minor. */
	snprintf(device, sizeof(device), "%u:%u", t->device >> 20, t->device & 0xfffffu);
	return take_event(im, &record, device, action);
}

static int skip_payload(struct importer *im, const struct blk_io_trace *t)
{
	char payload[65536];
	const int r = trace_input_bytes(im->in, payload, t->pdu_len, im->err);

	if (r <= 0 || !(t->action & CATEGORY(BLK_TC_NOTIFY)) ||
	    (t->action & 0xffu) != __BLK_TN_MESSAGE)
		return r;
	im->report->lost_count += memmem(payload, t->pdu_len, "lost", 4) != NULL;
	return r;
}

static int bad_magic(struct importer *im, const struct blk_io_trace *t, unsigned int version)
{
	if ((t->magic & 0xffffff00u) == BLK_IO_TRACE_MAGIC)
		return err_set(im->err, -EINVAL, "%s: version %u of blktrace's format; %u is read",
			       trace_input_name(im->in), version, BLK_IO_TRACE_VERSION);
	return err_set(im->err, -EINVAL, "%s: event %llu does not begin with blktrace's magic but "
					 "with %08x; the file is damaged",
		       trace_input_name(im->in), (unsigned long long)im->report->line_count + 1,
		       t->magic);
}

static int blktrace_read(struct importer *im)
{
	struct blk_io_trace t;
	unsigned int version;
	bool swapped;
	int r;

	while ((r = trace_input_bytes(im->in, &t, sizeof(t), im->err)) > 0) {
		const bool known = magic_of(t.magic, &swapped, &version);

		if (known && swapped)
			swap(&t);
		if (!known || version != BLK_IO_TRACE_VERSION)
			return bad_magic(im, &t, version);
		im->report->line_count++;
		r = skip_payload(im, &t);
		if (r == 0)
			import_bad(im, "", "the file ends within an event");
		if (r <= 0)
			return r;
		if (!(t.action & CATEGORY(BLK_TC_NOTIFY)))
			r = blktrace_event(im, &t);
		if (r < 0)
			return r;
	}
	return r;
}

const struct trace_format trace_blktrace = {
	.name = "blktrace",
	.help = "blktrace's binary files, one per CPU: NAME stands for all NAME.blktrace.N",
	.recognise = blktrace_recognise,
	.read = blktrace_read,
	.finish = finish,
};
