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
	uint64_t content_tag;	/* what a write holds in short, for targets that keep no bytes; 0 = look */
};

struct io_done {
	uint32_t tag;
	int32_t result;		/* bytes, 0 for trims and syncs, or a negative errno */
	uint64_t done_ns;	/* when it was done; 0 = when it was reaped */
};
