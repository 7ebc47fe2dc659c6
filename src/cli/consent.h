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
 * Completes inv->erase_serial where --erase-data was given without one. 0 also when it was
 * not given at all. Exit codes: -EINVAL usage, others as target_open.
 */
int consent_settle(struct invocation *inv, const char *spec, struct err *err);

/* What has to be typed for a drive: the end of its serial number, or its device name. */
const char *consent_word(const struct target_info *info);
