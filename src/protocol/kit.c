/* SPDX-License-Identifier: MIT */
#include "protocol/kit.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/units.h"
#include "protocol/checkpoint.h"
#include "stats/histogram.h"

/* --- the outcome ---------------------------------------------------------------------- */

static void *grow(void *array, size_t count, size_t item_bytes)
{
	/* Doubling at powers of two; out of memory aborts, as in base/text.h. */
	if (count & (count - 1))
		return array;
	array = realloc(array, (count ? 2 * count : 1) * item_bytes);
	if (!array)
		abort();
	return array;
}

static void add_cell(struct kit *kit, const struct protocol_cell *cell)
{
	struct protocol_outcome *o = kit->outcome;

	o->cells = grow(o->cells, o->cell_count, sizeof(*o->cells));
	o->cells[o->cell_count++] = *cell;
}

void kit_verdict(struct kit *kit, const char *code, const char *fmt, ...)
{
	struct protocol_outcome *o = kit->outcome;
	va_list args;

	snprintf(o->verdict_code, sizeof(o->verdict_code), "%s", code);
	va_start(args, fmt);
	vsnprintf(o->verdict_text, sizeof(o->verdict_text), fmt, args);
	va_end(args);
}

void kit_evidence_within(struct kit *kit, const char *name, const char *unit,
			 const double value_low_high[3])
{
	struct protocol_outcome *o = kit->outcome;
	struct protocol_evidence *e;

	o->evidence = grow(o->evidence, o->evidence_count, sizeof(*o->evidence));
	e = &o->evidence[o->evidence_count++];
	*e = (struct protocol_evidence){
		.value = value_low_high[0],
		.low = value_low_high[1],
		.high = value_low_high[2],
	};
	snprintf(e->name, sizeof(e->name), "%s", name);
	snprintf(e->unit, sizeof(e->unit), "%s", unit);
}

void kit_evidence(struct kit *kit, const char *name, const char *unit, double value)
{
	kit_evidence_within(kit, name, unit, (const double[3]){ value, NAN, NAN });
}

void kit_note(struct kit *kit, const char *fmt, ...)
{
	struct protocol_outcome *o = kit->outcome;
	va_list args;

	o->notes = grow(o->notes, o->note_count, sizeof(*o->notes));
	va_start(args, fmt);
	vsnprintf(o->notes[o->note_count++], sizeof(*o->notes), fmt, args);
	va_end(args);
}

/* --- cells ----------------------------------------------------------------------------- */

uint64_t kit_share(const struct kit *kit, double share, uint64_t block_bytes)
{
	const uint64_t bytes = (uint64_t)((double)kit->capacity_bytes * share);

	return bytes < block_bytes ? block_bytes : bytes / block_bytes * block_bytes;
}

bool kit_discards(const struct kit *kit)
{
	const struct target_info *info = sitting_target(kit->sitting);

	/* A file system takes holes, whatever becomes of them below. */
	return info->discard_max_bytes > 0 || info->kind == TARGET_DIRECTORY ||
	       info->kind == TARGET_FILE;
}

struct workload kit_workload(const struct kit *kit, const struct cell_plan *plan)
{
	const uint64_t rest = kit->capacity_bytes - plan->offset_bytes;
	const uint64_t align = plan->align_bytes ? plan->align_bytes : plan->block_bytes;
	struct workload w;

	workload_init(&w);
	memcpy(w.name, plan->name, sizeof(w.name));
	w.rw = plan->rw;
	w.read_ppm = plan->read_ppm;
	w.block_bytes = plan->block_bytes;
	w.align_bytes = align;
	w.depth_count = plan->depth_count ? plan->depth_count : 1;
	w.job_count = 1;
	w.offset.bytes = plan->offset_bytes;
	w.size.bytes =
		plan->size_bytes ? plan->size_bytes : rest / plan->block_bytes * plan->block_bytes;
	w.segment_count = plan->segment_count;
	w.segment_range.bytes = plan->segment_range_bytes;
	w.segment_seed = plan->segment_seed;
	w.io_size_bytes = plan->io_bytes;
	w.runtime_ns = plan->runtime_ns;
	w.ramp_ns = plan->ramp_ns;
	w.repeat = plan->repeat;
	if (plan->flush) {
		assert(plan->io_bytes);
		w.fsync_count = (uint32_t)(plan->io_bytes / plan->block_bytes);
		w.io_size_bytes += plan->block_bytes;
	}
	w.direct = true;
	w.data = DATA_RANDOM;
	/* Never 0, and another for each cell: no cell writes the addresses of the one before. */
	w.seed = random_mix(kit->outcome->seed * 1000003 + kit->cell_index) | 1;
	return w;
}

