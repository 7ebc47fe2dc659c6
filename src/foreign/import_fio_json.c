/* SPDX-License-Identifier: MIT */
/*
 * fio's JSON. 2.x has latencies in microseconds below "lat", 3.x in nanoseconds below "lat_ns";
 * "bw" is KiB/s in both, and "io_bytes" counted KiB until 3.0. The key's name decides where it
 * can, the version where it must.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defer.h"
#include "base/units.h"
#include "foreign/import_json.h"
#include "foreign/import_parts.h"

struct reader {
	struct imported *ret;
	const struct json_node *root;
	uint32_t major;			/* of fio; 0 = not told */
};

/* A job of one report, with what its options say of all its directions. */
struct job {
	const struct json_node *node;
	const char *name, *host;
};

static const char *const directions[IMPORTED_OPS] = { "read", "write", "trim", "sync", "mixed" };

struct span import_json_start(struct span text)
{
	for (const char *brace; text.length && (brace = memchr(text.at, '{', text.length));) {
		const struct span from = { brace, text.length - (size_t)(brace - text.at) };
		size_t blanks = 1;

		while (blanks < from.length && isspace((unsigned char)brace[blanks]))
			blanks++;
		if (blanks < from.length && (brace[blanks] == '"' || brace[blanks] == '}'))
			return from;
		text = (struct span){ brace + 1, from.length - 1 };
	}
	return (struct span){ text.at, 0 };
}

/* The latency below key_ns or, in microseconds, below key; *ret_unit_ns is 0 without. */
static const struct json_node *find_latency(const struct json_node *direction, const char *key,
					    double *ret_unit_ns)
{
	char key_ns[16];
	const struct json_node *node;

	snprintf(key_ns, sizeof(key_ns), "%s_ns", key);
	node = json_node_find(direction, key_ns);
	*ret_unit_ns = node ? 1 : (double)MICROSECOND_NS;
	return node ? node : json_node_find(direction, key);
}

/* Old versions fill unused places with "0.00" : 0, and have all at 0 without any I/O. */
static void take_percentiles(const struct json_node *latency, enum imported_span span,
			     double unit_ns, struct imported_latency *ret)
{
	const struct json_node *list = json_node_find(latency, "percentile");

	if (!list || list->kind != JSON_NODE_OBJECT || ret->percentile_count)
		return;
	for (const struct json_node *p = list->first; p; p = p->next) {
		char *end;
		const double percent = strtod(p->key, &end);

		if (*end || end == p->key || !(percent > 0 && percent <= 100) ||
		    p->kind != JSON_NODE_NUMBER || isnan(p->number))
			continue;
		ret->percentile_span = span;
		imported_add_percentile(ret, percent, p->number * unit_ns);
	}
}

static void take_latency(const struct json_node *direction, struct imported_latency *ret)
{
	static const struct {
		const char *key;
		enum imported_span span;
	} kinds[] = { { "lat", IMPORTED_TOTAL }, { "clat", IMPORTED_COMPLETION } };

	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		double unit_ns;
		const struct json_node *node = find_latency(direction, kinds[i].key, &unit_ns);
		const double mean = json_node_number(node, "mean");

		if (!node)
			continue;
		/* "N" : 0, or a mean of 0, is a kind that was not kept. */
		if (ret->span == IMPORTED_SPAN_UNKNOWN && mean > 0) {
			ret->span = kinds[i].span;
			ret->min_ns = json_node_number(node, "min") * unit_ns;
			ret->mean_ns = mean * unit_ns;
			ret->max_ns = json_node_number(node, "max") * unit_ns;
			ret->stddev_ns = json_node_number(node, "stddev") * unit_ns;
		}
		if (mean > 0)
			take_percentiles(node, kinds[i].span, unit_ns, ret);
	}
}

/*
 * What "io_bytes" counts. 3.0 made it bytes, and is the first with bw_bytes; where neither tells,
 * its product with the rate does: the two readings are 1024 apart.
 */
