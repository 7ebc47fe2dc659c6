/* SPDX-License-Identifier: MIT */
#pragma once

/* devices - the table of this machine's drives, for `tare` and `tare devices`. */

#include "cli/cli.h"
#include "target/target.h"

void devices_text(const struct target_device *devices, size_t count,
		  const struct report_style *style, struct text *ret);
/* { "schema": "tare.devices/1", "devices": [...] } */
void devices_json(const struct target_device *devices, size_t count, struct text *ret);
