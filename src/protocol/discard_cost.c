/* SPDX-License-Identifier: MIT */

/*
 * discard-cost - what sending discards costs: how long one takes by its size, of what is written
 * and of what is discarded already; and what readers feel while discards go by.
 *
 * Readers ask for 4 KiB at random in one part of the drive while another part is discarded, in
 * pieces of one size: one by one over some seconds, as a file system does whose mount discards
 * (online); all at once, one behind the other, as fstrim does (batched); not at all (control).
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/defer.h"
#include "base/units.h"
#include "protocol/kit.h"

#define REQUESTS 64 /* of each size, as far as they fit */
#define PART_SHARE 0.25
#define READ_BYTES (4 * KIB)
#define READ_DEPTH 4
#define DISCARDS 200 /* beside readers, as far as they fit */
#define DISCARDS_MIN 8
#define READ_NS (2 * SECOND_NS)
#define SETTLE_NS (200 * MILLISECOND_NS) /* what the fill left in buffers */

/* Limits (protocols.md section 10; ours). */
#define CHEAP_MAX 1.2 /* of the readers' p99.9: few requests meet a discard */
#define STALL_NS (100 * MILLISECOND_NS)

static const uint64_t sizes[] = {
	4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB,
};
static const uint64_t read_sizes[] = { 4 * KIB, 64 * KIB, MIB, 16 * MIB };
#define READ_SIZES ARRAY_COUNT(read_sizes)

struct discard_cost {
	struct kit *kit;
	uint64_t part_bytes;
	uint64_t stall_ns;  /* the longest anybody waited */
	double worst_ratio; /* of the readers' p99.9 with and without, online */
	double batched_ratio; /* the same, all discarded at once */
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

enum manner { ALONE, ONLINE, BATCHED };

/* In the second part of the drive; the first is discarded. */
static struct workload readers(const struct discard_cost *d, const char *name)
{
	struct cell_plan plan = {
		.rw = RW_RANDREAD,
		.block_bytes = READ_BYTES,
		.depth_count = READ_DEPTH,
		.offset_bytes = d->part_bytes,
		.size_bytes = d->part_bytes,
		.repeat = true,
		.runtime_ns = READ_NS,
		.ramp_ns = SETTLE_NS,
	};

	snprintf(plan.name, sizeof(plan.name), "%s", name);
	return kit_workload(d->kit, &plan);
}

static struct workload discards(const struct discard_cost *d, uint64_t size, enum manner manner)
{
	const uint64_t fit = d->part_bytes / size;
	const uint64_t count = fit < DISCARDS ? fit : DISCARDS;
	struct cell_plan plan = {
		.name = "discards beside",
		.rw = RW_TRIM,
		.block_bytes = size,
		.depth_count = 1,
		.size_bytes = count * size,
	};
	struct workload w = kit_workload(d->kit, &plan);

	w.start_delay_ns = SETTLE_NS;
	if (manner == ONLINE) {
		w.rate_iops = count * SECOND_NS / READ_NS;
		w.depth_count = 32; /* who is late does not keep the next one back */
	}
	return w;
}

static int read_beside(struct discard_cost *d, uint64_t size, enum manner manner,
		       struct protocol_cell *ret, struct err *err)
{
	static const char *const words[] = { "alone", "discards online", "discards batched" };
	struct workload w, other = discards(d, size, manner);
	char name[64], text[UNITS_TEXT_BYTES];
	int r = kit_anchor(d->kit, err);

