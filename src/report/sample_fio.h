/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * sample_fio - a result of three jobs as the fio front end would have it run, for the tests of
 * report/fio_*:
 *
 *	clones	2 clones of a random mix, group 0, reported together: 3 s and 4 s long, each second
 *		100 reads of 4 KiB (200 us) and 50 writes of 4 KiB (1 ms)
 *	seq	group 1: 2.25 s, 64 writes of 64 KiB each second (10 ms), every 16th followed by
 *		a sync (2 ms); 16 more in the last quarter
 */

#include "model/fio_labels.h"
#include "model/result.h"
#include "report/fio.h"

struct sample_fio {
	struct result result;
	struct fio_labels labels;
	struct report_fio report;	/* of the two above */
};

void sample_fio_init(struct sample_fio *sample);
void sample_fio_done(struct sample_fio *sample);
