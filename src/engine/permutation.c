/* SPDX-License-Identifier: MIT */
#include "engine/address.h"

#include <assert.h>
#include <math.h>

void permutation_init(struct permutation *p, uint64_t count, uint64_t key)
{
	assert(count > 0);
	p->count = count;
	p->a = (uint64_t)sqrt((double)count);
	/* The root is rounded: step to the least a with a * a >= count. */
	while (p->a > 1 && (unsigned __int128)(p->a - 1) * (p->a - 1) >= count)
		p->a--;
	while ((unsigned __int128)p->a * p->a < count)
		p->a++;
	p->b = (count - 1) / p->a + 1;
	p->a_inverse = UINT64_MAX / p->a;
	for (int i = 0; i < 4; i++)
		p->keys[i] = random_splitmix(&key);
	assert(p->a <= 1ull << 32 && p->b <= p->a);
}

/* A pseudo-random value below bound; bound is at most 2^32. */
static inline uint64_t round_value(uint64_t half, uint64_t key, uint64_t bound)
{
	uint64_t x = (half ^ key) * 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	return (uint64_t)(((unsigned __int128)x * bound) >> 64);
}

static inline uint64_t add_modulo(uint64_t x, uint64_t y, uint64_t bound)
{
	const uint64_t sum = x + y;

	return sum >= bound ? sum - bound : sum;
}

/*
 * Values of the a x b square beyond count walk on along their cycle; 1 in a at most does.
 *
 * Two indices of the same high half come out with the same high half and low halves one
 * apart once in N too often: four rounds cannot help that. So the halves change places
 * on the way out: those lie b apart then, and neighbours are as rare as chance has it.
 */
uint64_t permutation_at(const struct permutation *p, uint64_t index)
{
	uint64_t x = index;

	assert(index < p->count);
	do {
		/* The reciprocal is at most one too small. */
		uint64_t high = (uint64_t)(((unsigned __int128)x * p->a_inverse) >> 64);
		uint64_t low = x - high * p->a;

		if (low >= p->a) {
			low -= p->a;
			high++;
		}
		low = add_modulo(low, round_value(high, p->keys[0], p->a), p->a);
		high = add_modulo(high, round_value(low, p->keys[1], p->b), p->b);
		low = add_modulo(low, round_value(high, p->keys[2], p->a), p->a);
		high = add_modulo(high, round_value(low, p->keys[3], p->b), p->b);
		x = low * p->b + high;
	} while (x >= p->count);
	return x;
}
