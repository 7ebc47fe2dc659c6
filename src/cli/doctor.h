/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * doctor - what this machine lets tare measure: one row per faculty, with what its absence
 * costs and how to have it. Each row is found out by trying, not by a version number.
 */

#include <stdbool.h>

#include "base/text.h"
#include "measure/measure.h"
#include "model/result.h"
#include "report/report.h"

struct doctor_row {
	const char *code;	/* stable: "io_uring" */
	bool good;
	char text[256];		/* what was found */
	char remedy[256];	/* "" when good */
};

struct doctor_check {
	const char *code;
	void (*look)(struct doctor_row *ret);
};
extern const struct doctor_check doctor_checks[];	/* code NULL ends */

/* have_ceiling false: why is in ceiling_error. */
struct doctor {
	struct machine machine;
	struct doctor_row rows[24];
	size_t row_count;
	struct ceiling ceiling;
	bool have_ceiling;
	struct err ceiling_error;
};

void doctor_look(struct doctor *ret);
void doctor_text(const struct doctor *doctor, const struct report_style *style, struct text *ret);
/* { "schema": "tare.doctor/1", "machine", "checks": [...], "ceiling" } */
void doctor_json(const struct doctor *doctor, struct text *ret);
