/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "serve/timer.h"

#define EVENTS 200

struct event {
	struct timed timed;
	uint64_t fired_ns;
	uint32_t order;		/* from 1 */
};

static _Atomic uint32_t fired_count;

static void note_fired(struct timed *timed)
{
	struct event *event = (struct event *)timed;

	event->fired_ns = clock_gettime_ns();
	event->order = atomic_fetch_add(&fired_count, 1) + 1;
}

static void add(struct timer *timer, struct event *event, uint64_t due_ns)
{
	*event = (struct event){ .timed = { .due_ns = due_ns, .fire = note_fired } };
	CHECK_EQ(timer_add(timer, &event->timed), 0);
}

static void things_fire_in_order_of_time_and_never_early(void)
{
	static struct event events[EVENTS];
	const uint64_t start_ns = clock_gettime_ns() + 20 * MILLISECOND_NS;
	struct timer *timer;

	atomic_store(&fired_count, 0);
	CHECK_EQ(timer_open(&timer, NULL), 0);
	/* 73 and 200 have no common divisor: each of 0..199 once, in disorder. */
	for (uint32_t i = 0; i < EVENTS; i++)
		add(timer, &events[i], start_ns + i * 73 % EVENTS * 50 * MICROSECOND_NS);
	while (atomic_load(&fired_count) < EVENTS)
		usleep(1000);
	timer_close(timer);
	for (uint32_t i = 0; i < EVENTS; i++) {
		CHECK_EQ(events[i].order, i * 73 % EVENTS + 1);
		CHECK(events[i].fired_ns >= events[i].timed.due_ns);
	}
}

static void what_is_earlier_overtakes_a_wait(void)
{
	static struct event late, early;
	const uint64_t now_ns = clock_gettime_ns();
	struct timer *timer;

	atomic_store(&fired_count, 0);
	CHECK_EQ(timer_open(&timer, NULL), 0);
	add(timer, &late, now_ns + 3600 * SECOND_NS);
	usleep(5000);		/* it sleeps for the hour now */
	add(timer, &early, now_ns + 10 * MILLISECOND_NS);
	for (int i = 0; i < 5000 && !atomic_load(&fired_count); i++)
		usleep(1000);
	CHECK_EQ(atomic_load(&fired_count), 1);
	timer_close(timer);
	CHECK_EQ(early.order, 1);
	CHECK_EQ(late.order, 2);	/* closing fires what is left */
}

static void in_a_hurry_everything_is_due(void)
{
	static struct event first, second;
	struct timer *timer;

	atomic_store(&fired_count, 0);
	CHECK_EQ(timer_open(&timer, NULL), 0);
	add(timer, &first, clock_gettime_ns() + 3600 * SECOND_NS);
	timer_hurry(timer);
	add(timer, &second, clock_gettime_ns() + 3600 * SECOND_NS);
	for (int i = 0; i < 5000 && atomic_load(&fired_count) < 2; i++)
		usleep(1000);
	CHECK_EQ(atomic_load(&fired_count), 2);
	timer_close(timer);
}

TESTS(
	TEST(things_fire_in_order_of_time_and_never_early),
	TEST(what_is_earlier_overtakes_a_wait),
	TEST(in_a_hurry_everything_is_due),
)
