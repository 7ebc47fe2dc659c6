/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define CALIBRATION_NS (20 * MILLISECOND_NS)
#define SPIN_NS (50 * MICROSECOND_NS)
#define STOP_CHECK_NS (10 * MILLISECOND_NS)

/* A pair of stamps taken as close together as this machine allows: the best of 16 tries. */
static void stamp_pair(uint64_t *ret_ticks, uint64_t *ret_ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		const uint64_t before = clock_counter();
		const uint64_t ns = clock_gettime_ns();
		const uint64_t after = clock_counter();

		if (after - before < best) {
			best = after - before;
			*ret_ticks = before + best / 2;
			*ret_ns = ns;
		}
	}
}

/* The kernel has checked the counter for us: it keeps time by it only when it is invariant. */
static bool counter_is_usable(void)
{
#if defined(__x86_64__)
	char name[16] = "";
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return strncmp(name, "tsc", 3) == 0;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/*
 * Measured from the first clock of this thread: later ones need not wait, and the longer
 * the stretch, the better the multiplier.
 */
void clock_init_real(struct clock *clock)
{
	static _Thread_local uint64_t first_ticks, first_ns;

	*clock = (struct clock){ 0 };
	if (!counter_is_usable())
		return;
	if (!first_ns)
		stamp_pair(&first_ticks, &first_ns);
	do {
		stamp_pair(&clock->base_ticks, &clock->base_ns);
	} while (clock->base_ns - first_ns < CALIBRATION_NS);
	clock->multiplier = (uint64_t)(((unsigned __int128)(clock->base_ns - first_ns) << 32) /
				       (clock->base_ticks - first_ticks));
}

void clock_init_virtual(struct clock *clock, uint64_t *now_ns)
{
	*clock = (struct clock){ .virtual_ns = now_ns };
}

void clock_sleep_until(const struct clock *clock, uint64_t until_ns, const volatile int *stop)
{
	uint64_t now = clock_now_ns(clock);

	if (clock->virtual_ns) {
		if (until_ns > now)
			*clock->virtual_ns = until_ns;
		return;
	}
	while (now < until_ns && !(stop && *stop)) {
		uint64_t left = until_ns - now;

		if (left > SPIN_NS) {
			left -= SPIN_NS;
			if (left > STOP_CHECK_NS)
				left = STOP_CHECK_NS;
			nanosleep(&(struct timespec){ .tv_nsec = (long)left }, NULL);
		}
		now = clock_now_ns(clock);
	}
}

const char *clock_source(const struct clock *clock)
{
	if (clock->virtual_ns)
		return "virtual";
	if (!clock->multiplier)
		return "clock_gettime";
#if defined(__aarch64__)
	return "cntvct";
#else
	return "tsc";
#endif
}
