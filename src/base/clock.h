/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * clock - time is passed in. Real time comes from the processor's invariant
 * counter where there is one (about 8 ns a read, against 25 ns for
 * clock_gettime), else from CLOCK_MONOTONIC. Virtual time is a variable that the
 * scheduler moves; the reference drive and everything tested on it live there.
 *
 * All stamps are nanoseconds from an arbitrary zero, the same for all threads.
 * A struct clock is read-only after its initialisation and may be shared.
 */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SECOND_NS 1000000000ull
#define MILLISECOND_NS 1000000ull
#define MICROSECOND_NS 1000ull
#define NEVER_NS UINT64_MAX

struct clock {
	uint64_t *virtual_ns;	/* NULL for real time; else the clock, which we may move forward */
	uint64_t base_ticks;	/* 0 multiplier = no usable counter: clock_gettime */
	uint64_t base_ns;
	uint64_t multiplier;	/* ns = base_ns + ((ticks - base_ticks) * multiplier >> 32) */
};

/* Calibrates against CLOCK_MONOTONIC for about 20 ms (error about 5 ppm). */
void clock_init_real(struct clock *clock);
void clock_init_virtual(struct clock *clock, uint64_t *now_ns);

/*
 * Waits until the stamp: sleeps, then spins through the last 50 us. Virtual time
 * jumps. *stop, when given, ends the wait early (checked each 10 ms at least).
 */
void clock_sleep_until(const struct clock *clock, uint64_t until_ns, const volatile int *stop);

/* The counter's name for `tare doctor`: "tsc", "cntvct" or "clock_gettime". */
const char *clock_source(const struct clock *clock);

static inline uint64_t clock_gettime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

static inline uint64_t clock_now_ns(const struct clock *clock)
{
	if (clock->virtual_ns)
		return *clock->virtual_ns;
	if (!clock->multiplier)
		return clock_gettime_ns();
	return clock->base_ns + (uint64_t)(((unsigned __int128)(clock_counter() - clock->base_ticks) *
					    clock->multiplier) >> 32);
}
