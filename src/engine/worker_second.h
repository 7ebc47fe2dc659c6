/* SPDX-License-Identifier: MIT */
#pragma once

/* worker_second - requests that follow another one, in its place in the depth. */

#include "engine/worker.h"

uint32_t second_start_some(struct worker *w, uint64_t now_ns);

/* Makes those that may start, in w->ios: how many. */
static inline uint32_t second_start(struct worker *w, uint64_t now_ns)
{
	return w->sync_tag_count + w->reply_tag_count ? second_start_some(w, now_ns) : 0;
}

/* A request of access lines is done: false when its reply has still to go. */
bool second_is_last(struct worker *w, uint32_t tag, uint64_t end_ns);