	snprintf(name, sizeof(name), "read, %s of %s", words[manner],
		 units_format_bytes(size, text));
	if (r == 0)
		r = fill(d, 2 * d->part_bytes, name, err);
	if (r < 0)
		return r;
	w = readers(d, manner == ALONE ? words[ALONE] : name);
	if (manner == ALONE)
		return kit_run(d->kit, &w, true, ret, err);
	return kit_run_beside(d->kit, &w, &other, ret, err);
}

/* Of the readers, with and without. */
static double tell(struct discard_cost *d, uint64_t size, enum manner manner,
		   const struct protocol_cell *alone, const struct protocol_cell *beside)
{
	static const char *const words[] = { "", "online", "batched" };
	const double ratio =
		(double)beside->latency_ns_p999 / fmax(1, (double)alone->latency_ns_p999);
	char text[UNITS_TEXT_BYTES], name[64];

	units_format_bytes(size, text);
	snprintf(name, sizeof(name), "reads, p99, %s discards of %s", words[manner], text);
	kit_evidence(d->kit, name, "ns", (double)beside->latency_ns_p99);
	snprintf(name, sizeof(name), "reads, p99.9, %s discards of %s", words[manner], text);
	kit_evidence(d->kit, name, "ns", (double)beside->latency_ns_p999);
	snprintf(name, sizeof(name), "reads, longest, %s discards of %s", words[manner], text);
	kit_evidence(d->kit, name, "ns", (double)beside->latency_ns_max);
	if (beside->latency_ns_max > STALL_NS && alone->latency_ns_max <= STALL_NS &&
	    beside->latency_ns_max > d->stall_ns)
		d->stall_ns = beside->latency_ns_max;
	return ratio;
}

static int run_readers(struct discard_cost *d, uint64_t size, const struct protocol_cell *alone,
		       struct err *err)
{
	struct protocol_cell online, batched;
	double ratio;
	int r;

	if (d->part_bytes / size < DISCARDS_MIN)
		return 0;
	r = read_beside(d, size, ONLINE, &online, err);
	if (r == 0)
		r = read_beside(d, size, BATCHED, &batched, err);
	if (r < 0 || d->kit->forecasting)
		return r;
	ratio = tell(d, size, ONLINE, alone, &online);
	if (ratio > d->worst_ratio) {
		d->worst_ratio = ratio;
		d->worst_size = size;
	}
	ratio = tell(d, size, BATCHED, alone, &batched);
	if (ratio > d->batched_ratio)
		d->batched_ratio = ratio;
	return 0;
}

static void judge(const struct discard_cost *d)
{
	char text[UNITS_TEXT_BYTES];

	kit_evidence(d->kit, "readers' p99.9, worst, online", "x", d->worst_ratio);
	kit_evidence(d->kit, "readers' p99.9, worst, batched", "x", d->batched_ratio);
	if (d->stall_ns)
		kit_verdict(d->kit, "stalls", "Readers wait up to %s beside discards",
			    units_format_latency((double)d->stall_ns, text));
	else if (d->worst_ratio < CHEAP_MAX)
		kit_verdict(d->kit, "cheap", "Readers hardly feel discards");
	else
		kit_verdict(d->kit, "noticeable",
			    "Beside online discards of %s the readers' p99.9 is %.1f times as long, "
			    "beside batched ones up to %.1f times",
			    units_format_bytes(d->worst_size, text), d->worst_ratio,
			    d->batched_ratio);
}

static int run_discard_cost(struct kit *kit, struct err *err)
{
	struct discard_cost d = { .kit = kit, .part_bytes = kit_share(kit, PART_SHARE, MIB) };
	struct protocol_cell alone = { 0 };
	int r = 0;

	if (!kit_discards(kit))
		return err_set(err, -EOPNOTSUPP, "discard-cost: %s takes no discards",
			       sitting_target(kit->sitting)->spec);
	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(sizes); i++)
		r = run_size(&d, sizes[i], err);
	if (r == 0)
		r = read_beside(&d, read_sizes[0], ALONE, &alone, err);
	for (size_t i = 0; r == 0 && i < READ_SIZES; i++)
		r = run_readers(&d, read_sizes[i], &alone, err);
	if (r < 0 || kit->forecasting)
		return r;
	judge(&d);
	if (!d.kit->is_virtual)
		kit_note(kit, "discards are the drive's own; what a mounted file system makes of its "
			      "deletes is tare trim's to say");
	return 0;
}

const struct protocol protocol_discard_cost = {
	.name = "discard-cost",
	.summary = "how long discards take by size, and what readers feel of them",
	.description =
		"Discards of 4 KiB to 1 GiB, of what is written and of what is discarded already; "
		"then random 4 KiB reads in another part of the drive: alone, beside discards that "
		"come one by one (online), and beside all of them at once (batched), by size. Uses "
		"half of the drive.\n\n"
		"Verdicts: cheap (readers' p99.9 below 1.2 times beside online discards), noticeable, "
		"stalls (above 100 ms).",
	.writes = true,
	.run = run_discard_cost,
};
