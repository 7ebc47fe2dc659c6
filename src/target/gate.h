/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * gate - whether a device or a file may be written. What is in use is never written, by no
 * consent; what holds data only by the consent that names the drive.
 *
 * The checks here read what the machine tells and can be a moment old; who opens a device
 * runs them on the descriptor it already has exclusively.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "target/stack.h"

/*
 * -EBUSY with who uses it: the device, its partitions or what is built on them is mounted,
 * swapped to or held; or what it lies on is. root as in stack.h.
 */
int gate_check_use(const char *root, const char *name, struct err *err);

/* All uses in one line for a list of devices: "sda2 is mounted at /; sda3 is swap". */
void gate_describe_use(const char *root, const char *name, char *text, size_t text_bytes);

/* -EBUSY when a program holds a lock on the opened file or device. */
int gate_check_locks(int fd, const char *name, struct err *err);

/* The sentence for a device that somebody holds although nothing above was found. */
int gate_busy(const char *name, struct err *err);

/* What consent must name: the serial number of the device's disk, or its own name without one. */
void gate_consent_name(const char *root, const char *name, char consent[64], bool *ret_is_serial);

/*
 * 0 when erase_serial (NULL or "" = none) is the consent name, or has it in its list with commas.
 * What signature says the device
 * holds ("" = nothing) is covered only by a serial number: names such as sdb change hands at
 * the next start. Else -EPERM with what to write.
 */
int gate_check_consent(const char *root, const char *name, const char *erase_serial,
		       const char *signature, struct err *err);

/* -EBUSY when the regular file is swapped to, backs a loop device, or is locked by a program. */
int gate_check_file(int fd, const char *path, struct err *err);

/* -EPERM when fd lies in the file system of device nodes, where no file of ours belongs. */
int gate_check_devtmpfs(int fd, const char *path, struct err *err);
