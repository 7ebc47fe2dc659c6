/* SPDX-License-Identifier: MIT */
#include "model/step.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "model/workload_values.h"

const char *const purge_method_names[] = {
	[PURGE_AUTO] = "auto",
	[PURGE_DISCARD] = "discard",
	[PURGE_ZERO] = "zero",
	[PURGE_NVME_FORMAT] = "nvme-format",
	[PURGE_NVME_FORMAT_CRYPTO] = "nvme-format-crypto",
	[PURGE_NVME_SANITIZE_BLOCK] = "nvme-sanitize",
	[PURGE_NVME_SANITIZE_CRYPTO] = "nvme-sanitize-crypto",
	[PURGE_ATA_ERASE] = "ata-erase",
	[PURGE_ATA_ERASE_ENHANCED] = "ata-erase-enhanced",
	[PURGE_ATA_SANITIZE_BLOCK] = "ata-sanitize",
	[PURGE_ATA_SANITIZE_CRYPTO] = "ata-sanitize-crypto",
	[PURGE_SIM] = "sim",
	[PURGE_METHODS] = NULL,
};
static const char *const order_choices[] = { "sequential", "random", NULL };
static const char *const by_choices[] = { "files", "random", "aging", NULL };
static const char *const preset_choices[] = {
	"none", "techgage", "office", "mail", "browser-cache", "photos", NULL,
};
static const char *const rule_choices[] = { "snia", "level", NULL };
static const char *const rw_choices[] = {
	"read",	     "write",	  "trim",      "randread",
	"randwrite", "randtrim", "readwrite", "randrw",	 NULL,
};

/* A decimal number: "2", "1.5". */
static int parse_factor(void *member, const char *value, struct err *err)
{
	char *end;
	const double number = strtod(value, &end);

	if (end == value || *end || strspn(value, "0123456789.") != strlen(value) ||
	    !isfinite(number))
		return err_set(err, -EINVAL, "'%s' is no number such as 2 or 1.5", value);
	if (number < 0.000001 || number > 1000)
		return err_set(err, -ERANGE, "%s is not from 0.000001 to 1000", value);
	*(uint64_t *)member = (uint64_t)llround(number * PPM);
	return 0;
}

static void print_factor(const void *member, struct text *ret)
{
	text_add(ret, "%.10g", (double)*(const uint64_t *)member / PPM);
}

#define AT(member) .offset = offsetof(struct step, member)
#define BOOL(member) .type = FIELD_BOOL, AT(member)
#define ENUM(member, list) .type = FIELD_ENUM, AT(member), .choices = (list)
#define U32(member, u, low, high) \
	.type = FIELD_U32, .unit = (u), AT(member), .min = (low), .max = (high)
#define U64(member, u, low, high) \
	.type = FIELD_U64, .unit = (u), AT(member), .min = (low), .max = (high)
#define AMOUNT(member, low) \
	.type = FIELD_AMOUNT, .unit = UNIT_BYTES, AT(member), .min = (low), .max = INT64_MAX
#define FACTOR(member) \
	.type = FIELD_CUSTOM, AT(member), .parse = parse_factor, .print = print_factor, \
	.metavar = "NUMBER"
#define BLOCK(member) U64(member, UNIT_BYTES, 512, WORKLOAD_BLOCK_MAX_BYTES)
#define DEPTH(member) U32(member, UNIT_COUNT, 1, 65536)
#define DAY_NS (86400ull * SECOND_NS)
#define SEED(member) \
	{ .name = "seed", U64(member, UNIT_NONE, 0, UINT64_MAX), .group = GROUP, \
	  .help = "of all that is drawn; without it a new one each time" }
#define RANGE(part) \
	{ .name = "offset", AMOUNT(part.offset, 0), .group = GROUP, \
	  .help = "start of the range, in bytes or % of the target" }, \
	{ .name = "size", AMOUNT(part.size, 1), .group = GROUP, \
	  .help = "length of the range; without it the rest of the target" }

#define GROUP "Purge"
static const struct field purge_fields[] = {
	{ .name = "method", ENUM(purge.method, purge_method_names), .preset = "auto", .group = GROUP,
	  .help = "how; auto takes discard where there is one, else zeros, and the reference drive's "
		  "own; what a drive's firmware erases must be named" },
	{ .name = NULL },
};
#undef GROUP

