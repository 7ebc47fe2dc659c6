/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * random - xoshiro256++ (Blackman and Vigna 2019), seeded through splitmix64.
 * The same seed gives the same sequence on every machine and compiler. Passed
 * in, never global; one per thread.
 */

#include <assert.h>
#include <stdint.h>

struct random {
	uint64_t s[4];
};

/* A bijective mix of 64 bits (splitmix64's finaliser): hashes an index, derives a seed. */
static inline uint64_t random_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint64_t random_splitmix(uint64_t *state)
{
	return random_mix(*state += 0x9e3779b97f4a7c15u);
}

static inline void random_init(struct random *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = random_splitmix(&seed);
}

static inline uint64_t random_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t random_u64(struct random *r)
{
	uint64_t *s = r->s;
	const uint64_t result = random_rotl(s[0] + s[3], 23) + s[0];
	const uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = random_rotl(s[3], 45);
	return result;
}

/* Uniform in 0 .. bound - 1 by multiply-shift; the bias is below bound / 2^64. */
static inline uint64_t random_below(struct random *r, uint64_t bound)
{
	assert(bound > 0);
	return (uint64_t)(((unsigned __int128)random_u64(r) * bound) >> 64);
}

/* Uniform in [0, 1), 53 bits. */
static inline double random_unit(struct random *r)
{
	return (double)(random_u64(r) >> 11) * 0x1p-53;
}

double random_exponential(struct random *r);	/* mean 1 */
double random_normal(struct random *r);		/* mean 0, standard deviation 1 */
