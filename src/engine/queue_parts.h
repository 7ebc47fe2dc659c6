/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * queue_parts - a kernel queue over a target of several parts: files or devices that make up one
 * range, one after the other or in stripes. Finds the part each request lies in; one that lies
 * in several, and each sync, is cut into pieces that are done when all are. Targets of one file
 * never pass through here.
 */

#include "target/queue.h"
#include "target/target.h"

/* inner is the kernel queue's; it gets twice the depth: whole requests, and pieces. */
int queue_parts_open(struct queue **ret, const struct queue_ops *inner, struct target *target,
		     const struct queue_options *options, struct err *err);

/* Where a byte of the range lies, and how many follow it there. */
struct queue_place {
	uint32_t part;
	uint64_t offset_bytes, room_bytes;
};
void queue_parts_find(const struct target *target, uint64_t offset_bytes,
		      struct queue_place *ret);
