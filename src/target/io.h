/* SPDX-License-Identifier: MIT */
#pragma once

/* io - one request and its completion, as engine and queues pass them. */

#include <stdint.h>

enum io_kind { IO_READ, IO_WRITE, IO_TRIM, IO_FSYNC, IO_FDATASYNC };

struct io {
	uint64_t offset_bytes;
	void *buffer;		/* borrowed until the matching io_done; NULL for trim and syncs */
	uint32_t length_bytes;
	uint32_t tag;		/* the engine's; returned untouched; below the queue's depth */
	uint8_t kind;		/* enum io_kind */
	uint16_t part;		/* of a target of several parts: which, offset_bytes being in it; else 0 */
	/*
	 * For targets that need not move bytes; 0 = the buffer counts. Write: stands for what
	 * the buffer would hold; below 2^62, the rest are the target's own. Read: not 0 = nobody will look into the buffer.
	 */
	uint64_t content_tag;
};

struct io_done {
	uint32_t tag;
	int32_t result;		/* bytes, 0 for trims and syncs, or a negative errno */
	uint64_t done_ns;	/* when it was done; 0 = when it was reaped */
};
