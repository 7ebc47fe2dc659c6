/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * walk - the layers between a path or device and the hardware, and what each says of discards,
 * from sysfs, the mount table, device-mapper tables and the drives' own pages. Nothing is
 * written and nothing sent; what could not be read for want of rights stands in needs_root.
 *
 * All paths are taken below root: "" is this machine. A recorded machine has, beside the
 * kernel's own files, what the kernel tells only by ioctl:
 *
 *	ROOT/dm/NAME.table, NAME.status		lines as of dmsetup, by kernel name ("dm-0.table")
 *	ROOT/raw/NAME.ata			the 512 bytes of IDENTIFY DEVICE
 *	ROOT/raw/NAME.nvme-ctrl, .nvme-ns	the 4096 bytes of NVMe identify
 *	ROOT/raw/NAME.vpd-b0, .vpd-b2		SCSI pages, where sysfs has no vpd_pgb0
 *
 * One that is not there is what only root may read.
 */

#include "base/err.h"
#include "model/trim.h"

/*
 * Fills spec, path, layers, segments, active, device, rung and notes of the report, which it
 * initialises. -ENOENT and such when there is no such path or device.
 */
int trim_walk(const char *root, const char *path_or_device, struct trim_report *report,
	      struct err *err);

/*
 * A range of a layer taken down to the lowest layers: linear, striped, partition, crypt, raid0
 * and raid1. On a mirror the same bytes come once for each leg.
 */
struct trim_span {
	uint32_t layer;			/* an index into layers */
	uint64_t offset_bytes, length_bytes;
};

struct trim_piece {
	uint32_t layer;			/* with nothing below */
	uint64_t offset_bytes, length_bytes;	/* on it */
	uint64_t at_bytes;		/* of the span: its first byte is 0 */
};

#define TRIM_PIECES 256
struct trim_pieces {
	uint32_t count;
	struct trim_piece list[TRIM_PIECES];
};

/*
 * 0; -EOPNOTSUPP where a layer on the way moves blocks about, named in the sentence; -E2BIG when
 * there are more pieces than fit; -ERANGE beyond the end of a mapping.
 */
int trim_translate(const struct trim_report *report, const struct trim_span *span,
		   struct trim_pieces *ret, struct err *err);

/* The first layer with a queue, where the file system's own addresses begin; TRIM_TOP without one. */
uint32_t trim_top_block(const struct trim_report *report);
