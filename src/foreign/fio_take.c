/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/text.h"
#include "base/units.h"
#include "foreign/fio_parse.h"
#include "model/trace.h"
#include "model/workload_values.h"

static char *copy_of(const char *text)
{
	char *ret = strdup(text);

	if (!ret)
		abort();
	return ret;
}

/* "a-b" or "a:b", in either order; one value alone is both ends. */
static int split_range(char *copy, const char **ret_low, const char **ret_high)
{
	char *mark = strpbrk(copy, "-:");

	*ret_low = *ret_high = copy;
	if (!mark)
		return 0;
	*mark = '\0';
	*ret_high = mark + 1;
	return 1;
}

static void order(uint64_t *low, uint64_t *high)
{
	if (*low > *high) {
		const uint64_t held = *low;

		*low = *high;
		*high = held;
	}
}

static int take_range(const struct fio_setting *s, const char *text, uint64_t *low, uint64_t *high)
{
	DEFER(defer_free) char *copy = copy_of(text);
	const char *first, *second;
	int r;

	split_range(copy, &first, &second);
	r = fio_take_bytes(s, first, low);
	if (r == 0)
		r = fio_take_bytes(s, second, high);
	if (r == 0)
		order(low, high);
	return r;
}

int fio_take_filesize(struct fio_setting *s)
{
	uint64_t low, high;
	int r = take_range(s, s->value, &low, &high);

	if (r < 0)
		return r;
	if (low != high)
		return err_set(s->err, -EOPNOTSUPP,
			       "files of different sizes are not supported; give one size");
	s->options->filesize[0] = s->options->filesize[1] = low;
	return 0;
}

int fio_take_startdelay(struct fio_setting *s)
{
	DEFER(defer_free) char *copy = copy_of(s->value);
	uint64_t *delays = s->options->startdelay_ns;
	const char *first, *second;
	uint64_t low, high;
	int r;

	split_range(copy, &first, &second);
	r = fio_parse_time_ns(first, SECOND_NS, &low, s->err);
	if (r == 0)
		r = fio_parse_time_ns(second, SECOND_NS, &high, s->err);
	if (r < 0)
		return r;
	order(&low, &high);
	delays[0] = low;
	delays[1] = high;
	return 0;
}

int fio_take_file_service(struct fio_setting *s)
{
	static const char *const kinds[] = { "roundrobin", "random", "sequential" };
	const size_t length = strcspn(s->value, ":");
	uint64_t count = 1;
	int r;

	for (uint32_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		if (strlen(kinds[i]) != length || strncmp(s->value, kinds[i], length) != 0)
			continue;
		if (s->value[length]) {
			r = fio_take_bytes(s, s->value + length + 1, &count);
			if (r < 0)
				return r;
		}
		if (!count)
			return err_set(s->err, -EINVAL, "'%.64s': at least one request", s->value);
		s->options->file_service = i;
		s->options->file_service_count = count;
		return 0;
	}
	return err_set(
		s->err, -EOPNOTSUPP,
		"'%.64s' is not supported; there are roundrobin, random and sequential, each with "
		":N requests before the next file",
		s->value);
}

static const struct {
	const char *name;
	enum workload_rw rw;
	bool trimwrite;
} rw_words[] = {
	{ "read", RW_READ, false },
	{ "write", RW_WRITE, false },
	{ "trim", RW_TRIM, false },
	{ "randread", RW_RANDREAD, false },
	{ "randwrite", RW_RANDWRITE, false },
	{ "randtrim", RW_RANDTRIM, false },
	{ "rw", RW_READWRITE, false },
	{ "readwrite", RW_READWRITE, false },
	{ "randrw", RW_RANDRW, false },
	{ "trimwrite", RW_WRITE, true },
	{ "randtrimwrite", RW_RANDWRITE, true },
};