#define GROUP "Fill"
static const struct field fill_fields[] = {
	{ .name = "times", FACTOR(fill.times_ppm), .preset = "1", .group = GROUP,
	  .help = "how often the range is written, as in 2 or 0.5" },
	{ .name = "order", ENUM(fill.order, order_choices), .preset = "sequential", .group = GROUP,
	  .help = "from the start, or each block once in random order" },
	RANGE(fill),
	{ .name = "bs", .alias = "blocksize", BLOCK(fill.block_bytes), .preset = "128k",
	  .group = GROUP, .help = "size of one request" },
	{ .name = "iodepth", .alias = "qd", DEPTH(fill.depth_count), .preset = "32", .group = GROUP,
	  .help = "requests in flight" },
	SEED(fill.seed),
	{ .name = NULL },
};
#undef GROUP

#define GROUP "Dirty"
static const struct field dirty_fields[] = {
	{ .name = "by", ENUM(dirty.by, by_choices), .preset = "files", .group = GROUP,
	  .help = "files made and deleted, random writes, or aging: files made, overwritten and "
		  "deleted in turn at a fill level" },
	{ .name = "preset", ENUM(dirty.preset, preset_choices), .preset = "none", .group = GROUP,
	  .help = "whose files: number, sizes and rounds, scaled to the free space" },
	{ .name = "from", .type = FIELD_TEXT, AT(dirty.from),
	  .room = sizeof(((struct step *)NULL)->dirty.from), .metavar = "DIR", .group = GROUP,
	  .help = "copy this tree in place of making one" },
	{ .name = "files", U64(dirty.file_count, UNIT_COUNT, 0, 100000000), .group = GROUP,
	  .help = "how many files a round; without it as the preset says, else of 256k on average" },
	{ .name = "amount", AMOUNT(dirty.amount, 1), .group = GROUP,
	  .help = "bytes a round, or % of the free space (files) or the range (random); without it "
		  "25 % or 100 %" },
	{ .name = "spread", FACTOR(dirty.spread_ppm), .preset = "1.5", .group = GROUP,
	  .help = "sigma of the log-normal file sizes" },
	{ .name = "per-directory", U32(dirty.per_directory_count, UNIT_COUNT, 1, 1000000),
	  .preset = "200", .group = GROUP, .help = "files in a directory" },
	{ .name = "deep", U32(dirty.deep_count, UNIT_COUNT, 1, 16), .preset = "2", .group = GROUP,
	  .help = "levels of directories" },
	{ .name = "rounds", U32(dirty.round_count, UNIT_COUNT, 0, 10000), .group = GROUP,
	  .help = "how often files are made and deleted; without it as the preset says, else 1" },
	{ .name = "delete", U32(dirty.delete_ppm, UNIT_PPM, 0, PPM), .preset = "100%", .group = GROUP,
	  .help = "share of the files that are there deleted after each round; the rest stays until a "
		  "delete step or the end" },
	{ .name = "threads", U32(dirty.thread_count, UNIT_COUNT, 0, 1024), .group = GROUP,
	  .help = "that make files; without it as many as there are processors, at most 8" },
	{ .name = "level", U32(dirty.level_ppm, UNIT_PPM, 10000, 950000), .preset = "75%",
	  .group = GROUP, .help = "aging: how full of the free space it becomes" },
	{ .name = "churn", FACTOR(dirty.churn_ppm), .preset = "1", .group = GROUP,
	  .help = "aging: how often what is there is replaced" },
	RANGE(dirty),
	{ .name = "bs", .alias = "blocksize", BLOCK(dirty.block_bytes), .preset = "4k",
	  .group = GROUP, .help = "random: size of one request" },
	{ .name = "bssplit", .type = FIELD_CUSTOM, AT(dirty.size_mix), .parse = workload_parse_split,
	  .print = workload_print_split, .metavar = "SIZE/PERCENT:…", .group = GROUP,
	  .help = "random: request sizes with their shares, in place of bs" },
	{ .name = "iodepth", .alias = "qd", DEPTH(dirty.depth_count), .preset = "32", .group = GROUP,
	  .help = "random: requests in flight" },
	SEED(dirty.seed),
	{ .name = NULL },
};
#undef GROUP

static const struct field no_fields[] = { { .name = NULL } };

#define GROUP "Trim"
static const struct field trim_fields[] = {
	{ .name = "offset", AMOUNT(trim.offset, 0), .group = GROUP,
	  .help = "start of the range; without a range all that is free" },
	{ .name = "size", AMOUNT(trim.size, 1), .group = GROUP, .help = "length of the range" },
	{ .name = "bs", .alias = "blocksize", U64(trim.piece_bytes, UNIT_BYTES, 0, INT64_MAX),
	  .group = GROUP, .help = "size of one request; without it as large as may be" },
	{ .name = "every", U64(trim.every_bytes, UNIT_BYTES, 0, INT64_MAX), .group = GROUP,
	  .help = "from the start of one request to the next; without it no gaps" },
	{ .name = NULL },
};
#undef GROUP

