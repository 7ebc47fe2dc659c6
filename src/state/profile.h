/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * profile - whose files: how many, how large, how often, from a dirty step and the space there
 * is. Pure; deterministic by its seed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/step.h"

#define PROFILE_SETS 2

/* Files made together and deleted together. */
struct profile_set {
	uint64_t file_count, bytes;
};

struct profile {
	struct profile_set sets[PROFILE_SETS];
	uint32_t set_count;
	uint32_t round_count;		/* all sets, so often */
	uint32_t delete_ppm;		/* after each set */
	double sigma;			/* of the log-normal sizes */
};

/*
 * What the step asks for in so many free bytes and files (UINT64_MAX = any number). A preset is
 * scaled; what the step names itself goes before it. -ENOSPC with the figures when bytes are
 * asked for that are not there.
 */
int profile_of(const struct step_dirty *dirty, uint64_t free_bytes, uint64_t free_files,
	       struct profile *ret, struct err *err);

/* Bytes written in all rounds. */
uint64_t profile_bytes(const struct profile *profile);

/*
 * Sizes of a set's files, log-normal, with exactly the sum set->bytes; each at least 1. The
 * caller's to free. The same seed, the same sizes.
 */
int profile_sizes(const struct profile_set *set, double sigma, uint64_t seed, uint64_t **ret,
		  struct err *err);
