/* SPDX-License-Identifier: MIT */
#pragma once

/* queues - the kernel queues, as the registry in registry.c lists them. */

#include "target/queue.h"

extern const struct queue_ops queue_uring;
extern const struct queue_ops queue_aio;
extern const struct queue_ops queue_sync;
extern const struct queue_ops queue_mmap;

/* 0 when this kernel and its rules let us use it; else a sentence. */
int queue_uring_probe(struct err *err);
int queue_aio_probe(struct err *err);