#define GROUP "Settle"
static const struct field settle_fields[] = {
	{ .name = "rule", ENUM(settle.rule, rule_choices), .preset = "snia", .group = GROUP,
	  .help = "snia: 5 rounds within 20 % and a slope within 10 % of their mean; level: no step, "
		  "drift or cycle in the seconds of the last 5 rounds" },
	{ .name = "rw", .alias = "readwrite", ENUM(settle.rw, rw_choices), .parse = workload_parse_rw,
	  .preset = "randwrite", .group = GROUP, .help = "what is done until it is steady" },
	{ .name = "bs", .alias = "blocksize", BLOCK(settle.block_bytes), .preset = "4k",
	  .group = GROUP, .help = "size of one request" },
	{ .name = "iodepth", .alias = "qd", DEPTH(settle.depth_count), .preset = "32",
	  .group = GROUP, .help = "requests in flight" },
	RANGE(settle),
	{ .name = "round", U64(settle.round_ns, UNIT_NS, 100 * MILLISECOND_NS, DAY_NS),
	  .preset = "1m", .group = GROUP, .help = "length of a round" },
	{ .name = "rounds", U32(settle.round_count_max, UNIT_COUNT, 5, 100000), .preset = "25",
	  .group = GROUP, .help = "most of them; then it is \"not reached\"" },
	SEED(settle.seed),
	{ .name = NULL },
};
#undef GROUP

#define GROUP "Idle"
static const struct field rest_fields[] = {
	{ .name = "time", U64(rest.time_ns, UNIT_NS, 0, 366 * DAY_NS), .group = GROUP,
	  .help = "for so long" },
	{ .name = "until-recovered", BOOL(rest.until_recovered), .group = GROUP,
	  .help = "until the write speed, probed each interval, no longer rises" },
	{ .name = "limit", U64(rest.limit_ns, UNIT_NS, SECOND_NS, 366 * DAY_NS), .preset = "30m",
	  .group = GROUP, .help = "of waiting for that" },
	{ .name = "interval", U64(rest.interval_ns, UNIT_NS, 100 * MILLISECOND_NS, DAY_NS),
	  .preset = "10s", .group = GROUP, .help = "between two probes" },
	{ .name = NULL },
};
#undef GROUP

const struct step_row step_rows[STEP_KINDS] = {
	[STEP_PURGE] = { "purge", "as near to never written as can be", purge_fields, "method" },
	[STEP_FILL] = { "fill", "write a range, in order or at random", fill_fields, "times" },
	[STEP_DIRTY] = { "dirty", "use it as real use does: files, random writes or aging",
			 dirty_fields, "preset" },
	[STEP_DELETE] = { "delete", "delete what dirtying left, without a discard", no_fields, NULL },
	[STEP_TRIM] = { "trim", "discard what is free, or a range", trim_fields, NULL },
	[STEP_SETTLE] = { "settle", "a workload until its speed is steady", settle_fields, "rule" },
	[STEP_REST] = { "idle", "no I/O for a time, or until the write speed is back", rest_fields,
			"time" },
};

bool step_writes(const struct step *step)
{
	if (step->kind == STEP_REST)
		return step->rest.until_recovered;
	return step->kind != STEP_SETTLE ||
	       (step->settle.rw != RW_READ && step->settle.rw != RW_RANDREAD);
}

void step_init(struct step *step, enum step_kind kind)
{
	assert(kind < STEP_KINDS);
	memset(step, 0, sizeof(*step));
	step->kind = kind;
	fields_preset(step_rows[kind].fields, step);
}

static int check_dirty(const struct step_dirty *d, struct err *err)
{
	if (d->from[0] && d->by != DIRTY_FILES)
		return err_set(err, -EINVAL, "dirty: 'from' is for files, not by=%s",
			       by_choices[d->by]);
	if (d->preset && d->by != DIRTY_FILES)
		return err_set(err, -EINVAL, "dirty: 'preset' is for files, not by=%s",
			       by_choices[d->by]);
	if (d->from[0] && (d->preset || d->file_count || d->amount.bytes || d->amount.ppm))
		return err_set(err, -EINVAL,
			       "dirty: 'from' says which files; preset, files and amount say others");
	return 0;
}

