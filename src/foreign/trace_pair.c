/* SPDX-License-Identifier: MIT */
#include "foreign/trace_pair.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/random.h"

#define BUCKETS (2 * PAIR_ROOM)

struct pending {
	struct trace_record record;
	bool done;
	uint32_t next;			/* in its bucket: a ring index + 1; 0 = the last */
};

/* In the order of issue, so that neither to add nor to let the oldest go walks the list. */
struct bucket {
	uint32_t oldest, newest;	/* ring index + 1; 0 = empty */
};

struct pairing {
	struct trace *trace;
	uint64_t head, tail;		/* ever growing; tail - head wait */
	struct pending ring[PAIR_ROOM];
	struct bucket buckets[BUCKETS];
};

int pairing_new(struct pairing **ret, struct trace *trace, struct err *err)
{
	struct pairing *p = calloc(1, sizeof(*p));

	if (!p)
		return err_set(err, -ENOMEM, "no memory to pair events");
	p->trace = trace;
	*ret = p;
	return 0;
}

void pairing_free(struct pairing *pairing)
{
	free(pairing);
}

static struct bucket *bucket_of(struct pairing *p, const struct trace_record *r)
{
	const uint64_t hash = random_mix(r->offset_bytes ^ random_mix(r->length_bytes ^
								      (uint64_t)r->stream << 40));

	return &p->buckets[hash % BUCKETS];
}

static bool is_same(const struct trace_record *a, const struct trace_record *b)
{
	return a->offset_bytes == b->offset_bytes && a->length_bytes == b->length_bytes &&
	       a->stream == b->stream;
}

/* Behind older ones of the same place. */
static void enqueue(struct pairing *p, uint32_t index)
{
	struct bucket *bucket = bucket_of(p, &p->ring[index].record);

	if (bucket->oldest)
		p->ring[bucket->newest - 1].next = index + 1;
	else
		bucket->oldest = index + 1;
	bucket->newest = index + 1;
}

/* Takes out what follows `before` (ring index + 1; 0 = the oldest). */
static void dequeue(struct pairing *p, struct bucket *bucket, uint32_t before)
{
	uint32_t *link = before ? &p->ring[before - 1].next : &bucket->oldest;

	if (bucket->newest == *link)
		bucket->newest = before;
	*link = p->ring[*link - 1].next;
}

/* The oldest goes out, and out of its bucket when it was never completed. */
static int leave(struct pairing *p, struct err *err)
{
	const uint32_t index = (uint32_t)(p->head % PAIR_ROOM);
	const struct pending *pending = &p->ring[index];

	if (!pending->done) {
		struct bucket *bucket = bucket_of(p, &pending->record);

		assert(bucket->oldest == index + 1);
		dequeue(p, bucket, 0);
	}
	p->head++;
	return trace_add(p->trace, &pending->record, err);
}

static void complete(struct pairing *p, const struct trace_record *event)
{
	struct bucket *bucket = bucket_of(p, event);
	uint32_t before = 0;

	for (uint32_t at = bucket->oldest; at; before = at, at = p->ring[at - 1].next) {
		struct pending *pending = &p->ring[at - 1];

		if (!is_same(&pending->record, event))
			continue;
		pending->record.latency_ns = event->time_ns - pending->record.time_ns;
		pending->done = true;
		dequeue(p, bucket, before);
		return;
	}
}

int pairing_add(struct pairing *p, const struct trace_record *event, struct err *err)
{
	int r = 0;

	if (event->op == PAIR_COMPLETE) {
		complete(p, event);
		while (r == 0 && p->head < p->tail && p->ring[p->head % PAIR_ROOM].done)
			r = leave(p, err);
		return r;
	}
	if (p->tail - p->head == PAIR_ROOM)
		r = leave(p, err);
	if (r == 0) {
		const uint32_t index = (uint32_t)(p->tail++ % PAIR_ROOM);

		p->ring[index] = (struct pending){ .record = *event };
		enqueue(p, index);
	}
	return r;
}

int pairing_finish(struct pairing *p, struct err *err)
{
	int r = 0;

	while (r == 0 && p->head < p->tail)
		r = leave(p, err);
	return r;
}
