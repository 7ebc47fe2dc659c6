/* SPDX-License-Identifier: MIT */
#include "foreign/fio_options.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "foreign/fio_parse.h"

void fio_options_preset(struct fio_job_options *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int d = 0; d < FIO_DIRECTIONS; d++) {
		ret->sizes[d].bytes = 4096;
		ret->percentage_random[d] = 100;
	}
	ret->filename_format = "$jobname.$jobnum.$filenum";
	ret->randrepeat = true;
	ret->ioengine = "psync";
	ret->iodepth = ret->numjobs = ret->loops = ret->nrfiles = 1;
	ret->iodepth_batch = ret->iodepth_complete_min = 1;
	ret->file_service_count = 1;
	ret->fallocate = 1;
	ret->rwmixread = 50;
	ret->thinktime_blocks = 1;
	ret->latency_percentile = 100;
	ret->do_verify = ret->invalidate = true;
	ret->replay_scale = 1;
	ret->replay_time_scale = 100;
	ret->per_job_logs = ret->clat_percentiles = ret->disk_util = true;
	ret->kb_base = 1024;
}

const struct fio_assignment *fio_options_given(const struct fio_job_options *options,
					       const char *name)
{
	const struct fio_row *row = fio_row_find(name);

	assert(row);
	return options->given[row - fio_rows];
}

int fio_take_bytes(const struct fio_setting *s, const char *text, uint64_t *ret)
{
	bool odd;
	int r = fio_parse_bytes(text, s->options->kb_base, ret, &odd, s->err);

	if (r == 0 && odd)
		fio_remark(s->notes, s->place,
			   "%s=%.32s is %llu bytes: to fio, kib counts in thousands and ki in 1024",
			   s->row->name, text, (unsigned long long)*ret);
	return r;
}

int fio_take_bytes3(struct fio_setting *s, uint64_t ret[FIO_DIRECTIONS])
{
	DEFER(defer_free) char *copy = strdup(s->value);
	const char *parts[FIO_DIRECTIONS];
	uint64_t values[FIO_DIRECTIONS];
	uint32_t count;

	if (!copy)
		abort();
	memcpy(values, ret, sizeof(values));
	count = fio_split_directions(copy, parts);
	if (!count)
		return err_set(s->err, -EINVAL,
			       "'%.64s' has more than three parts: read, write, trim", s->value);
	for (uint32_t d = 0; d < FIO_DIRECTIONS; d++) {
		int r;

		if (d >= count && *parts[count - 1]) {
			values[d] = values[count - 1];
			continue;
		}
		if (d >= count || !*parts[d])
			continue;
		r = fio_take_bytes(s, parts[d], &values[d]);
		if (r < 0)
			return r;
	}
	memcpy(ret, values, sizeof(values));
	return 0;
}

static int take_times3(struct fio_setting *s, uint64_t ret[FIO_DIRECTIONS])
{
	DEFER(defer_free) char *copy = strdup(s->value);
	const char *parts[FIO_DIRECTIONS];
	uint32_t count;

	if (!copy)
		abort();
	count = fio_split_directions(copy, parts);
	if (!count)
		return err_set(s->err, -EINVAL,
			       "'%.64s' has more than three parts: read, write, trim", s->value);
	for (uint32_t d = 0; d < FIO_DIRECTIONS; d++) {
		const char *part = parts[d < count ? d : count - 1];

		if (*part && fio_parse_time_ns(part, MICROSECOND_NS, &ret[d], s->err) < 0)
			return -EINVAL;
	}
	return 0;
}

static int take_choice(struct fio_setting *s, uint32_t *ret)
{
	struct text list = TEXT_INIT;

	for (uint32_t i = 0; s->row->choices[i]; i++) {
		if (strcmp(s->row->choices[i], s->value) == 0) {
			*ret = i;
			text_done(&list);
			return 0;
		}
		text_add(&list, "%s%s", i ? ", " : "", s->row->choices[i]);
	}
	err_set(s->err, -EINVAL, "'%.64s' is not one of %s", s->value, text_string(&list));
	text_done(&list);
	return -EINVAL;
}

static int check_limits(const struct fio_setting *s, uint64_t value)
{
	const struct fio_row *row = s->row;

	if (value < row->min || (row->max && value > row->max))
		return err_set(s->err, -ERANGE, "%.64s is not from %llu to %llu", s->value,
			       (unsigned long long)row->min,
			       (unsigned long long)(row->max ? row->max : INT64_MAX));
	return 0;
}

static int take_number(struct fio_setting *s, uint64_t *ret)
{
	uint64_t value;
	int r = fio_take_bytes(s, s->value, &value);

	if (r == 0)
		r = check_limits(s, value);
	if (r == 0)
		*ret = value;
	return r;
}

