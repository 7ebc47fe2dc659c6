/* SPDX-License-Identifier: MIT */
/*
 * iozone's telemetry (-X, -Y) and its logs of offsets and latencies (-Q); and IOMeter's series of
 * results, which is none.
 *
 *	# offset size [delay-ms]	Offset in kBytes   Latency in microseconds  Transfer size ...
 *	0 65536 2			         0         14      65536
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "foreign/trace_formats.h"

#define LINE_MAX_BYTES 200		/* of iozone's own reader */
#define DELAY_MAX_MS (1000ull * 3600 * 24 * 366)

/* --- telemetry ------------------------------------------------------------------------------ */

static bool is_telemetry(const struct trace_sample *sample)
{
	char *fields[TRACE_FIELDS];

	for (size_t i = 0; i < sample->line_count; i++) {
		const size_t count = split_fields(sample->lines[i], ' ', fields);

		if (count != 2 && count != 3)
			return false;
		for (size_t k = 0; k < count; k++)
			if (!all_digits(fields[k]))
				return false;
	}
	return sample->line_count > 0;
}

static int telemetry_refuse(const struct trace_sample *sample, const char *file, struct err *err)
{
	(void)sample;
	err_set(err, -EINVAL,
			"%s: iozone's telemetry says where and how much, not whether it reads or "
			      "writes",
		file);
	return err_hint(err, "--format=iozone-x for writes (iozone -X), iozone-y for reads (-Y)");
}

/* The delay is waited before the request, after the one before it. */
static int read_telemetry(struct importer *im, enum trace_op op)
{
	size_t first_count = 0;
	uint64_t time_ns = 0;
	char *line;
	int r;

	im->trace->from_start = true;
	while ((r = trace_input_line(im->in, &line, im->err)) > 0) {
		struct trace_record record = { .op = (uint8_t)op };
		char *fields[TRACE_FIELDS];
		uint64_t delay_ms = 0;
		size_t count;

		if (*line == '#' || !line[strspn(line, " \t")])
			continue;
		im->report->line_count++;
		if (strlen(line) >= LINE_MAX_BYTES) {
			import_bad(im, line, "a line of 200 bytes or more");
			continue;
		}
		count = split_fields(line, ' ', fields);
		if (first_count == 0)
			first_count = count;
		if ((count != 2 && count != 3) || count != first_count ||
		    !parse_whole(fields[0], &record.offset_bytes) ||
		    !parse_whole(fields[1], &record.length_bytes) ||
		    (count == 3 && (!parse_whole(fields[2], &delay_ms) || delay_ms > DELAY_MAX_MS)) ||
		    time_ns > INT64_MAX / 2) {
			import_bad(im, line, "not offset, size and delay, as the lines before");
			continue;
		}
		if (import_judge(&record)) {
			import_bad(im, line, import_judge(&record));
			continue;
		}
		time_ns += delay_ms * MILLISECOND_NS;
		record.time_ns = time_ns;
		import_order(im, time_ns);
		r = import_add(im, &record, "-");
		if (r < 0)
			return r;
	}
	return r;
}

static int telemetry_finish(struct importer *im)
{
	if (im->replay->timing == TIMING_RECORDED)
		import_note(im, "its delays count from the end of the request before; --timing=gaps replays "
				"them so");
	return 0;
}

static int read_x(struct importer *im)
{
	return read_telemetry(im, TRACE_WRITE);
}

static int read_y(struct importer *im)
{
	return read_telemetry(im, TRACE_READ);
}

const struct trace_format trace_iozone_x = {
	.name = "iozone-x",
	.help = "iozone's telemetry of writes (-X): offset size [delay-ms]",
	.recognise = is_telemetry,
	.refuse = telemetry_refuse,
	.read = read_x,
	.finish = telemetry_finish,
};

const struct trace_format trace_iozone_y = {
	.name = "iozone-y",
	.help = "iozone's telemetry of reads (-Y): offset size [delay-ms]",
	.read = read_y,
	.finish = telemetry_finish,
};

