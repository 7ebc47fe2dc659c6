/* SPDX-License-Identifier: MIT */
#include "measure/rules.h"
#include "stats/histogram.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "model/workload.h"

/* Below this a measurement is too small to compare with counters that others move too. */
#define COMPARE_BYTES_MIN (16 * MIB)

static uint64_t op_count(const struct measurement *m)
{
	return m->ops[OP_READ].count + m->ops[OP_WRITE].count + m->ops[OP_TRIM].count;
}

static double op_iops(const struct measurement *m)
{
	return m->duration_ns ? (double)op_count(m) * 1e9 / (double)m->duration_ns : 0;
}

/* The first length or place of the workload that is no multiple of unit_bytes, in words. */
static const char *off_unit(const struct workload *w, uint64_t unit_bytes, uint64_t *ret_bytes)
{
	const struct {
		const char *what;
		uint64_t bytes;
	} places[] = {
		{ "request size", w->size_mix.count || w->lines.count ? 0 : w->block_bytes },
		{ "alignment", w->align_bytes },
		{ "offset", w->offset.ppm ? 0 : w->offset.bytes },
		{ "stride", w->stride_bytes },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i].bytes % unit_bytes) {
			*ret_bytes = places[i].bytes;
			return places[i].what;
		}
	for (uint32_t i = 0; i < w->size_mix.count; i++)
		if (w->size_mix.sizes[i].bytes % unit_bytes) {
			*ret_bytes = w->size_mix.sizes[i].bytes;
			return "request size";
		}
	for (uint32_t i = 0; i < w->write_mix.count; i++)
		if (w->write_mix.sizes[i].bytes % unit_bytes) {
			*ret_bytes = w->write_mix.sizes[i].bytes;
			return "request size";
		}
	for (uint32_t i = 0; i < w->lines.count; i++) {
		const struct access_line *line = &w->lines.lines[i];

		*ret_bytes = line->bytes % unit_bytes ? line->bytes : line->align_bytes;
		if (*ret_bytes % unit_bytes)
			return *ret_bytes == line->bytes ? "request size" : "alignment";
	}
	return NULL;
}

bool look_misaligned(const struct audit_facts *facts, struct finding *ret)
{
	const struct workload *w = &facts->measurement->workload;
	const uint32_t physical_bytes = facts->info->physical_block_bytes;
	char have[UNITS_TEXT_BYTES], block[UNITS_TEXT_BYTES];
	const char *what;
	uint64_t bytes;

	if (physical_bytes == 0 || !is_device_path(facts->info))
		return false;
	what = off_unit(w, physical_bytes, &bytes);
	if (!what)
		return false;
	say(ret, "the %s of %s is no multiple of the device's physical block of %s%s", what,
	    units_format_bytes(bytes, have), units_format_bytes(physical_bytes, block),
	    workload_writes(w) ? ": each such write makes the drive read, change and write a block"
			       : ": requests touch more blocks than they ask for");
	advise(ret, "use sizes, offsets and --align in multiples of %s", block);
	return true;
}

/* Of a direct job: how much of what it moved did the device see, by its own counters? */
static bool device_share(const struct audit_facts *facts, enum op_kind kind, double *ret)
{
	const double job = job_bytes(facts->measurement, kind);
	const double peers = (double)(kind == OP_READ ? facts->peer_read_bytes
						      : facts->peer_write_bytes);
	const double device = (double)(kind == OP_READ ? device_read_bytes(facts)
						       : device_write_bytes(facts));

	if (!facts->have_counters || job < COMPARE_BYTES_MIN)
		return false;
	*ret = fmax(device - peers, 0) / job;
	return true;
}

static enum op_kind main_kind(const struct measurement *m)
{
	return m->ops[OP_READ].bytes >= m->ops[OP_WRITE].bytes ? OP_READ : OP_WRITE;
}

