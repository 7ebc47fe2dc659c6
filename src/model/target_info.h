/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * target_info - the description of what was measured: target, stack below it, drive.
 * Filled by target/, kept in results, printed by report/. Plain data.
 */

#include <stdbool.h>
#include <stdint.h>

enum target_kind {
	TARGET_NULL,		/* completes at once: measures tare itself */
	TARGET_DIRECTORY,	/* a file of ours, unnamed, in the directory given */
	TARGET_FILE,		/* an existing regular file; written only when ours or named expendable */
	TARGET_BLOCK,
	TARGET_CHAR,		/* /dev/null and /dev/zero only: measure the kernel's call path */
	TARGET_SIM,		/* the reference drive, under a virtual clock */
};

#define TARGET_LAYERS 8

/* One block device below the file system, from the top (what is mounted) down. */
struct target_layer {
	char name[64];		/* "dm-0" */
	char kind[16];		/* "partition", "disk", "loop", "crypt", "linear", "raid1", "virtio", "zram" … */
	char detail[96];	/* dm name, loop's backing file, md level … */
};

/* Strings are "" and numbers 0 where not known. */
struct target_info {
	enum target_kind kind;
	char spec[4096];		/* as given */
	char path[4096];		/* resolved */
	char device[64];		/* whole disk at the bottom: "nvme0n1"; "" when there is none */
	uint32_t device_major, device_minor;	/* of the device I/O is counted on (/sys/dev/block) */
	char model[64], serial[64], firmware[32], transport[16];
	uint64_t size_bytes;		/* of what may be addressed */
	uint32_t logical_block_bytes, physical_block_bytes;
	uint32_t memory_align_bytes, offset_align_bytes;	/* statx's dio_*; else the logical block */
	uint64_t discard_granularity_bytes, discard_max_bytes;	/* 0 = does not discard */
	bool rotational, removable, read_only;
	char scheduler[24];		/* "none" */
	char write_cache[16];		/* "write back", "write through" */
	uint64_t partition_start_bytes;	/* of the partition in the path, 0 without one */
	bool has_partition;

	/* file targets */
	char filesystem[32];		/* "ext4" */
	char mount_point[4096], mount_source[4096], mount_options[1024];
	uint64_t free_bytes, total_bytes;	/* of the file system, before our file */
	bool ours;			/* tare made the file and removes it */
	bool direct;			/* I/O bypasses the page cache: O_DIRECT was asked for and took */

	struct target_layer layers[TARGET_LAYERS];
	uint32_t layer_count;

	/* what consent to write this device must name: its disk's serial number, else its name */
	char erase_name[64];
	/* who allowed a device to be written: "erase-data=SERIAL"; "" when read-only */
	char consent[96];
};

const char *target_kind_name(enum target_kind kind);	/* "null", "directory", "file", … */
