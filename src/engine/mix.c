/* SPDX-License-Identifier: MIT */
#include "engine/mix.h"

#include <assert.h>

#include "base/units.h"

#define WHOLE (1ull << 32)

static uint64_t share_of_whole(uint64_t ppm)
{
	return (ppm * WHOLE + PPM / 2) / PPM;
}

static void init_kinds(struct mix *mix, const struct workload *workload)
{
	uint64_t read_ppm = 0, trim_ppm;

	switch ((enum workload_rw)workload->rw) {
	case RW_READ:
	case RW_RANDREAD:
		read_ppm = PPM;
		break;
	case RW_READWRITE:
	case RW_RANDRW:
		read_ppm = workload->read_ppm;
		break;
	case RW_WRITE:
	case RW_RANDWRITE:
	case RW_TRIM:
	case RW_RANDTRIM:
	case RW_TRIMWRITE:
	case RW_RANDTRIMWRITE:
		break;
	}
	/* Where a block is trimmed and then written, the write follows of itself. */
	trim_ppm = workload->rw == RW_TRIM || workload->rw == RW_RANDTRIM ||
				   workload_trims_first(workload) ? PPM : workload->trim_ppm;
	mix->read_below = share_of_whole(read_ppm);
	mix->trim_below = mix->read_below + (WHOLE - mix->read_below) * trim_ppm / PPM;
}

static void init_sizes(struct mix_sizes *ret, const struct size_mix *sizes, uint64_t block_bytes)
{
	uint64_t ppm = 0;

	ret->count = sizes->count ? sizes->count : 1;
	ret->below[0] = WHOLE;
	ret->bytes[0] = (uint32_t)block_bytes;
	for (uint32_t i = 0; i < sizes->count; i++) {
		assert(sizes->sizes[i].bytes > 0 && sizes->sizes[i].bytes <= UINT32_MAX);
		ppm += sizes->sizes[i].ppm;
		ret->below[i] = share_of_whole(ppm);
		ret->bytes[i] = (uint32_t)sizes->sizes[i].bytes;
	}
	assert(!sizes->count || ppm == PPM);
}

void mix_init(struct mix *mix, const struct workload *workload, uint64_t seed)
{
	const struct size_mix *writes = &workload->write_mix;

	*mix = (struct mix){ 0 };
	init_kinds(mix, workload);
	init_sizes(&mix->sizes[0], &workload->size_mix, workload->block_bytes);
	init_sizes(&mix->sizes[1], writes->count ? writes : &workload->size_mix, workload->block_bytes);
	random_init(&mix->random, seed);

	mix->length_bytes = mix->sizes[mix->read_below == 0].bytes[0];
	mix->kind = mix->read_below == WHOLE		  ? IO_READ
		    : mix->trim_below > mix->read_below ? IO_TRIM
							  : IO_WRITE;
	mix->constant = mix->sizes[mix->read_below == 0].count == 1 &&
			(mix->read_below == WHOLE ||
			 (mix->read_below == 0 && (mix->trim_below == 0 || mix->trim_below == WHOLE)));
}
