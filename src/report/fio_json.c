/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "report/fio_stat.h"
#include "report/json_tree.h"

/* Which of a latency's parts are printed beside min, max, mean, stddev and N. */
struct detail {
	const struct fio_job *job;
	bool percentiles, bins;
};

static json_t *latency_json(const struct histogram *h, const struct detail *detail)
{
	json_t *ret = json_object(), *percentiles, *bins;
	const double *percents;
	char key[32];
	size_t count;

	json_put_u64(ret, "min", h ? h->min_ns : 0);
	json_put_u64(ret, "max", h ? h->max_ns : 0);
	json_put_real(ret, "mean", h ? histogram_mean_ns(h) : 0);
	json_put_real(ret, "stddev", h ? fio_stddev_ns(h) : 0);
	json_put_u64(ret, "N", h ? h->count : 0);
	if (!h || !detail->percentiles)
		return ret;
	percentiles = json_object();
	count = fio_percentiles(detail->job, &percents);
	for (size_t i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "%f", percents[i]);
		json_put_u64(percentiles, key, fio_percentile_ns(h, percents[i]));
	}
	json_put(ret, "percentile", percentiles);
	if (!detail->bins)
		return ret;
	bins = json_object();
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->buckets[i])
			continue;
		snprintf(key, sizeof(key), "%" PRIu64, fio_bucket_ns(h, i));
		json_put_u64(bins, key, h->buckets[i]);
	}
	json_put(ret, "bins", bins);
	return ret;
}

static void put_samples(json_t *ret, const struct fio_direction *d)
{
	json_put_u64(ret, "bw_min", (uint64_t)d->bw.min);
	json_put_u64(ret, "bw_max", (uint64_t)d->bw.max);
	json_put_real(ret, "bw_agg", d->group_percent);
	json_put_real(ret, "bw_mean", d->bw.mean);
	json_put_real(ret, "bw_dev", fio_samples_stddev(&d->bw));
	json_put_u64(ret, "bw_samples", d->bw.count);
	json_put_u64(ret, "iops_min", (uint64_t)d->iops.min);
	json_put_u64(ret, "iops_max", (uint64_t)d->iops.max);
	json_put_real(ret, "iops_mean", d->iops.mean);
	json_put_real(ret, "iops_stddev", fio_samples_stddev(&d->iops));
	json_put_u64(ret, "iops_samples", d->iops.count);
}

static json_t *direction_json(const struct fio_entry *entry, int direction, bool bins)
{
	const struct fio_direction *d = &entry->directions[direction];
	const struct fio_job *job = entry->job;
	const double bw = fio_per_second(d->bytes, d->runtime_ns);
	const struct detail clat = { job, job->clat_percentiles, bins };
	const struct detail lat = { job, job->lat_percentiles, bins };
	json_t *ret = json_object();

	json_put_u64(ret, "io_bytes", d->bytes);
	json_put_u64(ret, "io_kbytes", d->bytes / KIB);
	json_put_u64(ret, "bw_bytes", (uint64_t)bw);
	json_put_u64(ret, "bw", (uint64_t)(bw / (double)KIB));
	json_put_real(ret, "iops", fio_per_second(d->count, d->runtime_ns));
	json_put_u64(ret, "runtime", fio_ms(d->runtime_ns));
	json_put_u64(ret, "total_ios", d->count);
	json_put_u64(ret, "short_ios", 0);
	json_put_u64(ret, "drop_ios", 0);
	json_put(ret, "slat_ns", latency_json(NULL, &lat));
	json_put(ret, "clat_ns", latency_json(job->clat ? d->clat : NULL, &clat));
	json_put(ret, "lat_ns", latency_json(job->lat ? d->lat : NULL, &lat));
	put_samples(ret, d);
	return ret;
}

static json_t *sync_json(const struct fio_entry *entry, bool bins)
{
	const struct detail detail = { entry->job, true, bins };
	json_t *ret = json_object();

	json_put_u64(ret, "total_ios", entry->sync_count);
	json_put(ret, "lat_ns", latency_json(entry->sync, &detail));
	return ret;
}

