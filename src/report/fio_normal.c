/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "report/fio_number.h"
#include "report/fio_stat.h"
#include "report/summary.h"

#define LINE_COLUMNS 80
#define SHARES_PER_LINE 5
#define GIB_IN_KIB (1024 * 1024)

static const char *const direction_titles[FIO_DIRECTIONS] = { "READ", "WRITE", "TRIM", "MIXED" };

/* Which base comes first, and which in parentheses. */
static uint32_t first_base(const struct fio_job *job)
{
	return job->kb_base == 1000 ? 1000 : 1024;
}

static uint32_t other_base(const struct fio_job *job)
{
	return job->kb_base == 1000 ? 1024 : 1000;
}

static void add_rates(double bytes_per_s, const struct fio_job *job, struct text *ret)
{
	const bool bits = job->unit_base == 1;
	char first[FIO_NUMBER_BYTES], other[FIO_NUMBER_BYTES];

	text_add(ret, "%s (%s)", fio_rate(bytes_per_s, first_base(job), bits, first),
		 fio_rate(bytes_per_s, other_base(job), bits, other));
}

/* The largest unit in which the figures still have three digits before the point. */
struct unit {
	const char *name;
	double ns;
};

static struct unit unit_of(uint64_t min_ns, uint64_t max_ns, double deviation_ns)
{
	static const struct unit units[] = {
		{ "nsec", 1 }, { "usec", MICROSECOND_NS }, { "msec", MILLISECOND_NS }
	};
	size_t i = 0;

	while (i < 2 && (double)min_ns > 2000 * units[i].ns && (double)max_ns > 99999 * units[i].ns &&
	       deviation_ns > 1000 * units[i].ns)
		i++;
	return units[i];
}

static void add_latency(const char *name, const struct histogram *h, struct text *ret)
{
	char min[FIO_NUMBER_BYTES], max[FIO_NUMBER_BYTES];
	double deviation_ns;
	struct unit unit;

	if (!h)
		return;
	deviation_ns = fio_stddev_ns(h);
	unit = unit_of(h->min_ns, h->max_ns, deviation_ns);
	text_add(ret, "    %4s (%s): min=%s, max=%s, avg=%5.2f, stdev=%5.2f\n", name, unit.name,
		 fio_count(floor((double)h->min_ns / unit.ns), 6, min),
		 fio_count(floor((double)h->max_ns / unit.ns), 6, max),
		 histogram_mean_ns(h) / unit.ns, deviation_ns / unit.ns);
}

/* Digits behind the point that the list needs, two at least. */
static int precision_of(const double *percents, size_t count)
{
	int precision = 2;

	for (size_t i = 0; i < count; i++) {
		double scaled = percents[i] * 100;

		for (int digits = 2; digits <= 6; digits++, scaled *= 10) {
			if (digits > precision && fabs(scaled - round(scaled)) < 1e-6)
				precision = digits;
			if (fabs(scaled - round(scaled)) < 1e-6)
				break;
		}
	}
	return precision;
}

static void add_percentiles(const char *name, const struct histogram *h, const struct fio_job *job,
			    struct text *ret)
{
	const double *percents;
	const size_t count = fio_percentiles(job, &percents);
	const int precision = precision_of(percents, count);
	int width = 5, columns;
	struct unit unit;
	char number[32];

	if (!h || !count)
		return;
	unit = unit_of(fio_percentile_ns(h, percents[0]), fio_percentile_ns(h, percents[count - 1]),
		       INFINITY);
	snprintf(number, sizeof(number), "%.0f",
		 round((double)fio_percentile_ns(h, percents[count - 1]) / unit.ns));
	if ((int)strlen(number) > width)
		width = (int)strlen(number);
	columns = (LINE_COLUMNS - 7) / (precision + 10 + width);
	text_add(ret, "    %s percentiles (%s):\n", name, unit.name);
	for (size_t i = 0; i < count; i++) {
		const bool starts = i % (size_t)columns == 0;
		const bool ends = (i + 1) % (size_t)columns == 0 || i + 1 == count;

		text_add(ret, "%s %*.*fth=[%*.0f]%s", starts ? "     |" : "", precision + 3,
			 precision, percents[i], width,
			 round((double)fio_percentile_ns(h, percents[i]) / unit.ns),
			 i + 1 == count ? "\n" : ends ? ",\n" : ",");
	}
}

