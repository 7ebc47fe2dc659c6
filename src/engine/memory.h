/* SPDX-License-Identifier: MIT */
#pragma once

/* memory - engine_memory: the map and the data of a run that wrote, for one that reads later. */

#include "engine/worker.h"

/* Whether the job reads what another one wrote, and knows it by its memory alone. */
bool memory_is_wanted(const struct workload *workload);

/* Seed, data and map of the work as the memory has them. -EINVAL when it does not fit. */
int memory_recall(struct work *work, struct err *err);

/* Takes the work's map over; what was remembered before goes. */
void memory_keep(struct work *work);
