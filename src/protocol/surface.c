/* SPDX-License-Identifier: MIT */

/*
 * surface - speed against address, as HD Tach, HD Tune and H2benchw show it: a hundred equal
 * sections, the start of each transferred in 1 MiB requests one after the other; access time
 * of reads anywhere; burst rate of one place read again and again.
 *
 * Reads only, unless the target may be written: then a write pass goes before, so that what is
 * read was written.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"

#define SECTIONS 100
#define SECTION_BYTES (64 * MIB)
#define BLOCK_BYTES MIB
#define ACCESS_COUNT 1000
#define BURST_BYTES (64 * KIB)
#define BURST_COUNT 1000
#define AGAIN 3 /* a slow section is measured so often again */

/* Limits (protocols.md section 5; ours). */
#define FLAT_MAX 1.2 /* fastest over slowest */
#define SLOW 0.8     /* of the median */

struct pass {
	const char *name;
	uint32_t rw;
	double rates[SECTIONS];
	bool slow[SECTIONS]; /* also when measured again */
	size_t slow_count;
	double low, high, mean, median;
};

struct surface {
	struct kit *kit;
	uint64_t section_bytes, block_bytes;
	struct pass read, write;
};

/* One section; again counts from 1 when it was measured before. */
struct transfer {
	size_t section;
	uint32_t again;
	double rate; /* the answer */
};

static int transfer(struct surface *s, const struct pass *pass, struct transfer *t, struct err *err)
{
	const uint64_t pitch = s->kit->capacity_bytes / SECTIONS / s->block_bytes * s->block_bytes;
	struct cell_plan plan = {
		.rw = pass->rw,
		.block_bytes = s->block_bytes,
		.depth_count = 1,
		.offset_bytes = pitch * t->section,
		.size_bytes = s->section_bytes,
		.quiet = true,
	};
	struct protocol_cell cell;
	int r;

	if (t->again)
		snprintf(plan.name, sizeof(plan.name), "%s %zu again %u", pass->name, t->section,
			 t->again);
	else
		snprintf(plan.name, sizeof(plan.name), "%s %zu", pass->name, t->section);
	r = kit_anchor(s->kit, err);
	if (r == 0)
		r = kit_step(s->kit, &plan, &cell, err);
	if (r == 0)
		t->rate = cell.bytes_per_s;
	return r;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void summarise(struct pass *pass)
{
	double sorted[SECTIONS], sum = 0;

	for (size_t i = 0; i < SECTIONS; i++) {
		sorted[i] = pass->rates[i];
		sum += pass->rates[i];
	}
	qsort(sorted, SECTIONS, sizeof(sorted[0]), by_value);
	pass->low = sorted[0];
	pass->high = sorted[SECTIONS - 1];
	pass->mean = sum / SECTIONS;
	pass->median = (sorted[SECTIONS / 2 - 1] + sorted[SECTIONS / 2]) / 2;
}

/* A single hiccup is no slow spot: the best of all attempts counts. */
static int look_again(struct surface *s, struct pass *pass, struct err *err)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		if (pass->rates[i] >= SLOW * pass->median)
			continue;
		for (uint32_t again = 1; again <= AGAIN; again++) {
			struct transfer t = { .section = i, .again = again };
			int r = transfer(s, pass, &t, err);

			if (r < 0)
				return r;
			pass->rates[i] = fmax(pass->rates[i], t.rate);
		}
		pass->slow[i] = pass->rates[i] < SLOW * pass->median;
		pass->slow_count += pass->slow[i];
	}
	return 0;
}

static int run_pass(struct surface *s, struct pass *pass, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < SECTIONS; i++) {
		struct transfer t = { .section = i };

		r = transfer(s, pass, &t, err);
		pass->rates[i] = t.rate;
	}
	if (r < 0 || s->kit->forecasting)
		return r;
	summarise(pass);
	/* Writing again would find the drive changed: reads only. */
	if (pass->rw == RW_READ)
		r = look_again(s, pass, err);
	summarise(pass);
	return r;
}

/* Where the sections were transferred, so that no read goes to what was never written. */
static int measure_access(struct surface *s, struct err *err)
{
	const struct cell_plan plan = {
		.name = "access time",
		.rw = RW_RANDREAD,
		.block_bytes = 4 * KIB,
		.depth_count = 1,
		.io_bytes = ACCESS_COUNT * 4 * KIB,
		.repeat = true,
	};
	struct protocol_cell cell;
	int r = kit_anchor(s->kit, err);

	if (r == 0)
		r = kit_measure(s->kit, &plan, &cell, err);
	if (r < 0 || s->kit->forecasting)
		return r;
	kit_evidence(s->kit, "access time, median", "ns", (double)cell.latency_ns_p50);
	kit_evidence(s->kit, "access time, p99", "ns", (double)cell.latency_ns_p99);
	kit_evidence(s->kit, "access time, longest", "ns", (double)cell.latency_ns_max);
	return 0;
}

