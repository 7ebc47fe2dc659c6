/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * iozone_run - runs a translated iozone command line and prints it as iozone does. Each line
 * of the table is a plan of its own, so that its test file is gone before the next one's is
 * made; an error ends its own column.
 */

#include "cli/cli.h"
#include "model/iozone.h"

/* Returns an enum exit_code. The sheet's cells take the figures. */
int iozone_run(const struct invocation *inv, struct plan *plan, struct iozone_sheet *sheet);
