/* SPDX-License-Identifier: MIT */
#pragma once

/* signature - what a device holds, by libblkid on the opened descriptor. */

#include <stddef.h>

#include "base/err.h"

/*
 * "an ext4 file system", "a LUKS volume", "an LVM physical volume", "a gpt partition table"
 * and so on, joined by " and "; "" when nothing is known to be there, which is not proof
 * that it is empty. Reads only. fd must be without O_DIRECT (libblkid reads unaligned).
 */
int signature_find(int fd, const char *name, char *text, size_t text_bytes, struct err *err);
