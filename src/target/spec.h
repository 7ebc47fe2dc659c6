/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * spec - "key=value,key=value" after the colon of a target or a filter. Strict: an unknown
 * key, a key given twice, a missing or wrong value is one sentence with the nearest name.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum spec_type {
	SPEC_BYTES,	/* uint64_t, "4k" */
	SPEC_TIME,	/* uint64_t in ns, "1ms" */
	SPEC_COUNT,	/* uint64_t, "1000" */
	SPEC_WORD,	/* uint64_t: index in words */
};

struct spec_key {
	const char *name;
	enum spec_type type;
	size_t offset;			/* of the uint64_t in the struct filled */
	const char *const *words;	/* SPEC_WORD: NULL-terminated */
};

/* A key whose value is a word alone stands without "=": key "" takes it ("corrupt:flip"). */
#define SPEC_KEYS 16

/*
 * Fills *ret, which holds the presets, from text ("" is fine). keys end with name NULL, at
 * most SPEC_KEYS of them. what begins each sentence ("delay"). Returns a bit per key given, or
 * -EINVAL; *ret may be half filled then.
 */
int spec_parse(const char *what, const char *text, const struct spec_key *keys, void *ret,
	       struct err *err);
