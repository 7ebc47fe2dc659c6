/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fio_number - amounts as fio writes them: "31.9MiB", "1632k", "3999KiB/s". A prefix where the
 * whole number has more digits than there is room for; decimals where room is left.
 */

#include <stdbool.h>
#include <stdint.h>

#define FIO_NUMBER_BYTES 32

/* All write into a buffer of FIO_NUMBER_BYTES and return it. base is 1000 or 1024. */
char *fio_count(double value, uint32_t digits, char *buffer);
char *fio_bytes(double bytes, uint32_t base, char *buffer);
char *fio_rate(double bytes_per_s, uint32_t base, bool bits, char *buffer);