/* Behind the colon: bytes to skip, which may be negative, or requests until the next jump. */
static int take_rw_number(struct fio_setting *s, const char *text, int64_t *ret)
{
	const bool negative = *text == '-';
	uint64_t number;
	int r = fio_take_bytes(s, text + negative, &number);

	if (r == 0)
		*ret = negative ? -(int64_t)number : (int64_t)number;
	return r;
}

int fio_take_rw(struct fio_setting *s)
{
	const size_t length = strcspn(s->value, ":");
	int64_t number = 0;

	for (size_t i = 0; i < ARRAY_COUNT(rw_words); i++) {
		if (strlen(rw_words[i].name) != length ||
		    strncmp(s->value, rw_words[i].name, length) != 0)
			continue;
		if (s->value[length] && take_rw_number(s, s->value + length + 1, &number) < 0)
			return -EINVAL;
		s->options->rw = rw_words[i].rw;
		s->options->trimwrite = rw_words[i].trimwrite;
		s->options->rw_number = number;
		return 0;
	}
	return err_set(
		s->err, -EINVAL,
		"'%.64s' is not one of read, write, trim, randread, randwrite, randtrim, rw, "
		"readwrite, randrw, trimwrite, randtrimwrite",
		s->value);
}

static int check_block(const struct fio_setting *s, uint64_t bytes)
{
	if (bytes == 0 || bytes > WORKLOAD_BLOCK_MAX_BYTES)
		return err_set(s->err, -ERANGE, "'%.64s': a block is from 1 byte to 1g", s->value);
	return 0;
}

int fio_take_bs(struct fio_setting *s)
{
	uint64_t bytes[FIO_DIRECTIONS] = { 4096, 4096, 4096 };
	int r = fio_take_bytes3(s, bytes);

	for (int d = 0; r == 0 && d < FIO_DIRECTIONS; d++)
		r = check_block(s, bytes[d]);
	for (int d = 0; r == 0 && d < FIO_DIRECTIONS; d++)
		s->options->sizes[d].bytes = bytes[d];
	return r;
}

int fio_take_bsrange(struct fio_setting *s)
{
	DEFER(defer_free) char *copy = copy_of(s->value);
	struct fio_sizes *sizes = s->options->sizes;
	const char *parts[FIO_DIRECTIONS];
	const uint32_t count = fio_split_directions(copy, parts);

	if (!count)
		return err_set(s->err, -EINVAL,
			       "'%.64s' has more than three parts: read, write, trim", s->value);
	for (uint32_t d = 0; d < FIO_DIRECTIONS; d++) {
		const char *part = parts[d < count ? d : count - 1];
		uint64_t low, high;
		int r;

		if (!*part)
			continue;
		r = take_range(s, part, &low, &high);
		if (r == 0)
			r = check_block(s, low);
		if (r == 0)
			r = check_block(s, high);
		if (r < 0)
			return r;
		sizes[d].low_bytes = low;
		sizes[d].high_bytes = high;
	}
	return 0;
}

/* "4k/60:64k/40"; blanks share what is left, equally. */
static int take_split(const struct fio_setting *s, char *text, struct size_mix *ret)
{
	struct size_mix mix = { 0 };
	uint64_t percents = 0, shares[WORKLOAD_SIZES];
	uint32_t blanks = 0;
	char *part;

	while ((part = strsep(&text, ":"))) {
		char *share = strchr(part, '/');

		if (mix.count == WORKLOAD_SIZES)
			return err_set(s->err, -ERANGE, "more than %d sizes", WORKLOAD_SIZES);
		if (share)
			*share++ = '\0';
		if (fio_take_bytes(s, part, &mix.sizes[mix.count].bytes) < 0 ||
		    check_block(s, mix.sizes[mix.count].bytes) < 0)
			return -EINVAL;
		shares[mix.count] = UINT64_MAX;
		if (share && *share && fio_take_bytes(s, share, &shares[mix.count]) < 0)
			return -EINVAL;
		if (share && *share && shares[mix.count] > 100)
			return err_set(s->err, -ERANGE, "'%.32s' is more than 100 percent", share);
		if (shares[mix.count] == UINT64_MAX)
			blanks++;
		else
			percents += shares[mix.count];
		mix.count++;
	}
	if (percents > 100 || (!blanks && percents < 100))
		return err_set(s->err, -EINVAL, "'%.64s': the shares add up to %llu %%, not 100 %%",
			       s->value, (unsigned long long)percents);
	for (uint32_t i = 0, left = blanks, rest = (uint32_t)(100 - percents) * 10000;
	     i < mix.count; i++) {
		if (shares[i] != UINT64_MAX) {
			mix.sizes[i].ppm = (uint32_t)shares[i] * 10000;
			continue;
		}
		mix.sizes[i].ppm = rest / left--;
		rest -= mix.sizes[i].ppm;
	}
	*ret = (struct size_mix){ 0 };
	for (uint32_t i = 0; i < mix.count; i++)
		if (mix.sizes[i].ppm)
			ret->sizes[ret->count++] = mix.sizes[i];
	return 0;
}

