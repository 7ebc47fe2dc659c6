/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * iometer_labels - what an IOMeter configuration says beside its plan: which test, worker and
 * target each measuring phase belongs to. foreign/iometer fills it, report/iometer_csv prints
 * results by it. Plain data.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/workload.h"

#define IOMETER_NAME_BYTES 128

/* One entry per measuring phase, in the plan's order. */
struct iometer_cell {
	uint32_t test_index;		/* phases of one test run together */
	uint32_t manager_index, worker_index;	/* of all managers; of its manager */
	char manager[IOMETER_NAME_BYTES], worker[IOMETER_NAME_BYTES];
	char target[IOMETER_NAME_BYTES], spec[IOMETER_NAME_BYTES];
	uint64_t start_sector, max_sectors;
	uint32_t depth_count, transactions_per_connection;
};

struct iometer_test {
	uint32_t position;		/* of the specifications, from 0 */
	uint32_t manager_count, worker_count, target_count;	/* that are active */
};

struct iometer_spec_label {
	char name[IOMETER_NAME_BYTES];
	uint32_t assignment;		/* 0 none, 1 all, 2 disk, 3 net */
	uint32_t first_position;
	struct access_lines lines;
};

struct iometer_labels {
	char description[256];
	uint32_t test_type, record;	/* IOMeter's own numbers */
	struct iometer_cell *cells;	/* owned */
	size_t cell_count;
	struct iometer_test *tests;	/* owned */
	size_t test_count;
	struct iometer_spec_label *specs;	/* owned; those in use */
	size_t spec_count;
	char **notes;			/* owned: what is not done literally, a sentence each */
	size_t note_count;
};

void iometer_labels_done(struct iometer_labels *labels);	/* accepts a zeroed one */
struct iometer_cell *iometer_labels_cell(struct iometer_labels *labels);	/* a new one, zeroed */
struct iometer_test *iometer_labels_test(struct iometer_labels *labels);
struct iometer_spec_label *iometer_labels_spec(struct iometer_labels *labels);
/* Once each, whoever says it how often. */
void iometer_labels_note(struct iometer_labels *labels, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
