/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * iometer - an IOMeter configuration into a plan: for each position of the specifications and
 * each step of the cycle one test, in which each target of each worker is a measurement of
 * its own and all run together.
 *
 * Where tare does not do literally what IOMeter would, labels.notes says so.
 */

#include "foreign/icf.h"
#include "model/iometer_labels.h"
#include "model/plan.h"

struct iometer_map {
	const char *name, *path;	/* a target as the file names it, and what it is here */
};

struct iometer_options {
	const char *file;		/* for sentences */
	const struct iometer_map *maps;
	size_t map_count;
	const char *target;		/* of all that no map names; NULL */
	uint64_t runtime_ns;		/* 0 = the file's */
	uint64_t ramp_ns;
	bool has_ramp;			/* ramp_ns is given; else the file's */
	uint32_t depth_count;		/* 0 = the workers' own */
	uint64_t size_bytes;		/* of test files; 0 = the workers' maximum size, else sensible */
	bool exact;			/* the file's data pattern, alignment 0 = 512 bytes */
	/* What a path leads to: 0, or a negative errno when there is nothing. */
	int (*look)(void *ctx, const char *path, bool *ret_is_directory, uint64_t *ret_size_bytes);
	void *look_ctx;
};

/* -EINVAL with all that is missing named; plan and labels are done then. */
int iometer_plan(const struct icf *icf, const struct iometer_options *options, struct plan *plan,
		 struct iometer_labels *labels, struct err *err);

/*
 * In place of the file's managers one worker on one target, which options.target must name: that
 * runs spec, or all the file has, one after another. For files of specifications only. icf is
 * the caller's to give back, also on failure (-ENOMEM, no specification).
 */
int iometer_single(struct icf *icf, const struct icf_spec *spec, struct err *err);

/*
 * The steps of a cycle, for tests: start, start + step ... or start * step ...; step 1 adds. A
 * value beyond the limit becomes it, once; returns how many, at most max.
 */
size_t iometer_sequence(const struct icf_cycle *cycle, uint32_t limit, uint32_t *ret, size_t max);
/* The same of queue depths, which end where the next would exceed the cycle's end. */
size_t iometer_depths(const struct icf_cycle *cycle, uint32_t *ret, size_t max);