static double io_bytes(const struct reader *reader, const struct json_node *direction)
{
	const double told = json_node_number(direction, "io_bytes");
	const double kib_per_s = json_node_number(direction, "bw");
	const double kib = kib_per_s * json_node_number(direction, "runtime") / 1000;

	if (json_node_find(direction, "io_kbytes") || json_node_find(direction, "bw_bytes"))
		return told;
	if (kib > 0 && told > 0) {
		const double ratio = told / kib;	/* whole KiB/s: up to 2 off */

		if (ratio > 256 && ratio < 4096)
			return told;
		return ratio > 0.25 && ratio < 4 ? told * (double)KIB : NAN;
	}
	if (reader->major == 0 && told > 0)
		return NAN;
	return reader->major >= 3 ? told : told * (double)KIB;
}

static void take_figures(const struct reader *reader, const struct json_node *direction,
			 struct imported_row *row)
{
	const double bw_bytes = json_node_number(direction, "bw_bytes");

	row->count = json_node_number(direction, "total_ios");
	row->bytes = io_bytes(reader, direction);
	row->iops = json_node_number(direction, "iops");
	row->duration_ns = json_node_number(direction, "runtime") * (double)MILLISECOND_NS;
	row->bytes_per_s = isnan(bw_bytes) ?
				   json_node_number(direction, "bw") * (double)KIB : bw_bytes;
	take_latency(direction, &row->latency);
}

/* Requests of this kind were made, as far as the file tells. */
static bool has_io(const struct json_node *direction)
{
	static const char *const keys[] = { "total_ios", "io_bytes", "bw", "iops" };

	for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
		if (json_node_number(direction, keys[i]) > 0)
			return true;
	}
	return false;
}

/* The job's own, or else the global section's; the first of several. */
static const struct json_node *find_option(const struct reader *reader, const struct job *job,
					   const char *name)
{
	const struct json_node *own =
		json_node_find(json_node_find(job->node, "job options"), name);

	return own ? own : json_node_find(json_node_find(reader->root, "global options"), name);
}

static const char *option_text(const struct reader *reader, const struct job *job, const char *name)
{
	const struct json_node *option = find_option(reader, job, name);

	return option && option->kind == JSON_NODE_TEXT ? option->text : "";
}

/* "16k", as fio counts: k is 1024. One size for all directions, or NaN. */
static double block_bytes(const char *option)
{
	static const char suffixes[] = "kmgtp";
	const size_t digits = strspn(option, "0123456789");
	double bytes = span_number((struct span){ option, digits });
	const char *suffix;

	if (!option[digits])
		return bytes;
	suffix = strchr(suffixes, tolower((unsigned char)option[digits]));
	if (!suffix || (option[digits + 1] && strcasecmp(option + digits + 1, "ib") != 0))
		return NAN;
	for (const char *s = suffixes; s <= suffix; s++)
		bytes *= (double)KIB;
	return bytes;
}

static void take_options(const struct reader *reader, const struct job *job,
			 struct imported_row *row)
{
	const char *bs = option_text(reader, job, "bs");
	const char *depth = option_text(reader, job, "iodepth");

	if (row->op != IMPORTED_SYNC)
		row->block_bytes = block_bytes(*bs ? bs : option_text(reader, job, "blocksize"));
	row->depth_count = span_number((struct span){ depth, strlen(depth) });
	for (const struct json_node *file = find_option(reader, job, "filename"); file;
	     file = json_node_again(file)) {
		if (file->kind == JSON_NODE_TEXT)
			imported_row_add_file(row, file->text);
	}
}

