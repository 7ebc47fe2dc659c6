/* SPDX-License-Identifier: MIT */
#include "model/workload.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "model/utf8.h"

#define DAYS_NS(n) ((uint64_t)(n) * 86400 * SECOND_NS)

static const char *const rw_choices[] = {
	"read",	     "write",	  "trim",      "randread",
	"randwrite", "randtrim", "readwrite", "randrw",	 NULL,
};
static const char *const engine_choices[] = { "auto", "io_uring", "libaio", "sync", NULL };
static const char *const sync_choices[] = { "none", "dsync", "sync", NULL };
static const char *const arrival_choices[] = { "linear", "poisson", NULL };
static const char *const data_choices[] = { "random", "zero", "pattern", NULL };

static int parse_rw(void *member, const char *value, struct err *err)
{
	if (strcmp(value, "rw") == 0) {
		*(uint32_t *)member = RW_READWRITE;
		return 0;
	}
	if (strcmp(value, "trimwrite") == 0 || strcmp(value, "randtrimwrite") == 0)
		return err_set(err, -EINVAL,
			       "'%s' (each block trimmed, then written) is not supported; a mix of "
			       "trims and writes is rw=randwrite with rwmixtrim",
			       value);
	if (strchr(value, ':'))
		return err_set(err, -EINVAL,
			       "'%s': a number after ':' is not supported; see stride and "
			       "percentage-random",
			       value);
	return -ENOENT;
}

static int parse_engine(void *member, const char *value, struct err *err)
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
static int parse_sync(void *member, const char *value, struct err *err)
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

static int parse_write_share(void *member, const char *value, struct err *err)
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

static int parse_buffered(void *member, const char *value, struct err *err)
{
	bool buffered = false;
	int r = parse_flag(value, &buffered, err);

	if (r == 0)
		*(bool *)member = !buffered;
	return r;
}

static int parse_zero_buffers(void *member, const char *value, struct err *err)
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
static int parse_think(void *member, const char *value, struct err *err)
{
	const size_t digits = strspn(value, "0123456789.");

	(void)member;
	if (digits && !value[digits] && strcmp(value, "0") != 0)
		return err_set(err, -EINVAL, "'%s' has no unit; write %sus, %sms or %ss", value,
			       value, value, value);
	return -ENOENT;
}

/* A pattern is data=pattern as well; the member is the whole workload. */
static int parse_pattern(void *member, const char *value, struct err *err)
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

static void print_pattern(const void *member, struct text *ret)
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

static int parse_split(void *member, const char *value, struct err *err)
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

static void print_split(const void *member, struct text *ret)
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

static int parse_distribution(void *member, const char *value, struct err *err)
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

static void print_distribution(const void *member, struct text *ret)
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
static int parse_cpus(void *member, const char *value, struct err *err)
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

#define AT(member) .offset = offsetof(struct workload, member)
#define BOOL(member) .type = FIELD_BOOL, AT(member)
#define ENUM(member, list) .type = FIELD_ENUM, AT(member), .choices = (list)
#define U32(member, u, low, high) \
	.type = FIELD_U32, .unit = (u), AT(member), .min = (low), .max = (high)
#define U64(member, u, low, high) \
	.type = FIELD_U64, .unit = (u), AT(member), .min = (low), .max = (high)
#define AMOUNT(member, low) \
	.type = FIELD_AMOUNT, .unit = UNIT_BYTES, AT(member), .min = (low), .max = INT64_MAX
#define TEXT(member) \
	.type = FIELD_TEXT, AT(member), .room = sizeof(((struct workload *)NULL)->member)
#define CUSTOM(member, in, out) .type = FIELD_CUSTOM, AT(member), .parse = (in), .print = (out)

