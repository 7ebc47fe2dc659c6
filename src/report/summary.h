/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * summary - the figures that every report derives from a measurement in the same way.
 * Pure. For report/ and cli/.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "model/result.h"
#include "stats/histogram.h"

/* The percentiles of every report, rising; key in JSON, label for readers. */
#define SUMMARY_PERCENTILES 5
struct summary_percentile {
	const char *key, *label;
	uint32_t ppm;
};
extern const struct summary_percentile summary_percentiles[SUMMARY_PERCENTILES];

/* Requests of all kinds; syncs that belong to a write are part of it and not counted again. */
uint64_t summary_request_count(const struct measurement *m);

double summary_per_second(uint64_t count, uint64_t duration_ns);	/* 0 for no time */
double summary_user_ns_per_io(const struct measurement *m);		/* 0 without requests */
double summary_cpu_ns_per_io(const struct measurement *m);

/* The measurement has something to say about this kind: it happened, failed, or was asked for. */
bool summary_has_op(const struct measurement *m, enum op_kind kind);

/* "EIO"; "errno 1234" for one without a name. buffer holds 24 bytes. */
const char *summary_errno_name(int code, char *buffer);

/*
 * Strings from outside (paths, models, error texts) as valid UTF-8: what is not becomes
 * U+FFFD. For a terminal, control characters become '?' as well: a drive's model must not
 * be able to move the cursor.
 */
void summary_add_utf8(struct text *ret, const char *bytes);
void summary_add_printable(struct text *ret, const char *bytes);
