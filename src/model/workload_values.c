/* SPDX-License-Identifier: MIT */
#include "model/workload_values.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "model/settled.h"
#include "model/utf8.h"
#include "model/workload.h"

int workload_parse_rw(void *member, const char *value, struct err *err)
{
	if (strcmp(value, "rw") == 0) {
		*(uint32_t *)member = RW_READWRITE;
		return 0;
	}
	if (strchr(value, ':'))
		return err_set(err, -EINVAL,
			       "'%s': a number after ':' is not supported; see stride and "
			       "percentage-random",
			       value);
	return -ENOENT;
}

int workload_parse_engine(void *member, const char *value, struct err *err)
{
	if (strcmp(value, "psync") == 0 || strcmp(value, "pvsync") == 0) {
		*(uint32_t *)member = ENGINE_SYNC;
		return 0;
	}
	if (strcmp(value, "null") == 0)
		return err_set(err, -EINVAL, "'null' is a target here: tare run … null");
	return -ENOENT;
}

/* fio's numbers for the same: 0 none, 1 sync. */
int workload_parse_sync(void *member, const char *value, struct err *err)
{
	(void)err;
	if (strcmp(value, "0") == 0)
		*(uint32_t *)member = SYNC_NONE;
	else if (strcmp(value, "1") == 0)
		*(uint32_t *)member = SYNC_SYNC;
	else
		return -ENOENT;
	return 0;
}

int workload_parse_write_share(void *member, const char *value, struct err *err)
{
	uint32_t ppm;
	int r = units_parse_ppm(value, &ppm, err);

	if (r == 0)
		*(uint32_t *)member = PPM - ppm;
	return r;
}

static int parse_flag(const char *value, bool *ret, struct err *err)
{
	static const struct field flag = { .name = "", .type = FIELD_BOOL };

	if (field_set(&flag, ret, value, NULL) < 0)
		return err_set(err, -EINVAL, "'%s' is neither yes nor no; write 1 or 0", value);
	return 0;
}

int workload_parse_buffered(void *member, const char *value, struct err *err)
{
	bool buffered = false;
	int r = parse_flag(value, &buffered, err);

	if (r == 0)
		*(bool *)member = !buffered;
	return r;
}

int workload_parse_zero_buffers(void *member, const char *value, struct err *err)
{
	bool zero = false;
	int r = parse_flag(value, &zero, err);

	if (r == 0)
		*(uint32_t *)member = zero ? DATA_ZERO : DATA_RANDOM;
	return r;
}

/*
 * A bare number is microseconds in fio and seconds everywhere else here: a job that
 * thinks a million times longer than meant is no help, so it is refused.
 */
int workload_parse_think(void *member, const char *value, struct err *err)
{
	const size_t digits = strspn(value, "0123456789.");

	(void)member;
	if (digits && !value[digits] && strcmp(value, "0") != 0)
		return err_set(err, -EINVAL, "'%s' has no unit; write %sus, %sms or %ss", value,
			       value, value, value);
	return -ENOENT;
}

/* A pattern is data=pattern as well; the member is the whole workload. */
/* -ENOENT: taken as the text it is. */
int workload_parse_steady(void *member, const char *value, struct err *err)
{
	struct settled_rule rule;

	(void)member;
	if (!*value || settled_parse(value, &rule) == 0)
		return -ENOENT;
	return err_set(err, -EINVAL,
		       "'%.40s' is no iops:LIMIT, iops_slope:LIMIT, bw:LIMIT or bw_slope:LIMIT, with "
		       "or without %%",
		       value);
}

int workload_parse_pattern(void *member, const char *value, struct err *err)
{
	struct workload *workload = member;
	size_t digits;

	if (!*value || strlen(value) >= sizeof(workload->pattern))
		return err_set(err, -EINVAL, "'%s' is not 1 to %zu characters", value,
			       sizeof(workload->pattern) - 1);
	for (const char *c = value; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return err_set(err, -EINVAL, "a control character (0x%02x); write bytes as "
						     "0x…", (unsigned)*c);
	}
	if (!utf8_is_valid(value))
		return err_set(err, -EINVAL, "the text is not UTF-8; write bytes as 0x…");
	if (strncmp(value, "0x", 2) == 0) {
		digits = strspn(value + 2, "0123456789abcdefABCDEF");
		if (!digits || digits % 2 || value[2 + digits])
			return err_set(err, -EINVAL,
				       "'%s' is not whole bytes in hexadecimal; write 0xdeadbeef "
				       "or a text",
				       value);
	}
	snprintf(workload->pattern, sizeof(workload->pattern), "%s", value);
	workload->data = DATA_PATTERN;
	return 0;
}