/* In the order help and manual show them; a group's rows stand together. */
const struct field workload_fields[] = {
#define GROUP "What"
	{ .name = "name", TEXT(name), .help = "name of the measurement in the result" , .group = GROUP },
	{ .name = "rw", .alias = "readwrite", ENUM(rw, rw_choices), .parse = parse_rw,
	  .preset = "read", .group = GROUP,
	  .help = "what is done: sequential or random reads, writes, trims or a mix" },
	{ .name = "rwmixread", U32(read_ppm, UNIT_PPM, 0, PPM), .preset = "50%", .group = GROUP,
	  .help = "share of reads in a mix (rw=readwrite, randrw)" },
	{ .name = "rwmixwrite", CUSTOM(read_ppm, parse_write_share, NULL), .input_only = true,
	  .metavar = "PERCENT", .group = GROUP,
	  .help = "the same, said as the share of writes" },
	{ .name = "rwmixtrim", U32(trim_ppm, UNIT_PPM, 0, PPM), .preset = "0%", .group = GROUP,
	  .help = "share of trims among what does not read; the rest writes" },
	{ .name = "bs", .alias = "blocksize",
	  U64(block_bytes, UNIT_BYTES, 1, WORKLOAD_BLOCK_MAX_BYTES), .preset = "4k", .group = GROUP,
	  .help = "size of one request" },
	{ .name = "bssplit", CUSTOM(size_mix, parse_split, print_split), .group = GROUP,
	  .metavar = "SIZE/PERCENT:…",
	  .help = "request sizes with their shares, as in 4k/60:64k/40; in place of bs" },
#undef GROUP
#define GROUP "Where"
	{ .name = "offset", .alias = "fileoffset", AMOUNT(offset, 0), .group = GROUP,
	  .help = "start of the range, in bytes or % of the target" },
	{ .name = "size", AMOUNT(size, 1), .group = GROUP,
	  .help = "length of the range, in bytes or % of the target; without it the rest of the "
		  "target" },
	{ .name = "blockalign", .alias = "ba", U64(align_bytes, UNIT_BYTES, 0, INT64_MAX),
	  .group = GROUP,
	  .help = "alignment of starts; without it the larger of 4k and the physical block" },
	{ .name = "norandommap", BOOL(repeat), .preset = "0", .group = GROUP,
	  .help = "random starts may repeat; without it each block is visited once per pass" },
	{ .name = "random-distribution", CUSTOM(distribution, parse_distribution,
						print_distribution),
	  .preset = "random", .group = GROUP, .metavar = "KIND",
	  .help = "random, zipf:THETA, pareto:H, normal:DEVIATION or zoned:ACCESS/RANGE:…" },
	{ .name = "percentage-random", U32(random_ppm, UNIT_PPM, 0, PPM), .preset = "100%",
	  .group = GROUP, .help = "share of random starts in a random workload" },
	{ .name = "stride", U64(stride_bytes, UNIT_BYTES, 0, INT64_MAX), .group = GROUP,
	  .help = "sequential: from start to start; without it the length of the request" },
	{ .name = "backwards", BOOL(backwards), .preset = "0", .group = GROUP,
	  .help = "sequential: from the end to the start" },
	{ .name = "segments", U32(segment_count, UNIT_COUNT, 0, 1000000), .group = GROUP,
	  .help = "pieces the size is cut into, spread evenly over the target" },
#undef GROUP
#define GROUP "How long"
	{ .name = "runtime", .alias = "timeout", U64(runtime_ns, UNIT_NS, 0, DAYS_NS(366)),
	  .group = GROUP,
	  .help = "time measured; 0 is one pass over the range; 30s when neither this nor io-size "
		  "is given" },
	{ .name = "for", U64(runtime_ns, UNIT_NS, 0, DAYS_NS(366)), .input_only = true,
	  .group = GROUP, .help = "the same as runtime" },
	{ .name = "ramp-time", U64(ramp_ns, UNIT_NS, 0, DAYS_NS(366)), .group = GROUP,
	  .help = "time before measuring starts; counts against nothing" },
	{ .name = "io-size", .alias = "io-limit", U64(io_size_bytes, UNIT_BYTES, 0, INT64_MAX),
	  .group = GROUP, .help = "end after so many bytes of all jobs together" },
#undef GROUP
#define GROUP "How"
	{ .name = "ioengine", ENUM(engine, engine_choices), .parse = parse_engine, .preset = "auto",
	  .group = GROUP, .help = "how requests reach the kernel; auto is io_uring where there is one" },
	{ .name = "iodepth", .alias = "qd", U32(depth_count, UNIT_COUNT, 1, 65536), .preset = "1",
	  .group = GROUP, .help = "requests each job keeps in flight" },
	{ .name = "iodepth-batch", .alias = "iodepth-batch-submit",
	  U32(batch_count, UNIT_COUNT, 0, 65536), .group = GROUP,
	  .help = "most requests submitted at once; without it 16, more where they complete at once" },
	{ .name = "iodepth-batch-complete-min", .alias = "iodepth-batch-complete",
	  U32(wait_count, UNIT_COUNT, 0, 65536), .group = GROUP,
	  .help = "completions waited for at once; without it a quarter of the depth, at most 8" },
	{ .name = "numjobs", U32(job_count, UNIT_COUNT, 1, 1024), .preset = "1", .group = GROUP,
	  .help = "workers that do the same, each with its own seed" },
	{ .name = "direct", BOOL(direct), .preset = "1", .group = GROUP,
	  .help = "bypass the page cache" },
	{ .name = "buffered", BOOL(direct), .parse = parse_buffered, .input_only = true,
	  .group = GROUP, .help = "the opposite of direct" },
	{ .name = "noatime", BOOL(noatime), .preset = "1", .group = GROUP,
	  .help = "do not touch access times (O_NOATIME)" },
	{ .name = "sync", ENUM(sync, sync_choices), .parse = parse_sync, .preset = "none",
	  .group = GROUP, .help = "open with O_DSYNC or O_SYNC" },
	{ .name = "fsync", U32(fsync_count, UNIT_COUNT, 0, UINT32_MAX), .group = GROUP,
	  .help = "fsync after so many writes; with 1 a write is done when its fsync is" },
	{ .name = "fdatasync", U32(fdatasync_count, UNIT_COUNT, 0, UINT32_MAX), .group = GROUP,
	  .help = "fdatasync after so many writes; with 1 a write is done when its fdatasync is" },
	{ .name = "cpus-allowed", TEXT(cpus), .parse = parse_cpus, .metavar = "LIST", .group = GROUP,
	  .help = "CPUs the workers are pinned to, as in 0-1,3" },
#undef GROUP
#define GROUP "When"
	{ .name = "rate-iops", U64(rate_iops, UNIT_COUNT, 0, 1000000000), .group = GROUP,
	  .help = "requests per second of each job, started on schedule (open loop); latency counts "
		  "from the intended start" },
	{ .name = "rate-process", ENUM(arrival, arrival_choices), .preset = "linear", .group = GROUP,
	  .help = "gaps between requests at rate-iops: equal or exponential" },
	{ .name = "burst", U32(burst_count, UNIT_COUNT, 0, 65536), .group = GROUP,
	  .help = "requests that arrive together at rate-iops" },
	{ .name = "thinktime", U64(think_ns, UNIT_NS, 0, DAYS_NS(1)), .parse = parse_think,
	  .group = GROUP, .help = "pause after thinktime-blocks requests; needs a unit" },
	{ .name = "thinktime-blocks", U32(think_count, UNIT_COUNT, 1, UINT32_MAX), .preset = "1",
	  .group = GROUP, .help = "requests between two pauses" },
#undef GROUP
#define GROUP "Data"
	{ .name = "data", ENUM(data, data_choices), .preset = "random", .group = GROUP,
	  .help = "what is written: incompressible and unique, zeros, or buffer-pattern" },
	{ .name = "buffer-pattern", .type = FIELD_CUSTOM, .offset = 0, .parse = parse_pattern,
	  .print = print_pattern, .metavar = "0xHEX|TEXT", .group = GROUP,
	  .help = "write this over and over (sets data=pattern)" },
	{ .name = "zero-buffers", BOOL(data), .parse = parse_zero_buffers, .input_only = true,
	  .group = GROUP, .help = "the same as data=zero" },
	{ .name = "buffer-compress-percentage", U32(compress_ppm, UNIT_PPM, 0, PPM), .preset = "0%",
	  .group = GROUP, .help = "compressible share of each block" },
	{ .name = "dedupe-percentage", U32(dedupe_ppm, UNIT_PPM, 0, PPM), .preset = "0%",
	  .group = GROUP, .help = "share of blocks that repeat an earlier one" },
	{ .name = "verify", BOOL(verify), .preset = "0", .group = GROUP,
	  .help = "write checksum, offset and generation into each block, check what is read, and read "
		  "back what was written at the end" },
	{ .name = "randseed", U64(seed, UNIT_NONE, 0, UINT64_MAX), .group = GROUP,
	  .help = "seed of all that is random; 0 is a new one each run, kept in the result" },
#undef GROUP
	{ .name = "filter", TEXT(filter), .metavar = "SPEC", .group = "Filters",
	  .help = "put delays or errors over the target, as in delay:read=1ms" },
	{ .name = NULL },
};

