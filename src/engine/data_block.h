/* SPDX-License-Identifier: MIT */
#pragma once

/* data_block - the inside of a verified block, for data.c and data_diagnose.c only. */

#include "engine/data.h"

struct data_block {
	uint64_t offset_bytes;
	uint64_t generation;
};

/* Is there a whole header at the start of a block; is it of this run and layout? */
bool data_header_read(const uint8_t *found, struct data_header *ret);
bool data_header_fits(const struct data *data, const struct data_header *header);
struct data_stamp data_stamp_read(const uint8_t *sector);

/* The chunk at position at_bytes of a block, as data_fill writes it. */
void data_chunk_write(const struct data *data, const struct data_block *block, size_t at_bytes,
		      uint8_t *to, size_t length_bytes);

/* What is wrong with a block that is not good; *finding but for its offset. */
enum data_verdict data_diagnose(const struct data *data, const uint8_t *found,
				uint64_t offset_bytes, uint64_t generation_min,
				uint64_t generation, struct data_finding *finding);