static bool look_buffered(const struct audit_facts *facts, struct finding *ret)
{
	const enum op_kind kind = main_kind(facts->measurement);
	const char *why = facts->direct_refused ? "direct I/O is not to be had here, and " : "";
	double share;

	if (device_share(facts, kind, &share)) {
		say(ret, "%sbuffered I/O goes through the page cache: the device moved %.0f %% of "
		    "the bytes that were %s", why, 100 * share,
		    kind == OP_READ ? "read" : "written");
		/* Near 1 the device did the work, if in sizes and at times of the kernel's choice. */
		if (share >= 0.9 && share <= 1.5)
			ret->severity = SEVERITY_WARNING;
	} else {
		say(ret, "%sbuffered I/O goes through the page cache: the figures are the kernel's "
		    "memory as much as the device", why);
	}
	advise(ret, facts->direct_refused ? "use a range of several times the memory, or the device"
					  : "use --direct=1");
	return true;
}

bool look_page_cache(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	const enum op_kind kind = main_kind(m);
	const double holes = kind == OP_READ ? fmax(facts->samples.hole_ratio, 0) : 0;
	double share;

	if (!is_device_path(facts->info) || facts->place.memory_backed || op_count(m) == 0)
		return false;
	if (!m->workload.direct || facts->direct_refused)
		return look_buffered(facts, ret);
	/* What lies in holes is not missing from the device: the rule "sparse" says that. */
	if (!device_share(facts, kind, &share) || share >= 0.5 * (1 - holes))
		return false;
	say(ret, "the device moved only %.0f %% of the bytes %s: direct I/O was asked for, but "
	    "something above the device answered", 100 * share,
	    kind == OP_READ ? "read" : "written");
	advise(ret, "the file system %s may not honour O_DIRECT: test a range larger than memory, "
	       "or the device itself",
	       facts->info->filesystem[0] ? facts->info->filesystem : "in the path");
	return true;
}

bool look_sparse(const struct audit_facts *facts, struct finding *ret)
{
	const double holes = facts->samples.hole_ratio;

	/* One sampled block in a hundred may be an edge; more moves the mean. */
	if (facts->measurement->ops[OP_READ].count == 0 || holes <= 0.01)
		return false;
	if (holes < 0.1)
		ret->severity = SEVERITY_WARNING;
	say(ret, "%.0f %% of the range read lies in holes or unwritten extents: such reads are "
	    "answered with zeros and never reach the drive", 100 * holes);
	advise(ret, "write the file in full first, or give a directory and tare makes its own file");
	return true;
}

/* The reference drive knows what it was asked that holds nothing. */
static bool look_unmapped(const struct drive_truth *drive, struct finding *ret)
{
	const double read_bytes = drive_truth_value(drive, "host_read_bytes");
	const double share = drive_truth_value(drive, "unmapped_read_bytes") / fmax(read_bytes, 1);

	if (share <= 0.02)
		return false;
	if (share < 0.25)
		ret->severity = SEVERITY_WARNING;
	say(ret, "%.0f %% of the bytes read hold no data: they were never written or were trimmed, "
	    "and the drive answers without its flash", 100 * share);
	advise(ret, "fill the drive first (state=filled or state=steady in the target), or read "
	       "what was written");
	return true;
}

bool look_unwritten(const struct audit_facts *facts, struct finding *ret)
{
	const struct audit_samples *s = &facts->samples;

	if (facts->measurement->drive)
		return look_unmapped(facts->measurement->drive, ret);
	if (facts->measurement->ops[OP_READ].count == 0 || s->zero_ratio <= 0.02 ||
	    s->hole_ratio > 0.01)
		return false;
	/* Zeros may have been written; when most blocks are, they hardly were. */
	if (s->zero_ratio < 0.25)
		ret->severity = SEVERITY_WARNING;
	say(ret, "%.0f %% of %u sampled blocks hold only zeros: where they were never written or "
	    "were trimmed, the drive answers without its medium", 100 * s->zero_ratio,
	    s->zero_sample_count);
	advise(ret, "fill the range with data before reading it, or give --offset and --size of a "
	       "part that holds data");
	return true;
}

