/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * units - what people write for sizes, times, rates and shares, and back.
 *
 * Input is strict: an unknown suffix is an error that lists the accepted ones.
 * Sizes: 4k = 4K = 4KiB = 4096, 4kB = 4KB = 4000; also m g t p. Times: 90 = 90s, 500ms,
 * 10us, 1m, 1h, 1d. Counts and rates: 5, 10k = 10000, 1.5M. Shares: 70 = 70%, 0.1%.
 * All parsers return 0 or -EINVAL/-ERANGE with a sentence; *ret is untouched on failure.
 */

#include <stdint.h>

#include "base/err.h"

#define PPM 1000000u
#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

int units_parse_bytes(const char *text, uint64_t *ret, struct err *err);
int units_parse_time_ns(const char *text, uint64_t *ret, struct err *err);
int units_parse_count(const char *text, uint64_t *ret, struct err *err);
int units_parse_ppm(const char *text, uint32_t *ret_ppm, struct err *err);	/* 0 .. 100 % */

/* All write a NUL-terminated text and return the buffer. 24 bytes hold any of them. */
#define UNITS_TEXT_BYTES 24
char *units_format_bytes(uint64_t bytes, char *buffer);		/* exact if it can: "4k", "8g" */
char *units_format_size(double bytes, char *buffer);		/* "8.0 GiB", for readers */
char *units_format_rate_bytes(double bytes_per_s, char *buffer);/* "6.91 GB/s" */
char *units_format_rate(double per_s, char *buffer);		/* "812 k/s" */
char *units_format_count(uint64_t count, char *buffer);		/* exact: "10k", "1500" */
char *units_format_time_ns(uint64_t ns, char *buffer);		/* exact if it can: "60s" */
char *units_format_latency(double ns, char *buffer);		/* "68 µs", three digits */
char *units_format_ppm(uint32_t ppm, char *buffer);		/* "70%", "0.1%" */
