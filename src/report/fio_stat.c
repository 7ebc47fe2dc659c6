/* SPDX-License-Identifier: MIT */
#include "report/fio_stat.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"

const char *const fio_direction_names[FIO_DIRECTIONS] = { "read", "write", "trim", "mixed" };
const uint32_t fio_latency_steps[FIO_MS_STEPS - 1] = { 2,   4,	 10,  20,   50,	 100,
						       250, 500, 750, 1000, 2000 };

static const double usual_percentiles[] = { 1,	5,  10, 20, 30, 40,   50,   60,	  70,
					    80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99 };

#define SAMPLE_MIN_NS (SECOND_NS / 2)

uint64_t fio_ms(uint64_t ns)
{
	const uint64_t ms = (ns + MILLISECOND_NS / 2) / MILLISECOND_NS;

	return ms == 0 && ns > 0 ? 1 : ms;
}

double fio_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

double fio_visible(double percent, double least)
{
	return percent > 0 && percent < least ? least : percent;
}

const char *fio_rw_name(uint32_t rw)
{
	static const char *const names[] = { "read",	  "write",    "trim", "randread",
					     "randwrite", "randtrim", "rw",   "randrw",
					     "trimwrite", "randtrimwrite" };

	assert(rw < sizeof(names) / sizeof(names[0]));
	return names[rw];
}

const char *fio_engine_name(const char *engine)
{
	return strcmp(engine, "sync") == 0 ? "psync" : engine;
}

double fio_per_second(uint64_t amount, uint64_t runtime_ns)
{
	return runtime_ns ? (double)amount * (double)SECOND_NS / (double)runtime_ns : 0;
}

double fio_samples_stddev(const struct fio_samples *samples)
{
	return samples->count > 1 ? sqrt(samples->squares / (double)(samples->count - 1)) : 0;
}

static void samples_add(struct fio_samples *s, double value)
{
	const double distance = value - s->mean;

	if (s->count == 0 || value < s->min)
		s->min = value;
	if (s->count == 0 || value > s->max)
		s->max = value;
	s->count++;
	s->mean += distance / (double)s->count;
	s->squares += distance * (value - s->mean);
}

static void samples_merge(struct fio_samples *into, const struct fio_samples *from)
{
	into->min += from->min;
	into->max += from->max;
	into->mean += from->mean;
	into->squares += from->squares;
	into->count += from->count;
}

uint64_t fio_bucket_ns(const struct histogram *h, uint32_t bucket)
{
	const uint64_t ns = histogram_bucket_low_ns(bucket) +
			    (histogram_bucket_width_ns(bucket) - 1) / 2;

	if (ns < h->min_ns)
		return h->min_ns;
	return ns > h->max_ns ? h->max_ns : ns;
}

double fio_stddev_ns(const struct histogram *h)
{
	const double mean = histogram_mean_ns(h);
	double squares = 0;

	if (h->count < 2 || h->min_ns == h->max_ns)
		return 0;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const double distance = h->buckets[i] ? (double)fio_bucket_ns(h, i) - mean : 0;

		squares += distance * distance * (double)h->buckets[i];
	}
	return sqrt(squares / (double)(h->count - 1));
}

size_t fio_percentiles(const struct fio_job *job, const double **ret)
{
	*ret = job->percentile_count ? job->percentiles : usual_percentiles;
	return job->percentile_count ? job->percentile_count :
				       sizeof(usual_percentiles) / sizeof(usual_percentiles[0]);
}

uint64_t fio_percentile_ns(const struct histogram *h, double percent)
{
	const double ppm = round(percent * PPM / 100);

	return histogram_percentile_ns(h, ppm < 0 ? 0 : ppm > PPM ? PPM : (uint32_t)ppm);
}

static void histogram_put(struct histogram **into, const struct histogram *from)
{
	if (!from || !from->count)
		return;
	if (!*into) {
		*into = malloc(sizeof(**into));
		if (!*into)
			abort();
		histogram_init(*into);
	}
	histogram_merge(*into, from);
}

