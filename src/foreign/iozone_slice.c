/* SPDX-License-Identifier: MIT */
#include "foreign/iozone.h"

#include <stdio.h>
#include <string.h>

/* The slice's number for a target of the plan: they come in the order of the streams. */
static uint32_t number_of(const struct plan *plan, uint32_t target_index, bool unwritten,
			  struct plan *slice, uint32_t *known)
{
	uint32_t i = 0;

	while (i < slice->target_count && known[i] != target_index)
		i++;
	if (i < slice->target_count)
		return i;
	plan_add_target(slice, plan->targets[target_index].spec);
	slice->targets[i] = plan->targets[target_index];
	/* Without the pass that writes it first, the file has to be laid out. */
	slice->targets[i].unwritten &= unwritten;
	known[i] = target_index;
	return i;
}

static void add_phase(const struct plan *plan, const struct iozone_cell *cell, struct plan *slice)
{
	/* A rest stands before its test, if it is not the first. */
	if (slice->phase_count && cell->phase && plan->phases[cell->phase - 1].kind == PHASE_IDLE)
		*plan_add(slice, PHASE_IDLE) = plan->phases[cell->phase - 1];
	*plan_add(slice, PHASE_MEASURE) = plan->phases[cell->phase];
}

size_t iozone_slice(const struct plan *plan, const struct iozone_sheet *sheet, uint32_t row,
		    uint32_t skip, struct plan *ret, size_t *ret_cells)
{
	uint32_t known[IOZONE_STREAMS];
	size_t count = 0;
	bool unwritten = false;

	plan_init(ret);
	for (size_t i = 0; i < sheet->cell_count; i++) {
		const struct iozone_cell *cell = &sheet->cells[i];
		struct phase *phase;

		if (cell->row != row || cell->done || skip >> cell->pass & 1)
			continue;
		if (count == 0)
			unwritten = cell->pass == IOZONE_WRITE;
		add_phase(plan, cell, ret);
		phase = &ret->phases[ret->phase_count - 1];
		phase->together = count > 0 && cell->stream > 0;
		phase->target_index = number_of(plan, phase->target_index, unwritten, ret, known);
		ret_cells[count++] = i;
	}
	if (ret->target_count)
		snprintf(ret->target, sizeof(ret->target), "%s", ret->targets[0].spec);
	return count;
}
