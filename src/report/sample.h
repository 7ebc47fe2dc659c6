/* SPDX-License-Identifier: MIT */
#pragma once

/* sample - results made by hand, for the tests of report/. result_done is the caller's. */

#include "model/result.h"

/* A whole check of a directory on a LUKS disk: nine rows, three kinds of findings. */
void sample_check(struct result *ret);
/* The four read rows of a device, ended by an error. */
void sample_device(struct result *ret);
/* One open-loop mix that says something in every member of the document. */
void sample_open_loop(struct result *ret);

/* Two rows that ran together on two targets, and one after them. */
void sample_group(struct result *ret);

/* count samples of ns each, added to *h, which is made when it is NULL. */
void sample_add(struct histogram **h, uint64_t ns, uint64_t count);