int fio_take_bssplit(struct fio_setting *s)
{
	DEFER(defer_free) char *copy = copy_of(s->value);
	char *rest = copy, *part;
	struct size_mix mixes[FIO_DIRECTIONS] = { 0 };
	uint32_t count = 0;

	while ((part = strsep(&rest, ","))) {
		if (count == FIO_DIRECTIONS)
			return err_set(s->err, -EINVAL,
				       "'%.64s' has more than three parts: read, write, trim",
				       s->value);
		if (*part && take_split(s, part, &mixes[count]) < 0)
			return -EINVAL;
		count++;
	}
	for (uint32_t d = 0; d < FIO_DIRECTIONS; d++)
		s->options->sizes[d].split = mixes[d < count ? d : count - 1];
	return 0;
}

int fio_take_rwmixwrite(struct fio_setting *s)
{
	uint64_t percent;
	int r = fio_take_bytes(s, s->value, &percent);

	if (r == 0 && percent > 100)
		r = err_set(s->err, -ERANGE, "%.64s is not from 0 to 100 percent", s->value);
	if (r == 0)
		s->options->rwmixread = 100 - percent;
	return r;
}

/* What of "zipf:1.2:0.5" and of lists for each direction the workload has no word for. */
static int refuse_distribution(const struct fio_setting *s)
{
	const char *colon = strchr(s->value, ':');

	if (strchr(s->value, ','))
		return err_set(s->err, -EOPNOTSUPP,
			       "'%.64s': one distribution for reads, writes and trims alike",
			       s->value);
	if (strncmp(s->value, "zoned_abs", 9) == 0)
		return err_set(s->err, -EOPNOTSUPP,
			       "zoned_abs is not supported; write zoned, with shares of the range");
	if (strncmp(s->value, "zoned", 5) != 0 && colon && strchr(colon + 1, ':'))
		return err_set(
			s->err, -EOPNOTSUPP,
			"'%.64s': the centre cannot be moved; leave out what follows the second "
			"colon",
			s->value);
	return 0;
}

int fio_take_distribution(struct fio_setting *s)
{
	DEFER(defer_free) char *copy = copy_of(s->value);
	int r = refuse_distribution(s);

	if (r < 0)
		return r;
	/* zipf alone is zipf:1.1 to fio, and so on; a distribution here has its parameter. */
	if (strcmp(copy, "zipf") == 0)
		return workload_parse_distribution(&s->options->distribution, "zipf:1.1", s->err);
	if (strcmp(copy, "pareto") == 0)
		return workload_parse_distribution(&s->options->distribution, "pareto:0.2", s->err);
	return workload_parse_distribution(&s->options->distribution, copy, s->err);
}

int fio_take_buffered(struct fio_setting *s)
{
	bool buffered;
	int r = fio_parse_bool(s->value, &buffered, s->err);

	if (r == 0)
		s->options->direct = !buffered;
	return r;
}