static bool is_sync_engine(const struct measurement *m)
{
	return strcmp(m->engine, "sync") == 0 || strcmp(m->engine, "mmap") == 0;
}

/* Recorded times or pauses say when requests start, not the depth. */
static bool is_paced_replay(const struct measurement *m)
{
	return m->replay.is_replay && m->workload.replay.timing != TIMING_NONE;
}

bool look_depth(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	const struct workload *w = &m->workload;
	const bool paced = w->rate_iops > 0 || (w->think_ns > 0 && w->think_count > 0) ||
			   is_paced_replay(m);

	if (w->depth_count < 2 || paced || facts->info->kind == TARGET_NULL)
		return false;
	if (is_sync_engine(m)) {
		say(ret, "the %s engine keeps one request in flight: depth %u has no effect",
		    m->engine, w->depth_count);
		advise(ret, "use --ioengine=io_uring or libaio, or --numjobs=%u with --iodepth=1",
		       w->depth_count);
		return true;
	}
	if (strcmp(m->engine, "libaio") == 0 && !w->direct) {
		say(ret, "libaio is asynchronous only with direct I/O: buffered, each submission "
		    "waits until its request is done and depth %u has no effect", w->depth_count);
		advise(ret, "use --direct=1, or --ioengine=io_uring");
		return true;
	}
	/* With few requests the filling and the draining of the queue weigh too much. */
	if (m->depth_mean <= 0 || m->depth_mean >= 0.5 * w->depth_count ||
	    op_count(m) < 16ull * w->depth_count)
		return false;
	say(ret, "%.1f requests were in flight on average, of %u asked for", m->depth_mean,
	    w->depth_count);
	advise(ret, "a lower --iodepth names what was really measured; see also the findings on CPU "
	       "and kernel threads");
	return true;
}

/* A kernel thread adds about 5 us to a request: beyond this interval hardly a twentieth. */
#define PUNT_MATTERS_NS 100e3

bool look_punted(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	const double share = op_count(m) ? (double)m->punted_count / (double)op_count(m) : 0;
	const double interval_ns = op_iops(m) > 0 ? m->workload.job_count * 1e9 / op_iops(m) : 0;
	const bool matters = interval_ns < PUNT_MATTERS_NS;

	if (share < 0.05)
		return false;
	if (!matters)
		ret->severity = SEVERITY_INFO;
	say(ret, "io_uring handed %.0f %% of the requests to kernel worker threads, because %s "
	    "does not take such requests without blocking: that %s", 100 * fmin(share, 1),
	    facts->info->filesystem[0] ? facts->info->filesystem : "the device",
	    matters ? "is slower, and the drive is not to blame"
		    : "costs some 5 µs each, little beside what they take");
	advise(ret, "compare with --ioengine=libaio, or with sync at depth 1");
	return true;
}

/*
 * An open loop spins through the last microseconds before an arrival, and so uses a whole
 * CPU without being short of it: there only a missed rate tells.
 */
bool look_generator(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	const double iops = op_iops(m);
	const bool near_ceiling = facts->ceiling_iops > 0 && iops > 0.9 * facts->ceiling_iops;
	const bool missed = m->workload.rate_iops == 0 || look_rate(facts, &(struct finding){ 0 });
	char rate[UNITS_TEXT_BYTES], ceiling[UNITS_TEXT_BYTES];

	if (!is_device_path(facts->info) || !missed || is_paced_replay(m))
		return false;
	if (m->worker_cpu_max < 0.95 && !near_ceiling)
		return false;
	if (near_ceiling)
		say(ret, "%s is within 10 %% of what tare does here on the null target (%s)",
		    units_format_rate(iops, rate), units_format_rate(facts->ceiling_iops, ceiling));
	else
		say(ret, "the busiest worker used %.0f %% of a CPU: the CPU was the limit, the "
		    "drive may be faster", 100 * m->worker_cpu_max);
	advise(ret, "use more workers (--numjobs), each on a CPU of its own (--cpus), or larger "
	       "requests");
	return true;
}

