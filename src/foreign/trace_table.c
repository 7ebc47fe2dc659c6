/* SPDX-License-Identifier: MIT */
/*
 * Traces that are tables: a request a line, columns by commas or blanks. One reader, and a row of
 * facts for each published set; a header names columns, and so does --columns.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/defer.h"
#include "foreign/trace_formats.h"

enum column {
	COLUMN_NONE,			/* means nothing to us */
	COLUMN_TIME,
	COLUMN_OP,
	COLUMN_OFFSET,			/* bytes */
	COLUMN_LBA,			/* blocks */
	COLUMN_LENGTH,			/* bytes */
	COLUMN_BLOCKS,
	COLUMN_TARGET,
	COLUMN_TARGET_2,		/* second half of its name */
	COLUMN_LATENCY,
};

/* Digits behind the point of a second: what a unit is, too. */
#define SECONDS 9
#define MILLISECONDS 6
#define MICROSECONDS 3
#define NANOSECONDS 0
#define UNIT_UNKNOWN 99
#define FILETIME 100			/* 100 ns since 1601 */

struct trace_table {
	char separator;			/* ',' or ' ' */
	char joint;			/* between the halves of a target's name */
	uint32_t column_count, least_count;
	enum column columns[TRACE_FIELDS];
	unsigned int time_unit, latency_unit;
	uint64_t block_bytes;		/* of LBA and BLOCKS; 0 = not known */
	uint32_t code;			/* enum replay_code: of 0 and 1; NOT_SAID where there are letters */
	bool from_start;		/* times count from the recording's start */
	bool comments;			/* lines beginning with '#' are none of it */
};

/* --- one line ------------------------------------------------------------------------------- */

static bool parse_time(const char *text, unsigned int unit, uint64_t *ret)
{
	uint64_t ticks;

	if (unit != FILETIME)
		return parse_scaled(text, unit, ret);
	return parse_whole(text, &ticks) && !__builtin_mul_overflow(ticks, 100u, ret);
}

/* -1: left blank; 0: makes no sense; 1. */
static int parse_kind(const struct trace_table *t, const char *text, uint8_t *ret)
{
	if (!*text)
		return -1;
	if (t->code != CODE_NOT_SAID && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0)) {
		const bool one = *text == '1';

		*ret = one == (t->code == CODE_READ_1) ? TRACE_READ : TRACE_WRITE;
		return 1;
	}
	return parse_op(text, ret);
}

static void add_name(char *name, size_t room, const char *part, const char *joint)
{
	const size_t at = strlen(name);

	snprintf(name + at, room - at, "%s%s", at ? joint : "", part);
}

/* One field into the record: NULL, or what is wrong with it. */
static const char *take_field(const struct trace_table *t, enum column column, const char *text,
			      struct trace_record *record)
{
	uint64_t number = 0;
	const bool in_blocks = column == COLUMN_LBA || column == COLUMN_BLOCKS;

	switch (column) {
	case COLUMN_TIME:
		return parse_time(text, t->time_unit, &record->time_ns) &&
				       record->time_ns <= UINT64_MAX / 2 + UINT64_MAX / 4 ?
			       NULL :
			       "the time is no number";
	case COLUMN_LATENCY:
		/* Blank, or a negative mark, where no reply was seen. */
		if (!parse_time(text, t->latency_unit, &record->latency_ns))
			record->latency_ns = 0;
		return NULL;
	case COLUMN_OFFSET:
	case COLUMN_LBA:
	case COLUMN_LENGTH:
	case COLUMN_BLOCKS:
		if (!parse_whole(text, &number) ||
		    (in_blocks && __builtin_mul_overflow(number, t->block_bytes, &number)))
			return "offset or length is no number";
		if (column == COLUMN_OFFSET || column == COLUMN_LBA)
			record->offset_bytes = number;
		else
			record->length_bytes = number;
		return NULL;
	default:
		return NULL;
	}
}

static void note_size(struct importer *im, uint64_t bytes)
{
	im->size_count++;
	im->size_large |= bytes >= 10000;
	im->size_whole |= bytes % 512 == 0;
}

