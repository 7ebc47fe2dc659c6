/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * klog - what the kernel's log says of a device from now on: errors, and what tells of a link or
 * drive in trouble (resets, timeouts, frozen ports). Only lines that name one of the devices, or
 * the host they hang on ("ata1", "nvme0", "2:0:0:0"), count.
 */

#include <stddef.h>

#include "model/trim.h"

enum klog_says {
	KLOG_NOTHING,
	KLOG_ERROR,   /* a request failed */
	KLOG_DISCARD, /* and it was a discard */
	KLOG_TROUBLE, /* reset, timeout, frozen, abort: stop */
};

#define KLOG_NAMES 64
struct klog_names {
	size_t count;
	char names[KLOG_NAMES][64];
};

/* Without repeats; what does not fit is dropped. */
void klog_add_name(struct klog_names *names, const char *name, size_t length);
/* The block devices of the report and what their devices hang on. */
void klog_names_of(const struct trim_report *report, struct klog_names *ret);

/*
 * One record of /dev/kmsg ("6,1234,5678,-;text\n KEY=value\n"): what it says of the devices
 * named, and its text, cut to what fits.
 */
enum klog_says klog_judge(const char *record, const struct klog_names *names, char *text,
			  size_t text_bytes);

/*
 * Of a line that is KLOG_DISCARD: the device it names, and the negative errno that its words stand
 * for. File systems keep such an error to themselves: FITRIM on ext4 says that all went well.
 */
int klog_discard_error(const char *text, char device[64]);

/* From now on: a descriptor, or a negative errno (the log is root's on many systems). */
int klog_open(void);
/* The worst that came since; text is the line. Reads on to the end. */
enum klog_says klog_read(int fd, const struct klog_names *names, char *text, size_t text_bytes);
