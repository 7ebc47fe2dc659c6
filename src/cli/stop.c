/* SPDX-License-Identifier: MIT */
#include "cli/stop.h"

#include <string.h>
#include <unistd.h>

#include "cli/exit.h"

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	if (stopped)
		_exit(EXIT_INTERRUPTED);
	stopped = 1;
}

const volatile sig_atomic_t *stop_on_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return &stopped;
}
