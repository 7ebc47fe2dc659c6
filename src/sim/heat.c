/* SPDX-License-Identifier: MIT */

/*
 * Heat: dT/dt = (ambient + P R - T) / tau, P from idle power and energy per page, in whole
 * microdegrees. Above throttle_at every flash operation takes longer, until it is 3 C
 * cooler. Beside it the rate limits of a cloud volume: a request costs 1 / rate seconds of
 * an allowance; unused allowance is saved, up to the credits.
 */

#include "sim/drive.h"

#define HYSTERESIS_MC 3000
#define STEP_NS (10 * MILLISECOND_NS)

static void warm(struct sim *s, int64_t target_uc, uint64_t dt_ns)
{
	const uint64_t tau = s->config.heat_tau_ns ? s->config.heat_tau_ns : 1;
	int64_t *t = &s->heat.temperature_uc;

	if (dt_ns > 24 * tau) {
		*t = target_uc;
		return;
	}
	while (dt_ns > 0) {
		const uint64_t limit = tau / 16 + 1;
		const uint64_t step = dt_ns < limit ? dt_ns : limit;

		/* Below 2^63 for a difference of 1000 C and steps up to an hour. */
		*t += (int64_t)((__int128)(target_uc - *t) * (int64_t)step / (int64_t)tau);
		dt_ns -= step;
	}
}

void heat_step(struct sim *s, uint64_t t_ps)
{
	const struct sim_config *c = &s->config;
	const uint64_t dt_ns = (t_ps - s->heat.at_ps) / PS_PER_NS;
	const struct flash *f = &s->flash;
	uint64_t power_mw;

	if (dt_ns < STEP_NS)
		return;
	s->heat.energy_nj = (f->pages_programmed - s->heat_pages_programmed) * c->program_nj +
			    (f->pages_read - s->heat_pages_read) * c->read_nj;
	s->heat_pages_programmed = f->pages_programmed;
	s->heat_pages_read = f->pages_read;
	/* nJ / us = mW. */
	power_mw = c->idle_mw + s->heat.energy_nj / (dt_ns / MICROSECOND_NS);
	warm(s, (int64_t)(c->ambient_mc * 1000 + power_mw * c->heat_mc_per_w), dt_ns);
	if (s->heat.throttled)
		s->counters.throttled_ns += dt_ns;
	s->heat.at_ps = t_ps;
	if (s->heat.temperature_uc > (int64_t)c->throttle_at_mc * 1000)
		s->heat.throttled = true;
	else if (s->heat.temperature_uc < ((int64_t)c->throttle_at_mc - HYSTERESIS_MC) * 1000)
		s->heat.throttled = false;
	s->flash.slow_ppm = s->heat.throttled ? (uint32_t)c->throttle_ppm : PPM;
}

static uint64_t admit_rate(struct sim *s, uint64_t t_ps)
{
	const struct sim_config *c = &s->config;
	const uint64_t cost = SECOND_NS * PS_PER_NS / c->rate_per_s;
	const uint64_t saved = c->credits_count * cost;
	uint64_t at = t_ps;

	/* credit_ps runs ahead of real time by what was spent of the credits. */
	s->credit_ps = s->credit_ps > t_ps ? s->credit_ps : t_ps;
	if (s->credit_ps > at + saved)
		at = s->credit_ps - saved;
	s->credit_ps += cost;
	if (c->burst_per_s) {
		at = s->credits_at_ps > at ? s->credits_at_ps : at;
		s->credits_at_ps = at + SECOND_NS * PS_PER_NS / c->burst_per_s;
	}
	return at;
}

uint64_t limits_admit(struct sim *s, uint64_t t_ps, uint64_t bytes)
{
	if (s->config.rate_per_s)
		t_ps = admit_rate(s, t_ps);
	if (s->config.rate_bytes_per_s && bytes) {
		const uint64_t kib_ps = SECOND_NS * PS_PER_NS * 1024 / s->config.rate_bytes_per_s;

		s->bytes_ps = (s->bytes_ps > t_ps ? s->bytes_ps : t_ps) + bytes * kib_ps / 1024;
		t_ps = s->bytes_ps;
	}
	return t_ps;
}
