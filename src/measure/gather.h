/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * gather - facts for the audit from the kernel: file system, stack, control group, data
 * samples, counters, temperature. Best effort: what cannot be read stays as not known, and
 * nothing fails. root is put before every absolute path of /sys and /proc ("" = this
 * machine), so that tests can put a recorded machine in its place.
 */

#include "measure/audit.h"

void gather_machine(const char *root, struct machine *ret);

/* File system, layers, control group, caches. direct: whether the page cache is passed by. */
void gather_place(const char *root, const struct target *target, bool direct,
		  struct audit_place *ret);

/* Holes, extents and allocation of a range of a file; nothing of a device. Reads no data. */
void gather_extents(const struct target *target, uint64_t offset_bytes, uint64_t size_bytes,
		    struct audit_samples *ret);

/* Reads 256 blocks of 4 KiB spread over the range, past the page cache: how many hold zeros? */
void gather_zeros(const struct target *target, uint64_t offset_bytes, uint64_t size_bytes,
		  struct audit_samples *ret);

/* Counters that run, read before and after a measurement. */
struct meters {
	struct device_counters device;
	bool have_device;
	uint64_t own_read_bytes, own_write_bytes;	/* this process at the block layer */
	bool have_own;
	uint64_t steal_ns;				/* all CPUs together */
	uint64_t cpu_throttle_count;
};
void gather_meters(const char *root, const struct target *target, struct meters *ret);

/* Of the drive, NaN where not readable; the limit is where it begins to slow itself down. */
double gather_temperature_c(const char *root, const char *device, double *ret_limit_c);

/* gather_cgroup.c: the limit on one of the devices named in info, in words, or "". */
void gather_cgroup(const char *root, const struct target_info *info, char *ret, size_t ret_bytes);
