/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * sim_text - the reference drives and a served one, told as text or as JSON; one document
 * each, with its newline.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "serve/serve.h"
#include "sim/sim.h"

void sim_text_list(bool json, struct text *ret);
void sim_text_config(const struct sim_config *config, bool json, struct text *ret);
/* One line in JSON, so that a script can read it while the server runs. */
void sim_text_ready(const struct serve_ready *ready, bool json, struct text *ret);

struct sim_stat_request {
	const char *path;		/* the served file, or its loop device */
	bool json;
	bool log;			/* with the latest operations */
	bool has_blocks;		/* with the truth of these logical blocks */
	uint64_t block_first, block_last;
};
int sim_text_stat(const struct sim_stat_request *request, struct text *ret, struct err *err);
