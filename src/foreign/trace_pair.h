/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * trace_pair - events of requests in the order of time, made into requests: an issue becomes a
 * record, the completion of the same place and length gives it its latency. Records leave in
 * the order of their issue; what is not completed when PAIR_ROOM later ones wait behind it leaves
 * without a latency. Constant memory.
 */

#include "model/trace.h"

#define PAIR_ROOM 16384u
#define PAIR_COMPLETE 255u	/* as op of a record: a completion */

struct pairing;

int pairing_new(struct pairing **ret, struct trace *trace, struct err *err);
void pairing_free(struct pairing *pairing);
int pairing_add(struct pairing *pairing, const struct trace_record *event, struct err *err);
/* What still waits. */
int pairing_finish(struct pairing *pairing, struct err *err);
