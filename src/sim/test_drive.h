/* SPDX-License-Identifier: MIT */
#pragma once

/* A drive for a test, or the test ends and says why there is none. */

#include <stdio.h>
#include <stdlib.h>

#include "sim/sim.h"

static inline struct sim *test_drive(const char *spec)
{
	struct sim_config config;
	struct err err = { 0 };
	struct sim *sim = NULL;

	if (sim_config_parse(&config, spec, &err) < 0 || sim_new(&sim, &config, &err) < 0) {
		printf("# %s: %s\n", spec, err.text);
		abort();
	}
	return sim;
}