static void put_directions(json_t *ret, const struct fio_entry *entry, bool bins)
{
	const uint32_t unified = entry->job->unified;

	if (unified != FIO_UNIFIED_MIXED) {
		for (int d = FIO_READ; d <= FIO_TRIM; d++)
			json_put(ret, fio_direction_names[d], direction_json(entry, d, bins));
		json_put(ret, "sync", sync_json(entry, bins));
	}
	if (unified != FIO_UNIFIED_NONE)
		json_put(ret, fio_direction_names[FIO_MIXED],
			 direction_json(entry, FIO_MIXED, bins));
}

/* By steps that are named as fio names them. */
static json_t *shares_json(const double *shares, const char *const *names)
{
	json_t *ret = json_object();

	for (size_t i = 0; names[i]; i++)
		json_put_real(ret, names[i], shares[i]);
	return ret;
}

static void put_shares(json_t *ret, const struct fio_entry *entry)
{
	static const char *const levels[] = { "1", "2", "4", "8", "16", "32", ">=64", NULL };
	static const char *const batches[] = { "0", "4", "8", "16", "32", "64", ">=64", NULL };
	static const char *const small[] = { "2",   "4",   "10",  "20",  "50",	 "100",
					     "250", "500", "750", "1000", NULL };
	static const char *const large[] = { "2",   "4",   "10",  "20",	  "50",	  "100",    "250",
					     "500", "750", "1000", "2000", ">=2000", NULL };
	double depths[FIO_DEPTH_STEPS], pushes[FIO_DEPTH_STEPS], reaps[FIO_DEPTH_STEPS];
	struct fio_latency_shares shares;

	fio_shares(entry->depth_counts, depths);
	fio_shares(entry->push_counts, pushes);
	fio_shares(entry->reap_counts, reaps);
	fio_latency_shares(entry, &shares);
	json_put(ret, "iodepth_level", shares_json(depths, levels));
	json_put(ret, "iodepth_submit", shares_json(pushes, batches));
	json_put(ret, "iodepth_complete", shares_json(reaps, batches));
	json_put(ret, "latency_ns", shares_json(shares.ns, small));
	json_put(ret, "latency_us", shares_json(shares.us, small));
	json_put(ret, "latency_ms", shares_json(shares.ms, large));
}

static json_t *options_json(const struct fio_options *options)
{
	json_t *ret = json_object();

	/* Repeated options: the last one holds, as in fio; a key is there once. */
	for (size_t i = 0; i < options->count; i++)
		json_put_text(ret, options->items[i].name, options->items[i].value);
	return ret;
}

static void put_preset(json_t *ret, const struct fio_options *global, const char *name,
		       const char *value)
{
	if (!json_object_get(ret, name) && !fio_options_get(global, name))
		json_put_text(ret, name, value);
}

static json_t *job_options_json(const struct fio_entry *entry, const struct fio_labels *labels)
{
	const struct workload *w = &entry->first->workload;
	json_t *ret = options_json(&entry->job->options);
	char number[UNITS_TEXT_BYTES];

	put_preset(ret, &labels->global, "rw", fio_rw_name(w->rw));
	put_preset(ret, &labels->global, "bs", units_format_bytes(w->block_bytes, number));
	snprintf(number, sizeof(number), "%u", w->depth_count);
	put_preset(ret, &labels->global, "iodepth", number);
	put_preset(ret, &labels->global, "numjobs", "1");
	put_preset(ret, &labels->global, "ioengine", fio_engine_name(entry->first->engine));
	put_preset(ret, &labels->global, "direct", w->direct ? "1" : "0");
	if (w->size.bytes)
		put_preset(ret, &labels->global, "size", units_format_bytes(w->size.bytes, number));
	return ret;
}

static void put_cpu(json_t *ret, const struct fio_entry *entry)
{
	json_put_real(ret, "usr_cpu", fio_percent(entry->user_ns, entry->runtime_ns));
	json_put_real(ret, "sys_cpu", fio_percent(entry->system_ns, entry->runtime_ns));
	json_put_u64(ret, "ctx", entry->switch_count);
	json_put_u64(ret, "majf", entry->major_fault_count);
	json_put_u64(ret, "minf", entry->minor_fault_count);
}