static void cell_of(const char *name, const struct measurement *m, struct protocol_cell *ret)
{
	struct histogram all;
	uint64_t count = 0;

	*ret = (struct protocol_cell){ .duration_ns = m->duration_ns };
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	histogram_init(&all);
	for (int kind = OP_READ; kind <= OP_TRIM; kind++) {
		count += m->ops[kind].count;
		ret->bytes += m->ops[kind].bytes;
		/* Of discards only where there is nothing else: who waits is the reader. */
		if (m->ops[kind].latency && (kind != OP_TRIM || !all.count))
			histogram_merge(&all, m->ops[kind].latency);
	}
	if (m->duration_ns) {
		ret->bytes_per_s = (double)ret->bytes * 1e9 / (double)m->duration_ns;
		ret->iops = (double)count * 1e9 / (double)m->duration_ns;
	}
	ret->latency_ns_p50 = histogram_percentile_ns(&all, 500000);
	ret->latency_ns_p99 = histogram_percentile_ns(&all, 990000);
	ret->latency_ns_p999 = histogram_percentile_ns(&all, 999000);
	ret->latency_ns_max = all.count ? all.max_ns : 0;
}

static double share_of_writes(const struct workload *w)
{
	if (w->trim_ppm == PPM)
		return 0;
	switch (w->rw) {
	case RW_WRITE:
	case RW_RANDWRITE:
		return 1;
	case RW_READWRITE:
	case RW_RANDRW:
		return 1 - (double)w->read_ppm / PPM;
	default:
		return 0;
	}
}

/* What it moves and how long it takes at the speeds assumed. Discards take no time. */
static void forecast_cell(struct kit *kit, const struct workload *w, struct protocol_cell *ret)
{
	const struct protocol_outcome *o = kit->outcome;
	const bool trims = w->rw == RW_TRIM || w->rw == RW_RANDTRIM;
	const double rate = workload_is_random(w) ? o->assumed_random_bytes_per_s
						  : o->assumed_sequential_bytes_per_s;
	const uint64_t pitch = w->stride_bytes ? w->stride_bytes : w->align_bytes;
	/* One pass touches a block in each stride, or in each place to start at. */
	const uint64_t range =
		pitch > w->block_bytes ? w->size.bytes / pitch * w->block_bytes : w->size.bytes;
	const uint64_t pass = w->io_size_bytes ? w->io_size_bytes : range;
	const double pass_ns = (double)pass / rate * 1e9;
	double ns = pass_ns;

	*ret = (struct protocol_cell){ .bytes_per_s = rate, .iops = rate / (double)w->block_bytes };
	memcpy(ret->name, w->name, sizeof(ret->name));
	if (w->runtime_ns && (!w->io_size_bytes || pass_ns > (double)w->runtime_ns))
		ns = (double)(w->runtime_ns + w->ramp_ns);
	if (trims)
		ns = 0;
	ret->duration_ns = (uint64_t)ns;
	ret->bytes = trims ? pass : (uint64_t)(rate * ns / 1e9);
}

static void count(struct kit *kit, const struct workload *w, const struct protocol_cell *cell)
{
	const double written = (double)cell->bytes * share_of_writes(w);

	if (w->rw == RW_TRIM || w->rw == RW_RANDTRIM)
		return;
	kit->outcome->written_bytes += (uint64_t)written;
	kit->outcome->read_bytes += cell->bytes - (uint64_t)written;
}

