/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "report/fio_stat.h"

/* One line per entry, fields separated by semicolons; latencies in us, bandwidths in KiB/s. */

#define PERCENTILE_FIELDS 20

static double us(double ns)
{
	return ns / (double)MICROSECOND_NS;
}

static void add_latency(const struct histogram *h, struct text *ret)
{
	text_add(ret, ";%llu;%llu;%f;%f",
		 (unsigned long long)(h ? h->min_ns / MICROSECOND_NS : 0),
		 (unsigned long long)(h ? h->max_ns / MICROSECOND_NS : 0),
		 us(h ? histogram_mean_ns(h) : 0), us(h ? fio_stddev_ns(h) : 0));
}

static void add_percentiles(const struct fio_job *job, const struct fio_direction *d,
			    struct text *ret)
{
	const struct histogram *h = job->lat_percentiles ? d->lat : d->clat;
	const double *percents;
	size_t count = fio_percentiles(job, &percents);

	if (!job->lat_percentiles && !job->clat_percentiles)
		count = 0;
	for (size_t i = 0; i < PERCENTILE_FIELDS; i++) {
		if (i < count)
			text_add(ret, ";%f%%=%llu", percents[i],
				 (unsigned long long)(h ? fio_percentile_ns(h, percents[i]) /
								  MICROSECOND_NS :
							  0));
		else
			text_add(ret, ";0%%=0");
	}
}

static void add_samples(const struct fio_direction *d, uint32_t version, struct text *ret)
{
	text_add(ret, ";%llu;%llu;%f%%;%f;%f", (unsigned long long)d->bw.min,
		 (unsigned long long)d->bw.max, d->group_percent, d->bw.mean,
		 fio_samples_stddev(&d->bw));
	if (version < 5)
		return;
	text_add(ret, ";%llu;%llu;%llu;%f;%f;%llu", (unsigned long long)d->bw.count,
		 (unsigned long long)d->iops.min, (unsigned long long)d->iops.max, d->iops.mean,
		 fio_samples_stddev(&d->iops), (unsigned long long)d->iops.count);
}

static void add_direction(const struct fio_entry *entry, int direction, uint32_t version,
			  struct text *ret)
{
	const struct fio_direction *d = &entry->directions[direction];
	const struct fio_job *job = entry->job;

	text_add(ret, ";%llu;%llu;%llu;%llu", (unsigned long long)(d->bytes / KIB),
		 (unsigned long long)(fio_per_second(d->bytes, d->runtime_ns) / (double)KIB),
		 (unsigned long long)fio_per_second(d->count, d->runtime_ns),
		 (unsigned long long)fio_ms(d->runtime_ns));
	add_latency(NULL, ret);
	add_latency(job->clat ? d->clat : NULL, ret);
	add_percentiles(job, d, ret);
	add_latency(job->lat ? d->lat : NULL, ret);
	add_samples(d, version, ret);
}

static void add_directions(const struct fio_entry *entry, uint32_t version, struct text *ret)
{
	if (entry->job->unified != FIO_UNIFIED_MIXED) {
		add_direction(entry, FIO_READ, version, ret);
		add_direction(entry, FIO_WRITE, version, ret);
		if (version != 3)
			add_direction(entry, FIO_TRIM, version, ret);
	}
	if (entry->job->unified != FIO_UNIFIED_NONE)
		add_direction(entry, FIO_MIXED, version, ret);
}

static void add_shares(const double *shares, size_t count, struct text *ret)
{
	for (size_t i = 0; i < count; i++)
		text_add(ret, ";%3.2f%%", fio_visible(shares[i], 0.01));
}

static void add_machine(const struct fio_entry *entry, struct text *ret)
{
	double depths[FIO_DEPTH_STEPS];
	struct fio_latency_shares shares;

	text_add(ret, ";%f%%;%f%%;%llu;%llu;%llu", fio_percent(entry->user_ns, entry->runtime_ns),
		 fio_percent(entry->system_ns, entry->runtime_ns),
		 (unsigned long long)entry->switch_count,
		 (unsigned long long)entry->major_fault_count,
		 (unsigned long long)entry->minor_fault_count);
	fio_shares(entry->depth_counts, depths);
	for (size_t i = 0; i < FIO_DEPTH_STEPS; i++)
		text_add(ret, ";%3.1f%%", fio_visible(depths[i], 0.1));
	fio_latency_shares(entry, &shares);
	/* No field is below a microsecond: the first takes what is. */
	for (size_t i = 0; i < FIO_NS_STEPS; i++)
		shares.us[0] += shares.ns[i];
	add_shares(shares.us, FIO_US_STEPS, ret);
	add_shares(shares.ms, FIO_MS_STEPS, ret);
}

static void add_disks(const struct fio_stat *stat, struct text *ret)
{
	for (size_t i = 0; i < stat->disk_count; i++) {
		const struct fio_disk *disk = &stat->disks[i];

		text_add(ret, ";%s;%llu;%llu;%llu;%llu;%llu;%llu;%llu;%3.2f%%", disk->name,
			 (unsigned long long)disk->read_count,
			 (unsigned long long)disk->write_count,
			 (unsigned long long)disk->read_merge_count,
			 (unsigned long long)disk->write_merge_count,
			 (unsigned long long)disk->read_ms, (unsigned long long)disk->write_ms,
			 (unsigned long long)disk->queue_ms, disk->util_percent);
	}
}

/* A name or a description must not make fields of its own. */
static void add_word(const char *word, struct text *ret)
{
	for (const char *c = word; *c; c++)
		text_add(ret, "%c", *c == ';' || *c == '\n' ? ' ' : *c);
}

static void add_entry(const struct fio_stat *stat, const struct fio_entry *entry, struct text *ret)
{
	const uint32_t version = stat->report->labels->terse_version;
	const struct fio_job *job = entry->job;

	text_add(ret, "%u;", version);
	if (version > 2)
		text_add(ret, FIO_VERSION ";", stat->report->result->version);
	add_word(job->name, ret);
	text_add(ret, ";%u;%d", job->group_id, entry->error);
	add_directions(entry, version, ret);
	add_machine(entry, ret);
	if (version > 2)
		add_disks(stat, ret);
	if (job->continue_on_error)
		text_add(ret, ";%llu;%d", (unsigned long long)entry->error_count, entry->error);
	if (job->description) {
		text_add(ret, ";");
		add_word(job->description, ret);
	}
	text_add(ret, "\n");
}

void report_fio_terse(const struct report_fio *report, struct text *ret)
{
	struct fio_stat stat;

	fio_stat_init(&stat, report);
	for (size_t i = 0; i < stat.entry_count; i++)
		add_entry(&stat, &stat.entries[i], ret);
	fio_stat_done(&stat);
}
