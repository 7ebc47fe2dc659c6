/* SPDX-License-Identifier: MIT */
#include "engine/worker_aside.h"

#include <time.h>

#define WAKE_EARLY_MAX_NS (500 * MICROSECOND_NS)

static void learn_wake(struct worker *w, uint64_t late_ns)
{
	const uint64_t want_ns = late_ns + late_ns / 4 + WAKE_EARLY_NS / 2;

	if (want_ns > w->wake_early_ns)
		w->wake_early_ns = want_ns < WAKE_EARLY_MAX_NS ? want_ns : WAKE_EARLY_MAX_NS;
	else
		w->wake_early_ns -= (w->wake_early_ns - want_ns) / 256;
	if (w->wake_early_ns < WAKE_EARLY_NS)
		w->wake_early_ns = WAKE_EARLY_NS;
}

void worker_nap(struct worker *w, uint64_t until_ns)
{
	const uint64_t now_ns = clock_now_ns(w->work->clock);
	uint64_t left_ns, woken_ns;

	if (until_ns <= now_ns + w->wake_early_ns + SPIN_NS)
		return;
	left_ns = until_ns - now_ns - w->wake_early_ns;
	if (left_ns > STOP_CHECK_NS)
		left_ns = STOP_CHECK_NS;
	if (nanosleep(&(struct timespec){ .tv_nsec = (long)left_ns }, NULL) < 0)
		return;
	woken_ns = clock_now_ns(w->work->clock);
	learn_wake(w, woken_ns > now_ns + left_ns ? woken_ns - now_ns - left_ns : 0);
}

void worker_tap(struct worker *w, const struct worker_slot *slot, const struct io_done *done,
		uint64_t end_ns)
{
	struct recorded_io *io;

	if (slot->sync_ns && (io = tap_next(w->tap)))
		*io = (struct recorded_io){
			.intended_ns = slot->sync_ns,
			.submit_ns = slot->sync_ns,
			.done_ns = end_ns,
			.result = done->result,
			.measurement_index = w->work->measurement_index,
			.job_index = (uint16_t)w->index,
			.op = OP_SYNC,
		};
	io = tap_next(w->tap);
	if (!io)
		return;
	*io = (struct recorded_io){
		.intended_ns = slot->intended_ns,
		.submit_ns = slot->submit_ns,
		.done_ns = end_ns,
		.offset_bytes = slot->offset_bytes,
		.length_bytes = slot->length_bytes,
		.result = slot->sync_ns ? (int32_t)slot->length_bytes : done->result,
		.measurement_index = w->work->measurement_index,
		.job_index = (uint16_t)w->index,
		.op = op_of_kind[slot->kind],
	};
}
