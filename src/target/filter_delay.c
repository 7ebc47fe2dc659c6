/* SPDX-License-Identifier: MIT */

/*
 * delay - every request takes that much longer than what is below needs for it.
 *
 *	delay:read=1ms,write=2ms,trim=...,sync=...,jitter=500us,seed=7
 *
 * A completion of the inner queue is held until its time plus the delay of its kind; jitter
 * adds a uniform 0 .. jitter on top, from the seed.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "target/filter.h"
#include "target/spec.h"

struct delay_options {
	uint64_t read_ns, write_ns, trim_ns, sync_ns, jitter_ns, seed;
};

struct held {
	uint64_t due_ns;
	uint64_t sequence;	/* of equal times the earlier completion comes first */
	struct io_done done;
};

struct delay {
	struct filter filter;
	uint64_t delay_ns[IO_FDATASYNC + 1];
	uint64_t jitter_ns;
	struct random random;
	uint8_t *kinds;			/* by tag */
	struct io_done *arrived;	/* room for one reap of the inner queue */
	struct held *heap;
	uint32_t held_count;
	uint64_t sequence;
};

static const struct spec_key delay_keys[] = {
	{ "read", SPEC_TIME, offsetof(struct delay_options, read_ns), NULL },
	{ "write", SPEC_TIME, offsetof(struct delay_options, write_ns), NULL },
	{ "trim", SPEC_TIME, offsetof(struct delay_options, trim_ns), NULL },
	{ "sync", SPEC_TIME, offsetof(struct delay_options, sync_ns), NULL },
	{ "jitter", SPEC_TIME, offsetof(struct delay_options, jitter_ns), NULL },
	{ "seed", SPEC_COUNT, offsetof(struct delay_options, seed), NULL },
	{ 0 },
};

static int delay_parse(const char *text, void *options, struct err *err)
{
	const int given = spec_parse("delay", text, delay_keys, options, err);

	return given < 0 ? given : 0;
}

static int delay_setup(struct filter *filter, const void *options, struct err *err)
{
	const struct delay_options *o = options;
	struct delay *delay = (struct delay *)filter;

	delay->delay_ns[IO_READ] = o->read_ns;
	delay->delay_ns[IO_WRITE] = o->write_ns;
	delay->delay_ns[IO_TRIM] = o->trim_ns;
	delay->delay_ns[IO_FSYNC] = delay->delay_ns[IO_FDATASYNC] = o->sync_ns;
	delay->jitter_ns = o->jitter_ns;
	random_init(&delay->random, o->seed);
	delay->kinds = calloc(filter->depth_count, sizeof(delay->kinds[0]));
	delay->arrived = calloc(filter->depth_count, sizeof(delay->arrived[0]));
	delay->heap = calloc(filter->depth_count, sizeof(delay->heap[0]));
	if (!delay->kinds || !delay->arrived || !delay->heap)
		return err_errno(err, -ENOMEM, "filter 'delay'");
	return 0;
}

static void delay_done(struct filter *filter)
{
	struct delay *delay = (struct delay *)filter;

	free(delay->kinds);
	free(delay->arrived);
	free(delay->heap);
}

static bool is_earlier(const struct held *a, const struct held *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->sequence < b->sequence;
}

static void hold(struct delay *delay, const struct held *held)
{
	uint32_t i = delay->held_count++;

	assert(i < delay->filter.depth_count);
	for (; i > 0 && is_earlier(held, &delay->heap[(i - 1) / 2]); i = (i - 1) / 2)
		delay->heap[i] = delay->heap[(i - 1) / 2];
	delay->heap[i] = *held;
}

static struct held release(struct delay *delay)
{
	const struct held first = delay->heap[0], last = delay->heap[--delay->held_count];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < delay->held_count) {
		if (child + 1 < delay->held_count &&
		    is_earlier(&delay->heap[child + 1], &delay->heap[child]))
			child++;
		if (!is_earlier(&delay->heap[child], &last))
			break;
		delay->heap[i] = delay->heap[child];
		i = child;
	}
	delay->heap[i] = last;
	return first;
}

