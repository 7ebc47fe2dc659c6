/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * clean - takes down what one registry entry names and what is still there of it: file
 * systems mounted on the loop device, the device, the mount, the directory, the entry.
 * For a server that is gone; one that runs closes its file itself.
 */

#include "base/err.h"
#include "serve/loop.h"
#include "serve/registry.h"

int clean_entry(const struct registry_entry *entry, const struct loop_observer *observer,
		struct err *err);
