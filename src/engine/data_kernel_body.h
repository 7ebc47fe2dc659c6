/* SPDX-License-Identifier: MIT */

/*
 * data_kernel_body - the code of data_kernel.h, for the width DATA_VECTOR_BYTES and the name
 * DATA_KERNEL that the including file sets. Included once by each of data_generic.c,
 * data_avx2.c and data_avx512.c, hence without a guard.
 */

#include "engine/data_kernel.h"

typedef uint64_t vector __attribute__((vector_size(DATA_VECTOR_BYTES)));
typedef uint64_t vector_unaligned __attribute__((vector_size(DATA_VECTOR_BYTES), aligned(1)));

#define LANES (DATA_VECTOR_BYTES / 8)
#define PASSES (8 / LANES)	/* over the chunk, 2 * LANES lanes each */
#define STEP_BYTES 128		/* of output in a half round, all lanes */

struct network {
	vector a, b, c, d;
};

/* Lanes start apart by multiples of odd constants. */
static inline vector spread(uint64_t word, uint64_t constant, uint64_t first_lane)
{
	vector v;

	for (uint64_t i = 0; i < LANES; i++)
		v[i] = word + constant * (first_lane + i);
	return v;
}

static inline vector rotate_23(vector v)
{
	return v << 23 | v >> 41;
}

static inline vector rotate_32(vector v)
{
	return v << 32 | v >> 32;
}

static inline vector half_round_1(struct network *n)
{
	n->a += n->b;
	n->d = rotate_32(n->d ^ n->a);
	return n->d + n->c;
}

static inline vector half_round_2(struct network *n)
{
	n->c += n->d;
	n->b = rotate_23(n->b ^ n->c);
	return n->b + n->a;
}

static inline struct network network_of(uint64_t key, uint64_t first_lane)
{
	struct network n;

	n.a = spread(random_splitmix(&key), 0x9e3779b97f4a7c15u, first_lane);
	n.b = spread(random_splitmix(&key), 0xc2b2ae3d27d4eb4fu, first_lane);
	n.c = spread(random_splitmix(&key), 0x165667b19e3779f9u, first_lane);
	n.d = spread(random_splitmix(&key), 0xd6e8feb86659fd93u, first_lane);
	half_round_1(&n);
	half_round_2(&n);
	return n;
}

static inline void store(uint8_t *to, vector v)
{
	*(vector_unaligned *)to = v;
}

static inline vector load(const uint8_t *from)
{
	return *(const vector_unaligned *)from;
}

static void fill_pass(uint8_t *to, size_t length_bytes, uint64_t key, uint64_t lane)
{
	struct network low = network_of(key, lane), high = network_of(key, lane + 8);

	for (size_t i = 0; i < length_bytes; i += 2 * STEP_BYTES) {
		store(to + i, half_round_1(&low));
		store(to + i + 64, half_round_1(&high));
		store(to + i + STEP_BYTES, half_round_2(&low));
		store(to + i + STEP_BYTES + 64, half_round_2(&high));
	}
}

static void fill(void *buffer, size_t length_bytes, uint64_t key)
{
	uint8_t whole[DATA_CHUNK_BYTES] __attribute__((aligned(64)));
	const bool ragged = length_bytes % (2 * STEP_BYTES) != 0;
	uint8_t *to = ragged ? whole : buffer;

	for (uint64_t pass = 0; pass < PASSES; pass++)
		fill_pass(to + pass * DATA_VECTOR_BYTES, ragged ? sizeof(whole) : length_bytes, key,
			  pass * LANES);
	if (ragged)
		memcpy(buffer, whole, length_bytes);
}

/* Differences in one sector, two rounds of four lines; first covers what is compared of line 0. */
static inline vector sector_difference(const uint8_t *from, struct network *low,
				       struct network *high, vector first)
{
	vector difference = (half_round_1(low) ^ load(from)) & first;

	difference |= half_round_1(high) ^ load(from + 64);
	difference |= half_round_2(low) ^ load(from + 128);
	difference |= half_round_2(high) ^ load(from + 192);
	difference |= half_round_1(low) ^ load(from + 256);
	difference |= half_round_1(high) ^ load(from + 320);
	difference |= half_round_2(low) ^ load(from + 384);
	difference |= half_round_2(high) ^ load(from + 448);
	return difference;
}

/* All ones in the lanes that lie behind the first skip_bytes of a sector. */
static inline vector mask_behind(size_t skip_bytes, uint64_t first_lane)
{
	vector mask;

	for (uint64_t i = 0; i < LANES; i++)
		mask[i] = (first_lane + i) * 8 < skip_bytes ? 0 : UINT64_MAX;
	return mask;
}

static bool same(const void *buffer, size_t length_bytes, uint64_t key, size_t head_bytes)
{
	uint64_t any = 0;

	for (uint64_t lane = 0; lane < 8; lane += LANES) {
		struct network low = network_of(key, lane), high = network_of(key, lane + 8);
		const vector stamped = mask_behind(DATA_STAMP_BYTES, lane);
		const uint8_t *from = (const uint8_t *)buffer + lane * 8;
		vector difference = sector_difference(from, &low, &high,
						      mask_behind(head_bytes, lane));

		for (size_t i = DATA_SECTOR_BYTES; i < length_bytes; i += DATA_SECTOR_BYTES)
			difference |= sector_difference(from + i, &low, &high, stamped);
		for (uint64_t i = 0; i < LANES; i++)
			any |= difference[i];
	}
	return any == 0;
}

const struct data_kernel DATA_KERNEL = {
	.name = DATA_KERNEL_NAME,
	.fill = fill,
	.same = same,
};
