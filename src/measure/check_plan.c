/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/defer.h"
#include "base/units.h"
#include "measure/measure.h"

/*
 * Reads first: they find the file as layout left it, in one piece. Sequential writes rewrite it
 * in order; random writes come last, because on a copy-on-write file system or a small drive
 * they leave a file, and a map, that reads and writes differently.
 */
static const struct row {
	const char *name;
	uint32_t rw, depth_count;
	uint64_t block_bytes;
	bool synced;
} rows[] = {
	{ "seq-read-1m-q8", RW_READ, 8, MIB, false },
	{ "seq-read-1m-q1", RW_READ, 1, MIB, false },
	{ "rand-read-4k-q32", RW_RANDREAD, 32, 4 * KIB, false },
	{ "rand-read-4k-q1", RW_RANDREAD, 1, 4 * KIB, false },
	{ "seq-write-1m-q8", RW_WRITE, 8, MIB, false },
	{ "seq-write-1m-q1", RW_WRITE, 1, MIB, false },
	{ "rand-write-4k-q32", RW_RANDWRITE, 32, 4 * KIB, false },
	{ "rand-write-4k-q1", RW_RANDWRITE, 1, 4 * KIB, false },
	{ "sync-write-4k-q1", RW_RANDWRITE, 1, 4 * KIB, true },
};
#define READ_ROWS 4

/* Layout and nine rows, or four rows without one: 15 s, 60 s, 5 min in all. */
static const struct {
	uint64_t layout_ns, ramp_ns, row_ns, read_row_ns;
} lengths[] = {
	[CHECK_QUICK] = { 2500 * MILLISECOND_NS, 100 * MILLISECOND_NS, 1200 * MILLISECOND_NS,
			  3 * SECOND_NS },
	[CHECK_NORMAL] = { 11 * SECOND_NS, 250 * MILLISECOND_NS, 5 * SECOND_NS, 14 * SECOND_NS },
	[CHECK_LONG] = { 20 * SECOND_NS, SECOND_NS, 30 * SECOND_NS, 72 * SECOND_NS },
};

uint64_t measure_check_layout_ns(enum check_length length)
{
	return lengths[length].layout_ns;
}

static void fill_row(struct workload *w, const struct row *row)
{
	workload_init(w);
	snprintf(w->name, sizeof(w->name), "%s", row->name);
	w->rw = row->rw;
	w->block_bytes = row->block_bytes;
	w->depth_count = row->depth_count;
	w->job_count = 1;
	w->direct = true;
	w->fdatasync_count = row->synced;
}

int measure_check_plan(struct plan *ret, const char *target, enum check_length length,
		       bool reads_only, struct err *err)
{
	const size_t count = reads_only ? READ_ROWS : ARRAY_COUNT(rows);
	const size_t length_bytes = strlen(target);

	if (length_bytes >= sizeof(ret->target))
		return err_set(err, -ENAMETOOLONG, "the path has %zu bytes, at most %zu will do",
			       length_bytes, sizeof(ret->target) - 1);
	plan_init(ret);
	memcpy(ret->target, target, length_bytes + 1);
	for (size_t i = 0; i < count; i++) {
		struct workload *w = &plan_add(ret, PHASE_MEASURE)->workload;

		fill_row(w, &rows[i]);
		w->ramp_ns = lengths[length].ramp_ns;
		w->runtime_ns = reads_only ? lengths[length].read_row_ns : lengths[length].row_ns;
	}
	return 0;
}
