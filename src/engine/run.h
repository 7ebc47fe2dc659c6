/* SPDX-License-Identifier: MIT */
#pragma once

/* run - the two ways to drive workers: threads in real time, one thread in virtual time. */

#include "engine/worker.h"

/* 0, or why a worker could not open its queue: then nothing was run. */
int run_threads(struct work *work, struct worker *workers, const struct engine_options *options,
		struct err *err);
int run_virtual(struct work *work, struct worker *workers, const struct engine_options *options,
		struct err *err);
