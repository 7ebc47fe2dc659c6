/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * sysfs - small files read whole. A struct sysfs_root lets tests put a recorded
 * machine in place of this one: all paths are taken below root ("" = the real one).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * First line of the file at the formatted path, without its newline and
 * trailing blanks. Returns 0, or a negative errno with *line set to "".
 */
int sysfs_read(char *line, size_t line_bytes, const char *path_fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A decimal number from such a file; fallback when it is absent or is none. */
uint64_t sysfs_read_u64(uint64_t fallback, const char *path_fmt, ...)
	__attribute__((format(printf, 2, 3)));