static void add_samples(const struct fio_direction *d, const struct fio_job *job, struct text *ret)
{
	const bool large = d->bw.mean > GIB_IN_KIB;
	const double kib = first_base(job) == 1000 ? 1000 / (double)KIB : 1;	/* of what is shown */
	const double scale = large ? kib * first_base(job) : kib;
	const char *unit = first_base(job) == 1000 ? (large ? " MB/s" : " kB/s") :
						     (large ? "MiB/s" : "KiB/s");

	if (d->bw.count)
		text_add(ret,
			 "   bw (%7s): min=%5.0f, max=%5.0f, per=%3.2f%%, avg=%5.2f, "
			 "stdev=%5.2f, samples=%llu\n",
			 unit, floor(d->bw.min / scale), floor(d->bw.max / scale), d->group_percent,
			 d->bw.mean / scale, fio_samples_stddev(&d->bw) / scale,
			 (unsigned long long)d->bw.count);
	if (d->iops.count)
		text_add(ret,
			 "   iops        : min=%5.0f, max=%5.0f, avg=%5.2f, stdev=%5.2f, "
			 "samples=%llu\n",
			 floor(d->iops.min), floor(d->iops.max), d->iops.mean,
			 fio_samples_stddev(&d->iops), (unsigned long long)d->iops.count);
}

static void add_direction(const struct fio_entry *entry, int direction, struct text *ret)
{
	const struct fio_direction *d = &entry->directions[direction];
	const struct fio_job *job = entry->job;
	char number[FIO_NUMBER_BYTES];

	if (d->count == 0)
		return;
	text_add(ret, "  %s: IOPS=%s, BW=", fio_direction_names[direction],
		 fio_count(floor(fio_per_second(d->count, d->runtime_ns)), 4, number));
	add_rates(fio_per_second(d->bytes, d->runtime_ns), job, ret);
	text_add(ret, "(%s/%llumsec)%s\n", fio_bytes((double)d->bytes, first_base(job), number),
		 (unsigned long long)fio_ms(d->runtime_ns),
		 direction == FIO_WRITE ? "; 0 zone resets" : "");
	if (job->clat)
		add_latency("clat", d->clat, ret);
	if (job->lat)
		add_latency("lat", d->lat, ret);
	if (job->clat && job->clat_percentiles)
		add_percentiles("clat", d->clat, job, ret);
	if (job->lat && job->lat_percentiles)
		add_percentiles("lat", d->lat, job, ret);
	add_samples(d, job, ret);
}

static void add_shares(const char *unit, const double *shares, size_t count, struct text *ret)
{
	size_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		if (shares[i] <= 0)
			continue;
		text_add(ret, "%s", shown % SHARES_PER_LINE ? ", " : shown ? "\n" : "");
		if (shown++ % SHARES_PER_LINE == 0)
			text_add(ret, "  lat (%s)   : ", unit);
		text_add(ret, i < FIO_MS_STEPS - 1 ? "%u=%3.2f%%" : ">=%u=%3.2f%%",
			 fio_latency_steps[i < FIO_MS_STEPS - 1 ? i : FIO_MS_STEPS - 2],
			 fio_visible(shares[i], 0.01));
	}
	if (shown)
		text_add(ret, "\n");
}

static void add_syncs(const struct fio_entry *entry, struct text *ret)
{
	if (!entry->sync)
		return;
	text_add(ret, "  fsync/fdatasync/sync_file_range:\n");
	add_latency("sync", entry->sync, ret);
	add_percentiles("sync", entry->sync, entry->job, ret);
}

