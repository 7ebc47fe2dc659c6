/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * trace_input - a file line by line or byte by byte, whether it is compressed or not (gzip, zstd:
 * told by content). Constant memory.
 *
 * Ownership: open returns an owned handle; close accepts NULL.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TRACE_LINE_BYTES 65536u		/* longer lines are cut, and so are bad ones */

struct trace_input;

int trace_input_open(struct trace_input **ret, const char *path, struct err *err);
int trace_input_memory(struct trace_input **ret, const char *name, const void *data, size_t bytes,
		       struct err *err);
void trace_input_close(struct trace_input *in);
int trace_input_rewind(struct trace_input *in, struct err *err);

const char *trace_input_name(const struct trace_input *in);
uint64_t trace_input_line_number(const struct trace_input *in);	/* of the last line */

/* The first bytes, not taken: how many there are, at most bytes; or a negative errno. */
int trace_input_peek(struct trace_input *in, void *buffer, size_t bytes, struct err *err);

/*
 * The next line without its end (LF or CRLF), NUL-terminated, to be changed at will until the
 * next call: 1; 0 at the end; a negative errno.
 */
int trace_input_line(struct trace_input *in, char **ret, struct err *err);

/* So many bytes: 1; 0 at the end, also in the midst of them; a negative errno. */
int trace_input_bytes(struct trace_input *in, void *buffer, size_t bytes, struct err *err);
