/* SPDX-License-Identifier: MIT */
#include "trim/probe_counts.h"

#include "base/sysfs.h"
#include "target/counters.h"

#define LOOK_NS (50 * MILLISECOND_NS)

bool count_read(const char *name, struct count *ret)
{
	struct device_counters counters;
	char line[512];

	*ret = (struct count){ 0 };
	if (sysfs_read(line, sizeof(line), "/sys/class/block/%s/stat", name) < 0 ||
	    counters_parse(line, &counters) < 0)
		return false;
	/* Switched off, they stand still whatever happens. A partition has its disk's switch. */
	if (sysfs_read_u64(1, "/sys/class/block/%s/queue/iostats", name) == 0 ||
	    sysfs_read_u64(1, "/sys/class/block/%s/../queue/iostats", name) == 0)
		return false;
	*ret = (struct count){
		.known = true,
		.discard_count = counters.discard_count,
		.discard_bytes = counters.discard_bytes,
		.discard_ns = counters.discard_ns,
		.write_bytes = counters.write_bytes,
	};
	return true;
}

void counts_read(const struct trim_report *report, struct counts *ret)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		count_read(report->layers[i].name, &ret->layers[i]);
}

/* The first to count on its branch. */
static bool is_top(const struct trim_report *report, const struct counts *counts, uint32_t layer)
{
	uint32_t at = report->layers[layer].parent;

	for (; at != TRIM_TOP; at = report->layers[at].parent)
		if (counts->layers[at].known)
			return false;
	return counts->layers[layer].known;
}

/*
 * The topmost alone: below them, on a disk with other things on it, it may never be quiet, and
 * a request is counted above when it is done below.
 */
static bool same(const struct trim_report *report, const struct counts *a, const struct counts *b)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (is_top(report, b, i) &&
		    (a->layers[i].discard_count != b->layers[i].discard_count ||
		     a->layers[i].discard_bytes != b->layers[i].discard_bytes))
			return false;
	return true;
}

bool counts_wait_quiet(const struct trim_report *report, const struct counts_wait *wait,
		       struct counts *ret)
{
	const uint64_t begin_ns = clock_now_ns(wait->clock);
	uint64_t since_ns = begin_ns, now_ns = begin_ns;
	struct counts now;

	counts_read(report, ret);
	while (now_ns - since_ns < wait->quiet_ns) {
		if (now_ns - begin_ns >= wait->limit_ns || (wait->stop && *wait->stop))
			return false;
		clock_sleep_until(wait->clock, now_ns + LOOK_NS, wait->stop);
		now_ns = clock_now_ns(wait->clock);
		counts_read(report, &now);
		if (!same(report, &now, ret))
			since_ns = now_ns;
		*ret = now;
	}
	return true;
}

uint32_t counts_top(const struct trim_report *report, const struct counts *counts)
{
	for (uint32_t i = 0; i < report->layer_count; i++)
		if (counts->layers[i].known)
			return i;
	return TRIM_TOP;
}

uint64_t counts_rise(const struct counts *before, const struct counts *after, uint32_t layer)
{
	if (layer == TRIM_TOP || !before->layers[layer].known || !after->layers[layer].known)
		return 0;
	return after->layers[layer].discard_bytes - before->layers[layer].discard_bytes;
}

uint64_t counts_slowest(const struct trim_report *report, const struct counts *before,
			const struct counts *after)
{
	uint64_t slowest_ns = 0;

	for (uint32_t i = 0; i < report->layer_count; i++) {
		const struct count *a = &before->layers[i], *b = &after->layers[i];
		const uint64_t count = b->discard_count - a->discard_count;

		if (count && (b->discard_ns - a->discard_ns) / count > slowest_ns)
			slowest_ns = (b->discard_ns - a->discard_ns) / count;
	}
	return slowest_ns;
}