/* The measurement's seconds as samples of one direction. */
static void take_samples(struct fio_direction *d, const struct measurement *m, int direction)
{
	const int first = direction == FIO_MIXED ? FIO_READ : direction;
	const int last = direction == FIO_MIXED ? FIO_TRIM : direction;

	for (size_t i = 0; i < m->second_count; i++) {
		const struct second *s = &m->seconds[i];
		uint64_t count = 0, bytes = 0;

		if (s->length_ns < SAMPLE_MIN_NS)
			continue;
		for (int k = first; k <= last; k++) {
			count += s->ops[k].count;
			bytes += s->ops[k].bytes;
		}
		samples_add(&d->bw, fio_per_second(bytes, s->length_ns) / (double)KIB);
		samples_add(&d->iops, fio_per_second(count, s->length_ns));
	}
}

static void direction_add(struct fio_direction *into, const struct measurement *m, int direction)
{
	const int first = direction == FIO_MIXED ? FIO_READ : direction;
	const int last = direction == FIO_MIXED ? FIO_TRIM : direction;
	struct fio_direction own = { 0 };
	uint64_t count = 0, runtime_ns = m->duration_ns;

	for (int k = first; k <= last; k++) {
		const struct op_result *op = &m->ops[k];

		count += op->count;
		into->bytes += op->bytes;
		into->error_count += op->error_count;
		histogram_put(&into->clat, op->service ? op->service : op->latency);
		histogram_put(&into->lat, op->latency);
	}
	/* What is read back to be verified are reads to fio, each direction's time its own. */
	if (m->readback.count && first == FIO_READ) {
		into->bytes += m->readback.bytes;
		histogram_put(&into->clat, m->readback.latency);
		histogram_put(&into->lat, m->readback.latency);
		runtime_ns = count ? m->duration_ns + m->readback_ns : m->readback_ns;
		count += m->readback.count;
	}
	if (count == 0)
		return;
	into->count += count;
	if (runtime_ns > into->runtime_ns)
		into->runtime_ns = runtime_ns;
	take_samples(&own, m, direction);
	samples_merge(&into->bw, &own.bw);
	samples_merge(&into->iops, &own.iops);
}

/* A sync at the end alone is part of the run time to fio, and none of the job's syncs. */
static void add_syncs(struct fio_entry *entry, const struct measurement *m)
{
	const struct op_result *op = &m->ops[OP_SYNC];

	if (m->workload.end_fsync && !m->workload.fsync_count && !m->workload.fdatasync_count)
		return;
	entry->sync_count += op->count;
	histogram_put(&entry->sync, op->service ? op->service : op->latency);
}

static void entry_add(struct fio_entry *entry, const struct measurement *m)
{
	const uint64_t run_ns = m->duration_ns + m->readback_ns;
	const uint64_t elapsed_ns = run_ns + m->workload.ramp_ns;

	entry->job_count++;
	for (int d = 0; d < FIO_DIRECTIONS; d++)
		direction_add(&entry->directions[d], m, d);
	add_syncs(entry, m);
	entry->runtime_ns += run_ns;
	if (elapsed_ns > entry->elapsed_ns)
		entry->elapsed_ns = elapsed_ns;
	entry->user_ns += m->user_ns;
	entry->system_ns += m->system_ns;
	entry->switch_count += m->voluntary_switch_count + m->involuntary_switch_count;
	entry->major_fault_count += m->major_fault_count;
	entry->minor_fault_count += m->minor_fault_count;
	for (size_t i = 0; i < FIO_DEPTH_STEPS; i++) {
		entry->depth_counts[i] += m->depth_counts[i];
		entry->push_counts[i] += m->push_counts[i];
		entry->reap_counts[i] += m->reap_counts[i];
	}
	for (uint32_t i = 0; i < m->errno_count; i++)
		entry->error_count += m->errnos[i].count;
	if (entry->error == 0 && m->errno_count)
		entry->error = -m->errnos[0].code;
}

