/* SPDX-License-Identifier: MIT */
#include "state/profile.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/units.h"

#define MEAN_BYTES (256 * KIB)		/* where the step says neither number nor preset */
#define SHARE_PPM 250000u

struct row {
	struct {
		uint32_t share_ppm;	/* of the free space */
		uint64_t mean_bytes;
	} sets[PROFILE_SETS];
	uint32_t set_count, round_count, delete_ppm;
	double sigma;			/* 0 = the step's */
};

/*
 * techgage: 74 GB in 43,000 files, then 64 GB in 149,982 files on a drive of 80 GB; both do not
 * fit, so each set goes before the next. The others are choices of ours.
 */
static const struct row rows[] = {
	[DIRTY_NO_PRESET] = { { { SHARE_PPM, MEAN_BYTES } }, 1, 1, PPM, 0 },
	[DIRTY_TECHGAGE] = { { { 925000, 1720930 }, { 800000, 426718 } }, 2, 2, PPM, 0 },
	[DIRTY_OFFICE] = { { { 250000, 180 * KIB } }, 1, 3, 500000, 2.0 },
	[DIRTY_MAIL] = { { { 100000, 24 * KIB } }, 1, 4, 800000, 1.2 },
	[DIRTY_BROWSER_CACHE] = { { { 50000, 20 * KIB } }, 1, 6, PPM, 1.6 },
	[DIRTY_PHOTOS] = { { { 400000, 4 * MIB } }, 1, 2, 500000, 0.5 },
};

static uint64_t share(uint64_t bytes, uint64_t ppm)
{
	return (uint64_t)((unsigned __int128)bytes * ppm / PPM);
}

/* What a file system keeps for itself, and the last block of each file half used. */
static uint64_t usable_bytes(uint64_t free_bytes, uint64_t file_count)
{
	const uint64_t kept = free_bytes / 25, slack = file_count * 4 * KIB;

	return free_bytes > kept + slack ? free_bytes - kept - slack : 0;
}

static int no_room(uint64_t want, uint64_t free_bytes, struct err *err)
{
	char need[UNITS_TEXT_BYTES], have[UNITS_TEXT_BYTES];

	return err_set(err, -ENOSPC, "no room for files of %s: %s are free, a little of which is kept",
		       units_format_size((double)want, need),
		       units_format_size((double)free_bytes, have));
}

static int fill_set(const struct step_dirty *dirty, const struct row *row, uint32_t i,
		    uint64_t free_bytes, struct profile_set *ret, struct err *err)
{
	const bool asked = dirty->amount.bytes || dirty->amount.ppm;
	uint64_t usable;

	ret->bytes = share(free_bytes, row->sets[i].share_ppm);
	if (asked)
		ret->bytes = dirty->amount.ppm ? share(free_bytes, dirty->amount.ppm) :
						 dirty->amount.bytes;
	else if (dirty->file_count && !dirty->preset)
		ret->bytes = dirty->file_count * MEAN_BYTES;
	ret->file_count = dirty->file_count ? dirty->file_count :
					      ret->bytes / row->sets[i].mean_bytes;
	if (!ret->file_count)
		ret->file_count = 1;
	if (ret->bytes < ret->file_count)
		ret->bytes = ret->file_count;
	usable = usable_bytes(free_bytes, ret->file_count);
	if (ret->bytes <= usable)
		return 0;
	if ((asked && dirty->amount.bytes) || (dirty->file_count && !dirty->preset) ||
	    usable < ret->file_count)
		return no_room(ret->bytes, free_bytes, err);
	ret->bytes = usable;	/* a share gives way */
	return 0;
}

int profile_of(const struct step_dirty *dirty, uint64_t free_bytes, uint64_t free_files,
	       struct profile *ret, struct err *err)
{
	const struct row *row = &rows[dirty->preset];
	struct profile p = {
		.set_count = row->set_count,
		.round_count = dirty->round_count ? dirty->round_count : row->round_count,
		.delete_ppm = dirty->delete_ppm < PPM ? dirty->delete_ppm : row->delete_ppm,
		.sigma = row->sigma > 0 ? row->sigma : (double)dirty->spread_ppm / PPM,
	};

	for (uint32_t i = 0; i < p.set_count; i++) {
		const int r = fill_set(dirty, row, i, free_bytes, &p.sets[i], err);

		if (r < 0)
			return r;
		if (p.sets[i].file_count > free_files)
			return err_set(err, -ENOSPC,
				       "no room for %llu files: the file system has %llu left",
				       (unsigned long long)p.sets[i].file_count,
				       (unsigned long long)free_files);
	}
	*ret = p;
	return 0;
}

uint64_t profile_bytes(const struct profile *profile)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < profile->set_count; i++)
		bytes += profile->sets[i].bytes;
	return bytes * profile->round_count;
}

int profile_sizes(const struct profile_set *set, double sigma, uint64_t seed, uint64_t **ret,
		  struct err *err)
{
	const uint64_t count = set->file_count;
	double *drawn = calloc(count, sizeof(*drawn)), sum = 0;
	uint64_t *sizes = calloc(count, sizeof(*sizes)), left = set->bytes;
	struct random random;

	assert(count > 0 && set->bytes >= count);
	if (!drawn || !sizes) {
		free(drawn);
		free(sizes);
		return err_set(err, -ENOMEM, "no memory for the sizes of %llu files",
			       (unsigned long long)count);
	}
	random_init(&random, seed);
	for (uint64_t i = 0; i < count; i++)
		sum += drawn[i] = exp(sigma * random_normal(&random));
	/* One byte for each, the rest by share; what rounding leaves goes to the last. */
	left -= count;
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t part = (uint64_t)((double)(set->bytes - count) * (drawn[i] / sum));

		sizes[i] = 1 + (part < left ? part : left);
		left -= sizes[i] - 1;
	}
	sizes[count - 1] += left;
	free(drawn);
	*ret = sizes;
	return 0;
}
