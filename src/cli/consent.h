/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * consent - leave to erase a device. In scripts it names the drive: --erase-data=SERIAL. On a
 * terminal the drive is shown and the last four characters of its serial number are typed
 * (its device name where it has none); only then is anything opened for writing. The gate
 * holds the whole serial number against the descriptor it has opened, so that a drive put in
 * the other's place in between is refused.
 */

#include "cli/cli.h"
#include "model/target_info.h"

/*
 * Refuses consent that would have no effect: --erase-data for what is no device, --expendable
 * for what is no file, either for a run that only reads. Then completes inv->erase_serial
 * where --erase-data was given without one. 0, -EINVAL for usage, others as target_open.
 */
int consent_settle(struct invocation *inv, const char *spec, bool writes, struct err *err);

/*
 * The same for every target of a plan that it writes: each device is asked for on the terminal,
 * or has its serial number in the list of --erase-data.
 */
int consent_settle_plan(struct invocation *inv, const struct plan *plan, struct err *err);

/* What has to be typed for a drive: the end of its serial number, or its device name. */
const char *consent_word(const struct target_info *info);