void workload_print_pattern(const void *member, struct text *ret)
{
	text_add(ret, "%s", ((const struct workload *)member)->pattern);
}

/* Digits and at most one point, in (low, high); nothing before or behind. */
static int parse_real(const char *text, double low, double high, double *ret)
{
	const size_t length = strlen(text);
	double value;

	if (!isdigit((unsigned char)text[0]) || strspn(text, "0123456789.") != length)
		return -EINVAL;
	if (strchr(text, '.') != strrchr(text, '.'))
		return -EINVAL;
	value = strtod(text, NULL);
	if (!(value > low && value < high))
		return -EINVAL;
	*ret = value;
	return 0;
}

/* Shortest decimal that reads back as the same double, without an exponent. */
static void print_real(double value, struct text *ret)
{
	char buffer[400];

	for (int digits = 0; digits < 320; digits++) {
		snprintf(buffer, sizeof(buffer), "%.*f", digits, value);
		if (strtod(buffer, NULL) == value)
			break;
	}
	text_add(ret, "%s", buffer);
}

/* "share" or "" of a list whose shares add up to 100 %; blanks share what is left. */
struct share_list {
	uint32_t count, blank_count;
	uint64_t sum_ppm;
	uint32_t *shares[WORKLOAD_SIZES];
	bool blank[WORKLOAD_SIZES];
};

static int share_add(struct share_list *list, const char *text, uint32_t *member, struct err *err)
{
	*member = 0;
	list->shares[list->count] = member;
	list->blank[list->count] = !*text;
	list->count++;
	if (!*text) {
		list->blank_count++;
		return 0;
	}
	if (units_parse_ppm(text, member, err) < 0)
		return -EINVAL;
	if (!*member)
		return err_set(err, -EINVAL, "a share of 0 is no share; leave the part out");
	list->sum_ppm += *member;
	return 0;
}

static int shares_settle(struct share_list *list, struct err *err)
{
	char sum[UNITS_TEXT_BYTES];
	uint32_t left, each;

	if (list->sum_ppm > PPM || (!list->blank_count && list->sum_ppm != PPM)) {
		snprintf(sum, sizeof(sum), "%.6g", (double)list->sum_ppm / 1e4);
		return err_set(err, -EINVAL, "shares add up to %s %%, not 100 %%", sum);
	}
	if (!list->blank_count)
		return 0;
	left = (uint32_t)(PPM - list->sum_ppm);
	each = left / list->blank_count;
	if (!each)
		return err_set(err, -EINVAL, "nothing is left for the part without a share");
	for (uint32_t i = 0; i < list->count; i++) {
		if (!list->blank[i])
			continue;
		*list->shares[i] = --list->blank_count ? each : left;
		left -= each;
	}
	return 0;
}

/* Calls part for each piece between colons, split at its '/'; text behind it "" when absent. */
struct pair_list {
	const char *what;
	uint32_t count_max;
	int (*part)(void *ctx, char *first, char *second, struct err *err);
	void *ctx;
};

static int parse_pairs(const struct pair_list *list, const char *value, struct err *err)
{
	DEFER(defer_free) char *copy = strdup(value);
	char *rest = copy, *piece;
	uint32_t count = 0;

	if (!copy)
		return err_set(err, -ENOMEM, "no memory");
	if (strchr(value, ','))
		return err_set(err, -EINVAL,
			       "'%s': separate lists for reads, writes and trims are not supported; "
			       "give one list",
			       value);
	while ((piece = strsep(&rest, ":"))) {
		char *second = piece;
		char *first = strsep(&second, "/");
		int r;

		if (!*first)
			return err_set(err, -EINVAL, "'%s' has an empty part; write %s", value,
				       list->what);
		if (++count > list->count_max)
			return err_set(err, -EINVAL, "more than %u parts", list->count_max);
		if (second && strchr(second, '/'))
			return err_set(err, -EINVAL, "'%s' has more than one '/' in a part; write %s",
				       value, list->what);
		r = list->part(list->ctx, first, second ? second : first + strlen(first), err);
		if (r < 0)
			return r;
	}
	return 0;
}

struct split_parse {
	struct size_mix mix;
	struct share_list shares;
};

static int split_part(void *ctx, char *size, char *share, struct err *err)
{
	struct split_parse *parse = ctx;
	struct size_mix *mix = &parse->mix;
	uint64_t bytes;

	if (units_parse_bytes(size, &bytes, err) < 0)
		return -EINVAL;
	if (bytes == 0 || bytes > WORKLOAD_BLOCK_MAX_BYTES)
		return err_set(err, -EINVAL, "size %s is not from 1 to 1g", size);
	mix->sizes[mix->count].bytes = bytes;
	return share_add(&parse->shares, share, &mix->sizes[mix->count++].ppm, err);
}

