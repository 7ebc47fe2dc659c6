/* SPDX-License-Identifier: MIT */
#include "engine/data.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

/* In place of the library's function: with a constant length it is a few instructions. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/units.h"
#include "engine/data_block.h"

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What the bytes of a block derive from; each chunk adds its position. */
static uint64_t block_key(const struct data *data, const struct data_block *block)
{
	const uint64_t write = block->offset_bytes * 0x9e3779b97f4a7c15u +
			       block->generation * 0xc2b2ae3d27d4eb4fu;
	const uint64_t key = random_mix(data->seed_key + write);

	if ((uint32_t)key < data->dedupe_below)
		return random_mix(data->seed_key + (key >> 32) % DATA_DEDUPE_POOL);
	return key;
}

static uint64_t chunk_key(uint64_t key, size_t at_bytes)
{
	return key + at_bytes * 0x9e3779b97f4a7c15u;
}

/* Doubling: n copies in log n calls. */
static void write_pattern(const struct data *data, size_t at_bytes, uint8_t *to,
			  size_t length_bytes)
{
	const size_t n = data->pattern_bytes;
	size_t done = smaller(n, length_bytes);

	for (size_t i = 0; i < done; i++)
		to[i] = data->pattern[(at_bytes + i) % n];
	while (done < length_bytes) {
		const size_t more = smaller(done, length_bytes - done);

		memcpy(to + done, to, more);
		done += more;
	}
}

static void write_content(const struct data *data, uint64_t key, size_t at_bytes, uint8_t *to,
			  size_t length_bytes)
{
	size_t random_bytes;

	switch ((enum workload_data)data->kind) {
	case DATA_RANDOM:
		random_bytes = (length_bytes * (PPM - data->compress_ppm) + PPM / 2) / PPM;
		data->kernel->fill(to, random_bytes, chunk_key(key, at_bytes));
		if (random_bytes < length_bytes)
			memset(to + random_bytes, 0, length_bytes - random_bytes);
		break;
	case DATA_ZERO:
		memset(to, 0, length_bytes);
		break;
	case DATA_PATTERN:
		write_pattern(data, at_bytes, to, length_bytes);
		break;
	}
}

static uint64_t load64(const uint8_t *from)
{
	uint64_t x;

	memcpy(&x, from, sizeof(x));
	return x;
}

static void store64(uint8_t *to, uint64_t x)
{
	memcpy(to, &x, sizeof(x));
}

static uint64_t header_checksum(const struct data_header *header)
{
	const size_t covered = offsetof(struct data_header, generation);

	return XXH3_64bits((const uint8_t *)header + covered, sizeof(*header) - covered);
}

/*
 * Xor with the line behind it, which is as random as the data is, and with a constant, or the
 * zeros in a header would copy that line.
 */
static void header_mask(uint8_t *to, const uint8_t *from, const uint8_t *mask)
{
	for (size_t i = 0; i < sizeof(struct data_header); i += 8)
		store64(to + i, load64(from + i) ^ load64(mask + i) ^ DATA_SPREAD);
}

/*
 * Word by word from registers: a header that is put together in memory and then loaded by
 * vectors waits for its own stores, 7 ns.
 */
static void header_write(const struct data *data, const struct data_block *block, uint8_t *to)
{
	const uint8_t *const mask = to + sizeof(struct data_header);
	struct data_header header = data->header;

	header.generation = block->generation;
	header.offset_bytes = block->offset_bytes;
	header_mask(to, (const uint8_t *)&data->header, mask);
	store64(to + offsetof(struct data_header, checksum),
		header_checksum(&header) ^ DATA_SPREAD ^
			load64(mask + offsetof(struct data_header, checksum)));
	store64(to + offsetof(struct data_header, generation),
		block->generation ^ DATA_SPREAD ^
			load64(mask + offsetof(struct data_header, generation)));
	store64(to + offsetof(struct data_header, offset_bytes),
		block->offset_bytes ^ DATA_SPREAD ^
			load64(mask + offsetof(struct data_header, offset_bytes)));
}

bool data_header_read(const uint8_t *found, struct data_header *ret)
{
	header_mask((uint8_t *)ret, found, found + sizeof(*ret));
	return ret->magic == DATA_MAGIC && ret->checksum == header_checksum(ret);
}

