/* SPDX-License-Identifier: MIT */
#include "foreign/trace_pair.h"

#include <errno.h>
#include <stdlib.h>

#include "base/random.h"

#define BUCKETS (2 * PAIR_ROOM)

struct pending {
	struct trace_record record;
	bool done;
	uint32_t next;			/* in its bucket: a ring index + 1; 0 = the last */
};

struct pairing {
	struct trace *trace;
	uint64_t head, tail;		/* ever growing; tail - head wait */
	struct pending ring[PAIR_ROOM];
	uint32_t buckets[BUCKETS];	/* ring index + 1 of the oldest; 0 = empty */
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

static uint32_t *bucket_of(struct pairing *p, const struct trace_record *r)
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


/* The oldest goes out, and out of its bucket when it was never completed. */
static int leave(struct pairing *p, struct err *err)
{
	const uint32_t index = (uint32_t)(p->head % PAIR_ROOM);
	struct pending *pending = &p->ring[index];
	uint32_t *link = bucket_of(p, &pending->record);

	if (!pending->done) {
		while (*link != index + 1)
			link = &p->ring[*link - 1].next;
		*link = pending->next;
	}
	p->head++;
	return trace_add(p->trace, &pending->record, err);
}

static void complete(struct pairing *p, const struct trace_record *event)
{
	for (uint32_t *link = bucket_of(p, event); *link; link = &p->ring[*link - 1].next) {
		struct pending *pending = &p->ring[*link - 1];

		if (!is_same(&pending->record, event))
			continue;
		pending->record.latency_ns = event->time_ns - pending->record.time_ns;
		pending->done = true;
		*link = pending->next;
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
		uint32_t *link = bucket_of(p, event);

		/* Behind older ones of the same place. */
		while (*link)
			link = &p->ring[*link - 1].next;
		*link = index + 1;
		p->ring[index] = (struct pending){ .record = *event };
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