static int take_line(struct importer *im, const struct trace_table *t, char **fields, size_t count)
{
	const char joint[] = { t->joint, '\0' };
	char name[2 * TRACE_NAME_BYTES] = "";
	struct trace_record record = { 0 };
	int kind = 1;

	if (count < t->least_count || (count > t->column_count && t->separator == ' '))
		return import_bad(im, count ? fields[0] : "",
				"not the number of fields there should be");
	for (size_t i = 0; i < count && i < t->column_count; i++) {
		const enum column column = t->columns[i];
		const char *why = NULL;

		if (column == COLUMN_OP)
			kind = parse_kind(t, fields[i], &record.op);
		else if (column == COLUMN_TARGET || column == COLUMN_TARGET_2)
			add_name(name, sizeof(name), fields[i], joint);
		else if (kind >= 0)
			why = take_field(t, column, fields[i], &record);
		if (kind == 0)
			why = "neither read nor write";
		if (why)
			return import_bad(im, fields[i], why);
	}
	if (kind < 0) {
		im->report->blank_count++;
		return 0;
	}
	if (import_judge(&record))
		return import_bad(im, fields[0], import_judge(&record));
	if (strlen(name) >= TRACE_NAME_BYTES)
		return import_bad(im, name, "a target's name of more than 255 bytes");
	note_size(im, record.length_bytes);
	import_order(im, record.time_ns);
	return import_add(im, &record, *name ? name : "-");
}

static int read_lines(struct importer *im, const struct trace_table *t)
{
	char *line, *fields[TRACE_FIELDS];
	int r;

	im->trace->from_start = t->from_start;
	while ((r = trace_input_line(im->in, &line, im->err)) > 0) {
		if (!line[strspn(line, " \t")] || (t->comments && *line == '#'))
			continue;
		im->report->line_count++;
		r = take_line(im, t, fields, split_fields(line, t->separator, fields));
		if (r < 0)
			return r;
	}
	return r;
}

static int finish(struct importer *im)
{
	if (im->size_count > 0 && !im->size_large && !im->size_whole)
		import_note(im, "every size is below 10000 and none is a multiple of 512: are they sectors "
				"rather than bytes?");
	if (im->report->blank_count)
		import_note(im, "%llu requests have no kind, because no reply to them was seen; they are "
				"left out",
			    (unsigned long long)im->report->blank_count);
	return 0;
}

/* --- published sets ------------------------------------------------------------------------- */

static unsigned int unit_of_option(const struct replay *replay, unsigned int known)
{
	static const unsigned int units[] = {
		[UNIT_S] = SECONDS,	  [UNIT_MS] = MILLISECONDS,
		[UNIT_US] = MICROSECONDS, [UNIT_NANO] = NANOSECONDS,
	};

	return replay->time_unit == UNIT_GUESS ? known : units[replay->time_unit];
}

/* What the options say, where the set leaves it open or is said to be otherwise. */
static void apply_options(const struct replay *replay, struct trace_table *t)
{
	t->time_unit = unit_of_option(replay, t->time_unit);
	if (replay->read_code != CODE_NOT_SAID)
		t->code = replay->read_code;
	if (replay->block_bytes)
		t->block_bytes = replay->block_bytes;
}

static int read_set(struct importer *im)
{
	struct trace_table t = *im->format->table;

	apply_options(im->replay, &t);
	if (t.time_unit == UNIT_UNKNOWN) {
		err_set(im->err, -EINVAL, "%s: the unit of its times is not known",
			trace_input_name(im->in));
		return err_hint(im->err,
				"--time-unit=ms, or s, us, ns: the set's description says");
	}
	return read_lines(im, &t);
}

static bool is_letter_op(const char *text)
{
	return strlen(text) == 1 && strchr("rRwW", *text);
}

/* Plain digits with at most one point. */
static bool is_decimal(const char *text)
{
	uint64_t value;

	return parse_scaled(text, 0, &value);
}

/* How many fields the first line has; 0 without one. The sample's line is cut. */
static size_t first_fields(const struct trace_sample *sample, char mark, char **fields)
{
	return sample->line_count ? split_fields(sample->lines[0], mark, fields) : 0;
}

