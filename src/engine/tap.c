/* SPDX-License-Identifier: MIT */
#include "engine/tap.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#define CHUNKS_BYTES (TAP_CHUNKS * TAP_CHUNK_RECORDS * sizeof(struct recorded_io))

struct taps {
	struct recording *recording;
	struct tap *items;		/* owned */
	uint32_t count;
	bool has_thread;
	pthread_t thread;
	sem_t full;			/* posted for each full chunk, and once at the end */
	_Atomic bool ending;
};

/* Writes what waits in one tap. */
static void drain(struct taps *taps, struct tap *tap)
{
	const uint32_t full = atomic_load_explicit(&tap->full, memory_order_acquire);
	uint32_t written = atomic_load_explicit(&tap->written, memory_order_relaxed);

	for (; written != full; written++) {
		recording_append(taps->recording,
				 tap->room + (written % TAP_CHUNKS) * TAP_CHUNK_RECORDS,
				 TAP_CHUNK_RECORDS);
		atomic_store_explicit(&tap->written, written + 1, memory_order_release);
	}
}

static void *writer_main(void *arg)
{
	struct taps *taps = arg;
	bool ending;

	pthread_setname_np(pthread_self(), "tare-tap");
	do {
		while (sem_wait(&taps->full) < 0)
			assert(errno == EINTR);
		ending = atomic_load(&taps->ending);
		for (uint32_t i = 0; i < taps->count; i++)
			drain(taps, &taps->items[i]);
	} while (!ending);
	return NULL;
}

int taps_open(struct taps **ret, struct recording *recording, uint32_t count, bool is_virtual,
	      struct err *err)
{
	struct taps *taps = calloc(1, sizeof(*taps));
	int r = 0;

	if (!taps)
		return err_set(err, -ENOMEM, "no memory to record");
	taps->recording = recording;
	sem_init(&taps->full, 0, 0);
	taps->items = calloc(count, sizeof(*taps->items));
	if (!taps->items)
		r = -ENOMEM;
	for (; r == 0 && taps->count < count; taps->count++) {
		struct tap *tap = &taps->items[taps->count];

		tap->taps = taps;
		/* Touched before it is needed. */
		tap->room = calloc(1, CHUNKS_BYTES);
		if (!tap->room)
			r = -ENOMEM;
		for (size_t i = 0; tap->room && i < CHUNKS_BYTES / sizeof(*tap->room); i += 64)
			tap->room[i].length_bytes = 1;
	}
	if (r == 0 && !is_virtual) {
		r = -pthread_create(&taps->thread, NULL, writer_main, taps);
		taps->has_thread = r == 0;
	}
	if (r < 0) {
		taps_close(taps);
		return err_errno(err, r, "recording %u jobs", count);
	}
	*ret = taps;
	return 0;
}

struct tap *taps_at(struct taps *taps, uint32_t index)
{
	assert(index < taps->count);
	return &taps->items[index];
}

void taps_close(struct taps *taps)
{
	if (!taps)
		return;
	if (taps->has_thread) {
		atomic_store(&taps->ending, true);
		sem_post(&taps->full);
		pthread_join(taps->thread, NULL);
	}
	for (uint32_t i = 0; i < taps->count; i++)
		free(taps->items[i].room);
	sem_destroy(&taps->full);
	free(taps->items);
	free(taps);
}

void tap_hand_over(struct tap *tap)
{
	struct taps *taps = tap->taps;

	assert(tap->count == TAP_CHUNK_RECORDS);
	tap->count = 0;
	atomic_fetch_add_explicit(&tap->full, 1, memory_order_release);
	if (taps->has_thread)
		sem_post(&taps->full);
	else
		drain(taps, tap);
}

void tap_lose(struct tap *tap)
{
	recording_lost(tap->taps->recording, 1);
}

void tap_flush(struct tap *tap)
{
	const uint32_t full = atomic_load_explicit(&tap->full, memory_order_relaxed);

	recording_append(tap->taps->recording,
			 tap->room + (full % TAP_CHUNKS) * TAP_CHUNK_RECORDS, tap->count);
	tap->count = 0;
}
