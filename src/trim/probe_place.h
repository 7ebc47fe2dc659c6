/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * place - where the bytes of the test file, or of the device, lie on the devices below, and
 * reading them there: always direct, always read-only.
 *
 * Two levels: "low" are the lowest devices that can be followed; "plain" are those right above
 * the first layer that changes the bytes (dm-crypt). Without such a layer they are the same.
 */

#include "base/err.h"
#include "model/trim.h"
#include "trim/probe_fiemap.h"
#include "trim/probe_sector.h"

struct place_range {
	uint64_t file_bytes; /* of the test file or the device that is tested */
	uint64_t device_bytes, length_bytes;
	uint32_t layer; /* an index into the report's layers */
};

struct place_level {
	struct place_range *list; /* by file_bytes; a mirror's copies one after the other */
	size_t count;
};

struct place {
	const struct trim_report *report; /* borrowed */
	struct place_level low, plain;
	bool changed;			     /* low and plain differ */
	struct target *devices[TRIM_LAYERS]; /* opened when first read */
	void *buffer;
};

/* How file and addresses hang together. */
struct place_wish {
	const struct trim_report *report;
	const struct file_extents *extents; /* of the test file; of a device: itself, one to one */
	int btrfs_fd;			    /* of the file system, when it is btrfs; -1 */
	uint32_t layer;			    /* whose addresses the extents are; btrfs says itself */
};

/* What cannot be followed down is an error with its reason. Give back with place_done. */
int place_make(struct place *ret, const struct place_wish *wish, struct err *err);
void place_done(struct place *place);

/* Opens all devices of both levels: -EACCES and such with the device's name. */
int place_open(struct place *place, struct err *err);

/* A part of the test file. */
struct place_part {
	uint64_t at_bytes, length_bytes;
};

/* What each sector of the part holds on that level; a mirror's copies are all counted. */
int place_look(struct place *place, const struct place_level *level, const struct place_part *part,
	       const struct sector_key *key, struct sector_count *ret, struct err *err);

/*
 * What each sector holds, all levels together: blank where the low level is, old where the plain
 * one is. Zeros below dm-crypt look like noise above it.
 */
int place_look_through(struct place *place, const struct place_part *part,
		       const struct sector_key *key, struct sector_count *ret, struct err *err);

/* The first bytes of the part on the low level as they are; at most length. For comparing. */
int place_read_low(struct place *place, const struct place_part *part, void *buffer,
		   struct err *err);

/* Of the part, what lies in whole units of the lowest devices; all copies of a mirror count. */
uint64_t place_whole_units(const struct place *place, const struct place_part *part,
			   uint64_t unit_bytes);

/* "byte 1234567 of loop0", for a person. */
void place_describe(const struct place *place, uint64_t at_bytes, char *text, size_t text_bytes);
