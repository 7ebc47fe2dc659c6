/* SPDX-License-Identifier: MIT */
#include "engine/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct engine_memory {
	struct verify_map map;
	struct data data;
	uint64_t seed;
};

void engine_memory_free(struct engine_memory *memory)
{
	if (!memory)
		return;
	verify_map_done(&memory->map);
	free(memory);
}

bool memory_is_wanted(const struct workload *workload)
{
	return workload->verify && !workload_writes(workload) && workload->seed == 0;
}

/* The words of the blocks that both know. */
static void copy_words(struct verify_map *into, const struct verify_map *from)
{
	for (uint64_t i = 0; i < into->unit_count; i++) {
		const uint64_t at_bytes = into->offset_bytes + i * into->unit_bytes;
		const uint64_t unit = (at_bytes - from->offset_bytes) / from->unit_bytes;

		if (at_bytes >= from->offset_bytes && unit < from->unit_count && from->words[unit])
			into->words[i] = from->words[unit];
	}
}

int memory_recall(struct work *work, struct err *err)
{
	const struct engine_memory *memory = work->memory ? *work->memory : NULL;
	uint32_t unit_bytes;
	int r;

	if (!memory) {
		err_set(err, -EINVAL, "verify of reads alone needs what was written: nothing was, with "
			"verify, by a measurement before it");
		return err_hint(err, "write with verify first, or give the randseed of the run that "
				     "wrote");
	}
	r = verify_unit(work->workload, &work->range, &unit_bytes, err);
	if (r < 0)
		return r;
	if (unit_bytes % memory->map.unit_bytes ||
	    (work->range.offset_bytes - memory->map.offset_bytes) % memory->map.unit_bytes)
		return err_set(err, -EINVAL,
			       "verify: blocks of %u bytes were written, and reads in multiples of %u "
			       "do not meet them whole", memory->map.unit_bytes, unit_bytes);
	r = verify_map_init(&work->map, &work->range, memory->map.unit_bytes, err);
	if (r < 0)
		return r;
	copy_words(&work->map, &memory->map);
	work->map.recalled = true;
	work->data = memory->data;
	work->seed = memory->seed;
	return 0;
}

void memory_keep(struct work *work)
{
	struct engine_memory *memory;

	assert(work->memory && work->map.words);
	memory = malloc(sizeof(*memory));
	engine_memory_free(*work->memory);
	*work->memory = memory;
	if (!memory)
		return;		/* nothing is known, and reads will say so */
	*memory = (struct engine_memory){ work->map, work->data, work->seed };
	work->map = (struct verify_map){ 0 };
}
