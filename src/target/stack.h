/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * stack - the block devices of a machine and how they lie on each other, as sysfs tells.
 * Devices go by their kernel names ("sda2", "dm-0"). All paths are taken below root: "" is
 * this machine, a test gives a recorded one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "model/target_info.h"

#define STACK_NAME_BYTES 64

/*
 * Device names without repeats. 256 is the most partitions a disk has; what does not fit in
 * is dropped, which the exclusive opening makes good for.
 */
#define STACK_NAMES 256
struct stack_names {
	size_t count;
	char names[STACK_NAMES][STACK_NAME_BYTES];
};

bool stack_names_have(const struct stack_names *list, const char *name);

/* By number, or by a path to a node (links are followed): 0, or -ENOENT. */
int stack_name_of(const char *root, dev_t device, char name[STACK_NAME_BYTES]);
int stack_name_of_path(const char *root, const char *path, char name[STACK_NAME_BYTES]);
/* 0 when the device is not there. */
dev_t stack_number(const char *root, const char *name);

bool stack_is_partition(const char *root, const char *name);
/* The disk of a partition, the device itself otherwise. */
void stack_disk(const char *root, const char *name, char disk[STACK_NAME_BYTES]);

/*
 * Each adds to the list: partitions of a disk; what is built right on it (loop devices over
 * it, too); what it is built on.
 */
void stack_add_partitions(const char *root, const char *name, struct stack_names *list);
void stack_add_holders(const char *root, const char *name, struct stack_names *list);
void stack_add_slaves(const char *root, const char *name, struct stack_names *list);

/*
 * Everything whose bytes the device's bytes are: above, the device, its partitions and all
 * that is built on those; below, what the device is cut from or built on, without itself.
 */
void stack_above(const char *root, const char *name, struct stack_names *list);
void stack_below(const char *root, const char *name, struct stack_names *list);

/* "partition", "disk", "loop", "zram", "virtio", "crypt", "lvm", "raid1", "multipath", "dm" ... */
void stack_kind(const char *root, const char *name, char *kind, size_t kind_bytes);
/* What a person calls it: dm's name, a loop's backing file, "" otherwise. */
void stack_detail(const char *root, const char *name, char *detail, size_t detail_bytes);

/* The drive's serial number, from sysfs or udev's notes; "" when it has none. */
void stack_serial(const char *root, const char *disk, char *serial, size_t serial_bytes);

/* Model, serial, firmware and transport of a whole disk. */
void stack_drive(const char *root, const char *disk, struct target_info *info);

/* The link in /dev/disk/by-id that tells most (model and serial before wwn), or "". */
void stack_by_id(const char *root, const char *name, char *path, size_t path_bytes);

/*
 * Fills what info says of devices: layers, device, device_major/minor, drive, limits,
 * partition. A device counts I/O where it still passes one to one: the lowest one reached
 * without a fork. Facts that are not there stay "" and 0.
 */
void stack_describe(const char *root, const char *name, struct target_info *info);
