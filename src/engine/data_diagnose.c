/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "engine/data_block.h"

/*
 * Speed does not matter here: something is broken. The content of every write can be computed,
 * so each sector is held against what the write it claims to be of would have put there.
 */

/* More bits than this wrong in a sector of 4096: another content, not a damaged one. */
#define FLIPPED_BITS_MAX 400u

struct suspect {
	const struct data *data;
	const uint8_t *found;
	uint64_t offset_bytes;
	uint64_t generation_min, generation;
	struct data_finding *finding;
};

struct sector_counts {
	size_t good, flipped, replaced;
	size_t first_bad;		/* index of the first that is not good */
	uint64_t flipped_bits;
};

const char *data_verdict_name(enum data_verdict verdict)
{
	static const char *const names[] = {
		[DATA_GOOD] = "good",	[DATA_UNWRITTEN] = "unwritten",
		[DATA_MISPLACED] = "misplaced", [DATA_STALE] = "stale",
		[DATA_TORN] = "torn",	[DATA_FLIPPED] = "flipped",
	};

	return names[verdict];
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i])
			return false;
	return true;
}

static uint64_t bits_between(const uint8_t *a, const uint8_t *b, size_t length)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < length; i++)
		bits += (uint64_t)__builtin_popcount((unsigned int)(a[i] ^ b[i]));
	return bits;
}

/* Sector index as the write of that block would have left it. */
static uint64_t bits_wrong(const struct suspect *s, const struct data_block *block, size_t index)
{
	uint8_t chunk[DATA_CHUNK_BYTES];
	const size_t at = index * DATA_SECTOR_BYTES;
	const size_t chunk_at = at / DATA_CHUNK_BYTES * DATA_CHUNK_BYTES;
	const size_t rest = s->data->block_bytes - chunk_at;

	data_chunk_write(s->data, block, chunk_at, chunk,
			 rest < sizeof(chunk) ? rest : sizeof(chunk));
	return bits_between(chunk + (at - chunk_at), s->found + at, DATA_SECTOR_BYTES);
}

/*
 * Another write's? Where all writes have the same bytes (zeros, patterns) only the
 * stamp can tell: it names this very sector and another generation.
 */
static bool is_replaced(const struct suspect *s, const struct data_block *block, size_t index,
			uint64_t bits)
{
	const uint8_t *sector = s->found + index * DATA_SECTOR_BYTES;
	struct data_stamp stamp;

	if (bits > FLIPPED_BITS_MAX || is_zero(sector, DATA_SECTOR_BYTES))
		return true;
	if (index == 0)
		return false;
	stamp = data_stamp_read(sector);
	return stamp.offset_bytes == block->offset_bytes + index * DATA_SECTOR_BYTES &&
	       stamp.generation != block->generation && stamp.generation <= s->generation;
}

static struct sector_counts count_sectors(const struct suspect *s, const struct data_block *block)
{
	const size_t count = s->data->block_bytes / DATA_SECTOR_BYTES;
	struct sector_counts n = { .first_bad = count };

	for (size_t i = 0; i < count; i++) {
		const uint64_t bits = bits_wrong(s, block, i);

		if (!bits) {
			n.good++;
			continue;
		}
		if (n.first_bad == count)
			n.first_bad = i;
		if (is_replaced(s, block, i, bits)) {
			n.replaced++;
		} else {
			n.flipped++;
			n.flipped_bits += bits;
		}
	}
	return n;
}

static void say(char *words, const char *what, uint64_t generation, uint64_t offset_bytes)
{
	snprintf(words, sizeof(((struct data_finding *)0)->found),
		 "%s%" PRIu64 " of offset %" PRIu64, what, generation, offset_bytes);
}

static enum data_verdict say_torn(const struct suspect *s, const struct data_block *block,
				  const struct sector_counts *n)
{
	const size_t at = n->first_bad * DATA_SECTOR_BYTES;
	const struct data_stamp other = data_stamp_read(s->found + at);
	char *words = s->finding->found;
	const size_t room = sizeof(s->finding->found);

	if (is_zero(s->found + at, DATA_SECTOR_BYTES))
		snprintf(words, room, "generation %" PRIu64 ", zeros from byte %zu on",
			 block->generation, at);
	else if (n->first_bad && other.offset_bytes == block->offset_bytes + at)
		snprintf(words, room,
			 "generation %" PRIu64 ", generation %" PRIu64 " from byte %zu on",
			 block->generation, other.generation, at);
	else
		snprintf(words, room, "generation %" PRIu64 ", something else from byte %zu on",
			 block->generation, at);
	return DATA_TORN;
}