/* In microseconds, as fio has times. */
static void put_search(json_t *ret, const struct measurement *m)
{
	const struct workload *w = &m->workload;

	json_put_u64(ret, "latency_depth", m->depth_found ? m->depth_found : w->depth_count);
	json_put_u64(ret, "latency_target", w->latency_target_ns / 1000);
	json_put_real(ret, "latency_percentile", w->latency_target_ns ? w->latency_ppm / 1e4 : 100);
	json_put_u64(ret, "latency_window", w->latency_target_ns ? w->latency_window_ns / 1000 : 0);
}

static json_t *integers_json(const double *values, size_t count)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(ret, json_integer((json_int_t)values[i]));
	return ret;
}

static json_t *steady_json(const struct fio_stat *stat, const struct fio_entry *entry)
{
	json_t *ret = json_object(), *data = json_object();
	struct fio_steady steady;
	char criterion[48];

	fio_steady_init(&steady, stat, entry);
	snprintf(criterion, sizeof(criterion), "%f%s", steady.criterion, steady.percent ? "%" : "");
	json_put_text(ret, "ss", entry->job->steadystate_text);
	json_put_u64(ret, "duration", steady.count);
	json_put_u64(ret, "attained", steady.attained);
	json_put_text(ret, "criterion", criterion);
	json_put_real(ret, "max_deviation", steady.deviation_max);
	json_put_real(ret, "slope", steady.slope);
	json_put_u64(data, "bw_mean", (uint64_t)steady.bw_mean);
	json_put_u64(data, "iops_mean", (uint64_t)steady.iops_mean);
	json_put(data, "iops", integers_json(steady.iops, steady.count));
	json_put(data, "bw", integers_json(steady.bw, steady.count));
	json_put(ret, "data", data);
	fio_steady_done(&steady);
	return ret;
}

static json_t *entry_json(const struct fio_stat *stat, const struct fio_entry *entry, bool bins)
{
	const struct fio_job *job = entry->job;
	json_t *ret = json_object();

	json_put_text(ret, "jobname", job->name);
	json_put_u64(ret, "groupid", job->group_id);
	json_put_u64(ret, "error", (uint64_t)entry->error);
	json_put_u64(ret, "eta", 0);
	json_put_u64(ret, "elapsed", entry->elapsed_ns / SECOND_NS + 1);
	json_put(ret, "job options", job_options_json(entry, stat->report->labels));
	put_directions(ret, entry, bins);
	json_put_u64(ret, "job_runtime", fio_ms(entry->runtime_ns));
	put_cpu(ret, entry);
	put_shares(ret, entry);
	if (job->continue_on_error) {
		json_put_u64(ret, "total_err", entry->error_count);
		json_put_u64(ret, "first_error", (uint64_t)entry->error);
	}
	put_search(ret, entry->first);
	if (job->description)
		json_put_text(ret, "desc", job->description);
	if (job->steadystate_text)
		json_put(ret, "steadystate", steady_json(stat, entry));
	return ret;
}

static json_t *disks_json(const struct fio_stat *stat)
{
	json_t *ret = json_array();

	for (size_t i = 0; i < stat->disk_count; i++) {
		const struct fio_disk *disk = &stat->disks[i];
		json_t *item = json_object();

		json_put_text(item, "name", disk->name);
		json_put_u64(item, "read_ios", disk->read_count);
		json_put_u64(item, "write_ios", disk->write_count);
		json_put_u64(item, "read_merges", disk->read_merge_count);
		json_put_u64(item, "write_merges", disk->write_merge_count);
		json_put_u64(item, "read_ticks", disk->read_ms);
		json_put_u64(item, "write_ticks", disk->write_ms);
		json_put_u64(item, "in_queue", disk->queue_ms);
		json_put_real(item, "util", disk->util_percent);
		json_array_append_new(ret, item);
	}
	return ret;
}