static bool msr_recognise(const struct trace_sample *sample)
{
	char *f[TRACE_FIELDS];
	const size_t n = first_fields(sample, ',', f);

	return n == 7 && all_digits(f[0]) && strlen(f[0]) >= 17 && all_digits(f[2]) &&
	       (strcasecmp(f[3], "Read") == 0 || strcasecmp(f[3], "Write") == 0) &&
	       all_digits(f[4]) && all_digits(f[5]) && all_digits(f[6]);
}

static bool alibaba_recognise(const struct trace_sample *sample)
{
	char *f[TRACE_FIELDS];
	const size_t n = first_fields(sample, ',', f);

	return n == 5 && all_digits(f[0]) && is_letter_op(f[1]) && all_digits(f[2]) &&
	       all_digits(f[3]) && all_digits(f[4]);
}

static bool tencent_recognise(const struct trace_sample *sample)
{
	char *f[TRACE_FIELDS];
	const size_t n = first_fields(sample, ',', f);

	return n == 5 && all_digits(f[0]) && strlen(f[0]) == 10 && all_digits(f[1]) &&
	       all_digits(f[2]) && (strcmp(f[3], "0") == 0 || strcmp(f[3], "1") == 0) &&
	       all_digits(f[4]);
}

static bool spc_recognise(const struct trace_sample *sample)
{
	char *f[TRACE_FIELDS];
	const size_t n = first_fields(sample, ',', f);

	return n >= 5 && all_digits(f[0]) && all_digits(f[1]) && all_digits(f[2]) &&
	       is_letter_op(f[3]) && is_decimal(f[4]);
}

static bool fiu_recognise(const struct trace_sample *sample)
{
	char *f[TRACE_FIELDS];
	const size_t n = first_fields(sample, ' ', f);

	return (n == 8 || n == 9) && all_digits(f[0]) && all_digits(f[1]) && all_digits(f[3]) &&
	       all_digits(f[4]) && is_letter_op(f[5]) && all_digits(f[6]) && all_digits(f[7]);
}

/* Five bare numbers: DiskSim, MQSim and others, whose units differ. */
static bool five_numbers(const struct trace_sample *sample)
{
	char *f[TRACE_FIELDS];
	const size_t n = first_fields(sample, ' ', f);

	if (n != 5)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_decimal(f[i]))
			return false;
	return true;
}

static int five_refuse(const struct trace_sample *sample, const char *file, struct err *err)
{
	(void)sample;
	err_set(err, -EINVAL,
			"%s: five columns of numbers: time, device, place, length, kind, in units "
			      "that do not show",
		file);
	return err_hint(err, "--format=mqsim (ns, sectors), disksim (sectors, with --time-unit) or "
			     "huaicheng (ms, bytes)");
}

#define TABLE(...) .table = &(const struct trace_table){ __VA_ARGS__ }
#define C(name) COLUMN_##name

const struct trace_format trace_msr = {
	.name = "msr",
	.help = "MSR Cambridge: FILETIME,host,disk,Read|Write,offset,size,response",
	.recognise = msr_recognise,
	.read = read_set,
	.finish = finish,
	TABLE(.separator = ',', .joint = '.', .column_count = 7, .least_count = 7,
	      .columns = { C(TIME), C(TARGET), C(TARGET_2), C(OP), C(OFFSET), C(LENGTH), C(LATENCY) },
	      .time_unit = FILETIME, .latency_unit = FILETIME),
};

const struct trace_format trace_alibaba = {
	.name = "alibaba",
	.help = "Alibaba 2020: device,R|W,offset,length,microseconds",
	.recognise = alibaba_recognise,
	.read = read_set,
	.finish = finish,
	TABLE(.separator = ',', .column_count = 5, .least_count = 5,
	      .columns = { C(TARGET), C(OP), C(OFFSET), C(LENGTH), C(TIME) },
	      .time_unit = MICROSECONDS),
};