/* The header is whole: does the block bear it out, and is it the block asked for? */
static enum data_verdict judge_by_header(const struct suspect *s, const struct data_header *header)
{
	const struct data_block block = { header->offset_bytes, header->generation };
	const struct sector_counts n = count_sectors(s, &block);

	if (n.replaced)
		return say_torn(s, &block, &n);
	if (n.flipped) {
		snprintf(s->finding->found, sizeof(s->finding->found),
			 "%" PRIu64 " bits flipped, the first behind byte %zu", n.flipped_bits,
			 n.first_bad * DATA_SECTOR_BYTES);
		return DATA_FLIPPED;
	}
	say(s->finding->found, "generation ", block.generation, block.offset_bytes);
	return block.offset_bytes == s->offset_bytes ? DATA_STALE : DATA_MISPLACED;
}

/* The generation that the sectors behind the first speak for; false when none is ours. */
static bool generation_by_stamps(const struct suspect *s, uint64_t *ret)
{
	const size_t count = s->data->block_bytes / DATA_SECTOR_BYTES;

	for (size_t i = 1; i < count; i++) {
		const size_t at = i * DATA_SECTOR_BYTES;
		const struct data_stamp stamp = data_stamp_read(s->found + at);

		if (stamp.offset_bytes == s->offset_bytes + at &&
		    stamp.generation <= s->generation) {
			*ret = stamp.generation;
			return true;
		}
	}
	return false;
}

/*
 * Which generation is the first sector nearest to: the one that the other sectors speak for, the
 * one expected, or one that differs in a bit from what its damaged header says?
 */
static uint64_t nearest_generation(const struct suspect *s, uint64_t said, bool by_stamps,
				   uint64_t *ret_bits)
{
	struct data_block block = { s->offset_bytes, s->generation };
	uint64_t nearest;

	if (by_stamps)
		block.generation = said;
	nearest = block.generation;
	*ret_bits = bits_wrong(s, &block, 0);
	for (int bit = -1; bit < 64 && !by_stamps && *ret_bits > FLIPPED_BITS_MAX; bit++) {
		block.generation = bit < 0 ? said : said ^ 1ull << bit;
		if (block.generation > s->generation)
			continue;
		nearest = block.generation;
		*ret_bits = bits_wrong(s, &block, 0);
	}
	return nearest;
}

/* No valid header: damaged, overwritten by something else, or never there. */
static enum data_verdict judge_without_header(const struct suspect *s,
					      const struct data_header *header)
{
	char *words = s->finding->found;
	const size_t room = sizeof(s->finding->found);
	uint64_t bits, generation = header->generation;
	const bool by_stamps = generation_by_stamps(s, &generation);

	generation = nearest_generation(s, generation, by_stamps, &bits);
	if (bits <= FLIPPED_BITS_MAX && !is_zero(s->found, DATA_SECTOR_BYTES)) {
		snprintf(words, room, "generation %" PRIu64 ", %" PRIu64
			 " bits flipped in its first sector", generation, bits);
		return DATA_FLIPPED;
	}
	if (by_stamps) {
		snprintf(words, room, "%s at its start, then generation %" PRIu64,
			 is_zero(s->found, DATA_SECTOR_BYTES) ? "zeros" : "something else",
			 generation);
		return DATA_TORN;
	}
	snprintf(words, room, "%s", is_zero(s->found, s->data->block_bytes)
					    ? "zeros"
					    : "data that is not of this run");
	return DATA_UNWRITTEN;
}

enum data_verdict data_diagnose(const struct data *data, const uint8_t *found,
				uint64_t offset_bytes, uint64_t generation_min,
				uint64_t generation, struct data_finding *finding)
{
	const struct suspect s = { data, found, offset_bytes, generation_min, generation, finding };
	struct data_header header;

	if (generation_min == generation)
		say(finding->expected, "generation ", generation, offset_bytes);
	else
		snprintf(finding->expected, sizeof(finding->expected),
			 "generation %" PRIu64 " to %" PRIu64 " of offset %" PRIu64, generation_min,
			 generation, offset_bytes);
	if (!data_header_read(found, &header))
		return judge_without_header(&s, &header);
	/* Only of this run and layout do generation and offset mean anything. */
	if (data_header_fits(data, &header))
		return judge_by_header(&s, &header);
	snprintf(finding->found, sizeof(finding->found),
		 "block of seed %" PRIu64 ", of another run or layout", header.seed);
	return DATA_UNWRITTEN;
}