static void delay_push(struct queue *queue, const struct io *ios, uint32_t count)
{
	struct delay *delay = (struct delay *)queue;

	for (uint32_t i = 0; i < count; i++) {
		assert(ios[i].tag < delay->filter.depth_count);
		delay->kinds[ios[i].tag] = ios[i].kind;
	}
	delay->filter.inner->ops->push(delay->filter.inner, ios, count);
	delay->filter.inner_count += count;
}

/* Takes what the inner queue has done, waiting for one at most until deadline_ns. */
static int fetch(struct delay *delay, bool wait, uint64_t deadline_ns)
{
	struct filter *filter = &delay->filter;
	const int got = filter_reap(&filter->queue, delay->arrived, wait, filter->depth_count,
				    deadline_ns);
	const uint64_t now_ns = clock_now_ns(filter->clock);

	for (int i = 0; i < got; i++) {
		const struct io_done *done = &delay->arrived[i];
		struct held held = { .sequence = delay->sequence++, .done = *done };

		held.due_ns = (done->done_ns ? done->done_ns : now_ns) +
			      delay->delay_ns[delay->kinds[done->tag]];
		if (delay->jitter_ns)
			held.due_ns += random_below(&delay->random, delay->jitter_ns);
		hold(delay, &held);
	}
	return got;
}

static uint32_t hand_out(struct delay *delay, struct io_done *done, uint32_t max_count)
{
	const struct clock *clock = delay->filter.clock;
	const uint64_t now_ns = clock_now_ns(clock);
	uint32_t count = 0;

	for (; count < max_count && delay->held_count && delay->heap[0].due_ns <= now_ns; count++) {
		const struct held held = release(delay);

		done[count] = held.done;
		/* In real time it is done when it is handed out, which may be later than due. */
		done[count].done_ns = clock->virtual_ns ? held.due_ns : 0;
	}
	return count;
}

static int delay_reap(struct queue *queue, struct io_done *done, uint32_t min_count,
		      uint32_t max_count, uint64_t deadline_ns)
{
	struct delay *delay = (struct delay *)queue;
	uint32_t count = 0;

	for (bool wait = false;; wait = true) {
		uint64_t until_ns = delay->held_count ? delay->heap[0].due_ns : NEVER_NS;
		int got = 0;

		if (deadline_ns < until_ns)
			until_ns = deadline_ns;
		if (delay->filter.inner_count)
			got = fetch(delay, wait, until_ns);
		else if (wait)
			clock_sleep_until(delay->filter.clock, until_ns, NULL);
		if (got < 0)
			return count ? (int)count : got;
		const bool interrupted = wait && delay->filter.inner_count && got == 0 &&
					 clock_now_ns(delay->filter.clock) < until_ns;
		count += hand_out(delay, done + count, max_count - count);
		if (count >= min_count || interrupted ||
		    (!delay->held_count && !delay->filter.inner_count) ||
		    clock_now_ns(delay->filter.clock) >= deadline_ns)
			return (int)count;
	}
}

static uint64_t delay_next_ns(struct queue *queue)
{
	const struct delay *delay = (const struct delay *)queue;
	const uint64_t inner_ns = filter_next_ns(queue);
	const uint64_t held_ns = delay->held_count ? delay->heap[0].due_ns : NEVER_NS;

	return held_ns < inner_ns ? held_ns : inner_ns;
}

const struct filter_kind filter_delay = {
	.name = "delay",
	.help = "write delay:read=1ms,write=2ms,trim=1ms,sync=5ms,jitter=500us,seed=7",
	.options_bytes = sizeof(struct delay_options),
	.filter_bytes = sizeof(struct delay),
	.parse = delay_parse,
	.setup = delay_setup,
	.done = delay_done,
	.push = delay_push,
	.reap = delay_reap,
	.next_ns = delay_next_ns,
};
