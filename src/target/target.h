/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * target - what I/O is addressed to: a file of ours in a directory, someone's file, a
 * block device, the null target, the reference drive. Opening is the safety gate: see
 * target_open. Everything a reader or the audit wants to know is in target_info.
 *
 * Life cycle:	open -> queues... -> close
 * Threads:	opened and closed by one thread; any number of queues may use it between.
 * Ownership:	open returns an owned handle; close frees it, accepts NULL and half of one,
 *		and removes the test file when it is ours.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "model/target_info.h"
#include "target/queue.h"

struct drive_truth;	/* model/result.h */

/* What opening is to allow; zero = read-only, direct. */
struct target_request {
	const char *spec;	/* "DIR", "FILE", "/dev/x", "null:size=1g", "sim:NAME,key=value" */
	bool writes;		/* the workload writes or trims */
	bool buffered;		/* without O_DIRECT */
	bool atime;		/* without O_NOATIME */
	int sync_flags;		/* O_DSYNC or O_SYNC or 0 */
	uint64_t size_bytes;	/* of the test file in a directory; 0 = min(8 GiB, 10 % of free) */
	uint64_t need_bytes;	/* least size that will do; a smaller target is refused */
	uint32_t file_count;	/* test files in a directory, size_bytes together; 0, 1 = one */
	uint64_t stripe_bytes;	/* of several files; see struct target */
	/* Consent to erase devices, "SERIAL" or "SERIAL,SERIAL": each must name itself; NULL = none. */
	const char *erase_serial;
	/* Existing files that may be overwritten, "FILE" or "FILE:FILE" (a ':' in it as "\\:"). */
	const char *expendable_path;
	const struct clock *clock;	/* sim: the virtual clock it will live under */
};

/*
 * A kind of target. A spec "scheme:..." picks by scheme, a path by what it leads to (S_IFMT).
 * open fills a zeroed target whose info.spec is set and whose fd is -1; path_fd is an O_PATH
 * descriptor of what the path leads to (-1 for schemes), borrowed: open it again through
 * target_reopen so that nothing can be put in its place. On failure close is called.
 */
struct target_ops {
	const char *scheme;	/* "null"; NULL for kinds picked by mode */
	uint32_t mode;		/* S_IFDIR, S_IFREG, S_IFBLK, S_IFCHR; 0 for schemes */
	const char *help;	/* one line, no full stop */
	int (*open)(struct target *target, const struct target_request *request, int path_fd,
		    struct err *err);
	void (*close)(struct target *target);	/* of private; NULL when there is none */
};

/* One of several files or devices that make up a range. */
struct target_part {
	int fd;
	bool is_device;
	uint64_t start_bytes;		/* its place in the range, when they follow each other */
	uint64_t size_bytes;
	uint32_t device_major, device_minor;	/* as of struct target_info */
};

struct target {
	const struct target_ops *ops;
	struct target_info info;
	int fd;				/* -1 for null and sim; of parts, the first one's */
	struct target_part *parts;	/* NULL for one file or device alone */
	uint32_t part_count;		/* 0, or at least 2 */
	uint64_t stripe_bytes;		/* so much of one part, then of the next; 0 = one after the other */
	const struct queue_ops *queue;	/* the target's own; NULL = any kernel queue on fd */
	void *private;			/* the kind's own */

	/*
	 * The reference drive's own account of what happened between the two calls, which
	 * surround one measurement; NULL elsewhere.
	 */
	void (*truth_begin)(struct target *target);
	void (*truth_end)(struct target *target, struct drive_truth *ret);

	/* The drive's own secure erase: as new afterwards, except for wear; NULL where there is none. */
	int (*purge)(struct target *target, struct err *err);
};

/*
 * Opens and checks in one step: what is checked is the opened descriptor. Nothing that
 * tare did not create is written, extended, truncated or created without the consent that
 * names it. Returns 0 or
 *	-EBUSY		in use: mounted, swap, held, opened exclusively by others	(exit 3)
 *	-EPERM		it holds data, and no consent names it			(exit 3)
 *	-EFBIG		smaller than need_bytes					(exit 3)
 *	-ENOSPC		no room for the test file				(exit 8)
 *	-EINVAL		the spec makes no sense					(exit 2)
 *	others		from the kernel						(exit 3)
 */
int target_open(struct target **ret, const struct target_request *request, struct err *err);
void target_close(struct target *target);

/* fdatasync of all its files. 0 or -1 with errno. */
int target_flush(const struct target *target);

/*
 * Filters: wraps *queue as the spec says ("delay:read=1ms;error:errno=EIO,after=1000").
 * On failure *queue is as before.
 */
int target_filter(struct queue **queue, const char *filter_spec,
		  const struct queue_options *options, struct err *err);
int target_filter_check(const char *filter_spec, struct err *err);	/* parses only */

/* What the kernel counted for the device (/sys/dev/block/M:m/stat) since boot. */
struct device_counters {
	uint64_t read_count, read_bytes, write_count, write_bytes, discard_count, discard_bytes;
	uint64_t discard_ns;	/* spent in discards, each one's time added */
	uint64_t flush_count, in_flight_count;
	uint64_t read_merge_count, write_merge_count;	/* requests that went with another */
	uint64_t read_ms, write_ms;			/* of all requests together */
	uint64_t busy_ms, queue_ms;			/* some were in flight; weighted by how many */
};
int target_counters(const struct target *target, struct device_counters *ret, struct err *err);

/* Test files of ours that a killed run left under a name, removed: how many. */
int target_reap_leftovers(void);

/* A whole disk of this machine, for `tare devices`. */
struct target_device {
	struct target_info info;	/* path "/dev/sda", and what needs no opening */
	char by_id[256];		/* "/dev/disk/by-id/..." that names it, "" without one */
	char use[256];			/* "sda2 is mounted at /; sda3 is swap"; "" = not known */
};

/* All disks, in the order of their names; needs no rights. *ret is the caller's to free. */
int target_list_devices(struct target_device **ret, size_t *ret_count, struct err *err);

/* NULL-terminated, in the order `tare help targets` shows them. Add a kind here. */
extern const struct target_ops *const target_kinds[];