static void add_steps(const char *title, const uint64_t counts[FIO_DEPTH_STEPS], bool batches,
		      struct text *ret)
{
	static const char *const depths[] = { "1", "2", "4", "8", "16", "32", ">=64" };
	static const char *const sizes[] = { "0", "4", "8", "16", "32", "64", ">=64" };
	double shares[FIO_DEPTH_STEPS];

	fio_shares(counts, shares);
	text_add(ret, "  %-13s:", title);
	for (size_t i = 0; i < FIO_DEPTH_STEPS; i++)
		text_add(ret, "%s %s=%3.1f%%", i ? "," : "", (batches ? sizes : depths)[i],
			 fio_visible(shares[i], 0.1));
	text_add(ret, "\n");
}

static void add_issued(const struct fio_entry *entry, struct text *ret)
{
	const struct fio_direction *d = entry->directions;
	const bool mixed = entry->job->unified == FIO_UNIFIED_MIXED;

	text_add(ret, "     issued rwts: total=%llu,%llu,%llu,%llu short=0,0,0,0 dropped=0,0,0,0\n",
		 (unsigned long long)(mixed ? d[FIO_MIXED].count : d[FIO_READ].count),
		 (unsigned long long)(mixed ? 0 : d[FIO_WRITE].count),
		 (unsigned long long)(mixed ? 0 : d[FIO_TRIM].count),
		 (unsigned long long)entry->sync_count);
	if (entry->job->continue_on_error)
		text_add(ret, "     errors    : total=%llu, first_error=%d/<%s>\n",
			 (unsigned long long)entry->error_count, entry->error,
			 strerror(entry->error));
	text_add(ret, "     latency   : target=0, window=0, percentile=100.00%%, depth=%u\n",
		 entry->first->workload.depth_count);
}

static void add_steady(const struct fio_stat *stat, const struct fio_entry *entry, struct text *ret)
{
	struct fio_steady steady;
	char number[FIO_NUMBER_BYTES];

	if (!entry->job->steadystate_text)
		return;
	fio_steady_init(&steady, stat, entry);
	text_add(ret, "  steadystate  : attained=%s, bw=", steady.attained ? "yes" : "no");
	add_rates(steady.bw_mean, entry->job, ret);
	text_add(ret, ", iops=%s, %s %s=%.3f%s\n", fio_count(floor(steady.iops_mean), 4, number),
		 steady.of_iops ? "iops" : "bw", steady.of_slope ? "slope" : "mean dev",
		 steady.criterion, steady.percent ? "%" : "");
	fio_steady_done(&steady);
}

static void add_head(const struct fio_stat *stat, const struct fio_entry *entry, struct text *ret)
{
	const time_t seconds = (time_t)(stat->report->ended_unix_ms / 1000);
	char clock[26] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		asctime_r(&tm, clock);
	summary_add_printable(ret, entry->job->name);
	text_add(ret, ": (groupid=%u, jobs=%u): err=%2d", entry->job->group_id, entry->job_count,
		 entry->error);
	if (entry->error)
		text_add(ret, " (%s)", strerror(entry->error));
	text_add(ret, ": pid=%d: %s", stat->report->pid, clock);
	if (!entry->job->description)
		return;
	text_add(ret, "  Description  : [");
	summary_add_printable(ret, entry->job->description);
	text_add(ret, "]\n");
}

