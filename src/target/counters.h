/* SPDX-License-Identifier: MIT */
#pragma once

/* counters - the text of /sys/dev/block/M:m/stat. */

#include "target/target.h"

/* At least the eleven fields of Linux 2.6; discards (4.18) and flushes (5.5) are 0 when absent. */
int counters_parse(const char *line, struct device_counters *ret);
