/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * recording - what each request of a run did, for logs and for replaying. The engine's workers
 * fill it (engine_options.recording, measure_options.recording); afterwards it is read in the
 * order of one of its times, any number of times, in constant memory.
 *
 *	struct recording *recording;
 *
 *	recording_new(&recording, &err);
 *	options.recording = recording;			// then run
 *	recording_sort(recording, RECORDED_BY_SUBMIT, &cursor, &err);
 *	while ((io = cursor_next(&cursor.cursor)))	// const struct recorded_io *
 *		...
 *	recording_cursor_done(&cursor);
 *	recording_free(recording);
 *
 * Threads: recording_append and recording_lost by any number at once; the rest by one, when no
 * run goes on.
 */

#include <stdint.h>

#include "base/err.h"
#include "model/sorter.h"

/*
 * Times are of the run's clock; the measurement's start_ns (model/result.h) is on it. A closed
 * loop has intended_ns = submit_ns. Requests of the ramp have a measurement_index, too: their
 * submit_ns lies before start_ns.
 */
struct recorded_io {
	uint64_t intended_ns, submit_ns, done_ns;
	uint64_t offset_bytes;
	uint32_t length_bytes;
	int32_t result;			/* bytes moved, 0 for trims and syncs, or a negative errno */
	uint32_t measurement_index;	/* in the result */
	uint16_t job_index;		/* worker within the measurement */
	uint8_t op;			/* enum op_kind */
	uint8_t spare;
};

struct recording {
	int fd;				/* unnamed; of struct recorded_io, in no order */
	_Atomic uint64_t count;
	_Atomic uint64_t lost_count;	/* not recorded: it could not be written fast enough */
	_Atomic int code;		/* negative errno of the first failed write */
};

int recording_new(struct recording **ret, struct err *err);
void recording_free(struct recording *recording);	/* accepts NULL */

void recording_append(struct recording *recording, const struct recorded_io *ios, size_t count);
void recording_lost(struct recording *recording, uint64_t count);

enum recording_order { RECORDED_BY_INTENDED, RECORDED_BY_SUBMIT, RECORDED_BY_DONE };

struct recording_cursor {
	struct cursor cursor;
	int fd;				/* owned; the sorted file */
};

/* -EIO and the like when writing had failed: a recording with a gap is none. */
int recording_sort(const struct recording *recording, enum recording_order order,
		   struct recording_cursor *ret, struct err *err);
void recording_cursor_done(struct recording_cursor *cursor);