static void add_entry(const struct fio_stat *stat, const struct fio_entry *entry, struct text *ret)
{
	struct fio_latency_shares shares;

	add_head(stat, entry, ret);
	for (int d = FIO_READ; d <= FIO_TRIM && entry->job->unified != FIO_UNIFIED_MIXED; d++)
		add_direction(entry, d, ret);
	if (entry->job->unified != FIO_UNIFIED_NONE)
		add_direction(entry, FIO_MIXED, ret);
	fio_latency_shares(entry, &shares);
	add_shares("nsec", shares.ns, FIO_NS_STEPS, ret);
	add_shares("usec", shares.us, FIO_US_STEPS, ret);
	add_shares("msec", shares.ms, FIO_MS_STEPS, ret);
	add_syncs(entry, ret);
	text_add(ret, "  cpu          : usr=%3.2f%%, sys=%3.2f%%, ctx=%llu, majf=%llu, minf=%llu\n",
		 fio_percent(entry->user_ns, entry->runtime_ns),
		 fio_percent(entry->system_ns, entry->runtime_ns),
		 (unsigned long long)entry->switch_count,
		 (unsigned long long)entry->major_fault_count,
		 (unsigned long long)entry->minor_fault_count);
	add_steps("IO depths", entry->depth_counts, false, ret);
	add_steps("   submit", entry->push_counts, true, ret);
	add_steps("   complete", entry->reap_counts, true, ret);
	add_issued(entry, ret);
	add_steady(stat, entry, ret);
}

/* Of the jobs' units the group's first entry decides. */
static void add_group_direction(const struct fio_stat *stat, const struct fio_job *job,
				int direction, struct text *ret)
{
	char low[FIO_NUMBER_BYTES], high[FIO_NUMBER_BYTES];
	const bool bits = job->unit_base == 1;
	const uint32_t first = first_base(job), other = other_base(job);
	struct fio_group group;

	fio_stat_group(stat, job->group_id, direction, &group);
	if (group.runtime_max_ns == 0)
		return;
	text_add(ret, "  %5s: bw=", direction_titles[direction]);
	add_rates(fio_per_second(group.bytes, group.runtime_max_ns), job, ret);
	text_add(ret, ", %s-%s", fio_rate(group.bw_min, first, bits, low),
		 fio_rate(group.bw_max, first, bits, high));
	text_add(ret, " (%s-%s)", fio_rate(group.bw_min, other, bits, low),
		 fio_rate(group.bw_max, other, bits, high));
	text_add(ret, ", io=%s", fio_bytes((double)group.bytes, first, low));
	text_add(ret, " (%s), run=%llu-%llumsec\n", fio_bytes((double)group.bytes, other, low),
		 (unsigned long long)fio_ms(group.runtime_min_ns),
		 (unsigned long long)fio_ms(group.runtime_max_ns));
}

static void add_groups(const struct fio_stat *stat, struct text *ret)
{
	uint32_t done = 0;

	for (size_t i = 0; i < stat->entry_count; i++) {
		const struct fio_job *job = stat->entries[i].job;
		const bool mixed = job->unified == FIO_UNIFIED_MIXED;

		if (i > 0 && job->group_id <= done)
			continue;
		done = job->group_id;
		text_add(ret, "\nRun status group %u (all jobs):\n", job->group_id);
		for (int d = FIO_READ; d <= FIO_TRIM && !mixed; d++)
			add_group_direction(stat, job, d, ret);
		if (job->unified != FIO_UNIFIED_NONE)
			add_group_direction(stat, job, FIO_MIXED, ret);
	}
}

static void add_disks(const struct fio_stat *stat, struct text *ret)
{
	if (stat->disk_count)
		text_add(ret, "\nDisk stats (read/write):\n");
	for (size_t i = 0; i < stat->disk_count; i++) {
		const struct fio_disk *disk = &stat->disks[i];

		text_add(ret,
			 "  %s: ios=%llu/%llu, merge=%llu/%llu, ticks=%llu/%llu, in_queue=%llu, "
			 "util=%3.2f%%\n",
			 disk->name, (unsigned long long)disk->read_count,
			 (unsigned long long)disk->write_count,
			 (unsigned long long)disk->read_merge_count,
			 (unsigned long long)disk->write_merge_count,
			 (unsigned long long)disk->read_ms, (unsigned long long)disk->write_ms,
			 (unsigned long long)disk->queue_ms, disk->util_percent);
	}
}