bool data_header_fits(const struct data *data, const struct data_header *header)
{
	const struct data_header *want = &data->header;

	return header->seed == want->seed && header->block_bytes == want->block_bytes &&
	       header->kind == want->kind && header->compress_ppm == want->compress_ppm &&
	       header->pattern_bytes == want->pattern_bytes && header->pattern == want->pattern;
}

struct data_stamp data_stamp_read(const uint8_t *sector)
{
	const uint8_t *mask = sector + DATA_STAMP_MASK_BYTES;

	return (struct data_stamp){
		.generation = (load64(sector) ^ load64(mask)) * DATA_SPREAD_INVERSE - 1,
		.offset_bytes = (load64(sector + 8) ^ load64(mask + 8)) - DATA_SPREAD,
	};
}

static void stamp_write(uint8_t *sector, const struct data_stamp *stamp)
{
	const uint8_t *mask = sector + DATA_STAMP_MASK_BYTES;

	store64(sector, stamp->generation ^ load64(mask));
	store64(sector + 8, stamp->offset_bytes ^ load64(mask + 8));
}

static struct data_chunk chunk_of(const struct data *data, const struct data_block *block,
				  size_t at_bytes)
{
	return (struct data_chunk){
		.key = chunk_key(block_key(data, block), at_bytes),
		.first = {
			.generation = (block->generation + 1) * DATA_SPREAD,
			.offset_bytes = block->offset_bytes + at_bytes + DATA_SPREAD,
		},
		.has_header = at_bytes == 0,
	};
}

static void write_verified(const struct data *data, const struct data_block *block,
			   size_t at_bytes, uint8_t *to, size_t length_bytes)
{
	const struct data_chunk chunk = chunk_of(data, block, at_bytes);
	struct data_stamp stamp = chunk.first;

	if (data->plain) {
		data->kernel->fill_stamped(to, length_bytes, &chunk);
	} else {
		write_content(data, block_key(data, block), at_bytes, to, length_bytes);
		for (size_t i = 0; i < length_bytes; i += DATA_SECTOR_BYTES) {
			stamp_write(to + i, &stamp);
			stamp.offset_bytes += DATA_SECTOR_BYTES;
		}
	}
	if (chunk.has_header)
		header_write(data, block, to);
}

void data_chunk_write(const struct data *data, const struct data_block *block, size_t at_bytes,
		      uint8_t *to, size_t length_bytes)
{
	if (data->verify)
		write_verified(data, block, at_bytes, to, length_bytes);
	else
		write_content(data, block_key(data, block), at_bytes, to, length_bytes);
}

void data_fill(const struct data *data, void *buffer, size_t length_bytes, uint64_t offset_bytes,
	       uint64_t generation)
{
	uint8_t *to = buffer;

	for (size_t i = 0; i < length_bytes; i += data->block_bytes) {
		const struct data_block block = { offset_bytes + i, generation };
		const size_t block_bytes = smaller(data->block_bytes, length_bytes - i);

		assert(!data->verify || block_bytes == data->block_bytes);
		for (size_t at = 0; at < block_bytes; at += DATA_CHUNK_BYTES)
			data_chunk_write(data, &block, at, to + i + at,
					 smaller(DATA_CHUNK_BYTES, block_bytes - at));
	}
}

static bool chunk_fits(const struct data *data, const struct data_block *block, size_t at_bytes,
		       const uint8_t *found, size_t length_bytes)
{
	uint8_t expected[DATA_CHUNK_BYTES] __attribute__((aligned(64)));

	if (data->plain) {
		const struct data_chunk chunk = chunk_of(data, block, at_bytes);

		return data->kernel->same(found, length_bytes, &chunk);
	}
	write_verified(data, block, at_bytes, expected, length_bytes);
	return memcmp(expected, found, length_bytes) == 0;
}

/* The generation is the block's own word for it: the rest must follow from it. */
static bool block_fits(const struct data *data, const uint8_t *found, uint64_t offset_bytes,
		       uint64_t generation_min, uint64_t generation)
{
	struct data_block block = { .offset_bytes = offset_bytes };
	struct data_header header;

	if (!data_header_read(found, &header) || !data_header_fits(data, &header) ||
	    header.offset_bytes != offset_bytes || header.generation < generation_min ||
	    header.generation > generation)
		return false;
	block.generation = header.generation;
	for (size_t at = 0; at < data->block_bytes; at += DATA_CHUNK_BYTES)
		if (!chunk_fits(data, &block, at, found + at,
				smaller(DATA_CHUNK_BYTES, data->block_bytes - at)))
			return false;
	return true;
}

