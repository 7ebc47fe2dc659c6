/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/defer.h"
#include "state/work.h"

static uint64_t hash_bytes(const unsigned char *bytes, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i + 8 <= count; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, 8);
		hash = random_mix(hash ^ word);
	}
	return hash;
}

static bool is_blank(const unsigned char *bytes, size_t count)
{
	if (bytes[0] != 0 && bytes[0] != 0xff)
		return false;
	return memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* One in each of as many equal parts of the target, somewhere in it. */
static uint64_t place_of(const struct target_info *info, struct random *random, uint32_t i)
{
	const uint64_t blocks = info->size_bytes / SAMPLE_BYTES;
	const uint64_t from = blocks * i / SAMPLES, to = blocks * (i + 1) / SAMPLES;

	return (from + (to > from ? random_below(random, to - from) : 0)) * SAMPLE_BYTES;
}

int samples_take(struct work *work, uint64_t seed, struct samples *ret, struct err *err)
{
	const struct target_info *info = &work->state->target->info;
	DEFER(defer_free) unsigned char *buffer = aligned_alloc(SAMPLE_BYTES, SAMPLE_BYTES);
	struct random random;

	if (!buffer)
		return err_set(err, -ENOMEM, "no memory for a sample");
	random_init(&random, seed);
	ret->count = 0;
	for (uint32_t i = 0; i < SAMPLES && info->size_bytes / SAMPLE_BYTES >= SAMPLES; i++) {
		struct sample *sample = &ret->items[i];
		int r;

		sample->offset_bytes = place_of(info, &random, i);
		r = work_read(work, sample->offset_bytes, buffer, SAMPLE_BYTES, err);
		if (r < 0)
			return r;
		sample->hash = hash_bytes(buffer, SAMPLE_BYTES);
		sample->blank = is_blank(buffer, SAMPLE_BYTES);
		ret->count++;
	}
	work->ret->read_bytes += (uint64_t)ret->count * SAMPLE_BYTES;
	return 0;
}

void samples_compare(const struct samples *before, const struct samples *after,
		     struct samples_change *ret)
{
	*ret = (struct samples_change){ 0 };
	for (uint32_t i = 0; i < after->count; i++) {
		ret->blank_total += after->items[i].blank;
		if (before->items[i].blank)
			continue;
		ret->held++;
		ret->blank += after->items[i].blank;
		ret->unchanged += after->items[i].hash == before->items[i].hash;
	}
}
