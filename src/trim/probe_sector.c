/* SPDX-License-Identifier: MIT */
#include "trim/probe_sector.h"

#include <assert.h>
#include <string.h>

#include "base/random.h"

#define WORDS (SECTOR_BYTES / 8)

static void fill_one(const struct sector_key *key, uint64_t offset_bytes, uint64_t words[WORDS])
{
	struct random random;

	random_init(&random, random_mix(key->run[0] ^ random_mix(key->run[1] ^ offset_bytes)));
	words[0] = key->run[0];
	words[1] = key->run[1];
	words[2] = offset_bytes;
	for (size_t i = 3; i < WORDS; i++)
		words[i] = random_u64(&random);
}

void sector_fill(const struct sector_key *key, uint64_t offset_bytes, void *buffer, size_t bytes)
{
	unsigned char *to = buffer;
	uint64_t words[WORDS];

	assert(offset_bytes % SECTOR_BYTES == 0 && bytes % SECTOR_BYTES == 0);
	for (size_t at = 0; at < bytes; at += SECTOR_BYTES) {
		fill_one(key, offset_bytes + at, words);
		memcpy(to + at, words, SECTOR_BYTES);
	}
}

enum trim_content sector_look(const struct sector_key *key, uint64_t offset_bytes,
			      const void *sector)
{
	const unsigned char *bytes = sector;
	uint64_t words[WORDS];

	if ((bytes[0] == 0 || bytes[0] == 0xff) && memcmp(bytes, bytes + 1, SECTOR_BYTES - 1) == 0)
		return bytes[0] ? CONTENT_ONES : CONTENT_ZEROS;
	fill_one(key, offset_bytes, words);
	return memcmp(bytes, words, SECTOR_BYTES) == 0 ? CONTENT_OLD : CONTENT_OTHER;
}

void sector_add(const struct sector_key *key, uint64_t offset_bytes, const void *buffer,
		size_t bytes, struct sector_count *count)
{
	const unsigned char *from = buffer;

	assert(offset_bytes % SECTOR_BYTES == 0 && bytes % SECTOR_BYTES == 0);
	for (size_t at = 0; at < bytes; at += SECTOR_BYTES) {
		switch (sector_look(key, offset_bytes + at, from + at)) {
		case CONTENT_ZEROS:
			count->zeros++;
			break;
		case CONTENT_ONES:
			count->ones++;
			break;
		case CONTENT_OLD:
			count->old++;
			break;
		case CONTENT_OTHER:
		case CONTENT_NOT_READ:
			count->other++;
			break;
		}
	}
}

uint64_t sector_total(const struct sector_count *count)
{
	return count->zeros + count->ones + count->old + count->other;
}

enum trim_content sector_most(const struct sector_count *count)
{
	const uint64_t of[] = { 0, count->zeros, count->ones, count->old, count->other };
	enum trim_content most = CONTENT_NOT_READ;

	for (enum trim_content i = CONTENT_ZEROS; i <= CONTENT_OTHER; i++)
		if (of[i] > of[most])
			most = i;
	return most;
}