/* A run of n arrivals may end a queue's worth short without having been slow. */
static bool is_short_of(const struct measurement *m, double asked, double got)
{
	const double missing = (asked - got) * (double)m->duration_ns / 1e9;
	const double in_flight = (double)m->workload.depth_count * m->workload.job_count;

	return m->unserved_count > 0 || (got < 0.98 * asked && missing >= 2 * in_flight);
}

bool look_rate(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	const uint32_t jobs = m->workload.job_count ? m->workload.job_count : 1;
	const double asked = workload_rate_per_s(&m->workload) * jobs;
	const double got = op_iops(m);
	char asked_text[UNITS_TEXT_BYTES], got_text[UNITS_TEXT_BYTES], late[UNITS_TEXT_BYTES];

	if (asked <= 0 || m->interrupted || m->ended_early || !is_short_of(m, asked, got))
		return false;
	say(ret, "could not sustain %s: %s was reached, arrivals waited up to %s for a free slot, "
	    "and %llu were never begun", units_format_rate(asked, asked_text),
	    units_format_rate(got, got_text),
	    units_format_latency((double)m->backlog_ns_max, late),
	    (unsigned long long)m->unserved_count);
	advise(ret, "latency of an overloaded open loop grows with the runtime and means nothing: "
	       "lower --rate-iops, or raise --iodepth if it was the limit");
	return true;
}

/* A request that is a millisecond late has lost its place among the others. */
#define REPLAY_LATE_NS MILLISECOND_NS

bool look_replay(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	uint64_t late_ns;
	char p99[UNITS_TEXT_BYTES], last[UNITS_TEXT_BYTES];

	if (!m->replay.is_replay || !m->lateness || m->lateness->count == 0 || m->interrupted)
		return false;
	late_ns = histogram_percentile_ns(m->lateness, 990000);
	if (late_ns <= REPLAY_LATE_NS && m->replay.last_late_ns <= REPLAY_LATE_NS &&
	    m->unserved_count == 0)
		return false;
	say(ret, "no faithful replay: 1 %% of the requests were started %s late or later, the last %s, and "
	    "%llu were never begun", units_format_latency((double)late_ns, p99),
	    units_format_latency((double)m->replay.last_late_ns, last),
	    (unsigned long long)m->unserved_count);
	if (m->backlog_ns_max > REPLAY_LATE_NS)
		advise(ret, "they waited for a place in the queue: raise --iodepth; if the drive cannot keep "
		       "up, replay with --speed below 1");
	else
		advise(ret, "this machine had no CPU for them in time: leave one free (--cpus-allowed), and "
		       "stop what else runs");
	return true;
}

bool look_verify(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	const struct verify_failure *f = &m->verify_failure;

	if (m->verify_failed_count == 0)
		return false;
	say(ret, "%llu of %llu blocks read back wrong; the first, at offset %llu, is %s: expected "
	    "%s, found %s", (unsigned long long)m->verify_failed_count,
	    (unsigned long long)m->verified_count, (unsigned long long)f->offset_bytes, f->what,
	    f->expected, f->found);
	advise(ret, "stop using this storage for data you need; look at the kernel log, cables and "
	       "memory, and repeat with the same --seed");
	return true;
}

bool look_errors(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	uint64_t errors = 0;

	for (int kind = 0; kind < OP_KINDS; kind++)
		errors += m->ops[kind].error_count;
	if (errors == 0 && !m->ended_early)
		return false;
	if (errors == 0)
		say(ret, "the measurement ended early: %.250s", m->error_text);
	else
		say(ret, "%llu request%s failed%s%s%s", (unsigned long long)errors,
		    errors == 1 ? "" : "s", m->errno_count ? ", first with \"" : "",
		    m->errno_count ? strerror(-m->errnos[0].code) : "",
		    m->errno_count ? "\"" : "");
	advise(ret, "look at the kernel log (dmesg); figures that contain errors are not comparable");
	return true;
}
