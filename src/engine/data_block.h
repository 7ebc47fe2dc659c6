/* SPDX-License-Identifier: MIT */
#pragma once

/* data_block - the inside of a verified block, for data.c and data_diagnose.c only. */

#include "engine/data.h"

#define DATA_MAGIC 0x3130617461642074u	/* "t data01" */

struct data_header {
	uint64_t magic;
	uint64_t checksum;		/* XXH3_64 of what follows */
	uint64_t generation;
	uint64_t offset_bytes;
	uint64_t seed;
	uint32_t block_bytes;
	uint32_t kind;
	uint32_t compress_ppm;
	uint32_t pattern_bytes;
	uint64_t pattern;		/* its first 8 bytes */
};
_Static_assert(sizeof(struct data_header) == 64, "one line");

struct data_stamp {
	uint64_t generation;
	uint64_t offset_bytes;		/* of the sector */
};
_Static_assert(sizeof(struct data_stamp) == DATA_STAMP_BYTES, "one stamp");

struct data_block {
	uint64_t offset_bytes;
	uint64_t generation;
};

struct data_header data_header_of(const struct data *data, const struct data_block *block);
uint64_t data_header_checksum(const struct data_header *header);
struct data_stamp data_stamp_read(const uint8_t *sector);

/* The chunk at position at_bytes of a block, as data_fill writes it. */
void data_chunk_write(const struct data *data, const struct data_block *block, size_t at_bytes,
		      uint8_t *to, size_t length_bytes);

/* What is wrong with a block that is not good; *finding but for its offset. */
enum data_verdict data_diagnose(const struct data *data, const uint8_t *found,
				uint64_t offset_bytes, uint64_t generation_min,
				uint64_t generation, struct data_finding *finding);
