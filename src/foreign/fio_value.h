/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio_value - how fio writes numbers, and what of it makes sense.
 *
 * Sizes: 4k = 4kb = 4ki = 4096 and 4kib = 4000, for fio swaps the two kinds of unit; with
 * kb_base=1000 it is the other way round. Times carry a unit of their own when bare. Anything
 * behind the number that fio would pass over in silence is an error here, which lists what is
 * accepted. A value in parentheses, or one that held a keyword, is arithmetic.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum fio_direction { FIO_READ, FIO_WRITE, FIO_TRIM, FIO_DIRECTIONS };

struct fio_amount {
	uint64_t bytes;
	uint32_t percent; /* of the target, when > 0 */
	uint64_t zones;	  /* "8z", when > 0 */
	bool set;
};

/* *iB values that are no multiple of 512 are hardly meant: *ret_odd, which may be NULL. */
int fio_parse_bytes(const char *text, uint32_t kb_base, uint64_t *ret, bool *ret_odd,
		    struct err *err);
/* Bytes, "25%" or "8z". */
int fio_parse_amount(const char *text, uint32_t kb_base, struct fio_amount *ret, struct err *err);
/* A bare number counts in bare_ns. */
int fio_parse_time_ns(const char *text, uint64_t bare_ns, uint64_t *ret, struct err *err);
int fio_parse_real(const char *text, double *ret, struct err *err);
int fio_parse_bool(const char *text, bool *ret, struct err *err);

/* "1+2*(3-1)": + - * / % ^ over whole numbers with unit letters; -ERANGE when it overflows. */
int fio_evaluate(const char *text, uint32_t kb_base, uint64_t *ret, struct err *err);

/*
 * Read, write and trim values between commas; part i of *at, "" for an empty field. Missing
 * ones to the right repeat the last one, which is the caller's to do: returns how many there
 * are, 0 when they are more than three. parts point into copy, which is cut up.
 */
uint32_t fio_split_directions(char *copy, const char *parts[FIO_DIRECTIONS]);