int workload_parse_split(void *member, const char *value, struct err *err)
{
	struct split_parse parse = { { 0 }, { 0 } };
	const struct pair_list list = { "4k/60:64k/40", WORKLOAD_SIZES, split_part, &parse };
	int r;

	if (!*value) {
		*(struct size_mix *)member = parse.mix;
		return 0;
	}
	r = parse_pairs(&list, value, err);
	if (r == 0)
		r = shares_settle(&parse.shares, err);
	if (r == 0)
		*(struct size_mix *)member = parse.mix;
	return r;
}

static void print_share(uint32_t ppm, struct text *ret)
{
	text_add(ret, "%.6g", ppm / 1e4);
}

void workload_print_split(const void *member, struct text *ret)
{
	const struct size_mix *mix = member;

	for (uint32_t i = 0; i < mix->count; i++) {
		char bytes[UNITS_TEXT_BYTES];

		text_add(ret, "%s%s/", i ? ":" : "", units_format_bytes(mix->sizes[i].bytes, bytes));
		print_share(mix->sizes[i].ppm, ret);
	}
}

struct zones_parse {
	struct distribution distribution;
	struct share_list access, range;
};

static int zone_part(void *ctx, char *access, char *range, struct err *err)
{
	struct zones_parse *parse = ctx;
	struct distribution *d = &parse->distribution;
	const uint32_t i = d->zone_count++;

	if (share_add(&parse->access, access, &d->zones[i].access_ppm, err) < 0)
		return -EINVAL;
	return share_add(&parse->range, range, &d->zones[i].range_ppm, err);
}

static int parse_zones(struct distribution *ret, const char *zones, struct err *err)
{
	struct zones_parse parse = { { .kind = DISTRIBUTION_ZONED }, { 0 }, { 0 } };
	const struct pair_list list = { "zoned:ACCESS/RANGE:…, as in zoned:80/20:20/80",
					WORKLOAD_ZONES, zone_part, &parse };
	int r = parse_pairs(&list, zones, err);

	if (r == 0) {
		r = shares_settle(&parse.access, err);
		if (r < 0) {
			err_wrap(err, "accesses of the zones");
			return r;
		}
		r = shares_settle(&parse.range, err);
		if (r < 0) {
			err_wrap(err, "ranges of the zones");
			return r;
		}
		*ret = parse.distribution;
	}
	return r;
}

static const struct {
	const char *name;
	enum distribution_kind kind;
	double low, high;
	const char *want;
} distributions[] = {
	{ "zipf", DISTRIBUTION_ZIPF, 0, 100, "zipf:THETA, above 0 and not 1, as in zipf:1.2" },
	{ "pareto", DISTRIBUTION_PARETO, 0, 1, "pareto:H between 0 and 1, as in pareto:0.2" },
	{ "normal", DISTRIBUTION_NORMAL, 0, 100.0000001,
	  "normal:DEVIATION in % of the range, as in normal:10" },
};

int workload_parse_distribution(void *member, const char *value, struct err *err)
{
	struct distribution result = { .kind = DISTRIBUTION_UNIFORM };
	const size_t word = strcspn(value, ":");

	if (strcmp(value, "random") == 0) {
		*(struct distribution *)member = result;
		return 0;
	}
	if (strncmp(value, "zoned:", 6) == 0)
		return parse_zones(member, value + 6, err);
	for (size_t i = 0; i < ARRAY_COUNT(distributions); i++) {
		if (strlen(distributions[i].name) != word ||
		    strncmp(value, distributions[i].name, word) != 0)
			continue;
		if (!value[word] ||
		    parse_real(value + word + 1, distributions[i].low, distributions[i].high,
			       &result.parameter) < 0 ||
		    (distributions[i].kind == DISTRIBUTION_ZIPF && result.parameter == 1))
			return err_set(err, -EINVAL, "'%s': write %s", value, distributions[i].want);
		result.kind = distributions[i].kind;
		*(struct distribution *)member = result;
		return 0;
	}
	return err_set(err, -EINVAL, "'%s' is not one of random, zipf:THETA, pareto:H, "
				     "normal:DEVIATION, zoned:ACCESS/RANGE:…", value);
}

void workload_print_distribution(const void *member, struct text *ret)
{
	const struct distribution *d = member;

	if (d->kind == DISTRIBUTION_UNIFORM) {
		text_add(ret, "random");
		return;
	}
	for (size_t i = 0; i < ARRAY_COUNT(distributions); i++) {
		if (distributions[i].kind == d->kind) {
			text_add(ret, "%s:", distributions[i].name);
			print_real(d->parameter, ret);
			return;
		}
	}
	text_add(ret, "zoned");
	for (uint32_t i = 0; i < d->zone_count; i++) {
		text_add(ret, ":");
		print_share(d->zones[i].access_ppm, ret);
		text_add(ret, "/");
		print_share(d->zones[i].range_ppm, ret);
	}
}