static int measure_burst(struct surface *s, struct err *err)
{
	const struct cell_plan plan = {
		.name = "burst",
		.rw = RW_RANDREAD,
		.block_bytes = BURST_BYTES,
		.depth_count = 1,
		.size_bytes = BURST_BYTES,
		.io_bytes = BURST_COUNT * BURST_BYTES,
		.repeat = true,
	};
	struct protocol_cell cell;
	int r = kit_anchor(s->kit, err);

	if (r == 0)
		r = kit_measure(s->kit, &plan, &cell, err);
	if (r == 0 && !s->kit->forecasting)
		kit_evidence(s->kit, "burst", "B/s", cell.bytes_per_s);
	return r;
}

/* --- what it means --------------------------------------------------------------------- */

static void add_pass(struct kit *kit, const struct pass *pass)
{
	char name[64];

	snprintf(name, sizeof(name), "%s, slowest", pass->name);
	kit_evidence(kit, name, "B/s", pass->low);
	snprintf(name, sizeof(name), "%s, mean", pass->name);
	kit_evidence(kit, name, "B/s", pass->mean);
	snprintf(name, sizeof(name), "%s, fastest", pass->name);
	kit_evidence(kit, name, "B/s", pass->high);
}

static void name_slow(const struct surface *s, struct text *ret)
{
	size_t named = 0;

	for (size_t i = 0; i < SECTIONS && named < 5; i++)
		if (s->read.slow[i])
			text_add(ret, "%s%zu %%", named++ ? ", " : "", i);
	if (s->read.slow_count > named)
		text_add(ret, " and %zu more", s->read.slow_count - named);
}

static void judge(const struct surface *s)
{
	const struct pass *read = &s->read;
	char low[UNITS_TEXT_BYTES], high[UNITS_TEXT_BYTES], mean[UNITS_TEXT_BYTES];
	struct text where = TEXT_INIT;

	units_format_rate_bytes(read->low, low);
	units_format_rate_bytes(read->high, high);
	units_format_rate_bytes(read->mean, mean);
	name_slow(s, &where);
	if (read->high < FLAT_MAX * read->low)
		kit_verdict(s->kit, "flat", "Reads at %s everywhere", mean);
	else if (sitting_target(s->kit->sitting)->rotational &&
		 read->rates[0] > FLAT_MAX * read->rates[SECTIONS - 1])
		kit_verdict(s->kit, "zones", "%s outside, %s inside: a disk's zones",
			    units_format_rate_bytes(read->rates[0], high),
			    units_format_rate_bytes(read->rates[SECTIONS - 1], low));
	else if (read->slow_count && read->slow_count <= SECTIONS / 4)
		kit_verdict(s->kit, "slow-spots",
			    "Reads at %s, but slowly (%s at worst) at %s of the "
			    "drive, also when read again",
			    mean, low, text_string(&where));
	else
		kit_verdict(s->kit, "uneven", "Reads at %s to %s, depending on the place", low,
			    high);
	text_done(&where);
}

static int run_surface(struct kit *kit, struct err *err)
{
	struct surface s = {
		.kit = kit,
		.block_bytes = BLOCK_BYTES,
		.read = { .name = "read", .rw = RW_READ },
		.write = { .name = "write", .rw = RW_WRITE },
	};
	int r = 0;

	while (s.block_bytes * SECTIONS > kit->capacity_bytes)
		s.block_bytes /= 2;
	s.section_bytes = kit->capacity_bytes / SECTIONS / s.block_bytes * s.block_bytes;
	if (s.section_bytes > SECTION_BYTES)
		s.section_bytes = SECTION_BYTES;
	if (kit->may_write)
		r = run_pass(&s, &s.write, err);
	if (r == 0)
		r = run_pass(&s, &s.read, err);
	if (r < 0)
		return r;
	if (!kit->forecasting) {
		if (kit->may_write)
			add_pass(kit, &s.write);
		add_pass(kit, &s.read);
		judge(&s);
	}
	r = measure_access(&s, err);
	if (r == 0)
		r = measure_burst(&s, err);
	if (r == 0 && kit->may_write)
		kit_note(
			kit,
			"the write pass changed the drive: a fragmented one reads faster after it");
	if (r == 0 && !kit->may_write)
		kit_note(kit,
			 "reads of places that were never written do not show the flash's speed");
	return r;
}

const struct protocol protocol_surface = {
	.name = "surface",
	.summary = "speed along the whole drive, access time, burst rate",
	.description =
		"A hundred sections, up to 64 MiB of each in 1 MiB requests; a thousand reads of 4 "
		"KiB "
		"anywhere; the same 64 KiB a thousand times. A slow section is read three times "
		"more "
		"before it is called one. Reads only; where the target may be written "
		"(--erase-data, "
		"--expendable, a directory, the reference drive) a write pass goes before.\n\n"
		"Verdicts: flat (fastest below 1.2 times slowest), slow-spots, uneven, zones "
		"(disks).",
	.writes_if_allowed = true,
	.lays_out = true,
	.run = run_surface,
};