int fio_take_sync(struct fio_setting *s)
{
	static const struct {
		const char *name;
		enum workload_sync sync;
	} words[] = {
		{ "none", SYNC_NONE }, { "0", SYNC_NONE },	{ "sync", SYNC_SYNC },
		{ "1", SYNC_SYNC },    { "dsync", SYNC_DSYNC },
	};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		if (strcmp(words[i].name, s->value) == 0) {
			s->options->sync = words[i].sync;
			return 0;
		}
	}
	return err_set(s->err, -EINVAL, "'%.64s' is not one of none, 0, sync, 1, dsync", s->value);
}

int fio_take_flow(struct fio_setting *s)
{
	const bool negative = *s->value == '-';
	uint64_t number;
	int r = fio_take_bytes(s, s->value + negative, &number);

	if (r == 0 && number > 1000)
		return err_set(s->err, -ERANGE, "'%.64s' is not from -1000 to 1000", s->value);
	if (r == 0)
		s->options->flow = negative ? -(int64_t)number : (int64_t)number;
	return r;
}

/* "iops:10%", "bw_slope:0.5", ... */
int fio_take_steadystate(struct fio_setting *s)
{
	static const char *const kinds[] = { "iops",	 "iops_slope", "bw",
					     "bw_slope", "lat",	       "lat_slope" };
	const char *colon = strchr(s->value, ':');
	const size_t length = colon ? (size_t)(colon - s->value) : 0;
	char number[32];
	double limit;

	for (size_t i = 0; colon && i < ARRAY_COUNT(kinds); i++) {
		if (strlen(kinds[i]) != length || strncmp(s->value, kinds[i], length) != 0)
			continue;
		snprintf(number, sizeof(number), "%.*s", (int)strcspn(colon + 1, "%"), colon + 1);
		if (fio_parse_real(number, &limit, s->err) < 0)
			return -EINVAL;
		s->options->steadystate = s->value;
		return 0;
	}
	return err_set(
		s->err, -EINVAL,
		"'%.64s' is not one of iops:LIMIT, iops_slope:LIMIT, bw:LIMIT, bw_slope:LIMIT",
		s->value);
}

/* "read,trim" */
int fio_take_replay_skip(struct fio_setting *s)
{
	static const struct {
		const char *name;
		enum trace_op op;
	} ops[] = { { "read", TRACE_READ }, { "write", TRACE_WRITE },
		    { "trim", TRACE_TRIM }, { "sync", TRACE_FLUSH } };
	uint32_t bits = 0;

	for (const char *at = s->value; *at; at += *at == ',') {
		const size_t length = strcspn(at, ",");
		size_t i = 0;

		while (i < ARRAY_COUNT(ops) && (strlen(ops[i].name) != length ||
						strncmp(ops[i].name, at, length) != 0))
			i++;
		if (i == ARRAY_COUNT(ops))
			return err_set(s->err, -EINVAL,
				       "'%.64s' is not a list of read, write, trim, sync",
				       s->value);
		bits |= 1u << ops[i].op;
		at += length;
	}
	s->options->replay_skip = bits;
	return 0;
}

/* A text in quotes, 0x and digits, a decimal number, or a file in single quotes. */
int fio_take_pattern(struct fio_setting *s)
{
	if (!*s->value)
		return err_set(s->err, -EINVAL, "the pattern is empty");
	if (*s->value == '\'')
		return err_set(
			s->err, -EOPNOTSUPP,
			"a pattern from a file is not supported; write it out as 0x… or \"text\"");
	s->options->buffer_pattern = s->value;
	return 0;
}

int fio_take_verify(struct fio_setting *s)
{
	for (uint32_t i = 0; fio_verify_kinds[i]; i++) {
		if (strcmp(fio_verify_kinds[i], s->value) == 0) {
			s->options->verify = i;
			return 0;
		}
	}
	return err_set(
		s->err, -EINVAL,
		"'%.64s' is no checksum; there are crc32c, crc32, crc16, crc7, crc64, md5, xxhash, "
		"sha1, sha256, sha512, sha3-*, meta, pattern, null",
		s->value);
}