/* --- logs of -Q ----------------------------------------------------------------------------- */

#define LOG_HEADER "Offset in kBytes"

static bool is_log(const struct trace_sample *sample)
{
	return sample->line_count > 0 &&
	       strncmp(sample->lines[0] + strspn(sample->lines[0], " \t"), LOG_HEADER,
		       strlen(LOG_HEADER)) == 0;
}

static int log_refuse(const struct trace_sample *sample, const char *file, struct err *err)
{
	(void)sample;
	err_set(err, -EINVAL, "%s: iozone's log of offsets does not say whether it reads or writes", file);
	return err_hint(err,
			"--format=iozone-wol for writes (wol.dat, rwol.dat), iozone-rol for reads");
}

/* An order without times. A latency may be printed as -0 or -1: none. */
static int read_log(struct importer *im, enum trace_op op)
{
	uint64_t order = 0;
	char *line;
	int r;

	im->trace->stats.timed = false;
	im->trace->from_start = true;
	while ((r = trace_input_line(im->in, &line, im->err)) > 0) {
		struct trace_record record = { .op = (uint8_t)op, .time_ns = order };
		char *f[TRACE_FIELDS];
		uint64_t kib, latency_us = 0;
		const char *at = line + strspn(line, " \t");

		if (!*at || strncmp(at, LOG_HEADER, strlen(LOG_HEADER)) == 0)
			continue;
		im->report->line_count++;
		if (split_fields(line, ' ', f) != 3 || !parse_whole(f[0], &kib) ||
		    kib > INT64_MAX / KIB || !parse_whole(f[2], &record.length_bytes) ||
		    (f[1][0] != '-' && (!parse_whole(f[1], &latency_us) ||
					latency_us > INT64_MAX / MICROSECOND_NS))) {
			import_bad(im, line, "not offset, latency and size");
			continue;
		}
		record.offset_bytes = kib * KIB;
		record.latency_ns = latency_us * MICROSECOND_NS;
		if (import_judge(&record)) {
			import_bad(im, line, import_judge(&record));
			continue;
		}
		order++;
		r = import_add(im, &record, "-");
		if (r < 0)
			return r;
	}
	return r;
}

static int read_wol(struct importer *im)
{
	return read_log(im, TRACE_WRITE);
}

static int read_rol(struct importer *im)
{
	return read_log(im, TRACE_READ);
}

const struct trace_format trace_iozone_wol = {
	.name = "iozone-wol",
	.help = "iozone's log of written offsets (-Q: wol.dat, rwol.dat); an order without times",
	.recognise = is_log,
	.refuse = log_refuse,
	.read = read_wol,
};

const struct trace_format trace_iozone_rol = {
	.name = "iozone-rol",
	.help = "iozone's log of read offsets (-Q: rol.dat, rrol.dat); an order without times",
	.read = read_rol,
};

/* --- IOMeter -------------------------------------------------------------------------------- */

static bool is_iometer(const struct trace_sample *sample)
{
	return sample->line_count > 0 && (strncmp(sample->lines[0], "'Results", 8) == 0 ||
					  strncmp(sample->lines[0], "'Test Type", 10) == 0 ||
					  strncmp(sample->lines[0], "'Time Stamp", 11) == 0);
}

static int iometer_refuse(const struct trace_sample *sample, const char *file, struct err *err)
{
	(void)sample;
	return err_set(err, -EINVAL,
			"%s: IOMeter's results over time, not a trace: it holds no requests",
		       file);
}

static int iometer_read(struct importer *im)
{
	return iometer_refuse(NULL, trace_input_name(im->in), im->err);
}

const struct trace_format trace_iometer = {
	.name = "iometer",
	.help = "IOMeter's results over time: told apart, and refused, for they hold no requests",
	.recognise = is_iometer,
	.refuse = iometer_refuse,
	.read = iometer_read,
};