static void put_head(json_t *root, const struct report_fio *report)
{
	const time_t seconds = (time_t)(report->ended_unix_ms / 1000);
	struct text version = TEXT_INIT;
	char clock[26] = "";
	struct tm tm;

	text_add(&version, FIO_VERSION, report->result->version);
	json_put_text(root, "fio version", text_string(&version));
	text_done(&version);
	json_put_u64(root, "timestamp", report->ended_unix_ms / 1000);
	json_put_u64(root, "timestamp_ms", report->ended_unix_ms);
	if (localtime_r(&seconds, &tm) && asctime_r(&tm, clock))
		clock[strcspn(clock, "\n")] = '\0';
	json_put_text(root, "time", clock);
	if (report->labels->global.count)
		json_put(root, "global options", options_json(&report->labels->global));
}

/* What only some read: histograms and seconds make it many times as long. */
static void strip(json_t *value)
{
	const char *key;
	json_t *item;
	size_t index;

	if (json_is_object(value)) {
		json_object_del(value, "seconds");
		json_object_del(value, "histogram");
	}
	json_object_foreach(value, key, item)
		strip(item);
	json_array_foreach(value, index, item)
		strip(item);
}

/* tare's own result, and what the front end had to say. */
static json_t *tare_json(const struct report_fio *report)
{
	json_t *ret = report_result_json(report->result), *notes = json_array();

	strip(ret);
	for (size_t i = 0; i < report->labels->note_count; i++)
		json_array_append_new(notes, json_text(report->labels->notes[i]));
	json_put(ret, "notes", notes);
	return ret;
}

/*
 * fio's layout: one member a line, "key" : value, six digits behind the point. Scripts that
 * cut lines instead of parsing see what they know.
 */
static void write_value(json_t *value, int indent, struct text *ret);

static void write_text(const json_t *value, struct text *ret)
{
	char *quoted = json_dumps(value, JSON_ENCODE_ANY);

	if (!quoted)
		abort();
	text_add(ret, "%s", quoted);
	free(quoted);
}

static void write_object(json_t *value, int indent, struct text *ret)
{
	const char *key, *separator = "";
	json_t *item;

	text_add(ret, "{");
	json_object_foreach(value, key, item) {
		json_t *name = json_text(key);

		text_add(ret, "%s\n%*s", separator, indent + 2, "");
		write_text(name, ret);
		text_add(ret, " : ");
		write_value(item, indent + 2, ret);
		json_decref(name);
		separator = ",";
	}
	text_add(ret, "\n%*s}", indent, "");
}

static void write_array(const json_t *value, int indent, struct text *ret)
{
	const char *separator = "";
	json_t *item;
	size_t index;

	text_add(ret, "[");
	json_array_foreach(value, index, item) {
		text_add(ret, "%s\n%*s", separator, indent + 2, "");
		write_value(item, indent + 2, ret);
		separator = ",";
	}
	text_add(ret, "\n%*s]", indent, "");
}

static void write_value(json_t *value, int indent, struct text *ret)
{
	if (json_is_object(value))
		write_object(value, indent, ret);
	else if (json_is_array(value))
		write_array(value, indent, ret);
	else if (json_is_real(value))
		text_add(ret, "%f", json_real_value(value));
	else
		write_text(value, ret);
}

void report_fio_json(const struct report_fio *report, bool bins, struct text *ret)
{
	json_t *root = json_object(), *jobs = json_array();
	struct fio_stat stat;

	fio_stat_init(&stat, report);
	put_head(root, report);
	for (size_t i = 0; i < stat.entry_count; i++)
		json_array_append_new(jobs, entry_json(&stat, &stat.entries[i], bins));
	json_put(root, "jobs", jobs);
	if (stat.disk_count)
		json_put(root, "disk_util", disks_json(&stat));
	json_put(root, "tare", tare_json(report));
	fio_stat_done(&stat);
	write_value(root, 0, ret);
	text_add(ret, "\n");
	json_decref(root);
}