int step_check(const struct step *step, struct err *err)
{
	const struct step_settle *settle = &step->settle;

	switch (step->kind) {
	case STEP_DIRTY:
		return check_dirty(&step->dirty, err);
	case STEP_TRIM:
		if (step->trim.every_bytes && step->trim.every_bytes < step->trim.piece_bytes)
			return err_set(err, -EINVAL, "trim: 'every' is less than 'bs'");
		if (step->trim.every_bytes && !step->trim.piece_bytes)
			return err_set(err, -EINVAL, "trim: 'every' needs a 'bs'");
		return 0;
	case STEP_REST:
		if (!step->rest.time_ns && !step->rest.until_recovered)
			return err_set(err, -EINVAL,
				       "idle: for how long? a time, as in idle=5s, or until-recovered");
		return 0;
	case STEP_SETTLE:
		if (settle->rw == RW_TRIM || settle->rw == RW_RANDTRIM)
			return err_set(err, -EINVAL, "settle: trims have no speed to become steady");
		return 0;
	default:
		return 0;
	}
}

static const char *row_name(const void *ctx, size_t i)
{
	(void)ctx;
	return i < STEP_KINDS ? step_rows[i].name : NULL;
}

static int find_kind(const char *name, enum step_kind *ret, struct err *err)
{
	const char *nearest;
	struct text names = TEXT_INIT;

	for (size_t i = 0; i < STEP_KINDS; i++)
		if (strcmp(step_rows[i].name, name) == 0) {
			*ret = (enum step_kind)i;
			return 0;
		}
	nearest = text_nearest(name, row_name, NULL);
	for (size_t i = 0; i < STEP_KINDS; i++)
		text_add(&names, "%s%s", i ? ", " : "", step_rows[i].name);
	if (nearest)
		err_set(err, -EINVAL, "no step '%s'; did you mean '%s'?", name, nearest);
	else
		err_set(err, -EINVAL, "no step '%s'; there are %s", name, text_string(&names));
	text_done(&names);
	return -EINVAL;
}

/* One "key=value" into the step. */
static int set_pair(struct step *step, char *pair, uint64_t *seen, struct err *err)
{
	const struct step_row *row = &step_rows[step->kind];
	const struct field *field;
	const char *nearest;
	char *value = strchr(pair, '=');

	if (value)
		*value++ = '\0';
	field = field_find(row->fields, pair);
	if (!field) {
		nearest = field_nearest(row->fields, pair);
		return err_set(err, -EINVAL, "%s: no field '%s'%s%s%s", row->name, pair,
			       nearest ? "; did you mean '" : "", nearest ? nearest : "",
			       nearest ? "'?" : "");
	}
	if (!value && field->type != FIELD_BOOL)
		return err_set(err, -EINVAL, "%s: '%s' needs a value, as in %s=...", row->name, pair,
			       pair);
	if (*seen & 1ull << (field - row->fields))
		return err_set(err, -EINVAL, "%s: '%s' is given twice", row->name, pair);
	*seen |= 1ull << (field - row->fields);
	if (field_set(field, step, value ? value : "1", err) < 0)
		return err_wrap(err, "%s", row->name);
	return 0;
}

static int set_main(struct step *step, const char *value, struct err *err)
{
	const struct step_row *row = &step_rows[step->kind];

	if (!row->main_field)
		return err_set(err, -EINVAL, "%s takes no value alone; write %s:key=value", row->name,
			       row->name);
	if (field_set(field_find(row->fields, row->main_field), step, value, err) < 0)
		return err_wrap(err, "%s", row->name);
	return 0;
}

int step_parse(const char *word, struct step *ret, struct err *err)
{
	DEFER(defer_free) char *copy = strdup(word);
	const size_t name_length = strcspn(word, ":=");
	const char mark = word[name_length];
	struct step step;
	enum step_kind kind;
	uint64_t seen = 0;
	int r;

	if (!copy)
		return err_set(err, -ENOMEM, "no memory");
	copy[name_length] = '\0';
	r = find_kind(copy, &kind, err);
	if (r < 0)
		return r;
	step_init(&step, kind);
	if (mark == '=')
		r = set_main(&step, copy + name_length + 1, err);
	if (mark == ':') {
		char *save = NULL, *pair = strtok_r(copy + name_length + 1, ",", &save);

		for (; r == 0 && pair; pair = strtok_r(NULL, ",", &save))
			r = set_pair(&step, pair, &seen, err);
	}
	if (r == 0)
		r = step_check(&step, err);
	if (r == 0)
		*ret = step;
	return r;
}

void step_print(const struct step *step, struct text *ret)
{
	const struct step_row *row = &step_rows[step->kind];
	char mark = ':';

	text_add(ret, "%s", row->name);
	for (const struct field *field = row->fields; field->name; field++) {
		struct text value = TEXT_INIT;

		if (field_is_preset(field, step))
			continue;
		field_print(field, step, &value);
		text_add(ret, "%c%s=%s", mark, field->name, text_string(&value));
		text_done(&value);
		mark = ',';
	}
}