/* Where measurement of job goes: the entry of its group, or a new one. */
static struct fio_entry *entry_of(struct fio_stat *stat, const struct fio_job *job)
{
	for (size_t i = 0; job->group_reporting && i < stat->entry_count; i++) {
		struct fio_entry *entry = &stat->entries[i];

		if (entry->job->group_reporting && entry->job->group_id == job->group_id)
			return entry;
	}
	stat->entries[stat->entry_count] = (struct fio_entry){ .job = job };
	return &stat->entries[stat->entry_count++];
}

void fio_stat_group(const struct fio_stat *stat, uint32_t group_id, int direction,
		    struct fio_group *ret)
{
	*ret = (struct fio_group){ 0 };
	for (size_t i = 0; i < stat->entry_count; i++) {
		const struct fio_direction *d = &stat->entries[i].directions[direction];
		const double bw = fio_per_second(d->bytes, d->runtime_ns);

		if (stat->entries[i].job->group_id != group_id || d->count == 0)
			continue;
		if (ret->runtime_max_ns == 0 || d->runtime_ns < ret->runtime_min_ns)
			ret->runtime_min_ns = d->runtime_ns;
		if (ret->runtime_max_ns == 0 || bw < ret->bw_min)
			ret->bw_min = bw;
		if (bw > ret->bw_max)
			ret->bw_max = bw;
		if (d->runtime_ns > ret->runtime_max_ns)
			ret->runtime_max_ns = d->runtime_ns;
		ret->bytes += d->bytes;
	}
}

static void set_group_percents(struct fio_stat *stat)
{
	for (size_t i = 0; i < stat->entry_count; i++) {
		for (int k = 0; k < FIO_DIRECTIONS; k++) {
			struct fio_direction *d = &stat->entries[i].directions[k];
			struct fio_group group;
			double whole;

			fio_stat_group(stat, stat->entries[i].job->group_id, k, &group);
			whole = fio_per_second(group.bytes, group.runtime_max_ns) / (double)KIB;
			if (d->bw.count && whole > 0)
				d->group_percent = fmin(100, d->bw.mean * 100 / whole);
		}
	}
}

static const struct target_info *target_of(const struct result *result,
					   const struct measurement *m)
{
	return m->target_index ? &result->more_targets[m->target_index - 1] : &result->target;
}

static struct fio_disk *disk_of(struct fio_stat *stat, const char *name)
{
	for (size_t i = 0; i < stat->disk_count; i++) {
		if (strcmp(stat->disks[i].name, name) == 0)
			return &stat->disks[i];
	}
	stat->disks[stat->disk_count].name = name;
	return &stat->disks[stat->disk_count++];
}

/* Whether both ran at the same time and on one device. */
static bool saw_the_same(const struct result *result, const struct measurement *a,
			 const struct measurement *b)
{
	return a->group_index == b->group_index &&
	       strcmp(target_of(result, a)->device, target_of(result, b)->device) == 0;
}

/* How long it and what ran together with it took; 0 where an earlier one has told. */
static uint64_t told_ns(const struct result *result, size_t index)
{
	const struct measurement *own = &result->measurements[index];
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *m = &result->measurements[i];

		if (!saw_the_same(result, own, m))
			continue;
		if (i < index)
			return 0;
		if (m->duration_ns + m->workload.ramp_ns > longest_ns)
			longest_ns = m->duration_ns + m->workload.ramp_ns;
	}
	return longest_ns;
}

/*
 * The counters are the device's, so what ran together on one saw the same: the first of a group
 * tells it.
 */