void workload_init(struct workload *workload)
{
	memset(workload, 0, sizeof(*workload));
	fields_preset(workload_fields, workload);
}

static bool was_seen(uint64_t seen, const char *name)
{
	return seen >> (field_find(workload_fields, name) - workload_fields) & 1;
}

void workload_settle(struct workload *workload, uint64_t seen)
{
	if (!was_seen(seen, "runtime") && !was_seen(seen, "for") && !was_seen(seen, "io-size"))
		workload->runtime_ns = 30 * SECOND_NS;
}

static bool is_mix(const struct workload *w)
{
	return w->rw == RW_READWRITE || w->rw == RW_RANDRW;
}

static bool is_trim(const struct workload *w)
{
	return w->rw == RW_TRIM || w->rw == RW_RANDTRIM;
}

bool workload_reads(const struct workload *workload)
{
	return workload->rw == RW_READ || workload->rw == RW_RANDREAD ||
	       (is_mix(workload) && workload->read_ppm > 0);
}

bool workload_writes(const struct workload *workload)
{
	if (is_mix(workload))
		return workload->read_ppm < PPM;
	return workload->rw != RW_READ && workload->rw != RW_RANDREAD;
}

bool workload_trims(const struct workload *workload)
{
	return is_trim(workload) || (workload_writes(workload) && workload->trim_ppm > 0);
}