/* "0-3,5" as tare has it; fio also takes ':' and blanks between. */
int fio_take_cpus(struct fio_setting *s)
{
	char cpus[sizeof(s->options->cpus)];
	int r;

	if (strlen(s->value) >= sizeof(cpus))
		return err_set(s->err, -ERANGE, "a list of CPUs of more than %zu characters",
			       sizeof(cpus) - 1);
	strcpy(cpus, s->value);
	for (char *c = cpus; *c; c++)
		if (*c == ':' || *c == ' ')
			*c = ',';
	r = workload_parse_cpus(NULL, cpus, s->err);
	if (r < 0 && r != -ENOENT)
		return r;
	strcpy(s->options->cpus, cpus);
	s->options->cpus_allowed = s->value;
	return 0;
}

int fio_take_cpumask(struct fio_setting *s)
{
	struct text list = TEXT_INIT;
	uint64_t mask;
	int r = fio_parse_bytes(s->value, 1024, &mask, NULL, s->err);

	if (r < 0)
		return r;
	for (uint32_t cpu = 0; cpu < 64; cpu++)
		if (mask >> cpu & 1)
			text_add(&list, "%s%u", list.length ? "," : "", cpu);
	if (!list.length || list.length >= sizeof(s->options->cpus))
		r = err_set(s->err, -ERANGE, "'%.64s': use cpus_allowed", s->value);
	else
		memcpy(s->options->cpus, list.data, list.length + 1);
	s->options->cpus_allowed = s->value;
	text_done(&list);
	return r;
}

int fio_take_numa(struct fio_setting *s)
{
	int r;

	if (strcmp(s->value, "all") == 0)
		return 0;
	/* Nodes are listed like CPUs. */
	r = workload_parse_cpus(NULL, s->value, s->err);
	if (r < 0 && r != -ENOENT)
		return err_set(s->err, -EINVAL, "'%.64s' is not a list of nodes, as in 0-1",
			       s->value);
	s->options->numa_nodes = s->value;
	return 0;
}

/* A prefix, or the job's name. */
int fio_take_log(struct fio_setting *s)
{
	const char **members[] = { &s->options->write_bw_log, &s->options->write_lat_log,
				   &s->options->write_iops_log };
	static const char *const names[] = { "write_bw_log", "write_lat_log", "write_iops_log" };

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (strcmp(names[i], s->row->name) == 0)
			*members[i] = s->value;
	return 0;
}

static int compare_reals(const void *a, const void *b)
{
	const double first = *(const double *)a, second = *(const double *)b;

	return first < second ? -1 : first > second;
}

int fio_take_percentiles(struct fio_setting *s)
{
	DEFER(defer_free) char *copy = copy_of(s->value);
	struct fio_job_options *o = s->options;
	char *rest = copy, *part;
	double values[ARRAY_COUNT(o->percentiles)];
	uint32_t count = 0;

	while ((part = strsep(&rest, ":"))) {
		if (count == ARRAY_COUNT(values))
			return err_set(s->err, -ERANGE, "more than %zu percentiles",
				       ARRAY_COUNT(values));
		if (fio_parse_real(part, &values[count], s->err) < 0)
			return -EINVAL;
		if (values[count] > 100)
			return err_set(s->err, -ERANGE, "'%.32s' is more than 100 percent", part);
		count++;
	}
	qsort(values, count, sizeof(values[0]), compare_reals);
	memcpy(o->percentiles, values, sizeof(values[0]) * count);
	o->percentile_count = count;
	return 0;
}

int fio_take_kb_base(struct fio_setting *s)
{
	if (strcmp(s->value, "1024") != 0 && strcmp(s->value, "1000") != 0)
		return err_set(s->err, -EINVAL, "'%.64s' is neither 1024 nor 1000", s->value);
	s->options->kb_base = s->value[2] == '0' ? 1000 : 1024;
	return 0;
}
