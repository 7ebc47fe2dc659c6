/* SPDX-License-Identifier: MIT */

/*
 * discard-cost - what sending discards costs: how long one takes by its size, of what is written
 * and of what is discarded already; and what readers feel while discards go by.
 *
 * The engine does one workload at a time, so the readers' requests have the discards' size: of
 * ten requests one is a discard. Reads alone are the control. What a file system makes of its
 * deletes is not asked here.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"

#define REQUESTS 64 /* of each size, as far as they fit */
#define PART_SHARE 0.25
#define READ_REQUESTS 2000
#define READ_PLACES_MIN 100
#define READ_DEPTH 4
#define READ_PPM 900000

/* Limits (protocols.md section 10; ours). */
#define CHEAP_MAX 1.2 /* of the readers' p99 */
#define STALL_NS (100 * MILLISECOND_NS)

static const uint64_t sizes[] = {
	4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB,
};
static const uint64_t read_sizes[] = { 4 * KIB, 64 * KIB, MIB };
#define READ_SIZES ARRAY_COUNT(read_sizes)

struct discard_cost {
	struct kit *kit;
	uint64_t part_bytes;
	uint64_t stall_ns;  /* the longest anybody waited */
	double worst_ratio; /* of the readers' p99 with and without */
	uint64_t worst_size;
};

static int fill(struct discard_cost *d, uint64_t bytes, const char *name, struct err *err)
{
	struct cell_plan plan = {
		.rw = RW_WRITE,
		.block_bytes = 4 * KIB,
		.depth_count = 32,
		.size_bytes = bytes,
	};

	if (bytes % (128 * KIB) == 0)
		plan.block_bytes = 128 * KIB;
	snprintf(plan.name, sizeof(plan.name), "%s: fill", name);
	return kit_step(d->kit, &plan, NULL, err);
}

static int discard(struct discard_cost *d, uint64_t size, uint64_t bytes, bool again,
		   struct err *err)
{
	struct cell_plan plan = {
		.rw = RW_TRIM,
		.block_bytes = size,
		.depth_count = 1,
		.size_bytes = bytes,
	};
	char text[UNITS_TEXT_BYTES], name[64];
	struct protocol_cell cell;
	int r;

	units_format_bytes(size, text);
	snprintf(plan.name, sizeof(plan.name), "discard %s, %s", text, again ? "again" : "written");
	r = kit_measure(d->kit, &plan, &cell, err);
	if (r < 0 || d->kit->forecasting)
		return r;
	snprintf(name, sizeof(name), "discard of %s, %s, median", text,
		 again ? "again" : "written");
	kit_evidence(d->kit, name, "ns", (double)cell.latency_ns_p50);
	snprintf(name, sizeof(name), "discard of %s, %s, longest", text,
		 again ? "again" : "written");
	kit_evidence(d->kit, name, "ns", (double)cell.latency_ns_max);
	return 0;
}

static int run_size(struct discard_cost *d, uint64_t size, struct err *err)
{
	const uint64_t fit = d->part_bytes / size;
	const uint64_t bytes = size * (fit < REQUESTS ? fit : REQUESTS);
	char text[UNITS_TEXT_BYTES];
	int r;

	if (bytes == 0)
		return 0;
	r = kit_anchor(d->kit, err);
	if (r == 0)
		r = fill(d, bytes, units_format_bytes(size, text), err);
	if (r == 0)
		r = discard(d, size, bytes, false, err);
	return r == 0 ? discard(d, size, bytes, true, err) : r;
}

/* Random reads in what is written, alone or with discards among them. */
static int read_beside(struct discard_cost *d, uint64_t size, bool with, struct protocol_cell *ret,
		       struct err *err)
{
	struct cell_plan plan = {
		.rw = with ? RW_RANDRW : RW_RANDREAD,
		.read_ppm = READ_PPM,
		.block_bytes = size,
		.depth_count = READ_DEPTH,
		.size_bytes = d->part_bytes / size * size,
		.repeat = true,
		.io_bytes = READ_REQUESTS * size,
	};
	const uint64_t places = d->part_bytes / size;
	char text[UNITS_TEXT_BYTES];
	struct workload w;
	int r;

