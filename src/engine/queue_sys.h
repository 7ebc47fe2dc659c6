/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * queue_sys - what the kernel queues share: one request as one blocking system call (all of
 * the sync engine, and trims where the others have no opcode), and what a fd can do.
 */

#include <stdbool.h>

#include "target/queue.h"
#include "target/target.h"

/* Bytes, 0 for trims and syncs, or a negative errno. */
int32_t queue_sys_call(int fd, bool is_device, const struct io *io);

/* The same of the part that io names, or of the target's one file (is_device is of that). */
int32_t queue_sys_target_call(const struct target *target, bool is_device, const struct io *io);

bool queue_sys_is_device(int fd);

/* The kernel would have to block to start a read on this fd: io_uring hands it to a thread. */
bool queue_sys_lacks_nowait(const struct target *target);
