/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * scenario - a protocol on a reference drive whose truth is known, in virtual time. A failing
 * one prints the line that repeats it.
 */

#include "base/check.h"

#include "base/defer.h"
#include "protocol/protocol.h"

struct scenario {
	const char *protocol, *drive, *want;
	uint64_t size_bytes, cell_ns;
};

static struct protocol_outcome outcome;
static struct err scenario_err;

/* The outcome is of the last one run; the caller gives it back. */
static int scenario_run(const struct scenario *s)
{
	const struct protocol_options options = { .target = s->drive,
						  .size_bytes = s->size_bytes,
						  .cell_ns = s->cell_ns };
	const struct protocol *protocol = protocol_find(s->protocol);

	memset(&scenario_err, 0, sizeof(scenario_err));
	if (!protocol)
		return -1;
	return protocol_run(protocol, &options, &outcome, &scenario_err);
}

__attribute__((unused)) static double scenario_value(const char *name)
{
	for (size_t i = 0; i < outcome.evidence_count; i++)
		if (strcmp(outcome.evidence[i].name, name) == 0)
			return outcome.evidence[i].value;
	return NAN;
}

__attribute__((unused)) static void scenarios_hold(const struct scenario *scenarios, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct scenario *s = &scenarios[i];

		CHECK_EQ(scenario_run(s), 0);
		if (scenario_err.code)
			printf("# %s\n", scenario_err.text);
		if (strcmp(outcome.verdict_code, s->want) != 0)
			printf("# tare protocol %s %s\n", s->protocol, s->drive);
		CHECK_STR(outcome.verdict_code, s->want);
		printf("# %-18s %s\n#\t%s\n", outcome.verdict_code, s->drive, outcome.verdict_text);
		protocol_outcome_done(&outcome);
	}
}