/* What is done for a cell. */
struct cell_run {
	const struct workload *workload, *other; /* other: beside it; NULL = alone */
	bool in_result;
};

static int do_cell(struct kit *kit, const struct cell_run *run, struct protocol_cell *ret,
		   struct err *err)
{
	const struct workload *w = run->workload;
	const struct measurement *kept;
	struct measurement m;
	int r;

	if (run->in_result) {
		r = run->other ? sitting_measure_beside(kit->sitting, w, run->other, &kept, err) :
				 sitting_measure(kit->sitting, w, &kept, err);
		if (r == 0)
			cell_of(w->name, kept, ret);
		return r;
	}
	r = sitting_step(kit->sitting, w, &m, err);
	if (r == 0)
		cell_of(w->name, &m, ret);
	measurement_done(&m);
	return r;
}

/* Takes the cell from the checkpoint when it is there: 1; 0 when it is to be done. */
static int take(struct kit *kit, const char *name, struct protocol_cell *ret, struct err *err)
{
	int r;

	if (checkpoint_take(kit->checkpoint, name, ret, &r, err)) {
		kit->outcome->resumed_count++;
		return 1;
	}
	return r;
}

static int run_cell(struct kit *kit, const struct cell_run *run, struct protocol_cell *ret,
		    struct err *err)
{
	struct protocol_cell room, *cell = ret ? ret : &room;
	int r;

	kit->cell_index++;
	r = take(kit, run->workload->name, cell, err);
	if (r < 0)
		return r;
	if (r == 0 && kit->forecasting) {
		forecast_cell(kit, run->workload, cell);
	} else if (r == 0) {
		r = do_cell(kit, run, cell, err);
		if (r == 0)
			r = checkpoint_add(kit->checkpoint, cell, err);
		if (r < 0)
			return r;
	}
	add_cell(kit, cell);
	count(kit, run->workload, cell);
	kit->outcome->total_ns += cell->duration_ns;
	return 0;
}

int kit_run(struct kit *kit, const struct workload *w, bool in_result, struct protocol_cell *ret,
	    struct err *err)
{
	return run_cell(kit, &(struct cell_run){ w, NULL, in_result }, ret, err);
}

int kit_run_beside(struct kit *kit, const struct workload *workload, const struct workload *other,
		   struct protocol_cell *ret, struct err *err)
{
	return run_cell(kit, &(struct cell_run){ workload, other, true }, ret, err);
}

int kit_measure(struct kit *kit, const struct cell_plan *plan, struct protocol_cell *ret,
		struct err *err)
{
	const struct workload w = kit_workload(kit, plan);

	return kit_run(kit, &w, true, ret, err);
}

int kit_step(struct kit *kit, const struct cell_plan *plan, struct protocol_cell *ret,
	     struct err *err)
{
	const struct workload w = kit_workload(kit, plan);
	const struct measure_observer *observer = &kit->options->measure.observer;
	const bool told = !plan->quiet && !kit->forecasting;
	int r;

	if (told && observer->begin)
		observer->begin(observer->ctx, plan->name, kit->outcome->cell_count, 0);
	r = kit_run(kit, &w, false, ret, err);
	if (told && observer->end)
		observer->end(observer->ctx, NULL);
	return r;
}

/* A pause or a purge: a cell without bytes. */
static int finish_still(struct kit *kit, struct protocol_cell *cell, struct err *err)
{
	int r = kit->forecasting ? 0 : checkpoint_add(kit->checkpoint, cell, err);

	if (r < 0)
		return r;
	add_cell(kit, cell);
	kit->outcome->total_ns += cell->duration_ns;
	return 0;
}

int kit_idle(struct kit *kit, const char *name, uint64_t idle_ns, struct err *err)
{
	struct protocol_cell cell = { .duration_ns = idle_ns };
	int r;

	snprintf(cell.name, sizeof(cell.name), "%s", name);
	r = take(kit, name, &cell, err);
	if (r < 0)
		return r;
	if (r > 0) {
		add_cell(kit, &cell);
		kit->outcome->total_ns += cell.duration_ns;
		return 0;
	}
	if (!kit->forecasting) {
		r = sitting_idle(kit->sitting, idle_ns, err);
		if (r < 0)
			return r;
	}
	return finish_still(kit, &cell, err);
}

