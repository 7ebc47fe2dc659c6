/* SPDX-License-Identifier: MIT */
#pragma once

/* walk_parts - what the walk is made of. Private to trim/walk*.c. */

#include "base/text.h"
#include "model/trim.h"
#include "target/mounts.h"
#include "target/stack.h"

struct walk {
	const char *root;
	struct trim_report *report;
	struct mounts *mounts;		/* NULL when the table cannot be read */
	uint32_t depth;			/* of what is being walked: a circle must end */
};

#define BLOCK "%s/sys/class/block/%s"
#define WALK_DEPTH 24
#define SECTOR_BYTES 512u

/* The index of a new layer; TRIM_TOP when there is no room for it. */
uint32_t walk_add(struct walk *walk, uint32_t parent, const char *name, const char *kind);

/* A device with all below it; TRIM_TOP when it is not there or there is no room. */
uint32_t walk_device(struct walk *walk, uint32_t parent, const char *name);

/* A mount with all below it. */
uint32_t walk_mount(struct walk *walk, uint32_t parent, const struct mount_facts *facts);
/* The mount that a path lies on; false when that is not known. */
bool walk_mount_of(struct walk *walk, const char *path, struct mount_facts *ret);
/* The mount that an overlay writes to; false for others, and where it is not visible. */
bool walk_upper(struct walk *walk, const struct mount_facts *facts, struct mount_facts *ret);

/* The parts of walk_device: what is below, and what the layer itself says. */
void walk_dm(struct walk *walk, uint32_t index);
void walk_md(struct walk *walk, uint32_t index);
void walk_loop(struct walk *walk, uint32_t index);
void walk_disk(struct walk *walk, uint32_t index);
void walk_sd(struct walk *walk, uint32_t index);	/* SCSI, SATA, USB */
void walk_nvme(struct walk *walk, uint32_t index);
/* The virtual machine that has the file for a disk, as the uppermost layer; TRIM_TOP. */
uint32_t walk_image(struct walk *walk, const char *path);
/* The members of a pool, as far as udev has noted them. */
void walk_zpool(struct walk *walk, uint32_t parent, const char *pool);

/* The layer does not take discards: reason, and one sentence. */
void walk_stop(struct trim_layer *layer, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds to the layer's remedy; lines are the caller's. */
void walk_remedy(struct trim_layer *layer, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Its limits say that it takes discards. */
bool walk_announces(const struct trim_layer *layer);
/* Every layer right below it does; false without any. */
bool walk_below_announce(const struct walk *walk, uint32_t index);

/*
 * For a layer that passes on what is below it: YES, or ADMIN_ZERO, or, when all below announce
 * discards, the reason and sentence given; else UNKNOWN, since those below are to blame.
 */
void walk_settle(struct walk *walk, uint32_t index, const char *reason, const char *why);

/* A mapping of the layer; NULL when there is no room. legs are filled by walk_leg. */
struct trim_segment *walk_segment(struct walk *walk, uint32_t layer, enum trim_map how);
void walk_leg(struct trim_segment *segment, uint32_t layer, uint64_t start_bytes);
/* The layer's bytes are those of the one below, shifted. */
void walk_shifted(struct walk *walk, uint32_t index, uint32_t below, uint64_t start_bytes);

/* An attribute of a block device below sysfs; "" and fallback where it is not there. */
void walk_attribute(const struct walk *walk, const char *name, const char *attribute, char *line,
		    size_t line_bytes);
uint64_t walk_number(const struct walk *walk, const char *name, const char *attribute,
		     uint64_t fallback);
bool walk_has(const struct walk *walk, const char *name, const char *attribute);

/*
 * Lines of the device-mapper table or status, by kernel name. -EACCES without rights, -ENOENT.
 * A table may hold keys: who has read it wipes it with walk_wipe.
 */
int walk_dm_lines(const struct walk *walk, const char *name, bool status, struct text *ret);
void walk_wipe(struct text *text);

/* What the drive itself tells, by name ("ata", "nvme-ctrl", "nvme-ns", "vpd-b0", "vpd-b2"). */
struct walk_page {
	uint8_t bytes[4096];
	size_t count;
};
/* -EACCES where only root may ask, others where the device does not answer. */
int walk_page(const struct walk *walk, const char *name, const char *what, struct walk_page *ret);

struct walk_ata {
	bool trim, drat, rzat, solid;	/* solid: says that it does not rotate */
};
bool walk_parse_ata(const struct walk_page *page, struct walk_ata *ret);

struct walk_vpd {
	bool lbpu, lbpws, lbpws10, lbprz;	/* page B2 */
	uint64_t unmap_blocks_max;		/* page B0; 0 = it names none */
	uint64_t granularity_blocks;
};
bool walk_parse_vpd_b0(const struct walk_page *page, struct walk_vpd *ret);
bool walk_parse_vpd_b2(const struct walk_page *page, struct walk_vpd *ret);

struct walk_nvme_facts {
	bool deallocates;		/* ONCS bit 2 */
	unsigned int after;		/* DLFEAT: 0 not reported, 1 zeros, 2 ones */
	uint64_t granularity_blocks;	/* NPDG; 0 = it names none */
};
bool walk_parse_nvme_ctrl(const struct walk_page *page, struct walk_nvme_facts *ret);
bool walk_parse_nvme_ns(const struct walk_page *page, struct walk_nvme_facts *ret);

/* Alignment, unit_bytes, the lowest device: once all layers are there. */
void walk_finish(struct walk *walk);

/* What sends discards to the mount: its options, the timer, cron. */
void walk_active(struct walk *walk, const struct mount_facts *facts);