	/* A tenth of all places is discarded at most: reads of what is gone are no reads. */
	plan.io_bytes = (places < READ_REQUESTS ? places : READ_REQUESTS) * size;

	units_format_bytes(size, text);
	snprintf(plan.name, sizeof(plan.name), "read %s%s", text, with ? ", discards beside" : "");
	w = kit_workload(d->kit, &plan);
	if (with)
		w.trim_ppm = PPM;
	r = kit_anchor(d->kit, err);
	if (r == 0)
		r = fill(d, d->part_bytes, plan.name, err);
	return r == 0 ? kit_run(d->kit, &w, true, ret, err) : r;
}

static int run_readers(struct discard_cost *d, uint64_t size, struct err *err)
{
	struct protocol_cell alone, beside;
	char text[UNITS_TEXT_BYTES], name[64];
	double ratio;
	int r;

	if (d->part_bytes / size < READ_PLACES_MIN)
		return 0;
	r = read_beside(d, size, false, &alone, err);
	if (r == 0)
		r = read_beside(d, size, true, &beside, err);
	if (r < 0 || d->kit->forecasting)
		return r;
	units_format_bytes(size, text);
	snprintf(name, sizeof(name), "reads of %s, p99 alone", text);
	kit_evidence(d->kit, name, "ns", (double)alone.latency_ns_p99);
	snprintf(name, sizeof(name), "reads of %s, p99 with discards", text);
	kit_evidence(d->kit, name, "ns", (double)beside.latency_ns_p99);
	snprintf(name, sizeof(name), "reads of %s, longest with discards", text);
	kit_evidence(d->kit, name, "ns", (double)beside.latency_ns_max);
	ratio = (double)beside.latency_ns_p99 / fmax(1, (double)alone.latency_ns_p99);
	if (ratio > d->worst_ratio) {
		d->worst_ratio = ratio;
		d->worst_size = size;
	}
	if (beside.latency_ns_max > STALL_NS && alone.latency_ns_max <= STALL_NS &&
	    beside.latency_ns_max > d->stall_ns)
		d->stall_ns = beside.latency_ns_max;
	return 0;
}

static void judge(const struct discard_cost *d)
{
	char text[UNITS_TEXT_BYTES];

	kit_evidence(d->kit, "readers' p99, worst", "x", d->worst_ratio);
	if (d->stall_ns)
		kit_verdict(d->kit, "stalls", "Readers wait up to %s beside discards",
			    units_format_latency((double)d->stall_ns, text));
	else if (d->worst_ratio < CHEAP_MAX)
		kit_verdict(d->kit, "cheap", "Readers hardly feel discards");
	else
		kit_verdict(d->kit, "noticeable",
			    "Beside discards of %s the readers' p99 is %.1f times "
			    "as long",
			    units_format_bytes(d->worst_size, text), d->worst_ratio);
}

static int run_discard_cost(struct kit *kit, struct err *err)
{
	struct discard_cost d = { .kit = kit, .part_bytes = kit_share(kit, PART_SHARE, MIB) };
	int r = 0;

	if (!kit_discards(kit))
		return err_set(err, -EOPNOTSUPP, "discard-cost: %s takes no discards",
			       sitting_target(kit->sitting)->spec);
	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(sizes); i++)
		r = run_size(&d, sizes[i], err);
	for (size_t i = 0; r == 0 && i < READ_SIZES; i++)
		r = run_readers(&d, read_sizes[i], err);
	if (r < 0 || kit->forecasting)
		return r;
	judge(&d);
	kit_note(kit,
		 "readers' requests are as large as the discards beside them; discards of file "
		 "systems (online, batched) are not asked");
	return 0;
}

const struct protocol protocol_discard_cost = {
	.name = "discard-cost",
	.summary = "how long discards take by size, and what readers feel of them",
	.description = "Discards of 4 KiB to 1 GiB, of what is written and of what is discarded "
		       "already; then "
		       "random reads alone, and with one discard of the same size among ten "
		       "requests. Uses a "
		       "quarter of the drive.\n\n"
		       "Verdicts: cheap (readers' p99 below 1.2 times), noticeable, stalls (above "
		       "100 ms).",
	.writes = true,
	.run = run_discard_cost,
};