/* Of the state's figures what a cell has room for. */
static void cell_of_step(const struct step_result *done, struct protocol_cell *ret)
{
	ret->bytes = done->written_bytes ? done->written_bytes : done->discard_asked_bytes;
	ret->written_bytes = done->written_bytes;
	ret->duration_ns = done->duration_ns;
	if (done->duration_ns)
		ret->bytes_per_s = (double)ret->bytes * 1e9 / (double)done->duration_ns;
}

int kit_state(struct kit *kit, const char *name, const struct step *step, struct protocol_cell *ret,
	      struct err *err)
{
	struct protocol_cell room, *cell = ret ? ret : &room;
	const struct step_result *done;
	int r = take(kit, name, cell, err);

	if (r < 0)
		return r;
	if (r > 0) {
		add_cell(kit, cell);
		kit->outcome->total_ns += cell->duration_ns;
		kit->outcome->written_bytes += cell->written_bytes;
		return 0;
	}
	*cell = (struct protocol_cell){ 0 };
	snprintf(cell->name, sizeof(cell->name), "%s", name);
	if (kit->forecasting) {
		cell->bytes = sitting_forecast_bytes(kit->sitting, step);
		cell->bytes_per_s = kit->outcome->assumed_sequential_bytes_per_s;
		cell->duration_ns =
			(uint64_t)((double)cell->bytes * 1e9 / cell->bytes_per_s);
		kit->outcome->written_bytes += cell->bytes;
	} else {
		r = sitting_state(kit->sitting, step, &done, err);
		if (r < 0)
			return err_wrap(err, "%s", name);
		cell_of_step(done, cell);
		kit->outcome->written_bytes += done->written_bytes;
	}
	return finish_still(kit, cell, err);
}

/* The method is part of the cell's name: a resume on another kind of drive is found out. */
int kit_purge(struct kit *kit, bool *ret_erased, struct err *err)
{
	const bool erased = sitting_has_erase(kit->sitting);
	struct step step;

	step_init(&step, STEP_PURGE);
	if (ret_erased)
		*ret_erased = erased;
	return kit_state(kit, erased ? "purge by erase" : "purge by discard", &step, NULL, err);
}

/* Among comma-separated words: "discard", "discard=async"; not "nodiscard". */
static bool has_discard(const char *options)
{
	while (*options) {
		const size_t length = strcspn(options, ",");

		if (strncmp(options, "discard", 7) == 0 && strchr(",=", options[7]))
			return true;
		options += length + (options[length] == ',');
	}
	return false;
}

int kit_check_no_online_discard(const struct kit *kit, struct err *err)
{
	const struct target_info *info = sitting_target(kit->sitting);

	if (info->kind != TARGET_DIRECTORY || !has_discard(info->mount_options))
		return 0;
	err_set(err, -EOPNOTSUPP,
		"%s: %s is mounted with discard, so nothing can be deleted without",
		kit->protocol->name, info->mount_point);
	return err_hint(err, "mount -o remount,nodiscard %s", info->mount_point);
}

int kit_anchor(struct kit *kit, struct err *err)
{
	return kit->forecasting ? 0 : checkpoint_anchor(kit->checkpoint, err);
}

bool kit_has_gap(const struct kit *kit)
{
	return checkpoint_has_gap(kit->checkpoint);
}

int kit_refill(struct kit *kit, uint64_t size_bytes, struct err *err)
{
	const struct cell_plan fill = {
		.name = "the test file, written anew",
		.rw = RW_WRITE,
		.block_bytes = 64 * KIB,
		.depth_count = 8,
		.size_bytes = size_bytes,
	};

	if (!kit_has_gap(kit) || sitting_target(kit->sitting)->kind != TARGET_DIRECTORY ||
	    size_bytes < fill.block_bytes)
		return 0;
	return kit_step(kit, &fill, NULL, err);
}