static void take_direction(const struct reader *reader, const struct job *job, enum imported_op op)
{
	const struct json_node *direction = json_node_find(job->node, directions[op]);
	struct imported_row *row;

	if (!has_io(direction))
		return;
	row = imported_add_row(reader->ret, job->name, op);
	if (job->host && *job->host)
		row->part = imported_copy(job->host, strlen(job->host));
	take_figures(reader, direction, row);
	take_options(reader, job, row);
	row->error_count = json_node_number(job->node, "total_err");
}

static const char *name_of(const struct json_node *job, size_t index, char *room, size_t room_bytes)
{
	const char *name = json_node_text(job, "jobname");

	snprintf(room, room_bytes, "job %zu", index + 1);
	return name ? name : room;
}

static int take_job(const struct reader *reader, const struct json_node *node, size_t index,
		    struct err *err)
{
	char number[32];
	const struct job job = {
		.node = node,
		.name = name_of(node, index, number, sizeof(number)),
		.host = json_node_text(node, "hostname"),
	};
	const size_t rows_before = reader->ret->row_count;
	const double error = json_node_number(node, "error");

	if (node->kind != JSON_NODE_OBJECT)
		return err_set(err, -EINVAL, "fio JSON: job %zu is no object", index + 1);
	for (int op = 0; op < IMPORTED_OPS; op++)
		take_direction(reader, &job, (enum imported_op)op);
	if (error > 0)
		imported_note(reader->ret, "%s ended with an error: %s", job.name,
			      strerror((int)fmin(error, 4095)));
	else if (reader->ret->row_count == rows_before)
		imported_note(reader->ret, "%s did no I/O", job.name);
	return 0;
}

static uint32_t major_of(const char *version)
{
	const double number = version && strncmp(version, "fio-", 4) == 0 ?
		span_number((struct span){ version + 4, strspn(version + 4, "0123456789") }) : NAN;

	return number > 0 && number < 1000 ? (uint32_t)number : 0;
}

static int take_report(struct reader *reader, const struct json_node *root, struct err *err)
{
	const char *version = json_node_text(root, "fio version");
	const struct json_node *schema = json_node_find(root, "schema");
	const struct json_node *jobs = json_node_find(root, "jobs");
	size_t index = 0;
	int r = 0;

	if (!jobs)
		jobs = json_node_find(root, "client_stats");
	if (schema && schema->text && strncmp(schema->text, "tare.", 5) == 0)
		return err_set(err, -EINVAL, "%.40s is tare's own: there is nothing to import",
			       schema->text);
	if (!jobs || jobs->kind != JSON_NODE_ARRAY)
		return err_set(err, -EINVAL, "JSON, but not fio's: it has neither \"jobs\" nor "
					     "\"client_stats\"");
	if (version)
		imported_set_version(reader->ret, version, strlen(version));
	reader->root = root;
	reader->major = major_of(version);
	reader->ret->report_count++;
	for (const struct json_node *job = jobs->first; r == 0 && job; job = job->next)
		r = take_job(reader, job, index++, err);
	return r;
}

static size_t lines_between(const char *from, const char *to)
{
	size_t lines = 0;

	for (; from < to; from++)
		lines += *from == '\n';
	return lines;
}

int import_fio_json(struct imported *ret, struct span text, struct err *err)
{
	struct reader reader = { .ret = ret };
	size_t line = 1;
	const char *counted = text.at;

	ret->tool = "fio";
	ret->format = "json";
	for (text = import_json_start(text); text.length; text = import_json_start(text)) {
		struct json_node *root;
		size_t length;
		int r;

		line += lines_between(counted, text.at);
		counted = text.at;
		r = json_node_parse(&root, text.at, text.length, line, &length, err);
		if (r < 0)
			return r;
		r = take_report(&reader, root, err);
		json_node_free(root);
		if (r < 0)
			return r;
		text = (struct span){ text.at + length, text.length - length };
	}
	if (ret->report_count > 1)
		imported_note(ret, "%u reports in a row: if --status-interval made them, each counts "
				   "from the start of the run, and the last is the whole",
			      ret->report_count);
	return 0;
}