bool workload_is_random(const struct workload *workload)
{
	switch (workload->rw) {
	case RW_RANDREAD:
	case RW_RANDWRITE:
	case RW_RANDTRIM:
	case RW_RANDRW:
		return true;
	default:
		return false;
	}
}

/* Something is written as data, not only trimmed. */
static bool stores(const struct workload *w)
{
	return workload_writes(w) && !is_trim(w) && w->trim_ppm < PPM;
}

static int check_sizes(const struct workload *w, struct err *err)
{
	const uint32_t count = w->size_mix.count ? w->size_mix.count : 1;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t bytes = w->size_mix.count ? w->size_mix.sizes[i].bytes : w->block_bytes;
		const char *name = w->size_mix.count ? "bssplit" : "bs";
		char text[UNITS_TEXT_BYTES];

		units_format_bytes(bytes, text);
		if (w->direct && bytes % 512)
			return err_set(err, -EINVAL,
				       "%s=%s is not a multiple of 512, which direct I/O needs; write "
				       "a multiple or direct=0",
				       name, text);
		if (w->verify && bytes % 512)
			return err_set(err, -EINVAL, "verify needs %s in multiples of 512, not %s",
				       name, text);
		if (w->size.bytes && bytes > w->size.bytes)
			return err_set(err, -EINVAL, "%s=%s is larger than size", name, text);
	}
	if (w->size_mix.count && w->block_bytes != 4096)
		return err_set(err, -EINVAL, "bs and bssplit exclude each other");
	if (w->direct && w->align_bytes % 512)
		return err_set(err, -EINVAL, "blockalign=%llu is not a multiple of 512, which direct "
					     "I/O needs",
			       (unsigned long long)w->align_bytes);
	if (w->direct && w->offset.bytes % 512)
		return err_set(err, -EINVAL, "offset=%llu is not a multiple of 512, which direct I/O "
					     "needs",
			       (unsigned long long)w->offset.bytes);
	return 0;
}

static int check_addresses(const struct workload *w, struct err *err)
{
	const bool random = workload_is_random(w);

	if (!random && w->distribution.kind != DISTRIBUTION_UNIFORM)
		return err_set(err, -EINVAL, "random-distribution needs a random rw, not rw=%s",
			       rw_choices[w->rw]);
	if (!random && w->repeat)
		return err_set(err, -EINVAL, "norandommap needs a random rw, not rw=%s",
			       rw_choices[w->rw]);
	if (!random && w->random_ppm != PPM)
		return err_set(err, -EINVAL, "percentage-random needs a random rw, not rw=%s",
			       rw_choices[w->rw]);
	if (random && w->stride_bytes)
		return err_set(err, -EINVAL, "stride needs a sequential rw, not rw=%s",
			       rw_choices[w->rw]);
	if (random && w->backwards)
		return err_set(err, -EINVAL, "backwards needs a sequential rw, not rw=%s",
			       rw_choices[w->rw]);
	if (w->direct && w->stride_bytes % 512)
		return err_set(err, -EINVAL, "stride=%llu is not a multiple of 512, which direct I/O "
					     "needs",
			       (unsigned long long)w->stride_bytes);
	if (w->backwards && w->size_mix.count > 1)
		return err_set(err, -EINVAL, "backwards takes one request size, not bssplit's %u",
			       w->size_mix.count);
	if (w->segment_count && !w->size.bytes && !w->size.ppm)
		return err_set(err, -EINVAL, "segments needs size, which it cuts into pieces");
	if (w->offset.ppm == PPM)
		return err_set(err, -EINVAL, "offset=100%% leaves nothing of the target");
	if ((uint64_t)w->offset.ppm + w->size.ppm > PPM)
		return err_set(err, -EINVAL, "offset and size together are more than 100 %%");
	return 0;
}

