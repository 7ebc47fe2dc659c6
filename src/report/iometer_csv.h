/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * iometer_csv - a result as IOMeter writes its own: 80 columns, a row for all, for each manager,
 * worker and target of each test.
 *
 * Ticks are nanoseconds (column 54 says 1000000000), bins have the edges they are labelled with,
 * and rows of targets have figures of their own. CPU columns are the workers' own time, of all
 * CPUs; there are no rows of single CPUs, and columns nothing here knows (DPC, interrupts,
 * packets, connections) are 0.
 */

#include <stddef.h>

#include "base/text.h"
#include "model/iometer_labels.h"
#include "model/result.h"

#define IOMETER_COLUMNS 80
extern const char *const iometer_captions[IOMETER_COLUMNS];

/*
 * What was measured of the labels' cells, in their order; tests that were not reached are left
 * out, and the end says that it was aborted. now is local time "YYYY-MM-DD hh:mm:ss:mmm".
 */
void report_iometer_csv(const struct result *result, const struct iometer_labels *labels,
			const char *now, struct text *ret);