static void add_disks(struct fio_stat *stat)
{
	const struct result *result = stat->report->result;

	stat->disks = calloc(result->measurement_count + 1, sizeof(*stat->disks));
	if (!stat->disks)
		abort();
	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *m = &result->measurements[i];
		const char *name = target_of(result, m)->device;
		const uint64_t took_ns = told_ns(result, i);
		struct fio_disk *disk;

		if (!*name || took_ns == 0)
			continue;
		disk = disk_of(stat, name);
		disk->read_count += m->device_read_count;
		disk->write_count += m->device_write_count;
		disk->read_merge_count += m->device_read_merge_count;
		disk->write_merge_count += m->device_write_merge_count;
		disk->read_ms += m->device_read_ms;
		disk->write_ms += m->device_write_ms;
		disk->queue_ms += m->device_queue_ms;
		disk->busy_ms += m->device_busy_ms;
		disk->elapsed_ns += took_ns;
		disk->util_percent = fmin(100, fio_percent(disk->busy_ms * MILLISECOND_NS,
							   disk->elapsed_ns));
	}
}

void fio_stat_init(struct fio_stat *stat, const struct report_fio *report)
{
	const struct result *result = report->result;

	assert(result->measurement_count <= report->labels->job_count);
	*stat = (struct fio_stat){ .report = report };
	stat->entries = calloc(result->measurement_count + 1, sizeof(*stat->entries));
	if (!stat->entries)
		abort();
	for (size_t i = 0; i < result->measurement_count; i++) {
		struct fio_entry *entry = entry_of(stat, &report->labels->jobs[i]);

		if (!entry->first)
			entry->first = &result->measurements[i];
		entry_add(entry, &result->measurements[i]);
	}
	set_group_percents(stat);
	if (report->labels->disk_util)
		add_disks(stat);
}

void fio_stat_done(struct fio_stat *stat)
{
	for (size_t i = 0; i < stat->entry_count; i++) {
		for (int d = 0; d < FIO_DIRECTIONS; d++) {
			free(stat->entries[i].directions[d].clat);
			free(stat->entries[i].directions[d].lat);
		}
		free(stat->entries[i].sync);
	}
	free(stat->entries);
	free(stat->disks);
	*stat = (struct fio_stat){ 0 };
}

void report_fio(const struct report_fio *report, struct text *ret)
{
	const uint32_t asked = report->labels->outputs;
	const uint32_t outputs = report->result->measurement_count ? asked : asked & FIO_ANY_JSON;

	if (outputs & FIO_TERSE)
		report_fio_terse(report, ret);
	if (outputs & FIO_ANY_JSON)
		report_fio_json(report, outputs & FIO_JSON_PLUS, ret);
	if (outputs & FIO_NORMAL)
		report_fio_normal(report, ret);
}

/* The step a whole number of a unit falls below; count where it is above all. */
static size_t step_of(uint64_t amount, size_t count)
{
	size_t i = 0;

	while (i < count && amount >= fio_latency_steps[i])
		i++;
	return i;
}

void fio_shares(const uint64_t counts[FIO_DEPTH_STEPS], double ret[FIO_DEPTH_STEPS])
{
	uint64_t sum = 0;

	for (size_t i = 0; i < FIO_DEPTH_STEPS; i++)
		sum += counts[i];
	for (size_t i = 0; i < FIO_DEPTH_STEPS; i++)
		ret[i] = fio_percent(counts[i], sum);
}

void fio_latency_shares(const struct fio_entry *entry, struct fio_latency_shares *ret)
{
	const struct histogram *h = entry->directions[FIO_MIXED].clat;

	*ret = (struct fio_latency_shares){ 0 };
	for (uint32_t i = 0; h && i < HISTOGRAM_BUCKETS; i++) {
		const double percent = 100.0 * (double)h->buckets[i] / (double)h->count;
		const uint64_t ns = h->buckets[i] ? fio_bucket_ns(h, i) : 0;

		if (ns < MICROSECOND_NS)
			ret->ns[step_of(ns, FIO_NS_STEPS - 1)] += percent;
		else if (ns < MILLISECOND_NS)
			ret->us[step_of(ns / MICROSECOND_NS, FIO_US_STEPS - 1)] += percent;
		else
			ret->ms[step_of(ns / MILLISECOND_NS, FIO_MS_STEPS - 1)] += percent;
	}
}
