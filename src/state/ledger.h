/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ledger - what a drive has been through, as far as tare knows: a file of JSON lines for each
 * drive in the data directory (paths_state "ledger"), appended to and never changed. A drive goes
 * by model and serial number, without one by its device name and what is behind it.
 *
 * Each entry ends with the counters of that moment: the kernel's for the device since boot, with
 * the boot's id, and the drive's own count of bytes written, where it tells one (NVMe SMART log,
 * ATA device statistics; root). A rise since the last entry is writes of others: they get an
 * entry of their own, and the state is unknown from there on.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/target_info.h"
#include "target/target.h"

struct ledger_entry {
	char at[24];			/* ISO 8601, UTC */
	char who[64];			/* "tare 0.1.0, uid 0"; "others" */
	char what[24];			/* "fill", "measure", "layout"; "writes" of others */
	char text[320];
	char state[32];			/* what the drive is called from here on */
	uint64_t written_bytes, discard_bytes, duration_ns;
	char boot[40];			/* of the kernel's counters; "" = none were read */
	uint64_t kernel_write_bytes;
	bool have_drive;
	uint64_t drive_write_bytes;
};

struct ledger {
	char path[4352];
	struct ledger_entry *entries;	/* the oldest first */
	size_t count;
};

/*
 * Opens the ledger of the target's drive; one that is not there yet is empty. -ENODEV for a
 * target without a drive (null, sim). directory NULL = the usual one. A last line that a crash
 * left torn is left out.
 */
int ledger_open(struct ledger *ret, const char *directory, const struct target_info *info,
		struct err *err);
void ledger_done(struct ledger *ledger);

/* Time, boot and counters as they are now; the rest of *ret is zeroed. */
void ledger_now(const struct target *target, struct ledger_entry *ret);

/* Appends, on the drive before it returns. */
int ledger_add(struct ledger *ledger, const struct ledger_entry *entry, struct err *err);

/*
 * Compares the last entry with now: true with *ret filled when others have written since, or
 * when nothing tells whether they have. Not added.
 */
bool ledger_catch_up(const struct ledger *ledger, const struct ledger_entry *now,
		     struct ledger_entry *ret);

/* The state's name and one sentence, by the newest entries. */
void ledger_state(const struct ledger *ledger, char state[32], char *text, size_t text_bytes);

/* One line of the file, and back: 0 or -EINVAL. */
struct text;
void ledger_print(const struct ledger_entry *entry, struct text *ret);
int ledger_parse(const char *line, struct ledger_entry *ret);

/* The drive's own count of bytes written by its hosts; false where it does not say or we may not ask. */
bool ledger_drive_written(const struct target_info *info, uint64_t *ret);
