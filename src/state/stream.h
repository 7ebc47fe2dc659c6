/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * stream - writes of any place and length to a bare target, many in flight, as a file system's
 * write-back sends them. In virtual time the clock moves with the completions.
 */

#include "state/work.h"

#define STREAM_REQUEST_BYTES (128 * KIB)

struct stream;

int stream_open(struct stream **ret, struct work *work, uint32_t depth_count, uint64_t seed,
		struct err *err);
/* Starts the write, waiting for room first; a multiple of the logical block. */
int stream_write(struct stream *stream, const struct span *span, struct err *err);
/* Until all is done. */
int stream_drain(struct stream *stream, struct err *err);
void stream_close(struct stream *stream);	/* accepts NULL; drains */