/* fio writes percentages without their sign. */
static int take_percents(struct fio_setting *s, uint64_t *ret, uint32_t room)
{
	uint64_t values[FIO_DIRECTIONS] = { ret[0] };
	int r;

	if (room == FIO_DIRECTIONS)
		memcpy(values, ret, sizeof(values));
	r = room == 1 ? fio_take_bytes(s, s->value, values) : fio_take_bytes3(s, values);
	for (uint32_t i = 0; r == 0 && i < room; i++)
		if (values[i] > 100)
			r = err_set(s->err, -ERANGE, "%.64s is not from 0 to 100 percent",
				    s->value);
	if (r == 0)
		memcpy(ret, values, room * sizeof(*ret));
	return r;
}

static int take_typed(struct fio_setting *s)
{
	void *member = (char *)s->options + s->row->offset;

	switch (s->row->type) {
	case FIO_TEXT:
		*(const char **)member = s->value;
		return 0;
	case FIO_FLAG:
	case FIO_BOOL:
		return fio_parse_bool(s->value, member, s->err);
	case FIO_INT:
	case FIO_BYTES:
		return take_number(s, member);
	case FIO_BYTES3:
		return fio_take_bytes3(s, member);
	case FIO_TIME_S:
		return fio_parse_time_ns(s->value, SECOND_NS, member, s->err);
	case FIO_TIME_MS:
		return fio_parse_time_ns(s->value, MILLISECOND_NS, member, s->err);
	case FIO_TIME_US:
		return fio_parse_time_ns(s->value, MICROSECOND_NS, member, s->err);
	case FIO_TIME3_US:
		return take_times3(s, member);
	case FIO_PERCENT:
		return take_percents(s, member, 1);
	case FIO_PERCENT3:
		return take_percents(s, member, FIO_DIRECTIONS);
	case FIO_REAL:
		return fio_parse_real(s->value, member, s->err);
	case FIO_AMOUNT:
		return fio_parse_amount(s->value, s->options->kb_base, member, s->err);
	case FIO_CHOICE:
		return take_choice(s, member);
	case FIO_CUSTOM:
		return s->row->parse(s);
	}
	return 0;
}

static bool is_flag(const struct fio_row *row)
{
	return row->type == FIO_FLAG;
}

/* fio has options that stand alone; of those that are only noted, any may. */
static int take_bare(const struct fio_row *row, const char **value, struct err *err)
{
	static const char *const alone[] = { "hipri",	       "fixedbufs",	"registerfiles",
					     "sqthread_poll",  "nonvectored",	"force_async",
					     "listen",	       "pingpong",	"prep",
					     "userspace_reap", "write_bw_log",	"write_lat_log",
					     "write_iops_log", "write_hist_log" };

	*value = is_flag(row) ? "1" : "";
	if (is_flag(row))
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(alone); i++)
		if (strcmp(alone[i], row->name) == 0)
			return 0;
	return err_set(err, -EINVAL, "%s needs a value", row->name);
}

static int set_value(struct fio_setting *s)
{
	const struct fio_row *row = s->row;

	switch (row->class) {
	case FIO_DONE:
	case FIO_NOTED:
		if (row->class == FIO_NOTED && row->type == FIO_TEXT)
			return 0;
		return row->class == FIO_DONE || row->offset
			       ? take_typed(s)
			       : fio_parse_bool(s->value, &(bool){ 0 }, s->err);
	case FIO_REFUSED:
		if (row->neutral && strcmp(row->neutral, s->value) == 0)
			return 0;
		return err_set(s->err, -EOPNOTSUPP, "not supported: %s", row->text);
	case FIO_FOREIGN:
		return err_set(s->err, -EOPNOTSUPP,
			       "an option of ioengine %s, which is no local block engine of tare's",
			       row->text);
	case FIO_COMMAND:
		return err_set(s->err, -EINVAL, "a command-line option, not allowed in a job file");
	}
	return 0;
}

int fio_options_set(struct fio_job_options *options, const struct fio_row *row,
		    const struct fio_assignment *item, struct fio_remarks *notes, struct err *err)
{
	struct place place = item->place;
	struct fio_setting s = { row, options, item->value, notes, &place, err };
	char computed[32];
	uint64_t number;
	int r = 0;

	if (item->value_column)
		place.column = item->value_column;
	if (!item->value)
		r = take_bare(row, &s.value, err);
	if (r == 0 && item->computed && row->type != FIO_TEXT && row->type != FIO_CUSTOM) {
		r = fio_evaluate(item->value, options->kb_base, &number, err);
		snprintf(computed, sizeof(computed), "%llu", (unsigned long long)number);
		s.value = computed;
	}
	if (r == 0)
		r = set_value(&s);
	if (r == 0)
		options->given[row - fio_rows] = item;
	else if (r < 0)
		err_wrap(err, "%s", item->name);
	return r;
}