enum data_verdict data_check(const struct data *data, const void *buffer, size_t length_bytes,
			     uint64_t offset_bytes, uint64_t generation_min, uint64_t generation,
			     struct data_finding *finding)
{
	const uint8_t *found = buffer;

	assert(data->verify);
	for (size_t i = 0; i < length_bytes; i += data->block_bytes) {
		struct data_finding local;

		assert(length_bytes - i >= data->block_bytes);
		if (block_fits(data, found + i, offset_bytes + i, generation_min, generation))
			continue;
		if (!finding)
			finding = &local;
		*finding = (struct data_finding){ .offset_bytes = offset_bytes + i };
		finding->verdict = data_diagnose(data, found + i, offset_bytes + i, generation_min,
						 generation, finding);
		return finding->verdict;
	}
	return DATA_GOOD;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "0xdeadbeef" is four bytes in the order written; anything else is its own text. */
static int parse_pattern(struct data *data, const char *pattern, struct err *err)
{
	const char *hex = pattern + 2;
	size_t length = strlen(pattern);

	if (!length)
		return err_set(err, -EINVAL, "pattern data needs a pattern, \"0xdeadbeef\" or text");
	assert(length < sizeof(data->pattern));
	if (pattern[0] != '0' || (pattern[1] != 'x' && pattern[1] != 'X')) {
		memcpy(data->pattern, pattern, length);
		data->pattern_bytes = (uint32_t)length;
		return 0;
	}
	length -= 2;
	if (!length || length % 2)
		return err_set(err, -EINVAL, "pattern '%s': two hex digits make a byte", pattern);
	for (size_t i = 0; i < length; i++) {
		const int digit = hex_digit(hex[i]);

		if (digit < 0)
			return err_set(err, -EINVAL, "pattern '%s': '%c' is no hex digit", pattern,
				       hex[i]);
		data->pattern[i / 2] = (uint8_t)(data->pattern[i / 2] << 4 | digit);
	}
	data->pattern_bytes = (uint32_t)(length / 2);
	return 0;
}

static int check_together(const struct workload *workload, uint32_t block_bytes, struct err *err)
{
	const bool is_random = workload->data == DATA_RANDOM;

	if (workload->compress_ppm && !is_random)
		return err_set(err, -EINVAL, "a compressible share is of random data only");
	if (workload->dedupe_ppm && !is_random)
		return err_set(err, -EINVAL, "a dedupe share is of random data only");
	if (workload->dedupe_ppm && workload->verify)
		return err_set(err, -EINVAL, "verified blocks are all different: no dedupe share");
	if (workload->verify && block_bytes % DATA_SECTOR_BYTES)
		return err_set(err, -EINVAL, "verified blocks are multiples of %u bytes, not %u",
			       DATA_SECTOR_BYTES, block_bytes);
	return 0;
}

int data_init(struct data *data, const struct workload *workload, uint32_t block_bytes,
	      uint64_t seed, struct err *err)
{
	struct data d = {
		.kind = workload->data,
		.compress_ppm = workload->compress_ppm,
		.dedupe_below = ((uint64_t)workload->dedupe_ppm << 32) / PPM,
		.seed = seed,
		.seed_key = random_mix(seed),
		.verify = workload->verify,
		.plain = workload->data == DATA_RANDOM && !workload->compress_ppm,
		.block_bytes = block_bytes,
		.kernel = data_kernels()[0],
	};
	int r;

	assert(block_bytes > 0 && workload->compress_ppm <= PPM && workload->dedupe_ppm <= PPM);
	r = check_together(workload, block_bytes, err);
	if (r < 0)
		return r;
	if (workload->data == DATA_PATTERN) {
		r = parse_pattern(&d, workload->pattern, err);
		if (r < 0)
			return r;
	}
	d.header = (struct data_header){
		.magic = DATA_MAGIC,
		.seed = seed,
		.block_bytes = block_bytes,
		.kind = d.kind,
		.compress_ppm = d.compress_ppm,
		.pattern_bytes = d.pattern_bytes,
	};
	memcpy(&d.header.pattern, d.pattern, sizeof(d.header.pattern));
	*data = d;
	return 0;
}

const char *data_fill_name(void)
{
	return data_kernels()[0]->name;
}