/* "0-1,3": numbers and ranges of CPUs this kernel could have. */
int workload_parse_cpus(void *member, const char *value, struct err *err)
{
	const char *at = value;

	(void)member;
	while (*value) {
		unsigned long first, last;
		char *end;

		if (!isdigit((unsigned char)*at))
			break;
		first = last = strtoul(at, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		if (first > last || last >= CPU_SETSIZE)
			break;
		if (!*end)
			return -ENOENT;
		if (*end != ',')
			break;
		at = end + 1;
	}
	if (!*value)
		return -ENOENT;
	return err_set(err, -EINVAL, "'%s' is not a list of CPUs; write 0, 0-3 or 0-1,3", value);
}

/* One number of a line; places from 1. */
static int line_number(struct access_line *line, int place, const char *text, struct err *err)
{
	static const char *const names[] = { "size", "weight", "reads", "random", "delay", "burst",
					     "align", "reply" };
	uint32_t *const members[] = { &line->bytes,	  &line->weight,      &line->read_ppm,
				      &line->random_ppm,  &line->delay_us,    &line->burst_count,
				      &line->align_bytes, &line->reply_bytes };
	const uint64_t limits[] = { WORKLOAD_BLOCK_MAX_BYTES, 100, 100, 100, 86400000, UINT32_MAX,
				    WORKLOAD_BLOCK_MAX_BYTES, WORKLOAD_BLOCK_MAX_BYTES };
	const bool is_bytes = place == 0 || place >= 6;
	uint64_t value = 0;

	if (place == 4 ? units_parse_time_ns(text, &value, err) < 0 :
	    is_bytes   ? units_parse_bytes(text, &value, err) < 0 :
			 units_parse_count(text, &value, err) < 0)
		return err_wrap(err, "%s", names[place]);
	if (place == 4)
		value /= 1000;
	if (value > limits[place] || (place == 0 && value == 0))
		return err_set(err, -EINVAL, "%s %s is not from %d to %llu", names[place], text,
			       place == 0, (unsigned long long)limits[place]);
	*members[place] = (uint32_t)(place == 2 || place == 3 ? value * (PPM / 100) : value);
	return 0;
}

static int parse_line(struct access_line *line, char *text, struct err *err)
{
	int place = 0, r = 0;
	char *word;

	*line = (struct access_line){ .burst_count = 1 };
	for (; r == 0 && (word = strsep(&text, "/")); place++)
		r = place < 8 ? line_number(line, place, word, err) :
				err_set(err, -EINVAL, "a line has at most 8 numbers");
	if (r == 0 && place < 4)
		return err_set(err, -EINVAL, "a line is SIZE/WEIGHT/READ/RANDOM at least");
	return r;
}

int workload_parse_lines(void *member, const char *value, struct err *err)
{
	struct access_lines lines = { 0 };
	uint32_t weight = 0;
	char *copy, *rest, *text;
	int r = 0;

	copy = rest = strdup(value);
	if (!copy)
		return err_set(err, -ENOMEM, "no memory");
	while (r == 0 && *value && (text = strsep(&rest, ":"))) {
		if (lines.count == WORKLOAD_LINES) {
			r = err_set(err, -EINVAL, "more than %d lines", WORKLOAD_LINES);
			break;
		}
		r = parse_line(&lines.lines[lines.count], text, err);
		weight += r == 0 ? lines.lines[lines.count++].weight : 0;
	}
	free(copy);
	if (r == 0 && lines.count && weight != 100)
		r = err_set(err, -EINVAL, "the weights sum to %u, not to 100", weight);
	if (r == 0)
		*(struct access_lines *)member = lines;
	return r;
}

void workload_print_lines(const void *member, struct text *ret)
{
	const struct access_lines *lines = member;
	char bytes[UNITS_TEXT_BYTES];

	for (uint32_t i = 0; i < lines->count; i++) {
		const struct access_line *line = &lines->lines[i];

		text_add(ret, "%s%s/%u/%u/%u", i ? ":" : "", units_format_bytes(line->bytes, bytes),
			 line->weight, line->read_ppm / (PPM / 100), line->random_ppm / (PPM / 100));
		if (!line->delay_us && line->burst_count <= 1 && !line->align_bytes &&
		    !line->reply_bytes)
			continue;
		text_add(ret, "/%uus/%u/%s", line->delay_us, line->burst_count,
			 units_format_bytes(line->align_bytes, bytes));
		text_add(ret, "/%s", units_format_bytes(line->reply_bytes, bytes));
	}
}
