/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * tap - what each request did, out of the loop and into a recording (model/recording.h). A
 * worker fills chunks that were made beforehand; a thread of the tap's own writes full ones to the
 * file. A worker whose chunks are all full does not wait, which would bend what is measured: the
 * request is counted as lost. Under a virtual clock nothing can be bent, and the worker writes.
 *
 * Life cycle:	taps_open -> { tap_next, fill }... -> tap_flush -> taps_close
 * Threads:	tap_next and tap_flush by the worker the tap belongs to; the rest by one.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/recording.h"

#define TAP_CHUNKS 4u
#define TAP_CHUNK_RECORDS 8192u		/* 384 KiB: 8 ms of a million requests per second */

struct taps;

struct tap {
	struct taps *taps;
	struct recorded_io *room;	/* of TAP_CHUNKS chunks; owned by taps */
	uint32_t count;			/* in the chunk being filled */
	_Atomic uint32_t full, written;	/* chunks, ever growing: full - written are waiting */
};

int taps_open(struct taps **ret, struct recording *recording, uint32_t count, bool is_virtual,
	      struct err *err);
struct tap *taps_at(struct taps *taps, uint32_t index);
/* All that was filled is in the recording when it returns. Accepts NULL. */
void taps_close(struct taps *taps);

void tap_hand_over(struct tap *tap);
void tap_lose(struct tap *tap);

/* Where the next one goes; NULL when it is lost. It is to be filled before the next call. */
static inline struct recorded_io *tap_next(struct tap *tap)
{
	const uint32_t full = atomic_load_explicit(&tap->full, memory_order_relaxed);

	if (tap->count == TAP_CHUNK_RECORDS) {
		tap_hand_over(tap);
		return tap_next(tap);
	}
	if (full - atomic_load_explicit(&tap->written, memory_order_acquire) == TAP_CHUNKS) {
		tap_lose(tap);
		return NULL;
	}
	return tap->room + (full % TAP_CHUNKS) * TAP_CHUNK_RECORDS + tap->count++;
}

/* At the end: the chunk that is not full. */
void tap_flush(struct tap *tap);