static int check_queue(const struct workload *w, struct err *err)
{
	if (w->batch_count > w->depth_count)
		return err_set(err, -EINVAL, "iodepth-batch=%u is more than iodepth=%u",
			       w->batch_count, w->depth_count);
	if (w->wait_count > w->depth_count)
		return err_set(err, -EINVAL, "iodepth-batch-complete-min=%u is more than iodepth=%u",
			       w->wait_count, w->depth_count);
	if (w->sync != SYNC_NONE && !stores(w))
		return err_set(err, -EINVAL, "sync=%s needs writes, rw=%s has none",
			       sync_choices[w->sync], rw_choices[w->rw]);
	if ((w->fsync_count || w->fdatasync_count) && !stores(w))
		return err_set(err, -EINVAL, "%s needs writes, rw=%s has none",
			       w->fsync_count ? "fsync" : "fdatasync", rw_choices[w->rw]);
	if (w->fsync_count && w->fdatasync_count)
		return err_set(err, -EINVAL, "fsync and fdatasync exclude each other");
	return 0;
}

static int check_time(const struct workload *w, struct err *err)
{
	if (!w->rate_iops && w->arrival != ARRIVAL_FIXED)
		return err_set(err, -EINVAL, "rate-process needs rate-iops");
	if (!w->rate_iops && w->burst_count > 1)
		return err_set(err, -EINVAL, "burst needs rate-iops");
	if (w->rate_iops && w->think_ns)
		return err_set(err, -EINVAL, "thinktime and rate-iops exclude each other: a pause "
					     "would break the schedule");
	if (!w->think_ns && w->think_count > 1)
		return err_set(err, -EINVAL, "thinktime-blocks needs thinktime");
	return 0;
}

static int check_data(const struct workload *w, struct err *err)
{
	if (w->trim_ppm && (is_trim(w) || !workload_writes(w)))
		return err_set(err, -EINVAL, "rwmixtrim needs writes to share with, rw=%s has none",
			       rw_choices[w->rw]);
	if (w->data == DATA_PATTERN && !*w->pattern)
		return err_set(err, -EINVAL, "data=pattern needs buffer-pattern");
	if (*w->pattern && w->data != DATA_PATTERN)
		return err_set(err, -EINVAL, "buffer-pattern needs data=pattern, not data=%s",
			       data_choices[w->data]);
	if (w->data != DATA_RANDOM && (w->compress_ppm || w->dedupe_ppm))
		return err_set(err, -EINVAL, "%s needs data=random, not data=%s",
			       w->compress_ppm ? "buffer-compress-percentage" : "dedupe-percentage",
			       data_choices[w->data]);
	if (w->verify && w->data != DATA_RANDOM)
		return err_set(err, -EINVAL, "verify needs data=random, not data=%s: its header makes "
					     "each block differ",
			       data_choices[w->data]);
	if (w->verify && w->dedupe_ppm)
		return err_set(err, -EINVAL, "verify and dedupe-percentage exclude each other: each "
					     "verified block is unique");
	if (w->verify && !workload_writes(w) && !w->seed)
		return err_set(err, -EINVAL, "verify of reads alone needs the randseed of the run that "
					     "wrote");
	if (w->verify && is_trim(w))
		return err_set(err, -EINVAL, "verify needs reads or writes, rw=%s has none",
			       rw_choices[w->rw]);
	return 0;
}

int workload_check(const struct workload *workload, struct err *err)
{
	int (*const checks[])(const struct workload *, struct err *) = {
		check_sizes, check_addresses, check_queue, check_time, check_data,
	};

	for (size_t i = 0; i < ARRAY_COUNT(checks); i++) {
		const int r = checks[i](workload, err);

		if (r < 0)
			return r;
	}
	return 0;
}
