/* SPDX-License-Identifier: MIT */

/*
 * data_kernel_body - the code of a kernel, for the file that includes it: data_generic.c,
 * data_avx2.c, data_avx512.c; hence without a guard. That file sets
 *	DATA_VECTOR_BYTES	16, 32 or 64: the width of the registers it is compiled for (a
 *				wider type is split through the stack, 4 times slower)
 *	DATA_SWAP_HALVES	the 32-bit halves of each 64 bits swapped, as shuffle indices
 *	DATA_KERNEL, DATA_KERNEL_NAME
 *
 * Lanes are independent, so a narrow register does a few of them for the whole chunk and then
 * the next few. Two networks run side by side: one alone would wait for itself.
 */

#include <assert.h>

#include "engine/data_kernel.h"

typedef uint64_t vector __attribute__((vector_size(DATA_VECTOR_BYTES)));
typedef uint64_t vector_unaligned __attribute__((vector_size(DATA_VECTOR_BYTES), aligned(1)));
typedef uint32_t halves __attribute__((vector_size(DATA_VECTOR_BYTES)));

#define LANES (DATA_VECTOR_BYTES / 8)

struct network {
	vector a, b, c, d;
};

static inline vector rotate_23(vector v)
{
	return v << 23 | v >> 41;
}

/* Not by shifts: gcc 12 takes three instructions for what is one shuffle of halves. */
static inline vector rotate_32(vector v)
{
	const halves h = (halves)v;

	return (vector)__builtin_shufflevector(h, h, DATA_SWAP_HALVES);
}

static inline void round_of(struct network *n)
{
	n->a += n->b;
	n->d = rotate_32(n->d ^ n->a);
	n->c += n->d;
	n->b = rotate_23(n->b ^ n->c);
}

/* Lanes start apart by multiples of odd constants. As tables: AVX2 has no 64-bit product. */
#define MULTIPLES(c)                                                                               \
	{                                                                                          \
		(c) * 1, (c) * 2, (c) * 3, (c) * 4, (c) * 5, (c) * 6, (c) * 7, (c) * 8, (c) * 9,   \
			(c) * 10, (c) * 11, (c) * 12, (c) * 13, (c) * 14, (c) * 15, (c) * 16       \
	}
static const uint64_t spread[4][16] __attribute__((aligned(64))) = {
	MULTIPLES(0x9e3779b97f4a7c15u),
	MULTIPLES(0xc2b2ae3d27d4eb4fu),
	MULTIPLES(0x165667b19e3779f9u),
	MULTIPLES(0xd6e8feb86659fd93u),
};

static inline vector load_lanes(const uint64_t *from)
{
	return *(const vector *)from;
}