const struct trace_format trace_tencent = {
	.name = "tencent",
	.help = "Tencent CBS: seconds,sector,sectors,0 reads 1 writes,volume",
	.recognise = tencent_recognise,
	.read = read_set,
	.finish = finish,
	TABLE(.separator = ',', .column_count = 5, .least_count = 5,
	      .columns = { C(TIME), C(LBA), C(BLOCKS), C(OP), C(TARGET) }, .time_unit = SECONDS,
	      .block_bytes = 512, .code = CODE_READ_0),
};

const struct trace_format trace_spc = {
	.name = "spc",
	.help = "SPC (UMass Financial, WebSearch): unit,block,bytes,r|w,seconds",
	.recognise = spc_recognise,
	.read = read_set,
	.finish = finish,
	TABLE(.separator = ',', .column_count = 5, .least_count = 5,
	      .columns = { C(TARGET), C(LBA), C(LENGTH), C(OP), C(TIME) }, .time_unit = SECONDS,
	      .block_bytes = 512, .from_start = true),
};

const struct trace_format trace_fiu = {
	.name = "fiu",
	.help = "FIU: ns pid process sector sectors R|W major minor md5",
	.recognise = fiu_recognise,
	.read = read_set,
	.finish = finish,
	TABLE(.separator = ' ', .joint = ':', .column_count = 9, .least_count = 8,
	      .columns = { C(TIME), C(NONE), C(NONE), C(LBA), C(BLOCKS), C(OP), C(TARGET), C(TARGET_2),
			   C(NONE) },
	      .time_unit = NANOSECONDS, .block_bytes = 512),
};

const struct trace_format trace_mqsim = {
	.name = "mqsim",
	.help = "MQSim's ASCII: ns device sector sectors 0 writes 1 reads",
	.recognise = five_numbers,
	.refuse = five_refuse,
	.read = read_set,
	.finish = finish,
	TABLE(.separator = ' ', .column_count = 5, .least_count = 5,
	      .columns = { C(TIME), C(TARGET), C(LBA), C(BLOCKS), C(OP) }, .time_unit = NANOSECONDS,
	      .block_bytes = 512, .code = CODE_READ_1),
};

const struct trace_format trace_disksim = {
	.name = "disksim",
	.help = "DiskSim's ASCII: time device sector sectors 0 writes 1 reads; needs --time-unit",
	.read = read_set,
	.finish = finish,
	TABLE(.separator = ' ', .column_count = 5, .least_count = 5,
	      .columns = { C(TIME), C(TARGET), C(LBA), C(BLOCKS), C(OP) }, .time_unit = UNIT_UNKNOWN,
	      .block_bytes = 512, .code = CODE_READ_1),
};

const struct trace_format trace_huaicheng = {
	.name = "huaicheng",
	.help = "huaicheng's replayer: ms device offset bytes 1 reads 0 writes",
	.read = read_set,
	.finish = finish,
	TABLE(.separator = ' ', .column_count = 5, .least_count = 5,
	      .columns = { C(TIME), C(TARGET), C(OFFSET), C(LENGTH), C(OP) },
	      .time_unit = MILLISECONDS, .code = CODE_READ_1),
};

/* --- a header, or --columns ----------------------------------------------------------------- */

static const struct {
	const char *name;
	enum column column;
} names[] = {
	{ "time", COLUMN_TIME },	 { "timestamp", COLUMN_TIME },	 { "ts", COLUMN_TIME },
	{ "op", COLUMN_OP },		 { "type", COLUMN_OP },		 { "iotype", COLUMN_OP },
	{ "opcode", COLUMN_OP },	 { "operation", COLUMN_OP },	 { "rw", COLUMN_OP },
	{ "offset", COLUMN_OFFSET },	 { "lba", COLUMN_LBA },		 { "sector", COLUMN_LBA },
	{ "size", COLUMN_LENGTH },	 { "length", COLUMN_LENGTH },	 { "bytes", COLUMN_LENGTH },
	{ "blocks", COLUMN_BLOCKS },	 { "sectors", COLUMN_BLOCKS },	 { "device", COLUMN_TARGET },
	{ "lun", COLUMN_TARGET },	 { "disk", COLUMN_TARGET },	 { "volume", COLUMN_TARGET },
	{ "target", COLUMN_TARGET },	 { "device_id", COLUMN_TARGET }, { "asu", COLUMN_TARGET },
	{ "response", COLUMN_LATENCY },	 { "latency", COLUMN_LATENCY },
	{ "responsetime", COLUMN_LATENCY },	 { "response_time", COLUMN_LATENCY },
	{ "-", COLUMN_NONE },
};

