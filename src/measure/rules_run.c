/* SPDX-License-Identifier: MIT */
#include "measure/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "measure/series.h"

#define BRIEF_NS (5 * SECOND_NS)

/* "2.9 k/s for 41 s, then 800 /s for 19 s", as much as fits. */
static void describe_segments(const struct measurement *m, char *text, size_t room)
{
	size_t length = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < m->segment_count && length < room; i++) {
		char rate[UNITS_TEXT_BYTES];
		const int n = snprintf(text + length, room - length, "%s%s for %.3g s",
				       i ? ", then " : "",
				       units_format_rate(m->segments[i].iops, rate),
				       m->segments[i].length_s);

		length += n > 0 ? (size_t)n : 0;
	}
}

static double mean(const double *samples, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += samples[i];
	return count ? sum / (double)count : 0;
}

static void describe_drift(const struct series *series, char *text, size_t room)
{
	const size_t count = series->count, fifth = count / 5 ? count / 5 : 1;
	char first[UNITS_TEXT_BYTES], last[UNITS_TEXT_BYTES];
	char low[UNITS_TEXT_BYTES], high[UNITS_TEXT_BYTES];
	double least, most;

	if (count < 2)
		return;
	least = most = series->iops[0];
	for (size_t i = 1; i < count; i++) {
		least = fmin(least, series->iops[i]);
		most = fmax(most, series->iops[i]);
	}
	snprintf(text, room, "%s in the first fifth, %s in the last, from %s to %s by %.2g s",
		 units_format_rate(mean(series->iops, fifth), first),
		 units_format_rate(mean(series->iops + count - fifth, fifth), last),
		 units_format_rate(least, low), units_format_rate(most, high), series->interval_s);
}

static void describe_cycle(const struct series *series, char *text, size_t room)
{
	struct level level;

	series_classify(series, &level);
	if (level.period_count)
		snprintf(text, room, "a dip returns every %.2g s",
			 (double)level.period_count * series->interval_s);
}

bool look_not_level(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	struct series series;
	char text[240] = "";

	/* A trace is as level as what was recorded. */
	if (m->replay.is_replay && m->workload.replay.timing != TIMING_NONE)
		return false;
	if (strcmp(m->level, level_name(LEVEL_LEVEL)) == 0 ||
	    strcmp(m->level, level_name(LEVEL_TOO_SHORT)) == 0)
		return false;
	series_init(&series, m);
	if (strcmp(m->level, level_name(LEVEL_STEPPED)) == 0)
		describe_segments(m, text, sizeof(text));
	else if (strcmp(m->level, level_name(LEVEL_DRIFTING)) == 0)
		describe_drift(&series, text, sizeof(text));
	else
		describe_cycle(&series, text, sizeof(text));
	series_done(&series);
	say(ret, "the series is %s, not level%s%s", m->level, text[0] ? ": " : "", text);
	if (strcmp(m->level, level_name(LEVEL_STEPPED)) == 0)
		advise(ret, "quote the plateaus, not the mean; the last one is what lasts");
	else
		advise(ret, "measure longer (--runtime, tare check --long), or bring the drive to a steady "
		       "state first");
	return true;
}

/*
 * One finding for all: a quick check has nine short rows and one thing to say about them.
 * Half a second cannot be told level from drifting; in less than five nothing shows that
 * takes a drive longer: a cache's end, cleaning, a journal's commit.
 */
bool look_too_short(const struct audit_facts *facts, struct finding *ret)
{
	const struct result *result = facts->result;
	uint64_t shortest_ns = UINT64_MAX;
	const char *name = "";
	size_t count = 0;

	for (size_t i = 0; i < result->measurement_count; i++) {
		const struct measurement *m = &result->measurements[i];
		const bool unknown = strcmp(m->level, level_name(LEVEL_TOO_SHORT)) == 0;

		if (m->ended_early || (!unknown && m->duration_ns >= BRIEF_NS))
			continue;
		count++;
		if (unknown)
			ret->severity = SEVERITY_WARNING;
		if (m->duration_ns < shortest_ns) {
			shortest_ns = m->duration_ns;
			name = m->name;
		}
	}
	if (count == 0)
		return false;
	say(ret, "%zu of %zu measurements lasted less than 5 s, the shortest (%s) %.2g s: what takes a "
	    "drive longer (its cache's end, cleaning) is not in them",
	    count, result->measurement_count, name, (double)shortest_ns / 1e9);
	advise(ret, "measure longer: --runtime, or tare check --long");
	return true;
}