/* The key is a good hash already: it is spread over the state, and two rounds mix it. */
static inline struct network network_of(uint64_t key, uint64_t lane)
{
	struct network n = {
		load_lanes(&spread[0][lane]) + key,
		load_lanes(&spread[1][lane]) ^ key,
		load_lanes(&spread[2][lane]) - key,
		load_lanes(&spread[3][lane]) ^ ~random_rotl(key, 32),
	};

	round_of(&n);
	round_of(&n);
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

/* Everything but the first line of a sector. */
static inline void store_rest(uint8_t *to, const struct network *low, const struct network *high)
{
	store(to + 64, high->a);
	store(to + 128, low->d);
	store(to + 192, high->d);
	store(to + 256, low->c);
	store(to + 320, high->c);
	store(to + 384, low->b);
	store(to + 448, high->b);
}

static inline vector difference_rest(const uint8_t *from, const struct network *low,
				     const struct network *high)
{
	return (high->a ^ load(from + 64)) | (low->d ^ load(from + 128)) |
	       (high->d ^ load(from + 192)) | (low->c ^ load(from + 256)) |
	       (high->c ^ load(from + 320)) | (low->b ^ load(from + 384)) |
	       (high->b ^ load(from + 448));
}

/* The lanes of a line that hold the stamp, and what is added to it from sector to sector. */
static const uint64_t stamp_lanes[8] __attribute__((aligned(64))) = { UINT64_MAX, UINT64_MAX };
static const uint64_t stamp_step[8] __attribute__((aligned(64))) = { 0, DATA_SECTOR_BYTES };

static inline vector stamp_of(const struct data_stamp *stamp, uint64_t lane)
{
	vector v = { 0 };

	if (lane == 0) {
		v[0] = stamp->generation;
		v[1] = stamp->offset_bytes;
	}
	return v;
}

/* The stamp's lanes of the first line are those of the second, by xor with the stamp. */
static inline vector stamped(const struct network *low, const struct network *high, vector lanes,
			     vector stamp)
{
	return ((low->a & ~lanes) | (high->a & lanes)) ^ stamp;
}

static inline void fill_pass(uint8_t *to, size_t length_bytes, uint64_t key, uint64_t lane)
{
	struct network low = network_of(key, lane), high = network_of(key, lane + 8);

	for (uint8_t *end = to + length_bytes; to < end; to += DATA_SECTOR_BYTES) {
		round_of(&low);
		round_of(&high);
		store(to, low.a);
		store_rest(to, &low, &high);
	}
}

static void fill(void *buffer, size_t length_bytes, uint64_t key)
{
	uint8_t whole[DATA_CHUNK_BYTES] __attribute__((aligned(64)));
	const bool ragged = length_bytes % DATA_SECTOR_BYTES != 0;
	uint8_t *to = ragged ? whole : buffer;

	assert(length_bytes <= DATA_CHUNK_BYTES);
	for (uint64_t lane = 0; lane < 8; lane += LANES)
		fill_pass(to + lane * 8, ragged ? sizeof(whole) : length_bytes, key, lane);
	if (ragged)
		memcpy(buffer, whole, length_bytes);
}

static inline void fill_stamped_pass(uint8_t *to, size_t length_bytes,
				     const struct data_chunk *chunk, uint64_t lane)
{
	struct network low = network_of(chunk->key, lane), high = network_of(chunk->key, lane + 8);
	const vector lanes = load_lanes(&stamp_lanes[lane]), step = load_lanes(&stamp_step[lane]);
	vector stamp = stamp_of(&chunk->first, lane);

	for (uint8_t *end = to + length_bytes; to < end; to += DATA_SECTOR_BYTES) {
		round_of(&low);
		round_of(&high);
		store(to, stamped(&low, &high, lanes, stamp));
		store_rest(to, &low, &high);
		stamp += step;
	}
}

static void fill_stamped(void *buffer, size_t length_bytes, const struct data_chunk *chunk)
{
	assert(length_bytes <= DATA_CHUNK_BYTES && length_bytes % DATA_SECTOR_BYTES == 0);
	for (uint64_t lane = 0; lane < 8; lane += LANES)
		fill_stamped_pass((uint8_t *)buffer + lane * 8, length_bytes, chunk, lane);
}

static inline vector difference_pass(const uint8_t *from, size_t length_bytes,
				     const struct data_chunk *chunk, uint64_t lane)
{
	struct network low = network_of(chunk->key, lane), high = network_of(chunk->key, lane + 8);
	const vector lanes = load_lanes(&stamp_lanes[lane]), step = load_lanes(&stamp_step[lane]);
	vector stamp = stamp_of(&chunk->first, lane), difference = { 0 };
	vector compared = (vector){ 0 } - !chunk->has_header;

	for (const uint8_t *end = from + length_bytes; from < end; from += DATA_SECTOR_BYTES) {
		round_of(&low);
		round_of(&high);
		difference |= (stamped(&low, &high, lanes, stamp) ^ load(from)) & compared;
		difference |= difference_rest(from, &low, &high);
		stamp += step;
		compared |= ~compared;
	}
	return difference;
}

static bool same(const void *buffer, size_t length_bytes, const struct data_chunk *chunk)
{
	vector difference = { 0 };
	uint64_t any = 0;

	assert(length_bytes <= DATA_CHUNK_BYTES && length_bytes % DATA_SECTOR_BYTES == 0);
	for (uint64_t lane = 0; lane < 8; lane += LANES)
		difference |= difference_pass((const uint8_t *)buffer + lane * 8, length_bytes, chunk,
					      lane);
	for (uint64_t i = 0; i < LANES; i++)
		any |= difference[i];
	return any == 0;
}

const struct data_kernel DATA_KERNEL = {
	.name = DATA_KERNEL_NAME,
	.fill = fill,
	.fill_stamped = fill_stamped,
	.same = same,
};
