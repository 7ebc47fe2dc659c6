/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * judge - the verdict over layers and evidence. Pure: the same report gives the same verdict.
 * The first rule that holds decides:
 *
 *	guards_changed				dangerous	GUARDS
 *	aborted					dangerous	RESET
 *	no last layer needs to be told, none takes discards
 *						not-applicable	ROTATIONAL, MEMORY, SERVER, READ_ONLY
 *	a layer with capable NO			blocked		its reason; the first from the top,
 *				but a hard disk below one that takes discards just ends the chain
 *	evidence "fitrim", "discard" or "punch-hole" with an error:
 *		EPERM, EACCES			cannot-tell	NO_RIGHTS, unless something was sent
 *		EROFS				cannot-tell	READ_ONLY
 *		any other			blocked		FAILS; KERNEL if "asked-directly" is ok
 *	nothing was tried:
 *		a layer's answer wants root	cannot-tell	NO_RIGHTS
 *		a layer's answer is not known	cannot-tell	NOT_KNOWN
 *		else				cannot-tell	NOT_TRIED
 *	the first layer that counts counted none	cannot-tell	NOT_SENT
 *	counters rose above a layer, not at it	blocked		NOT_PASSED
 *	mapping NO, space_freed not known	cannot-tell	MAPPING
 *	sizes: gone only from one larger than announced		partial	GRANULARITY
 *	the last "read-back":
 *		old, "asked-directly" ok	blocked		KERNEL
 *		zeros; ones			works, works-when-asked
 *		old, zeros promised		ignored		OLD_DATA
 *		old, space_freed or "behaviour" ok	works, works-when-asked
 *		old, "behaviour" not ok		ignored		NO_EFFECT_SEEN
 *		old, virtual			sent-unproven	IMAGE_IGNORE
 *		old				sent-unproven	NOT_OBSERVABLE
 *		other				cannot-tell	TRANSFORMED
 *	not read: space_freed YES, "behaviour" ok	works, works-when-asked
 *	not read, virtual			works, works-when-asked; as_far_as_seen
 *	not read				sent-unproven	NOT_READ
 *	none of them				cannot-tell	NO_EVIDENCE
 *
 * Where a layer is blamed, "asked-directly" adds what the drive itself does.
 * "works" becomes "works-when-asked" where neither mount option nor timer asks. Whatever the
 * verdict, as_far_as_seen tells that the last layer is virtual or remote.
 */

#include <stdbool.h>

#include "model/trim.h"

void trim_judge(struct trim_report *report);

/*
 * The exit status: 0 works, works-when-asked, not-applicable; 3 cannot-tell for want of rights;
 * 7 dangerous; 130 interrupted; 1 everything else, and what works only as far as this machine
 * can see unless accept_partial.
 */
int trim_exit_code(const struct trim_report *report, bool accept_partial);