static const struct {
	const char *suffix;
	unsigned int unit;
} suffixes[] = {
	{ "_ns", NANOSECONDS }, { "_us", MICROSECONDS }, { "_ms", MILLISECONDS }, { "_s", SECONDS },
	{ "_bytes", UNIT_UNKNOWN },
};

/* A column by its name, which may say its unit: "latency_ns". COLUMN_NONE with false: no such. */
static bool find_column(const char *word, enum column *ret, unsigned int *ret_unit)
{
	char name[64];

	*ret = COLUMN_NONE;
	*ret_unit = UNIT_UNKNOWN;
	if (strlen(word) >= sizeof(name))
		return false;
	strcpy(name, word);
	for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++) {
		const size_t length = strlen(name), tail = strlen(suffixes[i].suffix);

		if (length > tail && strcasecmp(name + length - tail, suffixes[i].suffix) == 0) {
			*ret_unit = suffixes[i].unit;
			name[length - tail] = '\0';
			break;
		}
	}
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		if (strcasecmp(name, names[i].name) == 0) {
			*ret = names[i].column;
			return true;
		}
	}
	return false;
}

static bool has_column(const struct trace_table *t, enum column column)
{
	for (uint32_t i = 0; i < t->column_count; i++)
		if (t->columns[i] == column)
			return true;
	return false;
}

/* Columns by name; those of names we have no use for mean nothing when loose. */
static int read_names(char **words, size_t count, bool loose, struct trace_table *t, struct err *err)
{
	*t = (struct trace_table){
		.time_unit = UNIT_UNKNOWN,
		.latency_unit = UNIT_UNKNOWN,
		.comments = true,
		.column_count = (uint32_t)count,
		.least_count = (uint32_t)count,
	};
	for (size_t i = 0; i < count; i++) {
		unsigned int unit;
		enum column column;

		if (!find_column(words[i], &column, &unit) && !loose)
			return err_set(err, -EINVAL,
					"columns: no column '%s'; there are time, op, offset, "
						     "lba, length, blocks, target, latency, -",
				       words[i]);
		if (column != COLUMN_NONE && has_column(t, column) && !loose)
			return err_set(err, -EINVAL, "columns: '%s' stands there twice", words[i]);
		/* Of two that mean the same the first counts. */
		t->columns[i] = has_column(t, column) ? COLUMN_NONE : column;
		if (column == COLUMN_TIME)
			t->time_unit = unit;
		if (column == COLUMN_LATENCY)
			t->latency_unit = unit;
	}
	return 0;
}

static bool is_complete(const struct trace_table *t)
{
	return has_column(t, COLUMN_TIME) && has_column(t, COLUMN_OP) &&
	       (has_column(t, COLUMN_OFFSET) || has_column(t, COLUMN_LBA)) &&
	       (has_column(t, COLUMN_LENGTH) || has_column(t, COLUMN_BLOCKS));
}

/* A time with a point is in seconds; a whole one since 1970 tells its unit by its length. */
static unsigned int unit_of_sample(const char *text)
{
	if (strchr(text, '.'))
		return SECONDS;
	switch (strlen(text)) {
	case 10:
		return SECONDS;
	case 13:
		return MILLISECONDS;
	case 16:
		return MICROSECONDS;
	case 19:
		return NANOSECONDS;
	default:
		return UNIT_UNKNOWN;
	}
}

static int no_unit(const struct importer *im, const char *what, const char *option)
{
	err_set(im->err, -EINVAL,
			"%s: the unit of %s does not show", trace_input_name(im->in), what);
	return err_hint(im->err, "%s says it", option);
}

