/* SPDX-License-Identifier: MIT */
#pragma once

/* utf8 - texts that end up in YAML and JSON have to be UTF-8. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point at text and its bytes (1 to 4); 0 bytes when it is none. */
size_t utf8_decode(const char *text, uint32_t *ret_code);
bool utf8_is_valid(const char *text);