/* What is not fio's comes last: the figures above are to be read with it. */
static void add_findings(const struct result *result, struct text *ret)
{
	if (result->finding_count)
		text_add(ret, "\nFindings (tare):\n");
	for (size_t i = 0; i < result->finding_count; i++) {
		const struct finding *f = &result->findings[i];

		text_add(ret, "  %s %s", severity_names[f->severity], f->code);
		if (f->measurement[0])
			text_add(ret, " (%s)", f->measurement);
		text_add(ret, ": ");
		summary_add_printable(ret, f->text);
		text_add(ret, f->remedy[0] ? "; " : "");
		summary_add_printable(ret, f->remedy);
		text_add(ret, "\n");
	}
}

void report_fio_normal(const struct report_fio *report, struct text *ret)
{
	struct fio_stat stat;

	fio_stat_init(&stat, report);
	text_add(ret, "\n");
	for (size_t i = 0; i < stat.entry_count; i++)
		add_entry(&stat, &stat.entries[i], ret);
	add_groups(&stat, ret);
	add_disks(&stat, ret);
	add_findings(report->result, ret);
	fio_stat_done(&stat);
}

/* "4096B-64.0KiB": the smallest and the largest size. */
static void add_block(uint64_t block_bytes, const struct size_mix *mix, const struct fio_job *job,
		      struct text *ret)
{
	uint64_t least = block_bytes, most = block_bytes;
	char low[FIO_NUMBER_BYTES], high[FIO_NUMBER_BYTES];

	for (uint32_t i = 0; i < mix->count; i++) {
		const uint64_t bytes = mix->sizes[i].bytes;

		least = i == 0 || bytes < least ? bytes : least;
		most = i == 0 || bytes > most ? bytes : most;
	}
	fio_bytes((double)least, first_base(job), low);
	fio_bytes((double)most, first_base(job), high);
	text_add(ret, "%s-%s", low, high);
}

static void add_blocks(const struct workload *w, const struct fio_job *job, struct text *ret)
{
	const struct size_mix *writes = w->write_mix.count ? &w->write_mix : &w->size_mix;
	static const char kinds[] = "RWT";

	text_add(ret, "bs=");
	for (size_t i = 0; kinds[i]; i++) {
		text_add(ret, "%s(%c) ", i ? ", " : "", kinds[i]);
		add_block(w->block_bytes, i ? writes : &w->size_mix, job, ret);
	}
}

static const char *option_of(const struct fio_job *job, const struct fio_labels *labels,
			     const char *name, const char *preset)
{
	const char *value = fio_options_get(&job->options, name);

	value = value ? value : fio_options_get(&labels->global, name);
	return value ? value : preset;
}

void report_fio_start(const struct plan *plan, const struct fio_labels *labels,
		      const char *version, struct text *ret)
{
	size_t index = 0;

	for (size_t i = 0; i < plan->phase_count; i++) {
		const struct workload *w = &plan->phases[i].workload;
		const struct fio_job *job = &labels->jobs[index];

		if (plan->phases[i].kind != PHASE_MEASURE)
			continue;
		assert(index < labels->job_count);
		index++;
		if (job->clone_index > 0) {
			text_add(ret, job->clone_index == 1 ? "...\n" : "");
			continue;
		}
		summary_add_printable(ret, job->name);
		text_add(ret, ": (g=%u): rw=%s, ", job->group_id,
			 option_of(job, labels, "rw", fio_rw_name(w->rw)));
		add_blocks(w, job, ret);
		text_add(ret, ", ioengine=%s, iodepth=%u\n",
			 option_of(job, labels, "ioengine", "psync"), w->depth_count);
	}
	text_add(ret, FIO_VERSION "\nStarting %zu thread%s\n", version, index,
		 index == 1 ? "" : "s");
}