/* What is still open is looked for in the first line of values. */
static int settle(struct importer *im, struct trace_table *t, char **fields, size_t count)
{
	const bool in_blocks = has_column(t, COLUMN_LBA) || has_column(t, COLUMN_BLOCKS);

	apply_options(im->replay, t);
	for (size_t i = 0; i < count && i < t->column_count; i++) {
		if (t->columns[i] == COLUMN_TIME && t->time_unit == UNIT_UNKNOWN)
			t->time_unit = unit_of_sample(fields[i]);
		if (t->columns[i] == COLUMN_OP && t->code == CODE_NOT_SAID && all_digits(fields[i])) {
			err_set(im->err, -EINVAL,
					"%s: its requests are of kind %s, and what that means is "
						  "not said",
				trace_input_name(im->in), fields[i]);
			return err_hint(im->err, "--code=read=0 or --code=read=1");
		}
	}
	if (t->time_unit == UNIT_UNKNOWN)
		return no_unit(im, "its times", "--time-unit=s, ms, us or ns");
	if (t->latency_unit == UNIT_UNKNOWN)
		t->latency_unit = t->time_unit;
	if (in_blocks && t->block_bytes == 0)
		return no_unit(im, "its blocks", "--block=512");
	return 0;
}

/* The line after the names, then the rest. */
static int read_values(struct importer *im, struct trace_table *t)
{
	char *line, *fields[TRACE_FIELDS];
	size_t count;
	int r;

	do {
		r = trace_input_line(im->in, &line, im->err);
		if (r <= 0)
			return r;
	} while (!line[strspn(line, " \t")] || *line == '#');
	im->report->line_count++;
	if (!t->separator)
		t->separator = strchr(line, ',') ? ',' : ' ';
	count = split_fields(line, t->separator, fields);
	r = settle(im, t, fields, count);
	if (r == 0)
		r = take_line(im, t, fields, count);
	return r < 0 ? r : read_lines(im, t);
}

/* tare's own recordings say that their times count from the start. */
#define OWN_MARK "# tare recording"

static int csv_read(struct importer *im)
{
	char *line, *fields[TRACE_FIELDS];
	struct trace_table t;
	bool own = false;
	int r;

	do {
		r = trace_input_line(im->in, &line, im->err);
		if (r <= 0)
			return r;
		own |= strncmp(line, OWN_MARK, strlen(OWN_MARK)) == 0;
	} while (!line[strspn(line, " \t")] || *line == '#');
	r = read_names(fields, split_fields(line, ',', fields), true, &t, im->err);
	if (r < 0)
		return r;
	if (!is_complete(&t))
		return err_set(im->err, -EINVAL,
				"%s: its header lacks a column for time, kind, offset or "
						 "length",
			       trace_input_name(im->in));
	t.separator = ',';
	t.from_start = own;
	return read_values(im, &t);
}

static bool csv_recognise(const struct trace_sample *sample)
{
	char *f[TRACE_FIELDS];
	struct trace_table t;
	const size_t n = first_fields(sample, ',', f);

	return n >= 4 && read_names(f, n, true, &t, NULL) == 0 && is_complete(&t);
}

const struct trace_format trace_csv = {
	.name = "csv",
	.help = "a table whose header names its columns, as SYSTOR '17 and tare's own recordings",
	.recognise = csv_recognise,
	.read = csv_read,
	.finish = finish,
};

static int columns_read(struct importer *im)
{
	char columns[sizeof(im->replay->columns)], *words[TRACE_FIELDS];
	struct trace_table t;
	int r;

	if (!*im->replay->columns) {
		err_set(im->err, -EINVAL, "a table without a header needs its columns named");
		return err_hint(im->err, "--columns=time,op,offset,length");
	}
	memcpy(columns, im->replay->columns, sizeof(columns));
	r = read_names(words, split_fields(columns, ',', words), false, &t, im->err);
	if (r == 0 && !is_complete(&t))
		r = err_set(im->err, -EINVAL,
				"columns: time, op, offset or lba, and length or blocks are "
					      "all needed");
	return r < 0 ? r : read_values(im, &t);
}

const struct trace_format trace_columns = {
	.name = "table",
	.help = "any other table, by commas or blanks: --columns names what is in it",
	.read = columns_read,
	.finish = finish,
};
