/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * sitting - measurements and steps one after another on a target that stays open, each
 * decided when the one before is known: what procedures are made of. A plan is a list known
 * beforehand; see measure.h.
 *
 *	r = sitting_open(&sitting, &request, &result, &err);
 *	r = sitting_measure(sitting, &workload, &m, &err);	// grows the result
 *	sitting_close(sitting);
 *	result_done(&result);
 *
 * Ownership:	open returns an owned handle; close frees it and takes NULL. The result is the
 *		caller's, initialised by open in any case, and valid whatever happens.
 * Threads:	one.
 */

#include "measure/measure.h"
#include "model/step.h"

struct sitting;

struct sitting_request {
	const char *target;
	const struct measure_options *options; /* borrowed until close; layout_ns_max unused */
	bool writes;			       /* anything but reads will be asked */
	bool lay_out;			       /* write our own test file in full first */
};

int sitting_open(struct sitting **ret, const struct sitting_request *request, struct result *result,
		 struct err *err);
void sitting_close(struct sitting *sitting); /* adds the findings about the target */

const struct target_info *sitting_target(const struct sitting *sitting);
uint64_t sitting_now_ns(const struct sitting *sitting);
bool sitting_is_virtual(const struct sitting *sitting);

/*
 * One measurement into the result, with its findings; *ret is borrowed until the next one.
 * -EINTR when *stop was raised meanwhile; an error of I/O is an error.
 */
int sitting_measure(struct sitting *sitting, const struct workload *workload,
		    const struct measurement **ret, struct err *err);

/*
 * The same while another runs beside it, on the same target, each to its own end; both are in the
 * result. *ret is what the first gave.
 */
int sitting_measure_beside(struct sitting *sitting, const struct workload *workload,
			   const struct workload *other, const struct measurement **ret,
			   struct err *err);

/* The same without a place in the result: to change the state, or as one of very many. */
int sitting_step(struct sitting *sitting, const struct workload *workload, struct measurement *ret,
		 struct err *err);

/*
 * A step of the state into the result: purge, fill, dirty, delete, trim, settle, rest. *ret is
 * borrowed until the next one. -EINTR when *stop was raised meanwhile. That something was not
 * reached is no error: ret->reached.
 */
int sitting_state(struct sitting *sitting, const struct step *step, const struct step_result **ret,
		  struct err *err);

/* Bytes the step will write, as far as known before it is done. */
uint64_t sitting_forecast_bytes(const struct sitting *sitting, const struct step *step);

/* Nothing is asked of the target for so long. 0 or -EINTR. */
int sitting_idle(struct sitting *sitting, uint64_t idle_ns, struct err *err);

/* Whether the drive has an erase of its own that purging uses; else a purge is a discard. */
bool sitting_has_erase(const struct sitting *sitting);