/*
 * What the device did beyond this process's own block I/O. A file system's journal and
 * metadata count too, so a few per cent are nobody's fault; copy-on-write file systems write
 * their trees with each overwrite, which is no stranger's load either.
 */
bool look_background(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;
	const uint64_t device = device_read_bytes(facts) + device_write_bytes(facts);
	const uint64_t own = facts->own_read_bytes + facts->own_write_bytes;
	const double run_s = (double)(m->duration_ns + m->workload.ramp_ns) / 1e9;
	const double floor_bytes = 256.0 * KIB * run_s;
	const bool own_trees = facts->place.copy_on_write && workload_writes(&m->workload);
	/* Each sync makes the file system commit its journal, which is nobody else's load. */
	const bool syncs = facts->info->filesystem[0] &&
			   (m->workload.fsync_count || m->workload.fdatasync_count || m->workload.sync);
	const double share = syncs ? 0.25 : 0.05;
	char rate[UNITS_TEXT_BYTES];
	double others;

	/* Buffered writes reach the device by the kernel's hand, and not during the run. */
	if (!facts->have_counters || !facts->have_own || own_trees || !m->workload.direct)
		return false;
	others = device > own ? (double)(device - own) : 0;
	if (others <= share * (double)device || others <= floor_bytes)
		return false;
	say(ret, "%.0f %% of what the device moved (%s) was not tare's: other programs used it",
	    100 * others / (double)device,
	    units_format_rate_bytes(run_s > 0 ? others / run_s : 0, rate));
	advise(ret, "stop what else uses %s (iotop names it) and measure again",
	       facts->info->device[0] ? facts->info->device : "the device");
	return true;
}

bool look_steal(const struct audit_facts *facts, struct finding *ret)
{
	const double steal = facts->measurement->steal_ratio;

	if (steal <= 0.02)
		return false;
	say(ret, "the hypervisor took away %.1f %% of a CPU's time during the run", 100 * steal);
	advise(ret, "repeat when the host is idle; latency percentiles suffer first");
	return true;
}

static bool is_throttled(const struct audit_facts *facts)
{
	return facts->measurement->temperature_c_max >= facts->temperature_limit_c;
}

/* What the reference drive says of itself; 0 elsewhere. */
static double own_throttled_s(const struct measurement *m)
{
	for (uint32_t i = 0; m->drive && i < m->drive->row_count; i++)
		if (strcmp(m->drive->rows[i].name, "throttled_ns") == 0)
			return m->drive->rows[i].value / 1e9;
	return 0;
}

bool look_throttled(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;

	/* Comparisons with NaN are false: not known is not throttled. */
	if (is_throttled(facts))
		say(ret, "the drive reached %.0f °C, where it slows itself down (%.0f °C)",
		    m->temperature_c_max, facts->temperature_limit_c);
	else if (facts->cpu_throttle_count)
		say(ret, "the CPUs slowed themselves down %llu times for their temperature",
		    (unsigned long long)facts->cpu_throttle_count);
	else if (own_throttled_s(m) > 0)
		say(ret, "the drive slowed itself down for its temperature during %.3g s of %.3g s",
		    own_throttled_s(m), (double)m->duration_ns / 1e9);
	else
		return false;
	advise(ret, "cool it, let it rest and measure again; else quote the figure as throttled");
	return true;
}

bool look_temperature(const struct audit_facts *facts, struct finding *ret)
{
	const struct measurement *m = facts->measurement;

	if (is_throttled(facts) || !(m->temperature_c_max >= facts->temperature_limit_c - 5))
		return false;
	say(ret, "the drive came to %.0f °C, from %.0f °C; it slows itself down at %.0f °C",
	    m->temperature_c_max, m->temperature_c_start, facts->temperature_limit_c);
	advise(ret, "a longer run would be throttled: cool the drive");
	return true;
}
