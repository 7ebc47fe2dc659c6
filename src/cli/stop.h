/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * stop - SIGINT and SIGTERM. The first one raises the flag: what runs ends early and its
 * partial result is printed. The second one quits at once; the test file has no name, so
 * nothing is left behind.
 */

#include <signal.h>

/* Installs the handlers, for the whole life of the process; the flag stays borrowed. */
const volatile sig_atomic_t *stop_on_signals(void);
